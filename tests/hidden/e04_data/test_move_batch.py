"""What grades move_batch: nesting, named tuples, leaves, non_blocking; dictionaries, what moves itself."""

import copy
from collections import OrderedDict, defaultdict, namedtuple
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.cost.dispatch import DispatchMode
from grader.checks.devices import count_traffic, is_simulated, on_host

CALL = "move_batch(batch, device)"


class Pair(NamedTuple):
    tokens: Tensor
    note: str = "no note"


Point = namedtuple("Point", "x y")
Single = namedtuple("Single", "only")


def shell(batch):
    """`batch` in containers of its own, into which an answer may write."""
    if isinstance(batch, dict):
        kept = copy.copy(batch)
        kept.update((key, shell(value)) for key, value in batch.items())
        return kept
    if isinstance(batch, (list, tuple)):
        parts = [shell(part) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


def expect_moves(answer, batch, device):
    """Fail unless `batch` comes back on the device; whether it is left alone is a check of its own."""
    expect_moved(answer.move_batch(shell(batch), device), batch)


def expect_moved(yours, batch, path=CALL):
    """Fail unless `yours` is `batch` with its tensors on the simulated device, and all else as it was."""
    if isinstance(batch, Tensor):
        expect_that(isinstance(yours, Tensor), f"{path} is no tensor", yours=yours)
        expect_that(is_simulated(yours), f"{path} is not on the device", yours=yours)
        expect_equal(on_host(yours), on_host(batch), path)
    elif isinstance(batch, (dict, list, tuple)):
        found, wanted, likely = type(yours).__name__, type(batch).__name__, ""
        if hasattr(batch, "_fields") and type(yours) in (tuple, list):
            likely = "a named tuple is a tuple, too: build it of single arguments, `type(batch)(*parts)`"
        elif isinstance(batch, tuple) and type(yours) is list:
            likely = "tuples become lists: `type(batch)(parts)` keeps what it was"
        same = type(yours) is type(batch)
        expect_that(same, f"{path} is of another type", yours=found, wanted=wanted, likely=likely)
        expect_equal(len(yours), len(batch), f"the length of {path}")
        if isinstance(batch, dict):
            same = all(one is other for one, other in zip(yours, batch, strict=True))
            expect_that(
                same, f"{path} has other keys, or in another order", yours=list(yours), wanted=list(batch)
            )
        for key in batch if isinstance(batch, dict) else range(len(batch)):
            expect_moved(yours[key], batch[key], f"{path}[{key!r}]")
    elif batch is None or isinstance(batch, (str, int, float)):
        expect_equal(yours, batch, path)
    else:
        expect_that(yours is batch, f"{path} is not the same object", yours=yours, wanted=batch)


def tensor(gen, *shape):
    return torch.randn(shape or (2, 3), generator=gen)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_nested(answer, device, gen, depth):
    """Tensors are found at any depth, in dictionaries, lists and tuples."""
    batch = tensor(gen)
    for level in range(depth):
        batch = {
            "list": [tensor(gen), (batch, level), "text"],
            level: (tensor(gen), {"x": batch}),
            "none": [],
        }
    expect_moves(answer, batch, device)


def test_named_tuples(answer, device, gen):
    """A named tuple stays one of its class, with values that are no tensors."""
    for batch in (
        Pair(tensor(gen), "a note"),
        [Point(tensor(gen), [tensor(gen)])],
        {"a": Point(1, Pair(tensor(gen)))},
        Single((tensor(gen),)),
    ):
        expect_moves(answer, batch, device)


def test_other_leaves(answer, device, gen):
    """Strings, numbers and None stay as they are, also as the whole batch."""
    leaves = ["text", "x", "", b"bytes", 3, 2.5, True, None]
    expect_moves(answer, leaves, device)
    for leaf in leaves:
        expect_equal(answer.move_batch(leaf, device), leaf, f"move_batch({leaf!r}, device)")


class Copies(DispatchMode):
    """Notes how tensors are copied between devices."""

    def __init__(self):
        super().__init__()
        self.non_blocking = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.ops.aten._to_copy.default:
            self.non_blocking.append(bool(kwargs.get("non_blocking", False)))
        elif func is torch.ops.aten.copy_.default:
            self.non_blocking.append(bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False)))
        return func(*args, **kwargs)


