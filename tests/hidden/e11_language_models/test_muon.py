"""What grades muon: steps, groups, state dicts; float32, the shorter side, zeros, gradients, errors."""

import io

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, forbid_files, peak_bytes
from grader.checks.contract import Contract, given, values

ROUGH = 0.075 * 2**23
"""bfloat16 moves a number of X by up to 0.05; another formula moves some by 0.1 or more."""


def newton_schulz(u, coefficients=(3.4445, -4.7750, 2.0315), times=5, norm=lambda u: u.norm()):
    a, b, c = coefficients
    x = u / norm(u)
    for _ in range(times):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x


def nearest(u):
    """Singular values of exactly 1."""
    left, _, right = torch.linalg.svd(u, full_matrices=False)
    return left @ right


def moves(
    p,
    gradients,
    lr,
    momentum=0.95,
    weight_decay=0.0,
    mix=lambda g, m, momentum: g + momentum * m,
    orthogonal=newton_schulz,
    factor=lambda rows, columns: max(1, rows / columns) ** 0.5,
    decayed=lambda lr, scale: lr,
    coupled=False,
    late=False,
    anew=None,
):
    """How far p moves at each step, in units of lr; what comes after `weight_decay` are mistakes."""
    m, found = torch.zeros_like(p), []
    scale = factor(*p.shape)
    for number, gradient in enumerate(gradients):
        g = gradient + weight_decay * p if coupled else gradient
        m = torch.zeros_like(p) if number == anew else m
        if late:  # the momentum of what is orthogonal already
            m = momentum * m + orthogonal(g)
            x = m
        else:
            m = momentum * m + g
            x = orthogonal(mix(g, m, momentum))
        shrunk = p if coupled else p * (1 - decayed(lr, scale) * weight_decay)
        after = shrunk - lr * scale * x
        found.append((p - after) / lr)
        p = after
    return torch.stack(found)


def wrong(**how):
    return lambda *call, **options: moves(*call, **options, **how)


def schulz(**how):
    return wrong(orthogonal=lambda u: newton_schulz(u, **how))


def moved(answer, p, gradients, lr, momentum=0.95, weight_decay=0.0):
    """What `moves` says, of an answer."""
    p = nn.Parameter(p.clone())
    optimizer, found = answer.Muon([p], lr=lr, momentum=momentum, weight_decay=weight_decay), []
    for gradient in gradients:
        before, p.grad = p.detach().clone(), gradient.clone()
        optimizer.step()
        found.append((before - p.detach()) / lr)
    return torch.stack(found)


def drawn(gen, steps, rows, columns, lr, **options):
    gradients = torch.randn(steps, rows, columns, generator=gen)
    return given(torch.randn(rows, columns, generator=gen), gradients, lr, **options)


def calls(gen):
    return {
        "a square matrix": drawn(gen, 3, 32, 32, 0.5),
        "more columns than rows, with decay": drawn(gen, 2, 16, 48, 0.2, weight_decay=0.3),
        "more rows than columns, with decay": drawn(gen, 2, 64, 32, 0.4, weight_decay=0.5),
        "another momentum": drawn(gen, 3, 40, 32, 0.1, momentum=0.5),
    }


contract = Contract(
    "moves(p, gradients, lr, momentum, weight_decay)",
    reference=moves,
    use=moved,
    inputs=calls,
    dims="step row column",
    ulps=ROUGH,
    scale=1.0,
    suspects={
        "m itself is orthogonalised: Nesterov takes g + momentum · m": wrong(mix=lambda g, m, momentum: m),
        "g weighs too much beside an m that is an average: weigh g by 1 - momentum as well": wrong(
            mix=lambda g, m, momentum: g + momentum * (1 - momentum) * m
        ),
        "momentum is always 0.95": lambda *call, momentum=0.95, **options: moves(*call, **options),
        "each gradient is orthogonalised before the momentum: it comes after": wrong(late=True),
        "singular values are exactly 1: the five steps bring them near 1": wrong(orthogonal=nearest),
        "the coefficients are others: 15 / 8, -10 / 8, 3 / 8": schulz(coefficients=(1.875, -1.25, 0.375)),
        "there are four steps of Newton-Schulz": schulz(times=4),
        "the norm is the largest singular value: it is the root of the sum of all squares": schulz(
            norm=lambda u: torch.linalg.matrix_norm(u, 2)
        ),
        "the factor √max(1, rows / columns) is missing": wrong(factor=lambda rows, columns: 1.0),
        "the factor is √max(1, columns / rows): rows are the first dimension": wrong(
            factor=lambda rows, columns: max(1, columns / rows) ** 0.5
        ),
        "the factor is 0.2 · √max(rows, columns), that of Moonshot's variant": wrong(
            factor=lambda rows, columns: 0.2 * max(rows, columns) ** 0.5
        ),
        "the decay goes through the gradient: it acts on p itself": wrong(coupled=True),
        "there is no decay": lambda *call, weight_decay=0.0, **options: moves(*call, **options),
        "the decay is multiplied by √max(1, rows / columns) as well": wrong(
            decayed=lambda lr, scale: lr * scale
        ),
    },
    job=[values(title="Each of several steps moves a matrix as the formula does.")],
    fine=[
        values(
            inputs=lambda gen: {
                "a small matrix": drawn(gen, 2, 4, 12, 0.3),
                "a small tall one": drawn(gen, 2, 9, 3, 0.3),
            },
            ulps=3e-4 * 2**23,
            name="float32",
            title="float32 is computed in float32.",
        )
    ],
)


def parameters(gen, *shapes):
    params = [nn.Parameter(torch.randn(shape, generator=gen)) for shape in shapes]
    return params, [p.detach().clone() for p in params]


