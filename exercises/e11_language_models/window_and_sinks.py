"""A text longer than the context: its perplexity, and a cache that forgets the middle.

Perplexity is exp(mean of -log(probability of a token)). A long text is read in windows that overlap:

    def model(ids):                # says "token 1" with a probability of 1/2, 2/3, 3/4, …
        scores = torch.arange(1.0, 1 + ids.shape[1]).log()
        return torch.stack([0 * scores, scores], -1).unsqueeze(0)

    ids = torch.ones(1, 5, dtype=torch.int64)
    perplexity(model, ids, context=3, stride=1)     # (2 * 3/2 * 3/2 * 3/2) ** (1/4) = 1.6119
    perplexity(model, ids, context=3, stride=2)     # (2 * 3/2 * 2 * 3/2) ** (1/4) = 1.7321

    x = torch.arange(8.0).view(1, 1, 8, 1)
    keys, values, positions = keep(x, -x, sinks=1, window=3)    # 0, 5, 6, 7 of keys and values; positions [0, 1, 2, 3]

- Windows of `context` tokens begin at 0, stride, 2 * stride, …; the first that reaches the end is the last, and may be shorter.
- The logits at token t are about token t + 1. Each token but the text's first counts once, in the first window with it.
- All tokens weigh the same.
- keep leaves the first `sinks` and the last `window` entries, in order, none twice. (Xiao et al. 2023, section 3.2.)
- positions are those within the cache, not the text: they turn the keys.

Fine print:
- The model runs once for each window, under no_grad: nothing keeps a graph.
- Logits of half precision are computed in float32.
- stride, 1 or more, is below context, and there are two tokens or more; else ValueError.
- sinks or window may be 0. Keys and values have any dtype; positions are int64.
- The results of keep are where keys are; nothing is copied to or from the CPU. keys and values stay as they are.
"""

from collections.abc import Callable

from jaxtyping import Float, Int64
from torch import Tensor


def perplexity(
    model: Callable[[Tensor], Tensor], ids: Int64[Tensor, "1 time"], context: int, stride: int
) -> float:
    """The perplexity of a text under a model that takes `context` tokens: (1, n) to logits (1, n, vocab)."""
    raise NotImplementedError


def keep(
    keys: Float[Tensor, "batch heads time dim"],
    values: Float[Tensor, "batch heads time dim"],
    sinks: int,
    window: int,
) -> tuple[
    Float[Tensor, "batch heads kept dim"], Float[Tensor, "batch heads kept dim"], Int64[Tensor, "kept"]
]:
    """What a cache keeps of its keys and values, and their positions."""
    raise NotImplementedError
