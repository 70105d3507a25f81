"""What grades move_batch: nesting, kinds of containers, copies, non_blocking, leaves, real batches."""

from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils.data import DataLoader

from grader.checks import count_operations, expect_close, expect_equal, expect_raises, expect_that, unchanged
from grader.checks.cost.dispatch import DispatchMode
from grader.checks.dataloader.workers import FORKED
from grader.checks.devices import count_traffic, is_simulated, on_host

CALL = "move_batch(batch, device)"


class Pair(NamedTuple):
    tokens: Tensor
    note: str = "no note"

    def length(self):
        return len(self.tokens)


Point = namedtuple("Point", "x y")
Single = namedtuple("Single", "only")
Renamed = namedtuple("Renamed", "class x", rename=True)  # its first field is called _0


class Place(Point):
    """A named tuple in two steps, as it was written before `NamedTuple`."""


class Letter(NamedTuple):
    to: str
    text: Tensor


@dataclass
class Record:
    tokens: Tensor


def expect_moved(yours, batch, path=CALL):
    """Fail unless `yours` is `batch` with its tensors on the simulated device, and all else the same."""
    if isinstance(batch, Tensor):
        expect_that(isinstance(yours, Tensor), f"{path} is no tensor", yours=yours)
        expect_that(is_simulated(yours), f"{path} is not on the device", yours=yours)
        expect_equal(on_host(yours), on_host(batch), path)
    elif isinstance(batch, (dict, list, tuple)):
        expect_equal(type(yours).__name__, type(batch).__name__, f"the type of {path}")
        expect_that(type(yours) is type(batch), f"the type of {path} is another one of the same name")
        expect_equal(len(yours), len(batch), f"the length of {path}")
        if isinstance(batch, dict):
            same = all(one is other for one, other in zip(yours, batch, strict=True))
            expect_that(
                same,
                f"{path} has other keys than the same objects, or in another order",
                yours=list(yours),
                wanted=list(batch),
                likely="keys stay as they are, tensors among them too: values alone are moved",
            )
        for key in batch if isinstance(batch, dict) else range(len(batch)):
            expect_moved(yours[key], batch[key], f"{path}[{key!r}]")
    else:
        expect_that(yours is batch, f"{path} is not the same object", yours=yours, wanted=batch)


def tensor(gen, *shape):
    return torch.randn(shape or (2, 3), generator=gen)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_nested(answer, device, gen, depth):
    """Tensors are found at any depth, in dictionaries, lists, tuples and named tuples."""
    batch = tensor(gen)
    for level in range(depth):
        batch = {
            "pair": Pair(batch, f"level {level}"),
            "list": [tensor(gen), (batch, level), "text"],
            level: Point(x=(tensor(gen),), y=[batch]),
        }
    expect_moved(answer.move_batch(batch, device), batch)
    deep = tensor(gen)
    for _ in range(20 * depth):
        deep = [deep]
    there = answer.move_batch(deep, device)
    while isinstance(there, list) and there:
        there = there[0]
    moved = isinstance(there, Tensor) and is_simulated(there)
    expect_that(moved, f"a tensor inside {20 * depth} lists is not on the device", yours=there)


def test_named_tuples(answer, device, gen):
    """A named tuple stays one of its class, with fields, methods and values that are no tensors."""
    for batch in (
        Pair(tensor(gen), "a note"),
        Point(tensor(gen), tensor(gen)),
        Point(1, None),
        Point([], ()),
        Place(tensor(gen), [tensor(gen)]),
        Renamed(tensor(gen), [tensor(gen)]),
        [Letter("a friend", tensor(gen))],
    ):
        there = answer.move_batch(batch, device)
        expect_moved(there, batch)
        if isinstance(batch, tuple):
            expect_equal(there._fields, batch._fields, f"the fields of {CALL}")
    there = answer.move_batch(Pair(tensor(gen, 4)), device)
    expect_equal(there.length(), 4, "what a method of the named tuple returns")
    for batch in (Single([tensor(gen)]), Single(()), Single({"a": tensor(gen)})):
        expect_moved(answer.move_batch(batch, device), batch)


