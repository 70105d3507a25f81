"""What grades independent_streams: names, order, processes, devices, the global stream; pairs, dtypes."""

import builtins
import random

import numpy as np
import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that, global_rng_untouched
from grader.checks.devices import is_simulated, on_host

NAMES = ["weights", "order", "noise", "a", "b", "ab", "ba", "A", "a ", ""]
SHARED = "names share a generator: each name needs one of its own"
IN_ORDER = "a stream's seed depends on how many names came up before"
ANEW = "generators outlive their Streams, or are seeded by what is no part of it"
LOW_BITS = "a generator on the CPU looks at the lower 32 bits of its seed alone"
ADDED = "seed and a number for the name are added up: one more here is one less there"


def numbers(streams, name, n=3):
    return streams.normal(name, (n,)).tolist()


def why(one, other):
    """What two pairs that get the same numbers have in common."""
    if one[1] == other[1]:
        return "the seed has no say"
    return "the name has no say" if one[0] == other[0] and sorted(one[1]) != sorted(other[1]) else ADDED


def expect_apart(answer, pairs, likely=""):
    """Fail if two of these pairs of seed and name get the same numbers."""
    found = {}
    for pair in pairs:
        first = tuple(numbers(answer.Streams(pair[0]), pair[1]))
        same = found.setdefault(first, pair)
        told = (
            f"Streams({same[0]}) for {same[1]!r} and Streams({pair[0]}) for {pair[1]!r} give the same numbers"
        )
        expect_that(same == pair, told, yours=list(first), likely=likely or why(same, pair))


def test_numbers(answer, gen):
    """`normal` gives what torch.randn gives with the generator of that name, call by call."""
    for shape in ((5,), (3, 7), (2, 0), torch.Size([4, 2, 3])):
        seed = int(torch.randint(2**31, (), generator=gen))
        streams, twin = answer.Streams(seed), torch.Generator()
        for _ in range(2):
            twin.set_state(streams.generator("x").get_state())
            wanted = torch.randn(shape, generator=twin)
            twin.set_state(streams.generator("x").get_state())
            uniform = torch.rand(shape, generator=twin)
            yours, call = streams.normal("x", shape), f'normal("x", {tuple(shape)})'
            expect_close(yours, wanted, call, suspects={"uniform numbers, from 0 to 1": lambda u=uniform: u})


def test_goes_on(answer):
    """A name's generator stays the same one, and its numbers go on."""
    streams = answer.Streams(3)
    again = streams.generator("order") is streams.generator("order")
    expect_that(again, 'generator("order") is another one when it is asked for again')
    first, second = numbers(streams, "noise"), numbers(streams, "noise")
    expect_that(first != second, 'normal("noise", (3,)) gives the same numbers twice', yours=second)


def test_begins_anew(answer):
    """A new Streams begins all streams anew."""
    first, again = answer.Streams(3), answer.Streams(3)
    wanted, yours = ([numbers(streams, "noise") for _ in range(3)] for streams in (first, again))
    told = (
        'the first three calls of Streams(3).normal("noise", (3,)) give other numbers in another Streams(3)'
    )
    expect_that(yours == wanted, told, yours=yours[0], wanted=wanted[0], likely=ANEW)


def test_other_streams(answer):
    """What one stream draws, in whatever order names come up, changes no other."""
    streams, other = answer.Streams(5), answer.Streams(5)
    alone = {name: numbers(streams, name) for name in NAMES}
    likely = SHARED if streams.generator("a") is streams.generator("b") else IN_ORDER
    for name in reversed(NAMES):
        yours, told = numbers(other, name), f'the numbers of "{name}" change when other streams draw before'
        expect_that(yours == alone[name], told, yours=yours, wanted=alone[name], likely=likely)
        numbers(other, "between")


def test_seeds_and_names(answer):
    """Another seed, or another name, gives other numbers."""
    expect_apart(answer, [(seed, name) for seed in range(12) for name in NAMES])


