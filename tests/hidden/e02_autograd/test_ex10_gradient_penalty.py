"""What grades gradient_penalty: values, gradients of the parameters, data left alone, zeros, cost."""

import gc

import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    held_bytes,
    modes_kept,
    unchanged,
)

CALL = "gradient_penalty(critic, real, fake, mix)"


def critic_of(first, second):
    """A network of one hidden layer. A critic as it is written."""
    return lambda x: x.flatten(1).matmul(first).tanh().matmul(second)


def turned(critic):
    """The same critic of samples with their last two dimensions swapped."""
    return lambda x: critic(x.transpose(-1, -2))


def slopes_of(first, second, real, fake, mix):
    """The gradients of `critic_of`, worked out on paper."""
    weight = mix.reshape(-1, 1)
    between = weight * real.flatten(1) + (1 - weight) * fake.flatten(1)
    hidden = between.matmul(first).tanh()
    return ((1 - hidden**2) * second.flatten()) @ first.T


def right(*given, target=1.0):
    """The penalty of `critic_of`."""
    return ((slopes_of(*given).pow(2).sum(1).sqrt() - target) ** 2).mean()


def mistakes(first, second, real, fake, mix, target=1.0):
    """What people get wrong, and what it gives."""
    slopes = slopes_of(*(t.double() for t in (first, second, real, fake, mix)))
    return {
        "mix is the share of fake: it is that of real": lambda: exact(
            first, second, fake, real, mix, target=target
        ),
        "one norm is taken of the whole batch: each sample has its own": lambda: (
            (slopes.norm() - target) ** 2
        ),
    }


def draw(gen, batch=4, features=(3,), hidden=5, dtype=torch.float32):
    size = torch.Size(features).numel()

    def randn(*shape):
        return torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)

    mix = torch.rand(batch, generator=gen, dtype=torch.float64).to(dtype)
    return randn(size, hidden), randn(hidden), randn(batch, *features), randn(batch, *features), mix


def exact(first, second, *data, **options):
    given = [t.detach().double() for t in (first, second, *data)]
    return right(*given, **options).to(first.dtype)


def test_values(answer, gen):
    """The penalty is right for samples of any number of dimensions, batches of one, and any target."""
    for batch, features in [(4, (3,)), (1, (5,)), (150, (1,)), (3, (3,)), (3, (2, 1, 2, 3)), (2, (3, 4))]:
        for options in ({}, {"target": 0.0}, {"target": 2.5}):
            first, second, *data = draw(gen, batch, features)
            wanted, critic = exact(first, second, *data, **options), critic_of(first, second)
            paper = [t.clone() for t in data]
            if len(features) == 2:  # its gradient is not contiguous
                data[:2] = [t.transpose(-1, -2).contiguous() for t in data[:2]]
                critic = turned(critic)
            yours = answer.gradient_penalty(critic, *data, **options)
            note = f"samples of shape {(batch, *features)}" + "".join(
                f", target {v}" for v in options.values()
            )
            suspects = mistakes(first, second, *paper, **options)
            expect_close(yours.detach(), wanted, f"{CALL}, {note}", scale=20.0, suspects=suspects)


def test_float64(answer, gen):
    """In float64 the penalty is as exact as that: nothing is added to the norm."""
    first, second, *data = draw(gen, dtype=torch.float64)
    wanted = exact(first, second, *data, target=0.3)
    yours = answer.gradient_penalty(critic_of(first, second), *data, target=0.3)
    expect_close(yours.detach(), wanted, f"{CALL} in float64, target 0.3", scale=20.0)
    half = [t.bfloat16() for t in (first, second, *data)]
    rough = answer.gradient_penalty(critic_of(*half[:2]), *half[2:]).detach()
    expect_equal(rough.dtype, torch.bfloat16, f"the dtype of {CALL} in bfloat16")
    small = answer.gradient_penalty(critic_of(first * 1e-9, second), *data, target=0.0)
    wanted = exact(first * 1e-9, second, *data, target=0.0)
    expect_close(small.detach(), wanted, f"{CALL} in float64, gradients near 1e-9", ulps=2000)
    single = [t.float() for t in (first * 1e-9, second, *data)]
    small = answer.gradient_penalty(critic_of(*single[:2]), *single[2:], target=0.0).detach()
    wanted = exact(*single, target=0.0)
    expect_close(small * 1e18, wanted * 1e18, f"{CALL} in float32, gradients near 1e-9", ulps=2000)
    for factor, wanted in ((1e6, (5e6 - 1) ** 2), (torch.nan, torch.nan)):
        slope = torch.tensor([3.0, 0.0, 4.0], dtype=torch.float64) * factor
        large = answer.gradient_penalty(lambda x, slope=slope: x @ slope, *data).detach()
        call = f"{CALL}, where the critic is x @ {slope.tolist()}"
        expect_close(large, torch.tensor(wanted, dtype=torch.float64), call)
    near = torch.tensor([3.0, 0.0, 4.0], dtype=torch.float64) * (1 + 1e-6)
    close = answer.gradient_penalty(lambda x: x @ near, *data, target=5.0).detach()
    wanted = torch.tensor(25e-12, dtype=torch.float64)
    call = f"{CALL} in float64, where the norm is 5.000005 and target 5, times 1e12"
    expect_close(close * 1e12, wanted * 1e12, call, ulps=1e9)  # a difference of numbers near 5


