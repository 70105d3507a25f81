"""How much of the hardware does training use? FLOPs by formula, and model FLOPs utilisation.

"9300 tokens per second on each GPU", says a log. Is that much? A product of matrices (m, k) and (k, n) takes
2·m·k·n floating-point operations, FLOPs, and in a language model all else is small change. So they can be
counted on paper, before anything runs, and held against what the hardware can do:

    llama = Decoder(32, 4096, heads=32, kv_heads=8, head_dim=128, hidden=14336, vocabulary=128256)
    count_flops(llama, batch=1, time=8192)

    {"projections": 21990232555520, "attention": 35184372088832, "mlp": 92358976733184,
     "head": 8607114461184, "total": 158140695838720}

    training_flops(llama, batch=1, time=8192)                                   # 474422087516160
    utilisation(llama, tokens_per_second=9300, time=8192, peak=989e12)          # 0.5446

Only products of matrices count, as `torch.utils.flop_counter.FlopCounterMode` counts them: not the norms, the
softmax, other element-wise work, nor the embedding, which is a lookup. What the model computes for a stream x
of shape (batch, time, width), in each layer:

- Projections: of x to q (heads · head_dim columns), to k and to v (kv_heads · head_dim columns each); and of
  the attention's result, heads · head_dim columns, back to width. head_dim need not be width / heads.
- Attention, for each of the `heads`: the scores q kᵀ, and softmax(scores) v. A head of k and v serves several
  of q, for which it is repeated. The causal mask saves nothing: the whole rectangle of scores is computed.
  With `past`, so many more positions lie in a cache: they are attended to, but no more is computed there.
- MLP: two projections of x to `hidden` columns, multiplied by each other, and one back to width.

Behind the layers the head, which has a matrix of its own: `vocabulary` logits at each new position. Matrices
have no biases, norms no weights; both additions of a layer are residual.

Rules:
- `count_flops` is the forward pass: all layers together, by kind. `training_flops` is forward plus backward.
- Backward: for the gradient of each of its two factors, a product needs one more, of the same size. That is
  computed only where something that is trained lies in that factor, or before it.
- With `frozen` above 0, neither the embedding nor the first `frozen` layers are trained: all else is.
- Model FLOPs utilisation is the FLOPs per second that training on sequences of `time` tokens takes, over
  those that all devices together can do. tokens_per_second is of all devices together, too.
- FLOPs are plain Python ints, exact at any size, and 0 where batch or time is 0. Utilisation is a float.
- By formula: no tensor is made, and no operation of PyTorch runs.

Bad input: ValueError where heads is no multiple of kv_heads; where frozen is not in 0 … layers; where peak or
devices is not above 0.
"""

from dataclasses import dataclass, replace


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
    """FLOPs of one forward pass, by kind.

    Args:
        decoder: the sizes of the model.
        batch: the number of sequences.
        time: the number of new tokens in each.
        past: how many earlier positions of each sequence lie in the cache.

    Returns:
        {"projections", "attention", "mlp", "head", "total"}

    Raises:
        ValueError: heads is no multiple of kv_heads.
    """
    if decoder.heads % decoder.kv_heads:
        raise ValueError(f"{decoder.heads} heads are no multiple of {decoder.kv_heads} kv_heads")
    tokens, inner = batch * time, decoder.heads * decoder.head_dim
    columns = 2 * inner + 2 * decoder.kv_heads * decoder.head_dim  # of q, k, v, and of the output
    table = {
        "projections": decoder.layers * 2 * tokens * decoder.width * columns,
        "attention": decoder.layers * 2 * 2 * tokens * (past + time) * inner,  # scores, and the weighted sum
        "mlp": decoder.layers * 3 * 2 * tokens * decoder.width * decoder.hidden,
        "head": 2 * tokens * decoder.width * decoder.vocabulary,
    }
    return {**table, "total": sum(table.values())}


def training_flops(decoder: Decoder, batch: int, time: int, frozen: int = 0) -> int:
    """FLOPs of one forward and backward pass.

    Args:
        decoder: the sizes of the model.
        batch: the number of sequences.
        time: the number of tokens in each.
        frozen: how many of the first layers are not trained, nor is the embedding then; 0 trains everything.

    Raises:
        ValueError: heads is no multiple of kv_heads, or frozen is not in 0 … layers.
    """
    if not 0 <= frozen <= decoder.layers:
        raise ValueError(f"frozen must be in 0 … {decoder.layers}, not {frozen}")
    everything = count_flops(decoder, batch, time)
    trained = count_flops(replace(decoder, layers=decoder.layers - frozen), batch, time)
    backward = 2 * trained["total"]
    if frozen:  # nobody needs a gradient of what the first trained layer, or the head, is given
        columns = (decoder.heads + 2 * decoder.kv_heads) * decoder.head_dim
        first = columns if frozen < decoder.layers else decoder.vocabulary
        backward -= 2 * batch * time * decoder.width * first
    return everything["total"] + backward


def utilisation(
    decoder: Decoder, tokens_per_second: float, time: int, peak: float, devices: int = 1, frozen: int = 0
) -> float:
    """Model FLOPs utilisation of a training run.

    Args:
        decoder: the sizes of the model.
        tokens_per_second: trained on by all devices together.
        time: the length of each sequence, 1 or more.
        peak: the FLOPs per second that one device can do.
        devices: how many devices there are.
        frozen: how many of the first layers are not trained.

    Returns:
        The share of the hardware's FLOPs that the model needs: 0.4 for 40 %.

    Raises:
        ValueError: as for training_flops, and where peak or devices is not above 0.
    """
    if peak <= 0 or devices <= 0:
        raise ValueError(f"peak and devices must be above 0, but are {peak} and {devices}")
    per_token = training_flops(decoder, 1, time, frozen) / time
    return per_token * tokens_per_second / (peak * devices)
