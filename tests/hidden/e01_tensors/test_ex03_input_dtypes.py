"""What grades input_dtypes: dtypes, values, copies only where needed, devices, gradients."""

import math

import pytest
import torch

from grader.checks import (
    expect_copy,
    expect_equal,
    expect_gradients,
    expect_raises,
    expect_that,
    expect_view,
    unchanged,
)
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, on_host

IDS = torch.tensor([[3, 1, 4], [1, 5, 9]])
FEATURES = torch.tensor([[0.5, -2.0], [3.25, 1.0], [0.0, 7.0]])
MASK = torch.tensor([True, False, True, True])


def by_way_of(kinds, x, dtype):
    """For `suspects`: what becomes of x in `dtype`, if it is in one of these kinds on the way."""
    told = "the numbers go by way of {}, which does not hold all of them"
    return {told.format(kind): lambda kind=kind: x.to(kind).to(dtype) for kind in kinds}


def ids_of(answer, token_ids):
    return answer.model_inputs(token_ids, FEATURES.clone(), MASK.clone())[0]


def features_of(answer, features):
    return answer.model_inputs(IDS.clone(), features, MASK.clone())[1]


def mask_of(answer, mask):
    return answer.model_inputs(IDS.clone(), FEATURES.clone(), mask)[2]