def test_dictionaries(answer, device, gen):
    """Dictionaries keep their kind, their order, a factory, and keys of any kind."""
    ordered = OrderedDict([("z", tensor(gen)), ("a", tensor(gen)), ("m", 1)])
    ordered.move_to_end("z")
    expect_moved(answer.move_batch(ordered, device), ordered)
    key = torch.tensor([1.0])
    mixed = {3: tensor(gen), ("a", 1): [tensor(gen)], None: 2, "x": tensor(gen), key: tensor(gen)}
    expect_moved(answer.move_batch(mixed, device), mixed)
    lists = defaultdict(lambda: [], b=[tensor(gen)], a=[])
    there = answer.move_batch(lists, device)
    expect_moved(there, lists)
    kept = there.default_factory is lists.default_factory
    expect_that(kept, "the moved defaultdict has another factory", yours=there.default_factory)
    expect_equal(there["new"], [], "a key that the moved defaultdict lacks")
    for empty in (OrderedDict(), defaultdict(list)):
        empty.update(mixed)
        expect_moved(answer.move_batch(empty, device), empty)
    without = defaultdict(None, a=tensor(gen))
    there = answer.move_batch(without, device)
    expect_moved(there, without)
    expect_equal(there.default_factory, None, "the factory of a moved defaultdict(None)")
    expect_equal(list(lists), ["b", "a"], "the keys of the batch afterwards")


def test_empty_containers(answer, device):
    """Empty containers stay empty ones of their kind."""
    for batch in ({}, [], (), OrderedDict(), defaultdict(int), [[], {}, ()], {"a": ([],)}):
        expect_moved(answer.move_batch(batch, device), batch, f"move_batch({batch!r}, device)")
    for batch in ([], {}, OrderedDict(), [7, "a"], {"a": 7}):
        for place in ("cpu", device):
            there = answer.move_batch([batch], place)[0]
            expect_that(
                there is not batch, f"move_batch([{batch!r}], {place!r}) holds the batch's own container"
            )


def test_copies(answer, device, gen):
    """Each tensor is copied once, nothing comes back, and the host does not wait."""
    inside = torch.randn(6, 5, generator=gen)
    batch = {
        "a": inside,
        "b": [inside[1:3], inside[1:, :].t(), inside[1:, :], torch.tensor(3)],
        "c": Pair(torch.empty(0, 3)),
        "d": 1,
    }
    for non_blocking in (False, True):
        with count_traffic() as traffic:
            there = answer.move_batch(batch, device, non_blocking)
        expect_moved(there, batch)
        found = (traffic.to_device, traffic.to_host, traffic.syncs)
        expect_equal(found, (6, 0, 0), "copies to the device, copies to the host, waits, for 6 tensors,")
    operations = count_operations(lambda: answer.move_batch(batch, device))
    other = sorted(operations.keys() - {"to_copy", "copy", "empty", "empty_like", "empty_strided"})
    expect_that(not other, f"{CALL} does more than copy each tensor once", yours=", ".join(other))


def test_already_there(answer, device, gen):
    """A tensor that is on the device is the same object afterwards; only the others are copied."""
    x = tensor(gen).to(device)
    batch = [x, {"x": x.t(), "y": tensor(gen)}, Pair(x)]
    with count_traffic() as traffic:
        there = answer.move_batch(batch, device)
    expect_equal((traffic.to_device, traffic.to_host), (1, 0), "copies to the device and to the host")
    expect_that(there[0] is x and there[2].tokens is x, "a tensor that is on the device is another object")
    expect_that(there[1]["x"] is batch[1]["x"], "a view that is on the device is another object")
    for target in (device.type, torch.device(device.type)):  # without the device's number
        call = f"move_batch([x], {target!r}) of an x on {x.device}"
        expect_that(answer.move_batch([x], target)[0] is x, f"{call} copies x")
    here = (tensor(gen), torch.nn.Parameter(tensor(gen)))
    for target, given in (("cpu", {}), (torch.device("cpu"), {"non_blocking": True})):
        stayed = answer.move_batch(here, target, **given)
        call = f"move_batch(batch, 'cpu'{', non_blocking=True' if given else ''})"
        expect_that(
            stayed[0] is here[0] and stayed[1] is here[1],
            f"{call} copies on the CPU",
        )


def test_back_to_the_cpu(answer, device, gen):
    """A batch comes back to the CPU with the numbers it had, waiting only where it must."""
    batch = {"a": tensor(gen), "b": (tensor(gen), ["x"])}
    there = answer.move_batch(batch, device)
    for target in ("cpu", torch.device("cpu")):
        for non_blocking, waits in [(False, 2), (True, 0)]:
            with count_traffic() as traffic:
                back = answer.move_batch(there, target, non_blocking=non_blocking)
            expect_equal(back, batch, f"move_batch(there, {target!r})")
            found = (traffic.to_device, traffic.to_host, traffic.syncs)
            call = f"move_batch(there, {target!r}, non_blocking={non_blocking})"
            expect_equal(found, (0, 2, waits), f"copies to the device, to the host, and waits of {call}")
    expect_moved(answer.move_batch(batch, str(device)), batch, f'move_batch(batch, "{device}")')


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
    for given, wanted in [({}, False), ({"non_blocking": True}, True), ({"non_blocking": False}, False)]:
        with Copies() as copies:
            answer.move_batch(batch, device, **given)
        call = f"move_batch(batch, device{''.join(f', {k}={v}' for k, v in given.items())})"
        expect_equal(copies.non_blocking, [wanted] * 4, f"non_blocking for the tensors of {call}")


