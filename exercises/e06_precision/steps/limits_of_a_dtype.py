"""Range and precision: `torch.finfo`.

What does a floating dtype lose? Return the largest number that it can hold, and the step from 1 to its next
number. Add less than half a step to 1, and it is still 1.

    limits_of_a_dtype(torch.float16)
    # (65504.0, 0.0009765625)
    limits_of_a_dtype(torch.bfloat16)
    # (about 3.39e38, 0.0078125): a wide range, large steps

New here: `torch.finfo(dtype)` describes a dtype. `.max` is its largest number, `.min` its lowest (below 0),
and `.eps` the step after 1.
"""

import torch


def limits_of_a_dtype(dtype: torch.dtype) -> tuple[float, float]:
    raise NotImplementedError
