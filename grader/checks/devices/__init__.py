"""The simulated device: another device than the CPU, on every machine.

`install()` adds a device named "sim" to this process. Its tensors hold real values, support autograd,
refuse to meet CPU tensors as CUDA tensors do, and count what they copy and wait for:

    device = install()
    model.to(device)
    with count_traffic() as traffic:
        loss = model(batch)
    expect_no_traffic(traffic, "model(batch)")

Known limits: one device; no `torch.Generator(device="sim")`, no nested tensors, sparse ones only in part;
lazy layers must see their first batch before they move; `tensor.data = other` cannot change the device;
`type(x)` is a subclass of `Tensor`; attention always takes the math path; `torch.accelerator.memory_*`
reports nothing.
"""

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_map_only
from grader.checks.devices import _compat, autocast, backend, kernels
from grader.checks.devices.rules import DEVICE
from grader.checks.devices.simulated import SimTensor, wrap
from grader.checks.devices.traffic import count_traffic, expect_no_traffic

__all__ = ["count_traffic", "expect_no_traffic", "is_simulated", "on_host"]

_NAME = "sim"
_libraries: list[torch.library.Library] = []
_installed = False


def prepare() -> None:
    """Do the slow part of `install`: register the kernels, once.

    They do nothing until the device is installed, so a parent may prepare what its children install.
    It takes 5 ms, but 25 ms in a forked child, which must copy the memory that it changes.
    """
    if not _libraries:
        if torch.distributed.is_available():
            # torch imports this at the first operation on any tensor subclass, for 0.4 s
            import_module("torch.distributed.tensor")
        for namespace in ("aten", "_"):
            _libraries.append(torch.library.Library(namespace, "IMPL"))  # type: ignore[no-untyped-call]
        kernels.register(_libraries[0])
        autocast.register(*_libraries)


def install() -> torch.device:
    """Add the simulated device to this process, once, and return it ("sim:0").

    Install before the first `backward()` of the process, also on the CPU: autograd starts one thread for
    each device then, and none later. A process that has run a backward since must not fork children that
    run one, so a parent that forks leaves the installing to its children.

    Raises:
        RuntimeError: another backend, such as an NPU's, holds PyTorch's slot for extra devices.
    """
    global _installed
    if not _installed:
        taken = _compat.backend_name()
        if taken != "privateuseone":
            raise RuntimeError(
                f"The simulated device needs PyTorch's slot for one extra device, which {taken!r} holds; "
                f"run in an environment without the {taken!r} extension."
            )
        prepare()
        _compat.install_backend(_NAME, backend)
        kernels.register_for_host(_libraries[0])
        _installed = True
    return DEVICE


def is_simulated(value: object) -> bool:
    """Whether `value` is a tensor on the simulated device.

    Example:
        def test_result_is_on_the_device(answer, device):
            yours = answer.center(torch.ones(3, device=device))
            expect_that(is_simulated(yours), "center(x) leaves the device", yours=yours)
    """
    return isinstance(value, SimTensor)


def on_host(tensor: Tensor) -> Tensor:
    """A detached copy of the values as a plain CPU tensor, without being counted.

    Example:
        def test_values_on_the_device(answer, device):
            yours = answer.center(torch.tensor([1.0, 3.0], device=device))
            expect_close(on_host(yours), torch.tensor([-1.0, 1.0]), "center(x) on another device")
    """
    return tensor.host_values.clone() if isinstance(tensor, SimTensor) else tensor.detach().clone()


def to_device(data: Any) -> Any:
    """Nested data with every tensor copied to the simulated device, without being counted.

    The copies are leaves: they require gradients where the originals do.
    """
    return tree_map_only(Tensor, lambda x: wrap(on_host(x)).requires_grad_(x.requires_grad), data)
