"""What grades policy_gradient: how often actions come, their log-probabilities, the loss; seeds, -inf."""

import math
from functools import partial

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_gradient, expect_that
from grader.checks.contract import Contract, device, dtypes, flat_cost, given, untouched

DRAWS = 3000
ROWS = torch.tensor([[0.3, 2.0, -1.0, 1.5], [2.2, -3.0, 0.0, 1.1], [-1.0, 0.5, 0.0, -2.0]])


def to_go(rewards, gamma):
    """The return of each step, by its definition."""
    steps = torch.arange(len(rewards))
    ahead = steps - steps[:, None]  # (step, later step)
    return torch.where(ahead >= 0, gamma ** ahead.clamp(min=0).double(), 0.0) @ rewards


def loss_of(
    logprobs,
    rewards,
    gamma=0.99,
    baseline=None,
    returns=to_go,
    sign=-1.0,
    of=torch.sum,
    use=lambda baseline: baseline,
    norm=lambda weights: weights,
):
    """The loss; what comes after `baseline` is as people get it wrong."""
    weights = returns(rewards, gamma)
    if baseline is not None:
        weights = weights - use(baseline).detach()
    return sign * of(logprobs * norm(weights))


def wrong(**how):
    return partial(loss_of, **how)


def standard(x):
    return (x - x.mean()) / x.std()


def powers(rewards, gamma):
    return gamma ** torch.arange(len(rewards)).to(rewards)


def episode(gen, steps, baseline=False, **options):
    logprobs, rewards, expected = -3 * torch.rand(steps, generator=gen), *torch.randn(2, steps, generator=gen)
    return given(logprobs, rewards, **options, **({"baseline": expected} if baseline else {}))


reinforce_loss = Contract(
    "reinforce_loss(logprobs, rewards, gamma, baseline)",
    reference=loss_of,
    inputs=lambda gen: {
        "six steps, gamma=0.7": episode(gen, 6, gamma=0.7),
        "four steps with a baseline": episode(gen, 4, baseline=True, gamma=0.9),
        "eight steps, no gamma given": episode(gen, 8),
        "a single step": episode(gen, 1, baseline=True, gamma=0.5),
    },
    gradient="logprobs",
    scale=30.0,
    suspects={
        "the sign is wrong: going down this loss makes good actions rarer": wrong(sign=1.0),
        "it is the mean over the steps: the sum is asked for": wrong(of=torch.mean),
        "each step gets its own reward alone, not what comes after it": wrong(returns=lambda r, gamma: r),
        "every step gets the return of the first: a step is not paid for what came before it": wrong(
            returns=lambda r, gamma: to_go(r, gamma)[:1].expand_as(r)
        ),
        "the rewards are added up from the front: those that still come count": wrong(
            returns=lambda r, gamma: to_go(r.flip(0), gamma).flip(0)
        ),
        "gamma is ignored": wrong(returns=lambda r, gamma: to_go(r, 1.0)),
        "rewards are discounted from the beginning of the episode, not from the step on": wrong(
            returns=lambda r, gamma: to_go(powers(r, gamma) * r, 1.0)
        ),
        "the first reward of a return is discounted already": wrong(
            returns=lambda r, gamma: gamma * to_go(r, gamma)
        ),
        "the baseline is ignored": wrong(use=torch.zeros_like),
        "the baseline is added": wrong(use=torch.neg),
        "the returns are normalised: they are taken as they are": wrong(norm=standard),
    },
    fine=[
        dtypes(torch.float64, title="float64 stays float64."),
        untouched(),
        device(title="With tensors on another device nothing is copied to or from the CPU."),
    ],
)


def draws(answer, rows, times=DRAWS):
    return answer.choose(rows.repeat(times, 1))


def test_frequencies(answer):
    """Each action of a row comes as often as softmax says."""
    actions = draws(answer, ROWS)[0]
    for first, row in enumerate(ROWS.double()):
        chances = row.softmax(0)
        counts = torch.bincount(actions[first :: len(ROWS)].flatten(), minlength=4).double()

        def fits(chances, counts=counts):
            room = 6 * (DRAWS * chances * (1 - chances)).sqrt() + 1
            return len(counts) == 4 and bool(((counts - DRAWS * chances).abs() <= room).all())

        mistakes = {
            "the largest logit is taken: nothing is drawn": torch.eye(4)[row.argmax()].double(),
            "all actions are drawn evenly": torch.full((4,), 0.25).double(),
            "the chances are those of the first row": ROWS[0].double().softmax(0),
            "all rows have one draw in common": (counts == DRAWS).double(),
        }
        expect_that(
            fits(chances),
            f"wrong frequencies in {DRAWS} draws of choose(logits), logits {row.tolist()}",
            yours=[int(n) for n in counts],
            wanted=[round(DRAWS * p) for p in chances.tolist()],
            likely=next((told for told, p in mistakes.items() if fits(p)), ""),
        )


def test_rows_are_independent(answer):
    """Each row has a draw of its own, and the next call draws anew."""
    first, second = (answer.choose(torch.zeros(30, 50))[0] for _ in range(2))
    for told, apart in [
        ("the rows of choose(logits) share one draw", first.unique().numel() > 8),
        ("two calls of choose(logits) draw the same", not torch.equal(first, second)),
    ]:
        expect_that(apart, told, yours=first)


