"""The module `torch.sim`, to the simulated device what `torch.cuda` is to CUDA."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from grader.checks.devices import traffic

_OTHER_STREAM = 0x53494D  # in the low 32 bits: the generator looks at no others
_initialized = True
"""Read by `torch.utils.checkpoint`, which then restores the device's random numbers too."""
_generator = torch.Generator()
"""The device's own random numbers: as on CUDA, the same seed gives others than on the CPU."""


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def set_device(device: object) -> None:
    """Nothing to do: there is one device."""


def device(device: object) -> Any:
    """The context manager of `torch.cuda.device`. Nothing to do: there is one device."""
    return nullcontext()


def synchronize(device: object = None) -> None:
    """Wait for the device: counted, although nothing here runs ahead of the host."""
    traffic.record(syncs=1)


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16]


def _is_in_bad_fork() -> bool:
    return False


def manual_seed(seed: int) -> None:
    _generator.manual_seed(seed ^ _OTHER_STREAM)


def manual_seed_all(seed: int) -> None:
    """Called by `torch.manual_seed`."""
    manual_seed(seed)


def get_rng_state(device: object = None) -> Tensor:
    return _generator.get_state()


def set_rng_state(state: Tensor, device: object = None) -> None:
    _generator.set_state(state)


@contextmanager
def random_stream() -> Iterator[None]:
    """Run a CPU kernel on the device's random numbers and leave the CPU's own as they are.

    Lends the state to the CPU's global generator, because dropout takes no generator.
    """
    host = torch.default_generator.get_state()
    torch.default_generator.set_state(_generator.get_state())
    try:
        yield
    finally:
        _generator.set_state(torch.default_generator.get_state())
        torch.default_generator.set_state(host)
