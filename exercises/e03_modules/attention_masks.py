"""Attention masks: what does True mean here?

A model attended by `nn.MultiheadAttention`, and was rewritten with `scaled_dot_product_attention` and the layer's own
weights. Both functions get `real`, which is True for the tokens of a text and False for its padding:

    # Say that the layer makes queries and keys of 0, and values and results as they come: a mean of what is seen.
    x, real = torch.tensor([[[1.0], [3.0], [8.0]]]), torch.tensor([[True, True, False]])
    by_module(layer, x, real)                       # [[[2], [2], …]]
    by_function(layer, x, real, causal=True)        # [[[1], [2], …]]

Neither is right: what stands at padding changes the result, and with causal=True so do later tokens. Look up in the
documentation what each mask argument takes True for.

- No token sees padding. With causal, each sees itself and those before it.
- The two agree at all real tokens, in any batch.
- What comes out at padding is no matter.

Fine print:
- Without `real` there is no padding.
- Padding may come before the tokens. Then, with causal, it sees nothing at all: results and gradients are free of NaN all
  the same, at padding too, and also in evaluation mode under `no_grad`, where the module takes another way.
- Cast to half precision, the layer works in it. The arguments stay as they are.
- On another device nothing is copied to or from the CPU.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F


def by_module(
    layer: nn.MultiheadAttention,
    x: Float[Tensor, "batch time dim"],
    real: Bool[Tensor, "batch time"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch time dim"]:
    """Self-attention by the layer, which has batch_first=True, biases, and no dropout."""
    time = x.shape[1]
    seen = torch.ones(time, time, dtype=torch.bool).tril() if causal else None
    return layer(x, x, x, key_padding_mask=real, attn_mask=seen, need_weights=False)[0]


def by_function(
    layer: nn.MultiheadAttention,
    x: Float[Tensor, "batch time dim"],
    real: Bool[Tensor, "batch time"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch time dim"]:
    """The same by F.scaled_dot_product_attention, without a call of the layer."""
    time = x.shape[1]
    qkv = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).unflatten(-1, (3, layer.num_heads, -1))
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    mask = torch.ones(time, time, dtype=torch.bool).triu(1) if causal else torch.zeros(time, time)
    if real is not None:
        mask = mask + ~real[:, None, None, :]
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.out_proj(mixed.transpose(1, 2).flatten(2))
