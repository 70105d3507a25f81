"""What grades sequence_loss: shapes, padding, gradients, large logits, memory, errors, devices."""

import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import is_simulated, on_host

SHAPES = [(2, 3, 5), (4, 4, 4), (1, 6, 3), (5, 1, 3), (1, 1, 2), (3, 5, 1), (3, 2, 7), (3, 100, 2)]


def exact(logits, targets, ignore_index=-100):
    """Token by token, in float64."""
    losses = [
        -row.log_softmax(0)[token]
        for row, token in zip(logits.double().flatten(0, 1), targets.flatten().tolist(), strict=True)
        if token != ignore_index
    ]
    return torch.stack(losses).mean() if losses else torch.zeros((), dtype=torch.float64)


def batch(gen, shape, padded=0.0, ignore_index=-100, scale=2.0, dtype=torch.float32):
    """Logits and targets; each target is padding with a probability of `padded`, but not the first."""
    logits = scale * torch.randn(shape, generator=gen, dtype=dtype)
    targets = torch.randint(shape[2], shape[:2], generator=gen)
    targets[torch.rand(shape[:2], generator=gen) < padded] = ignore_index
    targets[:1, :1] = 0 if ignore_index != 0 else shape[2] - 1
    return logits, targets


def mistakes(logits, targets, ignore_index=-100):
    """What people get wrong, and what it gives."""
    counted = targets.ne(ignore_index)

    def over_time():
        chances = logits.double().log_softmax(1).gather(2, targets.where(counted, 0).unsqueeze(2))
        return -chances.squeeze(2)[counted].mean()

    def by_rows():
        rows = zip(logits, targets, counted.any(1), strict=True)
        return torch.stack([exact(x[None], t[None], ignore_index) for x, t, some in rows if some]).mean()

    return {
        "a softmax comes before: cross_entropy takes logits": lambda: exact(
            logits.softmax(-1), targets, ignore_index
        ),
        "softmax runs over time: the classes are the last dimension": over_time,
        "dimensions are reshaped, which moves logits to other tokens: swap them, or flatten both": lambda: (
            exact(logits.reshape(len(logits), logits.shape[2], -1).mT, targets, ignore_index)
        ),
        "it is a mean of the rows' means: each token weighs the same": by_rows,
    }


