"""Which cells of a notebook make an answer."""
