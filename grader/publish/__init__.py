"""What is handed out to students."""
