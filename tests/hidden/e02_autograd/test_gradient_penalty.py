"""What grades gradient_penalty: values, gradients of the parameters, cost; data left alone, zeros."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, modes_kept, unchanged
from grader.checks.contract import Contract, dtypes, flat_cost, given, gradients, values

CALL = "gradient_penalty(critic, real, fake, mix)"


def critic_of(weights):
    """A network of one hidden layer, whose weights are the rows of one tensor; those behind it the last."""
    return lambda x: x.flatten(1).matmul(weights[:-1]).tanh().matmul(weights[-1])


def samples(gen, batch, *features, mix=None, **options):
    """A critic's weights, real and fake samples, and the share of the real ones."""
    weights = torch.randn(torch.Size(features).numel() + 1, 5, generator=gen)
    real, fake = (torch.randn(batch, *features, generator=gen) for _ in range(2))
    mix = torch.rand(batch, generator=gen) if mix is None else torch.tensor(mix)
    return given(weights, real, fake, mix, **options)


def mean_square(slopes, target):
    return ((slopes.flatten(1).square().sum(1).sqrt() - target) ** 2).mean()


def right(weights, real, fake, mix, target=1.0, of=mean_square):
    """The penalty of `critic_of`, with the gradients worked out on paper; or another one of these."""
    share = mix.reshape(-1, *[1] * (real.ndim - 1))
    hidden = (share * real + (1 - share) * fake).flatten(1).matmul(weights[:-1]).tanh()
    slopes = ((1 - hidden**2) * weights[-1]) @ weights[:-1].T
    return of(slopes.reshape(real.shape), target)


def wrong(of):
    return partial(right, of=of)


def over(dim):
    return wrong(lambda slopes, target: (slopes.norm(dim=dim) - target).square().mean())


def mixed(other):
    return lambda weights, real, fake, mix, **options: right(weights, real, fake, other(mix), **options)


contract = Contract(
    CALL,
    reference=right,
    use=lambda answer, weights, *data, **options: answer.gradient_penalty(
        critic_of(weights), *data, **options
    ),
    inputs=lambda gen: {
        "rows": samples(gen, 4, 3),
        "a single row, with target": samples(gen, 1, 5, target=0.0),
        "as many rows as features, with target": samples(gen, 3, 3, target=2.5),
        "tables": samples(gen, 6, 2, 3),
        "images, with target": samples(gen, 3, 2, 4, 4, target=0.5),
    },
    scale=50.0,
    suspects={
        "mix is the share of fake: it is that of real": mixed(lambda mix: 1 - mix),
        "mix is not used: the gradient is that at the real samples": mixed(torch.ones_like),
        "one norm is taken of the whole batch: each sample has its own": wrong(
            lambda slopes, target: (slopes.norm() - target) ** 2
        ),
        "the mean is squared: each sample's distance is, and then the mean taken": wrong(
            lambda slopes, target: (slopes.flatten(1).norm(dim=1).mean() - target) ** 2
        ),
        "the norm is taken over one dim: all dims of a sample but the batch belong to it": over(1),
        "the norm is taken over the last dim alone: all but the batch belong to it": over(-1),
        "the norm is taken over the batch: each sample has its own": over(0),
        "the gradient is that of the mean score": wrong(
            lambda slopes, target: mean_square(slopes / len(slopes), target)
        ),
        "target is ignored": lambda *data, target=1.0: right(*data),
        "one mix is used for the whole batch": mixed(lambda mix: mix[:1].expand(len(mix))),
    },
    gradient="critic",
    job=[
        gradients("critic", scale=100.0, title="The critic's parameters get the gradient of the penalty."),
        values(
            inputs=lambda gen: {
                f"mix {mix}": samples(gen, 3, 2, 2, mix=mix)
                for mix in ([0.0, 0.5, 1.0], [1.0] * 3, [0.0] * 3)
            },
            name="mix_says_where",
            title="mix 1 is the real sample, 0 the fake one, and each sample has its own mix.",
        ),
        flat_cost(lambda n: samples(torch.Generator().manual_seed(n), n, 3), over="batch"),
    ],
    fine=[dtypes(torch.float64, ulps=2e6, name="float64", title="float64 stays float64.")],  # 1e-12 in a root
)


def test_scores_in_a_column(answer, gen):
    """Scores of shape (batch, 1) give the same penalty as scores of shape (batch,)."""
    weights, *data = samples(gen, 4, 3).args
    yours = answer.gradient_penalty(lambda x: critic_of(weights)(x)[:, None], *data)
    wanted = right(*(t.double() for t in (weights, *data))).float()
    expect_close(yours.detach(), wanted, f"{CALL}, scores of shape (batch, 1)", scale=50.0)


def test_one_call(answer, gen):
    """The critic is called once, on the whole batch."""
    weights, *data = samples(gen, 4, 3).args
    sizes = []
    answer.gradient_penalty(lambda x: sizes.append(len(x)) or critic_of(weights)(x), *data)
    suspects = {"it is called for each sample: the whole batch goes in at once": lambda: [1, 1, 1, 1]}
    expect_equal(sizes, [4], f"the sizes of the batches that the critic gets in {CALL}", suspects=suspects)


@pytest.mark.fine
def test_data_gets_no_gradient(answer, gen):
    """No gradient reaches real, fake or mix, nor what they were computed from."""
    weights, *data = samples(gen, 4, 3).args
    weights.requires_grad_()
    sources = [t.requires_grad_() for t in data]
    for held, about in [(sources, "leaves"), ([t * 1.0 for t in sources], "parts of a graph")]:
        answer.gradient_penalty(critic_of(weights), *held).backward()
        for name, source in zip(("real", "fake", "mix"), sources, strict=True):
            expect_that(
                source.grad is None or not source.grad.any(),
                f"backward of the penalty puts a gradient on {name}, where real, fake and mix are {about}",
                likely="the mixture is not detached before it requires a gradient",
            )


@pytest.mark.fine
def test_nothing_is_changed(answer, gen):
    """Computing the penalty changes neither its inputs, nor any `.grad`, nor the critic's mode."""
    _, real, fake, mix = samples(gen, 4, 3).args
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
    _, real, fake, mix = samples(gen, 4, 3).args
    alive = torch.tensor([0.0, 1.0, 0.0, 1.0])
    weight = torch.tensor([3.0, 0.0, 4.0], requires_grad=True)
    penalty = answer.gradient_penalty(lambda x: (x @ weight) * alive, real, fake, mix, target=2.0)
    call = f"{CALL}, two of four gradients exactly 0"
    expect_close(penalty.detach(), torch.tensor((4.0 + 9.0) / 2), call)
    penalty.backward()
    wanted = torch.tensor([1.8, 0.0, 2.4])  # half of 2 (5 - 2) w / 5
    expect_close(weight.grad, wanted, f"the gradient of the critic's weight, {call}")