def test_mix_says_where(answer, gen):
    """mix 1 is the real sample, 0 the fake one, and each sample has its own mix."""
    _, _, real, fake, _ = draw(gen, 3, (2, 2))
    critic = lambda x: x.square().flatten(1).sum(1) / 2  # noqa: E731
    for mix in (torch.ones(3), torch.zeros(3), torch.tensor([0.0, 0.5, 1.0])):
        weight = mix.double().view(3, 1, 1)
        between = weight * real.double() + (1 - weight) * fake.double()
        wanted = ((between.flatten(1).norm(dim=1) - 1) ** 2).mean().float()
        yours = answer.gradient_penalty(critic, real, fake, mix)
        expect_close(yours.detach(), wanted, f"{CALL}, mix {mix.tolist()}", scale=5.0)


def test_gradients_of_the_parameters(answer, gen):
    """The critic's parameters get the gradient of the penalty: one of second order."""
    for features, options in [((3,), {}), ((2, 3), {"target": 0.5})]:
        for dtype in (torch.float32, torch.float64):
            first, second, *data = draw(gen, 4, features, dtype=dtype)
            expect_gradients(
                lambda first, second, d=data, o=options: answer.gradient_penalty(
                    critic_of(first, second), *d, **o
                ),
                [first, second],
                lambda first, second, d=data, o=options: right(first, second, *(t.double() for t in d), **o),
                gen=gen,
                call=CALL,
                names="first_layer second_layer",
                scale=40.0,
            )


def test_scores_in_a_column(answer, gen):
    """Scores of shape (B, 1) give the same penalty, and the same gradients, as scores of shape (B,)."""
    first, second, *data = draw(gen)
    second = second[:, None]
    call = f"{CALL}, scores of shape (B, 1)"
    wanted = exact(first, second, *data)
    yours = answer.gradient_penalty(critic_of(first, second), *data)
    expect_close(yours.detach(), wanted, call, scale=20.0)
    expect_gradients(
        lambda first, second: answer.gradient_penalty(critic_of(first, second), *data),
        [first, second],
        lambda first, second: right(first, second, *(t.double() for t in data)),
        gen=gen,
        call=call,
        scale=40.0,
    )


def test_data_gets_no_gradient(answer, gen):
    """No gradient reaches real, fake or mix, nor what they were computed from."""
    first, second, *data = draw(gen)
    first.requires_grad_()
    sources = [t.requires_grad_() for t in data]
    inner = [t * 1.0 for t in sources]
    for given, about in [(sources, "leaves"), (inner, "parts of a graph")]:
        answer.gradient_penalty(critic_of(first, second), *given).backward()
        flags = [t.requires_grad for t in given]
        expect_equal(flags, [True] * 3, f"requires_grad of real, fake and mix after {CALL}")
        for name, source in zip(("real", "fake", "mix"), sources, strict=True):
            expect_that(
                source.grad is None or not source.grad.any(),
                f"backward of the penalty puts a gradient on {name}, where real, fake and mix are {about}",
                likely="the mixture is not detached before it requires a gradient",
            )


def test_nothing_is_changed(answer, gen):
    """Computing the penalty changes neither its inputs nor any `.grad`."""
    first, second, real, fake, mix = draw(gen)
    for parameter in (first, second):
        parameter.requires_grad_().grad = torch.full_like(parameter, 7.0)
    for ends in (mix, torch.ones(4), torch.zeros(4)):
        with unchanged(CALL, real=real, fake=fake, mix=ends, first=first, second=second):
            answer.gradient_penalty(critic_of(first, second), real, fake, ends)
        for name, tensor in [("real", real), ("fake", fake), ("mix", ends)]:
            expect_that(tensor.grad is None, f"{CALL} puts a gradient on {name}")
        for parameter in (first, second):
            wanted = torch.full_like(parameter, 7.0)
            expect_equal(
                parameter.grad, wanted, f"the .grad of a parameter after {CALL}, before any backward"
            )
    for mode in (True, False):
        critic = nn.Sequential(nn.Linear(3, 1)).train(mode)
        critic[0].bias.requires_grad_(False)
        critic[0].weight.grad = torch.full((1, 3), 7.0)
        ran = []
        critic.register_forward_pre_hook(lambda module, args, ran=ran: ran.append(module.training))
        with modes_kept(CALL, critic):
            penalty = answer.gradient_penalty(critic, real, fake, mix)
        gradients = [p.grad for p in critic.parameters()]
        wanted = [torch.full((1, 3), 7.0), None]
        expect_equal(gradients, wanted, f"the .grad of the parameters of a module, after {CALL}")
        flags = [p.requires_grad for p in critic.parameters()]
        expect_equal(flags, [True, False], f"requires_grad of the critic's parameters after {CALL}")
        expect_equal(ran, [mode], f"the critic's training flag while it runs in {CALL}")
        about = "training" if mode else "evaluation"
        expect_that(penalty.requires_grad, f"{CALL} carries no graph where the critic is in {about} mode")
        weight = critic[0].weight
        (found,) = torch.autograd.grad(penalty, weight)
        norm = weight.detach().double().norm()
        wanted = (2 * (norm - 1) / norm * weight.detach()).float()
        of = f"the gradient of a linear critic's weight, with the critic in {about} mode"
        expect_close(found, wanted, of, scale=10.0)


