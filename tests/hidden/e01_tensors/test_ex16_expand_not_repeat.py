"""What grades expand_not_repeat: views, copies, bytes, gradients, devices."""

import pytest
import torch

from grader.checks import (
    expect_copy,
    expect_equal,
    expect_gradients,
    expect_that,
    expect_view,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import is_simulated, on_host

PROMPTS = [(), (4,), (3, 2), (2, 3, 4), (1, 3), (0, 3)]
BEAMS = [0, 1, 3]


def distinct(sizes, dtype=torch.float32):
    return torch.arange(torch.Size(sizes).numel(), dtype=dtype).view(sizes)


def stacked(prompt, beams):
    return torch.stack([prompt] * beams) if beams else prompt.new_empty((0, *prompt.shape))


def plain_sum(x, table):
    return x + table[: x.shape[-2]].expand(x.shape)


@pytest.mark.parametrize("name", ["share", "own"])
def test_every_beam_gets_the_prompt(answer, name):
    """Every beam holds the whole prompt, whatever the prompt's shape, for 0, 1 and 3 beams."""
    for sizes in PROMPTS:
        for beams in BEAMS:
            prompt = distinct(sizes, torch.float32 if beams else torch.float64)
            wanted = stacked(prompt, beams)
            yours = getattr(answer, name)(prompt, beams)
            expect_equal(yours, wanted, f"{name}(prompt, {beams}) of a prompt of shape {sizes}")


@pytest.mark.parametrize("name", ["share", "own"])
def test_layout_and_dtype(answer, name):
    """Transposed prompts and prompts of token ids or flags are treated like any others."""
    tail, expanded = distinct((4, 6))[1:, 2:], distinct((1, 3)).expand(2, 3)
    numbers = distinct((3, 2), torch.int64), distinct((4,)) > 1, distinct((4,)) * (1 + 2j)
    for prompt in (distinct((4, 3)).T, tail, expanded, *numbers):
        wanted = stacked(prompt.clone(), 2)
        expect_equal(getattr(answer, name)(prompt, 2), wanted, f"{name}(prompt, 2)")


def test_sharing_copies_nothing(answer):
    """`share` returns a view of the prompt and allocates nothing, for a transposed prompt too."""
    for prompt in (distinct((4, 8)), distinct((8, 4)).T, distinct(()), distinct((4, 8)).requires_grad_()):
        expect_view(answer.share(prompt, 5), prompt, "share(prompt, 5)")
        expect_view(answer.share(prompt, 1), prompt, "share(prompt, 1)")
        none = answer.share(prompt, 0)
        expect_that(
            none.untyped_storage().data_ptr() == prompt.untyped_storage().data_ptr(),
            "share(prompt, 0) is a new tensor",
            wanted="a view of the prompt without beams",
        )
        peak = peak_bytes(lambda prompt=prompt: answer.share(prompt, 5))
        expect_that(peak == 0, "share(prompt, 5) copies the prompt", yours=f"{peak} new bytes", wanted="none")


def test_owning_copies(answer):
    """Each beam of `own` has memory of its own: a write reaches one beam, and never the prompt."""
    for beams in (1, 3):
        tokens, expanded = distinct((4,), torch.int64), distinct((1, 4)).expand(2, 4)
        for prompt in (
            distinct((2, 4)),
            distinct((4, 2)).T,
            distinct(()),
            tokens,
            distinct((3, 4))[1:],
            expanded,
        ):
            before = prompt.clone()
            beams_own = answer.own(prompt, beams)
            expect_copy(beams_own, prompt, f"own(prompt, {beams})")
            beams_own[0].fill_(-1)
            expect_equal(
                beams_own[1:], stacked(before, beams - 1), f"own(prompt, {beams})[1:] after a write to beam 0"
            )
            expect_equal(prompt, before, f"the prompt after a write to beam 0 of own(prompt, {beams})")


def test_owning_copies_once(answer):
    """`own` allocates the beams and nothing beside them."""
    for prompt in (distinct((8, 16)), distinct((16, 8)).T):
        wanted = 5 * 8 * 16 * 4
        peak = peak_bytes(lambda prompt=prompt: answer.own(prompt, 5))
        expect_that(
            peak <= wanted,
            "own(prompt, 5) copies more than once",
            yours=f"{peak} new bytes at once",
            wanted=f"{wanted} bytes: each number once per beam",
        )


def test_positions(answer):
    """Row t of the table is added at position t of every sequence, for any leading dimensions."""
    for sizes in [(3, 4), (2, 3, 4), (2, 5, 3, 4), (2, 1, 4), (0, 3, 4), (2, 0, 4), (2, 6, 4), (6, 6, 6)]:
        x, table = distinct(sizes), 1000 * distinct((6, sizes[-1]))
        wanted = plain_sum(x, table)
        yours = answer.add_positions(x, table)
        expect_equal(yours, wanted, f"add_positions(x, table) of x of shape {sizes}")
        expect_that(yours is not x, f"add_positions(x, table) of x of shape {sizes} returns x itself")
    x, table = distinct((4, 3, 2)).permute(2, 1, 0)[:, 1:], 1000 * distinct((4, 6)).T
    wanted = plain_sum(x, table)
    expect_equal(answer.add_positions(x, table), wanted, "add_positions(x, table) of a strided x and table")
    for dtype in (torch.float16, torch.float64):
        x, table = distinct((2, 3, 4), dtype) / 3, distinct((6, 4), dtype) / 7
        wanted = plain_sum(x, table)
        expect_equal(answer.add_positions(x, table), wanted, f"add_positions(x, table) in {dtype}")


def test_positions_allocate_the_sum_only(answer):
    """`add_positions` makes a new tensor for the sums, and nothing else of that size."""
    long = distinct((300, 4))
    strided, half = distinct((8, 16, 4)).transpose(0, 1), distinct((16, 8, 4), torch.float16)
    beams = distinct((4, 1, 8, 4)).expand(4, 4, 8, 4)
    for x in (distinct((16, 8, 4)), strided, distinct((128, 4)), distinct((4, 128)).T, half, beams):
        table = long.to(x.dtype)
        expect_copy(answer.add_positions(x, table), x, "add_positions(x, table)")
        peak = peak_bytes(lambda x=x, table=table: answer.add_positions(x, table))
        size = x.nbytes
        expect_that(
            peak < size + size // 2,
            f"add_positions(x, table) of x of shape {tuple(x.shape)} holds more than the sums",
            yours=f"{peak} new bytes at once",
            wanted=f"about {size} bytes, those of the sums",
            likely="x or the table is copied first; + broadcasts a slice without a copy",
        )


def test_arguments_are_left_alone(answer):
    """No function changes its arguments."""
    prompt, x, table = distinct((2, 3)), distinct((2, 3, 4)), distinct((6, 4))
    with unchanged("share(prompt, 2)", prompt=prompt):
        answer.share(prompt, 2)
    with unchanged("own(prompt, 2)", prompt=prompt):
        answer.own(prompt, 2)
    with torch.no_grad(), unchanged("add_positions(x, table) under no_grad", x=x, table=table):
        answer.add_positions(x, table)


def test_gradients(answer, gen):
    """Gradients flow to every argument: those of the beams add up in the prompt."""
    for name, beams, sizes in [("share", 3, (2, 3)), ("share", 1, ()), ("own", 1, (2, 3)), ("own", 3, ())]:
        function = getattr(answer, name)
        expect_gradients(
            lambda p, f=function, n=beams: f(p.t(), n),
            [torch.randn(sizes, generator=gen)],
            lambda p, n=beams: stacked(p.t(), n),
            gen=gen,
            call=f"{name}(prompt.t(), {beams})",
            names="prompt",
            scale=3.0,
        )
    x, table = torch.randn(2, 2, 6, 4, generator=gen), torch.randn(6, 4, generator=gen)
    fixed = x[0, 0, :3]
    for given, names, fn, wanted in (
        ([x, table], "x table", answer.add_positions, plain_sum),
        (
            [table],
            "table",
            lambda t: answer.add_positions(fixed.to(t.dtype), t),
            lambda t: plain_sum(fixed, t),
        ),
    ):
        call = f"add_positions(x, table), where {names.replace(' ', ' and ')} requires gradients"
        expect_gradients(fn, given, wanted, gen=gen, call=call, names=names, scale=4.0)


def test_on_the_device_of_the_arguments(answer, device):
    """Views, copies and sums lie where the arguments do."""
    prompt, table = distinct((3, 4)), 1000 * distinct((6, 4))
    there = prompt.to(device)
    for name, arguments, wanted in (
        ("share", (there, 2), stacked(prompt, 2)),
        ("own", (there, 2), stacked(prompt, 2)),
        ("add_positions", (there, table.to(device)), plain_sum(prompt, table)),
    ):
        yours = getattr(answer, name)(*arguments)
        expect_that(is_simulated(yours), f"the result of {name} lies on another device than its arguments")
        expect_equal(on_host(yours), wanted, f"{name} on another device")


def oracle(answer, gen):
    prompt = torch.randn(2, 3, generator=gen, requires_grad=True)
    x = torch.randn(2, 4, 3, generator=gen, requires_grad=True)
    table = torch.randn(6, 3, generator=gen, requires_grad=True)
    outs = [answer.share(prompt, 4), answer.own(prompt, 3), answer.add_positions(x, table)]
    torch.autograd.backward(outs, [torch.randn(out.shape, generator=gen) for out in outs])
    one = answer.own(x.detach(), 1)
    one.zero_()
    return [[out.detach() for out in outs], prompt.grad, x.grad, table.grad, one, x.detach()]
