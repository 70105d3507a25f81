"""The suite of share_right."""

import torch

from grader.checks.contract import Contract

PHOTOS = (torch.tensor([2, 0, 1, 1]), torch.tensor([2, 0, 0, 1]))


def some(gen, n):
    labels = torch.randint(3, (n,), generator=gen)
    return torch.where(torch.rand(n, generator=gen) < 0.6, labels, 0), labels


def photos(gen):
    labels = torch.randint(9, (5,), generator=gen)
    drawn = {f"{n} photos": some(gen, n) for n in (17, 100, 250)}
    return {**drawn, "all right": (labels.clone(), labels), "none right": (labels + 1, labels)}


share = Contract(
    "share_right(guesses, labels)",
    reference=lambda guesses, labels: sum((guesses == labels).tolist()) / len(labels),
    example=(PHOTOS, 0.75),
    inputs=photos,
    suspects={
        "bools have no mean: `.float()` makes numbers of them": lambda a, b: (a == b).mean(),
        "the right ones are counted, but not divided": lambda a, b: float((a == b).sum()),
        "one for each photo: take the mean": lambda a, b: a == b,
    },
)
every = Contract(
    "all_right(guesses, labels)",
    reference=lambda guesses, labels: guesses.tolist() == labels.tolist(),
    example=(PHOTOS, False),
    inputs=photos,
    suspects={"one wrong guess is enough for False: all have to be right": lambda a, b: bool((a == b).any())},
)


def oracle(answer, gen):
    labels = torch.randint(9, (12, 5), generator=gen)
    some_wrong = labels + (torch.rand(12, 1, generator=gen) < 0.5) * torch.tensor([0, 0, 1, 0, 0])
    shares = {f"share_right of {n} photos": some(gen, n) for n in (17, 100, 250)}
    return {
        **{about: lambda pair=pair: float(answer.share_right(*pair)) for about, pair in shares.items()},
        "all_right of twelve sets of photos": lambda: [
            bool(answer.all_right(guesses, right)) for guesses, right in zip(some_wrong, labels, strict=True)
        ],
    }
