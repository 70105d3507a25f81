"""The program `kata` and what its verbs share, which stand in `cli` and `classroom/cli`."""
