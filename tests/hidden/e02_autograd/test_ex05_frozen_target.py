"""What grades td_loss: values, gradients through the prediction alone, shared weights, ended episodes."""

import contextlib
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


def draw(gen, batch=6, state=3, actions=4, dtype=torch.float64):
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


def weights(gen, state=3, actions=4, dtype=torch.float64):
    return torch.randn(state, actions, generator=gen, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_loss(answer, gen, dtype):
    """The loss is the mean of the squared differences, for batches of any size."""
    for size in (6, 1, 2, 4):
        batch, w, v = draw(gen, size, dtype=dtype), weights(gen, dtype=dtype), weights(gen, dtype=dtype)
        wanted = exact(linear(w), linear(v), *batch, 0.9).detach()
        yours = answer.td_loss(linear(w), linear(v), *batch, 0.9)
        if size == 6 and torch.is_tensor(yours):
            mixed = crossed(linear(w), linear(v), *batch, 0.9)
            expect_that(
                yours.numel() != 1 or abs(yours.item() - mixed) > 1e-4 * mixed,
                f"{CALL} compares the prediction of each transition with the targets of all of them",
                yours=f"{mixed:.4g}, the mean over a table of (batch, batch)",
                wanted=f"{float(wanted):.4g}, with a batch of {size}",
            )
        suspects = mistakes(linear(w), linear(v), *batch, 0.9)
        expect_close(yours, wanted, f"{CALL} with a batch of {size}", scale=10.0, suspects=suspects)
        w, v = w[:, :1], v[:, :1]
        wanted = exact(linear(w), linear(v), batch[0], batch[1] * 0, *batch[2:], 0.9).detach()
        yours = answer.td_loss(linear(w), linear(v), batch[0], batch[1] * 0, *batch[2:], 0.9)
        expect_close(yours, wanted, f"{CALL} with a batch of {size} and a single action", scale=10.0)
    batch, w = draw(gen, 150, actions=200, dtype=dtype), weights(gen, actions=200, dtype=dtype)
    wanted = exact(linear(w), linear(w), *batch, 0.9).detach()
    yours = answer.td_loss(linear(w), linear(w), *batch, 0.9)
    expect_close(yours, wanted, f"{CALL} with a batch of 150 and 200 actions", scale=10.0)


@pytest.mark.parametrize("size", [1e-4, 1e4], ids=str)
def test_rewards_of_any_size(answer, gen, size):
    """The difference is squared, however small or large it is, and so is its gradient in proportion to it."""
    states, actions, rewards, next_states, done = draw(gen)
    rewards = rewards * size

    def loss_of(td_loss):
        def loss(w):
            net = lambda states: states @ w * size  # noqa: E731
            return td_loss(net, net, states, actions, rewards, next_states, done, 0.9)

        return loss

    w, call = weights(gen), f"{CALL} with rewards near {size:g}"
    wanted = loss_of(exact)(w)
    expect_close(loss_of(answer.td_loss)(w), wanted, call, scale=10.0 * size**2)
    expect_gradients(
        loss_of(answer.td_loss), [w], loss_of(exact), gen=gen, call=call, names="net", scale=10.0 * size**2
    )


def test_gamma(answer, gen):
    """gamma counts, from 0 to 1, and is 0.99 where it is not given."""
    batch, w = draw(gen), weights(gen)
    for gamma in (0.0, 0.5, 1.0):
        wanted = exact(linear(w), linear(w), *batch, gamma)
        yours = answer.td_loss(linear(w), linear(w), *batch, gamma=gamma)
        expect_close(yours, wanted, f"td_loss(…, gamma={gamma})", scale=10.0)
    wanted = exact(linear(w), linear(w), *batch, 0.99)
    expect_close(answer.td_loss(linear(w), linear(w), *batch), wanted, "td_loss(…) without gamma", scale=10.0)


def test_target_net_tells_the_worth(answer, gen):
    """What the best action is, and what it is worth, comes from target_net; predictions come from net."""
    batch, w = draw(gen), weights(gen)
    v = -w.flip(1) + 0.5
    for one, other in ((w, v), (v, w)):
        wanted = exact(linear(one), linear(other), *batch, 0.9)
        for nets in ((linear(one), linear(other)), (module(linear(one)), module(linear(other)))):
            expect_close(answer.td_loss(*nets, *batch, 0.9), wanted, CALL, scale=10.0)

    def net(states):
        worth = linear(w)(states)
        return worth.masked_fill(worth == worth.amin(1, keepdim=True), -math.inf)

    batch = (batch[0], net(batch[0]).argmax(1), *batch[2:])
    wanted = exact(net, net, *batch, 0.9)
    yours = answer.td_loss(net, net, *batch, 0.9)
    expect_close(yours, wanted, f"{CALL} with an action not taken at -inf in each row", scale=10.0)
    turned = lambda states: net(states).t().contiguous().t()  # noqa: E731
    yours = answer.td_loss(turned, turned, *batch, 0.9)
    expect_close(yours, wanted, f"{CALL} where networks return a transposed tensor", scale=10.0)


def test_gradient_with_one_net(answer, gen):
    """With the same net for both, its gradient is the one through the prediction."""
    states, actions, rewards, next_states, done = draw(gen)

    def loss_of(td_loss):
        def loss(w, states):
            net = linear(w)
            return td_loss(net, net, states, actions, rewards, next_states, done, 0.9)

        return loss

    inputs = [weights(gen), states]
    expect_gradients(
        loss_of(answer.td_loss), inputs, loss_of(exact), gen=gen, call=CALL, names="w states", scale=10.0
    )


def test_nothing_learns_through_the_target(answer, gen):
    """target_net, rewards and next_states get no gradient, though they require one; states and net do."""
    states, actions, rewards, next_states, done = draw(gen)
    inputs = [weights(gen), states, weights(gen), rewards, next_states]

    def loss_of(td_loss, done):
        return lambda w, s, v, r, n: td_loss(linear(w), linear(v), s, actions, r, n, done, 0.9)

    names = "net states target_net rewards next_states"
    for over, about in ((done, ""), (done | True, ", all episodes over")):
        yours, wanted = loss_of(answer.td_loss, over), loss_of(exact, over)
        expect_gradients(yours, inputs, wanted, gen=gen, call=CALL + about, names=names, scale=10.0)


def test_one_encoder(answer, gen):
    """States and next states may come from one encoder, which learns through the states alone."""
    states, actions, rewards, next_states, done = draw(gen)
    w = weights(gen)

    def loss_of(td_loss):
        def forward(encoder):
            both = torch.cat([states, next_states]) @ encoder
            now, later = both.chunk(2)
            return td_loss(linear(w), linear(w), now, actions, rewards, later, done, 0.9) + later.mean()

        return forward

    encoder = torch.randn(3, 3, generator=gen, dtype=torch.float64)
    expect_gradients(
        loss_of(answer.td_loss), [encoder], loss_of(exact), gen=gen, call=CALL, names="encoder", scale=10.0
    )


def test_ended_episodes(answer, gen):
    """After an episode's end next_states may hold NaN or inf: neither the loss nor a gradient sees it."""
    states, actions, rewards, next_states, done = draw(gen)
    broken = next_states.clone()
    broken[done] = torch.tensor([[math.nan, math.inf, -math.inf], [math.inf, 0, 0]], dtype=torch.float64)
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
    broken[~done] = math.nan
    loss = answer.td_loss(net, net, states, actions, rewards, broken, done, 0.9)
    expect_that(bool(loss.isnan()), f"{CALL} hides NaN in an episode that goes on", yours=loss.detach())


def test_nan_comes_through(answer, gen):
    """NaN and inf come through to the loss: from a reward, a state, or a next state that counts."""
    states, actions, rewards, next_states, done = draw(gen)
    net = lambda states: states[:, :1] * torch.arange(1.0, 5.0, dtype=torch.float64)  # noqa: E731
    for name, at in [("rewards", 0), ("rewards", 1), ("states", 0), ("states", 1), ("next_states", 0)]:
        for value in (math.nan, math.inf):
            given = {"states": states.clone(), "rewards": rewards.clone(), "next_states": next_states.clone()}
            given[name][at] = value
            gamma = 0.9 if value == math.inf else 0.0  # which makes no number of NaN either
            loss = answer.td_loss(
                net, net, given["states"], actions, given["rewards"], given["next_states"], done, gamma
            )
            where = f"{name} of an episode that {'is over' if done[at] else 'goes on'}, gamma={gamma}"
            expect_that(not bool(loss.isfinite()), f"{CALL} hides {value} in {where}", yours=loss)


def test_states_with_more_dimensions(answer, gen):
    """States may be images, or single numbers: the nets get them as they are."""
    batch = list(draw(gen, 5))
    batch[0], batch[3] = (torch.randn(5, 1, 2, 3, generator=gen, dtype=torch.float64) for _ in range(2))
    w = weights(gen, 6)
    wanted = exact(linear(w), linear(w), *batch, 0.9)
    yours = answer.td_loss(linear(w), linear(w), *batch, 0.9)
    expect_close(yours, wanted, f"{CALL} with states of shape (batch, 1, 2, 3)", scale=10.0)
    batch[0], batch[3] = batch[0][:, 0, 0, 0], batch[3][:, 0, 0, 0]
    of_numbers = lambda states: torch.outer(states, w[0])  # noqa: E731
    wanted = exact(of_numbers, of_numbers, *batch, 0.9)
    yours = answer.td_loss(of_numbers, of_numbers, *batch, 0.9)
    expect_close(yours, wanted, f"{CALL} with states of shape (batch,)", scale=10.0)


def test_nothing_changes_for_the_caller(answer, gen):
    """Parameters keep values, requires_grad and `.grad`, modules their mode, inputs their numbers."""
    states, actions, rewards, next_states, done = draw(gen)
    net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.0)).double()
    target_net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.0)).double().eval()
    target_net[0].bias.requires_grad_(False)
    parameters = [*net.parameters(), *target_net.parameters()]
    net[0].weight.grad = torch.ones_like(net[0].weight)
    named = dict(states=states, rewards=rewards, next_states=next_states, done=done, actions=actions)
    named |= {f"parameter_{i}": p for i, p in enumerate(parameters)}
    nets = nn.ModuleDict({"net": net, "target_net": target_net})
    with unchanged(CALL, **named), modes_kept(CALL, nets):
        answer.td_loss(net, target_net, states, actions, rewards, next_states, done)
        answer.td_loss(target_net, net, states, actions, rewards, next_states, done)
    call, same = "td_loss with networks that return their states", nn.Identity()
    reached = next_states * torch.ones((), dtype=next_states.dtype, requires_grad=True)
    with unchanged(call, **named):
        answer.td_loss(same, same, states, actions % 3, rewards, next_states, done)
        answer.td_loss(same, same, states, actions % 3, rewards, reached, done)
    expect_that(reached.grad_fn is not None, f"{call} cuts next_states off their graph, for the caller too")
    expect_that(
        net[0].weight.grad is not None and bool(net[0].weight.grad.eq(1).all()), f"{CALL} changes a `.grad`"
    )
    expect_that(all(p.grad is None for p in parameters[1:]), f"a parameter has a `.grad` after {CALL}")


