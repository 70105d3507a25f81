"""What grades stochastic_round: neighbours, shares, draws; infinities, layouts, streams, devices."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, global_rng_untouched
from grader.checks.contract import Contract, device, given, untouched

CALL = "stochastic_round(x)"


def around(x):
    """The neighbours of x in bfloat16, nearer to 0 and farther from it; both x where bfloat16 has it."""
    bits = x.contiguous().view(torch.int32)
    near = bits & -(1 << 16)
    far = torch.where(bits == near, near, near + (1 << 16))
    return near.view(torch.float32), far.view(torch.float32)


def between(gen, n, share=None):
    """Numbers of many sizes and both signs, and which share of the way they are from one neighbour on."""
    size = 2.0 ** torch.randint(-60, 60, (n,), generator=gen)
    near = ((1 + torch.rand(n, generator=gen)) * size).bfloat16().float()
    near = near * (2 * torch.randint(0, 2, (n,), generator=gen) - 1)
    share = 0.1 + 0.8 * torch.rand(n, generator=gen) if share is None else share * torch.ones(n)
    lower = (share * (1 << 16)).to(torch.int32)
    return (near.view(torch.int32) + lower).view(torch.float32), lower / (1 << 16)


def farther(answer, x, times=4096):
    """The share of draws in which each number became the neighbour farther from 0."""
    drawn = answer.stochastic_round(x.repeat(times, 1)).float()
    return (drawn == around(x)[1]).float().mean(0)


def test_neighbours(answer, gen):
    """Each number becomes one of the two bfloat16 numbers around it."""
    x, _ = between(gen, 400)
    near, far = around(x)
    yours = answer.stochastic_round(x.clone())
    expect_equal((yours.dtype, tuple(yours.shape)), (torch.bfloat16, (400,)), f"dtype and shape of {CALL}")
    other = (yours != near) & (yours != far)
    i = int(other.int().argmax())
    expect_that(
        not other.any(),
        f"{CALL} gives what is no neighbour of x",
        x=f"{x[i]:.9g}",
        yours=f"{yours[i]:.9g}",
        wanted=f"{near[i]:.9g} or {far[i]:.9g}",
    )


@pytest.mark.parametrize("share", [0.125, 0.375, 0.5, 0.75], ids=str)
def test_shares(answer, gen, share):
    """The nearer a neighbour is, the more often it is taken, so that the mean is x."""
    x, _ = between(gen, 8, share)
    found = farther(answer, x)
    suspects = {
        0.0: "each is rounded toward 0",
        1.0: "each is rounded away from 0",
        0.5: "both neighbours are as likely, however near they are",
        1 - share: "the share is the wrong way round",
    }
    likely = next((words for s, words in suspects.items() if bool(((found - s).abs() < 0.06).all())), None)
    worst = int((found - share).abs().argmax())
    expect_that(
        bool(((found - share).abs() < 0.06).all()),  # seven standard deviations
        f"{CALL} rounds away from 0 in another share of draws",
        x=f"{x[worst]:.9g}, {share:g} of the way",
        yours=f"{float(found[worst]):.3f}",
        wanted=f"about {share:g}",
        **({"likely": likely} if likely else {}),
    )


def test_exact_numbers(answer, gen):
    """What bfloat16 has stays, powers of two and 0 as well."""
    powers = 2.0 ** torch.arange(-20, 21)
    x = torch.cat([powers, -powers, torch.zeros(2), torch.randn(300, generator=gen).bfloat16().float()])
    for _ in range(5):
        yours = answer.stochastic_round(x.clone())
        expect_equal(yours.float(), x, f"{CALL} of numbers that bfloat16 has")


def test_each_for_itself(answer, gen):
    """Each number of a tensor is drawn for itself, in each call anew."""
    x, _ = between(gen, 1, 0.5)
    table = answer.stochastic_round(x.expand(40, 50).contiguous()).float()
    again = answer.stochastic_round(x.expand(40, 50).contiguous()).float()
    likely = "one draw serves them all: draw a tensor of x's shape"
    for drawn, about in ((table[0], "a row"), (table[:, 0], "a column")):
        same = bool((drawn == drawn[0]).all())
        expect_that(not same, f"{CALL} rounds equal numbers of {about} alike", likely=likely)
    expect_that(not torch.equal(table, again), f"{CALL} gives the same a second time")


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def test_generator(answer, gen):
    """Draws come from the generator: its state decides, and goes on."""
    x, _ = between(gen, 500)
    call = "stochastic_round(x, generator)"
    first, again = (answer.stochastic_round(x.clone(), seeded(5)) for _ in range(2))
    expect_that(torch.equal(first, again), f"{call} differs for generators of one seed")
    going = seeded(5)
    rounds = [answer.stochastic_round(x.clone(), going) for _ in range(2)]
    expect_that(not torch.equal(*rounds), f"{call} gives the same again: the generator does not go on")


@pytest.mark.fine
def test_global_stream(answer, gen):
    """With a generator the global random stream is left alone."""
    with global_rng_untouched("stochastic_round(x, generator)"):
        answer.stochastic_round(torch.randn(9, generator=gen), gen)


@pytest.mark.fine
def test_infinities(answer):
    """Infinities and NaN stay, in whatever bits."""
    bits = torch.tensor([0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, -1, -(1 << 23)], dtype=torch.int32)
    x = bits.view(torch.float32)
    for _ in range(20):
        yours = answer.stochastic_round(x.clone()).float()
        wanted = torch.tensor([float("inf"), *[float("nan")] * 4, float("-inf")])
        expect_that(
            torch.equal(yours.nan_to_num(7.0), wanted.nan_to_num(7.0)),
            f"{CALL} of inf and NaN is something else",
            x=x,
            yours=yours,
        )


@pytest.mark.fine
def test_layouts(answer, gen):
    """x may be transposed, a part of a larger tensor, a single number, or empty."""
    x = torch.randn(6, 8, generator=gen).bfloat16().float()
    for about, laid in {"transposed": x.t(), "every second column": x[:, ::2], "a number": x[1, 2]}.items():
        yours = answer.stochastic_round(laid)
        expect_equal(yours.float(), laid.contiguous(), f"{CALL}, x {about}, of numbers that bfloat16 has")
    yours = answer.stochastic_round(torch.ones(0, 3))
    expect_equal((yours.dtype, tuple(yours.shape)), (torch.bfloat16, (0, 3)), f"dtype and shape of {CALL}")


contract = Contract(
    "stochastic_round(x)",
    reference=lambda x: x.bfloat16(),
    inputs=lambda gen: {"a table": given(torch.randn(4, 6, generator=gen).bfloat16().float())},
    fine=[untouched(), device()],
)


def oracle(answer, gen):
    def reached(n):
        x, _ = between(gen, n)

        def case():
            drawn = answer.stochastic_round(x.repeat(400, 1)).float()
            return [drawn.amin(0), drawn.amax(0)]

        return case

    def eighths():
        x, _ = between(gen, 40, torch.randint(1, 4, (40,), generator=gen) / 4)
        return lambda: (farther(answer, x) * 4).round() / 4

    return {
        "the neighbours of ten numbers": reached(10),
        "the neighbours of fifteen numbers": reached(15),
        "shares of draws, in quarters": eighths(),
        "numbers that bfloat16 has": lambda gen: answer.stochastic_round(
            torch.randn(20, generator=gen).bfloat16().float()
        ),
    }