def test_other_leaves(answer, device, gen):
    """Whatever is no tensor and cannot move itself is the same object afterwards."""
    letters = iter("abc")

    class Plain:
        tokens = torch.ones(2)

    leaves = ["text", "x", "", b"bytes", bytearray(b"ab"), 3, 2.5, True, None, 1j, {1, 2}, frozenset({"a"})]
    leaves += [np.arange(3), np.float32(2.0), range(4), torch.float16, torch.device("cpu"), torch.Generator()]
    leaves += [letters, zip([torch.ones(2)]), Plain(), Plain, slice(1, 2), len, Tensor, Ellipsis]
    leaves += [deque([torch.ones(2)]), UserDict(a=torch.ones(2)), Record(torch.ones(2))]
    expect_moved(answer.move_batch(leaves, device), leaves)
    batch = {str(i): (leaf,) for i, leaf in enumerate(leaves)}
    expect_moved(answer.move_batch(batch, device), batch)
    expect_equal(list(letters), ["a", "b", "c"], "what an iterator in the batch still gives")
    for leaf in leaves[:12]:
        expect_that(
            answer.move_batch(leaf, device) is leaf, f"move_batch({leaf!r}, device) is another object"
        )


class Graph:
    """A batch class that moves itself."""

    def __init__(self, edges):
        self.edges = edges
        self.asked = []

    def to(self, where, non_blocking=False):
        self.asked.append((where, non_blocking))
        return Graph(self.edges.to(where, non_blocking=non_blocking))


class Old:
    """Moves itself, and knows no non_blocking."""

    def to(self, device):
        return self


class Tree(dict):
    """A dictionary that moves itself."""

    def to(self, device, non_blocking=False):
        return "moved", str(device), non_blocking


class Parcel(NamedTuple):
    """A named tuple that moves itself."""

    text: str

    def to(self, device, non_blocking=False):
        return "sent", str(device), non_blocking


class Letters:
    """Answers with a list that it keeps, of what stays where it is."""

    def __init__(self, *parts):
        self.parts = [*parts]

    def to(self, device, non_blocking=False):
        return self.parts


class Stuck:
    """Something that cannot move, or moves in place."""

    def __init__(self, error=None):
        self.error = error

    def to(self, device, non_blocking=False):
        if self.error is not None:
            raise self.error("the batch's own `to` fails")


def test_moves_itself(answer, device, gen):
    """An object with a method `to` is asked to move itself, wherever it is in the batch."""
    for given in (False, True):
        graph = Graph(tensor(gen))
        there = answer.move_batch([{"graph": graph}, 1], device, given)[0]["graph"]
        expect_that(
            isinstance(there, Graph) and there is not graph, "an object with `to` is not what it returned"
        )
        expect_that(is_simulated(there.edges), "what an object with `to` moved is not on the device")
        expect_equal(graph.asked, [(device, given)], "what `to` was called with")
    moved = answer.move_batch((Tree(a=tensor(gen)), Parcel("hello")), device, True)
    wanted = (("moved", str(device), True), ("sent", str(device), True))
    expect_equal(moved, wanted, "a dictionary and a named tuple with a method `to` of their own")
    letters = Letters(tensor(gen))
    there = answer.move_batch([letters], device)[0]
    about = "what `to` returns is handled once more: it takes the object's place as it is"
    expect_that(there is letters.parts, about, yours=there, wanted=letters.parts)
    there = answer.move_batch([Stuck()], device)
    expect_equal(there, [None], "what stands for an object whose `to` returns None")
    for error in (AttributeError, TypeError):
        stuck = [Stuck(error)]
        call = f"move_batch([x], device), where x.to raises {error.__name__}"
        expect_raises(error, lambda batch=stuck: answer.move_batch(batch, device), call, words="own")
    call = "move_batch([x], device), where x.to takes no non_blocking"
    expect_raises(TypeError, lambda: answer.move_batch([Old()], device), call)
    alone = answer.move_batch(Graph(tensor(gen)), device)
    expect_that(
        isinstance(alone, Graph) and is_simulated(alone.edges), "move_batch(graph, device) is no moved graph"
    )