def test_every_process(answer, monkeypatch):
    """Numbers are the same in each process: `hash` of a text is not."""
    first = numbers(answer.Streams(5), "order")
    monkeypatch.setattr(answer, "hash", lambda x: builtins.hash((x, 1)), raising=False)
    expect_equal(numbers(answer.Streams(5), "order"), first, 'the numbers of "order" in another process')


def test_global_stream(answer):
    """PyTorch's global stream has no say, and stays where it is."""
    first = numbers(answer.Streams(5), "order")
    torch.manual_seed(1)
    with global_rng_untouched('Streams(5).normal("order", (3,))'):
        yours = numbers(answer.Streams(5), "order")
    expect_equal(yours, first, 'the numbers of "order" after torch.manual_seed(1)')


def test_on_a_device(answer, device):
    """On another device the numbers are those of the CPU."""
    wanted = answer.Streams(5).normal("noise", (4, 3))
    yours = answer.Streams(5).normal("noise", (4, 3), device=device)
    expect_that(is_simulated(yours), "normal(…, device=device) is on another device", yours=yours.device)
    expect_equal(on_host(yours), wanted, 'normal("noise", (4, 3), device=device)')


@pytest.mark.fine
def test_pairs(answer):
    """No two pairs of seed and name share a stream."""
    near = [(1, "2a"), (12, "a"), (1, "/2/a"), (11, "2a"), (1, "1/2a"), (121, "a")]
    large = [(seed, name) for seed in (2**32, 2**32 + 1, 5 * 2**40, 2**63 - 1) for name in NAMES]
    small = [(seed, name) for seed in (0, 1) for name in NAMES]
    expect_apart(answer, near, "seed and name are written side by side, with nothing between")
    expect_apart(answer, small + large, LOW_BITS)


@pytest.mark.fine
def test_any_name(answer):
    """Names are any text."""
    expect_apart(answer, [(2, name) for name in ("Gewichte für f(x)", "重み", "🎲", "x" * 500, "x" * 501)])


@pytest.mark.fine
def test_single_number(answer):
    """The shape may be (), of a single number."""
    expect_equal(
        answer.Streams(5).normal("noise", ()).shape, torch.Size([]), 'the shape of normal("noise", ())'
    )


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_dtypes(answer, dtype):
    """In each dtype the numbers are those of float32, rounded or widened."""
    for n in (3, 40):
        wanted = answer.Streams(5).normal("noise", (n,)).to(dtype)
        yours = answer.Streams(5).normal("noise", (n,), dtype=dtype)
        expect_equal(yours, wanted, f'normal("noise", ({n},), dtype={dtype})')


@pytest.mark.fine
def test_other_global_streams(answer):
    """The global streams of Python and NumPy have no say, and stay where they are."""
    first = numbers(answer.Streams(5), "order")
    random.seed(1)
    np.random.seed(1)
    wanted = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    yours = numbers(answer.Streams(5), "order")
    expect_equal((random.random(), float(np.random.rand())), wanted, "Python's and NumPy's next numbers")
    expect_equal(yours, first, 'the numbers of "order" after random.seed(1) and np.random.seed(1)')


def oracle(answer, gen):
    """Generators are seeded here, as each answer has its own seeds for names."""
    seeds = torch.randint(2**31, (4,), generator=gen).tolist()
    added = torch.rand(3, generator=gen)

    def in_turns():
        streams = answer.Streams(1)
        for name, seed in zip("ab", seeds[:2], strict=True):
            streams.generator(name).manual_seed(seed)
        return [streams.normal(name, (2, 3)) for name in "abba"]

    def globally():
        torch.manual_seed(seeds[2])
        answer.Streams(seeds[2]).normal("order", (3,))
        return torch.rand(3)

    def anew():
        first, second = (answer.Streams(seeds[3]).normal("order", (3,)) for _ in range(2))
        return [first - second + added, answer.Streams(seeds[3] + 1).normal("order", (3,)) == first]

    return {
        "two streams in turns": in_turns,
        "the global stream afterwards": globally,
        "a stream begun anew, less what it gave before": anew,
    }
