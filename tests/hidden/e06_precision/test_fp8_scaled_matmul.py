"""What grades fp8_scaled_matmul: scales, float8 numbers, products; saturation, zeros, half precision."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, given, untouched
from grader.checks.rounding import expect_rounded

FP8 = torch.float8_e4m3fn


def rounded(v, digits=4, lowest=-6, largest=448.0):
    """To so many binary digits, the nearest and of two the even one; e4m3, and by other numbers e5m2."""
    exponent = torch.frexp(v)[1] - 1
    step = 2.0 ** (exponent.clamp(min=lowest) - digits + 1).double()
    return ((v.double() / step).round() * step).clamp(-largest, largest)


def drawn(gen, *shape, size=1.0):
    return size * torch.randn(shape, generator=gen)


scale_of = Contract(
    "scale_of(x)",
    reference=lambda x: x.abs().max() / 448,
    inputs=lambda gen: {
        "a matrix": torch.cat([drawn(gen, 4, 6), -5 - torch.rand(1, 6, generator=gen)]),
        "small numbers": drawn(gen, 3, 5, size=1e-6),
        "large numbers, three dimensions": drawn(gen, 2, 3, 4, size=1e5),
    },
    suspects={
        "the largest number is taken, not the largest absolute value": lambda x: x.max() / 448,
        "the scale is upside down": lambda x: 448 / x.abs().max(),
        "it is divided by 127, as for int8": lambda x: x.abs().max() / 127,
        "it is divided by 57344, the largest of float8_e5m2": lambda x: x.abs().max() / 57344,
        "it is not divided by 448": lambda x: x.abs().max(),
    },
    fine=[untouched()],
)

to_fp8 = Contract(
    "to_fp8(x, scale)",
    reference=lambda x, scale: rounded(x / scale),
    use=lambda answer, x, scale: answer.to_fp8(x, scale).float(),
    inputs=lambda gen: {
        "a matrix": given(drawn(gen, 3, 5), 0.004 + 0.002 * torch.rand((), generator=gen)),
        "small numbers": given(drawn(gen, 7, size=1e-6), 1e-8 * (1 + torch.rand((), generator=gen))),
        "a scale for each row": given(drawn(gen, 4, 3), torch.rand(4, 1, generator=gen) + 0.05),
        "a scale for each column": given(drawn(gen, 4, 3), torch.rand(1, 3, generator=gen) + 0.05),
    },
    suspects={
        "x is multiplied by the scale: divide": lambda x, scale: rounded(x * scale),
        "scale is left out": lambda x, scale: rounded(x),
        "numbers are rounded to whole ones": lambda x, scale: rounded((x / scale).round()),
        "numbers are those of float8_e5m2": lambda x, scale: rounded(x / scale, 3, -14, 57344.0),
        "x / scale is not rounded": lambda x, scale: x / scale,
        "it is scaled back": lambda x, scale: rounded(x / scale) * scale,
    },
    fine=[untouched()],
)


def test_bytes(answer, gen):
    """to_fp8 gives one byte for each number, in torch.float8_e4m3fn."""
    q = answer.to_fp8(drawn(gen, 3, 4), torch.tensor(0.01))
    expect_equal((q.dtype, tuple(q.shape)), (FP8, (3, 4)), "dtype and shape of to_fp8(x, scale)")


def product(a, b, scale_a, scale_b, dtype=None):
    return scale_a * scale_b * (a @ b)


def eight(answer, a, b, *rest):
    return answer.scaled_matmul(a.to(FP8), b.to(FP8), *rest)


def matrices(gen, rows, inner, columns, size=20.0):
    """Numbers that float8 has."""
    return [drawn(gen, *shape, size=size).to(FP8).float() for shape in ((rows, inner), (inner, columns))]


def scales(gen, *shapes):
    return [0.01 + 0.1 * torch.rand(shape, generator=gen) for shape in shapes]


scaled_matmul = Contract(
    "scaled_matmul(a, b, scale_a, scale_b, dtype)",
    reference=product,
    use=eight,
    scale=100.0,
    inputs=lambda gen: {
        "one scale each": given(*matrices(gen, 4, 6, 3), *scales(gen, (), ()), torch.float32),
        "a scale for each row and column": given(
            *matrices(gen, 5, 7, 4), *scales(gen, (5, 1), (1, 4)), torch.float32
        ),
        "as many rows as columns": given(
            *matrices(gen, 4, 4, 4), *scales(gen, (4, 1), (1, 4)), torch.float32
        ),
    },
    suspects={
        "the scales are left out": lambda a, b, *rest: a @ b,
        "scale_b is left out": lambda a, b, scale_a, scale_b, dtype: product(a, b, scale_a, 1.0),
        "scale_a is left out": lambda a, b, scale_a, scale_b, dtype: product(a, b, 1.0, scale_b),
        "it is divided by the scales": lambda a, b, scale_a, scale_b, dtype: a @ b / scale_a / scale_b,
        "the product is rounded to float8": lambda a, b, *rest: product(
            rounded(a @ b), torch.eye(b.shape[1]).double(), *rest
        ),
    },
    fine=[untouched()],
)


def test_dtype_asked_for(answer, gen):
    """The product has the dtype that is asked for, bfloat16 where none is."""
    a, b = matrices(gen, 4, 20, 3)
    scale_a, scale_b = scales(gen, (), ())
    exact = product(a.double(), b.double(), scale_a.double(), scale_b.double())
    for more, dtype in (((), torch.bfloat16), ((torch.float16,), torch.float16)):
        yours = eight(answer, a, b, scale_a, scale_b, *more)
        call = f"scaled_matmul(a, b, scale_a, scale_b{', torch.float16' if more else ''})"
        expect_equal(yours.dtype, dtype, f"the dtype of {call}")
        expect_close(yours, exact.to(dtype), call, scale=float(exact.abs().max()) * 4)


@pytest.mark.fine
def test_rounded_once(answer, gen):
    """Products and scales are in float32: only the result is rounded to dtype."""
    a, b = matrices(gen, 6, 40, 5)
    scale_a, scale_b = scales(gen, (6, 1), (1, 5))
    exact = product(a.double(), b.double(), scale_a.double(), scale_b.double())
    for dtype in (torch.bfloat16, torch.float16):
        yours = eight(answer, a, b, scale_a, scale_b, dtype)
        slack = product(a.double().abs(), b.double().abs(), scale_a.double(), scale_b.double()) * 2.0**-20
        expect_rounded(yours, exact, dtype, f"scaled_matmul(a, b, scale_a, scale_b, {dtype})", slack=slack)


@pytest.mark.fine
def test_saturation(answer, gen):
    """What is larger than 448 scales becomes 448, and what is below -448 scales becomes -448."""
    scale = 0.5 + torch.rand((), generator=gen)
    x = scale * torch.tensor([1000.0, -500.0, 1e9, -3e4, 16.0])
    yours = answer.to_fp8(x, scale).float()
    wanted = torch.tensor([448.0, -448.0, 448.0, -448.0, 16.0])
    expect_equal(yours, wanted, "to_fp8(x, scale) for numbers beyond 448 * scale")


@pytest.mark.fine
def test_zeros(answer):
    """The scale of zeros is above 0, and zeros stay 0."""
    zeros = torch.zeros(2, 3)
    scale = answer.scale_of(zeros)
    expect_that(float(scale) > 0, "scale_of(zeros) is not above 0", yours=scale)
    expect_equal(answer.to_fp8(zeros, scale).float(), zeros, "to_fp8(zeros, scale_of(zeros))")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """float16 and bfloat16 are divided in float32; the scale is float32."""
    for size in (1.0, 1e-5):
        x = drawn(gen, 6, 9, size=size).to(dtype)
        wanted = x.float().abs().max() / 448
        expect_close(answer.scale_of(x), wanted, f"scale_of(x) in {dtype}, of size {size:g}")
        yours = answer.to_fp8(x, wanted).float()
        expect_equal(
            yours, rounded(x.double() / wanted).float(), f"to_fp8(x, scale) in {dtype}, of size {size:g}"
        )
