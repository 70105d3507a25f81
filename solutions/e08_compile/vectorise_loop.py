import torch
from jaxtyping import Float, Int
from torch import Tensor


def pool_words(
    states: Float[Tensor, "batch time dim"], word_ids: Int[Tensor, "batch time"], words: int
) -> Float[Tensor, "batch words dim"]:
    batch, _, dim = states.shape
    wide = torch.promote_types(states.dtype, torch.float32)
    known = (word_ids >= 0) & (word_ids < words)  # (batch, time)
    slot = torch.where(known, word_ids, words)[..., None]  # (batch, time, 1): one slot more, for the rest
    sums = torch.zeros(batch, words + 1, dim, dtype=wide, device=states.device)
    sums = sums.scatter_add(1, slot.expand(states.shape), states.to(wide))  # (batch, words + 1, dim)
    counts = torch.zeros(batch, words + 1, 1, dtype=wide, device=states.device)
    counts = counts.scatter_add(1, slot, torch.ones_like(slot, dtype=wide))  # (batch, words + 1, 1)
    return (sums / counts.clamp(min=1))[:, :words].to(states.dtype)  # (batch, words, dim)
