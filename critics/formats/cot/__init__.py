"""The format `cot`: free text that ends in an answer; at best `unproved`."""
