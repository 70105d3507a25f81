"""What grades gradient_penalty: values, gradients of the parameters, cost; data left alone, zeros."""

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    modes_kept,
    unchanged,
)

CALL = "gradient_penalty(critic, real, fake, mix)"


def critic_of(first, second):
    """A network of one hidden layer."""
    return lambda x: x.flatten(1).matmul(first).tanh().matmul(second)


def slopes_of(first, second, real, fake, mix):
    """The gradients of `critic_of`, worked out on paper."""
    weight = mix.reshape(-1, 1)
    between = weight * real.flatten(1) + (1 - weight) * fake.flatten(1)
    hidden = between.matmul(first).tanh()
    return ((1 - hidden**2) * second.flatten()) @ first.T


def right(*given, target=1.0):
    """The penalty of `critic_of`."""
    return ((slopes_of(*given).pow(2).sum(1).sqrt() - target) ** 2).mean()


def exact(first, second, *data, **options):
    return right(*(t.detach().double() for t in (first, second, *data)), **options).to(first.dtype)


def mistakes(first, second, real, fake, mix, target):
    """What people get wrong, and what it gives."""
    given = first, second, real, fake, mix
    slopes = slopes_of(*given)
    norms = slopes.norm(dim=1)
    swapped, ones = (first, second, fake, real, mix), torch.ones_like(mix)
    return {
        "mix is the share of fake: it is that of real": lambda: exact(*swapped, target=target),
        "mix is not used: the gradient is that at the real samples": lambda: exact(
            first, second, real, fake, ones, target=target
        ),
        "one norm is taken of the whole batch: each sample has its own": lambda: (
            (slopes.norm() - target) ** 2
        ),
        "the mean is squared: each sample's distance is, and then the mean taken": lambda: (
            (norms.mean() - target) ** 2
        ),
        "the gradient is that of the mean score": lambda: (norms / len(mix) - target).square().mean(),
        "target is ignored": lambda: exact(*given),
        "one mix is used for the whole batch": lambda: exact(
            first, second, real, fake, mix[0] * ones, target=target
        ),
    }


def draw(gen, batch=4, features=(3,), hidden=5, dtype=torch.float32):
    size = torch.Size(features).numel()
    shapes = (size, hidden), (hidden,), (batch, *features), (batch, *features)
    drawn = [torch.randn(shape, generator=gen, dtype=dtype) for shape in shapes]
    return *drawn, torch.rand(batch, generator=gen, dtype=dtype)


def test_values(answer, gen):
    """The penalty is right for samples of any number of dimensions, batches of one, and any target."""
    for batch, features in [(4, (3,)), (1, (5,)), (3, (3,)), (6, (2, 3)), (3, (2, 4, 4))]:
        for target in (1.0, 0.0, 2.5):
            given = draw(gen, batch, features)
            yours = answer.gradient_penalty(critic_of(*given[:2]), *given[2:], target=target)
            call = f"{CALL}, samples of shape {(batch, *features)}, target {target}"
            suspects = mistakes(*given, target)
            expect_close(yours.detach(), exact(*given, target=target), call, scale=50.0, suspects=suspects)


def test_mix_says_where(answer, gen):
    """mix 1 is the real sample, 0 the fake one, and each sample has its own mix."""
    _, _, real, fake, _ = draw(gen, 3, (2, 2))
    critic = lambda x: x.square().flatten(1).sum(1) / 2  # noqa: E731
    penalty = lambda real, fake, mix: (  # noqa: E731
        ((mix.view(3, 1, 1) * real + (1 - mix.view(3, 1, 1)) * fake).flatten(1).norm(dim=1) - 1) ** 2
    ).mean()
    for mix in (torch.tensor([0.0, 0.5, 1.0]), torch.ones(3), torch.zeros(3)):
        yours = answer.gradient_penalty(critic, real, fake, mix).detach()
        suspects = {
            "mix is the share of fake: it is that of real": lambda m=mix: penalty(fake, real, m),
            "the gradient is that at the real samples": lambda: penalty(real, fake, torch.ones(3)),
        }
        call = f"{CALL}, mix {mix.tolist()}"
        expect_close(yours, penalty(real, fake, mix), call, scale=10.0, suspects=suspects)


def test_gradients_of_the_parameters(answer, gen):
    """The critic's parameters get the gradient of the penalty: one of second order."""
    for features, target in [((3,), 1.0), ((2, 3), 0.5)]:
        first, second, *data = draw(gen, 4, features)
        exactly = [t.double() for t in data]
        expect_gradients(
            lambda a, b, d=data, t=target: answer.gradient_penalty(critic_of(a, b), *d, target=t),
            [first, second],
            lambda a, b, d=exactly, t=target: right(a, b, *d, target=t),
            gen=gen,
            call=f"{CALL}, target {target}",
            names="first_layer second_layer",
            scale=100.0,
        )


