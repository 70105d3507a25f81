"""What everything else stands on: errors, files, time, text; it knows nothing of exercises."""
