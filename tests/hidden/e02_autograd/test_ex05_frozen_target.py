"""What grades td_loss: values, gradients through the prediction alone; ended episodes."""

import math

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_gradients,
    expect_that,
    modes_kept,
    unchanged,
)
from grader.checks.devices import on_host

CALL = "td_loss(net, target_net, states, …)"


def draw(gen, batch=6, state=3, actions=4, dtype=torch.float32):
    """states, actions, rewards, next_states, done: at least one episode goes on, one is over."""
    randn = lambda *shape: torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)  # noqa: E731
    done = torch.arange(batch) % 3 == 1
    chosen = torch.randint(actions, (batch,), generator=gen)
    return randn(batch, state), chosen, randn(batch), randn(batch, state), done


def linear(w):
    return lambda states: torch.tanh(states.flatten(1) @ w) * 3


def module(fn):
    layer = nn.Module()
    layer.forward = fn
    return layer


def exact(net, target_net, states, actions, rewards, next_states, done, gamma=0.99, best=None):
    """The loss transition by transition; the targets as plain numbers. `best` tells what a state is worth."""
    predictions, worth = net(states), target_net(next_states).detach().tolist()
    total = 0.0
    for i, action in enumerate(actions.tolist()):
        target = float(rewards[i]) + (
            0.0 if done[i] else gamma * (max(worth[i]) if best is None else best[i])
        )
        total = total + (predictions[i, action] - target) ** 2
    return total / len(actions)


def crossed(net, target_net, states, actions, rewards, next_states, done, gamma):
    """What comes out where predictions of (batch, 1) meet targets of (batch,)."""
    predictions = net(states)[torch.arange(len(actions)), actions]
    targets = rewards + gamma * target_net(next_states).amax(1) * ~done
    return float((predictions[:, None] - targets).square().mean())


def mistakes(net, target_net, states, actions, rewards, next_states, done, gamma):
    """What people get wrong, and what it gives."""
    rest = (states, actions, rewards, next_states)
    worth, chosen = target_net(next_states), net(next_states).argmax(1, keepdim=True)

    def given(net=net, target_net=target_net, done=done, **options):
        return lambda: exact(net, target_net, *rest, done, gamma, **options)

    return {
        "net tells what next states are worth: target_net should": given(target_net=net),
        "target_net makes the prediction, too: that is net's": given(net=target_net),
        "net picks the best action of the next state: target_net alone tells its worth": given(
            best=worth.gather(1, chosen).flatten().tolist()
        ),
        "done has no effect: where an episode is over, the reward alone counts": given(
            done=torch.zeros_like(done)
        ),
        "done is read the wrong way round": given(done=~done),
        "next states are worth the mean of their actions: the best one counts": given(
            best=worth.mean(1).tolist()
        ),
    }


def weights(gen, state=3, actions=4, dtype=torch.float32):
    return torch.randn(state, actions, generator=gen, dtype=torch.float64).to(dtype)


def test_loss(answer, gen):
    """The loss is the mean of the squared differences; target_net tells what next states are worth."""
    for size in (6, 4, 2):
        batch, w, v = draw(gen, size), weights(gen), weights(gen)
        wanted = exact(linear(w), linear(v), *batch, 0.9)
        yours = answer.td_loss(linear(w), linear(v), *batch, 0.9)
        mixed = crossed(linear(w), linear(v), *batch, 0.9)
        expect_that(
            yours.numel() != 1 or abs(yours.item() - mixed) > 1e-4 * mixed,
            f"{CALL} compares the prediction of each transition with the targets of all of them",
            yours=f"{mixed:.4g}, the mean over a table of (batch, batch)",
            wanted=f"{float(wanted):.4g}, with a batch of {size}",
        )
        suspects = mistakes(linear(w), linear(v), *batch, 0.9)
        expect_close(yours, wanted, f"{CALL} with a batch of {size}", scale=10.0, suspects=suspects)


def test_gamma(answer, gen):
    """gamma counts, from 0 to 1, and is 0.99 where it is not given."""
    batch, w = draw(gen), weights(gen)
    for options in ({"gamma": 0.0}, {"gamma": 1.0}, {}):
        wanted = exact(linear(w), linear(w), *batch, options.get("gamma", 0.99))
        yours = answer.td_loss(linear(w), linear(w), *batch, **options)
        expect_close(yours, wanted, f"td_loss(…) with {options or 'no gamma'}", scale=10.0)


