"""From submissions to results."""