def test_gradient_of_zero(answer, gen):
    """A sample whose gradient is 0 counts target², and puts no NaN into the parameters' gradients."""
    first, second, real, _, _ = draw(gen, 2)
    first = first.abs().requires_grad_()
    data = torch.stack([-real[0].abs() - 0.1, real[1].abs() + 0.1])  # the first sample finds every unit shut

    def penalty(samples, target):
        critic = lambda x: x.matmul(first).relu().matmul(second)  # noqa: E731
        return answer.gradient_penalty(critic, samples, samples, torch.full((len(samples),), 0.5), target)

    still = penalty(data[:1], 1.5)
    expect_close(still.detach(), torch.tensor(2.25), f"{CALL}, gradient 0, target 1.5")
    expect_that(still.requires_grad, f"{CALL} carries no graph where the gradients of all samples are 0")
    (found,) = torch.autograd.grad(still, first)
    expect_equal(found, torch.zeros(3, 5), "the gradient of the critic's weight, all samples' being 0")
    zeros, wanted = torch.zeros(2, 3, dtype=torch.float64), torch.tensor(2.25, dtype=torch.float64)
    flat = answer.gradient_penalty(lambda x: (x * 0).sum(1), zeros, zeros, zeros[:, 0], 1.5)
    expect_close(flat.detach(), wanted, f"{CALL} in float64, gradient 0, target 1.5")

    both, alone = penalty(data, 1.5), penalty(data[1:], 1.5)
    wanted = ((alone.detach().double() + 2.25) / 2).float()
    expect_close(both.detach(), wanted, f"{CALL} where one of two samples has a gradient of 0")
    exact = first.detach().double().requires_grad_()
    ((exact @ second.double()).norm() - 1.5).square().div(2).backward()
    (found,) = torch.autograd.grad(both, first)
    expect_close(
        found,
        exact.grad.float(),
        "the gradient of the critic's weight, where one of two samples has a gradient of 0",
        scale=10.0,
    )


def test_one_call(answer, gen):
    """The critic is called once, on the whole batch, and the cost does not grow with the batch."""
    shapes = []

    def critic(x):
        shapes.append(tuple(x.shape))
        return critic_of(first, second)(x)

    for batch in (4, 2, 1):
        first, second, *data = draw(gen, batch)
        answer.gradient_penalty(critic, *data)
        expect_equal(shapes, [(batch, 3)], "the shapes that the critic is called with")
        shapes.clear()

    def make(n):
        first, second, *data = draw(gen, n)
        return lambda: answer.gradient_penalty(critic_of(first, second), *data)

    expect_flat_cost(make, CALL, over="batch")


def test_nothing_is_held(answer, gen):
    """When the penalty is let go of, all that it was computed from goes with it."""
    first, second, *data = draw(gen, 20, (30,))

    def let_go():
        answer.gradient_penalty(critic_of(first, second), *data)
        gc.collect()  # what only hangs in a reference cycle of Python is not kept

    held = held_bytes(let_go)
    expect_that(
        held < data[0].nbytes,
        f"{CALL} leaves tensors in memory when its result is gone",
        yours=f"{held:,} bytes, where real has {data[0].nbytes:,}",
        likely="backward(create_graph=True): `.grad` and its graph hold each other; take torch.autograd.grad",
    )


def test_with_another_loss(answer, gen):
    """The penalty can be added to another loss of the same critic, and both go backward together."""
    first, second, real, fake, mix = draw(gen)

    def total(penalty, real, fake):
        def loss(first, second):
            critic = critic_of(first, second)
            data = [t.to(first.dtype) for t in (real, fake)]
            return critic(data[1]).mean() - critic(data[0]).mean() + 10 * penalty(first, second)

        return loss

    mine = total(lambda a, b: answer.gradient_penalty(critic_of(a, b), real, fake, mix), real, fake)
    wanted = total(lambda a, b: right(a, b, *(t.double() for t in (real, fake, mix))), real, fake)
    call = "critic(fake).mean() - critic(real).mean() + 10 * penalty"
    expect_gradients(mine, [first, second], wanted, gen=gen, call=call, scale=400.0)


def oracle(answer, gen):
    first, second, *data = draw(gen, features=(2, 3), dtype=torch.float64)
    for parameter in (first, second):
        parameter.requires_grad_()
    values = []
    for _ in range(3):
        penalty = answer.gradient_penalty(critic_of(first, second), *data)
        steps = torch.autograd.grad(penalty, [first, second])
        with torch.no_grad():
            first -= 0.05 * steps[0]
            second -= 0.05 * steps[1]
        values.append(penalty.detach())
    return [values, first.detach(), second.detach()]