def test_ids_of_any_integer_dtype(answer):
    """Token ids of every integer dtype become int64 and keep their values, large and negative ones too."""
    signed = (torch.int8, torch.int16, torch.int32, torch.int64)
    for dtype in (*signed, torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        limits = torch.iinfo(dtype)
        most = min(limits.max, 2**63 - 1)
        values = [[0, 7, most], [limits.min, 1, most - 1]]
        call = f"model_inputs(token_ids, …)[0] of ids in {dtype}"
        ids = torch.tensor(values, dtype=dtype)
        kinds = torch.int32, torch.int16, torch.int8, torch.float64, torch.float32
        suspects = by_way_of(kinds, ids, torch.int64)
        expect_equal(ids_of(answer, ids), torch.tensor(values), call, suspects=suspects)


def test_features_of_any_dtype(answer):
    """Features of every dtype become float32 and keep their values."""
    for dtype in (
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.uint8,
        torch.int64,
        torch.bool,
    ):
        features = torch.tensor([[0.0, 1.0, 200.0], [3.0, 0.0, 7.0]]).to(dtype)
        wanted = torch.tensor([[float(v) for v in row] for row in features.tolist()])
        expect_equal(
            features_of(answer, features), wanted, f"model_inputs(…, features, …)[1] of features in {dtype}"
        )
    large = torch.tensor([100_000, -(2**24) + 1, 2**40], dtype=torch.int64)
    wanted = torch.tensor([100_000.0, -(2.0**24) + 1, 2.0**40])
    expect_equal(
        features_of(answer, large), wanted, "model_inputs(…, features, …)[1] of large int64 features"
    )
    for dtype, most in (
        (torch.int16, 32_767),
        (torch.int32, 2**24 - 1),
        (torch.uint16, 65_535),
        (torch.uint64, 2**64 - 2**40),
    ):
        values = [0, 30_001, most]
        call = f"model_inputs(…, features, …)[1] of {values} in {dtype}"
        wanted = torch.tensor([float(v) for v in values])
        features = torch.tensor(values, dtype=dtype)
        suspects = by_way_of((torch.int32, torch.int16), features, torch.float32)
        expect_equal(features_of(answer, features), wanted, call, suspects=suspects)
    fine = torch.tensor([0.1, -1e-30, 1e30, math.nan, -math.inf], dtype=torch.float64)
    wanted = torch.tensor([0.1, -1e-30, 1e30, math.nan, -math.inf])
    call = "model_inputs(…, features, …)[1] of features in float64"
    expect_equal(features_of(answer, fine), wanted, call)
    with default_dtype(torch.float64):
        yours = features_of(answer, fine)
    expect_equal(yours, wanted, f"{call} while PyTorch's default dtype is float64")


def test_mask_is_true_where_it_is_not_zero(answer):
    """A mask is True wherever it is not 0, and is of dtype bool."""
    for dtype, values in (
        (torch.uint8, [1, 0, 255, 2]),
        (torch.int32, [2**31 - 1, 0, -(2**31), 256]),
        (torch.int64, [1, 0, -1, 2**40]),
        (torch.int64, [2**32, 0, -(2**63), 2**63 - 1]),
        (torch.float32, [1.0, 0.0, 0.5, -0.25]),
        (torch.float32, [math.nan, -0.0, math.inf, -math.inf]),
        (torch.float16, [math.nan, 0.0, 6e-8, -6e-8]),
        (torch.bfloat16, [0.25, 0.0, -1e-38, 3e38]),
        (torch.float64, [1e-300, 0.0, -1e-300, 1e300]),
        (torch.float64, [math.nan, -0.0, 5e-324, -math.inf]),
        (torch.bool, [True, False, True, True]),
        (torch.uint16, [1, 0, 65535, 256]),  # last, for few operations take it
    ):
        mask = torch.tensor(values, dtype=dtype)
        call = f"model_inputs(…, mask)[2] of {values} in {dtype}"
        expect_equal(mask_of(answer, mask), torch.tensor([True, False, True, True]), call)


def test_right_dtype_is_not_copied(answer):
    """A tensor that has its dtype already comes back without a copy, also when another one needs one."""
    for ids, features, mask in (
        (IDS.clone(), FEATURES.double(), MASK.int()),
        (IDS.int(), FEATURES.clone(), MASK.int()),
        (IDS.int(), FEATURES.double(), MASK.clone()),
    ):
        inputs = answer.model_inputs(ids, features, mask)
        for yours, x, dtype in zip(
            inputs, (ids, features, mask), (torch.int64, torch.float32, torch.bool), strict=True
        ):
            if x.dtype == dtype:
                expect_view(yours, x, f"model_inputs of a tensor in {dtype}")
                expect_equal(yours, x.clone(), f"model_inputs of a tensor in {dtype}")


def test_strided_is_not_copied(answer):
    """A transposed or sliced tensor in its dtype comes back without a copy, and with its shape."""
    strided = (IDS.clone().t(), FEATURES.clone()[::2], MASK.clone()[::2])
    kinds = (torch.int64, torch.float32, torch.bool)
    images = [torch.ones(2, 3, 2, 2).to(kind, memory_format=torch.channels_last) for kind in kinds]
    numbers = [torch.ones((), dtype=kind) for kind in kinds]
    expanded = [x.clone()[:1].expand(3, *x.shape[1:]) for x in (IDS, FEATURES, MASK)]
    for given in (strided, expanded, images, numbers):
        wanted = [x.clone() for x in given]
        for yours, x, value in zip(answer.model_inputs(*given), given, wanted, strict=True):
            expect_view(yours, x, f"model_inputs of a strided tensor, {tuple(x.shape)}, in {x.dtype}")
            expect_equal(yours, value, f"model_inputs of a strided tensor in {x.dtype}")


def test_conversion_makes_memory_of_its_own(answer):
    """A converted tensor does not share memory with the one it came from."""
    wanted = (IDS.clone(), FEATURES.int().float(), MASK.clone())
    for kinds in ((torch.uint8, torch.int32, torch.uint8), (torch.uint64, torch.int32, torch.int8)):
        given = [x.to(dtype) for x, dtype in zip((IDS, FEATURES, MASK), kinds, strict=True)]
        inputs = answer.model_inputs(*given)
        for yours, x, value in zip(inputs, given, wanted, strict=True):
            expect_copy(yours, x, f"model_inputs of a tensor in {x.dtype}")
            expect_equal(yours, value, f"model_inputs of a tensor in {x.dtype}")
            expect_that(not yours.requires_grad, f"model_inputs of a tensor in {x.dtype} requires gradients")


def test_arguments_are_left_alone(answer):
    """The arguments keep their dtypes and their values."""
    for given in (
        {"token_ids": IDS.int(), "features": FEATURES.double(), "mask": torch.tensor([2, 0, -1, 1])},
        {"token_ids": IDS.clone(), "features": FEATURES.clone(), "mask": MASK.clone()},
    ):
        with unchanged("model_inputs(token_ids, features, mask)", **given):
            answer.model_inputs(**given)


@pytest.mark.parametrize("sizes", [(), (0,), (2, 0, 3), (1,), (2, 1, 3, 2)], ids=str)
def test_any_shape(answer, sizes):
    """Any shapes go through unchanged, from a single number to an empty batch, also where they differ."""
    for kinds, others in (
        ((torch.int64, torch.float32, torch.bool), sizes),
        ((torch.int32, torch.float64 if 0 in sizes else torch.uint8, torch.int32), (1,) * len(sizes)),
    ):
        shapes = (sizes, sizes, others)
        given = [torch.ones(shape, dtype=dtype) for shape, dtype in zip(shapes, kinds, strict=True)]
        wanted = (
            torch.ones(sizes, dtype=torch.int64),
            torch.ones(sizes),
            torch.ones(others, dtype=torch.bool),
        )
        given[1].requires_grad_(kinds[1].is_floating_point)
        call = f"model_inputs of ids and features of shape {sizes}, and a mask of {others},"
        yours = answer.model_inputs(*given)
        expect_equal(yours, wanted, call)
        flags = [x.requires_grad for x in yours]
        expect_equal(
            flags, [x.requires_grad for x in given], f"what requires gradients, as features do, of {call}"
        )


def test_other_ids_are_refused(answer):
    """Float and bool ids raise TypeError, also whole numbers and empty tensors."""
    floats = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn)
    for dtype in (*floats, torch.bool):
        for ids in (IDS.to(dtype), torch.ones(0, dtype=dtype)):
            call = f"model_inputs(token_ids, features, mask) with {ids.numel()} ids in {dtype}"
            expect_raises(
                TypeError, lambda x=ids: answer.model_inputs(x, FEATURES.clone(), MASK.clone()), call
            )


