import torch
from jaxtyping import Bool, Float
from torch import Tensor


def group_advantages(
    rewards: Float[Tensor, "prompts samples"], eps: float = 1e-4
) -> Float[Tensor, "prompts samples"]:
    mean, std = rewards.mean(1, keepdim=True), rewards.std(1, keepdim=True)  # (prompts, 1)
    return (rewards - mean) / (std + eps)


def grpo_loss(
    logprobs: Float[Tensor, "batch time"],
    old: Float[Tensor, "batch time"],
    ref: Float[Tensor, "batch time"],
    advantages: Float[Tensor, "batch"],
    mask: Bool[Tensor, "batch time"],
    clip: float = 0.2,
    beta: float = 0.04,
) -> Float[Tensor, ""]:
    old, ref, each = old.detach(), ref.detach(), advantages.detach().unsqueeze(1)  # each: (batch, 1)
    ratio = (logprobs - old).exp()  # (batch, time)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    apart = ref - logprobs
    kl = apart.exp() - apart - 1
    gain = torch.minimum(ratio * each, clipped * each) - beta * kl
    tokens = mask.sum(1).clamp(min=1)  # (batch,)
    return -((gain * mask).sum(1) / tokens).mean()