def expect_right(answer, logits, targets, note, size=None, **options):
    wanted = exact(logits, targets, **options).to(logits.dtype)
    with unchanged("sequence_loss(logits, targets)", logits=logits, targets=targets):
        yours = answer.sequence_loss(logits, targets, **options)
    named = "".join(f", {name}={value}" for name, value in options.items())
    # a difference of large logits has their rounding
    granted = {"scale": size, "ulps": 8} if size else {}
    suspects = mistakes(logits.detach(), targets, **options)
    expect_close(yours, wanted, f"sequence_loss(logits, targets{named}){note}", suspects=suspects, **granted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_all_shapes(answer, gen, dtype):
    """The loss is the mean over all tokens, for every shape, in the dtype of the logits."""
    for shape in SHAPES:
        expect_right(answer, *batch(gen, shape, dtype=dtype), f" for logits of {shape} in {dtype}")
    logits, targets = batch(gen, (5, 450, 3), dtype=dtype)
    chances = logits.double().log_softmax(-1).gather(-1, targets.unsqueeze(-1))
    call = f"sequence_loss(logits, targets) for logits of (5, 450, 3) in {dtype}"
    expect_close(answer.sequence_loss(logits, targets), -chances.mean().to(dtype), call)
    wide = torch.randn(1, 2, 60_000, generator=gen, dtype=dtype)
    expect_right(answer, wide, torch.tensor([[59_999, 3]]), f" for 60000 tokens in {dtype}")
    lost = answer.sequence_loss(torch.full_like(logits, torch.nan), targets)
    expect_that(bool(lost.isnan()), "sequence_loss(logits, targets) hides that logits are NaN", yours=lost)


def test_layouts(answer, gen):
    """Logits and targets may lie in memory in any way, and keep their values."""
    logits, targets = batch(gen, (3, 4, 5))
    large = torch.randn(7, 8, 9, generator=gen)
    layouts = {
        "(vocab, time, batch) in memory": (torch.randn(5, 4, 3, generator=gen).permute(2, 1, 0), targets),
        "(time, batch) in memory": (logits, torch.randint(5, (4, 3), generator=gen).T),
        "in the middle of larger tensors": (
            large[2:5, 1:5, 3:8],
            torch.randint(5, (9, 9), generator=gen)[3:6, 2:6],
        ),
        "without the last position": (large[:, :-1, :4], torch.randint(4, (7, 8), generator=gen)[:, 1:]),
        "expanded": (torch.randn(1, 4, 5, generator=gen).expand(3, 4, 5), targets),
    }
    for how, (these, those) in layouts.items():
        expect_right(answer, these, those, f", {how}")


@pytest.mark.parametrize("ignore_index", [-100, -1, 0, 2, 9, 2**32])
def test_padding(answer, gen, ignore_index):
    """Targets that equal ignore_index do not count, all others do, and weigh the same in every row."""
    for shape, padded in [((3, 4, 5), 0.0), ((3, 4, 5), 0.5), ((4, 6, 3), 0.3), ((6, 2, 4), 0.7)]:
        logits, targets = batch(gen, shape, padded, ignore_index)
        expect_right(answer, logits, targets, f" with {padded:.0%} padding", ignore_index=ignore_index)
    logits, targets = batch(gen, (3, 4, 5))
    targets[0, 1:] = targets[2] = ignore_index
    expect_right(answer, logits, targets, " with a row of padding", ignore_index=ignore_index)
    if ignore_index == -100:
        expect_right(answer, logits, targets, " with a row of padding")


def test_nothing_counts(answer):
    """Without a token that counts the loss is 0, and so is the gradient."""
    for shape in [(2, 3, 4), (0, 3, 4), (2, 0, 4), (0, 0, 4), (1, 1, 1)]:
        for options in ({}, {"ignore_index": 0}):
            logits = torch.ones(shape)
            logits[..., 1:2] = -math.inf  # ruled out, also where nothing counts
            logits.requires_grad_()
            targets = torch.full(shape[:2], options.get("ignore_index", -100))
            loss = answer.sequence_loss(logits, targets, **options)
            call = f"sequence_loss of padding alone, logits {shape}"
            expect_close(loss.detach(), torch.tensor(0.0), call)
            expect_that(loss.requires_grad, f"{call} is a constant: its backward raises", yours=loss)
            loss.backward()
            expect_equal(logits.grad, torch.zeros(shape), f"the gradient for logits through {call}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_gradients(answer, gen, dtype):
    """Gradients flow to the logits of every token that counts, and padding gets 0."""
    for shape, padded, ignore_index in [((2, 3, 4), 0.0, -100), ((3, 3, 3), 0.4, -100), ((1, 5, 4), 0.4, 2)]:
        logits, targets = batch(gen, shape, padded, ignore_index, dtype=dtype)
        expect_gradients(
            lambda logits, t=targets, i=ignore_index: answer.sequence_loss(logits, t, ignore_index=i),
            [logits],
            lambda logits, t=targets, i=ignore_index: exact(logits, t, i),
            gen=gen,
            call=f"sequence_loss(logits, targets, ignore_index={ignore_index})",
            names="logits",
        )
        leaf = logits.clone().requires_grad_()
        answer.sequence_loss(leaf, targets, ignore_index).backward()
        padding = leaf.grad[targets == ignore_index]
        expect_equal(padding, torch.zeros_like(padding), "the gradient at padding")


@pytest.mark.parametrize("size", [100.0, 1e4, 1e6])
def test_large_logits(answer, gen, size):
    """Large logits give the exact loss: neither inf, nor NaN, nor a ceiling."""
    for shift in (0.0, size, -size):
        logits, targets = batch(gen, (2, 3, 4), scale=1.0 if shift else size)
        expect_right(answer, logits + shift, targets, f" with logits of {size:g}, shifted by {shift:g}", size)
    wrong = torch.tensor([[[0.0, size], [0.0, -size]]])
    expect_right(answer, wrong, torch.tensor([[0, 1]]), f" that is off by {size:g}", size)


def test_tokens_ruled_out(answer, gen):
    """Logits of -inf rule a token out: its gradient is 0, and nothing becomes NaN."""
    logits, targets = batch(gen, (2, 3, 5))
    targets[1, 2] = -100
    targets[targets == 3] = 2
    logits[:, :, 3] = -math.inf
    logits[1, 2, 1:] = -math.inf
    expect_right(answer, logits, targets, " with -inf")
    leaf = logits.clone().requires_grad_()
    right = logits.double().requires_grad_()
    exact(right, targets).backward()
    answer.sequence_loss(leaf, targets).backward()
    expect_close(leaf.grad, right.grad.float(), "the gradient for logits with -inf")
    for size in (0.0, 1e6, -1e6):
        logits, targets = batch(gen, (2, 3, 5), scale=1.0, dtype=torch.float64)
        logits, targets[0, 1], targets[1, 2] = logits + size, -100, 4
        targets[targets == 0] = 1
        logits[:, :, 0] = -math.inf  # the first token, at a padded position as well
        logits[1, 2, :4] = -math.inf
        expect_right(answer, logits, targets, f" with -inf next to logits near {size:g}", abs(size))
        leaf = logits.clone().requires_grad_()
        answer.sequence_loss(leaf, targets).backward()
        out = leaf.grad[logits == -math.inf]
        expect_equal(out, torch.zeros_like(out), f"the gradient at -inf next to logits near {size:g}")
        expect_that(bool(leaf.grad.isfinite().all()), "the gradient for logits with -inf is not finite")


def test_memory(answer, gen):
    """The forward pass holds at most two tensors of the size of the logits at once."""
    for shape in [(4, 8, 256), (8, 4, 512)]:
        logits, targets = batch(gen, shape, padded=0.2)
        answer.sequence_loss(logits, targets)
        size = logits.numel() * 4
        for required in (False, True):  # in training, what backward needs is held as well
            logits.requires_grad_(required)
            used = peak_bytes(lambda logits=logits, targets=targets: answer.sequence_loss(logits, targets))
            expect_that(
                used <= 2.2 * size,
                f"sequence_loss(logits, targets) needs too much memory for logits of {shape}",
                yours=f"{used / size:.1f} times the size of the logits, whose requires_grad is {required}",
                wanted="at most 2 times",
            )


def test_no_loops(answer, gen):
    """The number of operations depends on no size."""
    for over, shape in [
        ("rows", lambda n: (n, 2, 3)),
        ("positions", lambda n: (2, n, 3)),
        ("tokens", lambda n: (2, 2, n)),
    ]:

        def make(n, shape=shape):
            logits, targets = batch(gen, shape(n), padded=0.2)
            return lambda: answer.sequence_loss(logits, targets)

        expect_flat_cost(make, "sequence_loss(logits, targets)", over=over)


def test_bad_input(answer):
    """Shapes that do not fit raise ValueError, also where flattening would hide it."""
    for logits, targets in [
        ((2, 3, 4), (3, 2)), ((2, 3, 4), (6,)), ((2, 3, 4), (6, 1)), ((2, 3, 4), (1, 6)), ((2, 3, 4), (2, 4)),
        ((2, 3, 4), (2, 3, 1)), ((2, 3, 4), (2, 2)), ((2, 3, 4), (1, 3)), ((2, 3), (2, 3)), ((6, 4), (6,)),
        ((2, 3, 4, 5), (2, 3)), ((2, 3, 4), (2, 3, 4)), ((3,), ()), ((2, 3, 4, 5), (2, 3, 4)), ((2, 3), (2,)),
        ((2, 3, 1, 4), (2, 3)), ((0, 3, 4), (3, 0)), ((2, 0, 4), (0,)), ((0, 3, 4), (2, 0)), ((0, 4), (0,)),
    ]:  # fmt: skip
        expect_raises(
            ValueError,
            lambda logits=logits, targets=targets: answer.sequence_loss(
                torch.zeros(logits), torch.zeros(targets, dtype=torch.long)
            ),
            f"sequence_loss of logits {logits} and targets {targets}",
        )


def test_on_a_device(answer, gen, device):
    """On another device the loss is computed there."""
    logits, targets = batch(gen, (3, 4, 5), padded=0.3)
    wanted = exact(logits, targets).float()
    there = logits.to(device).requires_grad_()
    yours = answer.sequence_loss(there, targets.to(device))
    expect_that(is_simulated(yours), "the loss is not on the device of the logits", yours=yours)
    expect_close(on_host(yours), wanted, "sequence_loss(logits, targets) on another device")
    yours.backward()
    expect_that(bool(on_host(there.grad).isfinite().all()), "the gradient on another device is not finite")


def oracle(answer, gen):
    results = []
    for shape, padded, ignore_index in [((3, 4, 5), 0.3, -100), ((4, 4, 4), 0.3, 1), ((2, 5, 3), 0.0, -1)]:
        logits, targets = batch(gen, shape, padded, ignore_index, dtype=torch.float64)
        logits.requires_grad_()
        loss = answer.sequence_loss(logits, targets, ignore_index)
        loss.backward()
        results += [loss.detach(), logits.grad]
    return results
