"""The one likely cause, named where the numbers bear it out."""

import pytest
import torch
from torch import Tensor

from tests.grader.support.telling import numbers, told

X = numbers(4, 3, 6)
LOGITS = 3 * numbers(4, 5, 6)
HEADS = numbers(2, 4, 3, 5)
MERGED = HEADS.transpose(1, 2).reshape(2, 3, 20)
MASK = torch.ones(6, 6, dtype=torch.bool).tril()
SCORES = numbers(6, 6).masked_fill(~MASK, float("-inf"))
ZEROED = X.where(numbers(4, 3, 6) > -0.5, torch.zeros(()))
IDS = torch.randperm(40, generator=torch.Generator().manual_seed(0)).reshape(8, 5) % 7
RANDOM = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
NAN, INF = float("nan"), float("inf")

CASES: list[tuple[str, Tensor, Tensor, dict[str, Tensor]]] = [
    # right values, wrong places
    ("right values, transposed: yours.transpose(0, 1) is wanted", numbers(5, 5).T, numbers(5, 5), {}),
    ("right values, dims permuted: yours.permute(1, 2, 0) is wanted", X.permute(2, 0, 1), X, {}),
    ("right values, reversed along time", X.flip(1), X, {}),
    ("right values, reversed along batch and time", X.flip(0, 1), X, {}),
    ("right values, rolled by 2 along feature: torch.roll(wanted, 2, 2)", X.roll(2, 2), X, {}),
    ("right values, shifted by -1 along time: yours[i] is wanted[i + 1]", LOGITS[:, 1:], LOGITS[:, :-1], {}),
    (
        "right values, shifted by 2 along feature: yours[i] is wanted[i - 2]",
        LOGITS[..., :-2],
        LOGITS[..., 2:],
        {},
    ),
    (
        "right values in the wrong order: reshape does not swap dims; permute or transpose first",
        HEADS.reshape(2, 3, 20),
        MERGED,
        {},
    ),
    (
        "the numbers are still in the order of x: permute or transpose before the reshape",
        HEADS.reshape(2, 3, 20),
        MERGED,
        {"x": HEADS},
    ),
    ("right values, but not sorted along time", X, X.sort(1).values, {}),
    ("right values, but sorted along time, largest first", X.sort(1, descending=True).values, X, {}),
    (
        "the right numbers in the wrong order",
        X.flatten()[X.flatten().sin().argsort()].reshape(X.shape),
        X,
        {},
    ),
    ("this is x itself, unchanged", X, X.softmax(1), {"mask": MASK, "x": X}),
    # constants
    ("the sign is flipped", -X, X, {}),
    ("every value is 4 × the wanted one, and 4 is the size of batch: a sum for a mean?", 4 * X, X, {}),
    ("every value is 1/7 of the wanted one, and 7 is x.shape[1]: a mean for a sum?", X / 7, X, {"x": RANDOM}),
    ("every value is sqrt(3) × the wanted one, and 3 is the size of time", X * 3**0.5, X, {}),
    ("every value is 1/sqrt(3) × the wanted one, and 3 is the size of time", X / 3**0.5, X, {}),
    ("divided by n - 1 where n is wanted (correction=0), n = 7, x.shape[1]", X * 7 / 6, X, {"x": RANDOM}),
    ("divided by n where n - 1 is wanted (correction=1), n = 7, x.shape[1]", X * 6 / 7, X, {"x": RANDOM}),
    *(
        (
            "n and n - 1 are taken for each other in a variance (correction), n = 7, x.shape[1]",
            *pair,
            {"x": RANDOM},
        )
        for pair in (
            (RANDOM.std(1, correction=0), RANDOM.std(1)),
            (RANDOM / RANDOM.std(1, keepdim=True), RANDOM / RANDOM.std(1, correction=0, keepdim=True)),
        )
    ),
    (
        "every value is 35 × the wanted one, and 35 is x.numel(): a sum for a mean?",
        RANDOM.sum(),
        RANDOM.mean(),
        {"x": RANDOM},
    ),
    ("every value is twice the wanted one", 2 * X, X, {}),
    ("log2 where the natural log is wanted", X.abs().log2(), X.abs().log(), {}),
    ("every value is 1/255 of the wanted one: scaled as pixels are?", X / 255, X, {}),
    ("every value is 255 × the wanted one: are these pixels that should be scaled?", 255 * X, X, {}),
    ("every value is 0.7 × the wanted one", 0.7 * X, X, {}),
    ("every value is 1.0000002 × the wanted one", 1.0000002 * X.double(), X.double(), {}),
    ("every value is 0.25 too small", X - 0.25, X, {}),
    ("every value is 1 too large: off by one?", IDS + 1, IDS, {}),
    ("every value is 1 too large: off by one?", IDS + 1.0, IDS.float(), {}),
    ("every value is 1 too large", X + 1, X, {}),
    (
        "off by a factor that is the same all along time: a sum, norm or count over it?",
        X,
        X / X.abs().sum(1, keepdim=True),
        {},
    ),
    (
        "off by a number that is the same all along feature: a mean, sum or maximum over it?",
        X - X.amax(2, keepdim=True) / 3,
        X,
        {},
    ),
    # steps along a dim
    ("the maximum over feature is subtracted, which is not wanted", X - X.amax(2, keepdim=True), X, {}),
    (
        "right, once its mean over time is subtracted: is another one used, or none?",
        X,
        X - X.mean(1, keepdim=True),
        {},
    ),
    (
        "right, once divided by its sum over time: is another one used, or none?",
        X.exp(),
        X.exp() / X.exp().sum(1, keepdim=True),
        {},
    ),
    (
        "right, once divided by its norm over feature: is another one used, or none?",
        X,
        X / X.norm(dim=2, keepdim=True),
        {},
    ),
    ("divided by the standard deviation over batch, which is not wanted", X / X.std(0, keepdim=True), X, {}),
    ("this is the running sum of the wanted values along time", X.cumsum(1), X, {}),
    ("the running sum along batch is missing", X, X.cumsum(0), {}),
    ("everywhere along time, this is what is wanted at the last place", X[:, 2:].expand_as(X), X, {}),
    ("this is the mean of x over dim 0", RANDOM[:, :5].mean(0), RANDOM[:, :5].mean(1), {"x": RANDOM[:, :5]}),
    ("this is the maximum of x over dim 1", numbers(9, 8).amax(1), numbers(9), {"x": numbers(9, 8)}),
    # cut by a dtype
    (
        "right, but uint8 holds 0 to 255 alone: other numbers wrap around",
        torch.tensor([1, 156], dtype=torch.uint8),
        torch.tensor([1, -100]),
        {},
    ),
    (
        "right, but rounded towards zero: an integer dtype on the way?",
        torch.tensor([1, 2]),
        torch.tensor([1.0, 2.5]),
        {},
    ),
    (
        "right values; only the dtype differs: .to(torch.bool)",
        torch.tensor([0, 1]),
        torch.tensor([0, 1]) > 0,
        {},
    ),
    # formulas
    ("this is the log of the wanted values: a log too many, or a missing exp", X.abs().log(), X.abs(), {}),
    ("this is exp of the wanted values: an exp too many, or a missing log", X.exp(), X, {}),
    ("this is the square of the wanted values: a missing square root?", X.abs().square(), X.abs(), {}),
    ("this is 1 - the wanted values", 1 - X, X, {}),
    ("right sizes, but no sign: an abs or a square too many?", X.abs(), X, {}),
    ("the sigmoid is missing: yours.sigmoid() is wanted", X, X.sigmoid(), {}),
    ("right, but rounded towards zero: an integer dtype on the way?", (9 * X).trunc(), 9 * X, {}),
    (
        "softmax over the wrong dim: sums to 1 over batch, not feature",
        LOGITS.softmax(0),
        LOGITS.softmax(2),
        {},
    ),
    ("softmax over time is missing", LOGITS, LOGITS.softmax(1), {}),
    ("softmax over time is applied twice", LOGITS.softmax(1).softmax(1), LOGITS.softmax(1), {}),
    ("log_softmax over time is missing", LOGITS, LOGITS.log_softmax(1), {}),
    (
        "right up to the rounding of bfloat16: computed in bfloat16, then cast?",
        LOGITS.bfloat16().softmax(1).float(),
        LOGITS.softmax(1),
        {},
    ),
    ("right up to the rounding of float16: computed in float16, then cast?", X.half().float(), X, {}),
    (
        "right up to the rounding of float32: computed in float32, then cast?",
        X.double(),
        X.double() + 1e-9,
        {},
    ),
    (
        "errors of the size of float32's rounding: is float32 used on the way, or another eps?",
        X.double() + (3 * X).exp().double(),
        X.double() + (3 * X.double()).exp(),
        {},
    ),
    ("all zeros: never filled in, or multiplied by 0?", torch.zeros_like(X), X, {}),
    ("every value is 0.5", torch.full_like(X, 0.5), X, {}),
    # masks
    ("the mask is inverted", ~MASK, MASK, {}),
    ("the mask is inverted", ~(RANDOM > 0), RANDOM > 0, {}),
    ("the diagonal is masked but should be kept", MASK.tril(-1), MASK, {}),
    ("the diagonal is kept but should be masked", SCORES, SCORES.masked_fill(torch.eye(6) > 0, -INF), {}),
    (
        "the mask is off by 2: tril(diagonal=2) for tril(diagonal=0)",
        torch.ones(6, 6).tril(2),
        MASK.float(),
        {},
    ),
    ("the upper triangle is kept, not the lower", MASK.T, MASK, {}),
    ("right where it is kept, but nothing is masked", numbers(6, 6), SCORES, {}),
    (
        "right where it is kept, but the rest is -1e+09, where -inf is wanted",
        SCORES.masked_fill(~MASK, -1e9),
        SCORES,
        {},
    ),
    # NaN and inf
    (
        "NaN exactly where 0 is wanted: 0 / 0, 0 · inf, or softmax of a row of -inf?",
        ZEROED / ZEROED * ZEROED,
        ZEROED,
        {},
    ),
    ("NaN exactly where x is negative: log or sqrt of it?", X.sqrt(), X.clamp(min=0).sqrt(), {"x": X}),
    (
        "inf exactly where x is 0: a division by zero, or log(0)?",
        1 / ZEROED,
        (1 / ZEROED).where(ZEROED != 0, 9),
        {"x": ZEROED},
    ),
    (
        "NaN comes in with x and spreads: mask it before it is used, not after",
        X + NAN,
        X,
        {"x": X.where(X > 0, NAN)},
    ),
    (
        "exp overflows: x reaches 2e+03, the limit is 89; subtract the maximum",
        (2000 * X).exp() / (2000 * X).exp().sum(1, keepdim=True),
        (2000 * X).softmax(1),
        {"x": 2000 * X},
    ),
    (
        "overflow: inf exactly where the values pass 65504, the largest number of float16",
        (1e5 * X).half().float(),
        1e5 * X,
        {},
    ),
    (
        "overflow or a division by 0: the wanted values fit in float32, a step on the way does not",
        torch.where(X > 0.9, INF, X),
        X,
        {},
    ),
    # shapes
    ("right values; a size-1 dim at position 0 is missing (keepdim=? unsqueeze?)", IDS[0, 0], IDS[:1, 0], {}),
    ("nothing is left along dim 1: does a slice end at -0?", RANDOM[:, 0:-0], RANDOM, {}),
    ("the sizes of dim 0 and dim 1 have changed places", numbers(7, 5), RANDOM, {}),
    ("right values; drop the size-1 dim at position 1 (keepdim=?)", X[:, None], X, {}),
    ("right values; drop the size-1 dims at positions 0 and 2 (keepdim=?)", X[None, :, None], X, {}),
    ("right values; a size-1 dim at position 2 is missing (keepdim=? unsqueeze?)", X, X[:, :, None], {}),
    ("right values in the right order: reshape to (12, 6)", X, X.reshape(12, 6), {}),
    (
        "right values in another order and shape: permute or transpose before the reshape",
        X.mT.reshape(4, 2, 9),
        X,
        {},
    ),
    ("right values, repeated along dim 0: broadcast where it should not be?", X.expand(5, 4, 3, 6), X, {}),
    (
        "(5,) met (5, 1) and became (5, 5): the right values are its diagonal",
        RANDOM[:, 0] - RANDOM[:, 1:2],
        RANDOM[:, 0] - RANDOM[:, 1],
        {},
    ),
    ("right values, but the last 1 along time is missing", X[:, :2], X, {}),
    ("right values, but the first 2 along time are too many", LOGITS, LOGITS[:, 2:], {}),
    ("these are only the values at batch = 0", X[0], X, {}),
    ("right values at index 3 of dim 0; the others are too many", X, X[3], {}),
    ("the mean over all dims is missing", X + 2, (X + 2).mean(), {}),
    ("the sum over dim 1 is missing", X, X.sum(1), {}),
    ("this is the maximum over time, which should stay", X.amax(1), X, {}),
    ("scores where indices are wanted: argmax over dim 2 is missing", LOGITS, LOGITS.argmax(2), {}),
    (
        "one-hot vectors where indices are wanted: argmax over dim 2 is missing",
        torch.nn.functional.one_hot(IDS, 7),
        IDS,
        {},
    ),
    ("indices where one-hot vectors over feature are wanted", IDS, torch.nn.functional.one_hot(IDS, 7), {}),
]


