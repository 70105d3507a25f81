"""What grades expand_not_repeat: views, copies, bytes; strides, dtypes, gradients, devices."""

import pytest
import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    gradients,
    own_memory,
    strides,
    untouched,
    values,
    views,
)


def stacked(prompt, beams):
    return torch.stack([prompt] * beams) if beams else prompt.new_empty((0, *prompt.shape))


ROWS = {
    "each row is repeated by itself, not the prompt as a whole": lambda prompt, beams: (
        prompt.repeat_interleave(beams, 0).view(beams, *prompt.shape)
    )
}


def prompts(gen):
    return {
        "a prompt of three tokens": (torch.randn(3, 4, generator=gen), 2),
        "a prompt without dim": (torch.randn(5, generator=gen), 3),
        "a batch of prompts": (torch.randn(2, 3, 4, generator=gen), 4),
        "a single number": (torch.randn((), generator=gen), 2),
    }


def transposed(gen):
    return {"a transposed prompt": (torch.randn(4, 3, generator=gen).T, 3)}


def no_beams(gen):
    return {"no beams": (torch.randn(2, 3, generator=gen).double(), 0)}


EMPTY = empties(inputs=no_beams, title="No beams make an empty result, in the prompt's dtype.")

share = Contract(
    "share(prompt, beams)",
    reference=stacked,
    inputs=prompts,
    suspects=ROWS,
    job=[values(title="Every beam holds the whole prompt, whatever its shape."), views()],
    fine=[
        views(
            inputs=transposed, name="view_of_transposed", title="A transposed prompt is shared as it lies."
        ),
        EMPTY,
    ],
)

own = Contract(
    "own(prompt, beams)",
    reference=stacked,
    inputs=prompts,
    suspects=ROWS,
    job=[values(title="Every beam holds the whole prompt, whatever its shape.")],
    fine=[
        own_memory(
            inputs=lambda gen: {"a single beam": (torch.randn(2, 3, generator=gen), 1)},
            name="single_beam",
            title="A single beam has memory of its own, too.",
        ),
        dtypes(torch.int64, torch.float64, torch.bool),
        strides(),
        EMPTY,
        gradients("prompt"),
        device(),
    ],
)


def written(answer, prompt, beams):
    """The beams and the prompt after the first beam has written."""
    owned = answer.own(prompt, beams)
    owned[0] = -1.7
    return owned, prompt


def written_apart(prompt, beams):
    return torch.stack([torch.full_like(prompt, -1.7)] + [prompt] * (beams - 1)), prompt


first_write = Contract(
    "own(prompt, beams)",
    use=written,
    reference=written_apart,
    inputs=lambda gen: {"three beams after the first has written": (torch.randn(2, 4, generator=gen), 3)},
    suspects={
        "all beams are one memory, which the first has written: a copy each": lambda prompt, beams: (
            torch.full((beams, *prompt.shape), -1.7),
            prompt,
        ),
        "the beams lie in the prompt's memory, which the first has written": lambda prompt, beams: (
            torch.full((beams, *prompt.shape), -1.7),
            torch.full(prompt.shape, -1.7),
        ),
    },
    job=[values(title="What one beam writes reaches neither another beam nor the prompt.")],
)


def each_sequence(x, table):
    return x + table[: x.shape[-2]].expand(x.shape)


def sequences(gen):
    return {
        "three sequences": (torch.randn(3, 2, 4, generator=gen), torch.randn(6, 4, generator=gen)),
        "a single sequence": (torch.randn(4, 3, generator=gen), torch.randn(5, 3, generator=gen)),
        "beams of sequences": (torch.randn(2, 3, 4, 2, generator=gen), torch.randn(4, 2, generator=gen)),
    }


add_positions = Contract(
    "add_positions(x, table)",
    reference=each_sequence,
    inputs=sequences,
    suspects={"these are the last rows of the table": lambda x, table: x + table[-x.shape[-2] :]},
    job=[values(title="Row t of the table is added at position t of every sequence.")],
    fine=[gradients("x table"), untouched()],
)


def expect_sums_only(answer, x, told):
    table = torch.ones(300, x.shape[-1], dtype=x.dtype)
    peak = peak_bytes(lambda: answer.add_positions(x, table))
    expect_that(
        peak < 1.5 * x.nbytes,
        f"add_positions(x, table) of {told} x of shape {tuple(x.shape)} holds more than the sums",
        yours=f"{peak} new bytes at once",
        wanted=f"about {x.nbytes} bytes, those of the sums",
        likely="x or the table is copied first; + broadcasts a slice without a copy",
    )


def test_nothing_but_the_sums(answer):
    """`add_positions` makes the sums, and nothing else of their size."""
    expect_sums_only(answer, torch.zeros(16, 8, 4), "a")


@pytest.mark.fine
def test_transposed_sequences_are_not_copied(answer):
    """Transposed and expanded sequences are added to as they lie."""
    expect_sums_only(answer, torch.zeros(8, 16, 4).transpose(0, 1), "a transposed")
    expect_sums_only(answer, torch.zeros(4, 1, 8, 4).expand(4, 4, 8, 4), "an expanded")


@pytest.mark.fine
def test_owning_copies_once(answer):
    """`own` makes the beams and nothing beside them."""
    for prompt in (torch.zeros(8, 16), torch.zeros(16, 8).T):
        peak = peak_bytes(lambda prompt=prompt: answer.own(prompt, 5))
        expect_that(
            peak <= 5 * prompt.nbytes,
            "own(prompt, 5) copies more than once",
            yours=f"{peak} new bytes at once",
            wanted=f"{5 * prompt.nbytes} bytes: each number once per beam",
        )


def oracle(answer, gen):
    """Each case sees a write, without which the start has the right numbers."""

    def shared(prompt, beams):
        found = answer.share(prompt, beams)
        prompt += 1.0
        return found

    def owned(x):
        found = answer.own(x, 2)
        found[0] = -1.7
        return found

    found = {}
    for about, (prompt, beams) in prompts(gen).items():
        found[f"{about}, changed after it was shared"] = lambda prompt=prompt, beams=beams: shared(
            prompt, beams
        )
    for about, (x, table) in sequences(gen).items():
        found[f"{about}, of which one beam has written"] = lambda x=x: owned(x)
        found[f"{about}, with positions"] = lambda x=x, table=table: answer.add_positions(owned(x), table)
    return found
