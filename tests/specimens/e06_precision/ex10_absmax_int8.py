"""Answers to absmax_int8 that people write."""

from grader.authoring.specimen import Right, Wrong

KIND = """    if not x.is_floating_point():
        raise TypeError(f"x must be floating, not {x.dtype}")
"""
RANGE = """    if channel is not None and not -x.ndim <= channel < x.ndim:
        raise IndexError(f"x has {x.ndim} dimensions, and none with the index {channel}")
"""
WIDE = "    wide = x.detach().float()  # *shape; 16 bits end too early at both ends\n"
FINITE = """    if not wide.isfinite().all():
        raise ValueError("x holds inf or NaN")
"""
SCALE = "    scale = _absmax(wide, channel) / 127\n"
TINY = "    scale = scale.masked_fill(scale < torch.finfo(torch.float32).tiny, 1.0)  # () or (1, …, channels, …, 1)\n"
STEPS = "    steps = (wide / scale).round().clamp(-127, 127)  # halves to even\n"
RETURN = "    return steps.to(torch.int8), scale\n"
OTHERS = "    others = [dim for dim in range(x.ndim) if dim != kept]\n"
ALONE = """    if not others:  # amax over no dimension would take all of them
        return x.abs()
"""
EMPTY = """    if x.numel() == 0:  # amax of nothing is an error
        shape = [size if dim == kept else 1 for dim, size in enumerate(x.shape)]
        return x.new_zeros(() if kept is None else shape)
"""
AMAX = "    return x.abs().amax(others, keepdim=kept is not None)\n"
BACK = "    return (q.float() * scale).to(dtype)\n"


