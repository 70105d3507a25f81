"""Folders, archives and streams of other people, read without trust."""
