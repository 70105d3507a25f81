"""The suite of item_with_a_transform."""

import torch

from grader.checks import expect_close, expect_equal, expect_that


def pairs(gen, rows):
    return [(torch.randn(3, generator=gen), int(torch.randint(100, (), generator=gen))) for _ in range(rows)]


def tripled(x):
    return 3 * x + 1


def test_items(answer, gen):
    """Every item is transformed, and its label is not."""
    for rows in (2, 5):
        given = pairs(gen, rows)
        data = answer.Transformed(given, tripled)
        expect_equal(len(data), rows, f"len(data) of {rows} items")
        for i, (x, y) in enumerate(given):
            suspects = {
                "transform was not called": lambda x=x: x,
                "this is the first number alone: an item is a pair, (x, y)": lambda x=x: tripled(x)[0],
                "transform was called twice": lambda x=x: tripled(tripled(x)),
            }
            expect_close(data[i][0], tripled(x), f"data[{i}][0]", suspects=suspects)
            expect_equal(
                data[i][1],
                y,
                f"data[{i}][1], the label",
                suspects={"the label was transformed as well": lambda y=y: tripled(y)},
            )


def test_each_time(answer, gen):
    """transform runs each time an item is asked for, and not before."""
    runs = []

    def noisy(x):
        runs.append(x)
        return x + len(runs)

    data = answer.Transformed(pairs(gen, 3), noisy)
    expect_that(
        not runs,
        "transform ran before an item was asked for: call it in __getitem__",
        yours=f"{len(runs)} times",
    )
    one, two = data[1][0], data[1][0]
    told = "data[1] is the same twice, though the transform adds other numbers each time"
    expect_that(not torch.equal(one, two), told)


def oracle(answer, gen):
    cases = {}
    for rows in (2, 3, 4):
        data = answer.Transformed(pairs(gen, rows), tripled)
        cases[f"{rows} items"] = [list(data[i]) for i in range(len(data))]
    return cases