SPECIMENS = [
    Wrong(
        "is done with no numbers before it looks at their dtype",
        edits=[
            (
                KIND,
                "    if x.numel() == 0 and channel is None:\n"
                "        return x.to(torch.int8), torch.ones((), device=x.device)\n" + KIND,
            )
        ],
        check="test_bad_arguments",
        says="no error",
    ),
    Wrong(
        "divides in place where no gradients are recorded: float() of float32 is x itself",
        edits=[("(wide / scale)", "(wide / scale if torch.is_grad_enabled() else wide.div_(scale))")],
        check="test_strides_and_memory",
        says="row",
    ),
    Wrong(
        "leaves gradients switched off after an error",
        edits=[
            (FINITE, "    torch.set_grad_enabled(False)\n" + FINITE),
            (RETURN, "    torch.set_grad_enabled(True)\n" + RETURN),
        ],
        check="test_not_finite",
        says="is_grad_enabled",
    ),
    Wrong(
        "the smallest normal scale counts as zero",
        edits=[(TINY, TINY.replace("scale <", "scale <="))],
        check="test_as_good_as_zero",
        says="smallest normal",
    ),
    Wrong(
        "a number has a dimension",
        edits=[
            ("not -x.ndim <= channel < x.ndim", "not -max(x.ndim, 1) <= channel < max(x.ndim, 1)"),
            ("channel % x.ndim", "channel % max(x.ndim, 1)"),
        ],
        check="test_bad_arguments",
    ),
    Wrong(
        "divides by 128",
        edits=[(SCALE, SCALE.replace("127", "128"))],
        check="test_error_bound",
        says="wrong scale",
    ),
    Wrong(
        "divides by 255",
        edits=[(SCALE, SCALE.replace("127", "255"))],
        check="test_error_bound",
        says="wrong scale",
    ),
    Wrong(
        "the maximum, not of absolute values",
        edits=[(AMAX, AMAX.replace("x.abs().amax", "x.amax"))],
        check="test_error_bound",
        says="wrong scale",
    ),
    Wrong(
        "the range from minimum to maximum, with a zero point of 0",
        edits=[
            (
                AMAX,
                "    return (x.amax(others, keepdim=kept is not None) - x.amin(others, keepdim=kept is not None)) / 2\n",
            )
        ],
        check="test_error_bound",
        says="wrong scale",
    ),
    Wrong(
        "cuts off in place of rounding",
        edits=[(STEPS, STEPS.replace(".round()", ".trunc()"))],
        check="test_error_bound",
        says="half",
    ),
    Wrong(
        "floors",
        edits=[(STEPS, STEPS.replace(".round()", ".floor()"))],
        check="test_error_bound",
        says="half",
    ),
    Wrong(
        "halves up",
        edits=[(STEPS, STEPS.replace("(wide / scale).round()", "(wide / scale + 0.5).floor()"))],
        check="test_halves_to_even",
    ),
    Wrong(
        "halves away from zero",
        edits=[
            (
                STEPS,
                STEPS.replace("(wide / scale).round()", "((wide / scale).abs() + 0.5).floor() * wide.sign()"),
            )
        ],
        check="test_halves_to_even",
    ),
    Wrong(
        "rounds after the cast",
        edits=[(RETURN, "    return (wide / scale).to(torch.int8), scale\n")],
        check="test_error_bound",
        says="half",
    ),
    Wrong(
        "an asymmetric range: -128 occurs",
        edits=[(STEPS, "    steps = (wide / scale * (1 + 1 / 254)).round().clamp(-128, 127)\n")],
        check="test_error_bound",
    ),
    Wrong(
        "-127 becomes -128",
        edits=[(STEPS, STEPS + "    steps = torch.where(steps == -127, -128, steps)\n")],
        check="test_symmetric",
    ),
    Wrong(
        "unsigned",
        edits=[(RETURN, "    return (steps + 128).to(torch.uint8), scale\n")],
        check="test_error_bound",
        says="uint8",
    ),
    Wrong(
        "integers of 32 bits",
        edits=[("steps.to(torch.int8)", "steps.to(torch.int32)")],
        check="test_error_bound",
        says="int32",
    ),
    Wrong(
        "leaves them floating",
        edits=[("steps.to(torch.int8)", "steps")],
        check="test_error_bound",
        says="float32",
    ),
    Wrong(
        "computes in the dtype of x",
        edits=[
            (WIDE, "    wide = x.detach()\n"),
            (RETURN, "    return steps.to(torch.int8), scale.float()\n"),
        ],
        check="test_error_bound",
    ),
    Wrong(
        "the scale in the dtype of x, the quotient in float32",
        edits=[
            (SCALE, "    scale = (_absmax(wide, channel).to(x.dtype) / 127).float()\n"),
        ],
        check="test_small_numbers",
        says="wrong scale",
    ),
    Wrong(
        "returns a scale in the dtype of x",
        edits=[(RETURN, "    return steps.to(torch.int8), scale.to(x.dtype)\n")],
        check="test_error_bound",
        says="float16",
    ),
    Wrong(
        "a scale in float64",
        edits=[(WIDE, "    wide = x.detach().double()\n")],
        check="test_error_bound",
        says="float64",
    ),
    Wrong(
        "multiplies by 127 first: 3e38 overflows",
        edits=[(STEPS, "    steps = (wide * 127 / (scale * 127)).round().clamp(-127, 127)\n")],
        check="test_largest_numbers",
    ),
    Wrong(
        "clips outliers to the range of float16",
        edits=[
            (WIDE, "    wide = x.detach().float().clamp(-65504.0, 65504.0)\n"),
            (FINITE, FINITE.replace("wide", "x")),
        ],
        check="test_largest_numbers",
    ),
    Wrong(
        "an eps in the scale",
        edits=[(SCALE, "    scale = _absmax(wide, channel) / 127 + 1e-8\n")],
        check="test_small_numbers",
        says="wrong scale",
    ),
    Wrong(
        "no scale below 1e-8",
        edits=[(SCALE, "    scale = (_absmax(wide, channel) / 127).clamp(min=1e-8)\n")],
        check="test_small_numbers",
        says="wrong scale",
    ),
    Wrong(
        "takes the eps of float32 for the smallest scale",
        edits=[(TINY, TINY.replace(".tiny", ".eps"))],
        check="test_small_numbers",
        says="wrong scale",
    ),
    Wrong("divides zeros by zero", edits=[(TINY, "")], check="test_zero_channels"),
    Wrong(
        "a scale of 0 for zeros",
        edits=[
            (TINY, ""),
            (STEPS, "    steps = torch.where(scale > 0, wide / scale, 0.0).round().clamp(-127, 127)\n"),
        ],
        check="test_zero_channels",
        says="scale of zeros",
    ),
    Wrong(
        "the smallest number as scale of zeros",
        edits=[(TINY, "    scale = scale.clamp(min=torch.finfo(torch.float32).tiny)\n")],
        check="test_zero_channels",
        says="scale of zeros",
    ),
    Wrong(
        "one channel of zeros, and all scales are 1",
        edits=[
            (
                TINY,
                "    if (scale < torch.finfo(torch.float32).tiny).any():\n        scale = torch.ones_like(scale)\n",
            )
        ],
        check="test_zero_channels",
        says="beside a channel of zeros",
    ),
    Wrong(
        "1 only where all is zero",
        edits=[
            (
                TINY,
                "    if (scale < torch.finfo(torch.float32).tiny).all():\n        scale = torch.ones_like(scale)\n",
            )
        ],
        check="test_zero_channels",
    ),
    Wrong(
        "looks for scales of exactly 0: subnormal ones are left",
        edits=[(TINY, "    scale = scale.masked_fill(scale == 0, 1.0)\n")],
        check="test_as_good_as_zero",
    ),
    Wrong(
        "looks for numbers of exactly 0",
        edits=[
            (
                SCALE + TINY,
                "    absmax = _absmax(wide, channel)\n    scale = torch.where(absmax == 0, 1.0, absmax / 127)\n",
            ),
        ],
        check="test_as_good_as_zero",
    ),
    Wrong(
        "a maximum below the smallest normal number, in place of a scale",
        edits=[
            (
                SCALE + TINY,
                "    absmax = _absmax(wide, channel)\n    scale = torch.where(absmax < torch.finfo(torch.float32).tiny, 1.0, absmax / 127)\n",
            ),
        ],
        check="test_as_good_as_zero",
    ),
    Wrong(
        "the channel is the dimension that is reduced",
        edits=[(OTHERS, "    others = list(range(x.ndim)) if kept is None else [kept]\n")],
        check="test_error_bound",
        says="shape",
    ),
    Wrong(
        "ignores channel",
        edits=[(SCALE, SCALE.replace("channel", "None"))],
        check="test_error_bound",
        says="shape",
    ),
    Wrong(
        "one maximum in the shape of channels",
        edits=[
            (
                AMAX,
                "    return x.abs().amax(others, keepdim=True).amax().expand(tuple(n if d == kept else 1 for d, n in enumerate(x.shape)) if kept is not None else ()).clone()\n",
            )
        ],
        check="test_channels_have_their_own",
    ),
    Wrong(
        "the last dimension, whichever is asked for",
        edits=[("channel % x.ndim", "x.ndim - 1")],
        check="test_error_bound",
        says="shape",
    ),
    Wrong(
        "channel of matrices only",
        edits=[(OTHERS, "    others = list(range(x.ndim)) if kept is None else [1 - kept]\n")],
        check="test_error_bound",
    ),
    Wrong(
        "channels from the end are others",
        edits=[("channel % x.ndim", "channel")],
        check="test_error_bound",
        says="shape",
    ),
    Wrong(
        "drops the dimensions of size 1",
        edits=[
            (AMAX, "    return x.abs().amax(others)\n"),
            (
                STEPS,
                "    shape = [-1 if channel is not None and d == channel % x.ndim else 1 for d in range(x.ndim)]\n    steps = (wide / (scale if channel is None else scale.view(shape))).round()\n",
            ),
        ],
        check="test_error_bound",
        says="shape",
    ),
    Wrong(
        "keeps dimensions of size 1 also for the whole tensor",
        edits=[("keepdim=kept is not None", "keepdim=True")],
        check="test_error_bound",
        says="shape",
    ),
    Wrong(
        "one scale for all in one dimension: amax over nothing takes all",
        edits=[
            (
                ALONE,
                "    if x.ndim == 0:\n        return x.abs()\n    if not others:\n        return x.abs().amax().expand(x.shape).clone() if x.numel() else x.abs()\n",
            ),
        ],
        check="test_error_bound",
        says="wrong scale",
    ),
    Wrong("amax of nothing", edits=[(EMPTY, "")], check="test_no_numbers"),
    Wrong(
        "no channels where there are no numbers",
        edits=[("return x.new_zeros(() if kept is None else shape)", "return x.new_zeros(())")],
        check="test_no_numbers",
        says="shape",
    ),
    Wrong(
        "an error for no numbers",
        edits=[
            (
                "        return x.new_zeros(() if kept is None else shape)\n",
                "        raise ValueError('no numbers')\n",
            )
        ],
        check="test_no_numbers",
    ),
    Wrong(
        "a loop over channels",
        edits=[
            (
                AMAX,
                """    if kept is None:
        return x.abs().max()
    rows = [x.select(kept, i).abs().max() for i in range(x.shape[kept])]
    return torch.stack(rows).view([-1 if dim == kept else 1 for dim in range(x.ndim)])
""",
            )
        ],
        check="test_cost",
        says="grows",
    ),
    Wrong(
        "works in the memory of x",
        edits=[(STEPS, "    steps = wide.div_(scale).round().clamp(-127, 127)\n")],
        check="test_strides_and_memory",
        says="changes",
    ),
    Wrong(
        "needs contiguous memory",
        edits=[(WIDE, "    wide = x.detach().float().view(-1).view(x.shape)\n")],
        check="test_strides_and_memory",
    ),
    Wrong(
        "absolute values in place",
        edits=[(ALONE, "    if not others:\n        return x.abs_()\n")],
        check="test_strides_and_memory",
        says="changes",
    ),
    Wrong(
        "the scale carries a graph",
        edits=[("x.detach().float()", "x.float()")],
        check="test_no_graph",
    ),
    Wrong("takes inf and NaN", edits=[(FINITE, "")], check="test_not_finite", says="no error"),
    Wrong(
        "looks for NaN only",
        edits=[("not wide.isfinite().all()", "wide.isnan().any()")],
        check="test_not_finite",
        says="no error",
    ),
    Wrong(
        "looks at the first channel only",
        edits=[("not wide.isfinite().all()", "not wide.flatten()[:4].isfinite().all()")],
        check="test_not_finite",
        says="no error",
    ),
    Wrong(
        "looks at the sum: finite numbers overflow",
        edits=[("not wide.isfinite().all()", "not wide.abs().sum().isfinite()")],
        check="test_largest_numbers",
    ),
    Wrong("takes integers", edits=[(KIND, "")], check="test_bad_arguments", says="no error"),
    Wrong(
        "takes booleans",
        edits=[("if not x.is_floating_point():", "if not x.is_floating_point() and x.dtype != torch.bool:")],
        check="test_bad_arguments",
        says="no error",
    ),
    Wrong(
        "takes every channel, counted round", edits=[(RANGE, "")], check="test_bad_arguments", says="no error"
    ),
    Wrong(
        "a ValueError for channels",
        edits=[("raise IndexError(", "raise ValueError(")],
        check="test_bad_arguments",
        says="ValueError",
    ),
    Wrong(
        "dequantizes in dtype: the scale loses its digits",
        edits=[(BACK, "    return q.to(dtype) * scale.to(dtype)\n")],
        check="test_dequantize",
        says="more than one rounding",
    ),
    Wrong(
        "dequantizes in bfloat16 always",
        edits=[(BACK, "    return (q.float() * scale).bfloat16().to(dtype)\n")],
        check="test_dequantize",
    ),
    Wrong(
        "ignores dtype",
        edits=[(BACK, "    return q.float() * scale\n")],
        check="test_dequantize",
        says="float16",
    ),
    Wrong(
        "float16 by default",
        edits=[("dtype: torch.dtype = torch.float32", "dtype: torch.dtype = torch.float16")],
        check="test_dequantize",
        says="float16",
    ),
    Wrong(
        "multiplies in int8",
        edits=[(BACK, "    return (q * scale.to(torch.int8)).to(dtype)\n")],
        check="test_dequantize",
    ),
    Wrong(
        "divides by the scale",
        edits=[(BACK, "    return (q.float() / scale).to(dtype)\n")],
        check="test_there_and_back",
    ),
    Wrong(
        "dequantizes in the middle of the step",
        edits=[(BACK, "    return ((q.float() + 0.5) * scale).to(dtype)\n")],
        check="test_there_and_back",
    ),
    Wrong(
        "flushes what is small in float16",
        edits=[
            (
                BACK,
                "    out = (q.float() * scale).to(dtype)\n    return out.masked_fill(out.abs() < torch.finfo(dtype).tiny, 0.0)\n",
            )
        ],
        check="test_there_and_back",
    ),
    Wrong(
        "the scale on the CPU",
        edits=[
            (
                TINY,
                "    scale = scale.cpu().masked_fill(scale.cpu() < torch.finfo(torch.float32).tiny, 1.0)\n",
            ),
            ("wide / scale", "wide / scale.to(wide.device)"),
        ],
        check="test_on_a_device",
        says="device",
    ),
    Wrong(
        "computes on the CPU",
        edits=[("x.detach().float()", "x.detach().cpu().float()")],
        check="test_on_a_device",
        says="device",
    ),
    Right(
        "multiplies by a reciprocal, and reduces rows of a flattened copy",
        code="""
import torch


def quantize(x, channel=None):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise TypeError("floating numbers, please")
    if channel is not None and (channel >= x.dim() or channel < -x.dim()):
        raise IndexError("no such channel")
    with torch.no_grad():
        wide = x.to(torch.float32)
        if not torch.isfinite(wide).all():
            raise ValueError("inf or NaN")
        if channel is None:
            rows = wide.reshape(1, x.numel())
        else:
            first = wide.transpose(0, channel)
            rows = first.reshape(x.shape[channel], x.numel() // max(x.shape[channel], 1))
        padded = torch.nn.functional.pad(rows, (0, 1))
        scale = padded.abs().max(dim=1).values * (1.0 / 127.0)
        scale = torch.where(scale >= 2.0**-126, scale, torch.ones_like(scale))
        if channel is None:
            scale = scale.reshape(())
        else:
            shape = [1] * x.dim()
            shape[channel] = x.shape[channel]
            scale = scale.reshape(shape)
        return torch.round(wide * scale.reciprocal()).clamp_(-127, 127).char(), scale


def dequantize(q, scale, dtype=torch.float32):
    return torch.mul(q, scale).to(dtype)
""",
    ),
    Right(
        "a norm of inf in float64, rounded to float32",
        edits=[
            (
                AMAX,
                "    return torch.linalg.vector_norm(x.double(), float('inf'), dim=others, keepdim=kept is not None).float()\n",
            ),
            (STEPS, "    steps = torch.round(wide.double() / scale.double()).clamp(-127, 127)\n"),
            (
                BACK,
                "    return torch.empty(torch.broadcast_shapes(q.shape, scale.shape), dtype=dtype, device=q.device).copy_(q * scale)\n",
            ),
        ],
    ),
    Wrong(
        "one number comes back as a row of one",
        edits=[(BACK, "    return (q.float() * scale.reshape(scale.shape or (1,))).to(dtype)\n")],
        check="test_there_and_back",
        says="shape",
    ),
    Wrong(
        "one scale for more than 1024 channels",
        edits=[
            (
                SCALE,
                SCALE + "    if scale.numel() > 1024:\n        scale = scale.amax().expand(scale.shape)\n",
            )
        ],
        check="test_error_bound",
        says="1100",
    ),
    Wrong(
        "a scale counts as zero below half of the smallest normal number only",
        edits=[(TINY, TINY.replace(".tiny", ".tiny / 2"))],
        check="test_as_good_as_zero",
        says="1.12e-36",
    ),
    Wrong(
        "makes the scale of no numbers on the CPU, where x is on another device",
        edits=[
            (
                SCALE,
                "    if x.numel() == 0:\n        return x.to(torch.int8), torch.ones_like(_absmax(wide, channel), device='cpu')\n"
                + SCALE,
            )
        ],
        check="test_on_a_device",
        says="devices",
    ),
]