def test_grad_mode(answer, gen):
    """Recording is on or off afterwards as it was before, and inside no_grad the loss is the same."""
    batch, w = draw(gen), weights(gen).requires_grad_()
    wanted = exact(linear(w), linear(w), *batch).detach()
    with modes_kept(CALL):
        answer.td_loss(linear(w), linear(w), *batch)
    with torch.no_grad(), modes_kept(f"{CALL} inside no_grad"):
        yours = answer.td_loss(linear(w), linear(w), *batch)
    expect_close(yours.detach(), wanted, f"{CALL} inside no_grad", scale=10.0)

    class Failing(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, states):
            modes.append(self.training)
            raise ArithmeticError("no estimates here")

    modes, failing = [], Failing()
    for nets in ((linear(w), failing), (failing, linear(w))):
        with modes_kept("an error that a network raises", failing), contextlib.suppress(ArithmeticError):
            answer.td_loss(*nets, *batch)
        expect_equal(modes, [True] * len(modes), "training of a network while it runs")
        required = failing.scale.requires_grad
        expect_equal(required, True, "requires_grad of a parameter after an error that a network raises")


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
    states, actions, rewards, next_states, done = draw(gen)
    w, v = weights(gen).requires_grad_(), weights(gen).requires_grad_()
    rewards, next_states = rewards.requires_grad_(), next_states.requires_grad_()
    results = []
    for one, other, gamma in ((w, w, 0.9), (w, v, 0.99)):
        batch = (states, actions, rewards, next_states, done)
        loss = answer.td_loss(linear(one), linear(other), *batch, gamma)
        (gradient,) = torch.autograd.grad(loss, [w], retain_graph=True)
        free = torch.autograd.grad(loss, [rewards, next_states], allow_unused=True, retain_graph=True)
        results += [loss.detach(), gradient, [g is None or not bool(g.any()) for g in free]]
    return results
