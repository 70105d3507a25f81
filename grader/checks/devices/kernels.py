"""What the simulated device must do below `SimTensor.__torch_dispatch__`: create, pin, load."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.checks.devices import _compat, backend
from grader.checks.devices.autocast import overload
from grader.checks.devices.recurrent_cells import FUSED_CELLS
from grader.checks.devices.simulated import as_storage, copy_from, create, read

_FACTORIES = """
    arange arange.start arange.start_step bartlett_window bartlett_window.periodic blackman_window
    blackman_window.periodic empty.memory_format empty_permuted empty_strided eye eye.m fft_fftfreq
    fft_rfftfreq full hamming_window hamming_window.periodic hamming_window.periodic_alpha
    hamming_window.periodic_alpha_beta hann_window hann_window.periodic kaiser_window kaiser_window.beta
    kaiser_window.periodic linspace logspace normal.float_float ones rand rand.generator randint
    randint.generator randint.low randint.low_generator randn randn.generator randperm randperm.generator
    range range.step scalar_tensor tril_indices triu_indices zeros
"""
_PINNED = "pinned_for_sim"


def register(library: Any) -> None:
    """Register everything that has no tensor of the device among its arguments."""
    for name in _FACTORIES.split():
        library.impl(name, partial(create, overload(name)), "PrivateUse1")
    library.impl("_efficientzerotensor", partial(create, overload("zeros")), "PrivateUse1")
    library.impl("_copy_from", copy_from, "PrivateUse1")
    library.impl("_local_scalar_dense", read, "PrivateUse1")
    for name, cell in FUSED_CELLS.items():
        library.impl(name, cell, "AutogradPrivateUse1")


def register_for_host(library: Any) -> None:
    """Change what CPU tensors and `torch.accelerator` do in the presence of the device."""
    # pinned memory is ordinary memory here, that remembers having been asked for
    library.impl("_pin_memory", _pin_memory, "CPU")
    library.impl("is_pinned", _is_pinned, "CPU")
    _compat.on_synchronize(backend.synchronize)
    torch.serialization.register_package(0, _no_tag, _load_storage)


def _pin_memory(x: Tensor, _device: Any = None) -> Tensor:
    pinned: Tensor = torch.ops.aten.clone.default(x)
    setattr(pinned.untyped_storage(), _PINNED, True)
    return pinned


def _is_pinned(x: Tensor, _device: Any = None) -> bool:
    return hasattr(x.untyped_storage(), _PINNED)


def _no_tag(_storage: Any) -> None:
    """Saving needs no help: a `SimStorage` tells its device."""


def _load_storage(storage: Any, location: str) -> Any:
    return as_storage(storage) if location.startswith("sim") else None
