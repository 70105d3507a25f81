"""What grades preference_loss: shifts, masks, rewards, the loss; the reference, large rewards, dtypes."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_that
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


def scored(
    logits,
    ids,
    mask,
    logits_from=0,
    ids_from=1,
    mask_from=1,
    dim=-1,
    normal=torch.log_softmax,
    add=lambda told, mask: (told * mask).sum(1),
):
    """Sums of log-probabilities; what comes after `mask` is as people get it wrong."""
    last = ids.shape[1] - max(logits_from, ids_from, mask_from)
    part = lambda x, first: x[:, first : first + last]  # noqa: E731
    told = normal(part(logits, logits_from), dim).gather(2, part(ids, ids_from)[..., None])[..., 0]
    return add(told, part(mask, mask_from))


def preferred(
    policy_chosen,
    policy_rejected,
    reference_chosen,
    reference_rejected,
    beta=0.1,
    kept=1.0,
    sign=1.0,
    loss=lambda x: -F.logsigmoid(x).mean(),
    in_loss=lambda beta: beta,
    in_rewards=lambda beta: beta,
):
    """The loss and both rewards; what comes after `beta` is as people get it wrong."""
    chosen = policy_chosen - kept * reference_chosen.detach()
    rejected = policy_rejected - kept * reference_rejected.detach()
    rewards = (in_rewards(beta) * each.detach() for each in (chosen, rejected))
    return loss(sign * in_loss(beta) * (chosen - rejected)), *rewards


def rows(gen, *sizes, answer_from=1):
    """Logits, ids and the mask of answers that begin and end at different tokens."""
    logits, ids = 2 * torch.randn(sizes, generator=gen), torch.randint(sizes[2], sizes[:2], generator=gen)
    place, row = torch.arange(sizes[1]), torch.arange(sizes[0])[:, None]
    mask = (place >= answer_from + row % 2) & (place < sizes[1] - row % 3)
    return given(logits, ids, mask)


def pairs(gen, n=5, size=4.0, **options):
    """Log-probabilities of answers, those of the reference near the policy's."""
    policy = -20 * torch.rand(2, n, generator=gen)
    return given(*policy, *policy + size * torch.randn(2, n, generator=gen), **options)


answer_logprobs = Contract(
    "answer_logprobs(logits, ids, mask)",
    reference=scored,
    inputs=lambda gen: {
        "four sequences": rows(gen, 4, 7, 5, answer_from=3),
        "as many tokens as positions": rows(gen, 6, 6, 6, answer_from=2),
        "one sequence, all but its first token an answer": rows(gen, 1, 5, 3),
    },
    gradient="logits",
    dims="batch",
    ulps=100,
    suspects={
        "logits and tokens are not shifted: logits at t are about the token at t + 1": partial(
            scored, ids_from=0, mask_from=0
        ),
        "logits are shifted the wrong way: those at t are about the token at t + 1": partial(
            scored, logits_from=1, ids_from=0, mask_from=0
        ),
        "logits are shifted the wrong way: each is about the next token; the mask went with t + 1": partial(
            scored, logits_from=1, ids_from=0
        ),
        "the mask is not shifted along with the tokens": partial(scored, mask_from=0),
        "all tokens are added up: only those of the answer are asked for": partial(
            scored, add=lambda told, mask: told.sum(1)
        ),
        "it is the mean over tokens: their sum is asked for": partial(
            scored, add=lambda told, mask: (told * mask).sum(1) / mask.sum(1)
        ),
        "logits are added up: log_softmax makes log-probabilities of them": partial(
            scored, normal=lambda x, dim: x
        ),
        "softmax runs over time: the vocabulary is the last dimension": partial(scored, dim=1),
    },
    fine=[
        values(
            inputs=lambda gen: {"a mask of the first token": rows(gen, 2, 4, 3, answer_from=0)},
            name="first_token",
            title="The first token does not count, whatever its mask says.",
        ),
        dtypes(torch.float64),
        strides(),
        untouched(),
        device(),
    ],
)
preference_loss = Contract(
    "preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta)",
    reference=preferred,
    use=lambda answer, *given, **options: plain(*answer.preference_loss(*given, **options)),
    inputs=lambda gen: {
        "five pairs": pairs(gen, beta=0.3),
        "beta is not given": pairs(gen),
        "a single pair": pairs(gen, 1, beta=0.5),
        "a reference near the policy": pairs(gen, 3, size=0.3, beta=2.0),
    },
    gradient="policy_chosen policy_rejected",
    ulps=100,
    scale=4.0,
    suspects={
        "chosen and rejected are swapped": partial(preferred, sign=-1.0),
        "the reference is left out": partial(preferred, kept=0.0),
        "beta is left out of the loss": partial(preferred, in_loss=lambda beta: 1.0),
        "beta is left out of the rewards": partial(preferred, in_rewards=lambda beta: 1.0),
        "it is a sum over pairs: the mean is asked for": partial(
            preferred, loss=lambda x: -F.logsigmoid(x).sum()
        ),
        "each pair's loss came back: their mean is asked for": partial(
            preferred, loss=lambda x: -F.logsigmoid(x)
        ),
        "the mean is taken before the logarithm": partial(preferred, loss=lambda x: -F.logsigmoid(x.mean())),
    },
    fine=[
        gradients(
            "policy_chosen policy_rejected reference_chosen reference_rejected",
            inputs=lambda gen: {"a reference that requires gradients": pairs(gen, beta=0.3)},
            name="reference",
            title="The reference gets no gradient, also where it requires one.",
        ),
        values(
            inputs=lambda gen: {"rewards far apart": pairs(gen, 8, size=2000.0, beta=0.5)},
            name="large_rewards",
            title="Rewards that differ by 1000 give a finite loss.",
            scale=2000.0,
        ),
        dtypes(torch.float64),
        strides(),
        untouched(),
        device(),
    ],
)


def plain(loss, chosen, rejected):
    """What came back, with the graph of the loss alone."""
    return loss, chosen.detach(), rejected.detach()


@pytest.mark.fine
def test_rewards_carry_no_graph(answer, gen):
    """The rewards that come back carry no graph."""
    policy = (torch.randn(4, generator=gen).requires_grad_() for _ in range(2))
    _, *rewards = answer.preference_loss(*policy, *torch.randn(2, 4, generator=gen))
    graphs = any(reward.requires_grad for reward in rewards)
    expect_that(not graphs, "the rewards of preference_loss(…) require gradients", yours=tuple(rewards))


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Logits in half precision become float32, and the sums come back in it."""
    logits, *others = rows(gen, 4, 12, 9).args
    wanted = scored(logits.to(dtype).double(), *others).float()
    yours = answer.answer_logprobs(logits.to(dtype), *others)
    expect_close(yours, wanted, f"answer_logprobs of logits in {dtype}", ulps=100)


@pytest.mark.fine
def test_large_gradients(answer):
    """Where the rejected answer's reward is 1000 higher, gradients are beta; where it is lower, 0."""
    policy = torch.tensor([-3000.0, -10.0], requires_grad=True)
    loss, *_ = answer.preference_loss(
        policy, *torch.tensor([[-10.0, -3000.0], [-20.0, -20.0], [-20.0, -20.0]])
    )
    loss.backward()
    wanted = torch.tensor([-0.05, 0.0])
    expect_close(policy.grad, wanted, "the gradient for policy_chosen where rewards are 299 apart")