def test_packed_sequences(answer, device, gen):
    """A PackedSequence moves its data, and keeps its batch sizes on the CPU."""
    packed = pack_sequence([tensor(gen, 2, 3), tensor(gen, 4, 3)], enforce_sorted=False)
    there = answer.move_batch({"speech": packed, "n": 2}, device)["speech"]
    expect_that(isinstance(there, PackedSequence), "a PackedSequence is none afterwards", yours=there)
    expect_that(is_simulated(there.data), "the data of a PackedSequence is not on the device")
    expect_equal(there.batch_sizes, packed.batch_sizes.clone(), "the batch_sizes of a PackedSequence")
    expect_equal(on_host(there.data), packed.data.clone(), "the data of a PackedSequence")
    expect_that(
        is_simulated(there.sorted_indices), "the sorted_indices of a PackedSequence are not on the device"
    )


def test_batch_is_left_alone(answer, device, gen):
    """The batch keeps its containers and tensors as they were."""
    x, y, z = (tensor(gen) for _ in range(3))
    inner, names, ordered = [x, "a"], ["cat"], OrderedDict(q=z)
    batch = {"list": inner, "pair": Pair(y), "names": names, "ordered": ordered}
    with unchanged(CALL, x=x, y=y, z=z):
        answer.move_batch(batch, device)
    expect_that(
        batch["list"] is inner and inner[0] is x and inner[1] == "a", "a list in the batch is changed"
    )
    expect_that(
        batch["pair"].tokens is y and ordered["q"] is z, "a named tuple or dict in the batch is changed"
    )
    expect_equal(list(batch), ["list", "pair", "names", "ordered"], "the keys of the batch afterwards")
    expect_that(not any(is_simulated(t) for t in (x, y, z)), "a tensor of the batch was moved in place")


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.int32, torch.bool, torch.uint8], ids=str
)
def test_dtypes_and_strides(answer, device, gen, dtype):
    """Tensors keep their dtype and their strides."""
    x = (4 * torch.randn(2, 3, 4, 5, generator=gen)).to(dtype)
    for batch in ([x], [x.to(memory_format=torch.channels_last)], [x.transpose(0, 2)], [x[0, 0, 0, 0]]):
        there = answer.move_batch(batch, device)
        expect_moved(there, batch)
        expect_equal(there[0].stride(), batch[0].to(device).stride(), "the strides of a tensor on the device")


def test_gradients(answer, device, gen):
    """A gradient finds its way back through the copies to the batch."""
    x, w = tensor(gen, 3).requires_grad_(), tensor(gen, 3).requires_grad_()
    there = answer.move_batch({"x": x, "w": [w * 2], "y": torch.ones(3)}, device)
    flags = (there["x"].requires_grad, there["w"][0].requires_grad, there["y"].requires_grad)
    expect_equal(flags, (True, True, False), "requires_grad of the tensors on the device")
    wanted = 2 * w.detach().clone(), 2 * x.detach().clone()
    (there["x"] * there["w"][0] * there["y"]).sum().backward()
    for name, leaf, right in [("x", x, wanted[0]), ("w", w, wanted[1])]:
        expect_that(leaf.grad is not None, f"no gradient comes back to {name}")
        expect_close(leaf.grad, right, f"the gradient of {name}")


def collate(rows):
    return {
        "pair": Pair(torch.stack([row[0] for row in rows]), rows[0][1]),
        "names": [row[1] for row in rows],
    }


@pytest.mark.parametrize("workers", [0, 1])
def test_real_batches(answer, device, gen, workers):
    """What a DataLoader makes is moved batch by batch, a short last one too."""
    rows = [(torch.full((3,), float(i)), f"row {i}") for i in range(5)]
    start = FORKED if workers else None
    for options in ({}, {"collate_fn": collate}):
        loader = DataLoader(rows, batch_size=2, num_workers=workers, multiprocessing_context=start, **options)
        batches = list(loader)
        expect_equal(len(batches), 3, "the number of batches")
        for i, batch in enumerate(batches):
            expect_moved(answer.move_batch(batch, device), batch, f"batch {i} of a DataLoader, moved")


def oracle(answer, gen):
    batch = {
        "a": torch.randn(2, 3, generator=gen),
        "b": [torch.arange(3), "text", None, (1, 2.5, Pair(torch.randn(4, generator=gen)))],
        "c": OrderedDict(z=(), y={}, x=[torch.tensor(True)]),
    }
    here, gone = answer.move_batch(batch, "cpu"), answer.move_batch(batch, "meta", non_blocking=True)
    kinds = [type(here["b"][3][2]).__name__, type(here["c"]).__name__, list(here["c"]), str(gone["a"].device)]
    return [here, kinds, list(gone["a"].shape), gone["b"][1:3], str(gone["b"][3][2].tokens.device)]
