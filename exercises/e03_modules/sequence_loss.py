"""The loss of a language model: logits of (batch, time, vocab) against token ids of (batch, time).

At each position the model gives logits for the next token. The loss is the mean, over tokens that count,
of -log(softmax(logits)[target]). Targets that equal `ignore_index` are padding and do not count.

    logits = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0]]])  # probabilities 0.75, 0.25 and 0.5, 0.5
    sequence_loss(logits, torch.tensor([[0, 1]]))        # (-log(0.75) - log(0.5)) / 2 = 0.4904
    sequence_loss(logits, torch.tensor([[0, -100]]))     # -log(0.75) = 0.2877

`F.cross_entropy(logits, targets)` said "Expected target size [8, 50257], got [8, 128]". The code below
silences this, but the loss stays high where every prediction is perfect. Where does `F.cross_entropy`
look for the classes, and what does it do first?

- Every token that counts weighs the same, whichever row it is in.
- Logits of 1000 or -1000 do no harm, and gradients flow to logits.
- No loop over rows or positions.

Fine print:
- Where no token counts (all is padding, or the batch is empty) the loss is 0, and so are the gradients: the
  mean of `F.cross_entropy`, which nanoGPT takes, is NaN there.
- A logit of -inf rules a token out, which is never the target: its gradient is 0.
- Beyond the inputs, computing the loss needs at most two tensors of the size of the logits: one-hot targets are
  too large.
- The result has the logits' dtype and device. Any strides; logits and targets stay as they are.
- Targets of another shape than logits' (batch, time), also with the same number of elements, raise ValueError
  (RuntimeError will do).
"""

from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def sequence_loss(
    logits: Float[Tensor, "batch time vocab"], targets: Int64[Tensor, "batch time"], ignore_index: int = -100
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy of all tokens that count."""
    probabilities = logits.softmax(dim=-1)
    wanted = F.one_hot(targets.clamp(min=0), logits.shape[-1]).to(logits.dtype)
    return F.cross_entropy(probabilities, wanted)
