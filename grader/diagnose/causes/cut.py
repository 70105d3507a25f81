"""What a narrower dtype makes of numbers: whole ones, and those that fit into it."""

import torch

from grader.diagnose.causes.evidence import Evidence
from grader.diagnose.describe import dtype_name

NARROW = (torch.uint8, torch.int8, torch.int16, torch.int32)


def cut(case: Evidence) -> str | None:
    """Each number of yours is the wanted one, as far as the dtype of yours can hold it."""
    if case.is_complex or case.yours_dtype == case.wanted_dtype:
        return None
    name = dtype_name(case.yours_dtype)
    if case.yours_dtype in NARROW and bool(torch.isfinite(case.wanted).all()):
        sizes = torch.iinfo(case.yours_dtype)
        count = float(sizes.max) - float(sizes.min) + 1
        held = (case.wanted - sizes.min).remainder(count) + sizes.min
        if not torch.equal(held, case.wanted) and torch.equal(held, case.yours):
            return f"right, but {name} holds {sizes.min} to {sizes.max} alone: other numbers wrap around"
    is_whole = not case.yours_dtype.is_floating_point and case.yours_dtype != torch.bool
    if is_whole and case.wanted_dtype.is_floating_point and torch.equal(case.yours, case.wanted.trunc()):
        return "right, but rounded towards zero: an integer dtype on the way?"
    return None
