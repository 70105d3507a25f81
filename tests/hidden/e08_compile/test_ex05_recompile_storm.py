"""What grades RecencyBias: graphs counted over steps and lengths, strength, gradients, state, dtypes."""

import copy
import io

import pytest
import torch
from torch.func import functional_call

from grader.checks import expect_close, expect_equal, expect_gradients, expect_that, unchanged
from grader.checks.compile.graphs import compiled
from grader.checks.devices import count_traffic, on_host

LENGTHS = (5, 3, 8, 3, 600, 2, 7)


def biased(scores, slopes, strength):
    """The rule, in float64."""
    time = scores.shape[-1]
    distance = (torch.arange(time)[:, None] - torch.arange(time)).abs().double()
    return scores.double() - strength * slopes.double()[:, None, None] * distance


def scores_of(gen, time, heads=3, batch=2, dtype=torch.float32):
    return torch.randn(batch, heads, time, time, generator=gen).to(dtype)


def built(answer, gen, heads=3, warmup=5):
    """A module with slopes of no particular size."""
    module = answer.RecencyBias(heads, warmup)
    with torch.no_grad():
        module.slopes.copy_(torch.rand(heads, generator=gen) + 0.1)
    return module


def advanced(module, steps, heads=3):
    """The module after some more training steps."""
    training = module.training
    module.train()
    for _ in range(steps):
        module(torch.zeros(1, heads, 2, 2, dtype=module.slopes.dtype, device=module.slopes.device))
    return module.train(training)


def expect_strength(module, gen, strength, when, time=4, heads=3, batch=2):
    """Check one call: by what it gives one knows how far the module is."""
    scores, slopes = scores_of(gen, time, heads, batch), module.slopes.detach().clone()
    wanted = biased(scores, slopes, strength).float()
    with unchanged(f"bias(scores), {when}", scores=scores):
        yours = module(scores)
    expect_close(yours.detach(), wanted, f"bias(scores), {when}", dims="batch heads queries keys", scale=10.0)


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


def test_strength(answer, gen):
    """The bias grows with each training step up to its full strength; evaluation neither counts nor grows."""
    for heads, warmup in ((3, 5), (2, 1), (4, 3)):
        module = built(answer, gen, heads, warmup).eval()
        expect_strength(module, gen, 0.0, "in evaluation mode before any step", heads=heads)
        for step in range(1, warmup + 3):
            strength, when = min(1.0, step / warmup), f"step {step}, warmup={warmup}"
            expect_strength(module.train(), gen, strength, when, step + 1, heads, batch=step)
            expect_strength(module.eval(), gen, strength, f"in evaluation mode after {when}", 3, heads)


def test_slopes(answer):
    """The slopes start at 0.5, each half of the one before, and are the only parameter."""
    module = answer.RecencyBias(5, 7)
    expect_close(
        module.slopes.detach(), torch.tensor([0.5, 0.25, 0.125, 0.0625, 0.03125]), "slopes of five heads"
    )
    expect_equal([name for name, _ in module.named_parameters()], ["slopes"], "the names of the parameters")


def test_graphs_over_lengths(answer, gen):
    """In training mode two graphs serve all steps and lengths, with the numbers of plain Python."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        for step, time in enumerate(LENGTHS, start=1):
            when = f"after {step} training steps, the last of length {time}"
            scores = scores_of(gen, time)
            wanted = biased(scores, module.slopes.detach(), min(1.0, step / 5)).float()
            expect_close(
                captured(scores).detach(), wanted, f"the compiled bias(scores), step {step}", scale=10.0
            )
            expect_graphs(captured, 2, when)


def test_graphs_over_steps(answer, gen):
    """With one length there is one graph for all steps, during the warm-up and after."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        for step in range(1, 8):
            scores = scores_of(gen, 6)
            wanted = biased(scores, module.slopes.detach(), min(1.0, step / 5)).float()
            expect_close(
                captured(scores).detach(), wanted, f"the compiled bias(scores), step {step}", scale=10.0
            )
            expect_graphs(captured, 1, f"after {step} training steps of the same length")


def test_graphs_in_evaluation(answer, gen):
    """Evaluation between the training steps has graphs of its own, and the strength of the last step."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        for step, time in enumerate((4, 4, 7, 6), start=1):
            module.train()
            captured(scores_of(gen, 4))
            module.eval()
            scores = scores_of(gen, time)
            wanted = biased(scores, module.slopes.detach(), step / 5).float()
            what = f"the compiled bias(scores) in evaluation mode after step {step}"
            expect_close(captured(scores).detach(), wanted, what, scale=10.0)
            expect_graphs(captured, 2 + (step > 2), f"after {step} steps, each followed by evaluation")


def test_gradients_when_compiled(answer, gen):
    """Compiled, scores and slopes get their gradients in every step."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        for step, time in enumerate((4, 4, 4), start=1):
            scores = scores_of(gen, time).requires_grad_()
            cotangent = torch.randn(scores.shape, generator=gen)
            exact = [
                scores.detach().double().requires_grad_(),
                module.slopes.detach().double().requires_grad_(),
            ]
            wanted = torch.autograd.grad(biased(*exact, step / 5), exact, cotangent.double())
            yours = torch.autograd.grad(captured(scores), [scores, module.slopes], cotangent)
            for name, mine, right in zip(("scores", "slopes"), yours, wanted, strict=True):
                what = f"the gradient for {name} through the compiled bias(scores), step {step}"
                expect_close(mine, right.float(), what, ulps=200.0)


