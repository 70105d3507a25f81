"""The feedback on a wrong tensor, line by line."""

import math
from textwrap import dedent

import pytest
import torch
from torch import Tensor

from grader.diagnose.causes import LARGEST
from grader.diagnose.describe import describe
from grader.diagnose.diff import explain
from tests.grader.support.fresh_device import on_device
from tests.grader.support.telling import numbers, told

NAN, INF = float("nan"), float("inf")


def text(expected: str) -> str:
    return dedent(expected).strip("\n")


def test_the_shape_is_told_with_the_likely_cause() -> None:
    wanted = numbers(2, 3)
    feedback = explain(
        wanted[..., None], wanted, call="mean_over_features(x)", dims=("batch", "time"), rtol=1e-6
    )
    assert feedback is not None and feedback.text == text("""
        wrong shape from mean_over_features(x)
          yours   float32[2, 3, 1]
          wanted  float32[2, 3]   (batch, time)
          likely  right values; drop the size-1 dim at position 2 (keepdim=?)
    """)


def test_shape_and_dtype_are_told_together() -> None:
    wanted = numbers(2, 3)
    assert told(wanted.double().T, wanted) == text("""
        wrong shape and dtype from f(x)
          yours   float64[3, 2]
          wanted  float32[2, 3]
          likely  right values, transposed: yours.transpose(0, 1) is wanted
    """)


def test_a_wrong_dtype_with_right_values() -> None:
    wanted = numbers(2, 3)
    assert told(wanted.double(), wanted, dims=("batch", "time")) == text("""
        wrong dtype from f(x)
          yours   float64[2, 3]
          wanted  float32[2, 3]   (batch, time)
          likely  right values; only the dtype differs: .to(torch.float32)
    """)


def test_a_wrong_dtype_of_an_empty_tensor() -> None:
    wanted = torch.empty(0, 3, dtype=torch.float64)
    assert told(wanted.float(), wanted) == text("""
        wrong dtype from f(x)
          yours   float32[0, 3]
          wanted  float64[0, 3]
    """)


def test_a_wrong_dtype_with_wrong_values() -> None:
    wanted = 5 * numbers(2, 3, 4)
    assert told(wanted.long(), wanted) == text("""
        wrong dtype from f(x)
          yours   int64[2, 3, 4]
          wanted  float32[2, 3, 4]
          values  all 24 are wrong in float32[2, 3, 4]; first at [0, 0, 0]: yours 3, wanted 3.34
          likely  right, but rounded towards zero: an integer dtype on the way?
    """)


def test_long_facts_on_a_wrong_dtype_take_two_lines() -> None:
    wanted = (200 * numbers(2, 3, 4, 5).abs()).to(torch.uint8)
    message = told(wanted + 0.25, wanted, dims=("batch", "channels", "height", "width"))
    assert message.splitlines()[3:5] == [
        "  values  all 120 are wrong in uint8[2, 3, 4, 5]",
        "  first   at batch=0, channels=0, height=0, width=0: yours 133.2, wanted 133",
    ]


def test_values_wrong_in_one_slice() -> None:
    wanted = numbers(2, 3, 4)
    yours = wanted.clone()
    yours[:, 0] = torch.tensor([0.5, 0.25, 9.0, -1.0])
    assert told(yours, wanted, dims=("batch", "time", "feature"), rtol=1e-6) == text("""
        wrong values from f(x)
          values  8 of 24 are wrong in float32[2, 3, 4], all of them at time=0
          first   at batch=0, time=0, feature=0: yours 0.5, wanted 0.668
          error   at most 10, relative 10.1
          where   ××××   (batch=0, rows: time, columns: feature)
                  ····
                  ····
    """)


def test_one_number() -> None:
    assert told(torch.tensor(0.31), torch.tensor(0.12)) == text("""
        wrong values from f(x)
          value   yours 0.31, wanted 0.12 in float32[]
    """)


def test_nan_and_inf_are_counted() -> None:
    wanted = numbers(6)
    yours = wanted.clone()
    yours[1], yours[2], yours[4] = NAN, NAN, INF
    assert told(yours, wanted) == text("""
        wrong values from f(x)
          values  3 of 6 are wrong in float32[6] (2 NaN, 1 inf)
          yours   [0.668, nan, nan, 0.216, inf, -0.947]
          wanted  [0.668, 0.994, 0.812, 0.216, -0.491, -0.947]
          where   ·××·×·
    """)


def test_nan_is_found_where_other_values_are_wrong_too() -> None:
    wanted = numbers(4, 3)
    yours = wanted + numbers(3, 4).mT.square()
    yours[2, 1:] = NAN
    assert "values  all 12 are wrong in float32[4, 3] (2 NaN, from [2, 1] on)" in told(yours, wanted)


def test_other_types() -> None:
    wanted = numbers(2, 3)
    assert told(None, wanted, dims=("batch", "time")) == text("""
        wrong type from f(x)
          yours   None
          wanted  float32[2, 3]   (batch, time)
          likely  does the function end with `return`?
    """)
    assert told(wanted.max(1), wanted.max(1).values) == text("""
        wrong type from f(x)
          yours   max of 2 (float32[2], int64[2])
          wanted  float32[2]
          likely  the wanted tensor is .values of it: return only that
    """)


