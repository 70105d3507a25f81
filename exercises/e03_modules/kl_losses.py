"""KL divergence as a loss: over classes, and between Gaussians.

How far is what a model says, q, from what it should say, p? KL(p ‖ q) = Σ p · (log p - log q) measures it. Write it for
soft labels, with a probability for each class, and for the codes of a variational autoencoder (Kingma and Welling 2013,
"Auto-encoding variational Bayes", appendix B), whose features are Gaussians:

    KL(N(m, exp(v)) ‖ N(0, 1)) = 1/2 · (exp(v) + m² - 1 - v)
    KL(N(m, exp(v)) ‖ N(n, exp(w))) = 1/2 · (exp(v - w) + (m - n)² / exp(w) - 1 - (v - w))

    p, logits = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[1.0, 3.0, 4.0]]).log()    # q is [1/8, 3/8, 1/2]
    categorical_kl(p, logits)          # 0.4185
    m, v = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 2.0]])
    gaussian_kl(m, v)                  # 2.6945
    gaussian_kl(m, v, prior=(n, w))    # the second formula

- Add up along a row, over classes or features. The mean is over rows.
- Gradients flow to logits, and to mean and log_variance.

Fine print:
- There may be more dims before the last, or none: the mean is over all rows.
- A probability of 0 in p adds 0, also where the logit is -inf: then the gradient for this logit is 0.
- Logits of 1000 are harmless. Gradients flow to the prior, too.
- Half precision is computed in float32 and rounded once, at the end. float64 stays float64.
- The arguments stay as they are. On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def categorical_kl(
    p: Float[Tensor, "*batch classes"], logits: Float[Tensor, "*batch classes"]
) -> Float[Tensor, ""]:
    """KL(p ‖ softmax(logits)), p being probabilities."""
    raise NotImplementedError


def gaussian_kl(
    mean: Float[Tensor, "*batch features"],
    log_variance: Float[Tensor, "*batch features"],
    prior: tuple[Float[Tensor, "*batch features"], Float[Tensor, "*batch features"]] | None = None,
) -> Float[Tensor, ""]:
    """KL of N(mean, exp(log_variance)) from N(0, 1), or from the prior's mean and log_variance."""
    raise NotImplementedError
