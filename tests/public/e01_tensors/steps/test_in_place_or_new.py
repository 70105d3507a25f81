"""The suite of in_place_or_new."""

import torch

from grader.checks import expect_close
from grader.checks.contract import Contract, untouched


def counters(gen):
    table = torch.rand(4, 3, generator=gen)
    return {
        "two numbers": torch.rand(2, generator=gen),
        "a row of a table": table[1],
        "a table": table.clone(),
    }


new = Contract(
    "plus_one(x)",
    reference=lambda x: torch.tensor(1.0, dtype=x.dtype) + x,
    example=([1.0, 2.0], [2.0, 3.0]),
    inputs=counters,
    suspects={"2 is added, and not 1": lambda x: x + 2},
    job=[untouched(title="x is the same afterwards.")],
)


def test_add_one(answer, gen):
    """After add_one(x) each number of x itself is larger by 1."""
    for about, x in counters(gen).items():
        before = x.clone()
        answer.add_one(x)
        suspects = {"x is as before: `x + 1` is a new tensor, also where it is called x": before.clone}
        expect_close(x, before + 1, f"x after add_one(x), {about}", suspects=suspects)


def oracle(answer, gen):
    found = {}
    for about, x in counters(gen).items():
        new = answer.plus_one(x.clone())
        answer.add_one(x)
        found[about] = {"plus_one(x)": new, "x after add_one(x)": x}
    return found
