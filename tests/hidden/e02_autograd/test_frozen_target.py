"""What grades td_loss: values, gradients through the prediction alone; ended episodes."""

import math
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_that, modes_kept, unchanged
from grader.checks.contract import Contract, device, dtypes, given, gradients, values

CALL = "td_loss(net, target_net, states, …)"


def linear(w):
    return lambda states: torch.tanh(states.flatten(1) @ w) * 3


def same(states):
    """Stands for a target_net that is net."""
    raise NotImplementedError


def networks(w, v):
    net = linear(w)
    return net, net if v is same else linear(v)


def steps(gen, batch=6, two=False, over=False, gamma=0.9):
    """The weights of one network or two, of 3 numbers and 4 actions, and steps of which one in three ends."""
    randn = lambda *shape: torch.randn(shape, generator=gen)  # noqa: E731
    done, chosen = torch.arange(batch) % 3 == 1, torch.randint(4, (batch,), generator=gen)
    batch = randn(batch, 3), chosen, randn(batch), randn(batch, 3), done | over
    return given(randn(3, 4), randn(3, 4) if two else same, *batch, gamma)


def broken(gen, **how):
    """Steps after whose end next_states holds NaN and inf."""
    call = steps(gen, **how)
    *_, next_states, done, _ = call.args
    next_states[done] = torch.tensor([math.nan, math.inf, -math.inf])
    return call


def exact(
    w,
    v,
    states,
    actions,
    rewards,
    next_states,
    done,
    gamma=0.99,
    worth=lambda told, own: told.amax(1),
    over=lambda done: done,
    pair=lambda predictions: predictions,
):
    """The loss, with targets that are constants; or with a mistake."""
    net, target_net = networks(w, v)
    future = worth(target_net(next_states).detach(), net(next_states).detach())
    targets = rewards.detach() + gamma * future.masked_fill(over(done), 0.0)
    predictions = net(states).gather(1, actions[:, None])[:, 0]
    return (pair(predictions) - targets).square().mean()


def wrong(**how):
    return partial(exact, **how)


contract = Contract(
    "td_loss(net, target_net, states, actions, rewards, next_states, done, gamma)",
    reference=exact,
    use=lambda answer, w, v, *batch: answer.td_loss(*networks(w, v), *batch),
    inputs=lambda gen: {
        "a batch, with one network": steps(gen),
        "a batch, with two networks": steps(gen, two=True),
        "a batch of as many steps as actions": steps(gen, 4, two=True),
        "a batch of two, with gamma 1": steps(gen, 2, two=True, gamma=1.0),
        "a batch, with gamma 0": steps(gen, gamma=0.0),
        "ended episodes": steps(gen, two=True, over=True),
    },
    gradient="net",
    scale=10.0,
    suspects={
        "the prediction of each step is compared with the targets of all of them": wrong(
            pair=lambda predictions: predictions[:, None]
        ),
        "net tells what next states are worth: target_net should": lambda w, v, *batch: exact(
            w, same, *batch
        ),
        "target_net makes the prediction, too: that is net's": lambda w, v, *batch: exact(
            w if v is same else v, v, *batch
        ),
        "net picks the best action of the next state: target_net alone tells its worth": wrong(
            worth=lambda told, own: told.gather(1, own.argmax(1, keepdim=True))[:, 0]
        ),
        "done has no effect: where an episode is over, the reward alone counts": wrong(over=torch.zeros_like),
        "done is read the wrong way round": wrong(over=torch.logical_not),
        "the best action of the whole batch counts: each state has a best one of its own": wrong(
            worth=lambda told, own: told.amax().expand(len(told))
        ),
        "next states are worth the mean of their actions: the best one counts": wrong(
            worth=lambda told, own: told.mean(1)
        ),
    },
    job=[
        values(
            title="The loss is the mean square of differences; target_net tells what next states are worth."
        )
    ],
    fine=[
        gradients(
            "net states target_net rewards next_states",
            inputs=lambda gen: {
                "a batch": steps(gen, two=True),
                "ended episodes": steps(gen, two=True, over=True),
            },
            name="nothing_learns_through_the_target",
            title="target_net, rewards and next_states get no gradient; states and net do.",
        ),
        gradients(
            "net",
            inputs=lambda gen: {
                "a batch, with NaN after the end": broken(gen),
                "ended episodes, with NaN after them": broken(gen, over=True),
            },
            name="ended_episodes",
            title="After an episode's end next_states may hold NaN or inf: no gradient sees it.",
        ),
        dtypes(torch.float64, name="float64", title="A batch in float64 has its loss in float64."),
        device(title="On another device, the loss comes from there."),
    ],
)


