"""What judging says of students and learners, and the files that keep it."""
