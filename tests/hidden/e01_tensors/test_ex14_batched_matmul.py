"""What grades batched_matmul: leading dimensions, argument order, dtypes, gradients, cost."""

from functools import partial

import pytest
import torch

from grader.checks import expect_close, expect_flat_cost, expect_gradients, expect_that, peak_bytes, unchanged

# Leading dimensions of the first and of the last argument.
ALIKE = [((), ()), ((3,), (3,)), ((1,), (1,)), ((2, 1, 3, 2), (2, 1, 3, 2)), ((0,), (0,))]
BROADCAST = [
    ((3, 3), (3,)),
    ((3,), (2, 1)),
    ((2, 3), ()),
    ((), (4,)),
    ((), (2, 3)),
    ((2, 1, 3), (4, 1)),
    ((0, 1), (3,)),
]
M, N, OUT, TIME, SOURCE = 4, 5, 3, 2, 6


def plain_scores(query, key):
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)


def plain_outer(left, right):
    return left.unsqueeze(-1) * right.unsqueeze(-2)


def plain_bilinear(left, weight, right):
    return (plain_outer(left, right).unsqueeze(-3) * weight).sum((-2, -1))


def arguments(first, last, draw):
    """The arguments of each function, drawn by `draw(sizes)`."""
    return {
        "scores": (draw((*first, TIME, M)), draw((*last, SOURCE, M))),
        "outer": (draw((*first, M)), draw((*last, N))),
        "bilinear": (draw((*first, M)), draw((OUT, M, N)), draw((*last, N))),
    }


PLAIN = {"scores": plain_scores, "outer": plain_outer, "bilinear": plain_bilinear}
CALLS = {
    "scores": "scores(query, key)",
    "outer": "outer(left, right)",
    "bilinear": "bilinear(left, weight, right)",
}
NAMES = {"scores": "query key", "outer": "left right", "bilinear": "left weight right"}


def expect_product(answer, name, inputs, note="", suspects=None):
    wanted = PLAIN[name](*(x.double() for x in inputs)).to(inputs[0].dtype)
    yours = getattr(answer, name)(*inputs)
    expect_close(yours, wanted, CALLS[name] + note, scale=8.0, suspects=suspects)


def normal(gen, dtype=torch.float32):
    return lambda sizes: torch.randn(sizes, generator=gen, dtype=torch.float64).to(dtype)


def huge(sizes):
    """What float16 cannot hold, in bfloat16, the first of them infinite."""
    numbers = torch.full(sizes, 2.0**20, dtype=torch.bfloat16)
    numbers.view(-1)[0] = torch.inf
    return numbers


@pytest.mark.parametrize("name", PLAIN)
def test_products(answer, gen, name):
    """Each product is right for none, one and two leading dimensions, of size 0 and 1 too."""
    for first, last in ALIKE:
        inputs = arguments(first, last, normal(gen, torch.float64 if 0 in first else torch.float32))[name]
        expect_product(answer, name, inputs, f", leading dims {first}")


def test_square_sizes(answer, gen):
    """The arguments keep their roles where all sizes are equal and no shape gives a mix-up away."""
    draw, note = normal(gen), ", all sizes 3"
    for name, count in (("scores", 2), ("outer", 2), ("bilinear", 3)):
        inputs = tuple(draw((3, 3, 3)) for _ in range(count))
        swapped = partial(PLAIN[name], *inputs[::-1])
        one, other = NAMES[name].split()[:: count - 1]
        expect_product(answer, name, inputs, note, {f"{one} and {other} change places": swapped})


def test_sizes_of_one(answer, gen):
    """Sizes of 1, of the matrices and vectors themselves, stay as dimensions."""
    draw = normal(gen)
    for lead in [(), (2,), (2, 1)]:
        expect_product(answer, "scores", (draw((*lead, 1, 4)), draw((*lead, 1, 4))), ", one query and key")
        expect_product(answer, "scores", (draw((*lead, 2, 1)), draw((*lead, 3, 1))), ", dim of 1")
        expect_product(answer, "outer", (draw((*lead, 1)), draw((*lead, 4))), ", one row")
        expect_product(answer, "outer", (draw((*lead, 4)), draw((*lead, 1))), ", one column")
        expect_product(
            answer, "bilinear", (draw((*lead, 4)), draw((1, 4, 4)), draw((*lead, 4))), ", one plane"
        )
        expect_product(
            answer, "bilinear", (draw((*lead, 1)), draw((2, 1, 1)), draw((*lead, 1))), ", m = n = 1"
        )


@pytest.mark.parametrize("name", PLAIN)
def test_leading_dims_broadcast(answer, gen, name):
    """Leading dimensions that differ broadcast, aligned from the right."""
    for first, last in BROADCAST:
        inputs = arguments(first, last, normal(gen))[name]
        note = f", leading dims {first} and {last}"
        suspects = {}
        if (first, last) == ((3, 3), (3,)):
            left = partial(PLAIN[name], *inputs[:-1], inputs[-1].unsqueeze(1))
            suspects["leading dims are aligned from the left: they broadcast from the right"] = left
        expect_product(answer, name, inputs, note, suspects)