def test_non_blocking(answer, device, gen):
    """non_blocking reaches every tensor, at every depth, and is False by default."""
    batch = {"a": tensor(gen), "b": [Pair(tensor(gen)), (tensor(gen), {"c": tensor(gen)})]}
    for given, wanted in [({}, False), ({"non_blocking": True}, True)]:
        with Copies() as copies:
            answer.move_batch(shell(batch), device, **given)
        call = f"move_batch(batch, device{', non_blocking=True' if given else ''})"
        found, likely = copies.non_blocking, ""
        if wanted and True in found and False in found:
            likely = "it is not handed on where the function calls itself"
        told = f"wrong non_blocking for the four tensors of {call}"
        expect_that(found == [wanted] * 4, told, yours=found, wanted=[wanted] * 4, likely=likely)


@pytest.mark.fine
def test_dictionaries(answer, device, gen):
    """Dictionaries keep their kind, their order, a factory, and keys of any kind."""
    ordered = OrderedDict([("z", tensor(gen)), ("a", tensor(gen)), ("m", 1)])
    expect_moves(answer, ordered, device)
    mixed = {3: tensor(gen), ("a", 1): [tensor(gen)], None: 2, torch.tensor([1.0]): tensor(gen)}
    expect_moves(answer, mixed, device)
    lists = defaultdict(list, b=[tensor(gen)], a=[])
    there = answer.move_batch(shell(lists), device)
    expect_moved(there, lists)
    kept = there.default_factory is list
    expect_that(kept, "the moved defaultdict has another factory", yours=there.default_factory)


class Graph:
    """A batch class that moves itself."""

    def __init__(self, edges):
        self.edges, self.asked = edges, []

    def to(self, where, non_blocking=False):
        self.asked.append(non_blocking)
        return Graph(self.edges.to(where, non_blocking=non_blocking))


class Encoding(dict):
    """A dictionary that moves itself, as HF's BatchEncoding does."""

    def to(self, device, non_blocking=False):
        return "moved", str(device), non_blocking


@pytest.mark.fine
def test_moves_itself(answer, device, gen):
    """What has a method `to` moves itself, wherever it is in the batch."""
    graph = Graph(tensor(gen))
    there, told = answer.move_batch([{"graph": graph}, 1], device, True)[0]["graph"], "an object with `to` "
    expect_that(isinstance(there, Graph) and there is not graph, told + "is not what it returned")
    expect_that(is_simulated(there.edges), told + "has a tensor that is not on the device")
    expect_equal(graph.asked, [True], "the non_blocking that `to` was called with")
    moved = answer.move_batch([Encoding(a=tensor(gen))], device, True)
    expect_equal(moved, [("moved", str(device), True)], "what a dictionary with a `to` of its own becomes")


@pytest.mark.fine
def test_packed_sequences(answer, device, gen):
    """A PackedSequence moves its data, and keeps its batch sizes on the CPU."""
    packed = pack_sequence([tensor(gen, 2, 3), tensor(gen, 4, 3)], enforce_sorted=False)
    there = answer.move_batch({"speech": packed, "n": 2}, device)["speech"]
    expect_that(isinstance(there, PackedSequence), "a PackedSequence is none afterwards", yours=there)
    expect_that(is_simulated(there.data), "the data of a PackedSequence is not on the device")
    expect_equal(there.batch_sizes, packed.batch_sizes.clone(), "the batch_sizes of a PackedSequence")


@pytest.mark.fine
def test_same_objects(answer, device):
    """An array, a set or an iterator is the very same object, and nothing is taken from the iterator."""
    letters = iter("abc")
    leaves = [np.arange(3), {1, 2}, frozenset({"a"}), letters, bytearray(b"ab"), slice(1, 2), range(3)]
    expect_moves(answer, leaves, device)
    expect_equal(list(letters), ["a", "b", "c"], "what an iterator in the batch still gives")


