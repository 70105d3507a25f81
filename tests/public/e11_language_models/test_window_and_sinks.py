"""The worked examples of window_and_sinks."""

import torch

from grader.checks.contract import Contract, given


def model(ids):
    scores = torch.arange(1.0, 1 + ids.shape[1]).log()
    return torch.stack([0 * scores, scores], -1).unsqueeze(0)


def number(answer, *args):
    """The perplexity as a tensor, whether it is a float or one already."""
    return torch.as_tensor(answer.perplexity(*args), dtype=torch.float32)


IDS, X = torch.ones(1, 5, dtype=torch.int64), torch.arange(8.0).view(1, 1, 8, 1)
KEPT = torch.tensor([0.0, 5.0, 6.0, 7.0]).view(1, 1, 4, 1)

perplexity = Contract(
    "perplexity(model, ids, context, stride)",
    use=number,
    example=[
        (given(model, IDS, 3, 1), torch.tensor(6.75**0.25)),
        (given(model, IDS, 3, 2), torch.tensor(9**0.25)),
    ],
)
keep = Contract(
    "keep(keys, values, sinks, window)",
    dims=("batch head entry feature", "batch head entry feature", "entry"),
    example=(given(X, -X, 1, 3), (KEPT, -KEPT, torch.arange(4))),
)
