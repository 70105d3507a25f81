"""A language model: LLaMA's decoder, put together from its parts.

`rotary` and `SwiGLU` are given. Write the model (Touvron et al. 2023, "LLaMA", section 2.2) for ids of (batch, time), and
`load_llama`, for checkpoints under the names of Hugging Face's transformers:

    x = embed(ids)
    for block in blocks:
        x = x + out(attention(qkv(norm1(x))))          # causal; queries and keys go through rotary
        x = x + mlp(norm2(x))                          # a SwiGLU
    logits = norm(x) @ embed.weight.T                  # (batch, time, vocab)

    model = LanguageModel(vocab=3, dim=2, heads=1, layers=1, hidden=1)
    # Say that embed.weight is [[4, 0], [0, 2], [1, 1]], values and out are identities, queries, keys and mlp are 0.
    model(torch.tensor([[0, 1]]))                      # [[[5.6569, 0, 1.4142], [1.4296, 2.7366, 1.7257]]]

- `blocks` is an nn.ModuleList; `norm1`, `norm2`, `norm` are nn.RMSNorm. Nothing has a bias, nothing more is registered.
- qkv(x) holds queries, then keys, then values, (batch, time, 3 * dim); head h has features h·d to h·d + d of each.
- Matrices begin as normal numbers, deviation 0.02; `out` and `mlp.down_proj` have 0.02 / sqrt(2 * layers) (GPT-2).
- load_llama changes `model` in place. `input_layernorm` is norm1, `post_attention_layernorm` is norm2.

    model.embed_tokens.weight, model.norm.weight, and with model.layers.0. in front, then model.layers.1., …:
    self_attn.q_proj.weight, self_attn.k_proj.weight, self_attn.v_proj.weight, self_attn.o_proj.weight,
    mlp.gate_proj.weight, mlp.up_proj.weight, mlp.down_proj.weight,
    input_layernorm.weight, post_attention_layernorm.weight

Fine print:
- The norms have LLaMA's eps, 1e-5 (nn.RMSNorm has another one).
- Old checkpoints also have `lm_head.weight`, the same as embed_tokens, and `….self_attn.rotary_emb.inv_freq`: pass over both.
- A name that is missing raises KeyError or RuntimeError.
- The checkpoint may be in half precision: the model keeps its dtype.
- The model shares no memory with the checkpoint.
- Cast with `.to`, the model works in half precision. On another device nothing is copied to or from the CPU.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F


def rotary(x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
    """Given: turn features i and i + dim / 2 of token t by t * 10_000 ** (-2 * i / dim)."""
    time, dim = x.shape[-2:]
    speeds = 10_000.0 ** (-torch.arange(0, dim, 2, device=x.device) / dim)
    angles = torch.arange(time, device=x.device)[:, None] * speeds  # (time, dim / 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class SwiGLU(nn.Module):
    """Given: features times a gate."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch dim"]:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    """One layer: attention and a SwiGLU, each added to the stream."""

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch time dim"]) -> Float[Tensor, "batch time dim"]:
        """Add what both branches find to the stream."""
        raise NotImplementedError


class LanguageModel(nn.Module):
    """Tokens in, and for each one logits for the token behind it."""

    def __init__(self, vocab: int, dim: int, heads: int, layers: int, hidden: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Logits at each place, from the tokens up to there."""
        raise NotImplementedError


def load_llama(model: LanguageModel, state: Mapping[str, Tensor]) -> None:
    """Copy the weights of a checkpoint with Hugging Face's names into `model`."""
    raise NotImplementedError
