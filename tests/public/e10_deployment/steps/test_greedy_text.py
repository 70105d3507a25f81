"""The suite of greedy_text."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given


class Counts(nn.Module):
    """Logits by what was said so far: each token votes for what comes next, and the last one most."""

    def __init__(self, votes):
        super().__init__()
        self.votes = votes

    def forward(self, ids):
        said = F.one_hot(ids, len(self.votes)).to(self.votes.dtype)
        return (2 * said + said.cumsum(1)) @ self.votes


def continued(votes, ids, n, place=-1, grow=True, whole=True):
    """Token by token."""
    model, first = Counts(votes), ids
    for _ in range(n):
        following = torch.stack([row[place].argmax() for row in model(ids if grow else first)])
        ids = torch.cat([ids, following[:, None]], 1)
    return ids if whole else ids[:, first.shape[1] :]


def draw(gen):
    return {
        f"{batch} texts of {time} tokens": given(
            torch.randn(20, 20, generator=gen), torch.randint(20, (batch, time), generator=gen), n
        )
        for batch, time, n in [(1, 2, 6), (3, 4, 5), (2, 1, 8)]
    }


contract = Contract(
    "greedy_text(model, ids, n)",
    reference=continued,
    example=(given(torch.eye(9).roll(1, 1), torch.tensor([[3, 4]]), 3), [[3, 4, 5, 6, 7]]),
    inputs=draw,
    suspects={
        "the model is asked about the first text each time: ask about the text that has grown": (
            lambda *given: continued(*given, grow=False)
        ),
        "these are the new tokens alone: return the whole text": lambda *given: continued(
            *given, whole=False
        ),
        "this follows the first token: what the model says after the last one is [:, -1]": (
            lambda *given: continued(*given, place=0)
        ),
        "the new token has lost a dim: argmax with keepdim=True makes (batch, 1)": (
            lambda votes, ids, n: torch.cat([ids, ids[:, 0]], dim=1)
        ),
        "one token was added, and n are asked for": lambda votes, ids, n: continued(votes, ids, 1),
    },
    use=lambda answer, votes, ids, n: answer.greedy_text(Counts(votes), ids, n),
)
