"""My code."""
