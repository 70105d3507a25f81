"""Top-k sampling: draw the next token from the k most likely ones.

A language model gives one logit for each token of its vocabulary. For each row of logits keep the k largest, turn them
into probabilities that add up to one (softmax), and draw one token id.

    logits = torch.tensor([[0., 9., 8., 1.], [5., 0., 0., 5.]])    # (batch=2, vocab=4)
    sample_top_k(logits, 1, generator)    # the largest: 1, then 0 or 3
    sample_top_k(logits, 2, generator)    # row 0: 1 (73 %) or 2 (27 %); row 1: 0 or 3, evenly

- The ids are int64, one for each row: shape (batch,).
- Rows are drawn independently of each other, without a Python loop over them.
- All randomness comes from `generator`: the same state gives the same ids, and the next call goes on from there.

Fine print:
- Any number of dimensions may stand before the vocabulary, also none: then the id has no dimension either.
- Where logits are equal, any of them count as the larger, but no more than k stay (nanoGPT keeps them all).
- Logits may be near 1e4 or -1e4, or be -inf: such a token is never drawn. Each row has another.
- In half precision, chances and noise of the draw are float32 or float64: rounding would lose rare tokens.
- An empty batch gives no ids. logits has any strides and stays as it is.
- PyTorch's global random stream is neither drawn from nor seeded.
- k below 1 or above the size of the vocabulary raises ValueError.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor


def sample_top_k(
    logits: Float[Tensor, "*batch vocab"], k: int, generator: torch.Generator
) -> Int64[Tensor, "*batch"]:
    """A token id for each row of logits, drawn among its k largest."""
    raise NotImplementedError
