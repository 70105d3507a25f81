"""What keeps exercises honest: specimens, null answers, the audit."""
