"""The loss of a language model: logits of (batch, time, vocab) against token ids of (batch, time).

At each position the model gives logits for the next token. The loss is the mean, over all tokens that count,
of -log(softmax(logits)[target]). Targets that equal ignore_index are padding and do not count.

    logits = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0]]])  # probabilities 0.75, 0.25 and 0.5, 0.5
    sequence_loss(logits, torch.tensor([[0, 1]]))        # (-log(0.75) - log(0.5)) / 2 = 0.4904
    sequence_loss(logits, torch.tensor([[0, -100]]))     # -log(0.75) = 0.2877

`F.cross_entropy(logits, targets)` said "Expected target size [8, 50257], got [8, 128]". The code below is
what came of silencing this. It runs, but the loss stays high even where the model predicts every token
perfectly. Where does `F.cross_entropy` look for the classes, and what does it do with them first?

Rules:
- logits are float32 or float64; the result is 0-d, in their dtype and on their device. targets are int64:
  token ids, or ignore_index, which may be any integer, also a token's id.
- Every token that counts weighs the same, whichever row it is in. If none does (all padding, batch or time
  of 0) the loss is 0.0, with a gradient of zeros for the logits.
- Gradients flow to logits; padding gets exactly 0.
- Logits may be as large as 1e6 either way; the loss is exact up to the rounding of such numbers. -inf rules
  a token out: it is never the target, and gets gradient 0. Each position has a finite logit.
- Beyond the inputs, the forward pass needs no more memory than two tensors of the size of the logits (where
  these are contiguous): one-hot targets are too large.
- No Python loop over rows, positions or tokens. Any layout in memory.
- logits and targets are not changed.

Bad input: logits not of three dimensions, or targets of any other shape than logits' (batch, time), also with
the same number of elements, raises ValueError.
"""

from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def sequence_loss(
    logits: Float[Tensor, "batch time vocab"], targets: Int64[Tensor, "batch time"], ignore_index: int = -100
) -> Float[Tensor, ""]:
    """The mean cross-entropy of all tokens that count.

    Args:
        logits: what the model says about each next token, (batch, time, vocab).
        targets: which token it was, (batch, time).
        ignore_index: the target that marks padding.

    Returns:
        The loss, 0-d.

    Raises:
        ValueError: the shapes do not fit.
    """
    if logits.shape[:2] != targets.shape:
        raise ValueError(f"logits {tuple(logits.shape)} and targets {tuple(targets.shape)} do not fit")
    probabilities = logits.softmax(dim=-1)
    wanted = F.one_hot(targets.clamp(min=0), logits.shape[-1]).to(logits.dtype)
    return F.cross_entropy(probabilities, wanted)
