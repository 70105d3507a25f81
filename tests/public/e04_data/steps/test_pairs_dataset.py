"""The suite of pairs_dataset."""

import torch

from grader.checks import expect_close, expect_equal, expect_that

ROWS, COLUMNS = (4, 7, 2), (3, 2, 5)
PAIR = "an item is two things, a row and its label: `return a, b` gives both"


def draw(gen, rows, columns):
    return torch.randn(rows, columns, generator=gen), torch.randint(100, (rows,), generator=gen)


def expect_item(data, features, labels, i):
    pair = data[i]
    is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
    expect_that(is_pair, f"data[{i}] is no pair of features and a label", yours=pair, likely=PAIR)
    suspects = {
        "the label comes second, the features first": lambda: labels[i],
        "this is column i: the items are rows": lambda: features[:, i],
    }
    expect_close(pair[0], features[i], f"data[{i}][0]", dims="columns", suspects=suspects)
    label = torch.as_tensor(pair[1])
    expect_that(label.numel() == 1, f"data[{i}][1] is not one label, but {label.numel()}", yours=pair[1])
    expect_equal(int(label), int(labels[i]), f"data[{i}][1], the label")


def test_length(answer, gen):
    """The length is the number of rows."""
    for rows, columns in zip(ROWS, COLUMNS, strict=True):
        suspects = {
            "this is the number of columns": lambda columns=columns: columns,
            "all numbers are counted, and not the rows": lambda n=rows * columns: n,
        }
        data = answer.Pairs(*draw(gen, rows, columns))
        expect_equal(len(data), rows, f"len(data) of {rows} rows with {columns} columns", suspects=suspects)


def test_items(answer, gen):
    """Item i is row i of the features, and its label."""
    for rows, columns in zip(ROWS, COLUMNS, strict=True):
        features, labels = draw(gen, rows, columns)
        data = answer.Pairs(features.clone(), labels.clone())
        for i in range(rows):
            expect_item(data, features, labels, i)


def oracle(answer, gen):
    cases = {}
    for rows, columns in zip(ROWS, COLUMNS, strict=True):
        data = answer.Pairs(*draw(gen, rows, columns))
        cases[f"{rows} rows"] = [[x, int(y)] for x, y in (data[i] for i in range(len(data)))]
    return cases
