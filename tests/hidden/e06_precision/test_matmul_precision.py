"""What grades matmul_precision: blocks, nests, errors, functions; other modes, what blocks set."""

from contextlib import contextmanager, suppress
from itertools import product

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that

MODES = ["highest", "high", "medium"]
now = torch.get_float32_matmul_precision


@contextmanager
def beginning(mode):
    """The block begins with this setting, and what was before it comes back."""
    before = now()
    torch.set_float32_matmul_precision(mode)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("before", MODES)
def test_block(answer, before):
    """Within the block the mode holds, after it what was before."""
    for mode in reversed(MODES):
        with beginning(before):
            with answer.matmul_precision(mode):
                expect_equal(now(), mode, f'the precision within matmul_precision("{mode}")')
            suspects = {
                'it is set to "highest", whatever was before': lambda: "highest",
                "the mode stays": lambda mode=mode: mode,
            }
            call = f'the precision after matmul_precision("{mode}"), "{before}" before'
            expect_equal(now(), before, call, suspects=suspects)


def test_nested(answer):
    """Blocks within blocks take their own setting back, one after the other."""
    for before, outer, inner in product(MODES, repeat=3):
        with beginning(before):
            found = []
            with answer.matmul_precision(outer):
                with answer.matmul_precision(inner):
                    found.append(now())
                found.append(now())
            found.append(now())
        call = f'the precision in a block of "{inner}" in one of "{outer}", between, and after'
        expect_equal(found, [inner, outer, before], call)


def test_errors_go_on(answer):
    """Where the block raises, the setting is taken back, and the error goes on."""

    def failing():
        with answer.matmul_precision("medium"):
            raise KeyError("no such layer")

    with beginning("high"):
        expect_raises(KeyError, failing, "a block that raises KeyError")
        likely = "what follows `yield` does not run after an error, but in a `finally`"
        expect_that(now() == "high", "after a block that raises the mode stays", yours=now(), likely=likely)


def test_decorated(answer):
    """A decorated function runs with the mode, in each call, and gives what it gave."""
    with beginning("high"):
        decorated = answer.matmul_precision("medium")(lambda x, *, by: (now(), by * x))
        expect_equal(now(), "high", "the precision when a function has been decorated")
        for before in ("high", "highest"):
            torch.set_float32_matmul_precision(before)
            expect_equal(decorated(3, by=2), ("medium", 6), "what a decorated function finds and gives")
            expect_equal(now(), before, "the precision after a call of a decorated function")


def test_not_yet_entered(answer):
    """Nothing changes before the block is entered; what was before is looked up then."""
    with beginning("highest"):
        manager = answer.matmul_precision("medium")
        expect_equal(now(), "highest", 'the precision after manager = matmul_precision("medium")')
        torch.set_float32_matmul_precision("high")
        with manager:
            expect_equal(now(), "medium", "the precision within the block of a manager made earlier")
        expect_equal(now(), "high", "the precision after it, where it was changed to high in between")


@pytest.mark.fine
@pytest.mark.parametrize("mode", ["tf32", "HIGH", ""])
def test_other_modes(answer, mode):
    """Another mode raises ValueError, and the setting stays."""

    def entered():
        with answer.matmul_precision(mode):
            pass

    with beginning("high"):
        expect_raises(ValueError, entered, f"with matmul_precision({mode!r})")
        expect_equal(now(), "high", f"the precision after matmul_precision({mode!r})")


@pytest.mark.fine
def test_set_within(answer):
    """What the block sets itself is undone, too."""
    with beginning("medium"):
        with answer.matmul_precision("high"):
            torch.set_float32_matmul_precision("highest")
        expect_equal(now(), "medium", "the precision after a block that set another")
        with answer.matmul_precision("medium"):
            torch.set_float32_matmul_precision("high")
        expect_equal(now(), "medium", "the precision after a block of the mode of before, that set another")


@pytest.mark.fine
def test_calls_itself(answer):
    """A decorated function may call itself."""
    with beginning("highest"):

        @answer.matmul_precision("medium")
        def depth(n):
            return [now(), *(depth(n - 1) if n else []), now()]

        expect_equal(depth(2), ["medium"] * 6, "what a decorated function that calls itself finds")
        expect_equal(now(), "highest", "the precision after it")


def in_fives(found):
    return [" ".join(found[i : i + 5]) for i in range(0, len(found), 5)]


def oracle(answer, gen):
    def drawn(n):
        return [MODES[i] for i in torch.randint(3, (n,), generator=gen)]

    def nested(before, modes, raises):
        """What is found on the way in, and on the way out."""

        def case():
            found = []

            def enter(rest):
                found.append(now())
                if rest:
                    with answer.matmul_precision(rest[0]):
                        enter(rest[1:])
                elif raises:
                    raise KeyError
                found.append(now())

            with beginning(before):
                with suppress(KeyError):
                    enter(modes)
                found.append(now())
            return in_fives(found)

        return case

    def called():
        before, mode = drawn(40), drawn(1)[0]

        def case():
            with beginning("highest"):
                decorated, found = answer.matmul_precision(mode)(now), []
                for setting in before:
                    torch.set_float32_matmul_precision(setting)
                    found += [decorated(), now()]
            return in_fives(found)

        return case

    return {
        "forty blocks, one in the other": nested("medium", drawn(40), False),
        "thirty blocks, and an error in the innermost": nested("high", drawn(30), True),
        "a decorated function": called(),
    }
