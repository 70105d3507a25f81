"""What grades best_and_confidence: index and value, shapes, gradients, close and large logits, dtypes."""

import torch

from grader.checks.contract import Contract, device, dtypes, flat_cost, untouched, values


def draw(gen, *sizes):
    """Logits whose largest one in each row stands clear of the others."""
    logits = torch.randn(sizes, generator=gen)
    winner = torch.randint(sizes[-1], (*sizes[:-1], 1), generator=gen)
    return logits.scatter(-1, winner, logits.amax(-1, keepdim=True) + 0.5)


def of_sizes(*several):
    return lambda gen: [draw(gen, *sizes) for sizes in several]


def images(gen):
    return {
        "two texts": draw(gen, 2, 4, 6),
        "eight images": draw(gen, 8, 5),
        "a single image": draw(gen, 10),
        "a batch of one": draw(gen, 1, 7),
    }


def of_the_best(logits, scores):
    """By comparison with the largest logit: its number, and its score."""
    is_best = logits == logits.amax(-1, keepdim=True)
    return (is_best * torch.arange(logits.shape[-1])).sum(-1), scores.masked_fill(~is_best, 0.0).sum(-1)


def close_logits(gen):
    """The largest of each row stands out, but not after softmax."""
    tiny, low = torch.full((4, 5), 1e-20), torch.full((2, 5), -30.0)
    tiny[range(4), [3, 1, 4, 2]] = 2e-20
    low[range(2), [3, 1]] += 4e-6
    return {"tiny logits": tiny, "logits near -30": low}


def rows(*several):
    return lambda gen: [torch.tensor(several)]


contract = Contract(
    "best_and_confidence(logits)",
    reference=lambda logits: of_the_best(logits, logits.softmax(-1)),
    inputs=images,
    gradient="logits",
    suspects={
        "max returns values first, then indices": lambda logits: of_the_best(logits, logits.softmax(-1))[
            ::-1
        ],
        "softmax runs over the first dimension: dim=-1 is the classes": lambda logits: of_the_best(
            logits, logits.softmax(0)
        ),
        "dim=1 is the last of a matrix alone: dim=-1 is always the classes": lambda logits: (
            logits.argmax(1),
            logits.softmax(1).amax(1),
        ),
        "one class for all: argmax without dim= looks at all logits": lambda logits: (
            (logits.argmax() % logits.shape[-1]).expand(logits.shape[:-1]),
            of_the_best(logits, logits.softmax(-1))[1],
        ),
        "the largest logit itself: softmax makes a probability of it": lambda logits: of_the_best(
            logits, logits
        ),
        "sigmoid takes each class by itself: softmax is over all of them": lambda logits: of_the_best(
            logits, logits.sigmoid()
        ),
    },
    job=[
        values(
            inputs=of_sizes((4, 3), (3, 5), (4, 4)),
            title="best is the number of the largest logit, confidence its softmax over the classes.",
        ),
        values(
            inputs=of_sizes((2, 3, 5), (5,), (2, 3, 2, 4)),
            name="any_dimensions",
            title="Classes lie along the last dimension, whatever stands before it, also nothing.",
        ),
        values(
            inputs=of_sizes((1, 4), (4, 1), (3, 1, 4)),
            name="sizes_of_one",
            title="A batch of one and a single class keep their dimensions.",
        ),
        flat_cost(lambda n: torch.arange(n * n * 3.0).view(n, n, 3), over="batch"),
    ],
    fine=[
        values(
            inputs=close_logits,
            name="close_logits",
            title="best is decided by the logits, also where probabilities round to the same number.",
        ),
        values(
            inputs=rows([1e4, 0.0, 0.0], [-1e4, -2e4, -2e4]),
            name="large_logits",
            title="Large logits, of either sign, give finite probabilities.",
        ),
        values(
            inputs=rows([1000.0, 996.0, 996.0], [-1000.0, -1000.5, -1001.0]),
            name="digits",
            title="Logits near 1000 cost the confidence none of its digits.",
        ),
        dtypes(torch.float64, torch.float16, torch.bfloat16, title="confidence has the dtype of logits."),
        untouched(),
        device(),
    ],
)
