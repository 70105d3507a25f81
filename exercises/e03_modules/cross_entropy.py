"""Cross-entropy from logits, with label smoothing and classes to ignore.

Classifiers are trained by the mean of -log p[target]. Label smoothing takes the target for less than certain: of the
whole weight, `label_smoothing` is shared by all classes alike, so that logits need not grow for ever:

    loss of an example = (1 - s) * -log p[target] + s * (mean over all classes of -log p)

    logits = torch.tensor([[math.log(2), 0, 0], [0, math.log(6), 0]])    # p: 1/2, 1/4, 1/4 and 1/8, 6/8, 1/8
    cross_entropy(logits, torch.tensor([0, 2]))                          # 1.3863: the mean of 0.6931 and 2.0794
    cross_entropy(logits, torch.tensor([0, 2]), label_smoothing=0.3)     # 1.366: that of 0.8318 and 1.9003
    cross_entropy(logits, torch.tensor([0, -100]))                       # 0.6931

- Examples whose target is `ignore_index`, which may be any number, count for nothing: the mean is over the others.
- Logits of 1e4 do no harm. Gradients flow to logits.
- log_softmax and logsumexp may be used, but none of PyTorch's losses. No loop over examples or classes.

Fine print:
- Where nothing counts, also without examples, the loss is 0, and so are the gradients: F.cross_entropy says NaN.
- Without smoothing a logit may be -inf: that class is ruled out, is no target, and has a gradient of 0.
- float16 and bfloat16 are computed in float32 and rounded once, at the end. float64 stays float64.
- Arguments have any strides and stay as they are. On another device nothing is copied to or from the CPU.
- A target that is no class, and not ignore_index, raises IndexError (ValueError or RuntimeError will do): -1 too.
- label_smoothing below 0 or above 1, or targets of another shape than (examples,), raise ValueError (RuntimeError
  will do).
"""

from jaxtyping import Float, Int64
from torch import Tensor


def cross_entropy(
    logits: Float[Tensor, "examples classes"],
    targets: Int64[Tensor, "examples"],
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """The mean loss of the examples that count."""
    raise NotImplementedError