def test_gradient_with_one_net(answer, gen):
    """With the same net for both, its gradient is the one through the prediction."""
    batch, w = draw(gen), weights(gen).requires_grad_()
    (wanted,) = torch.autograd.grad(exact(linear(w), linear(w), *batch, 0.9), w)
    loss = answer.td_loss(linear(w), linear(w), *batch, 0.9)
    expect_that(
        loss.requires_grad, f"{CALL} carries no graph: net gets no gradient, the prediction is cut off"
    )
    (yours,) = torch.autograd.grad(loss, w)
    expect_gradient(yours, wanted, f"net through {CALL}", scale=10.0)


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
def test_nothing_learns_through_the_target(answer, gen):
    """target_net, rewards and next_states get no gradient, though they require one; states and net do."""
    states, actions, rewards, next_states, done = draw(gen, dtype=torch.float64)
    inputs = [
        weights(gen, dtype=torch.float64),
        states,
        weights(gen, dtype=torch.float64),
        rewards,
        next_states,
    ]

    def loss_of(td_loss, done):
        return lambda w, s, v, r, n: td_loss(linear(w), linear(v), s, actions, r, n, done, 0.9)

    names = "net states target_net rewards next_states"
    for over, about in ((done, ""), (done | True, ", all episodes over")):
        yours, wanted = loss_of(answer.td_loss, over), loss_of(exact, over)
        expect_gradients(yours, inputs, wanted, gen=gen, call=CALL + about, names=names, scale=10.0)


@pytest.mark.fine
def test_ended_episodes(answer, gen):
    """After an episode's end next_states may hold NaN or inf: neither the loss nor a gradient sees it."""
    states, actions, rewards, next_states, done = draw(gen)
    broken = next_states.clone()
    broken[done] = torch.tensor([[math.nan, math.inf, -math.inf], [math.inf, 0, 0]])
    w = weights(gen).requires_grad_()
    net = lambda states: states @ w  # noqa: E731
    for over in (done, torch.ones_like(done)):
        after = torch.where(over.unsqueeze(1), math.nan, next_states) if over.all() else broken
        wanted = exact(net, net, states, actions, rewards, after, over, 0.9)
        (gradient,) = torch.autograd.grad(wanted, [w])
        yours = answer.td_loss(net, net, states, actions, rewards, after, over, 0.9)
        note = "NaN after the end" + ("" if over.all() else ", and inf")
        expect_close(yours.detach(), wanted.detach(), f"{CALL} with {note}", scale=10.0)
        (mine,) = torch.autograd.grad(yours, [w])
        expect_gradient(mine, gradient, f"net where next_states has NaN after the end of {CALL}", scale=10.0)


@pytest.mark.fine
def test_impossible_actions(answer, gen):
    """An action that was not taken may be worth -inf."""
    batch, w = draw(gen), weights(gen)

    def net(states):
        worth = linear(w)(states)
        return worth.masked_fill(worth == worth.amin(1, keepdim=True), -math.inf)

    batch = (batch[0], net(batch[0]).argmax(1), *batch[2:])
    wanted = exact(net, net, *batch, 0.9)
    yours = answer.td_loss(net, net, *batch, 0.9)
    expect_close(yours, wanted, f"{CALL} with an action not taken at -inf in each row", scale=10.0)


@pytest.mark.fine
def test_nothing_changes_for_the_caller(answer, gen):
    """Parameters keep values, requires_grad and `.grad`, modules their mode, inputs their numbers."""
    states, actions, rewards, next_states, done = draw(gen)
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


@pytest.mark.fine
def test_float64(answer, gen):
    """A batch in float64 has its loss in float64."""
    batch, w = draw(gen, dtype=torch.float64), weights(gen, dtype=torch.float64)
    wanted = exact(linear(w), linear(w), *batch, 0.9)
    expect_close(answer.td_loss(linear(w), linear(w), *batch, 0.9), wanted, f"{CALL} in float64", scale=10.0)


@pytest.mark.fine
def test_on_another_device(answer, device, gen):
    """On another device, loss and gradient come from there."""
    batch, w = draw(gen), weights(gen)
    leaf = w.clone().requires_grad_()
    wanted = exact(linear(leaf), linear(leaf), *batch)
    (gradient,) = torch.autograd.grad(wanted, [leaf])
    there = w.to(device).requires_grad_()
    loss = answer.td_loss(linear(there), linear(there), *(t.to(device) for t in batch))
    expect_equal(loss.device, device, f"the device of {CALL}")
    loss.backward()
    expect_close(on_host(loss.detach()), wanted.detach(), f"{CALL} on another device", scale=10.0)
    expect_close(on_host(there.grad), gradient, "the gradient of net on another device", scale=10.0)


def oracle(answer, gen):
    def told(one, other, gamma, gradient):
        batch = draw(gen)
        loss = answer.td_loss(linear(one), linear(other), *batch, gamma)
        return torch.autograd.grad(loss, one)[0] if gradient else loss.detach()

    w, v = weights(gen).requires_grad_(), weights(gen)
    return {
        "the loss with one network": told(w, w, 0.9, False),
        "the gradient with one network": told(w, w, 0.9, True),
        "the loss with two networks": told(w, v, 0.99, False),
        "the gradient with two networks": told(w, v, 0.99, True),
    }
