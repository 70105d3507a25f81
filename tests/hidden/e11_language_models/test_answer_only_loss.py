"""What grades answer_only_loss: ids, labels, the mean; no label, first tokens, empty chats, devices."""

from functools import partial

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    errors,
    flat_cost,
    given,
    strides,
    untouched,
    values,
)


def both(answer, *args):
    """ids and labels, as tensors whether they are lists or tensors."""
    found = answer.chat_labels(*args)
    return tuple(torch.tensor(part, dtype=torch.int64) if isinstance(part, list) else part for part in found)


def labelled(
    turns, headers, end, *, learned=("content", "end"), roles=("assistant",), ends=None, mask=-100, move=0
):
    """Token by token, each with what it is; or with a mistake."""
    tokens = []
    for number, (role, content) in enumerate(turns):
        counts = role in roles
        if learned == "last":
            counts = counts and all(other != role for other, _ in turns[number + 1 :])
        kinds = ("content", "end") if learned == "last" else learned
        tokens += [(token, counts and "header" in kinds) for token in headers[role]]
        tokens += [(token, counts and "content" in kinds) for token in content]
        if ends is None or role in ends:
            tokens.append((end, counts and "end" in kinds))
    ids = torch.tensor([token for token, _ in tokens], dtype=torch.int64)
    labels = [token if counts else mask for token, counts in tokens]
    labels = labels[move:] + [mask] * move
    return ids, torch.tensor(labels, dtype=torch.int64)


def exact(logits, labels, ahead=1, reduce=lambda losses, rows, labels: losses.mean()):
    """Token by token, `ahead` of the logits; or with a mistake."""
    losses, rows = [], []
    for row, (about, wanted) in enumerate(zip(logits, labels.tolist(), strict=True)):
        for t, scores in enumerate(about):
            if 0 <= t + ahead < len(wanted) and wanted[t + ahead] != -100:
                losses.append(-scores.log_softmax(0)[wanted[t + ahead]])
                rows.append(row)
    return reduce(torch.stack(losses), torch.tensor(rows), labels) if losses else logits.sum() * 0


def by_rows(losses, rows, labels):
    return torch.stack([losses[rows == row].mean() for row in rows.unique()]).mean()


def chat(gen, *roles):
    """Turns of drawn content, under drawn headers of unequal lengths."""
    draw = lambda count: torch.randint(10, 1000, (count,), generator=gen).tolist()  # noqa: E731
    headers = {"system": draw(1), "user": draw(2), "assistant": draw(3)}
    turns = [(role, draw(3 + (7 * i) % 4)) for i, role in enumerate(roles)]
    return given(turns, headers, 7)


def batch(gen, *rows, vocab=5):
    """Logits, and labels: a text for each row, with x where a token has one."""
    time = max(map(len, rows))
    counts = torch.tensor([[mark == "x" for mark in row.ljust(time)] for row in rows])
    labels = torch.randint(vocab, counts.shape, generator=gen)
    logits = 2 * torch.randn(*counts.shape, vocab, generator=gen)
    return given(logits, labels.masked_fill(~counts, -100))


