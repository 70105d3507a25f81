"""What grades RecencyBias: strength, graphs, gradients; state, casts, long scores, dtypes, devices."""

import io

import pytest
import torch
from torch.func import functional_call

from grader.checks import expect_close, expect_equal, expect_gradients, expect_that, unchanged
from grader.checks.compile.graphs import compiled
from grader.checks.devices import count_traffic, on_host


def biased(scores, slopes, strength, signed=False):
    """The rule, in float64."""
    position = torch.arange(scores.shape[-1])
    distance = position[:, None] - position
    distance = (distance if signed else distance.abs()).double()
    return scores.double() - strength * slopes.double()[:, None, None] * distance


def scores_of(gen, time, heads=3, batch=2, dtype=torch.float32):
    return torch.randn(batch, heads, time, time, generator=gen).to(dtype)


def built(answer, gen, heads=3, warmup=5):
    """A module with slopes of no particular size."""
    module = answer.RecencyBias(heads, warmup)
    with torch.no_grad():
        module.slopes.copy_(torch.rand(heads, generator=gen) + 0.1)
    return module


def advanced(module, steps):
    """The module after some more training steps."""
    for _ in range(steps):
        module.train()(torch.zeros(1, 1, 2, 2, dtype=module.slopes.dtype))
    return module


def expect_bias(bias, slopes, gen, step, call, warmup=5, time=4):
    """Check one call: by what it gives one knows how far the module is."""
    scores, slopes = scores_of(gen, time, len(slopes)), slopes.detach().clone()

    def at(count, **mistake):
        return lambda: biased(scores, slopes, min(1.0, count / warmup), **mistake).float()

    suspects = {
        "the strength is that of the step before: count first": at(step - 1),
        "the strength is that of a step too far": at(step + 1),
        "the strength is 0": at(0),
        "the strength is 1": at(warmup),
        "the strength grows beyond 1": lambda: biased(scores, slopes, step / warmup).float(),
        "the distance has a sign: take abs()": at(step, signed=True),
        "all heads have the first slope": lambda: biased(scores, slopes[:1], min(1.0, step / warmup)).float(),
    }
    dims = "batch heads queries keys"
    expect_close(bias(scores.clone()).detach(), at(step)(), call, dims=dims, scale=10.0, suspects=suspects)


def expect_graphs(captured, most, when):
    number = len(captured.graphs)
    expect_that(
        1 <= number <= most,
        f"wrong number of graphs {when}",
        yours=f"{number} graphs" if number != 1 else "1 graph",
        wanted=f"1 to {most}" if most > 1 else "1",
        likely="a Python number on the module, or a length as a key or an index: the guards hold it fast"
        if number
        else "the module is kept out of the compiler",
    )


@pytest.mark.parametrize(("heads", "warmup"), [(3, 5), (2, 1), (4, 3)])
def test_strength(answer, gen, heads, warmup):
    """The bias grows with each training step, up to its full strength."""
    module = built(answer, gen, heads, warmup)
    for step in range(1, warmup + 3):
        call = f"bias(scores), training step {step}, warmup={warmup}"
        expect_bias(module, module.slopes, gen, step, call, warmup, time=step + 1)


def test_evaluation(answer, gen):
    """A call in evaluation mode does not count, and has the strength of the last training call."""
    module = built(answer, gen)
    for step in range(4):
        for number in ("first", "second"):
            call = f"bias(scores), {number} call in evaluation mode after {step} training steps"
            expect_bias(module.eval(), module.slopes, gen, step, call)
        advanced(module, 1)


def test_graphs_over_steps(answer, gen):
    """With one length there is one graph for all training steps, during the warm-up and after."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        for step in range(1, 8):
            expect_bias(
                captured, module.slopes, gen, step, f"the compiled bias(scores), training step {step}"
            )
            expect_graphs(captured, 1, f"after {step} training steps of the same length")


def test_graphs_over_lengths(answer, gen):
    """Two graphs serve all training steps and lengths, with the numbers of plain Python."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        for step, time in enumerate((5, 3, 8, 3, 12, 2, 7), start=1):
            call = f"the compiled bias(scores), training step {step}"
            expect_bias(captured, module.slopes, gen, step, call, time=time)
            expect_graphs(captured, 2, f"after {step} training steps, the last of length {time}")


def test_gradients(answer, gen):
    """Scores and slopes get the gradients of the faded bias."""
    module = advanced(built(answer, gen), 2)
    expect_gradients(
        lambda scores, slopes: functional_call(module, {"slopes": slopes}, (scores,)),
        [scores_of(gen, 4), torch.rand(3, generator=gen)],
        lambda scores, slopes: biased(scores, slopes, 3 / 5),
        gen=gen,
        call="bias(scores), training step 3, warmup=5",
        names="scores slopes",
        ulps=200.0,
    )


