"""The outer loop: store, filters, fine-tuning, evaluation, comparison, report and the command line."""
