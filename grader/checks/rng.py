"""Random numbers that depend on the run's seed and the check's id, and on nothing else.

The same submission always gets the same score, in any order and on any worker.
"""

import hashlib
import os
import random

import numpy.random
import torch

from grader.checks.devices import backend


def derive(seed: int, name: str) -> int:
    """A 63-bit seed for the check called `name` in the run with `seed`."""
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator(seed: int, name: str) -> torch.Generator:
    """A generator on the CPU for the check called `name`."""
    return torch.Generator().manual_seed(derive(seed, name))


def seed_globals(seed: int, name: str) -> None:
    """Seed the global streams of torch, NumPy and Python, for answers that draw from them."""
    settle()
    set_globals(derive(seed, f"global:{name}"))


def settle() -> None:
    """Set what an answer may have set otherwise where it was imported, and what checks must not depend on.

    Inputs are drawn in the default dtype. And several threads take longer than one for small tensors: much
    longer, where other answers have the processors.
    """
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(1)


def set_globals(value: int) -> None:
    """Start the global streams of torch, NumPy and Python at `value`."""
    # Not torch.manual_seed: it takes a millisecond to tell devices that this machine lacks.
    torch.default_generator.manual_seed(value)
    backend.manual_seed_all(value)
    # Where GPUs are hidden, as from the engine, CUDA warns that it finds none.
    if os.environ.get("CUDA_VISIBLE_DEVICES") != "" and torch.cuda.is_available():
        torch.cuda.manual_seed_all(value)
    numpy.random.seed(value % 2**32)
    random.seed(value)
