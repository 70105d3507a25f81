"""What is asked of a judge and what comes back, as plain data."""
