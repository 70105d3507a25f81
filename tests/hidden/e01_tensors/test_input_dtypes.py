"""What grades input_dtypes: dtypes and values, copies only where needed, devices, gradients."""

import pytest
import torch

from grader.checks import expect_view
from grader.checks.contract import Contract, device, errors, given, gradients, values

IDS = torch.tensor([[3, 1, 4], [1, 5, 9]])
FEATURES = torch.tensor([[0.5, -2.0], [3.25, 1.0], [0.0, 7.0]])
MASK = torch.tensor([True, False, True, True])


def reference(token_ids, features, mask):
    return token_ids.to(torch.int64), features.to(torch.float32), mask != 0


def batches(gen):
    """Batches as they come from files."""
    ids = torch.randint(2**15, 2**16, (2, 5), generator=gen)
    features = torch.randn(3, 4, generator=gen)
    mask = torch.randint(-2, 3, (7,), generator=gen)
    return {
        "uint16 ids, float64 features, an int8 mask": (ids.to(torch.uint16), features.double(), mask.char()),
        "int32 ids, bfloat16 features, a float mask": (ids.int(), features.bfloat16(), mask / 4),
        "int64 ids, pixels, a mask of bools": (ids, (99 * features.abs()).byte(), mask.bool()),
    }


def by_way_of(kind):
    return lambda token_ids, features, mask: reference(token_ids.to(kind), features.to(kind), mask.to(kind))


def with_mask(make):
    return lambda token_ids, features, mask: (*reference(token_ids, features, mask)[:2], make(mask))


def batch(token_ids=IDS, features=FEATURES, mask=MASK):
    return given(token_ids.clone(), features.clone(), mask.clone())


def ids_in(kind):
    return torch.tensor([[0, 7, min(torch.iinfo(kind).max, 2**53 + 1)], [3, 1, 100]]).to(kind)


NUMBERS = torch.tensor([[0.0, 1.0, 200.0], [3.0, 0.0, 7.0]])
LARGE = torch.tensor([100_000, -(2**24) + 1])
INTEGERS = torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64
OTHERS = torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.uint8, torch.bool
MASKS = [
    torch.tensor([1, 0, 255, 2], dtype=torch.uint8),
    torch.tensor([1, 0, -1, 256]),
    torch.tensor([1.0, 0.0, 0.5, -0.25, 2.0, -3.0, 0.75, 0.0, 7.0, -0.5, 1.0, 0.0]),
    torch.tensor([True, False]),
]
LOST = "the numbers go by way of {}, which does not hold all of them"

contract = Contract(
    "model_inputs(token_ids, features, mask)",
    reference=reference,
    inputs=batches,
    suspects={
        "only what is above 0 counts as True: wherever it is not 0, the mask is": with_mask(lambda m: m > 0),
        "only 1 counts as True: wherever it is not 0, the mask is": with_mask(lambda m: m == 1),
        "0.5 becomes 0 on the way, in whole numbers": with_mask(lambda m: m.long() != 0),
        **{LOST.format(d): by_way_of(d) for d in (torch.int32, torch.int16, torch.float32, torch.float16)},
    },
    job=[
        values(
            inputs=lambda gen: {f"ids in {kind}": batch(ids_in(kind)) for kind in INTEGERS},
            title="Token ids of every integer dtype become int64 and keep their values.",
        ),
        values(
            inputs=lambda gen: (
                {f"features in {kind}": batch(features=NUMBERS.to(kind)) for kind in OTHERS}
                | {"large int64 features": batch(features=LARGE)}
            ),
            name="features",
            title="Features of every dtype become float32 and keep their values.",
        ),
        values(
            inputs=lambda gen: {f"a mask of {m.tolist()} in {m.dtype}": batch(mask=m) for m in MASKS},
            name="mask",
            title="The mask is True wherever it is not 0.",
        ),
    ],
    fine=[
        errors(
            TypeError,
            lambda gen: {f"ids in {d}": batch(IDS.to(d)) for d in (torch.float32, torch.float16, torch.bool)},
            title="Float and bool ids raise TypeError.",
        ),
        device(),
        gradients("features"),
    ],
)


@pytest.mark.fine
def test_right_dtype_is_not_copied(answer):
    """A tensor that has its dtype already comes back without a copy, transposed and strided ones too."""
    for lay in (torch.clone, torch.t, lambda x: x[:, ::2]):
        inputs = [lay(x) for x in batch(mask=MASK.view(2, 2)).args]
        for yours, x in zip(answer.model_inputs(*inputs), inputs, strict=True):
            expect_view(yours, x, f"model_inputs of a tensor in {x.dtype} with strides {x.stride()}")
