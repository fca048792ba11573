"""Critics judge attempts and leave evidence; nothing here imports torch or knows of training."""
