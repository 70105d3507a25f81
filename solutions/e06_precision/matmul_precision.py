from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch


@contextmanager
def _within(mode: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(mode)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def matmul_precision(mode: str) -> AbstractContextManager[None]:
    if mode not in ("highest", "high", "medium"):
        raise ValueError(f"no precision of products: {mode!r}")
    return _within(mode)