def test_default_gamma(answer, gen):
    """gamma is 0.99 where it is not given."""
    w, _, *batch, _ = steps(gen).args
    yours, wanted = answer.td_loss(*networks(w, same), *batch), exact(w, same, *batch)
    expect_close(yours, wanted, "td_loss(…) with no gamma", scale=10.0)


def test_training_reaches_the_right_worth(answer):
    """In a chain of two states, training with one net finds what each of them is worth."""
    # state 0 leads to state 1 without a reward or, by chance, to the end with 2; state 1 to the end with 1
    states, next_states = torch.tensor([[1.0, 0], [1, 0], [0, 1]]), torch.tensor([[0, 1.0], [0, 1], [0, 0]])
    rewards, done = torch.tensor([0.0, 2.0, 1.0]), torch.tensor([False, True, True])
    w = torch.zeros(2, 1, requires_grad=True)
    net = lambda states: states @ w  # noqa: E731
    for _ in range(60):
        loss = answer.td_loss(
            net, net, states, torch.zeros(3, dtype=torch.int64), rewards, next_states, done, 0.5
        )
        (gradient,) = torch.autograd.grad(loss, [w])
        with torch.no_grad():
            w -= 0.7 * gradient
    expect_close(
        w.detach(), torch.tensor([[1.25], [1.0]]), "the worth of both states after training", ulps=1e4
    )


@pytest.mark.fine
def test_impossible_actions(answer, gen):
    """An action that was not taken may be worth -inf."""
    w, _, states, _, *batch = steps(gen).args

    def net(states):
        worth = linear(w)(states)
        return worth.masked_fill(worth == worth.amin(1, keepdim=True), -math.inf)

    best = net(states).argmax(1)
    wanted = exact(w, same, states, best, *batch)
    yours = answer.td_loss(net, net, states, best, *batch)
    expect_close(yours, wanted, f"{CALL} with an action not taken at -inf in each row", scale=10.0)


@pytest.mark.fine
def test_nothing_changes_for_the_caller(answer, gen):
    """Parameters keep values, requires_grad and `.grad`, modules their mode, inputs their numbers."""
    _, _, states, actions, rewards, next_states, done, _ = steps(gen).args
    net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.0))
    target_net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.0)).eval()
    target_net[0].bias.requires_grad_(False)
    parameters = [*net.parameters(), *target_net.parameters()]
    named = dict(states=states, rewards=rewards, next_states=next_states, done=done, actions=actions)
    named |= {f"parameter_{i}": p for i, p in enumerate(parameters)}
    nets = nn.ModuleDict({"net": net, "target_net": target_net})
    with unchanged(CALL, **named), modes_kept(CALL, nets):
        answer.td_loss(net, target_net, states, actions, rewards, next_states, done)
    expect_that(all(p.grad is None for p in parameters), f"a parameter has a `.grad` after {CALL}")
    with unchanged("td_loss with networks that return their states", **named):
        answer.td_loss(nn.Identity(), nn.Identity(), states, actions % 3, rewards, next_states, done)
    with torch.no_grad(), modes_kept(f"{CALL} inside no_grad"):
        answer.td_loss(net, target_net, states, actions, rewards, next_states, done)
