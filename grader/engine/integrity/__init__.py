"""Whether the machinery in a child is still what it was before the answer came."""
