"""What of torch's dispatcher has no public name, and the simulated device needs: each under a name of ours.

Tried with torch 2.11 and 2.13.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration

install_backend = backend_registration._setup_privateuseone_for_python_backend
"""Takes the device's name and the module that is to `torch.<name>` what `torch.cuda` is."""
no_torch_function = torch._C._disabled_torch_function_impl
"""A `__torch_function__` for subclasses whose operations go straight to the dispatcher."""
make_wrapper = Tensor._make_wrapper_subclass

_AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)  # type: ignore[attr-defined]


def without_autocast() -> Any:
    """A context in which the device's operations are not cast."""
    return torch._C._ExcludeDispatchKeyGuard(_AUTOCAST)


def backend_name() -> str:
    """Who holds PyTorch's slot for one extra device; "privateuseone" where nobody does."""
    return torch._C._get_privateuse1_backend_name()


def is_composite(op: Any) -> bool:
    """Whether an operation is made of others, which autograd sees instead of it."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")


def on_synchronize(synchronize: Callable[..., None]) -> None:
    """Have `torch.accelerator.synchronize` call this; it passes a device."""
    torch._C._accelerator_synchronizeDevice = synchronize


def pickled(tensor: Tensor) -> Any:
    """What `__reduce_ex__` returns for a plain tensor on the same storage."""
    storage = tensor._typed_storage()  # type: ignore[no-untyped-call]
    layout = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    return torch._utils._rebuild_tensor_v2, (storage, *layout, tensor.requires_grad, OrderedDict())
