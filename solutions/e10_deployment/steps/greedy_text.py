import torch
from jaxtyping import Int
from torch import Tensor, nn


def greedy_text(model: nn.Module, ids: Int[Tensor, "batch time"], n: int) -> Int[Tensor, "batch longer"]:
    for _ in range(n):
        following = model(ids)[:, -1].argmax(dim=-1, keepdim=True)  # (batch, 1)
        ids = torch.cat([ids, following], dim=1)
    return ids