def test_gradients(answer, gen):
    """Scores and slopes get the gradients of the faded bias, in training and in evaluation mode."""
    for training, strength, when in (
        (True, 3 / 5, "step 3"),
        (False, 2 / 5, "in evaluation mode after step 2"),
    ):
        module = advanced(built(answer, gen), 2).train(training)
        expect_gradients(
            lambda scores, slopes, m=module: functional_call(m, {"slopes": slopes}, (scores,)),
            [scores_of(gen, 4), torch.rand(3, generator=gen)],
            lambda scores, slopes, strength=strength: biased(scores, slopes, strength),
            gen=gen,
            call=f"bias(scores), {when}, warmup=5",
            names="scores slopes",
            ulps=200.0,
        )


def test_calls_before_backward(answer, gen):
    """Three calls may come before one backward, each with its own strength."""
    module, batches = built(answer, gen), [scores_of(gen, time) for time in (3, 5, 2)]
    cotangents = [torch.randn(scores.shape, generator=gen) for scores in batches]
    slopes = module.slopes.detach().double().requires_grad_()
    losses = [
        (biased(scores, slopes, step / 5) * c).sum()
        for step, (scores, c) in enumerate(zip(batches, cotangents, strict=True), start=1)
    ]
    (wanted,) = torch.autograd.grad(torch.stack(losses).sum(), [slopes])
    results = [module(scores) for scores in batches]
    loss = torch.stack([(r * c).sum() for r, c in zip(results, cotangents, strict=True)]).sum()
    (yours,) = torch.autograd.grad(loss, [module.slopes])
    expect_close(yours, wanted.float(), "the gradient for slopes through three steps", ulps=200.0, scale=20.0)


def test_checkpoint(answer, gen):
    """A module that loads a state_dict goes on where the other was, whatever lengths both have seen."""
    first, second = advanced(built(answer, gen), 2), advanced(built(answer, gen), 4)
    first(scores_of(gen, 9))
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    expect_close(second.slopes.detach(), first.slopes.detach(), "slopes after load_state_dict")
    expect_strength(second.eval(), gen, 3 / 5, "in evaluation mode, from a checkpoint of step 3")
    expect_strength(second.train(), gen, 4 / 5, "step 4, from a checkpoint of step 3", 6)
    expect_strength(first, gen, 4 / 5, "step 4, of the module that was saved", 5)
    third = built(answer, gen)
    third.load_state_dict(first.state_dict())  # not by a file: the same tensors
    advanced(third, 1)
    when = "in evaluation mode after step 4, another module has loaded its state_dict and made step 5"
    expect_strength(first.eval(), gen, 4 / 5, when)


def test_copies(answer, gen):
    """Two modules count each for itself, and so does a deep copy."""
    one, other = built(answer, gen), built(answer, gen, warmup=4)
    advanced(one, 2)
    twin = copy.deepcopy(one)
    advanced(one, 2)
    expect_strength(other, gen, 1 / 4, "step 1, another module has made four")
    expect_strength(twin, gen, 3 / 5, "step 3 of a deep copy, the original has made four")
    expect_strength(one, gen, 1.0, "step 5 of the original")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_cast(answer, gen, dtype):
    """Cast to another dtype the module counts as before, to 450 in bfloat16, and returns that dtype."""
    step = 450 if dtype == torch.bfloat16 else 3
    module = built(answer, gen, warmup=step // 3 * 4).to(dtype)
    advanced(module, step - 1)
    scores = scores_of(gen, 5, dtype=dtype)
    wanted = biased(scores, module.slopes.detach(), 3 / 4).to(dtype)
    yours = module(scores).detach()
    expect_close(yours, wanted, f"bias(scores) after bias.to({dtype}), step {step} of {step // 3 * 4}")
    module = advanced(built(answer, gen, warmup=3), 1).to(dtype).float()
    expect_strength(module.eval(), gen, 1 / 3, f"step 1 of 3, in evaluation mode after {dtype} and back")


def test_long_warmup(answer, gen):
    """In float16 the warm-up may be longer than 65504, its largest number."""
    module, scores = built(answer, gen, warmup=100_000).half(), torch.zeros(1, 3, 2, 2, dtype=torch.float16)
    advanced(module, 2)
    wanted = biased(scores, module.slopes.detach(), 3e-5)
    error = (module(scores).detach().double() - wanted).abs().max().item()
    # what float16 has down there lies 6e-8 apart: a strength in float16 is off by 0.1 %, and is rounded again
    expect_that(
        error <= 2e-7,
        "wrong values in float16 from bias(scores), step 3 of 100,000",
        yours=f"off by {error:.2g}",
        wanted=f"a bias of up to {-wanted.min().item():.2g}",
    )
    state = {name: t for name, t in module.state_dict().items() if isinstance(t, torch.Tensor)}
    if counts := [name for name, t in state.items() if t.dtype != torch.float16 and t.tolist() == 3]:
        module.load_state_dict(module.state_dict() | {counts[0]: torch.tensor(69_999)})
        wanted = biased(scores, module.slopes.detach(), 0.7).half()
        yours = module(scores).detach()
        expect_close(yours, wanted, "bias(scores) in float16, from a checkpoint of step 69,999 of 100,000")
        longer = built(answer, gen, warmup=2**26).half()
        longer.load_state_dict(longer.state_dict() | {counts[0]: torch.tensor(2**24)})
        advanced(longer, 2)
        count = int(longer.state_dict()[counts[0]])
        expect_equal(count, 2**24 + 2, "the count two steps after 16,777,216, with warmup=67,108,864")


def test_dtype_of_scores(answer, gen):
    """The result has the dtype of the scores, not that of the slopes."""
    for dtype, own in (
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.bfloat16),
        (torch.float32, torch.float64),
    ):
        module = built(answer, gen, warmup=4).to(own)
        scores = scores_of(gen, 5, dtype=dtype)
        wanted = biased(scores, module.slopes.detach(), 1 / 4).to(dtype)
        what = f"bias(scores) of {dtype} scores with {own} slopes"
        ulps = 4.0 if dtype == torch.bfloat16 else 2.0**17 if own == torch.bfloat16 else None
        expect_close(module(scores).detach(), wanted, what, ulps=ulps, scale=10.0)