@pytest.mark.parametrize("convert", [False, True], ids=["right dtypes", "other dtypes"])
def test_stays_on_the_device(answer, device, convert):
    """Tensors on another device stay there, without a trip through the CPU."""
    right = (torch.int64, torch.float32, torch.bool)
    others = [(torch.int32, torch.float64, torch.uint8), (torch.uint16, torch.float16, torch.float32)]
    for kinds in others if convert else [right]:
        for some in (
            (IDS, FEATURES, MASK),
            (IDS[0, 0], FEATURES[0, 0], MASK[0]),
            (IDS[:0], FEATURES[:0], MASK[:0]),
        ):
            given = [x.to(dtype).to(device) for x, dtype in zip(some, kinds, strict=True)]
            with count_traffic() as traffic:
                inputs = answer.model_inputs(*given)
            for yours, wanted in zip(inputs, some, strict=True):
                where = str(yours.device)
                expect_that(
                    yours.device == device, "model_inputs moved a tensor to another device", yours=where
                )
                expect_equal(on_host(yours), wanted, "model_inputs(token_ids, features, mask)")
            expect_no_traffic(traffic, "model_inputs")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_gradient(answer, gen, dtype):
    """Gradients flow back to the features, in their own dtype."""
    features = torch.randn(3, 2, generator=gen).to(dtype)
    call = f"model_inputs(…, features, …)[1] of features in {dtype}"
    for fn, about in (
        (lambda x: features_of(answer, x), ""),
        (lambda x: features_of(answer, x * 1), ", which come from another operation"),
    ):
        expect_gradients(fn, [features], lambda x: x * 1, gen=gen, call=call + about, names="features")


def oracle(answer, gen):
    ids = torch.randint(0, 2**15, (2, 5), generator=gen)
    features = torch.randn(2, 3, generator=gen, dtype=torch.float64, requires_grad=True)
    mask = torch.randint(-2, 3, (7,), generator=gen)
    made = answer.model_inputs(ids.to(torch.int16), features, mask)
    made[1].sum().backward()
    kept = answer.model_inputs(ids, features.detach().half(), mask.to(torch.float32) / 4)
    return [list(made), features.grad, list(kept)]
