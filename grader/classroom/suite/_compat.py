"""Private names of numpy and hypothesis that make tests repeatable.

Tried with numpy 2.4 and hypothesis 6.170; where another version lacks one, what it is for is not done.
"""

import sys
from collections.abc import Callable
from typing import Any


def seed_generators(draw: Callable[[int], int]) -> None:
    """Have numpy's generators that are made without a seed take theirs, of so many bits, from `draw`."""
    generators: Any = sys.modules.get("numpy.random.bit_generator")
    if hasattr(generators, "randbits"):
        generators.randbits = draw


def fix_examples(seed: int) -> None:
    """Have hypothesis, if it is loaded, start at this seed whatever its settings are.

    And take no numbers and texts from the code that it finds: each student's has others.
    """
    core: Any = sys.modules.get("hypothesis.core")
    providers: Any = sys.modules.get("hypothesis.internal.conjecture.providers")
    if core is not None:
        core.global_force_seed = seed
    if hasattr(providers, "_get_local_constants"):
        constants = providers._local_constants
        providers._get_local_constants = lambda: constants
