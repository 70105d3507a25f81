"""Answers to absmax_int8 that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WIDE = "    wide = x.float()\n"
ALL = "        absmax = wide.abs().max()  # ()\n"
OTHERS = "        others = [dim for dim in range(x.ndim) if dim != channel % x.ndim]\n"
AMAX = "        absmax = wide.abs().amax(others, keepdim=True)  # (1, …, channels, …, 1)\n"
SCALE = "    scale = absmax / 127\n"
ZEROS = "    scale = scale.masked_fill(scale == 0, 1.0)  # channels of zeros\n"
RETURN = "    return (wide / scale).round().to(torch.int8), scale\n"
BACK = "    return (q.float() * scale).to(dtype)\n"


SPECIMENS = [
    Wrong(
        "casts without rounding",
        edits=[("(wide / scale).round()", "(wide / scale)")],
        check="test_whole_tensor",
        says="cut off",
        rung="job",
    ),
    Wrong(
        "divides by 128",
        edits=[
            (SCALE, "    scale = absmax / 128\n"),
            ("(wide / scale).round()", "(wide / scale).round().clamp(-128, 127)"),
        ],
        check="test_whole_tensor",
        says="128",
        rung="job",
    ),
    Wrong(
        "the largest number, not the largest absolute value",
        edits=[
            (ALL, "        absmax = wide.max()\n"),
            (AMAX, "        absmax = wide.amax(others, keepdim=True)\n"),
            ("(wide / scale).round()", "(wide / scale).round().clamp(-127, 127)"),
        ],
        check="test_channels",
        says="not the largest absolute value",
        rung="job",
    ),
    Wrong(
        "one scale for all channels",
        edits=[(AMAX, "        absmax = wide.abs().max()\n")],
        check="test_channels",
        says="one scale for all",
        rung="job",
    ),
    Wrong(
        "reduces the channel itself",
        edits=[(OTHERS, "        others = [channel]\n")],
        check="test_channels",
        says="scales are those of the",
        rung="job",
    ),
    Wrong(
        "compares a negative channel with the dimensions",
        edits=[("dim != channel % x.ndim", "dim != channel")],
        check="test_negative_channel",
        says="one scale for all",
        rung="job",
    ),
    Wrong(
        "knows matrices alone",
        edits=[(OTHERS, "        others = [1 - channel % x.ndim]\n")],
        check="test_filters",
        says="wrong shape of scale",
        rung="job",
    ),
    Wrong(
        "forgets keepdim",
        edits=[("amax(others, keepdim=True)", "amax(others)")],
        check="test_channels",
        rung="job",
    ),
    Wrong(
        "leaves q floating",
        edits=[(RETURN, "    return (wide / scale).round(), scale\n")],
        check="test_bytes",
        says="int8",
        rung="job",
    ),
    Wrong(
        "unsigned bytes, as for pictures",
        edits=[
            (RETURN, "    return ((wide / scale).round() + 128).to(torch.uint8), scale\n"),
            (BACK, "    return ((q.float() - 128) * scale).to(dtype)\n"),
        ],
        check="test_bytes",
        says="int8",
        rung="job",
    ),
    Wrong(
        "the scale upside down",
        edits=[
            (SCALE, "    scale = 127 / absmax\n"),
            ("(wide / scale).round()", "(wide * scale).round()"),
            (BACK, "    return (q.float() / scale).to(dtype)\n"),
        ],
        check="test_back_values",
        says="divided by the scale",
        rung="job",
    ),
    Wrong(
        "ignores the dtype that is asked for",
        edits=[(BACK, "    return q.float() * scale\n")],
        check="test_dtype_asked_for",
        says="float16",
    ),
    Wrong("takes the dtype of x", edits=[(WIDE, "    wide = x\n")], check="test_half_precision"),
    Wrong(
        "no smallest scale but 1e-8",
        edits=[(SCALE, "    scale = (absmax / 127).clamp(min=1e-8)\n")],
        check="test_small_numbers",
    ),
    Wrong("a scale of 0 for zeros", edits=[(ZEROS, "")], check="test_zeros", says="not above 0"),
    Wrong(
        "multiplies in the dtype asked for",
        edits=[(BACK, "    return q.to(dtype) * scale.to(dtype)\n")],
        check="test_dtype_asked_for",
    ),
    Wrong("the scale carries a graph", edits=[("@torch.no_grad()\n", "")], check="test_no_graph"),
    Wrong(
        "divides in place: float() of float32 is x itself",
        edits=[("(wide / scale).round()", "wide.div_(scale).round()")],
        check="test_quantize_arguments_are_left_alone",
    ),
    Wrong(
        "a loop over the channels",
        edits=[
            (
                AMAX,
                "        rows = [wide.select(channel, i).abs().max() for i in range(x.shape[channel])]\n"
                "        absmax = torch.stack(rows).view([-1 if d not in others else 1 for d in range(x.ndim)])\n",
            )
        ],
        check="test_quantize_no_loop",
        says="grows",
    ),
    Works(
        "as gpt-fast has it: 127.5 steps, -128 to 127, and a smallest scale",
        code="""
