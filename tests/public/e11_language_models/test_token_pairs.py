"""The worked example of token_pairs."""

import torch

from grader.checks.contract import Contract, given

TEXT, MERGES = "aaabdaaabac", [(97, 97), (256, 97), (257, 98)]


def numbers(found):
    """Pairs and ids as a tensor, whether they are tuples or lists; else what came."""
    try:
        return torch.tensor([*found], dtype=torch.int64)
    except (TypeError, ValueError, RuntimeError):
        return found


train = Contract(
    "train(text, count)",
    use=lambda answer, *args: numbers(answer.train(*args)),
    example=(given(TEXT, 3), torch.tensor(MERGES)),
    dims="merge side",
)
encode = Contract(
    "encode(text, merges)",
    use=lambda answer, *args: numbers(answer.encode(*args)),
    example=[
        (given(TEXT, MERGES), torch.tensor([258, 100, 258, 97, 99])),
        (given("caaaa", MERGES), torch.tensor([99, 256, 256])),
    ],
    dims="token",
)
decode = Contract("decode(ids, merges)", example=(given([258, 99], MERGES), "aaabc"))
