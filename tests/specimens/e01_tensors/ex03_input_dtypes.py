"""Answers to input_dtypes that people write."""

from grader.authoring.specimen import Right, Wrong

RETURN = "    return token_ids.to(torch.int64), features.to(torch.float32), mask.to(torch.bool)"

SPECIMENS = [
    Wrong(
        "torch.tensor on a tensor: a copy each time, and the graph is cut",
        edits=[("features.to(torch.float32)", "torch.tensor(features, dtype=torch.float32)")],
        check="test_right_dtype_is_not_copied",
        says="copies",
    ),
    Wrong(
        "detaches the features",
        edits=[("features.to(torch.float32)", "features.detach().to(torch.float32)")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "to(copy=True) for good measure",
        edits=[("token_ids.to(torch.int64)", "token_ids.to(torch.int64, copy=True)")],
        check="test_right_dtype_is_not_copied",
        says="copies",
    ),
    Wrong(
        "mask != 0 makes a new mask from one that was right",
        edits=[("mask.to(torch.bool)", "mask != 0")],
        check="test_right_dtype_is_not_copied",
        says="copies",
    ),
    Wrong(
        "contiguous on top: strided tensors are copied",
        edits=[("token_ids.to(torch.int64)", "token_ids.to(torch.int64).contiguous()")],
        check="test_strided_is_not_copied",
        says="copies",
    ),
    Wrong(
        "reinterprets the bytes of a uint8 mask",
        edits=[
            (
                "mask.to(torch.bool)",
                "(mask.view(torch.bool) if mask.dtype == torch.uint8 else mask.to(torch.bool))",
            )
        ],
        check="test_conversion_makes_memory_of_its_own",
        says="shares the input's memory",
    ),
    Wrong(
        "reinterprets the bytes of uint64 ids, which hold the same numbers",
        edits=[
            (
                "token_ids.to(torch.int64)",
                "(token_ids.view(torch.int64) if token_ids.dtype == torch.uint64 else token_ids.to(torch.int64))",
            )
        ],
        check="test_conversion_makes_memory_of_its_own",
        says="uint64",
    ),
    Wrong(
        "turns requires_grad on, so that gradients can flow",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.dtype == torch.float32 or features.requires_grad else features.float().requires_grad_())",
            )
        ],
        check="test_conversion_makes_memory_of_its_own",
        says="requires gradients",
    ),
    Wrong(
        "scales uint8 images, which batches of pixels are",
        edits=[
            (
                "features.to(torch.float32)",
                "(features.float() / 255 if features.dtype == torch.uint8 and features.ndim > 2 else features.float())",
            )
        ],
        check="test_any_shape",
        says="wrong values",
    ),
    Wrong(
        "broadcasts the mask to the ids",
        edits=[
            (
                "mask.to(torch.bool)",
                "(mask.to(torch.bool).expand_as(token_ids) if mask.numel() == 1 else mask.to(torch.bool))",
            )
        ],
        check="test_any_shape",
        says="wrong shape",
    ),
    Wrong(
        "compares the mask with 1",
        edits=[("mask.to(torch.bool)", "(mask if mask.dtype == torch.bool else mask == 1)")],
        check="test_mask_is_true_where_it_is_not_zero",
    ),
    Wrong(
        "keeps what is above 0",
        edits=[("mask.to(torch.bool)", "(mask if mask.dtype == torch.bool else mask > 0)")],
        check="test_mask_is_true_where_it_is_not_zero",
    ),
    Wrong(
        "by way of int: a mask of 0.5 is False",
        edits=[("mask.to(torch.bool)", "(mask if mask.dtype == torch.bool else mask.int().bool())")],
        check="test_mask_is_true_where_it_is_not_zero",
    ),
    Wrong(
        "below or above 0, which NaN is not",
        edits=[
            (
                "mask.to(torch.bool)",
                "(((mask < 0) | (mask > 0)) if mask.is_floating_point() else mask.to(torch.bool))",
            )
        ],
        check="test_mask_is_true_where_it_is_not_zero",
        says="nan",
    ),
    Wrong(
        "a mask by way of float32: the smallest float64 become 0",
        edits=[("mask.to(torch.bool)", "(mask if mask.dtype == torch.bool else mask.float() != 0)")],
        check="test_mask_is_true_where_it_is_not_zero",
        says="1e-300",
    ),
    Wrong(
        "a large int64 mask by way of int32",
        edits=[
            (
                "mask.to(torch.bool)",
                "(mask.int().bool() if mask.dtype == torch.int64 else mask.to(torch.bool))",
            )
        ],
        check="test_mask_is_true_where_it_is_not_zero",
        says="int64",
    ),
    Wrong(
        "int32 ids",
        edits=[("token_ids.to(torch.int64)", "token_ids.to(torch.int32)")],
        check="test_ids_of_any_integer_dtype",
        says="int32",
    ),
    Wrong(
        "ids by way of int32: uint32 wraps around",
        edits=[
            (
                "token_ids.to(torch.int64)",
                "(token_ids if token_ids.dtype == torch.int64 else token_ids.int()).to(torch.int64)",
            )
        ],
        check="test_ids_of_any_integer_dtype",
        says="by way of torch.int32",
    ),
    Wrong(
        "small ids by way of int16: uint16 wraps around",
        edits=[
            (
                "token_ids.to(torch.int64)",
                "(token_ids.to(torch.int16) if token_ids.dtype == torch.uint16 else token_ids).to(torch.int64)",
            )
        ],
        check="test_ids_of_any_integer_dtype",
        says="by way of torch.int16",
    ),
    Wrong(
        "ids by way of float32: large ones are rounded",
        edits=[
            (
                "token_ids.to(torch.int64)",
                "(token_ids if token_ids.dtype == torch.int64 else token_ids.float().long())",
            )
        ],
        check="test_ids_of_any_integer_dtype",
        says="by way of torch.float32",
    ),
    Wrong(
        "leaves half precision features as they are",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.dtype in (torch.float16, torch.bfloat16) else features.float())",
            )
        ],
        check="test_features_of_any_dtype",
        says="wrong dtype",
    ),
    Wrong(
        "scales uint8 pixels, which nobody asked for",
        edits=[
            (
                "features.to(torch.float32)",
                "(features.float() / 255 if features.dtype == torch.uint8 else features.float())",
            )
        ],
        check="test_features_of_any_dtype",
        says="wrong values",
    ),
    Wrong(
        "features by way of half precision",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.dtype == torch.float32 else features.to(torch.bfloat16).float())",
            )
        ],
        check="test_features_of_any_dtype",
        says="wrong values",
    ),
    Wrong(
        "cleans the features of NaN and inf",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.dtype == torch.float32 else features.nan_to_num().to(torch.float32))",
            )
        ],
        check="test_features_of_any_dtype",
        says="nan",
    ),
    Wrong(
        "features of integers by way of half precision",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.is_floating_point() else features.half()).to(torch.float32)",
            )
        ],
        check="test_features_of_any_dtype",
        says="int64",
    ),
    Wrong(
        "float ids are rounded instead of refused",
        edits=[
            (
                "    if token_ids.is_floating_point() or token_ids.dtype == torch.bool:",
                "    if token_ids.dtype == torch.bool:",
            )
        ],
        check="test_other_ids_are_refused",
        says="no error",
    ),
    Wrong(
        "only fractions are refused",
        edits=[("token_ids.is_floating_point() or", "bool((token_ids != token_ids.long()).any()) or")],
        check="test_other_ids_are_refused",
        says="no error",
    ),
    Wrong(
        "bools pass as ids",
        edits=[(" or token_ids.dtype == torch.bool", "")],
        check="test_other_ids_are_refused",
        says="no error",
    ),
    Wrong(
        "refuses with a ValueError",
        edits=[("raise TypeError(", "raise ValueError(")],
        check="test_other_ids_are_refused",
        says="ValueError",
    ),
    Wrong(
        "torch.FloatTensor is a type of the CPU",
        edits=[("features.to(torch.float32)", "features.type(torch.FloatTensor)")],
        check="test_stays_on_the_device",
        says="another device",
    ),
    Wrong(
        "looks at the mask's values on the way",
        edits=[(RETURN, "    mask = mask if bool((mask != 0).all()) else mask\n" + RETURN)],
        check="test_stays_on_the_device",
        says="copies between host and device",
    ),
    Wrong(
        "changes the dtype of the caller's features in place",
        edits=[(RETURN, "    features.data = features.data.to(torch.float32)\n" + RETURN)],
        check="test_arguments_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "a list of three",
        edits=[
            (
                RETURN,
                "    return [token_ids.to(torch.int64), features.to(torch.float32), mask.to(torch.bool)]",
            )
        ],
        check="test_any_shape",
        says="wrong type",
    ),
    Wrong(
        "a single number gets a batch dim",
        edits=[
            (RETURN, "    token_ids = token_ids.reshape(1) if token_ids.ndim == 0 else token_ids\n" + RETURN)
        ],
        check="test_any_shape",
        says="wrong shape",
    ),
    Wrong(
        "a uint16 mask by way of uint8, which ends at 255",
        edits=[
            (
                "mask.to(torch.bool)",
                "(mask if mask.dtype == torch.bool else mask.to(torch.uint8).bool() if mask.dtype == torch.uint16 else mask.to(torch.bool))",
            )
        ],
        check="test_mask_is_true_where_it_is_not_zero",
        says="uint16",
    ),
    Wrong(
        "uint16 features by way of int16: wraps around",
        edits=[
            (
                "features.to(torch.float32)",
                "(features.to(torch.int16) if features.dtype == torch.uint16 else features).to(torch.float32)",
            )
        ],
        check="test_features_of_any_dtype",
        says="by way of torch.int16",
    ),
    Right(
        "long, float and bool",
        code="""
import torch

def model_inputs(token_ids, features, mask):
    if token_ids.dtype.is_floating_point or token_ids.dtype is torch.bool:
        raise TypeError("ids must be integers")
    return token_ids.long(), features.float(), mask.bool()
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
    Wrong(
        "a list of the dtypes that are no integers, without those of 8 bits",
        edits=[
            (
                "token_ids.is_floating_point() or token_ids.dtype == torch.bool",
                "token_ids.dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool)",
            )
        ],
        check="test_other_ids_are_refused",
        says="float8_e4m3fn",
    ),
    Wrong(
        "contiguous by memory_format: images with their channels last are copied",
        edits=[
            (
                "features.to(torch.float32)",
                "features.to(torch.float32, memory_format=torch.contiguous_format)",
            )
        ],
        check="test_strided_is_not_copied",
        says="(2, 3, 2, 2)",
    ),
    Wrong(
        "ids in uint16 by way of NumPy, so of the CPU",
        edits=[
            (
                RETURN,
                """    if token_ids.dtype == torch.uint16:
        token_ids = torch.from_numpy(token_ids.cpu().numpy().astype("int64")).to(token_ids.device)
"""
                + RETURN,
            )
        ],
        check="test_stays_on_the_device",
        says="host",
    ),
    Wrong(
        "a single number is made anew from a Python number",
        edits=[
            (
                "mask.to(torch.bool)",
                "(mask.to(torch.bool) if mask.dim() else torch.tensor(bool(mask), device=mask.device))",
            )
        ],
        check="test_strided_is_not_copied",
        says="copies",
    ),
    Wrong(
        "keeps the graph of a leaf only",
        edits=[
            (
                "features.to(torch.float32)",
                "(features if features.is_leaf else features.detach()).to(torch.float32)",
            )
        ],
        check="test_gradient",
        says="come from another operation",
    ),
    Wrong(
        "the default dtype, which is float32 as a rule",
        edits=[("features.to(torch.float32)", "features.to(torch.get_default_dtype())")],
        check="test_features_of_any_dtype",
        says="while PyTorch's default",
    ),
    Wrong(
        "small integers by way of half precision",
        edits=[
            (
                "features.to(torch.float32)",
                "(features.half() if features.dtype in (torch.uint8, torch.int16) else features).to(torch.float32)",
            )
        ],
        check="test_features_of_any_dtype",
        says="int16",
    ),
]
