"""No cause is guessed where yours and wanted have nothing to do with each other."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from grader.diagnose.diff import explain

NAN, INF = float("nan"), float("inf")
SHAPES = [
    (),
    (1,),
    (2,),
    (3,),
    (4,),
    (6,),
    (12,),
    (2, 2),
    (2, 3),
    (3, 2),
    (3, 3),
    (4, 4),
    (3, 1),
    (2, 3, 1),
    (2, 3, 4),
]
KINDS = [
    "normal",
    "uniform",
    "integers",
    "few integers",
    "bools",
    "rare bools",
    "quarters",
    "special",
    "tiny",
    "bytes",
]
FLOATS = [torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.complex64]


def unrelated(shape: tuple[int, ...], kind: str, dtype: torch.dtype, gen: torch.Generator) -> Tensor:
    """Random numbers of a kind that learners meet, from the shape's worth of draws."""
    normal = torch.randn(shape, generator=gen)
    uniform = torch.rand(shape, generator=gen)
    return {
        "normal": normal.to(dtype),
        "uniform": uniform,
        "integers": (1000 * normal).long(),
        "few integers": (3 * uniform).long(),
        "bools": uniform < 0.5,
        "rare bools": uniform < 0.1,
        "quarters": (8 * uniform).round() / 4,
        "special": torch.where(uniform < 0.3, NAN, torch.where(uniform > 0.7, INF, normal)),
        "tiny": 1e-9 * normal,
        "bytes": (256 * uniform).to(torch.uint8),
    }[kind]


def test_a_shift_is_not_told_where_rows_are_equal() -> None:
    wanted = torch.randn(1, 6, generator=torch.Generator().manual_seed(0)).expand(5, 6).contiguous()
    for wrong in (0, 4):
        yours = wanted.clone()
        yours[wrong] += 0.25
        feedback = explain(yours, wanted, call="f(x)", dims=("time", "feature"), rtol=1e-6)
        assert feedback is not None and not feedback.likely


@settings(max_examples=2500, deadline=None, derandomize=True, database=None)
@given(
    data=st.data(),
    shape=st.sampled_from(SHAPES),
    same_shape=st.booleans(),
    tolerance=st.sampled_from([0.0, 4e-6, 0.03]),
    draw=st.integers(0, 2**32),
)
def test_no_cause_is_guessed(
    data: st.DataObject, shape: tuple[int, ...], same_shape: bool, tolerance: float, draw: int
) -> None:
    gen = torch.Generator().manual_seed(draw)
    other = shape if same_shape else data.draw(st.sampled_from(SHAPES))
    pick = st.tuples(st.sampled_from(KINDS), st.sampled_from(FLOATS))
    yours = unrelated(other, *data.draw(pick), gen)
    wanted = unrelated(shape, *data.draw(pick), gen)
    inputs = {"x": unrelated(data.draw(st.sampled_from(SHAPES)), "normal", torch.float32, gen)}
    feedback = explain(yours, wanted, call="f(x)", inputs=inputs, rtol=tolerance, atol=tolerance)
    assert feedback is None or not feedback.likely or is_so(feedback.likely, yours, wanted), feedback


def is_so(likely: str, yours: Tensor, wanted: Tensor) -> bool:
    """Whether a line tells a fact, for which a few numbers are enough."""
    if likely.startswith("the sizes of "):
        return sorted(yours.shape) == sorted(wanted.shape)
    if likely.startswith("right, but rounded towards zero"):
        return torch.equal(yours.double(), wanted.double().trunc())
    if likely.startswith("right values, but the "):
        d = next(
            d for d, sizes in enumerate(zip(yours.shape, wanted.shape, strict=True)) if len(set(sizes)) > 1
        )
        n = min(yours.shape[d], wanted.shape[d])
        ends = [[t.double().narrow(d, at * (t.shape[d] - n), n) for t in (yours, wanted)] for at in (0, 1)]
        return any(torch.allclose(*pair, 0, 0.1) for pair in ends)
    near = torch.allclose(yours.flatten().to(torch.complex128), wanted.flatten().to(torch.complex128), 0, 0.1)
    return likely.startswith("right values; ") and near and bool((yours != 0).any())
