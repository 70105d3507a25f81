"""What grades clipped_policy: deltas, ends of episodes, both clips, the sum; what learns, dtypes, devices."""

from functools import partial

import pytest
import torch

from grader.checks import expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    flat_cost,
    given,
    gradients,
    strides,
    untouched,
)


def estimated(
    rewards,
    values,
    done,
    gamma=1.0,
    lam=0.95,
    next_value=lambda values, t, end: values[t + 1] * ~end,
    decay=lambda gamma, lam: gamma * lam,
    stop=lambda done, t: done[t],
):
    """Step by step; what comes after `lam` is as people get it wrong."""
    advantages, time = torch.zeros_like(rewards), rewards.shape[1]
    for row, value, reward, ends in zip(advantages, values, rewards, done, strict=True):
        later = 0.0
        for t in reversed(range(time)):
            delta = reward[t] + gamma * next_value(value, t, ends[t]) - value[t]
            later = delta + decay(gamma, lam) * later * (not stop(ends, t))
            row[t] = later
    return advantages, advantages + values[:, :-1]


def late(done, t):
    """The end of the next step in place of this one's."""
    return done[t + 1] if t + 1 < len(done) else False


def lower(ratio, clipped, advantages):
    return torch.minimum(ratio * advantages, clipped * advantages)


def squares(values, near, returns):
    return torch.maximum((values - returns) ** 2, (near - returns) ** 2)


def exact(
    logprobs,
    old_logprobs,
    advantages,
    values,
    old_values,
    returns,
    entropy,
    clip=0.2,
    value_coef=0.5,
    entropy_coef=0.01,
    gain=lower,
    ratio=lambda apart: apart.exp(),
    error=squares,
    half=0.5,
    signs=(-1.0, -1.0),
):
    """The loss; what comes after `entropy_coef` is as people get it wrong."""
    now = ratio(logprobs - old_logprobs.detach())
    near = old_values.detach() + (values - old_values.detach()).clamp(-clip, clip)
    policy = gain(now, now.clamp(1 - clip, 1 + clip), advantages.detach()).mean()
    value = half * error(values, near, returns.detach()).mean()
    return signs[0] * policy + value_coef * value + signs[1] * entropy_coef * entropy.mean()


def wrong(**how):
    return partial(exact, **how)


def episodes(gen, batch, time, **options):
    done = torch.rand(batch, time, generator=gen) < 0.25
    done[:, time // 2] = True
    rewards, values = (torch.randn(batch, n, generator=gen) + 1 for n in (time, time + 1))
    return given(rewards, values, done, **options)


def steps(gen, n, **options):
    """Steps whose ratios and values are clipped as often as not; advantages are not 0 in the mean."""
    old, apart, about, old_values, moved, returns = torch.randn(6, n, generator=gen)
    advantages = about + torch.where(torch.arange(n) % 3 == 1, -1.0, 2.0)
    entropy = torch.rand(n, generator=gen) + 3
    old, logprobs = old - 3, old - 3 + 0.4 * apart
    return given(
        logprobs,
        old,
        advantages,
        old_values + 0.5 * moved,
        old_values,
        returns + old_values,
        entropy,
        **options,
    )


gae = Contract(
    "gae(rewards, values, done, gamma, lam)",
    reference=estimated,
    inputs=lambda gen: {
        "three rows": episodes(gen, 3, 7, gamma=0.9, lam=0.8),
        "as many rows as steps": episodes(gen, 5, 5, gamma=0.7),
        "one row, with nothing else": episodes(gen, 1, 9),
        "lam of 0": episodes(gen, 2, 4, gamma=0.8, lam=0.0),
    },
    dims=("batch time", "batch time"),
    ulps=100,
    scale=4.0,
    suspects={
        "done has no effect": partial(
            estimated, next_value=lambda values, t, end: values[t + 1], stop=lambda done, t: False
        ),
        "the value after an episode's end counts": partial(
            estimated, next_value=lambda values, t, end: values[t + 1]
        ),
        "the advantage after an episode's end counts": partial(estimated, stop=lambda done, t: False),
        "the advantages stop a step too early: done[t] is the end of step t": partial(estimated, stop=late),
        "lam is left out": partial(estimated, decay=lambda gamma, lam: gamma),
        "gamma is left out in front of the next advantage": partial(estimated, decay=lambda gamma, lam: lam),
        "the value after the last step is left out": partial(
            estimated,
            next_value=lambda values, t, end: values[t + 1] * (not end and t + 2 < len(values)),
        ),
    },
    job=[
        flat_cost(
            lambda n: (torch.ones(n, 3), torch.ones(n, 4), torch.zeros(n, 3, dtype=torch.bool)),
            over="rows",
        )
    ],
    fine=[dtypes(torch.float64), strides(), untouched(), device()],
)
ppo_loss = Contract(
    "ppo_loss(logprobs, old_logprobs, advantages, values, old_values, returns, entropy)",
    reference=exact,
    inputs=lambda gen: {
        "nine steps": steps(gen, 9, entropy_coef=0.1),
        "the default coefficients": steps(gen, 12),
        "a wide clip": steps(gen, 10, clip=0.4, value_coef=1.0, entropy_coef=0.05),
    },
    gradient="logprobs values entropy",
    ulps=100,
    scale=4.0,
    suspects={
        "the sign of the policy's part is missing": wrong(signs=(1.0, -1.0)),
        "entropy is added: more of it makes the loss smaller": wrong(signs=(-1.0, 1.0)),
        "it is the larger product: the smaller one is asked for": wrong(
            gain=lambda ratio, clipped, up: torch.maximum(ratio * up, clipped * up)
        ),
        "ratios are not clipped": wrong(gain=lambda ratio, clipped, up: ratio * up),
        "the smaller ratio counts: compare after multiplying, an advantage may be negative": wrong(
            gain=lambda ratio, clipped, up: torch.minimum(ratio, clipped) * up
        ),
        "the ratio is upside down": wrong(ratio=lambda apart: (-apart).exp()),
        "values are not clipped": wrong(error=lambda values, near, returns: (values - returns) ** 2),
        "the values' part is not halved": wrong(half=1.0),
        "advantages are standardised first": lambda logprobs, old, up, *more, **options: exact(
            logprobs, old, (up - up.mean()) / (up.std() + 1e-8), *more, **options
        ),
    },
    fine=[
        gradients(
            "logprobs old_logprobs advantages values old_values returns entropy",
            inputs=lambda gen: {"arguments that all require gradients": steps(gen, 8, entropy_coef=0.1)},
            name="what_learns",
            title="Only logprobs, values and entropy get gradients.",
        ),
        dtypes(torch.float64),
        strides(),
        untouched(),
        device(),
    ],
)


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Advantages and returns carry no graph, also where values require gradients."""
    rewards, values, done = episodes(gen, 2, 5).args
    found = tuple(answer.gae(rewards, values.requires_grad_(), done))
    graphs = any(part.requires_grad for part in found)
    expect_that(not graphs, "what gae(rewards, values, done) returns requires gradients", yours=found)
