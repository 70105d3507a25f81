"""What pytest sees: options, fixtures, markers, feedback, the summary at the end."""
