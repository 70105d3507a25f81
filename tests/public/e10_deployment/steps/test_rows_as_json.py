"""The suite of rows_as_json."""

import json

import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def run(answer, weight, text, features):
    """What the reply holds; "some text" stands for the words of an error."""
    model = nn.Linear(*weight.shape[::-1], bias=False)
    model.weight = nn.Parameter(weight.clone())
    reply = answer.rows_as_json(model, text, features)
    expect_that(isinstance(reply, str), "the reply is no text: json.dumps makes one", yours=reply)
    found = json.loads(reply)
    if isinstance(found, dict) and isinstance(found.get("error"), str) and found["error"]:
        found["error"] = "some text"
    return found


def reply(weight, text, features, looks=all):
    rows = json.loads(text)["inputs"]
    if not looks(len(row) == features for row in rows):
        return {"error": "some text"}
    return {"outputs": (torch.tensor(rows, dtype=torch.float64) @ weight.T).tolist()}


def draw(gen):
    cases = {}
    for rows, features in [(1, 2), (3, 4), (2, 1)]:
        text = json.dumps({"inputs": torch.randn(rows, features, generator=gen).tolist()})
        cases[f"{rows} rows of {features} numbers"] = given(
            torch.randn(2, features, generator=gen), text, features
        )
    for about, rows in {"a row too short": [[1, 2, 3], [4, 5]], "all rows too long": [[1, 2, 3, 4]]}.items():
        text = json.dumps({"inputs": rows})
        cases[f"with {about}"] = given(torch.randn(2, 3, generator=gen), text, 3)
    return cases


def requests(gen, spoil):
    """Eight requests, and one in two of them is spoiled."""
    rows = torch.randn(8, 3, 3, generator=gen).tolist()
    return [spoil(one) if torch.rand((), generator=gen) < 0.5 else one for one in rows]


def oracle(answer, gen):
    spoiled = {
        "eight requests, some with a row too short": lambda rows: [*rows[:-1], rows[-1][:2]],
        "eight requests, some with all rows too long": lambda rows: [[*row, 1.0] for row in rows],
    }

    def replies(gen, spoil):
        weight, texts = torch.randn(2, 3, generator=gen), requests(gen, spoil)
        return [run(answer, weight, json.dumps({"inputs": rows}), 3) for rows in texts]

    drawn = [(about, held) for about, held in draw(gen).items() if not about.startswith("with")]
    return {
        **{about: lambda held=held: run(answer, *held.args) for about, held in drawn},
        **{about: lambda gen, spoil=spoil: replies(gen, spoil) for about, spoil in spoiled.items()},
    }


def tensor_first(_weight, text, _features):
    torch.tensor(json.loads(text)["inputs"], dtype=torch.float32)


def whole_numbers(weight, text, _features):
    nn.Linear(*weight.shape[::-1], bias=False)(torch.tensor(json.loads(text)["inputs"]))


def model_first(weight, text, _features):
    nn.Linear(*weight.shape[::-1], bias=False)(torch.tensor(json.loads(text)["inputs"], dtype=torch.float32))


def tensor_in_json(_weight, _text, _features):
    json.dumps(torch.ones(1))


REQUESTS = ['{"inputs": [[1, 2], [3, 4.5]]}', '{"inputs": [[1, 2], [3]]}']

contract = Contract(
    "rows_as_json(model, text, features)",
    reference=reply,
    example=[
        (given(torch.ones(1, 2), REQUESTS[0], 2), {"outputs": [[3.0], [7.5]]}),
        (given(torch.ones(1, 2), REQUESTS[1], 2), {"error": "some text"}),
    ],
    inputs=draw,
    suspects={
        "look at the length of every row before you make a tensor of them": tensor_first,
        "look at the length of every row before you ask the model": model_first,
        "whole numbers make an int64 tensor: ask for dtype=torch.float32": whole_numbers,
        "JSON knows lists and no tensors: `.tolist()` first": tensor_in_json,
    },
    use=run,
)
