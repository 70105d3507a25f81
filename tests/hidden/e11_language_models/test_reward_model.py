"""What grades reward_model: the last real token, what is registered, the loss; left padding, dtypes."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    given,
    layer,
    registered,
    untouched,
    values,
)


class Backbone(nn.Module):
    """Features of each token, which depend on the token before as well."""

    def __init__(self, dim):
        super().__init__()
        self.embedding = nn.Embedding(9, dim)

    def forward(self, ids, mask):
        return seen(self.embedding.weight, ids)


def seen(weight, ids):
    features = weight[ids]
    return features + features.roll(1, 1) / 2


def read(state, ids, mask, pick=lambda features, mask: features[mask][-1], head=lambda rewards: rewards):
    """Row by row; what comes after `mask` is as people get it wrong."""
    features = seen(state["backbone.embedding.weight"], ids)
    picked = torch.stack([pick(*row) for row in zip(features, mask, strict=True)])
    return head(picked @ state["head.weight"].mT)[:, 0]


def rows(gen, *lengths, dim=4, before=False, behind=0):
    """A model, and rows of so many real tokens; `before` has padding in front of them, and some `behind`."""
    size, time = len(lengths), max(lengths) + behind
    state = {
        "backbone.embedding.weight": torch.randn(9, dim, generator=gen),
        "head.weight": torch.randn(1, dim, generator=gen),
    }
    place, length = torch.arange(time), torch.tensor(lengths)[:, None]
    first = time - behind - length if before else 0
    mask = (place >= first) & (place < first + length)
    ids = torch.randint(1, 9, (size, time), generator=gen).masked_fill(~mask, 0)
    return layer(Backbone(dim), dim, state=state)(ids, mask)


def compared(
    chosen,
    rejected,
    margin=0.0,
    sign=1.0,
    weight=1.0,
    loss=lambda x: -F.logsigmoid(x).mean(),
    right=lambda apart, margin: apart > 0,
):
    """The loss and the share; what comes after `margin` is as people get it wrong."""
    apart = chosen - rejected
    return loss(sign * apart - weight * margin), right(apart, margin).to(chosen.dtype).mean()


def pairs(gen, n, size=1.5, **options):
    return given(*size * torch.randn(2, n, generator=gen), **options)


RewardModel = Contract(
    "RewardModel(backbone, dim)(ids, mask)",
    reference=read,
    inputs=lambda gen: {
        "rows of different lengths": rows(gen, 3, 6, 1, 4),
        "a single row": rows(gen, 5, dim=3),
        "as many rows as tokens": rows(gen, 2, 4, 3, 4),
    },
    gradient="state",
    dims="batch",
    ulps=100,
    suspects={
        "the last position is read, padding or not: the last real token is asked for": partial(
            read, pick=lambda features, mask: features[-1]
        ),
        "the first token is read: the last one has seen all others": partial(
            read, pick=lambda features, mask: features[0]
        ),
        "it is the mean over real tokens: the last one is asked for": partial(
            read, pick=lambda features, mask: features[mask].mean(0)
        ),
    },
    job=[registered()],
    fine=[
        values(
            inputs=lambda gen: {
                "padding before the tokens": rows(gen, 2, 5, 4, before=True),
                "padding on both sides": rows(gen, 3, 5, 2, before=True, behind=2),
            },
            name="padding_before",
            title="Padding may come before the tokens as well.",
            suspects={
                "the number of real tokens is taken for the place of the last one": partial(
                    read, pick=lambda features, mask: features[mask.sum() - 1]
                )
            },
        ),
        dtypes(
            *(torch.bfloat16, torch.float16),
            ulps=16,
            name="half_precision",
            title="A model that is cast to half precision works in it.",
        ),
        untouched(),
        device(),
    ],
)
pairwise_loss = Contract(
    "pairwise_loss(chosen, rejected, margin)",
    reference=compared,
    use=lambda answer, *given, **options: tuples(*answer.pairwise_loss(*given, **options)),
    inputs=lambda gen: {
        "seven pairs": pairs(gen, 7),
        "a margin": pairs(gen, 9, margin=0.7),
        "a margin for each pair": pairs(gen, 5, margin=torch.rand(5, generator=gen) + 0.5),
        "a single pair": pairs(gen, 1, margin=0.25),
    },
    gradient="chosen rejected",
    ulps=100,
    suspects={
        "chosen and rejected are swapped": partial(compared, sign=-1.0),
        "the logarithm is missing": partial(compared, loss=lambda x: -x.sigmoid().mean()),
        "it is a sum over pairs: the mean is asked for": partial(
            compared, loss=lambda x: -F.logsigmoid(x).sum()
        ),
        "the mean is taken before the logarithm": partial(compared, loss=lambda x: -F.logsigmoid(x.mean())),
        "the margin is left out": partial(compared, weight=0.0),
        "the margin is added: it is taken off": partial(compared, weight=-1.0),
        "the margin counts in the share of right pairs": partial(
            compared, right=lambda apart, margin: apart > margin
        ),
        "the share is that of wrong pairs": partial(compared, right=lambda apart, margin: apart <= 0),
        "pairs of equal rewards are taken for right": partial(
            compared, right=lambda apart, margin: apart >= 0
        ),
    },
    fine=[
        values(
            inputs=lambda gen: {"rewards far apart": pairs(gen, 8, size=1000.0)},
            name="large_rewards",
            title="Rewards that differ by 1000 give a finite loss.",
        ),
        values(
            inputs=lambda gen: {
                "equal rewards": given(*torch.tensor([[1.0, 2.0, 0.5], [1.0, 2.0, 0.0]])),
                "a wide margin": pairs(gen, 20, margin=1.0),
            },
            name="share",
            title="Right pairs are those whose chosen answer has more reward, whatever the margin.",
        ),
        dtypes(torch.float64),
        untouched(),
        device(),
    ],
)


def tuples(loss, right):
    """What came back; the share may be a number."""
    return loss, torch.as_tensor(right).to(loss.dtype)
