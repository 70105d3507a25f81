"""GRPO: several answers to each prompt, judged against each other.

A policy learns by how much better an answer was than expected. What was expected is the mean of a group of answers to
the same prompt: no second network estimates it. (Shao et al. 2024, "DeepSeekMath", equations 3 and 4.)

    advantage = (reward - mean) / (std + eps)        # over each group
    gain = min(ratio * advantage, clamp(ratio, 1 - clip, 1 + clip) * advantage) - beta * kl       # at each token
    # ratio = exp(logprob - old), d = ref - logprob, kl = exp(d) - d - 1

    group_advantages(torch.tensor([[1.0, 2.0, 6.0]]))        # [[-0.7559, -0.3780, 1.1339]]: mean 3, std 2.6458
    logprobs, old, ref = torch.tensor([[[0.6, 0.1, 0.9]], [[0.4, 0.4, 0.3]], [[0.3, 0.1, 0.9]]]).log()
    mask = torch.tensor([[True, True, False]])
    grpo_loss(logprobs, old, ref, torch.tensor([1.0]), mask, beta=0.5)    # -0.6767: gains 1.2 - 0.5 * 0.1931 and 0.25

- std is that of `torch.std`: divided by samples - 1. Equal rewards give zeros.
- The loss is minus the mean over answers of each answer's mean gain over its tokens, those whose mask is True.
- All tokens of an answer have its advantage.
- Gradients flow to logprobs.

Fine print:
- old, ref and advantages get no gradient, also where they require one.
- An answer without a token counts, as one with gain 0.
- float64 stays float64; any strides; the arguments stay as they are.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Bool, Float
from torch import Tensor


def group_advantages(
    rewards: Float[Tensor, "prompts samples"], eps: float = 1e-4
) -> Float[Tensor, "prompts samples"]:
    """The advantage of each answer over the others to its prompt; there are two at least."""
    raise NotImplementedError


def grpo_loss(
    logprobs: Float[Tensor, "batch time"],
    old: Float[Tensor, "batch time"],
    ref: Float[Tensor, "batch time"],
    advantages: Float[Tensor, "batch"],
    mask: Bool[Tensor, "batch time"],
    clip: float = 0.2,
    beta: float = 0.04,
) -> Float[Tensor, ""]:
    """The loss, 0-d, from each token's log-probability by the policy now, by the old one, and by a reference."""
    raise NotImplementedError