@pytest.mark.fine
def test_batch_is_left_alone(answer, device, gen):
    """The batch keeps its containers and tensors as they were."""
    x, y, z = (tensor(gen) for _ in range(3))
    inner, ordered = [x, "a"], OrderedDict(q=z)
    batch = {"list": inner, "pair": Pair(y), "ordered": ordered}
    with unchanged(CALL, x=x, y=y, z=z):
        answer.move_batch(batch, device)
    same = batch["list"] is inner and inner[0] is x and batch["pair"].tokens is y and ordered["q"] is z
    expect_that(same, "a list or dictionary of the batch is changed: build a new one")


@pytest.mark.fine
def test_copies(answer, device, gen):
    """Each tensor is copied once, nothing comes back, and the host does not wait."""
    inside = torch.randn(6, 5, generator=gen)
    batch = {
        "a": inside,
        "b": [inside[1:3], inside.t(), torch.tensor(3)],
        "c": Pair(torch.empty(0, 3)),
        "d": 1,
    }
    with count_traffic() as traffic:
        there = answer.move_batch(shell(batch), device)
    expect_moved(there, batch)
    found = (traffic.to_device, traffic.to_host, traffic.syncs)
    expect_equal(found, (5, 0, 0), "copies to the device, copies to the host, waits, for 5 tensors,")


@pytest.mark.fine
def test_already_there(answer, device, gen):
    """A tensor that is on the device is the very same object afterwards."""
    x = tensor(gen).to(device)
    there = answer.move_batch([x, {"y": tensor(gen)}, Pair(x)], device)
    expect_that(there[0] is x and there[2].tokens is x, "a tensor that is on the device is another object")


@pytest.mark.fine
def test_gradients(answer, device, gen):
    """A gradient finds its way back through the copies to the batch."""
    x, w = tensor(gen, 3).requires_grad_(), tensor(gen, 3).requires_grad_()
    there = answer.move_batch({"x": x, "w": [w * 2]}, device)
    wanted = 2 * w.detach().clone(), 2 * x.detach().clone()
    product = (there["x"] * there["w"][0]).sum()
    expect_that(product.requires_grad, "the tensors on the device have lost their graph")
    product.backward()
    for name, leaf, right in [("x", x, wanted[0]), ("w", w, wanted[1])]:
        expect_that(leaf.grad is not None, f"no gradient comes back to {name}")
        expect_close(leaf.grad, right, f"the gradient of {name}")


def oracle(answer, gen):
    def both(batch, tensors):
        """What comes of it on the CPU, where the numbers stay, and where the tensors of it are on "meta"."""

        def case(gen):
            drawn = batch(lambda *shape: torch.randn(shape, generator=gen))
            gone = tensors(answer.move_batch(shell(drawn), "meta", non_blocking=True))
            return [answer.move_batch(shell(drawn), "cpu"), [[str(t.device), list(t.shape)] for t in gone]]

        return case

    return {
        "a dictionary": both(
            lambda new: {"a": new(3), "b": new(2, 2), "c": "text"}, lambda b: [b["a"], b["b"]]
        ),
        "a list": both(lambda new: [new(4), None, new(1)], lambda b: [b[0], b[2]]),
        "a tuple": both(lambda new: (new(2, 3), 2.5, new(5)), lambda b: [b[0], b[2]]),
        "a named tuple in a list": both(
            lambda new: [Pair(new(4), "note"), 3, new(2)], lambda b: [b[0].tokens, b[2]]
        ),
        "dictionaries, lists and tuples in each other": both(
            lambda new: {
                "a": new(2, 3),
                "b": [new(4), "text", None, (1, 2.5, [new(3)])],
                "c": ({"d": new(1)},),
            },
            lambda b: [b["a"], b["b"][0], b["b"][3][2][0], b["c"][0]["d"]],
        ),
        "a tensor alone": both(lambda new: new(7, 2), lambda b: [b]),
    }
