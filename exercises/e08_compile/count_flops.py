"""How much of the hardware does training use? FLOPs by formula, and model FLOPs utilisation.

"9300 tokens per second on each GPU", says a log. Is that much? A product of matrices (m, k) and (k, n) takes 2·m·k·n
floating-point operations, FLOPs; all else is small change. On paper:

    # in each layer, for rows = batch * time tokens
    # projections  q               (rows, width) @ (width, heads * head_dim)
    #              k, v            (rows, width) @ (width, kv_heads * head_dim), each
    #              output          (rows, heads * head_dim) @ (heads * head_dim, width)
    # attention    scores          (time, head_dim) @ (head_dim, time), for each sequence and each of the `heads`
    #              weighted sum    (time, time) @ (time, head_dim), likewise
    # mlp          gate, up        (rows, width) @ (width, hidden), each
    #              down            (rows, hidden) @ (hidden, width)
    # once, behind the layers
    # head         logits          (rows, width) @ (width, vocabulary)

    llama = Decoder(32, 4096, heads=32, kv_heads=8, head_dim=128, hidden=14336, vocabulary=128256)
    count_flops(llama, batch=1, time=8192)                               # of one forward pass
    # {"projections": 21990232555520, "attention": 35184372088832, "mlp": 92358976733184,
    #  "head": 8607114461184, "total": 158140695838720}
    training_flops(llama, batch=1, time=8192)                            # 474422087516160
    utilisation(llama, tokens_per_second=9300, time=8192, peak=989e12)   # 0.5446

- Training is forward and backward, which has two products of the same size for each: one for each factor's gradient.
- Utilisation: the FLOPs per second that training on sequences of `time` tokens takes, over those that all devices can do.
  tokens_per_second is of all devices.
- A causal mask saves nothing. The embedding is a lookup.

nanoGPT's estimate, 6·N + 12·L·H·Q·T FLOPs a token, agrees where N counts the numbers in these matrices.

Fine print:
- With `past`, each sequence has so many more positions in a cache: they are attended to, and nothing else is computed for
  them.
- FLOPs are Python ints, exact at any size: no floats on the way.
- ValueError where heads is no multiple of kv_heads.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Decoder:
    """The sizes of a decoder-only transformer. Leave this class as it is."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    vocabulary: int


def count_flops(decoder: Decoder, batch: int, time: int, past: int = 0) -> dict[str, int]:
    """FLOPs of one forward pass over `time` new tokens of each sequence, by kind and in total."""
    raise NotImplementedError


def training_flops(decoder: Decoder, batch: int, time: int) -> int:
    """FLOPs of one forward and backward pass."""
    raise NotImplementedError


def utilisation(
    decoder: Decoder, tokens_per_second: float, time: int, peak: float, devices: int = 1
) -> float:
    """The share of the devices' FLOPs that training needs; each can do `peak` a second."""
    raise NotImplementedError
