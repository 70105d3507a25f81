"""What grades distances, entropy, clustering_loss and fit: gradients where a distance or probability is 0."""

import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    unchanged,
)

DTYPES = [torch.float32, torch.float64]


def far(points, centres):
    """Distances whose gradient is 0 where they are."""
    apart = points[:, None] - centres[None]
    same = (apart == 0).all(-1, keepdim=True)
    return torch.where(same, 1.0, apart).square().sum(-1).sqrt().where(~same[..., 0], 0.0)


def spread(p):
    none = p == 0
    return -torch.where(none, 0.0, p * torch.where(none, 1.0, p).log()).sum(-1)


def loss_of(points, centres, temperature=1.0, weight=0.1):
    d = far(points, centres)
    p = (-d / temperature).softmax(1)
    return (p * d).sum(1).mean() + weight * spread(p).mean()


def fitted(points, centres, steps, lr, temperature):
    points, centres = points.double(), centres.double().clone()
    for _ in range(steps):
        leaf = centres.clone().requires_grad_()
        (grad,) = torch.autograd.grad(loss_of(points, leaf, temperature), leaf)
        centres = centres - lr * grad
    return centres


def places(gen, points, centres, dim, dtype=torch.float32, shared=2):
    """Points and centres, some of which lie at points."""
    x = torch.randn(points, dim, generator=gen, dtype=dtype)
    c = torch.randn(centres, dim, generator=gen, dtype=dtype)
    shared = min(shared, points, centres)
    c[:shared] = x[points - shared :]
    if centres > shared and dim > 1:
        c[-1, 0] = x[0, 0]  # beside a point: one coordinate alone is the same
    return x, c


def rows(gen, *shape, dtype=torch.float32):
    """Probabilities, with zeros, certain ones and very small ones among them."""
    p = torch.rand(shape, generator=gen, dtype=dtype)
    p[torch.rand(shape, generator=gen) < 0.3] = 0.0
    p[..., 0] += 0.1
    p = p / p.sum(-1, keepdim=True)
    flat = p.view(-1, shape[-1])
    flat[0] = 0.0
    flat[0, -1] = 1.0
    flat[1] = 1e-30
    flat[1, 0] = 1.0
    return p