@pytest.mark.parametrize(
    "make, likely",
    [
        (lambda w: w.numpy(), "a NumPy array: stay in torch, or end with torch.from_numpy(...)"),
        (
            lambda w: w.tolist(),
            "a Python list: return a tensor, without .tolist(), or made by torch.tensor(…)",
        ),
        (lambda w: range(3), "a Python range: torch.arange counts likewise, and makes a tensor"),
        (lambda w: (w + 1, w), "the wanted tensor is item 1 of it: return only that"),
        (lambda w: list(w), "torch.stack of these is what is wanted"),
        (lambda w: w.split(1), "torch.cat of these is what is wanted"),
        (lambda w: w.min(1), "min returns values and indices: take the one that is wanted"),
        (lambda w: [w.flatten()], None),
        (lambda w: w.sum, "this is a function, and not what it returns: call it"),
        (lambda w: "float32[2, 3]", None),
        (lambda w: {"w": w}, None),
        (lambda w: 3.0, None),
    ],
)
def test_the_cause_of_another_type(make: object, likely: str | None) -> None:
    last = told(make(numbers(2, 3)), numbers(2, 3)).splitlines()[-1]  # type: ignore[operator]
    assert last.removeprefix("  likely  ") == likely or (likely is None and last.startswith("  wanted"))


class DTensor(torch.Tensor):
    """What only looks like a distributed tensor: it has a shape, and no values."""

    @classmethod
    def __torch_dispatch__(cls, *_: object, **__: object) -> object:
        raise RuntimeError("a piece of it lies here")


def test_the_pieces_of_a_distributed_tensor() -> None:
    pieces = DTensor._make_wrapper_subclass(DTensor, (2, 3))  # type: ignore[attr-defined]
    assert told(pieces, numbers(2, 3)).endswith("its full_tensor() puts the pieces of all ranks together")


def test_a_python_number_for_a_tensor_without_dims() -> None:
    message = told(3.5, torch.tensor(3.5))
    assert message.endswith("likely  a Python number: return the tensor itself, without .item()")


@pytest.mark.parametrize(
    "yours, wanted, options",
    [
        (torch.tensor([NAN, INF, -INF, 1.0]), torch.tensor([NAN, INF, -INF, 1.0]), {}),
        (torch.tensor([1.0, 1e-7]), torch.tensor([1.01, 0.0]), {"rtol": 0.011, "atol": 1e-6}),
        (torch.empty(0, 3), torch.empty(0, 3), {}),
        (torch.nn.Parameter(torch.ones(2)), torch.ones(2), {}),
        (torch.ones(2, dtype=torch.cfloat).conj(), torch.ones(2, dtype=torch.cfloat), {}),
        (torch.empty(2, device="meta"), torch.ones(2, device="meta"), {}),
        (torch.eye(3).to_sparse(), torch.eye(3), {}),
    ],
)
def test_agreement(yours: Tensor, wanted: Tensor, options: dict[str, float]) -> None:
    assert explain(yours, wanted, call="f(x)", **options) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "yours, wanted",
    [
        (torch.tensor([INF]), torch.tensor([-INF])),
        (torch.tensor([1.0]), torch.tensor([INF])),
        (torch.tensor([INF]), torch.tensor([1.0])),
        (torch.tensor([0.0]), torch.tensor([NAN])),
        (torch.tensor([1.0]), torch.tensor([1.02])),
        (torch.empty(0, 3), torch.empty(3, 0)),
        (torch.empty(2, device="meta"), torch.ones(2)),
    ],
)
def test_disagreement(yours: Tensor, wanted: Tensor) -> None:
    assert "likely" not in told(yours, wanted, rtol=0.01)


def test_numbers_whose_range_float64_cannot_hold() -> None:
    largest = torch.tensor([torch.finfo(torch.float64).max], dtype=torch.float64)
    assert told(largest, -largest).splitlines()[1:] == [
        "  value   at [0]: yours 1.8e+308, wanted -1.8e+308 in float64[1]"
    ]


def test_large_integers_are_compared_exactly() -> None:
    wanted = torch.arange(12) + 2**60
    assert told(wanted + 1, wanted).splitlines()[2:] == [
        "  first   at [0]: yours 1152921504606846977, wanted 1152921504606846976"
    ]


@pytest.mark.parametrize(
    "yours, wanted, expected",
    [
        (1.0, 1.0 + 2**-20, ("1", "1.000001")),
        (0.1 + 0.2, 0.3, ("0.30000000000000004", "0.29999999999999999")),
        (1e-12, 2e-12, ("1e-12", "2e-12")),
        (1 + 2j, 1 - 2j, ("1+2j", "1-2j")),
    ],
)
def test_numbers_are_told_apart(yours: complex, wanted: complex, expected: tuple[str, str]) -> None:
    kind = torch.complex128 if isinstance(yours, complex) else torch.float64
    message = told(torch.tensor(yours, dtype=kind), torch.tensor(wanted, dtype=kind))
    assert f"yours {expected[0]}, wanted {expected[1]} in" in message


