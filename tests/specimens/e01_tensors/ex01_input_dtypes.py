"""Answers to input_dtypes that people write."""

from grader.authoring.specimen import Right, Works, Wrong

RETURN = "    return token_ids.to(torch.int64), features.to(torch.float32), mask.to(torch.bool)"
REFUSE = "    if token_ids.is_floating_point() or token_ids.dtype == torch.bool:"

SPECIMENS = [
    Wrong(
        "int32 ids",
        edits=[("token_ids.to(torch.int64)", "token_ids.to(torch.int32)")],
        check="test_values",
        says="int32",
        rung="job",
    ),
    Wrong(
        "ids by way of int16: uint16 wraps around",
        edits=[("token_ids.to(torch.int64)", "token_ids.short().long()")],
        check="test_values",
        says="by way of torch.int16",
        rung="job",
    ),
    Wrong(
        "ids by way of float32: large ones are rounded",
        edits=[("token_ids.to(torch.int64)", "token_ids.float().long()")],
        check="test_values",
        says="by way of torch.float32",
        rung="job",
    ),
    Wrong(
        "leaves half precision features as they are",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.is_floating_point() and features.element_size() < 4 else features.float())",
            )
        ],
        check="test_features",
        says="wrong dtype",
        rung="job",
    ),
    Wrong(
        "scales uint8 pixels, which nobody asked for",
        edits=[
            (
                "features.to(torch.float32)",
                "(features / 255 if features.dtype == torch.uint8 else features.float())",
            )
        ],
        check="test_features",
        says="wrong values",
        rung="job",
    ),
    Wrong(
        "features by way of half precision",
        edits=[("features.to(torch.float32)", "features.half().float()")],
        check="test_features",
        says="by way of torch.float16",
        rung="job",
    ),
    Wrong(
        "compares the mask with 1",
        edits=[("mask.to(torch.bool)", "mask == 1")],
        check="test_mask",
        says="[1, 0, 255, 2]",
        rung="job",
    ),
    Wrong(
        "keeps what is above 0",
        edits=[("mask.to(torch.bool)", "mask > 0")],
        check="test_mask",
        says="-1",
        rung="job",
    ),
    Wrong(
        "a mask by way of int: 0.5 is False",
        edits=[("mask.to(torch.bool)", "mask.int().bool()")],
        check="test_mask",
        says="0.5",
        rung="job",
    ),
    Wrong(
        "mask != 0 makes a new mask from one that was right",
        edits=[("mask.to(torch.bool)", "mask != 0")],
        check="test_right_dtype_is_not_copied",
        says="torch.bool",
    ),
    Wrong(
        "contiguous on top: strided tensors are copied",
        edits=[("token_ids.to(torch.int64)", "token_ids.to(torch.int64).contiguous()")],
        check="test_right_dtype_is_not_copied",
        says="torch.int64",
    ),
    Wrong(
        "float ids are rounded instead of refused",
        edits=[(REFUSE, "    if token_ids.dtype == torch.bool:")],
        check="test_errors",
        says="float32",
    ),
    Wrong(
        "bools pass as ids",
        edits=[(" or token_ids.dtype == torch.bool", "")],
        check="test_errors",
        says="bool",
    ),
    Wrong(
        "torch.FloatTensor is a type of the CPU",
        edits=[("features.to(torch.float32)", "features.type(torch.FloatTensor)")],
        check="test_stays_on_the_device",
        says="device",
    ),
    Wrong(
        "detaches the features",
        edits=[("features.to(torch.float32)", "features.detach().to(torch.float32)")],
        check="test_gradients",
        says="no gradient",
    ),
    Works(
        "long, float and bool",
        code="""
def model_inputs(token_ids, features, mask):
    return token_ids.long(), features.float(), mask.bool()
""",
    ),
    Works(
        "new tensors, and a comparison for the mask",
        code="""
import torch

def model_inputs(token_ids, features, mask):
    ids = torch.tensor(token_ids, dtype=torch.long)
    features = torch.tensor(features, dtype=torch.float)
    return ids, features, mask != 0
""",
    ),
    Right(
        "converts where the dtype differs, with ne for the mask",
        code="""
import torch

INTEGERS = {torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64}

def model_inputs(token_ids, features, mask):
    if token_ids.dtype not in INTEGERS:
        raise TypeError(str(token_ids.dtype))
    if token_ids.dtype != torch.int64:
        token_ids = token_ids.type(torch.int64)
    if features.dtype != torch.float32:
        features = torch.zeros_like(features, dtype=torch.float32) + features.type(torch.float32)
    if mask.dtype != torch.bool:
        mask = torch.ne(mask, 0)
    return (token_ids, features, mask)
""",
    ),
    Right(
        "views of what is right, as_tensor for what is not",
        code="""
import torch

def model_inputs(token_ids, features, mask):
    try:
        torch.iinfo(token_ids.dtype)
    except TypeError:
        raise TypeError("ids") from None
    return (
        torch.as_tensor(token_ids, dtype=torch.long),
        torch.as_tensor(features, dtype=torch.float32),
        torch.as_tensor(mask, dtype=torch.bool).view_as(mask),
    )
""",
    ),
]
