"""Private names of torch that null answers need. Tried with torch 2.11 and 2.13."""

PYTREE = "torch.utils._pytree"
"""Has `tree_map`, a function over nested data."""
