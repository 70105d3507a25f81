from collections.abc import Callable

import torch


def names_in_the_profile(fn: Callable[[], object]) -> set[str]:
    with torch.profiler.profile() as profile:
        fn()
    return {entry.key for entry in profile.key_averages()}
