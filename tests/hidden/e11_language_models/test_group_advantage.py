"""What grades group_advantage: groups, the clip, the divergence, the means; what learns, empty answers."""

from functools import partial

import torch

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    given,
    gradients,
    strides,
    untouched,
    values,
)


def standard(rewards, eps=1e-4, correction=1, dim=1, scale=lambda std, eps: std + eps):
    """Advantages; what comes after `eps` is as people get it wrong."""
    spread = rewards.std(dim, correction=correction, keepdim=True)
    return (rewards - rewards.mean(dim, keepdim=True)) / scale(spread, eps)


def over_all(rewards, eps=1e-4):
    return (rewards - rewards.mean()) / (rewards.std() + eps)


def by_rows(gain, mask):
    return ((gain * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()


def lower(ratio, clipped, advantage):
    return torch.minimum(ratio * advantage, clipped * advantage)


def third(logprobs, ref):
    return (ref - logprobs).exp() - (ref - logprobs) - 1


def exact(
    logprobs,
    old,
    ref,
    advantages,
    mask,
    clip=0.2,
    beta=0.04,
    choose=lower,
    ratio=lambda logprobs, old, ref: (logprobs - old).exp(),
    kl=third,
    mean=by_rows,
    sign=-1.0,
):
    """The loss; what comes after `beta` is as people get it wrong."""
    old, ref = old.detach(), ref.detach()
    now = ratio(logprobs, old, ref)
    gain = choose(now, now.clamp(1 - clip, 1 + clip), advantages.detach()[:, None])
    return sign * mean(gain - beta * kl(logprobs, ref), mask)


def wrong(**how):
    return partial(exact, **how)


def answers(gen, batch, time, empty=False, **options):
    """Log-probabilities whose ratios are clipped as often as not, and answers of different lengths."""
    old = -3 * torch.rand(batch, time, generator=gen) - 0.5
    logprobs = old + 0.4 * torch.randn(batch, time, generator=gen)
    ref = old + 0.6 * torch.randn(batch, time, generator=gen)
    lengths = torch.arange(batch)[:, None] * 2 % time + (0 if empty else 1)
    mask = torch.arange(time) < lengths
    # More above than below: a mean near 0 would be nothing but rounding.
    advantages = torch.rand(batch, generator=gen) + torch.where(torch.arange(batch) % 3 == 1, -1.5, 1.5)
    return given(logprobs, old, ref, advantages, mask, **options)


group_advantages = Contract(
    "group_advantages(rewards, eps)",
    reference=standard,
    inputs=lambda gen: {
        "three prompts": 3 * torch.rand(3, 5, generator=gen),
        "as many prompts as samples": torch.randn(4, 4, generator=gen) + torch.arange(4.0)[:, None],
        "a larger eps": given(torch.randn(2, 6, generator=gen), 0.25),
        "a group of equal rewards": torch.stack([torch.ones(4), torch.rand(4, generator=gen)]),
    },
    dims="prompt sample",
    ulps=100,
    suspects={
        "std is divided by samples: torch.std divides by samples - 1": partial(standard, correction=0),
        "mean and std are those of all rewards: each prompt has its own": over_all,
        "mean and std are taken over prompts: samples are the last dimension": partial(standard, dim=0),
        "it is not divided by std": partial(standard, scale=lambda std, eps: 1.0),
        "it is divided by the variance": partial(standard, scale=lambda std, eps: std**2 + eps),
        "eps is left out": partial(standard, scale=lambda std, eps: std),
        "eps is added under the root: it is added to std": partial(
            standard, scale=lambda std, eps: (std**2 + eps).sqrt()
        ),
    },
    fine=[dtypes(torch.float64), strides(), untouched(), device()],
)
grpo_loss = Contract(
    "grpo_loss(logprobs, old, ref, advantages, mask, clip, beta)",
    reference=exact,
    inputs=lambda gen: {
        "five answers": answers(gen, 5, 7),
        "as many answers as tokens": answers(gen, 6, 6, beta=0.5),
        "without a penalty": answers(gen, 4, 8, beta=0.0),
        "a wide clip": answers(gen, 7, 5, clip=0.5, beta=0.2),
    },
    gradient="logprobs",
    ulps=100,
    scale=4.0,
    suspects={
        "the sign is missing: a loss falls where gains grow": wrong(sign=1.0),
        "it is the mean over all tokens at once (DAPO's): each answer weighs the same": wrong(
            mean=lambda gain, mask: gain[mask].mean()
        ),
        "padding counts in the mean: divide by the number of tokens whose mask is True": wrong(
            mean=lambda gain, mask: (gain * mask).mean()
        ),
        "the mask is left out": wrong(mean=lambda gain, mask: gain.mean()),
        "it is the larger of the two: the smaller one is asked for": wrong(
            choose=lambda ratio, clipped, advantage: torch.maximum(ratio * advantage, clipped * advantage)
        ),
        "ratios are not clipped": wrong(choose=lambda ratio, clipped, advantage: ratio * advantage),
        "the clipped ratio always counts: the smaller of the two is asked for": wrong(
            choose=lambda ratio, clipped, advantage: clipped * advantage
        ),
        "the smaller ratio counts: compare after multiplying, an advantage may be negative": wrong(
            choose=lambda ratio, clipped, advantage: torch.minimum(ratio, clipped) * advantage
        ),
        "the ratio is to ref: to old is asked for": wrong(
            ratio=lambda logprobs, old, ref: (logprobs - ref).exp()
        ),
        "exp is missing from the ratio": wrong(ratio=lambda logprobs, old, ref: logprobs - old),
        "the ratio is upside down": wrong(ratio=lambda logprobs, old, ref: (old - logprobs).exp()),
        "the penalty is logprob - ref: exp(d) - d - 1 is asked for": wrong(
            kl=lambda logprobs, ref: logprobs - ref
        ),
        "d is logprob - ref: ref - logprob is asked for": wrong(
            kl=lambda logprobs, ref: third(ref, logprobs)
        ),
        "the penalty is added to the gain: it is taken off": wrong(
            kl=lambda logprobs, ref: -third(logprobs, ref)
        ),
        "the penalty is left out": wrong(kl=lambda logprobs, ref: 0.0),
    },
    fine=[
        gradients(
            "logprobs old ref advantages",
            inputs=lambda gen: {"arguments that all require gradients": answers(gen, 4, 6, beta=0.5)},
            name="what_learns",
            title="Only logprobs get a gradient.",
        ),
        values(
            inputs=lambda gen: {"answers of which one is empty": answers(gen, 4, 7, empty=True)},
            name="empty_answer",
            title="An answer without a token counts, as one with gain 0.",
        ),
        dtypes(torch.float64),
        strides(),
        untouched(),
        device(),
    ],
)
