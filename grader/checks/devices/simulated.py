"""Tensors that hold real values on the CPU and claim to be on another device.

Every operation arrives in `SimTensor.__torch_dispatch__`, below autograd: operands are checked as CUDA
would check them, the operation runs on the real values, and the results are wrapped again. A view of
the real values is a view: aliasing, in-place writes and storage sharing come for free.
"""

import copy
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from grader.checks.devices import _compat, traffic
from grader.checks.devices.backend import random_stream
from grader.checks.devices.recurrent_cells import FUSED_CELLS
from grader.checks.devices.rules import DEVICE, check_operands, record, refuse_generator, traits_of

_DATA: Any = torch.Tensor.data


class SimStorage(torch.UntypedStorage):
    """The memory of a simulated tensor: real bytes that name the simulated device."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return DEVICE

    def clone(self) -> "SimStorage":
        return as_storage(self.cpu())

    def cpu(self) -> torch.UntypedStorage:
        host: Any = torch.UntypedStorage
        return host(self.nbytes(), device="cpu").copy_(self, False)  # type: ignore[no-any-return]


def as_storage(storage: torch.UntypedStorage) -> SimStorage:
    """The same memory as seen from the device."""
    # relabelled, not wrapped: torch keeps one Python object for each storage
    storage.__class__ = SimStorage
    return storage  # type: ignore[return-value]


class SimTensor(torch.Tensor):
    """A tensor on the simulated device. Its values are the CPU tensor `host_values`."""

    __slots__ = ("host_values",)
    host_values: Tensor
    __torch_function__ = _compat.no_torch_function  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if any(kind is not cls for kind in types):
            return NotImplemented
        return run(func, args, kwargs or {})

    @property
    def data(self) -> Any:
        return _DATA.__get__(self)

    @data.setter
    def data(self, value: Any) -> None:
        _DATA.__set__(self, value)
        self.host_values = value.host_values

    def data_ptr(self) -> int:
        return self.host_values.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return as_storage(self.host_values.untyped_storage())

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return self.detach().cpu().resolve_conj().resolve_neg().numpy()
        raise TypeError(
            f"can't convert {DEVICE} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def tolist(self) -> Any:
        traffic.record(to_host=1, numbers=self.numel(), syncs=1)
        return self.host_values.tolist()

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        traffic.record(to_host=1, numbers=self.numel(), syncs=1)
        notes = f", device='{DEVICE}'"
        if self.grad_fn is not None:
            notes += f", grad_fn=<{type(self.grad_fn).__name__}>"
        elif self.requires_grad:
            notes += ", requires_grad=True"
        title = "Parameter containing:\n" if isinstance(self, torch.nn.Parameter) else ""
        return f"{title}{repr(self.host_values)[:-1]}{notes})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "SimTensor":
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                "at the moment."
            )
        # through the real tensor, whose own deepcopy keeps tensors tied that share a storage
        copied = wrap(copy.deepcopy(self.host_values, memo))
        copied.requires_grad_(self.requires_grad)
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        copied.grad = copy.deepcopy(self.grad, memo)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, _protocol: Any) -> Any:
        # as a plain tensor on a "sim:0" storage, so that `map_location` decides where it is loaded
        return _compat.pickled(self)


def wrap(real: Tensor) -> SimTensor:
    """A simulated tensor whose values are, not are copied from, a CPU tensor."""
    real = real.resolve_conj()  # the wrapper has no conjugate bit to match
    place: dict[str, Any] = {}
    if real.layout is torch.strided:
        place = {"strides": real.stride(), "storage_offset": real.storage_offset()}
    tensor: SimTensor = _compat.make_wrapper(
        SimTensor,
        real.shape,
        layout=real.layout,
        dtype=real.dtype,
        device=DEVICE,
        **place,
    )
    tensor.host_values = real
    return tensor


def run(func: Any, args: Any, kwargs: Any) -> Any:
    """Run one ATen operation on the real values."""
    traits = traits_of(func)
    # taken apart before they come here, except in inference mode
    if traits.composite:
        return func.decompose(*args, **kwargs)
    if traits.name in FUSED_CELLS:
        return FUSED_CELLS[traits.name](*args, **kwargs)
    if traits.name.startswith("_foreach_") and any(map(_is_mixed, args)):
        return _one_by_one(func, args, kwargs)
    check_operands(traits, args, kwargs)
    record(traits, args, kwargs)
    wrapper_of: dict[int, Tensor] = {}
    real_args = [_unwrap(value, wrapper_of) for value in args]
    real_kwargs = {name: _unwrap(value, wrapper_of) for name, value in kwargs.items()}
    target = kwargs.get("device")
    if target is not None and target.type == DEVICE.type:
        real_kwargs["device"] = torch.device("cpu")
    stays = target is None or target.type == DEVICE.type
    with random_stream() if traits.random else nullcontext():
        result = func(*real_args, **real_kwargs)
    if traits.name == "_pack_padded_sequence":  # the batch sizes stay on the CPU, as on every device
        wrapper_of[id(result[1])] = result[1]
    if traits.writes:
        for wrapper in wrapper_of.values():
            _refresh(wrapper)
    if not stays:
        return result
    # a view of an ordinary tensor is an ordinary tensor, in inference mode as well
    ordinary = traits.view and torch.is_inference_mode_enabled() and not args[0].is_inference()
    with torch.inference_mode(False) if ordinary else nullcontext():
        return _rewrap(result, wrapper_of)


def _is_mixed(value: Any) -> bool:
    """Whether these are tensors of more than one device."""
    return isinstance(value, list) and len({x.device for x in value if isinstance(x, Tensor)}) > 1


def _one_by_one(func: Any, args: Any, kwargs: Any) -> Any:
    """Like CUDA, take lists over several devices element by element; within each, devices must not meet."""
    steps = (
        tuple([value[i]] if isinstance(value, list) else value for value in args) for i in range(len(args[0]))
    )
    results = [func(*step, **kwargs) for step in steps]
    return None if results[0] is None else [result[0] for result in results]


def create(func: Any, *args: Any, device: Any = None, pin_memory: Any = None, **kwargs: Any) -> SimTensor:
    """Run a factory such as `arange` for the device."""
    refuse_generator(kwargs)
    with random_stream() if traits_of(func).random else nullcontext():
        return wrap(func(*args, device=torch.device("cpu"), **kwargs))


def copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    """The copy inside `torch.tensor(data, device=device)`, which torch makes below `__torch_dispatch__`."""
    run(torch.ops.aten.copy_.default, (target, source, non_blocking), {})
    return target


def read(x: Tensor) -> Any:
    """The `.item()` inside `torch.tensor([x, y])`, for each of these, which torch makes there as well."""
    return run(torch.ops.aten._local_scalar_dense.default, (x,), {})


def _unwrap(value: Any, wrapper_of: dict[int, Tensor]) -> Any:
    if isinstance(value, Tensor):
        real = value.host_values if isinstance(value, SimTensor) else value
        wrapper_of[id(real)] = value
        return real
    if isinstance(value, (list, tuple)):
        return type(value)(_unwrap(item, wrapper_of) for item in value)
    return value


def _rewrap(value: Any, wrapper_of: dict[int, Tensor]) -> Any:
    if isinstance(value, Tensor):
        return wrapper_of[id(value)] if id(value) in wrapper_of else wrap(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_rewrap(item, wrapper_of) for item in value)
    return value


def _refresh(wrapper: Tensor) -> None:
    """Tell the wrapper its new shape after `unsqueeze_`, `resize_` and the like."""
    if isinstance(wrapper, SimTensor):
        real = wrapper.host_values
        if wrapper.shape != real.shape or wrapper.stride() != real.stride():
            _DATA.__set__(wrapper, wrap(real))
