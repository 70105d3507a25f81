"""Cross-attention: a decoder reads what an encoder made of another text.

Queries come from the decoder's x, keys and values from the encoder's memory. (Vaswani et al. 2017, section 3.2.3; Whisper,
T5.) While tokens are written it stays: `project` makes keys and values once, `attend` uses them for each token.
With d = dim / heads, head h has features h·d to h·d + d of each:

    weights = softmax(q @ kᵀ / sqrt(d)) over the tokens of the memory but padding
    result = out(weights @ v of all heads, side by side)

    layer = CrossAttention(2, memory_dim=2, heads=1)      # say that all weights are identities
    x, memory = 1.2465 * torch.eye(2)[None], torch.tensor([[[1.2465, 0.0], [0.0, 2.493], [4.0, 5.0]]])
    layer(x, memory, torch.tensor([[False, False, True]]))      # [[[0.9349, 0.6233], [0.1247, 2.2437]]]
    # token 2 of the memory is padding; the others count 3/4 and 1/4 for x[0, 0], 1/10 and 9/10 for x[0, 1]

- `query` and `out` are nn.Linear of dim to dim, `key` and `value` of memory_dim to dim features, none with a bias.
- padding is True where a token of the memory is padding: no query sees it.
- There is no causal mask. A layer serves several memories in turn.
- Gradients flow to x, memory and all weights.

Fine print:
- Where all of a memory is padding, its result is 0. Neither results nor gradients are NaN.
- `attend` computes no keys and values again.
- batch may be 0, and so may the number of queries.
- Cast with `.to`, the layer works in half precision and float64.
- No Python loop over batch, heads or time. All of PyTorch may be used.
- On another device nothing is copied to or from the CPU.
- ValueError: heads that do not divide dim; padding that has not the shape (batch, keys).
"""

from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn


class CrossAttention(nn.Module):
    """Attention of x to a memory, with several heads."""

    def __init__(self, dim: int, memory_dim: int, heads: int) -> None:
        super().__init__()
        raise NotImplementedError

    def project(self, memory: Float[Tensor, "batch keys memory_dim"]) -> Any:
        """The keys and values of a memory, in whatever form `attend` takes."""
        raise NotImplementedError

    def attend(
        self,
        x: Float[Tensor, "batch time dim"],
        projected: Any,
        padding: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time dim"]:
        """Let each position of x attend to the memory that `project` has been given."""
        raise NotImplementedError

    def forward(
        self,
        x: Float[Tensor, "batch time dim"],
        memory: Float[Tensor, "batch keys memory_dim"],
        padding: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time dim"]:
        """Given: both at once."""
        return self.attend(x, self.project(memory), padding)