def test_strided(answer, gen):
    """Scores that are transposed, expanded, masked with -inf, of length 1 or of no batch are like any."""
    module = advanced(built(answer, gen), 5)
    for how, scores in {
        "transposed": scores_of(gen, 4).transpose(-1, -2),
        "expanded": scores_of(gen, 4, batch=1).expand(3, 3, 4, 4),
        "of length 1": scores_of(gen, 1),
        "masked with -inf": scores_of(gen, 4).masked_fill(torch.ones(4, 4).triu(1) > 0, -torch.inf),
        "of an empty batch": scores_of(gen, 3, batch=0),
    }.items():
        wanted = biased(scores, module.slopes.detach(), 1.0).float()
        expect_close(module(scores).detach(), wanted, f"bias(scores), scores {how}", scale=10.0)


def test_long_scores(answer, gen):
    """A length of 2100 is a length like any other, so are one of 300 in bfloat16, and 40,000 on meta."""
    module = advanced(built(answer, gen, heads=1), 5, heads=1)
    scores = scores_of(gen, 2100, heads=1, batch=1)
    with torch.no_grad():
        yours = module(scores)
    wanted = biased(scores, module.slopes.detach(), 1.0).float()
    expect_close(yours, wanted, "bias(scores) of length 2100", scale=1000.0)
    narrow = torch.zeros(1, 1, 300, 300, dtype=torch.bfloat16)  # which has no 257
    cast = copy.deepcopy(module).bfloat16()
    wanted = biased(narrow, cast.slopes.detach(), 1.0).bfloat16()
    expect_close(
        cast(narrow).detach(), wanted, "bias(scores) of length 300, all in bfloat16", ulps=4.0, scale=0.1
    )
    endless = torch.empty(1, 1, 40_000, 40_000, device="meta")  # without numbers
    yours = copy.deepcopy(module).to("meta")(endless)
    expect_equal(tuple(yours.shape), tuple(endless.shape), "the shape of bias(scores) of length 40,000")


def test_every_training_call_counts(answer, gen):
    """Training calls count alike, compiled or not, with gradients or without."""
    module = built(answer, gen)
    with compiled(module, "RecencyBias(3, 5)") as captured:
        captured(scores_of(gen, 4))
        expect_strength(module, gen, 2 / 5, "step 2, plain after a compiled one")
        with torch.no_grad():
            expect_strength(module, gen, 3 / 5, "step 3, under no_grad")
        scores = scores_of(gen, 4)
        wanted = biased(scores, module.slopes.detach(), 4 / 5).float()
        what = "the compiled bias(scores), step 4, after two that were not compiled"
        expect_close(captured(scores).detach(), wanted, what, scale=10.0)


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
        expect_equal(
            traffic.syncs + traffic.to_host, 0, f"the times that the host waits for numbers in step {step}"
        )
        expect_that(yours.device == device, "the result is on another device than the scores", yours=yours)
        expect_close(on_host(yours), wanted, f"bias(scores) on another device, step {step}", scale=10.0)


def oracle(answer, gen):
    results = []
    for heads, warmup in ((3, 5), (2, 4)):
        module = built(answer, gen, heads, warmup)
        for time in (4, 2, 6):
            scores = scores_of(gen, time, heads)
            cotangent = torch.randn(scores.shape, generator=gen)
            result = module(scores)
            (gradient,) = torch.autograd.grad(result, [module.slopes], cotangent)
            results += [result.detach(), gradient]
        results.append(module.eval()(scores).detach())
    return results