ONE = ("user", "assistant")
chat_labels = Contract(
    "chat_labels(turns, headers, end)",
    reference=labelled,
    use=both,
    dims=("token", "token"),
    inputs=lambda gen: {
        "a question and an answer": chat(gen, *ONE),
        "two questions and two answers": chat(gen, *ONE, *ONE),
        "a system prompt first": chat(gen, "system", *ONE),
        "a question without an answer at the end": chat(gen, *ONE, "user"),
        "an answer first": chat(gen, "assistant", *ONE),
    },
    suspects={
        "the assistant's end-of-turn has no label: the model would never learn to stop": partial(
            labelled, learned=("content",)
        ),
        "the assistant's header has labels: it is told, not said": partial(
            labelled, learned=("header", "content", "end")
        ),
        "all tokens have labels: only what the assistant says is to": partial(
            labelled, learned=("header", "content", "end"), roles=("system", "user", "assistant")
        ),
        "what others say has labels: only what the assistant says is to": partial(
            labelled, roles=("system", "user", "assistant")
        ),
        "the user's turns have the labels: the assistant's are to": partial(labelled, roles=("user",)),
        "only the last answer has labels: all answers are to": partial(labelled, learned="last"),
        "only the assistant's turns end with end-of-turn: all do": partial(labelled, ends=("assistant",)),
        "the end-of-turn token is missing": partial(labelled, ends=()),
        "labels are shifted already: answer_loss does that": partial(labelled, move=1),
        "labels that do not count are 0: they are -100": partial(labelled, mask=0),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "no turn": given([], {"user": [1], "assistant": [2]}, 3),
                "an answer without content": given(
                    [("user", []), ("assistant", [])], {"user": [1], "assistant": [2]}, 3
                ),
            },
            name="empty_chats",
            title="Without a turn ids and labels are empty and int64; content may be empty as well.",
        ),
        errors(
            (KeyError, ValueError),
            lambda gen: [given([("user", [4]), ("tool", [5])], {"user": [1], "assistant": [2]}, 3)],
            title="A role without a header raises KeyError.",
        ),
    ],
)

answer_loss = Contract(
    "answer_loss(logits, labels)",
    reference=exact,
    gradient="logits",
    inputs=lambda gen: {
        "one chat": batch(gen, "---xxx"),
        "two chats of different lengths": batch(gen, "--xxxxx", "---x"),
        "two answers in a chat": batch(gen, "--xx---xxx", "----xx"),
        "as many tokens as the vocabulary has": batch(gen, "--xxx", "-xx--", "----x"),
        "an answer up to the last token": batch(gen, "-xx", "--x"),
    },
    suspects={
        "logits and labels are not shifted: the logits at t are about token t + 1": partial(exact, ahead=0),
        "they are shifted the wrong way: the logits at t are about token t + 1": partial(exact, ahead=-1),
        "they are shifted by two: by one is asked for": partial(exact, ahead=2),
        "it is a mean of the rows' means: each label weighs the same": partial(exact, reduce=by_rows),
        "it is the sum: the mean is asked for": partial(
            exact, reduce=lambda losses, rows, labels: losses.sum()
        ),
        "it is divided by the number of chats: divide by the number of labels that count": partial(
            exact, reduce=lambda losses, rows, labels: losses.sum() / len(labels)
        ),
        "tokens without a label count in the mean: divide by the number of labels that count": partial(
            exact, reduce=lambda losses, rows, labels: losses.sum() / labels[:, 1:].numel()
        ),
    },
    job=[
        flat_cost(
            lambda n: (torch.zeros(n, n, 5), torch.ones(n, n, dtype=torch.int64)), over="rows and tokens"
        )
    ],
    fine=[
        values(
            inputs=lambda gen: {"a label of the first token": batch(gen, "x-xx", "xx--")},
            suspects={
                "the first label counts with the last logits: roll moves it to the end": lambda x, labels: (
                    exact(x, labels.roll(-1, 1), ahead=0)
                )
            },
            name="first_token",
            title="A label of the first token does not count.",
        ),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        strides(),
        untouched(),
        device(),
    ],
)


@pytest.mark.fine
@pytest.mark.of("answer_loss")
@pytest.mark.parametrize("sizes", [(2, 4, 3), (2, 1, 3), (0, 4, 3)], ids=str)
def test_no_label(answer, sizes):
    """Without a label that counts the loss is 0, and so is the gradient."""
    logits = torch.ones(sizes, requires_grad=True)
    loss = answer.answer_loss(logits, torch.full(sizes[:2], -100))
    call = f"answer_loss of logits {sizes}, where no label counts"
    expect_close(loss.detach(), torch.tensor(0.0), call)
    expect_that(loss.requires_grad, f"{call} is a constant: its backward raises", yours=loss)
    loss.backward()
    expect_equal(logits.grad, torch.zeros(sizes), f"the gradient for logits through {call}")
