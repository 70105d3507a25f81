"""What a course holds and where: the catalog of its exercises, and their files."""
