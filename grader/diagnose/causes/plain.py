"""Plain data came back, or should have, and is other than wanted: what the two have in common."""

import math

import numpy as np
import torch
from torch import Tensor

from grader.diagnose.causes.evidence import Pattern
from grader.diagnose.causes.type import uncalled
from grader.diagnose.describe import is_tensor

PLAIN = {int, float, bool, str, type(None), torch.dtype}
ON_THE_CPU = "made on or moved to the CPU: device=x.device?"
FEWEST = 3
"""Items whose order says something."""


def cause_of_plain(yours: object, wanted: object) -> str:
    """What makes of yours what is wanted; "" where nothing fits. All of it is so, whatever the reason."""
    if is_tensor(yours):
        assert isinstance(yours, Tensor)
        return _of_tensor(yours, wanted)
    if type(wanted) in PLAIN - {type(None)} | {tuple, list, torch.Size} and (told := uncalled(yours)):
        return told
    if isinstance(yours, np.ndarray) and type(wanted) is list:
        return "a NumPy array: `.tolist()` makes a Python list, of a tensor as well"
    if type(yours) is str:
        is_text = type(wanted) is not str and yours == str(wanted)
        return "this is its text: return the thing itself, without `str()`" if is_text else ""
    if type(yours) is torch.Size and type(wanted) is int:
        return "a whole shape, where one number is wanted: `x.shape[0]` is the first size"
    if isinstance(yours, torch.device) and isinstance(wanted, torch.device):
        return ON_THE_CPU if yours.type == "cpu" else ""
    if type(yours) in (list, tuple, torch.Size) and isinstance(wanted, (list, tuple)):
        return _of_items(yours, wanted)  # type: ignore[arg-type]
    if type(yours) in (bool, int, float) and type(wanted) in (bool, int, float):
        return _of_number(yours, wanted)  # type: ignore[arg-type]
    return ""


def _of_tensor(yours: Tensor, wanted: object) -> str:
    if type(wanted) is list:
        return "a tensor: `.tolist()` makes a Python list of it"
    if type(wanted) in (bool, int, float) and yours.numel() == 1:
        return "a tensor of one number: `.item()` makes a Python number of it"
    if type(wanted) is bool and yours.dtype is torch.bool:
        return "many are True or False: `.all()` asks whether all are, `.any()` whether one is"
    if type(wanted) is int and yours.numel() > 1 and len(yours) == wanted != yours.sum():
        return "many numbers, where their length is wanted: `len(…)` counts the rows"
    if type(wanted) in (int, float) and yours.numel() > 1:
        return "many numbers, where one is wanted: `.sum()` or `.mean()` makes one of them"
    if type(wanted) is tuple and len(wanted) > 1:
        return f"one tensor, where {len(wanted)} things are wanted: `return a, b`"
    return ""


def _of_items(yours: list[object] | tuple[object, ...], wanted: list[object] | tuple[object, ...]) -> str:
    kind = "tuple" if isinstance(wanted, tuple) else "list"
    if not isinstance(yours, tuple if kind == "tuple" else list):
        name = "list" if kind == "tuple" else "tuple"
        return f"a {name}, where a {kind} is wanted: `{kind}(…)`" if len(yours) == len(wanted) else ""
    if len(wanted) < FEWEST or not {type(item) for item in (*yours, *wanted)} <= PLAIN:
        return ""
    mine, right = list(map(repr, yours)), list(map(repr, wanted))
    if mine == right or sorted(mine) != sorted(right):
        return ""
    is_reverse = mine == right[::-1]
    return "the right items, in reverse" if is_reverse else Pattern("the right items, in another order")


def _of_number(yours: bool | int | float, wanted: bool | int | float) -> str:
    kind = type(wanted).__name__
    if type(yours) is type(wanted) or not math.isfinite(yours) or yours != wanted:
        return ""
    return f"the right number, where {'an' if kind == 'int' else 'a'} {kind} is wanted: `{kind}(…)`"