def test_strided_arguments(answer, gen):
    """Transposed and expanded arguments are multiplied like any others."""

    def draw(sizes):
        backwards = torch.randn(sizes[::-1], generator=gen)
        return backwards.permute(*reversed(range(len(sizes))))

    for name, inputs in arguments((2, 3), (2, 3), draw).items():
        expect_product(answer, name, inputs, " of transposed arguments")

    def draw_one(sizes):
        return torch.randn((1, *sizes[1:]), generator=gen).expand(sizes)

    for name, inputs in arguments((2, 3), (2, 3), draw_one).items():
        expect_product(answer, name, inputs, " of expanded arguments")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtype_is_kept(answer, gen, dtype):
    """The result has the arguments' dtype; float64 keeps its precision."""
    draw = normal(gen, dtype)
    for name, inputs in arguments((2,), (2,), draw).items():
        expect_product(answer, name, inputs, f" in {dtype}")
    expect_product(answer, "scores", (draw((2, 3, 70)), draw((2, 4, 70))), f" of 70 dims in {dtype}")
    if dtype == torch.bfloat16:
        for name, inputs in arguments((2,), (2,), huge).items():
            expect_product(answer, name, inputs, " of inf, and of numbers beyond the range of float16")


@pytest.mark.parametrize("name", PLAIN)
def test_gradients(answer, gen, name):
    """Gradients reach every argument, summed over the dimensions along which it was broadcast."""
    for first, last in [((2, 1), (3,)), ((), ())]:
        inputs = arguments(first, last, normal(gen))[name]
        call = f"{CALLS[name]}, leading dims {first} and {last}"
        expect_gradients(
            getattr(answer, name), inputs, PLAIN[name], gen=gen, call=call, names=NAMES[name], scale=16.0
        )
    for alone, of in enumerate(NAMES[name].split()):
        inputs = arguments((2,), (2,), normal(gen))[name]
        product = getattr(answer, name)(*(x.requires_grad_(i == alone) for i, x in enumerate(inputs)))
        expect_that(product.requires_grad, f"no gradient flows to {of} where no other argument needs one")
    empty = [x.requires_grad_() for x in arguments((0,), (2, 1), normal(gen))[name]]
    product = getattr(answer, name)(*empty)
    expect_that(
        product.requires_grad,
        f"no gradient flows through {CALLS[name]} of an empty batch",
        yours="a constant, without grad_fn",
    )


def test_arguments_are_left_alone(answer, gen):
    """The arguments keep their values and their shapes."""
    for name, inputs in arguments((2,), (2,), normal(gen)).items():
        with unchanged(CALLS[name], **dict(zip(NAMES[name].split(), inputs, strict=True))):
            getattr(answer, name)(*inputs)


@pytest.mark.parametrize("name", PLAIN)
def test_no_loop(answer, name):
    """The number of operations does not grow with the batch or with any other size."""
    function = getattr(answer, name)

    def make(n):
        shapes = {
            "scores": [(n, n, n), (n, n, n)],
            "outer": [(n, n), (n, n)],
            "bilinear": [(n, n), (n, n, n), (n, n)],
        }
        one, two = [torch.ones(sizes) for sizes in shapes[name]], arguments((n, 2), (n, 2), torch.ones)[name]
        return lambda: (function(*one), function(*two))

    expect_flat_cost(make, CALLS[name], sizes=(4, 12), over="size")


def test_scores_need_no_third_dimension(answer):
    """`scores` never holds time × source × dim numbers at once."""
    for first, last in [((2,), (2,)), ((), ()), ((2, 1), (3,)), ((1,), (2, 1))]:
        query, key = torch.ones(*first, 32, 24), torch.ones(*last, 24, 40).mT
        batch = torch.broadcast_shapes(first, last).numel()
        peak = peak_bytes(lambda query=query, key=key: answer.scores(query, key))
        expect_that(
            peak < batch * 32 * 40 * 24 * 4 // 2,
            "scores(query, key) builds a tensor of time × source × dim numbers",
            yours=f"{peak} bytes at once, leading dims {first} and {last}",
            wanted=f"about {batch * 32 * 40 * 4} bytes, those of the result",
            likely="a broadcast product and a sum; a matrix product adds up as it goes",
        )


def oracle(answer, gen):
    found = []
    for first, last in [((2, 1), (3,)), ((), ())]:
        for name, inputs in arguments(first, last, normal(gen, torch.float64)).items():
            leaves = [x.requires_grad_() for x in inputs]
            out = getattr(answer, name)(*leaves)
            out.backward(torch.randn(out.shape, generator=gen, dtype=out.dtype))
            found.append([out.detach(), [x.grad for x in leaves]])
    return found
