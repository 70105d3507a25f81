"""The suite of token_vectors."""

import torch
from torch.nn import functional as F

from grader.checks import expect_equal
from grader.checks.contract import Contract, given


def use(answer, ids, vectors):
    texts = answer.TextVectors(*vectors.shape)
    with torch.no_grad():
        for p in texts.parameters():
            p.copy_(vectors)
    return texts(ids)


def test_learned(answer):
    """The vectors are the one parameter of the module, a row for each token."""
    shapes = [list(p.shape) for p in answer.TextVectors(tokens=10, size=2).parameters()]
    suspects = {"the sizes change places: first how many tokens, then how long a vector": lambda: [[2, 10]]}
    call = "the shapes of the parameters of TextVectors(tokens=10, size=2)"
    expect_equal(shapes, [[10, 2]], call, suspects=suspects)


def calls(gen):
    sizes = [(2, 3, 4), (3, 3, 3), (1, 5, 2)]  # of 3 × 3 × 3, no dimension is missed
    return {
        f"{n} texts of {t} tokens": given(
            torch.randint(9, (n, t), generator=gen), torch.randn(9, size, generator=gen)
        )
        for n, t, size in sizes
    }


contract = Contract(
    "texts(ids, vectors)",
    reference=lambda ids, vectors: torch.stack([sum(vectors[i] for i in text) / len(text) for text in ids]),
    example=(
        ([[5, 7], [5, 5]], [[0.0, 0.0]] * 5 + [[1.0, 2.0], [0.0, 0.0], [3.0, 6.0]] + [[0.0, 0.0]] * 2),
        [[2.0, 4.0], [1.0, 2.0]],
    ),
    inputs=calls,
    use=use,
    suspects={
        "the mean is over the texts: each text has one of its own": lambda ids, vectors: F.embedding(
            ids, vectors
        ).mean(0),
        "the mean is over the numbers of each vector, not over the tokens": lambda ids, vectors: F.embedding(
            ids, vectors
        ).mean(2),
        "the vectors are added up: their mean is wanted": lambda ids, vectors: F.embedding(ids, vectors).sum(
            1
        ),
        "the vectors of the tokens come out one by one: take their mean": F.embedding,
    },
)
