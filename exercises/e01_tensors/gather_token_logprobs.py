"""The log-probability that a language model gave to each token: `gather` along the vocabulary.

Scoring answers, distillation and reinforcement learning all need log p(token) of the tokens that occurred. Take log
softmax of the logits over the vocabulary, and from it, at each position, the number of the token in targets.

    logits = torch.tensor([[[1.0, 1.0, 2.0], [5.0, 3.0, 1.0]]]).log()   # (batch=1, time=2, vocab=3)
    targets = torch.tensor([[0, 1]])                                    # (batch=1, time=2)
    token_logprobs(logits, targets)                                     # [[log 1/4, log 1/3]]

- Position t of targets goes with position t of logits: shift nothing. Token 0 is a token like any other.
- Tensors all the way, no NumPy and no Python numbers: training needs that (section e02).
- No Python loop over batch, time or vocabulary. Sizes of 1 stay. Any function of PyTorch is welcome.

Fine print:
- Half-precision logits become float32 before anything is computed, and the result is float32; float64 stays float64.
- A token whose logit lies 300 below another's gets about -300, not -inf.
- Logits of 10000 give finite results.
- A logit of -inf rules a token out: as a target it gets -inf, and the others keep their finite values.
- No sequences, or no positions, give an empty result.
- Any strides; logits and targets stay as they are.
- The result is on the inputs' device, and no number goes to the CPU or comes from there on the way.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def token_logprobs(
    logits: Float[Tensor, "batch time vocab"], targets: Int64[Tensor, "batch time"]
) -> Float[Tensor, "batch time"]:
    """The natural log-probability of each target."""
    raise NotImplementedError