SIZES = [(5, 3, 2), (1, 1, 3), (3, 6, 4), (4, 4, 1), (2, 5, 2)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_distances(answer, gen, dtype):
    """Distances are right for every number of points, centres and dimensions, in the dtype of the inputs."""
    for size in SIZES:
        x, c = places(gen, *size, dtype=dtype)
        wanted = far(x.double(), c.double()).to(dtype)
        with unchanged("distances(points, centres)", points=x, centres=c):
            yours = answer.distances(x, c)
        expect_close(yours, wanted, f"distances(points, centres) for {size}", dims="points centres")
        expect_that(
            bool((yours[wanted == 0] == 0).all()), "the distance of a point to itself is not 0", yours=yours
        )
    large, _ = places(gen, 40, 1, 3, dtype)
    x, c = large + 1000, large[:35].flip(0) + 1000
    wanted = far(x.double(), c.double()).to(dtype)
    expect_close(answer.distances(x, c), wanted, "distances(points, centres) far from the origin")
    for points, centres in [(0, 3), (3, 0), (0, 0)]:
        yours = answer.distances(torch.zeros(points, 2, dtype=dtype), torch.zeros(centres, 2, dtype=dtype))
        call = f"distances of {points} points to {centres} centres"
        expect_close(yours, torch.zeros(points, centres, dtype=dtype), call)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_distance_gradients(answer, gen, dtype):
    """Points and centres get their whole gradients, also where some of them lie at the same place."""
    for size in SIZES:
        x, c = places(gen, *size, dtype=dtype)
        expect_gradients(
            answer.distances,
            [x, c],
            far,
            gen=gen,
            call=f"distances(points, centres) for {size}",
            names="points centres",
        )
    x, _ = places(gen, 6, 1, 3, dtype)
    expect_gradients(
        lambda x: answer.distances(x, x),
        [x],
        lambda x: far(x, x),
        gen=gen,
        call="distances(points, points)",
        names="points",
    )


@pytest.mark.parametrize("size", [1e-15, 1e-12, 1e-7, 1.0, 1e15])
def test_short_distances(answer, gen, size):
    """Short distances are exact and have unit vectors for gradients, and so do long ones."""
    for dtype in DTYPES:
        x, c = places(gen, 4, 3, 2, dtype=dtype)
        x, c = x.sign() * (1 + x.abs()) * size, c.sign() * (1 + c.abs()) * size
        call = f"distances(points, centres) at a scale of {size:g} in {dtype}"
        expect_close(answer.distances(x, c), far(x.double(), c.double()).to(dtype), call)
        expect_gradients(answer.distances, [x, c], far, gen=gen, call=call, names="points centres")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_entropy(answer, gen, dtype):
    """Entropies are right for every shape, also of probabilities that are 0, 1 or very small."""
    for shape in [(4, 3), (2, 3, 5), (6, 2), (2, 1, 3, 4)]:
        p = rows(gen, *shape, dtype=dtype)
        with unchanged("entropy(probabilities)", probabilities=p):
            yours = answer.entropy(p)
        expect_close(yours, spread(p.double()).to(dtype), f"entropy(probabilities) of {shape}")
    p = torch.tensor([0.25, 0.75, 0.0], dtype=dtype)
    expect_close(
        answer.entropy(p), spread(p.double()).to(dtype), "entropy of one row without other dimensions"
    )
    yours = answer.entropy(torch.tensor([[1.0, 0.0, 1e-30]], dtype=dtype))
    expect_close(yours, torch.tensor([1e-30 * -math.log(1e-30)], dtype=dtype), "entropy of [1, 0, 1e-30]")
    for shape in [(0, 3), (2, 0, 4)]:
        yours = answer.entropy(torch.zeros(shape, dtype=dtype))
        expect_close(yours, torch.zeros(shape[:-1], dtype=dtype), f"entropy of {shape}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_entropy_gradients(answer, gen, dtype):
    """The gradient is -log(p) - 1 where p is above 0, however small, and 0 where it is 0."""
    for shape in [(4, 3), (2, 3, 5), (6, 2)]:
        p = rows(gen, *shape, dtype=dtype)
        expect_gradients(
            answer.entropy, [p], spread, gen=gen, call=f"entropy(probabilities) of {shape}", names="p"
        )
    small = 1e-40 if dtype == torch.float32 else 1e-300
    p = torch.tensor([[1.0, 0.0, small]], dtype=dtype, requires_grad=True)
    answer.entropy(p).sum().backward()
    wanted = torch.tensor([[-1.0, 0.0, -math.log(small) - 1]], dtype=dtype)
    # In float32 1e-40 itself has 17 bits, so what is divided by it is no better.
    expect_close(p.grad, wanted, f"the gradient of entropy([1, 0, {small}])", ulps=1e3)


def test_loss(answer, gen):
    """The loss has its value and gradients with each temperature and weight, also where it decides hard."""
    for (temperature, weight), scale in [
        ((1.0, 0.1), 1.0),
        ((0.5, 2.0), 1.0),
        ((0.05, 0.5), 1.0),
        ((0.01, 1.0), 40.0),
        ((3.0, 0.0), 5.0),
    ]:
        x, c = places(gen, 5, 3, 2, dtype=torch.float64)
        x, c = x * scale, c * scale
        call = f"clustering_loss(points, centres, {temperature}, {weight})"
        rough = {"ulps": 1e6}  # what is divided by a small temperature has the rounding of large numbers
        yours = answer.clustering_loss(x, c, temperature=temperature, weight=weight)
        expect_close(yours, loss_of(x, c, temperature, weight), call, **rough)
        expect_gradients(
            lambda x, c, t=temperature, w=weight: answer.clustering_loss(x, c, t, w),
            [x, c],
            lambda x, c, t=temperature, w=weight: loss_of(x, c, t, w),
            gen=gen,
            call=call,
            names="points centres",
            **rough,
        )
    x, c = places(gen, 5, 3, 2)
    wanted = loss_of(x.double(), c.double()).float()
    expect_close(answer.clustering_loss(x, c), wanted, "clustering_loss(points, centres) in float32")


def test_fit(answer, gen):
    """The centres go where the whole gradients lead them, from starts at points and elsewhere."""
    for steps, lr, temperature, shared in [
        (1, 0.1, 1.0, 3),
        (4, 0.3, 0.5, 2),
        (6, 0.05, 0.004, 3),
        (0, 1.0, 1.0, 1),
    ]:
        x, c = places(gen, 6, 3, 2, dtype=torch.float64, shared=shared)
        wanted = fitted(x, c, steps, lr, temperature)
        call = f"fit(points, centres, steps={steps}, lr={lr}, temperature={temperature})"
        with unchanged(call, points=x, centres=c):
            yours = answer.fit(x, c, steps=steps, lr=lr, temperature=temperature)
        expect_close(yours, wanted, call, ulps=1e6, dims="centres dim")
        expect_that(not yours.requires_grad, "the centres that fit returns carry a graph")
    x, c = torch.zeros(1, 2).double(), torch.tensor([[1.0, 0.0], [0.0, 1.00015]]).double()
    yours, wanted = answer.fit(x, c, 1, 0.001, 1e-4), fitted(x, c, 1, 0.001, 1e-4)
    expect_close(yours, wanted, "fit(points, centres) with gradients in the hundreds", ulps=1e6)
    x, _ = places(gen, 5, 1, 2)
    with unchanged("fit(points, points[:2])", points=x):
        yours = answer.fit(x, x[:2], steps=2)
    wanted = fitted(x, x[:2], 2, 0.1, 1.0).float()
    expect_close(yours, wanted, "fit(points, points[:2], steps=2)", ulps=1e3)
    yours = answer.fit(torch.tensor([[20.0, 0.0]]), torch.zeros(1, 2))
    call = "fit(points, centres) of one point at [20, 0] and one centre at [0, 0], in 100 steps of 0.1"
    expect_close(yours, torch.tensor([[10.0, 0.0]]), call, ulps=1e3)


def test_nan_is_not_hidden(answer, gen):
    """NaN gives NaN in its own distances, its own row and its own gradient, and nowhere else."""
    x, c = places(gen, 4, 3, 2)
    wanted = far(x.double(), c.double()).float()
    x[1, 0] = wanted[1] = math.nan
    yours = answer.distances(x, c)
    expect_close(yours, wanted, "distances(points, centres) with NaN in point 1", dims="points centres")
    moved = answer.fit(x, c, steps=1)
    expect_that(bool(moved.isnan().any()), "fit hides a NaN among the points", yours=moved)
    leaf = x.clone().requires_grad_()
    answer.distances(leaf, c).sum().backward()
    found = leaf.grad.isnan().any(1).tolist()
    expect_equal(
        found, [False, True, False, False], "which points have a gradient of NaN, where point 1 is NaN"
    )
    leaf, weights = torch.randn(4, 2, generator=gen).requires_grad_(), torch.ones(4, 3)
    weights[2, 1] = math.nan
    (answer.distances(leaf, c) * weights).sum().backward()
    found = leaf.grad.isnan().any(1).tolist()
    expect_equal(found, [False, False, True, False], "which points get NaN, where it comes in for point 2")
    leaf = (torch.rand(3, 4, generator=gen) + 0.1).requires_grad_()
    (answer.entropy(leaf) * torch.tensor([1.0, math.nan, 1.0])).sum().backward()
    found = leaf.grad.isnan().all(1).tolist()
    expect_equal(found, [False, True, False], "which probabilities get NaN, where it comes in for row 1")
    p = rows(gen, 4, 3)
    wanted = spread(p.double()).float()
    p[2], wanted[2] = torch.tensor([0.3, math.nan, 0.3]), math.nan
    expect_close(answer.entropy(p), wanted, "entropy(probabilities) with NaN in row 2")
    leaf = p.clone().requires_grad_()
    answer.entropy(leaf).sum().backward()
    found = leaf.grad[2].isnan().tolist()
    expect_equal(
        found,
        [False, True, False],
        "which of row 2's probabilities, 0.3, NaN and 0.3, have a gradient of NaN",
    )
    found = leaf.grad.isnan().any(1).tolist()
    expect_equal(
        found, [False, False, True, False], "which rows have a gradient of NaN, where row 2 holds a NaN"
    )


def test_layouts(answer, gen):
    """Inputs may lie in memory in any way."""
    x, c = torch.randn(3, 6, generator=gen).T, torch.randn(9, 7, generator=gen)[2:6, 1::2]
    c[0] = x[4]
    expect_close(answer.distances(x, c), far(x.double(), c.double()).float(), "distances of strided inputs")
    x = torch.randn(1, 3, generator=gen).expand(4, 3)
    expect_close(answer.distances(x, c), far(x.double(), c.double()).float(), "distances of expanded points")
    p = torch.randn(3, 4, 2, generator=gen).softmax(1).permute(2, 0, 1)
    expect_close(answer.entropy(p), spread(p.double()).float(), "entropy of permuted probabilities")


def test_no_loops(answer, gen):
    """The number of operations depends on no size."""
    for over, make in {
        "points": lambda n: lambda: answer.distances(*places(gen, n, 3, 2)),
        "centres": lambda n: lambda: answer.distances(*places(gen, 3, n, 2)),
    }.items():
        expect_flat_cost(make, "distances(points, centres)", over=over)
    expect_flat_cost(lambda n: lambda: answer.entropy(rows(gen, n, 3)), "entropy(probabilities)", over="rows")
    expect_flat_cost(
        lambda n: lambda: answer.entropy(rows(gen, 3, n)), "entropy(probabilities)", over="classes"
    )


def oracle(answer, gen):
    x, c = places(gen, 6, 4, 3, dtype=torch.float64)
    x.requires_grad_()
    c.requires_grad_()
    weights = torch.randn(6, 4, generator=gen, dtype=torch.float64)
    d = answer.distances(x, c)
    grads = torch.autograd.grad((d * weights).sum(), [x, c])
    p = rows(gen, 5, 4, dtype=torch.float64).requires_grad_()
    spreads = answer.entropy(p)
    (grad,) = torch.autograd.grad((spreads * weights[:5, 0]).sum(), p)
    loss = answer.clustering_loss(x, c, 0.7, 0.3)
    where = answer.fit(x.detach(), c.detach(), steps=2, lr=0.2, temperature=0.8)
    return [d.detach(), *grads, spreads.detach(), grad, loss.detach(), where]
