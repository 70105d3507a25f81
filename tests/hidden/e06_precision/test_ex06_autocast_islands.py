"""What grades autocast_islands: what the block computes in and is given, gradients, regions, the device."""

import copy
import gc
import math
import weakref
from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_gradients, expect_raises, expect_that
from grader.checks.cost.precision import compute_dtypes, expect_all_in, expect_products_in
from grader.checks.devices import count_traffic, expect_no_traffic, on_host
from grader.checks.rounding import expect_rounded

HALVES = [torch.bfloat16, torch.float16]
CALL = "Float32Island(block)(x)"


class Head(nn.Module):
    """Products, a layer norm, an exponential, a softmax and sums; records what they compute in."""

    def __init__(self, gen):
        super().__init__()
        self.first, self.norm = nn.Linear(6, 8), nn.LayerNorm(8)
        self.second = nn.Linear(8, 300)
        self.computed = []
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.randn(p.shape, generator=gen))

    def forward(self, x):
        with compute_dtypes() as seen:
            hidden = self.norm(self.first(x)).exp()
            logits = self.second(hidden)
            result = logits.log_softmax(-1) + logits.softmax(-1).sum(-1, keepdim=True)
        self.computed.append(seen)
        return result


class Given(nn.Module):
    """Keeps what it is given, and returns `result`."""

    def __init__(self, result=None):
        super().__init__()
        self.calls, self.result = [], result

    def forward(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return self.result


class Gram(nn.Module):
    """A product without parameters."""

    def forward(self, x):
        with compute_dtypes() as self.seen:
            return x @ x.mT


class Pair(nn.Module):
    """Runs a block on the first of its arguments."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x, other, bias):
        return self.block(x)


class Policy:
    """No tensor, though it has a dtype and can be turned into another."""

    dtype = torch.bfloat16

    def float(self):
        return "float32"


def region(dtype, kind="cpu"):
    return nullcontext() if dtype is None else torch.autocast(kind, dtype=dtype)


def state(kind="cpu"):
    return (
        torch.is_autocast_enabled(kind),
        torch.get_autocast_dtype(kind),
        torch.is_autocast_cache_enabled(),
    )


@pytest.mark.parametrize("dtype", [*HALVES, None], ids=str)
def test_all_in_float32(answer, gen, dtype):
    """Every operation of the block computes in float32, in a region or in none, from any dtype."""
    head = Head(gen)
    island = answer.Float32Island(head)
    for kind in (torch.float32, *HALVES):
        island.train(kind is not torch.bfloat16)  # of no account
        with region(dtype):
            yours = island(torch.randn(4, 6, generator=gen).to(kind))
        call = f"{CALL} with x in {kind}, autocast to {dtype}"
        expect_that(len(head.computed) > 0, f"the block itself does not run in {call}")
        expect_equal(yours.dtype, torch.float32, f"the dtype of {call}")
        expect_all_in(head.computed[-1], torch.float32, f"the block of {call}")
    expect_equal(len(head.computed), 3, "the number of times that the block runs in three calls")


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_near_a_float64_run(answer, gen, dtype):
    """The result is off from a run in float64 by float32's roundings, not by those of 16 bits."""

    class LongSoftmax(nn.Module):
        def forward(self, x):
            return x.softmax(-1).cumsum(-1)

    x = (3 * torch.randn(5, 2000, generator=gen)).to(dtype)
    exact = x.double().softmax(-1).cumsum(-1)
    with torch.autocast("cpu", dtype=dtype):
        yours = answer.Float32Island(LongSoftmax())(x)
    # each of the 2000 additions may lose one rounding of a sum of at most one, and exp some more
    slack = 2100 * torch.finfo(torch.float32).eps
    expect_rounded(yours, exact, torch.float32, f"{CALL} of a long softmax in {dtype}", slack=slack)
    head = Head(gen)
    x = torch.randn(7, 6, generator=gen).to(dtype)
    wanted = copy.deepcopy(head).double()(x.double())
    with torch.autocast("cpu", dtype=dtype):
        yours = answer.Float32Island(head)(x)
    expect_close(yours.detach(), wanted.detach().float(), f"{CALL} in {dtype}", ulps=256)


@pytest.mark.parametrize("dtype", [*HALVES, None], ids=str)
def test_arguments(answer, dtype):
    """Tensors in 16 bits become float32, by position and by name; all else arrives as it is."""
    values = [[1.5, -2.0], [0.25, 3.0]]
    halves = [torch.tensor(values, dtype=kind) for kind in HALVES]
    others = [
        torch.tensor(values, dtype=torch.float64) / 3,
        torch.tensor([[True, False]]),
        torch.tensor([3, 2**40 + 1]),
        torch.tensor([7], dtype=torch.uint8),
        torch.tensor(values) / 3,
        [halves[0], 2],
        (halves[1], None),
        {"mask": halves[0]},
        Policy(),
        None,
        1.1,
        "mean",
    ]
    wide = torch.tensor(values)
    narrow = [(half, wide) for half in halves]
    narrow += [(torch.tensor(1.5, dtype=torch.float16), torch.tensor(1.5))]
    narrow += [(torch.zeros(0, 3, dtype=torch.bfloat16), torch.zeros(0, 3))]
    for given, wanted in narrow + [(other, other) for other in others]:
        block = Given()
        with region(dtype):
            answer.Float32Island(block)(halves[0], given, halves[1], first=given, last=halves[1])
        what = f"{CALL}, autocast to {dtype}"
        expect_equal(len(block.calls), 1, f"the number of times that the block runs in {what}")
        args, kwargs = block.calls[0]
        expect_equal(list(args), [wide, wanted, wide], f"the positional arguments of the block in {what}")
        expect_equal(kwargs, {"first": wanted, "last": wide}, f"the keyword arguments of the block in {what}")
        same = given is not wanted or (args[1] is given and kwargs["first"] is given)
        expect_that(same, f"the block is given a copy, not the argument, in {what}", yours=given)
        if isinstance(given, torch.Tensor):
            block = Given()
            with region(dtype):
                answer.Float32Island(block)(given)
            expect_equal(block.calls[0], ((wanted,), {}), f"what the block is given alone in {what}")
    expect_equal(halves[0], wide.to(HALVES[0]), f"x after {CALL}")
    block, byte = Given(), wide.to(torch.float8_e5m2)
    with region(dtype):
        answer.Float32Island(block)(wide, scale=byte)
    expect_equal(block.calls[0][1]["scale"].dtype, byte.dtype, f"the dtype that reaches the block in {what}")
    block = Given()
    with region(dtype):
        answer.Float32Island(block)(wide, x=halves[0], block=halves[1])
    wanted = ((wide,), {"x": wide, "block": wide})
    expect_equal(block.calls[0], wanted, "what the block is given, with keywords called x and block")
    halves[0].add_(1.0)
    answer.Float32Island(block)(halves[0])
    expect_equal(block.calls[1], ((wide + 1,), {}), "what the block is given of an x that has changed since")


@pytest.mark.parametrize("dtype", [*HALVES, None], ids=str)
def test_result_as_it_is(answer, dtype):
    """The block's result comes back as it is, whatever it is and in any dtype."""
    half = torch.tensor([1.5, 2.5], dtype=torch.float16)
    for result in (
        half,
        half.bfloat16(),
        half.double(),
        torch.tensor([3]),
        (half, 4),
        (half,),
        [half],
        [half, 4],
        {"loss": half},
        None,
        2.5,
    ):
        with region(dtype):
            yours = answer.Float32Island(Given(result))(torch.ones(2, dtype=torch.bfloat16))
        expect_equal(yours, result, f"{CALL} with autocast to {dtype}")
        expect_that(yours is result, f"{CALL} returns another object than the block", yours=yours)


@pytest.mark.parametrize("dtype", [*HALVES, None], ids=str)
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_gradients(answer, gen, dtype, kind):
    """Gradients flow to arguments in their own dtype and to parameters in float32."""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 4, generator=gen))

        def forward(self, x, shift=None):
            return F.linear(x.to(self.weight.dtype), self.weight.t()).tanh() + shift

    block = Scaled()
    island = answer.Float32Island(block)

    def run(x, shift):
        with region(dtype):
            return island(x, shift=shift * 1)  # no leaf

    def exact(x, shift):
        return (x @ block.weight.detach().double()).tanh() + shift

    x, shift = (torch.randn(shape, generator=gen).to(kind) for shape in ((5, 3), (5, 4)))
    call = f"{CALL} with x in {kind}, autocast to {dtype}"
    # computed in float32, and rounded to kind where that is narrower
    narrow = torch.finfo(torch.float32).eps / torch.finfo(kind).eps
    ulps = 64 * narrow if narrow >= 1 else 4
    expect_gradients(run, [x, shift], exact, gen=gen, call=call, names="x shift", ulps=ulps, scale=4.0)

    weight = block.weight.detach().double().requires_grad_()
    pull = torch.randn(5, 4, generator=gen)
    (wanted,) = torch.autograd.grad((x.double() @ weight).tanh(), weight, pull.double())
    for mode in ("training", "evaluation"):
        island.train(mode == "training")
        result = run(x, 0.0)
        expect_that(result.requires_grad, f"no gradient flows through {call} in {mode} mode")
        (yours,) = torch.autograd.grad(result, block.weight, pull)
        expect_close(
            yours, wanted.float(), f"the gradient for a parameter of {call} in {mode} mode", scale=8.0
        )


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_autocast_is_restored(answer, gen, dtype):
    """After the island, and after an error in it, the region is as before: products are in 16 bits again."""

    class Fails(nn.Module):
        error = KeyError

        def forward(self, x):
            raise self.error("no such expert")

    x, linear = torch.randn(4, 6, generator=gen), nn.Linear(6, 3)
    island, broken = answer.Float32Island(Head(gen)), answer.Float32Island(Fails())
    torch.set_autocast_enabled("cpu", False)  # an answer that leaves it on may have run before this
    outside = state()
    island(x)
    expect_equal(state(), outside, f"autocast (enabled, dtype, cache) after {CALL} outside of a region")
    expect_raises(KeyError, lambda: broken(x), f"{CALL} where the block raises KeyError")
    expect_equal(state(), outside, "autocast (enabled, dtype, cache) after an error outside of a region")
    for cache, error in ((True, KeyError), (False, KeyboardInterrupt)):
        broken.block.error, name = error, error.__name__
        with torch.autocast("cpu", dtype=dtype, cache_enabled=cache):
            around = state()
            linear(x)
            island(x)
            expect_equal(state(), around, f"autocast (enabled, dtype, cache) after {CALL} in a region")
            expect_raises(error, lambda: broken(x), f"{CALL} where the block raises {name}")
            expect_equal(state(), around, f"autocast (enabled, dtype, cache) after {name} in a region")
            with compute_dtypes() as seen:
                linear(x)
            expect_products_in(seen, dtype, "what follows the island in its region")
        expect_equal(state(), outside, "autocast (enabled, dtype, cache) after the region")


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_regions_and_islands_nest(answer, gen, dtype):
    """A region inside the block works as usual, and so do islands in it and regions around regions."""

    class Mixed(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.linear, self.inner = nn.Linear(6, 6), inner
            self.seen = {}

        def forward(self, x):
            with compute_dtypes() as self.seen["before"]:
                x = self.linear(x)
            with torch.autocast("cpu", dtype=dtype):
                with compute_dtypes() as self.seen["region"]:
                    y = self.linear(x)
                z = self.inner(y)
            with compute_dtypes() as self.seen["after"]:
                return self.linear(x + z.sum())

    head = Head(gen)
    block = Mixed(answer.Float32Island(head))
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast("cpu", dtype=torch.float16):
        answer.Float32Island(block)(torch.randn(4, 6, generator=gen).to(dtype))
    expect_products_in(block.seen["before"], torch.float32, "the block before its own region")
    expect_products_in(block.seen["region"], dtype, "a region that the block opens")
    expect_products_in(block.seen["after"], torch.float32, "the block after its own region")
    expect_all_in(head.computed[0], torch.float32, "an island in a region in an island")


@pytest.mark.parametrize("dtype", [*HALVES, None], ids=str)
def test_default_regions_inside(answer, gen, dtype):
    """A region without a dtype computes inside of the block, and keeps casts, as it would around it."""

    class Inside(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x):
            with torch.autocast("cpu"), compute_dtypes() as self.seen:
                self.keeps = torch.is_autocast_cache_enabled()
                return self.linear(x)

    block = Inside()
    with region(dtype):
        wanted, keeps = torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()
        answer.Float32Island(block)(torch.randn(4, 6, generator=gen))
    what = f"a region without a dtype, in the block, with autocast to {dtype} around the island"
    expect_products_in(block.seen, wanted, what)
    expect_equal(block.keeps, keeps, f"torch.is_autocast_cache_enabled() in {what}")


def test_an_island_in_itself(answer, gen):
    """A block may call its own island again: afterwards each call leaves autocast as it was."""

    class Tree(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []

        def forward(self, x, island, depth):
            if depth:
                x = x + island(x, island, depth - 1)
            with compute_dtypes() as seen:
                result = x @ x.mT
            self.seen.append(seen)
            return result

    block = Tree()
    island = answer.Float32Island(block)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        around = state()
        island(torch.randn(4, 4, generator=gen).bfloat16(), island, 2)
        expect_equal(state(), around, "autocast (enabled, dtype, cache) after an island in itself")
    for depth, seen in enumerate(block.seen):
        expect_all_in(seen, torch.float32, f"call {depth} of a block that calls its own island")


def test_nothing_is_remembered(answer, gen):
    """Built in a region or outside, called in one region after the other: each call is on its own."""
    for built in (None, *HALVES):
        head = Head(gen)
        with region(built):
            island = answer.Float32Island(head)
        for dtype, kind, rows in (
            (HALVES[0], HALVES[0], 3),
            (None, HALVES[1], 1),
            (HALVES[1], torch.float32, 0),
        ):
            with region(dtype):
                yours = island(torch.randn(rows, 6, generator=gen).to(kind))
            call = f"{CALL}, built with autocast to {built}, called with {dtype}"
            expect_equal(
                (yours.dtype, tuple(yours.shape)), (torch.float32, (rows, 300)), f"the result of {call}"
            )
            expect_all_in(head.computed[-1], torch.float32, f"the block of {call}")
    x = torch.randn(2, 6, generator=gen).bfloat16()
    alive = weakref.ref(x)
    with torch.no_grad(), region(HALVES[0]):
        island(x)
    del x
    if alive() is not None:  # perhaps in a cycle only; collecting takes half a second
        gc.collect()
    expect_that(alive() is None, f"{CALL} keeps x in memory after the call")


def test_part_of_a_model(answer, gen):
    """The block is registered: names, modes, hooks and copies are those of a part; it is not converted."""
    head = Head(gen)
    weight = head.first.weight
    head.register_buffer("offset", torch.zeros(3, dtype=torch.float64))
    head.register_buffer("table", torch.zeros(3, dtype=torch.bfloat16))
    island, other = answer.Float32Island(head), answer.Float32Island(nn.Softmax(-1))
    names = [f"block.{name}" for name in head.state_dict()]
    expect_equal([*island.state_dict()], names, "the names in the state dict of an island")
    expect_equal([*other.state_dict()], [], "the names in the state dict of an island without parameters")
    expect_that(island.block is head, "island.block is not the block", yours=island.block)
    island.eval()
    expect_equal(head.training, False, "the `training` of the block after island.eval()")
    island.train()
    expect_equal(head.training, True, "the `training` of the block after island.train()")
    hooked = []
    head.register_forward_hook(lambda *_: hooked.append(1))
    x = torch.randn(2, 6, generator=gen)
    twin = copy.deepcopy(island)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mine, yours = island(x), twin(x)
        shares = other(torch.zeros(2, 5, dtype=torch.bfloat16))
    expect_equal(head.training, True, "the `training` of the block after a call of an island that trains")
    expect_equal(len(hooked), 2, "the times that hooks of the block run in an island and its copy")
    expect_equal(shares, torch.full((2, 5), 0.2), "Float32Island(nn.Softmax(-1))(x)")
    expect_equal(yours.detach(), mine.detach(), "a deep copy of an island, called")
    expect_that(head.first.weight is weight, f"the block's weight is another tensor after {CALL}")
    expect_equal(
        {p.dtype for p in head.parameters()}, {torch.float32}, f"the dtypes of parameters after {CALL}"
    )
    dtypes = {"offset": torch.float64, "table": torch.bfloat16}
    expect_equal({n: b.dtype for n, b in head.named_buffers()}, dtypes, f"the dtype of a buffer after {CALL}")
    with torch.no_grad():
        twin.block.first.weight.zero_()
    expect_that(bool(weight.any()), "a deep copy shares its weights with the original")
    model = nn.Sequential(nn.Linear(6, 6), island).double()
    expect_equal(
        model(x.double()).dtype, torch.float64, "the dtype of a model in float64 that holds an island"
    )


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_on_a_device(answer, gen, device, dtype):
    """On another device it is that device's autocast that is switched off, and nothing is copied."""
    head = Head(gen)
    island = answer.Float32Island(head)
    x = torch.randn(3, 6, generator=gen).to(dtype)
    wanted = copy.deepcopy(head).double()(x.double()).detach().float()
    island(x)
    island.to(device)
    there = x.to(device)
    with count_traffic() as traffic, torch.autocast(device.type, dtype=dtype):
        around = state(device.type)
        yours = island(there)
        expect_equal(state(device.type), around, f"autocast (enabled, dtype, cache) after {CALL} on a device")
    expect_all_in(head.computed[-1], torch.float32, "the block on another device")
    expect_close(on_host(yours), wanted, f"{CALL} on another device", ulps=256)
    expect_no_traffic(traffic, CALL)
    plain = Given()
    with torch.autocast(device.type, dtype=dtype):
        answer.Float32Island(plain)(there, scale=there)
    args, kwargs = plain.calls[0]
    kinds = [args[0].dtype, kwargs["scale"].dtype]
    expect_equal(
        kinds, [torch.float32] * 2, "the dtypes that a block without parameters is given on a device"
    )

    gram = Gram()
    with torch.autocast(device.type, dtype=dtype):
        answer.Float32Island(gram)(there)
    expect_all_in(gram.seen, torch.float32, "a block without parameters on another device")
    with torch.autocast(device.type, dtype=dtype):
        answer.Float32Island(Pair(gram))(there, torch.ones(1), bias=torch.ones(1))
    expect_all_in(gram.seen, torch.float32, "a block with x on another device, other arguments on the CPU")
    gram.table = nn.Parameter(torch.ones(1))
    with torch.autocast(device.type, dtype=dtype):
        answer.Float32Island(gram)(there)
    expect_all_in(gram.seen, torch.float32, "a block with x on another device, its parameter on the CPU")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_on_a_gpu(answer, gen, dtype):
    """On a GPU, whose lists are others, the block computes in float32 as well, and the region goes on."""
    head, linear = Head(gen), nn.Linear(6, 6).cuda()
    x = torch.randn(3, 6, generator=gen).to(dtype)
    wanted = copy.deepcopy(head).double()(x.double()).detach().float()
    island = answer.Float32Island(head).cuda()
    with torch.autocast("cuda", dtype=dtype):
        yours = island(x.cuda())
        with compute_dtypes() as seen:
            linear(x.cuda())
    expect_all_in(head.computed[-1], torch.float32, "the block on a GPU")
    expect_products_in(seen, dtype, "what follows the island on a GPU")
    expect_close(yours.detach().cpu(), wanted, f"{CALL} on a GPU", ulps=256)


def oracle(answer, gen):
    results = []
    for dtype in (*HALVES, None):
        head = Head(gen)
        x = torch.randn(4, 6, generator=gen).to(dtype or torch.bfloat16).requires_grad_()
        with region(dtype):
            out = answer.Float32Island(head)(x)
        pull = torch.randn(out.shape, generator=gen) / math.sqrt(out.numel())
        gradients = torch.autograd.grad(out, [x, head.first.weight], pull)
        results.append([out.detach(), *gradients, str(gradients[0].dtype)])
        block = Given()
        with region(dtype):
            answer.Float32Island(block)(x.detach(), x.detach().half(), 3, mask=x.detach() > 0)
        args, kwargs = block.calls[0]
        results.append([*args, kwargs["mask"]])
    return results