def test_messages_stay_small() -> None:
    wanted = numbers(1000, 70)
    yours = wanted.clone()
    yours[::3, 1] = 5
    long = explain("long\n" * 999, wanted, call="f(" + "x, " * 99 + ")")
    assert long is not None
    for message in (
        told(yours, wanted, dims=("a_dimension_with_a_long_name" * 2, "another_such_dimension" * 3)),
        long.text,
        told([[wanted] * 9] * 9, wanted),
    ):
        assert len(message.splitlines()) <= 12
        assert max(map(len, message.splitlines())) <= 100


def test_a_long_call_is_told_to_its_end() -> None:
    call = (
        "the gradient of the parameters through fit(model, loss, optimizer, batches, steps=3), on rank 1 of 2"
    )
    feedback = explain(torch.tensor(1.0), torch.tensor(2.0), call=call)
    assert feedback is not None and feedback.text == text("""
        wrong values from the gradient of the parameters through fit(model, loss, optimizer, batches,
            steps=3), on rank 1 of 2
          value   yours 1, wanted 2 in float32[]
    """)


@pytest.mark.parametrize(
    "call, is_told",
    [
        ("f(x)", True),
        ("net.f(x, dim=1), x of (2, 3)", True),
        ("the bias of f(x)", False),
        ("['bias'] of f(x)", False),
        ("f(x)['bias']", False),
        ("dw of f(x)", False),
    ],
)
def test_a_missing_return_is_a_cause_for_a_whole_result_alone(call: str, is_told: bool) -> None:
    feedback = explain(None, torch.ones(2), call=call)
    assert feedback is not None
    assert ("`return`" in feedback.likely) is is_told


def test_large_tensors_are_told_by_facts_alone() -> None:
    wanted = torch.arange(LARGEST + 1)
    assert "likely" not in told(wanted + 1, wanted)
    assert told(wanted[:99] + 1, wanted[:99]).endswith("likely  every value is 1 too large: off by one?")


DTYPES = [torch.bool, torch.uint8, torch.int64, torch.uint64, torch.float16, torch.bfloat16, torch.complex64]


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16])
def test_every_dtype_can_be_told(dtype: torch.dtype) -> None:
    wanted = (9 * numbers(4, 5).abs()).to(dtype)
    yours = torch.zeros(4, 5).to(dtype)
    assert explain(wanted, wanted.clone(), call="f(x)") is None
    assert f"wrong in {describe(wanted)}" in told(yours, wanted)
    assert told(numbers(4, 5), wanted).startswith("wrong dtype from f(x)\n")


def test_a_default_device_changes_nothing() -> None:
    wanted = numbers(2, 3, 4)
    expected = told(wanted.roll(1, 1), wanted)
    torch.set_default_device("meta")
    try:
        assert told(wanted.roll(1, 1), wanted) == expected
    finally:
        torch.set_default_device(None)


@on_device
def test_the_device(device: torch.device) -> None:
    wanted = numbers(2, 3, 4)
    assert describe(wanted.to(device)) == "float32[2, 3, 4] on sim:0"
    assert explain(wanted.to(device), wanted.to(device), call="f(x)") is None
    assert told(wanted.to(device) * 0.7, wanted.to(device)).endswith("every value is 0.7 × the wanted one")
    assert told(wanted, wanted.to(device)) == text("""
        wrong device from f(x)
          yours   float32[2, 3, 4] on cpu
          wanted  float32[2, 3, 4] on sim:0
          likely  right values, but made on or moved to the CPU: device=x.device?
    """)


def test_small_results_are_told_in_full_with_what_the_call_was_given():
    x = torch.tensor([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]])
    told = explain(x.mean(0, keepdim=True), x.mean(0), call="f(x)", inputs={"x": x})
    assert told is not None
    facts = [(name, text) for name, text in told.facts if name in ("values", "given")]
    assert facts == [
        ("values", "yours [[3, 4, 5]], wanted [3, 4, 5]"),
        ("given", "x = [[1, 2, 3], [5, 6, 7]]"),
    ]
    assert told.listed is not None and told.listed.facts == ("values", "given")
    assert [(name, array.shape, array.numbers) for name, array in told.listed.tensors] == [
        ("yours", (1, 3), (3, 4, 5)),
        ("wanted", (3,), (3, 4, 5)),
        ("x", (2, 3), (1, 2, 3, 5, 6, 7)),
    ]
    large = torch.randn(4, 9)
    told = explain(large.T, large, call="f(x)", inputs={"x": large})
    assert told is not None and not {"given", "values"} & {name for name, _ in told.facts}
    assert told.listed is None
    told = explain(x.log() * math.inf, x, call="f(x)")
    assert told is not None and told.listed is not None
    assert dict(told.listed.tensors)["yours"].numbers == ("nan", *["inf"] * 5)
