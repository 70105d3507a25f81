"""One embedding for each sentence: the mean of its tokens, without the padding.

An encoder gives a vector for each token, hidden of (batch, time, dim). mask, (batch, time), is True or 1 where a token is,
False or 0 at padding. A sentence's embedding is the mean of its tokens.

    hidden = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]])
    mean_pool(hidden, torch.tensor([[1, 1, 0]]))      # [[2, 4]]: the third is padding

A search scores sentences by the dot product of two embeddings. With the code below, one long text in a batch makes all
other sentences of the batch score lower.

- mask is bool, or int64 as tokenizers give it. Padding may be at either end.
- A sentence has one embedding, whatever else is in its batch.
- Gradients flow to hidden.
- No loop over sentences or tokens.

Fine print:
- A row of padding alone gives zeros, and gradients of zeros: not NaN.
- Padding may hold anything, also inf and NaN: nothing of it comes out, and its gradient is 0.
- float16 and bfloat16 are added and divided in float32, and rounded once, at the end. float64 stays float64.
- No tokens (a time of 0) give zeros, no sentences an empty result.
- Any strides; hidden and mask stay as they are. On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Bool, Float, Int64
from torch import Tensor


def mean_pool(
    hidden: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"] | Int64[Tensor, "batch time"]
) -> Float[Tensor, "batch dim"]:
    """Average the tokens of each sentence."""
    tokens = hidden * mask.unsqueeze(-1)  # zeros at padding
    return tokens.mean(dim=1)