def test_logprobs(answer, gen):
    """Each log-probability is that of the action that was drawn, in its row."""
    logits = 2 * torch.randn(7, 4, generator=gen)
    actions, logprobs = answer.choose(logits)
    of = lambda table: table.gather(1, actions.reshape(-1, 1)).squeeze(1)  # noqa: E731
    suspects = {
        "these are probabilities: their logarithms are asked for": lambda: of(logits.softmax(1)),
        "these are the logits themselves": lambda: of(logits),
        "softmax is over the batch": lambda: of(logits.log_softmax(0)),
        "it is a logarithm to the base of 2": lambda: of(logits.log_softmax(1)) / math.log(2),
    }
    wanted = of(logits.double().log_softmax(1)).float()
    expect_close(logprobs.detach(), wanted, "the logprobs of choose(logits)", scale=10.0, suspects=suspects)


def test_gradient_through_choose(answer, gen):
    """Gradients flow from the log-probabilities to the logits: 1 for the action drawn, less softmax."""
    logits, weight = torch.randn(6, 4, generator=gen), torch.randn(6, generator=gen)
    logits.requires_grad_()
    actions, logprobs = answer.choose(logits)
    told = "the logprobs of choose(logits) carry no graph: there is nothing to learn from"
    expect_that(logprobs.requires_grad, told)
    (logprobs * weight).sum().backward()
    p = logits.detach().double().softmax(1)
    wanted = weight.double()[:, None] * (torch.eye(4).double()[actions.reshape(-1)] - p)
    expect_gradient(logits.grad, wanted.float(), "logits through the logprobs of choose(logits)", scale=10.0)


def test_only_logprobs_learn(answer, gen):
    """Neither the baseline nor the rewards get a gradient, also where they require one."""
    tensors = [t.requires_grad_() for t in torch.randn(3, 5, generator=gen).unbind()]
    tensors = [t.detach().requires_grad_() for t in tensors]
    logprobs, rewards, baseline = tensors
    answer.reinforce_loss(logprobs, rewards, 0.9, baseline).backward()
    for name, t in [("baseline", baseline), ("rewards", rewards)]:
        what = f"reinforce_loss(logprobs, rewards, 0.9, baseline) has a gradient for {name}"
        expect_that(t.grad is None or not t.grad.any(), what, yours=t.grad)


@pytest.mark.fine
def test_manual_seed(answer):
    """After the same `torch.manual_seed` come the same actions, int64 and without a graph."""
    found = []
    for _ in range(2):
        torch.manual_seed(5)
        found.append(answer.choose(torch.zeros(40, 30, requires_grad=True))[0])
    what = "choose(logits) draws other actions after the same torch.manual_seed"
    expect_equal((found[0].dtype, tuple(found[0].shape)), (torch.int64, (40,)), "dtype and shape of actions")
    expect_that(torch.equal(*found), what, yours=found[1], wanted=found[0])


@pytest.mark.fine
@pytest.mark.parametrize("low", [-math.inf, -1000.0, -1e4])
def test_impossible_actions(answer, low):
    """An action with a logit of -inf, or far below another, is never drawn and makes no NaN."""
    row = torch.tensor([[low, 0.5, low, 0.0, 0.3]])
    logits = row.repeat(100, 1).requires_grad_()
    actions, logprobs = answer.choose(logits)
    call = f"choose(logits), logits {row[0].tolist()}"
    expect_that(not ((actions == 0) | (actions == 2)).any(), f"{call} draws what cannot come", yours=actions)
    (grad,) = torch.autograd.grad(logprobs.sum(), logits)
    expect_that(bool(grad.isfinite().all()), f"the gradient of {call} is not finite", yours=grad[0])


choices = Contract(
    "choose(logits)",
    use=lambda answer, logits: answer.choose(logits)[1],
    fine=[
        untouched(inputs=lambda gen: [torch.randn(3, 4, generator=gen)], name="logits_are_left_alone"),
        flat_cost(lambda n: given(torch.zeros(n, 3)), over="rows"),
    ],
)


def oracle(answer, gen):
    def total(logits):
        """What does not depend on the draw: the logarithm of the sum that softmax divides by."""
        actions, logprobs = answer.choose(logits)
        return logits.gather(1, actions[:, None])[:, 0] - logprobs

    def drawn(gen):
        return total(2 * torch.randn(6, 4, generator=gen))

    def slope(gen):
        logits = torch.randn(5, 3, generator=gen).requires_grad_()
        total(logits).sum().backward()
        return logits.grad

    def loss(steps, **options):
        def case(gen):
            call = episode(gen, steps, **options)
            logprobs = call.args[0].requires_grad_()
            found = answer.reinforce_loss(logprobs, *call.args[1:], **call.kwargs)
            return [found.detach(), torch.autograd.grad(found, logprobs)[0]]

        return case

    return {
        "log-probabilities of drawn actions": drawn,
        "their gradient": slope,
        "the loss of six steps": loss(6, gamma=0.7),
        "the loss with a baseline": loss(4, gamma=0.9, baseline=True),
        "the loss, no gamma given": loss(8),
    }