@pytest.mark.parametrize("likely, yours, wanted, inputs", CASES, ids=[case[0][:40] for case in CASES])
def test_cause(likely: str, yours: Tensor, wanted: Tensor, inputs: dict[str, Tensor]) -> None:
    dims = ("batch", "time", "feature") if wanted.ndim == 3 else ()
    near = 4e-6 * wanted.is_floating_point()
    message = told(yours, wanted, dims=dims, inputs=inputs, rtol=near * (wanted.dtype != torch.float64))
    assert message.splitlines()[-1] == f"  likely  {likely}"


@pytest.mark.parametrize(
    "yours",
    [
        X.double() * (1 - 1e-7),  # told as a factor
        X.double()
        / (X.double().square() + 1e-7)
        * X.double().square(),  # an eps, with the sign of the values
        X.double() + 1e-7 * (1.5 + numbers(4, 3, 6).double()),
        X.double() + 1e-3 * numbers(6, 3, 4).mT.reshape(4, 3, 6).double(),
    ],
)
def test_a_small_error_with_a_pattern_is_not_called_rounding(yours: Tensor) -> None:
    assert "float32's rounding" not in told(yours, X.double())


def test_no_constant_is_told_of_errors_about_as_large_as_what_is_granted() -> None:
    wanted = numbers(3).double()
    yours = wanted + torch.tensor([1.2e-13, 1.5e-13, 1.7e-13], dtype=torch.float64)
    assert "likely" not in told(yours, wanted, atol=1.6e-13)
    assert "likely" not in told(wanted * (1 + 1.7e-13), wanted, rtol=1.6e-13)
    assert told(wanted + 1e-7, wanted).endswith("likely  every value is 1e-07 too large")


def test_a_formula_that_changes_few_numbers_is_not_told() -> None:
    wanted = torch.tensor([0.4821, -0.5137, 0.9244, 1.3168, 0.2071])
    assert "likely" not in told(wanted.relu(), wanted, rtol=1e-6)
    assert "likely" not in told(wanted.abs(), wanted, rtol=1e-6)
    assert told(X.relu(), X, rtol=1e-6).endswith("likely  right, but negative values are cut to 0")


def test_one_factor_for_all_is_told_as_such() -> None:
    wanted = torch.tensor([2.137, 20.41])
    assert told(wanted * 2 / 3, wanted, rtol=1e-6).endswith(
        "likely  every value is 0.666667 × the wanted one"
    )


def test_one_number_is_enough_to_tell_float32() -> None:
    wanted = numbers(5).double().square()
    told_of = [told(w.float().double(), w) for w in (wanted, wanted[:1], wanted[2])]
    assert all(
        m.endswith("right up to the rounding of float32: computed in float32, then cast?") for m in told_of
    )
    assert "likely" not in told(wanted[2].bfloat16().float(), wanted[2].float())
    assert "likely" not in told(torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64) - 1e-8)
