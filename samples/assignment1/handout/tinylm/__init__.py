"""Your code."""
