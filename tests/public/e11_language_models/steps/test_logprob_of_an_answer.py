"""The suite of logprob_of_an_answer."""

import math

import torch

from grader.checks.contract import Contract, given

LOGITS = torch.tensor([[[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]])


def of_tokens(logits, ids):
    chances = logits.exp() / logits.exp().sum(-1, keepdim=True)
    rows = [[chances[b, t, i] for t, i in enumerate(text)] for b, text in enumerate(ids.tolist())]
    return torch.stack([torch.stack(row) for row in rows])


def summed(logits, ids, mask):
    return (of_tokens(logits, ids).log() * mask).sum(1)


def draw(gen):
    found = {}
    for batch, time, vocab in [(2, 5, 7), (4, 4, 4), (3, 6, 5)]:
        logits = torch.randn(batch, time, vocab, generator=gen)
        ids = torch.randint(vocab, (batch, time), generator=gen)
        ends = torch.arange(batch).unsqueeze(1) % 3 + 2
        mask = (torch.arange(time) >= 1) & (torch.arange(time) <= ends)
        found[f"{batch} texts of {time} tokens"] = given(logits, ids, mask)
    return found


contract = Contract(
    "logprob_of_an_answer(logits, ids, mask)",
    reference=summed,
    example=(
        given(LOGITS, torch.tensor([[1, 0, 0]]), torch.tensor([[False, True, True]])),
        torch.tensor([2 - math.log(1 + math.exp(2)) - math.log(1 + math.e)]),
    ),
    inputs=draw,
    dims="text",
    suspects={
        "the mask is left out: the question counts as well": lambda logits, ids, mask: summed(
            logits, ids, torch.ones_like(mask)
        ),
        "a mean over the answer: a sum is meant": lambda logits, ids, mask: (
            summed(logits, ids, mask) / mask.sum(1)
        ),
        "logits are added: log_softmax makes log-probabilities of them": lambda logits, ids, mask: (
            logits.gather(-1, ids.unsqueeze(-1)).squeeze(-1) * mask
        ).sum(1),
        "probabilities are added: their logarithms are meant": lambda logits, ids, mask: (
            of_tokens(logits, ids) * mask
        ).sum(1),
        "one number for the whole batch: each text has its own": lambda logits, ids, mask: summed(
            logits, ids, mask
        ).sum(),
        "the question counts, and the answer does not": lambda logits, ids, mask: summed(logits, ids, ~mask),
        "the sign is turned: a logarithm of a probability is below 0": lambda logits, ids, mask: (
            -summed(logits, ids, mask)
        ),
    },
)