import torch


def quantize(x, channel=None):
    eps = torch.finfo(torch.float32).eps
    if channel is None:
        min_val, max_val = x.min(), x.max()
    else:
        rows = x.movedim(channel, 0).flatten(1)
        min_val, max_val = torch.aminmax(rows, dim=1)
        shape = [1] * x.dim()
        shape[channel] = -1
        min_val, max_val = min_val.view(shape), max_val.view(shape)
    min_val_neg = torch.min(min_val, torch.zeros_like(min_val))
    max_val_pos = torch.max(max_val, torch.zeros_like(max_val))
    max_val_pos = torch.max(-min_val_neg, max_val_pos)
    scales = max_val_pos / (float(127 - -128) / 2)
    scales = torch.clamp(scales, min=eps).to(x.dtype)
    quant = torch.clamp(torch.round(x / scales), -128, 127).to(torch.int8)
    return quant, scales


def dequantize(q, scale, dtype=torch.float32):
    return q.to(dtype) * scale.to(dtype)
""",
    ),
    Works(
        "a quick one, without a word of the fine print",
        code="""
import torch


def quantize(x, channel=None):
    if channel is None:
        scale = x.abs().max() / 127
    else:
        dims = [d for d in range(x.dim()) if d != channel % x.dim()]
        scale = x.abs().amax(dim=dims, keepdim=True) / 127
    return torch.round(x / scale).to(torch.int8), scale


def dequantize(q, scale, dtype=torch.float32):
    return (q * scale).to(dtype)
""",
    ),
    Right(
        "multiplies by a reciprocal, and reduces the rows of a flattened copy",
        code="""
import torch


def quantize(x, channel=None):
    wide = x.detach().to(torch.float32)
    if channel is None:
        scale = wide.abs().amax() * (1.0 / 127.0)
    else:
        rows = wide.transpose(0, channel).reshape(x.shape[channel], -1)
        shape = [1] * x.dim()
        shape[channel] = x.shape[channel]
        scale = (rows.abs().max(dim=1).values * (1.0 / 127.0)).reshape(shape)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    return torch.round(wide * scale.reciprocal()).clamp_(-127, 127).char(), scale


def dequantize(q, scale, dtype=torch.float32):
    return torch.mul(q, scale).to(dtype)
""",
    ),
    Right(
        "a norm of inf in float64",
        edits=[
            (ALL, "        absmax = x.double().abs().max().float()\n"),
            (
                AMAX,
                "        absmax = torch.linalg.vector_norm(x.double(), float('inf'), dim=others, keepdim=True).float()\n",
            ),
            (
                RETURN,
                "    return torch.round(x.double() / scale.double()).clamp(-127, 127).to(torch.int8), scale\n",
            ),
        ],
    ),
]
