"""An assignment's own pytest suite, judged as it stands: `kata grade-suite tests/`."""
