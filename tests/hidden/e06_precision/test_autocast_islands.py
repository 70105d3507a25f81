"""What grades Float32Island: what the block computes in, gradients, the region; arguments, the device."""

import copy

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_gradient, expect_raises, expect_that
from grader.checks.cost.precision import compute_dtypes, expect_all_in, expect_products_in
from grader.checks.devices import count_traffic, expect_no_traffic, on_host
from grader.checks.registered import randomize

HALVES = [torch.bfloat16, torch.float16]
CALL = "Float32Island(block)(x)"


class Head(nn.Module):
    """Products, a layer norm and a softmax; records what they compute in."""

    def __init__(self, gen):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 20)
        self.computed = []
        randomize(self, gen)

    def forward(self, x):
        with compute_dtypes() as seen:
            result = self.second(self.norm(self.first(x))).log_softmax(-1)
        self.computed.append(seen)
        return result


class Given(nn.Module):
    """Keeps what it is given, and returns `result`."""

    def __init__(self, result=None):
        super().__init__()
        self.calls, self.result = [], result
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return self.result


class Fails(Given):
    """Raises a KeyError."""

    def forward(self, x):
        raise KeyError("no such expert")


def state(kind="cpu"):
    return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)


def in_16_bits(head, x, dtype):
    with torch.autocast("cpu", dtype=dtype):
        return head(x).detach().float()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_in_float32(answer, gen, dtype):
    """Every operation of the block computes in float32, in a region of either dtype, for x in any."""
    head = Head(gen)
    island = answer.Float32Island(head)
    for kind in (torch.float32, *HALVES):
        head.computed.clear()
        with torch.autocast("cpu", dtype=dtype):
            yours = island(torch.randn(4, 6, generator=gen).to(kind))
        call = f"{CALL} with x in {kind}, autocast to {dtype}"
        expect_equal(len(head.computed), 1, f"the number of times that the block runs in {call}")
        expect_all_in(head.computed[0], torch.float32, f"the block of {call}")
        expect_equal(yours.dtype, torch.float32, f"the dtype of {call}")


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_values(answer, gen, dtype):
    """The result is that of a run in float64, up to float32's roundings."""
    head = Head(gen)
    for kind in (torch.float32, dtype):
        x = torch.randn(7, 6, generator=gen).to(kind)
        wanted = copy.deepcopy(head).double()(x.double()).detach().float()
        suspects = {
            "the block runs in 16 bits": lambda x=x: in_16_bits(head, x, dtype),
            "x is rounded to 16 bits": lambda x=x: head(x.to(dtype).float()).detach(),
        }
        with torch.autocast("cpu", dtype=dtype):
            yours = answer.Float32Island(head)(x)
        call = f"{CALL} with x in {kind}, autocast to {dtype}"
        expect_close(yours.detach(), wanted, call, ulps=256, suspects=suspects)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=str)
def test_gradients(answer, gen, kind):
    """Gradients flow to x in its own dtype, and to the parameters in float32."""
    head, x = Head(gen), torch.randn(5, 6, generator=gen).to(kind).requires_grad_()
    twin, exact = copy.deepcopy(head).double(), x.detach().double().requires_grad_()
    pull = torch.randn(5, 20, generator=gen)
    twin(exact).backward(pull.double())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = answer.Float32Island(head)(x * 1)
    likely = "the graph is cut: `no_grad`, `.detach()` or `.data`"
    expect_that(out.requires_grad, f"no gradient flows through {CALL}", likely=likely)
    out.backward(pull)
    expect_gradient(x.grad, exact.grad.to(kind), f"{CALL} for x in {kind}", scale=4.0)
    for (name, p), right in zip(head.named_parameters(), twin.parameters(), strict=True):
        expect_gradient(p.grad, right.grad.float(), f"{CALL} for block.{name}", scale=100.0)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_the_region_goes_on(answer, gen, dtype):
    """After the island products are in 16 bits again; outside of a region autocast stays off."""
    x, linear, island = torch.randn(4, 6, generator=gen), nn.Linear(6, 3), answer.Float32Island(Head(gen))
    torch.set_autocast_enabled("cpu", False)  # an answer that leaves it on may have run before this
    outside = state()
    island(x)
    expect_equal(state(), outside, f"autocast (enabled, dtype) after {CALL} outside of a region")
    with torch.autocast("cpu", dtype=dtype):
        linear(x)
        island(x)
        with compute_dtypes() as seen:
            linear(x)
    expect_products_in(seen, dtype, "what follows the island in its region")
    expect_equal(state(), outside, "autocast (enabled, dtype) after a region with an island")


def test_part_of_a_model(answer, gen):
    """Parameters are named block.…, modes reach the block, and its hooks run."""
    head, hooked = Head(gen), []
    island = answer.Float32Island(head)
    names = [f"block.{name}" for name in head.state_dict()]
    expect_equal([*island.state_dict()], names, "the names in the state dict of an island")
    expect_that(island.block is head, "island.block is not the block")
    head.register_forward_hook(lambda *_: hooked.append(1))
    for training in (False, True):
        island.train(training)
        island(torch.randn(2, 6, generator=gen))
        expect_equal(head.training, training, f"the block's mode after island.train({training}) and a call")
    suspects = {"hooks run where the block is called, self.block(x), not its forward": lambda: 0}
    expect_equal(len(hooked), 2, "how often the block's hooks run in two calls", suspects=suspects)


