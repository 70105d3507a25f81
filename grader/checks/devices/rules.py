"""What CUDA would say about an operation: which operands may meet, and what it costs in traffic."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import schema_of
from grader.checks.devices import traffic
from grader.checks.devices._compat import is_composite

DEVICE = torch.device("privateuseone", 0)
"""Reads "sim:0" once the device is installed."""

_COPIES = {"copy_", "_foreach_copy_"}
_INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
_FILLS = {"fill", "fill_", "masked_fill", "masked_fill_", "index_fill", "index_fill_"}
"""Not pointwise by their tags, but their value may be a CPU scalar."""
_ON_HOST = {
    "_pack_padded_sequence": {"lengths"},
    "_pack_padded_sequence_backward": {"batch_sizes"},
    "_pad_packed_sequence": {"batch_sizes"},
}
"""Lengths that CUDA, too, wants on the CPU."""
_MASKS = (torch.bool, torch.uint8)


@dataclass(frozen=True)
class Traits:
    """What the schema of an operation says about it."""

    name: str
    composite: bool
    view: bool
    pointwise: bool
    random: bool
    reads_value: bool
    dynamic_shape: bool
    names: tuple[str, ...]
    writes: frozenset[str]


@cache
def traits_of(func: Any) -> Traits:
    schema = schema_of(func)
    arguments = schema.arguments
    return Traits(
        name=schema.name.removeprefix("aten::"),
        composite=is_composite(func),
        view=any(a.alias_info is not None and not a.alias_info.is_write for a in arguments),
        pointwise=torch.Tag.pointwise in func.tags,
        random=torch.Tag.nondeterministic_seeded in func.tags,
        reads_value=torch.Tag.data_dependent_output in func.tags,
        dynamic_shape=torch.Tag.dynamic_output_shape in func.tags,
        names=tuple(a.name for a in arguments),
        writes=frozenset(a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write),
    )


def is_ours(value: object) -> bool:
    return isinstance(value, Tensor) and value.device.type == DEVICE.type


def check_operands(traits: Traits, args: Any, kwargs: Any) -> None:
    """Refuse tensors of another device, except where CUDA takes them.

    That is: copies, CPU indices into a device tensor, and CPU scalars that are only read.
    """
    refuse_generator(kwargs)
    if traits.name in _COPIES:
        return
    indexing = traits.name in _INDEXING
    scalars = traits.pointwise or indexing or traits.name in _FILLS
    for name, value in _named(traits, args, kwargs):
        for operand in value if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(operand, Tensor) or is_ours(operand):
                continue
            if name in _ON_HOST.get(traits.name, ()) or (indexing and name == "indices" and is_ours(args[0])):
                continue
            if scalars and operand.dim() == 0 and name not in traits.writes:
                continue
            if indexing and name == "self":
                raise RuntimeError(
                    "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
                )
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{DEVICE} and {operand.device}! "
                f"(when checking argument for argument {name} in method {traits.name})"
            )


def refuse_generator(kwargs: Any) -> None:
    """Like CUDA, take no generator that belongs to the CPU."""
    generator = kwargs.get("generator")
    if generator is not None:
        raise RuntimeError(
            f"Expected a '{DEVICE.type}' device type for generator but found '{generator.device.type}'"
        )


def record(traits: Traits, args: Any, kwargs: Any) -> None:
    """Count what the operation sends, fetches and waits for."""
    if not traffic.is_counting():
        return
    if traits.name == "copy_":
        _record_copy(*args, **kwargs)
    elif traits.name == "_to_copy":
        target = kwargs.get("device")
        if target is not None and target.type != DEVICE.type:
            traffic.record(to_host=1, numbers=args[0].numel(), syncs=0 if kwargs.get("non_blocking") else 1)
    elif traits.reads_value:
        traffic.record(to_host=1, numbers=1, syncs=1)
    elif traits.name in _INDEXING:
        _record_indexing(args)
    elif traits.dynamic_shape and kwargs.get("output_size") is None:
        traffic.record(syncs=1)


def _record_copy(target: Tensor, source: Tensor, non_blocking: bool = False) -> None:
    if not is_ours(source):
        traffic.record(to_device=1)
    elif not is_ours(target):
        traffic.record(to_host=1, numbers=source.numel(), syncs=0 if non_blocking else 1)


def _record_indexing(args: Any) -> None:
    indices = [index for index in args[1] if index is not None]
    traffic.record(to_device=sum(not is_ours(index) for index in indices))
    # x[mask] = number is a masked fill on CUDA; it arrives here with the number as a 0-dim tensor
    fills = len(args) > 2 and args[2].dim() == 0
    if not fills and any(is_ours(index) and index.dtype in _MASKS for index in indices):
        traffic.record(syncs=1)


def _named(traits: Traits, args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    yield from zip(traits.names, args, strict=False)
    yield from kwargs.items()
