import torch
from jaxtyping import Float, Int64
from torch import Tensor


def sample_top_k(
    logits: Float[Tensor, "*batch vocab"], k: int, generator: torch.Generator
) -> Int64[Tensor, "*batch"]:
    vocab = logits.shape[-1]
    if not 1 <= k <= vocab:
        raise ValueError(f"k is {k}; it must be between 1 and {vocab}, the size of the vocabulary")
    largest, ids = logits.topk(k, dim=-1)  # (*batch, k) each
    chances = largest.float().softmax(dim=-1).reshape(-1, k)  # multinomial wants (rows, k)
    drawn = torch.multinomial(chances, 1, generator=generator)  # (rows, 1): places among the k
    return ids.reshape(-1, k).gather(-1, drawn).reshape(logits.shape[:-1])  # (*batch): token ids