def expect_moved(p, before, lead, lr, when, suspects):
    """Fail unless the last step has moved p as far as the last of `moves`."""
    yours, wanted = (before - p.detach()) / lr, moves(*lead, lr)[-1].float()
    expect_close(yours, wanted, f"(before - after) / lr of {when}", ulps=ROUGH, scale=1.0, suspects=suspects)


def test_groups(answer, gen):
    """Each group has its own options, read at every step, and the arguments fill in what it leaves out."""
    params, starts = parameters(gen, (32, 32), (32, 40))
    optimizer = answer.Muon([{"params": params[:1], "lr": 0.5}, {"params": params[1:]}], lr=0.1)
    leads = [(start.double(), torch.randn(1, *start.shape, generator=gen).double()) for start in starts]
    for p, (_, gradients) in zip(params, leads, strict=True):
        p.grad = gradients[0].float()
    optimizer.param_groups[1]["lr"] = 2.0
    optimizer.step()
    for index, lr in enumerate((0.5, 2.0)):
        lead = leads[index]
        told = {
            "the arguments of Muon count, not what the group says": lambda lead=lead, lr=lr: (
                0.1 / lr * moves(*lead, 0.1)[0]
            ).float()
        }
        when = f"the parameter of group {index}, whose lr is {lr}"
        expect_moved(params[index], starts[index], lead, lr, when, told)


def saved(optimizer):
    """The state dict, after a trip through a file."""
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_resumed(answer, gen):
    """A run that goes on from a saved state dict goes on as if it had not stopped."""
    (p,), (start,) = parameters(gen, (32, 40))
    gradients = torch.randn(3, 32, 40, generator=gen)
    optimizer = answer.Muon([p], lr=0.5)
    for number, gradient in enumerate(gradients):
        if number == 2:
            state, p = saved(optimizer), nn.Parameter(p.detach().clone())
            before = p.detach().clone()
            optimizer = answer.Muon([p], lr=7.0)
            optimizer.load_state_dict(state)
        p.grad = gradient.clone()
        optimizer.step()
    lead = start.double(), gradients.double()
    told = {"m begins anew: it is not in the state dict": lambda: moves(*lead, 0.5, anew=2)[2].float()}
    expect_moved(p, before, lead, 0.5, "p at the first step of a run that was saved and loaded", told)


def test_own_steps(answer, gen):
    """Nothing of torch's own Muon runs."""
    (p,), _ = parameters(gen, (3, 4))
    with forbid_files("Muon.step()", "torch/optim/_muon.py"):
        optimizer = answer.Muon([p], lr=0.1)
        p.grad = torch.randn(3, 4, generator=gen)
        optimizer.step()
    expect_that(isinstance(optimizer, torch.optim.Optimizer), "Muon is no torch.optim.Optimizer")


@pytest.mark.fine
@pytest.mark.parametrize("shape", [(4, 400), (400, 4)], ids=["wide", "tall"])
def test_shorter_side(answer, gen, shape):
    """Newton-Schulz runs on the shorter side: no matrix with both sides long is made."""
    (p,), _ = parameters(gen, shape)
    optimizer = answer.Muon([p])
    p.grad = torch.randn(shape, generator=gen)
    used = peak_bytes(optimizer.step)
    told = f"a step of a matrix of {shape} makes a matrix of (400, 400), or as much"
    expect_that(used < 400 * 400 * 2, told, yours=f"{used} bytes", wanted="some times the 6400 of the matrix")


@pytest.mark.fine
def test_zeros(answer, gen):
    """A gradient of zeros moves nothing, and makes no NaN."""
    (p,), (start,) = parameters(gen, (4, 6))
    optimizer = answer.Muon([p], lr=0.1)
    p.grad = torch.zeros(4, 6)
    optimizer.step()
    expect_equal(p.detach(), start, "p after a step with a gradient of zeros")


@pytest.mark.fine
def test_missing_gradients(answer, gen):
    """A parameter without a gradient stays as it is, and the others go on."""
    (never, sometimes), (start, _) = parameters(gen, (4, 6), (6, 5))
    optimizer = answer.Muon([never, sometimes], lr=0.1, weight_decay=0.3)
    sometimes.grad = torch.randn(6, 5, generator=gen)
    optimizer.step()
    before, sometimes.grad = sometimes.detach().clone(), None
    optimizer.step()
    expect_equal(never.detach(), start, "a parameter that never has a gradient")
    expect_equal(sometimes.detach(), before, "a parameter after a step for which it has no gradient")


@pytest.mark.fine
def test_gradients_stay(answer, gen):
    """`.grad` is after a step what it was before."""
    (p,), _ = parameters(gen, (4, 6))
    optimizer, g = answer.Muon([p], lr=0.1), torch.randn(4, 6, generator=gen)
    p.grad = g.clone()
    optimizer.step()
    expect_that(p.grad is not None, "`.grad` is None after a step")
    expect_equal(p.grad, g, "`.grad` after a step")


@pytest.mark.fine
@pytest.mark.parametrize("shape", [(4,), (2, 3, 4)], ids=["a bias", "three dimensions"])
def test_errors(answer, shape):
    """A parameter that is no matrix raises ValueError."""
    params = [nn.Parameter(torch.ones(3, 2)), nn.Parameter(torch.ones(shape))]
    expect_raises(ValueError, lambda: answer.Muon(params), f"Muon(params), where one has the shape {shape},")


def oracle(answer, gen):
    def rough(call):
        """Published code computes in bfloat16: the last number sets the size by which rounding is judged."""
        found = moved(answer, *call.args, **call.kwargs).flatten()
        return torch.cat([found, torch.tensor([2.5])]).bfloat16()

    return {about: lambda call=call: rough(call) for about, call in calls(gen).items()}
