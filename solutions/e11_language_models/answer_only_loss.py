from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def chat_labels(
    turns: Sequence[tuple[str, Sequence[int]]], headers: Mapping[str, Sequence[int]], end: int
) -> tuple[Int64[Tensor, "time"], Int64[Tensor, "time"]]:
    ids: list[int] = []
    labels: list[int] = []
    for role, content in turns:
        header, said = headers[role], [*content, end]
        ids += [*header, *said]
        labels += [-100] * len(header)
        labels += said if role == "assistant" else [-100] * len(said)
    return torch.tensor(ids, dtype=torch.int64), torch.tensor(labels, dtype=torch.int64)


def answer_loss(
    logits: Float[Tensor, "batch time vocab"], labels: Int64[Tensor, "batch time"]
) -> Float[Tensor, ""]:
    about, wanted = logits[:, :-1], labels[:, 1:]  # (batch, time - 1, vocab), (batch, time - 1)
    total = F.cross_entropy(about.flatten(0, 1), wanted.flatten(), ignore_index=-100, reduction="sum")
    counted = wanted.ne(-100).sum()
    return total / counted.clamp(min=1)  # without a label: 0 / 1