@pytest.mark.fine
def test_checkpoint(answer, gen):
    """A module that loads a state_dict goes on where the other was, whatever lengths both have seen."""
    first, second = advanced(built(answer, gen), 3), advanced(built(answer, gen), 4)
    first.eval()(scores_of(gen, 9))
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    call = "bias(scores), training step 4, from a checkpoint of step 3"
    expect_bias(second, first.slopes, gen, 4, call, time=6)
    expect_equal([name for name, _ in first.named_parameters()], ["slopes"], "the names of the parameters")


@pytest.mark.fine
def test_cast(answer, gen):
    """Cast to bfloat16 the module counts on beyond 256, and measures distances beyond it."""
    module = advanced(built(answer, gen, heads=1, warmup=600).bfloat16(), 449)
    scores = torch.zeros(1, 1, 300, 300, dtype=torch.bfloat16)
    wanted = biased(scores, module.slopes.detach(), 3 / 4).bfloat16()
    suspects = {
        "the count has stopped at 256": lambda: biased(scores, module.slopes.detach(), 256 / 600).bfloat16()
    }
    what = "bias(scores) of length 300, all in bfloat16, training step 450 of 600"
    expect_close(module(scores).detach(), wanted, what, ulps=6.0, scale=0.1, suspects=suspects)


@pytest.mark.fine
def test_long_scores(answer, gen):
    """A length of 2100 is a length like any other."""
    module = advanced(built(answer, gen, heads=1), 5).requires_grad_(False)
    scores = scores_of(gen, 2100, heads=1, batch=1)
    wanted = biased(scores, module.slopes, 1.0).float()
    expect_close(module(scores), wanted, "bias(scores) of length 2100", scale=1000.0)


@pytest.mark.fine
def test_scores(answer, gen):
    """The result has the dtype of the scores, not that of the slopes; scores stay as they are."""
    module = built(answer, gen, warmup=4)
    for step, dtype in ((1, torch.bfloat16), (2, torch.float32)):
        scores = scores_of(gen, 5, dtype=dtype)
        wanted = biased(scores, module.slopes.detach(), step / 4).to(dtype)
        with unchanged("bias(scores)", scores=scores):
            yours = module(scores).detach()
        expect_close(
            yours, wanted, f"bias(scores) of {dtype} scores with float32 slopes", ulps=4.0, scale=10.0
        )


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """The module moves to a device with its count, computes there, and the host reads no number."""
    module = advanced(built(answer, gen), 1)
    module(scores_of(gen, 4))
    slopes = module.slopes.detach().clone()
    module.to(device)
    for step in (3, 4, 5, 6):
        scores = scores_of(gen, 4)
        wanted = biased(scores, slopes, min(1.0, step / 5)).float()
        there = scores.to(device)
        with count_traffic() as traffic:
            yours = module(there)
        waits = traffic.syncs + traffic.to_host
        expect_equal(waits, 0, f"the times that the host waits for numbers in training step {step}")
        expect_that(yours.device == device, "the result is on another device than the scores", yours=yours)
        expect_close(on_host(yours), wanted, f"bias(scores) on another device, step {step}", scale=10.0)


def oracle(answer, gen):
    def trained(gen, heads, warmup, steps):
        """The result and the gradient of each training step, and the module."""
        module, found = built(answer, gen, heads, warmup), []
        for time in (4, 2, 6)[:steps]:
            scores = scores_of(gen, time, heads)
            found.append((module.train()(scores), torch.randn(scores.shape, generator=gen)))
        return module, found

    def results(gen, *how):
        return [result.detach() for result, _ in trained(gen, *how)[1]]

    def gradients(gen, *how):
        module, found = trained(gen, *how)
        return [torch.autograd.grad(result, [module.slopes], cotangent)[0] for result, cotangent in found]

    def evaluated(gen, heads, steps):
        module, _ = trained(gen, heads, 5, steps)
        return module.eval()(scores_of(gen, 3, heads)).detach()

    return {
        "the first training step": lambda gen: results(gen, 3, 5, 1),
        "three training steps of a warm-up of 5": lambda gen: results(gen, 3, 5, 3),
        "three training steps of a warm-up of 2": lambda gen: results(gen, 2, 2, 3),
        "the gradients of the slopes in three training steps": lambda gen: gradients(gen, 3, 5, 3),
        "evaluation mode after three training steps": lambda gen: evaluated(gen, 3, 3),
        "evaluation mode before any": lambda gen: evaluated(gen, 2, 0),
    }
