"""Top-k sampling: draw the next token from the k most likely ones.

A language model gives one logit for each token of its vocabulary. Keep the k largest, turn them into
probabilities that add up to one (softmax), and draw one token id for each row.

    logits = torch.tensor([[0., 9., 8., 1.], [5., 0., 0., 5.]])
    sample_top_k(logits, 1, generator)[0]    # always 1, the id of the largest logit
    sample_top_k(logits, 2, generator)       # row 0: 1 (73 %) or 2 (27 %); row 1: 0 or 3, evenly

Rules: `logits` has any leading dimensions of any size, or none; it is not changed. It has any floating
dtype, in which it is decided which ones are the largest: float64 tells 1.0 from 1.0 + 1e-12.
Entries may be as large as ±1e4, or -inf: such a token is never drawn (each row has another). The result
is int64 and lacks the last dimension: for a single row it is 0-d. No more than k tokens stay in the draw
of a row; where logits are equal, any of them may count as the larger.

All randomness comes from `generator`, a CPU generator for logits on the CPU. The same state gives the
same ids; the next call goes on where the last one stopped; PyTorch's global stream is neither drawn from
nor seeded. Rows are drawn independently of each other, without a Python loop over them.

Bad input: k below 1 or above the size of the vocabulary is a ValueError.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def sample_top_k(
    logits: Float[Tensor, "*batch vocab"], k: int, generator: torch.Generator
) -> Int[Tensor, "*batch"]:
    """Draw one token id for each row of logits, among the k largest.

    Args:
        logits: unnormalised log-probabilities, (*batch, vocab).
        k: how many tokens stay in the draw, 1 to vocab.
        generator: the source of all randomness; it moves on.

    Returns:
        Token ids, 0 to vocab - 1, (*batch), int64.

    Raises:
        ValueError: k is below 1 or above vocab.
    """
    vocab = logits.shape[-1]
    if not 1 <= k <= vocab:
        raise ValueError(f"k is {k}; it must be between 1 and {vocab}, the size of the vocabulary")
    largest, ids = logits.topk(k, dim=-1)  # (*batch, k) each
    chances = largest.float().softmax(dim=-1).reshape(-1, k)  # multinomial wants (rows, k)
    drawn = torch.multinomial(chances, 1, generator=generator)  # (rows, 1): places among the k
    return ids.reshape(-1, k).gather(-1, drawn).reshape(logits.shape[:-1])  # (*batch): token ids
