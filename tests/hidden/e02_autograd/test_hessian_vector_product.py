"""What grades hvp and sharpness: products, curvature, what is computed; linear losses, no traces."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, modes_kept, peak_bytes, unchanged
from grader.checks.contract import Contract, dtypes, flat_cost, given


def network(w, b, v):
    """Every number meets every other one."""
    hidden = (w.sum(0) + b).tanh()  # (columns,)
    return (hidden @ v).square() + w.pow(3).sum() / 3 + (v * v.roll(1)).sin().sum()


def chain(x):
    return x.pow(4).sum() / 4 + (x[1:] * x[:-1]).sin().sum()


def product(a, b):
    return (a @ b).tanh().sum() + (a @ b).square().sum() / 2


def hessian(loss, params):
    """H written down, over the numbers of all tensors."""
    sizes = [p.numel() for p in params]

    def flat(x):
        parts = x.split(sizes)
        return loss(*[part.reshape(p.shape) for part, p in zip(parts, params, strict=True)])

    return torch.autograd.functional.hessian(flat, joined(params))


def slope(loss, params):
    params = [p.detach().requires_grad_() for p in params]
    return joined(torch.autograd.grad(loss(*params), params))


def joined(tensors):
    return torch.cat([t.detach().flatten() for t in tensors])


def apart(x, params):
    """A tensor for each parameter."""
    parts = x.split([p.numel() for p in params])
    return [part.reshape(p.shape) for part, p in zip(parts, params, strict=True)]


def times(loss, params, vectors, of=lambda H, g, v, blocks: H @ v):
    """H v; `of` as people get it wrong."""
    blocks = joined([torch.full_like(p, float(place)) for place, p in enumerate(params)])
    return apart(of(hessian(loss, params), slope(loss, params), joined(vectors), blocks), params)


def rayleigh(v, H, blocks):
    return v @ H @ v


def whole(v, blocks):
    return v / v.norm()


def each(v, blocks):
    """Every tensor divided by a norm of its own."""
    parts = v.split(blocks.unique_consecutive(return_counts=True)[1].tolist())
    return torch.cat([part / part.norm() for part in parts])


def sharpest(loss, params, start, steps=10, norm=whole, of=rayleigh, more=0, first=True):
    """Power iteration; what comes after `steps` is as people get it wrong."""
    H, v = hessian(loss, params), joined(start)
    blocks = joined([torch.full_like(p, float(place)) for place, p in enumerate(params)])
    v = norm(v, blocks) if first else v
    for _ in range(steps + more):
        v = norm(H @ v, blocks)
    return of(v, H, blocks)


def draw(gen, loss, *shapes, dtype=torch.float32, **options):
    """Parameters and vectors of these shapes."""
    params, vectors = ([torch.randn(shape, generator=gen).to(dtype) for shape in shapes] for _ in range(2))
    return given(loss, [nn.Parameter(p) for p in params], vectors, **options)


NETWORK = ((2, 4), (4,), (4,))
hvp = Contract(
    "hvp(loss, params, vectors)",
    reference=times,
    use=lambda answer, *call: [t.detach() for t in answer.hvp(*call)],
    inputs=lambda gen: {
        "a network of three tensors": draw(gen, network, *NETWORK),
        "one vector": draw(gen, chain, (7,)),
        "two matrices in float64": draw(gen, product, (3, 2), (2, 4), dtype=torch.float64),
    },
    scale=100.0,
    suspects={
        "products of different tensors are left out: H is that of all parameters": partial(
            times, of=lambda H, g, v, blocks: (H * (blocks[:, None] == blocks)) @ v
        ),
        "only the diagonal of H is used": partial(times, of=lambda H, g, v, blocks: H.diag() * v),
        "the vectors are ignored: these are the sums of H's rows": partial(
            times, of=lambda H, g, v, blocks: H.sum(1)
        ),
        "it is the gradient, times the vector": partial(times, of=lambda H, g, v, blocks: g * v),
        "it is the gradient times (gradient · v): H is made of second derivatives": partial(
            times, of=lambda H, g, v, blocks: g * (g @ v)
        ),
        "it is the gradient": partial(times, of=lambda H, g, v, blocks: g),
        "it is twice the product": partial(times, of=lambda H, g, v, blocks: 2 * H @ v),
    },
    job=[
        flat_cost(
            lambda n: draw(torch.Generator().manual_seed(n), chain, (n,)),
            over="the number of parameters",
            title="The number of operations does not grow with the parameters: no row of H after another.",
        )
    ],
    fine=[dtypes(torch.float64)],
)
sharpness = Contract(
    "sharpness(loss, params, start, steps)",
    reference=sharpest,
    use=lambda answer, *call, **options: answer.sharpness(*call, **options).detach(),
    inputs=lambda gen: {
        "three steps in a network": draw(gen, network, *NETWORK, steps=3),
        "two steps in two matrices": draw(gen, product, (3, 2), (2, 4), steps=2),
        "no step": draw(gen, chain, (6,), steps=0),
        "a loss that curves down": draw(gen, lambda x: -chain(x), (5,), steps=4),
    },
    scale=300.0,
    suspects={
        "each tensor is divided by a norm of its own: one norm is for all": partial(sharpest, norm=each),
        "it is ‖H v‖, which has no sign": partial(sharpest, of=lambda v, H, blocks: (H @ v).norm()),
        "start is not divided by its norm": partial(sharpest, first=False),
        "it is one step too many": partial(sharpest, more=1),
        "it is one step too few": partial(sharpest, more=-1),
        "steps is ignored": lambda loss, params, start, steps=10: sharpest(loss, params, start),
        "its absolute value came back": partial(sharpest, of=lambda v, H, blocks: (v @ H @ v).abs()),
        "H v is not divided by its norm": lambda loss, params, start, steps=10: sharpest(
            loss, params, [joined(start) / joined(start).norm()], steps, norm=lambda v, blocks: v
        ),
    },
    fine=[dtypes(torch.float64)],
)


def test_no_hessian(answer, gen):
    """Memory grows with the number of parameters, not with its square."""
    x, v = (torch.randn(300, generator=gen) for _ in range(2))
    for name, options in [("hvp", {}), ("sharpness", {"steps": 1})]:
        function = getattr(answer, name)
        used = peak_bytes(lambda: function(chain, [nn.Parameter(x)], [v], **options))  # noqa: B023
        expect_that(
            used < 100 * x.nbytes,
            f"{name}(loss, params, v) makes tensors far larger than the parameters",
            yours=f"{used:,} bytes at once for {x.nbytes:,} bytes of parameters; H has {300 * x.nbytes:,}",
        )


def linear(a, b, c):
    return 3.0 * a.sum() + (b * b.flip(0)).sum()


@pytest.mark.fine
def test_zeros_in_the_hessian(answer, gen):
    """Parameters that are used linearly, or not at all, have zeros in H."""
    params = [nn.Parameter(torch.randn(n, generator=gen)) for n in (3, 2, 4)]
    vectors = [torch.randn(n, generator=gen) for n in (3, 2, 4)]
    found = answer.hvp(linear, params, vectors)
    wanted = [torch.zeros(3), 2 * vectors[1].flip(0), torch.zeros(4)]
    for yours, right, told in zip(found, wanted, ("linear", "quadratic", "not used"), strict=True):
        expect_close(yours.detach(), right, f"hvp(loss, params, vectors), a parameter that is {told} in loss")
    call = "a loss that is linear in its only parameter"
    flat = lambda x: 2.0 * x.sum()  # noqa: E731
    (yours,) = answer.hvp(flat, params[:1], vectors[:1])
    expect_close(yours.detach(), torch.zeros(3), f"hvp(loss, params, vectors), {call}")
    yours = answer.sharpness(flat, params[:1], vectors[:1])
    expect_close(yours.detach(), torch.tensor(0.0), f"sharpness(loss, params, start), {call}")


@pytest.mark.fine
def test_gradients_switched_off(answer, gen):
    """Parameters need not require gradients, and the caller may have switched gradients off."""
    x, v = (torch.randn(5, generator=gen) for _ in range(2))
    wanted = times(chain, [x.double()], [v.double()])[0].float()
    (yours,) = answer.hvp(chain, [x], [v])
    expect_close(yours.detach(), wanted, "hvp(loss, params, v), params without requires_grad", scale=100.0)
    with torch.no_grad():
        (yours,) = answer.hvp(chain, [nn.Parameter(x)], [v])
        sharp = answer.sharpness(chain, [nn.Parameter(x)], [v], steps=1)
    expect_close(yours, wanted, "hvp(loss, params, v) inside no_grad", scale=100.0)
    wanted = sharpest(chain, [x.double()], [v.double()], steps=1).float()
    expect_close(sharp, wanted, "sharpness(loss, params, v, 1) inside no_grad", scale=300.0)


@pytest.mark.fine
def test_no_traces(answer, gen):
    """Results carry no graph, no `.grad` changes, and the arguments stay as they are."""
    x, v = nn.Parameter(torch.randn(5, generator=gen)), torch.randn(5, generator=gen)
    x.grad = torch.full((5,), 7.0)
    for name in ("hvp", "sharpness"):
        call = f"{name}(loss, params, v)"
        with unchanged(call, x=x, v=v), modes_kept(call):
            found = getattr(answer, name)(chain, [x], [v])
        found = found if name == "sharpness" else found[0]
        expect_equal(x.grad, torch.full((5,), 7.0), f"the .grad of a parameter after {call}")
        expect_that(not found.requires_grad, f"the result of {call} carries a graph", yours=found)