def passed(answer, *args, **kwargs):
    block = Given()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        answer.Float32Island(block)(*args, **kwargs)
    return block.calls[0]


@pytest.mark.fine
def test_other_arguments(answer):
    """16-bit tensors among the other arguments become float32, by position and by name."""
    x, wide = torch.ones(2), torch.tensor([1.5, -2.0])
    for half in (wide.to(dtype) for dtype in HALVES):
        args, kwargs = passed(answer, x, half, 3, half, bias=half)
        call = "Float32Island(block)(x, y, 3, z, bias=b)"
        expect_equal(list(args), [x, wide, 3, wide], f"the positional arguments of the block in {call}")
        expect_equal(kwargs, {"bias": wide}, f"the keyword arguments of the block in {call}")


@pytest.mark.fine
def test_all_else_as_it_is(answer):
    """Integers, booleans, float64, numbers and None reach the block as they are, x too."""
    tokens, mask = torch.tensor([3, 2**40 + 1]), torch.tensor([True, False])
    for x in (tokens, mask, torch.tensor([1 / 3], dtype=torch.float64)):
        args, kwargs = passed(answer, x, mask, None, mask=mask, scale=1.1)
        call = f"Float32Island(block)(x, mask, None, mask=mask, scale=1.1) with x in {x.dtype}"
        expect_equal(list(args), [x, mask, None], f"the positional arguments of the block in {call}")
        expect_equal(kwargs, {"mask": mask, "scale": 1.1}, f"the keyword arguments of the block in {call}")


@pytest.mark.fine
def test_result_as_it_is(answer):
    """The block's result comes back as it is, whatever it is and in any dtype."""
    half = torch.tensor([1.5, 2.5], dtype=torch.float16)
    for result in (half, half.double(), (half, 4), [half], {"loss": half}, None):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            yours = answer.Float32Island(Given(result))(torch.ones(2))
        expect_equal(yours, result, f"what comes back of a block that returns {type(result).__name__}")


@pytest.mark.fine
def test_outside_of_a_region(answer, gen):
    """Without autocast x in 16 bits becomes float32 as well."""
    head = Head(gen)
    for dtype in HALVES:
        yours = answer.Float32Island(head)(torch.randn(4, 6, generator=gen).to(dtype))
        expect_equal(yours.dtype, torch.float32, f"the dtype of {CALL} with x in {dtype}, without autocast")


@pytest.mark.fine
def test_restored_after_an_error(answer):
    """Where the block raises, autocast is as before."""
    broken, x = answer.Float32Island(Fails()), torch.ones(2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        around = state()
        expect_raises(KeyError, lambda: broken(x), f"{CALL} where the block raises KeyError")
        expect_equal(state(), around, "autocast (enabled, dtype) after an error in the block")


@pytest.mark.fine
def test_without_parameters(answer):
    """A block without parameters computes in float32, too."""
    x = torch.zeros(2, 5, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yours = answer.Float32Island(nn.Softmax(-1))(x)
    expect_equal(yours, torch.full((2, 5), 0.2), "Float32Island(nn.Softmax(-1))(x)")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """On another device it is that device's autocast that is switched off, and nothing is copied."""
    head = Head(gen)
    island = answer.Float32Island(head)
    x = torch.randn(3, 6, generator=gen)
    wanted = copy.deepcopy(head).double()(x.double()).detach().float()
    island(x)
    island.to(device)
    there = x.to(device)
    with count_traffic() as traffic, torch.autocast(device.type, dtype=torch.bfloat16):
        yours = island(there)
    expect_all_in(head.computed[-1], torch.float32, "the block on another device")
    expect_close(on_host(yours), wanted, f"{CALL} on another device", ulps=256)
    expect_no_traffic(traffic, CALL)


@pytest.mark.gpu
@pytest.mark.fine
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
    def called(gen, dtype, kind):
        head, x = Head(gen), torch.randn(4, 6, generator=gen).to(kind).requires_grad_()
        with torch.autocast("cpu", dtype=dtype):
            return answer.Float32Island(head)(x), [x, head.first.weight]

    def result(*kinds):
        return lambda gen: called(gen, *kinds)[0].detach()

    def gradients(*kinds):
        def case(gen):
            out, leaves = called(gen, *kinds)
            return [*torch.autograd.grad(out, leaves, torch.randn(4, 20, generator=gen))]

        return case

    bfloat16, float16, float32 = torch.bfloat16, torch.float16, torch.float32
    return {
        "the result, all in bfloat16 around": result(bfloat16, bfloat16),
        "the result, all in float16 around": result(float16, float16),
        "the result for x in float32": result(bfloat16, float32),
        "the gradients, all in bfloat16 around": gradients(bfloat16, bfloat16),
        "the gradients, all in float16 around": gradients(float16, float16),
        "the gradients for x in float32": gradients(bfloat16, float32),
    }