def test_scores_in_a_column(answer, gen):
    """Scores of shape (batch, 1) give the same penalty as scores of shape (batch,)."""
    first, second, *data = draw(gen)
    yours = answer.gradient_penalty(critic_of(first, second[:, None]), *data)
    call = f"{CALL}, scores of shape (batch, 1)"
    expect_close(yours.detach(), exact(first, second, *data), call, scale=50.0)


def test_one_call(answer, gen):
    """The critic is called once, on the whole batch, and nothing loops over the samples."""
    first, second, *data = draw(gen)
    sizes = []

    def critic(x):
        sizes.append(len(x))
        return critic_of(first, second)(x)

    answer.gradient_penalty(critic, *data)
    expect_equal(sizes, [4], f"the sizes of the batches that the critic gets in {CALL}")

    def make(n):
        given = draw(gen, n)
        return lambda: answer.gradient_penalty(critic_of(*given[:2]), *given[2:])

    expect_flat_cost(make, CALL, over="batch")


@pytest.mark.fine
def test_data_gets_no_gradient(answer, gen):
    """No gradient reaches real, fake or mix, nor what they were computed from."""
    first, second, *data = draw(gen)
    first.requires_grad_()
    sources = [t.requires_grad_() for t in data]
    for given, about in [(sources, "leaves"), ([t * 1.0 for t in sources], "parts of a graph")]:
        answer.gradient_penalty(critic_of(first, second), *given).backward()
        for name, source in zip(("real", "fake", "mix"), sources, strict=True):
            expect_that(
                source.grad is None or not source.grad.any(),
                f"backward of the penalty puts a gradient on {name}, where real, fake and mix are {about}",
                likely="the mixture is not detached before it requires a gradient",
            )


@pytest.mark.fine
def test_nothing_is_changed(answer, gen):
    """Computing the penalty changes neither its inputs, nor any `.grad`, nor the critic's mode."""
    _, _, real, fake, mix = draw(gen)
    critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    for parameter in critic.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)
    for training in (True, False):
        critic.train(training)
        with unchanged(CALL, real=real, fake=fake, mix=mix), modes_kept(CALL, critic):
            answer.gradient_penalty(critic, real, fake, mix)
        for parameter in critic.parameters():
            kept = parameter.grad is not None and bool((parameter.grad == 7.0).all())
            expect_that(kept, f"{CALL} changes the .grad of the parameters", grad=parameter.grad)


@pytest.mark.fine
def test_gradient_of_zero(answer, gen):
    """A sample whose gradient is exactly 0 counts target², and adds no NaN to the parameters' gradients."""
    _, _, real, fake, mix = draw(gen)
    alive = torch.tensor([0.0, 1.0, 0.0, 1.0])
    weight = torch.tensor([3.0, 0.0, 4.0], requires_grad=True)
    penalty = answer.gradient_penalty(lambda x: (x @ weight) * alive, real, fake, mix, target=2.0)
    call = f"{CALL}, two of four gradients exactly 0"
    expect_close(penalty.detach(), torch.tensor((4.0 + 9.0) / 2), call)
    penalty.backward()
    wanted = torch.tensor([1.8, 0.0, 2.4])  # half of 2 (5 - 2) w / 5
    expect_close(weight.grad, wanted, f"the gradient of the critic's weight, {call}")


@pytest.mark.fine
def test_float64(answer, gen):
    """In float64 the penalty is computed, and comes out, as such."""
    given = draw(gen, dtype=torch.float64)
    yours = answer.gradient_penalty(critic_of(*given[:2]), *given[2:], target=0.3)
    wanted = exact(*given, target=0.3)
    expect_close(yours.detach(), wanted, f"{CALL} in float64", scale=50.0, ulps=2e6)  # 1e-12 under a root


def oracle(answer, gen):
    cases = {}
    for name, features, options in [
        ("three numbers in a sample", (3,), {}),
        ("images", (2, 3, 3), {"target": 0.5}),
        ("a batch of rows of five", (5,), {"target": 0.0}),
    ]:
        first, second, *data = draw(gen, 4, features)
        first.requires_grad_()
        second.requires_grad_()
        penalty = answer.gradient_penalty(critic_of(first, second), *data, **options)
        gradients = torch.autograd.grad(penalty, [first, second])
        cases[name] = [penalty.detach(), *gradients]
    return cases
