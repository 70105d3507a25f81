"""Range and precision: `torch.finfo`.

What does a floating dtype lose? Return the largest number that it can hold, and the step from 1 to its next
number: what is smaller than half a step gets lost when added to 1.

    limits_of_a_dtype(torch.float16)      # (65504.0, 0.0009765625)
    limits_of_a_dtype(torch.bfloat16)     # (about 3.39e38, 0.0078125): a wide range, large steps

New here: `torch.finfo(dtype)` describes a dtype. `.max` is its largest number, `.eps` the step after 1;
`.tiny` is the smallest number above 0 in full precision.
"""

import torch


def limits_of_a_dtype(dtype: torch.dtype) -> tuple[float, float]:
    raise NotImplementedError
