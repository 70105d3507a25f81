"""Which collectives a rank really issues, and how many bytes it hands to them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.checks._compat import schema_of
from grader.checks.cost.dispatch import DispatchMode
from grader.checks.cost.memory import tensors_in

_KINDS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "send": "send",
    "isend": "send",
    "recv": "recv",
    "irecv": "recv",
    "barrier": "barrier",
    "monitoredbarrier": "barrier",
}
"""How names begin once underscores are gone: `_reduce_scatter_base_`, `reduce_scatter_tensor`, ..."""

_HANDED_IN = ("input_tensors", "input_tensor", "input_list", "inputs", "input", "tensors", "tensor")
_MESSAGES = ("send", "recv")
_NAMESPACES = ("c10d", "_c10d_functional")


@dataclass(frozen=True)
class Collective:
    """One collective of one rank: its kind, and the bytes that this rank handed in (`recv`: received).

    `peer` is the rank in the group that a `send` goes to, or that a `recv` names. `dtype` is that of the
    first tensor.
    """

    kind: str
    bytes: int
    peer: int | None = None
    dtype: torch.dtype | None = None


@dataclass
class Collectives:
    """What one rank issued, in order. Kinds are named as in torch.distributed.

    Variants share a kind: `all_gather_into_tensor` is an `all_gather`, `isend` a `send`.

    Attributes:
        calls: one for each call, with its `kind`, the `bytes` that this rank handed in (`recv`: received),
            the `peer` of a `send` or `recv` (its rank in the group, or None) and the first tensor's `dtype`.
    """

    calls: list[Collective] = field(default_factory=list)

    @property
    def count(self) -> dict[str, int]:
        """Calls by kind. A kind that never came is not in it: use `count.get("send", 0)`."""
        kinds = [call.kind for call in self.calls]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes by kind."""
        return {kind: sum(c.bytes for c in self.calls if c.kind == kind) for kind in self.count}


def in_words(count: Mapping[str, int]) -> str:
    """`Collectives.count` for a line of feedback: "2 all_gather, 1 broadcast", or "none".

    Example:
        @pytest.mark.multi_process
        def test_messages(answer):
            for found in run_ranks(2, count, answer=answer):  # `count` as for `count_collectives`
                expect_that(len(found) == 1, "all_mean(x) sends too much", yours=in_words(found))
    """
    return ", ".join(f"{number} {kind}" for kind, number in sorted(count.items())) or "none"


class _Counting(DispatchMode):
    """Every collective passes the dispatcher, those of DDP's C++ reducer too."""

    def __init__(self, seen: Collectives) -> None:
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace in _NAMESPACES:
            self.seen.calls.extend(_calls(func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def _calls(func: Any, args: Any, kwargs: Any) -> Iterator[Collective]:
    schema = schema_of(func)
    values = dict(zip((argument.name for argument in schema.arguments), args, strict=False)) | kwargs
    name = schema.name.split("::")[1].replace("_", "")
    if name == "batchp2pops":
        for kind, tensor in zip(values["op_list"], values["tensors"], strict=True):
            yield Collective(_KINDS[kind], tensor.nbytes, dtype=tensor.dtype)
        return
    kind = _KINDS.get(name) or next((k for start, k in _KINDS.items() if name.startswith(start)), None)
    if kind == "barrier":
        yield Collective(kind, 0)
    elif kind:
        handed_in = next((values[n] for n in _HANDED_IN if n in values), ())
        tensors = list(tensors_in((handed_in,)))
        peer = values.get("dst" if kind == "send" else "src") if kind in _MESSAGES else None
        yield Collective(kind, sum(t.nbytes for t in tensors), peer, tensors[0].dtype if tensors else None)


@contextmanager
def count_collectives() -> Iterator[Collectives]:
    """Count the collectives that this rank issues, whoever issues them; use it inside a worker.

    Not seen: what other threads of the rank issue, such as callbacks of futures.

    Example:
        def count(rank, world_size, answer):
            with count_collectives() as seen:
                answer.all_mean(torch.ones(3))
            return seen.count


        @pytest.mark.multi_process
        def test_one_message(answer):
            for found in run_ranks(2, count, answer=answer):
                expect_equal(found, {"all_reduce": 1}, "the collectives of all_mean(x)")
    """
    seen = Collectives()
    with _Counting(seen):
        yield seen
