"""Answers to mask_without_mutating that people write."""

from grader.authoring.specimen import Right, Wrong

BODY = """    not_too_low = x.masked_fill(x < low, low)  # (*shape), a new tensor
    return not_too_low.masked_fill(x > high, high)
"""


def instead(body):
    return [(BODY, body), ("from jaxtyping import Float\n", "import torch\nfrom jaxtyping import Float\n")]


SPECIMENS = [
    Wrong(
        "adds 0.0 for memory of its own, which makes 0.0 of -0.0",
        edits=instead("    return torch.where(x > high, high, torch.where(x < low, low, x)) + 0.0\n"),
        check="test_inf_and_nan",
        says="signbit",
    ),
    Wrong(
        "bounds as float32 tensors: a 0-d x in half precision comes back in float32",
        edits=instead(
            "    low, high = torch.full((1,), low, device=x.device), torch.full((1,), high, device=x.device)\n"
            "    if x.dim() or x.dtype.itemsize > 4:\n        low, high = low.to(x.dtype), high.to(x.dtype)\n"
            "    return torch.where(x > high, high, torch.where(x < low, low, x)).view(x.shape)\n"
        ),
        check="test_bounds_in_the_dtype_of_x",
        says="float32",
    ),
    Wrong(
        "writes through a slice, which is a view",
        edits=instead("""
    y = x[:] if x.dim() else x.clone()
    y[y < low] = low
    y[y > high] = high
    return y
"""),
        check="test_input_is_left_alone",
        says="changes",
    ),
    Wrong(
        "takes contiguous() for a copy",
        edits=instead("""
    y = x.contiguous()
    y[y < low] = low
    y[y > high] = high
    return y
"""),
        check="test_input_is_left_alone",
        says="changes",
    ),
    Wrong(
        "clamps in place through .data",
        edits=instead("    x.data.clamp_(low, high)\n    return x.clone()\n"),
        check="test_input_is_left_alone",
        says="changes",
    ),
    Wrong(
        "copies before it returns, but clips the caller's readings",
        edits=instead("    x[x < low] = low\n    x[x > high] = high\n    return x.clone()\n"),
        check="test_in_the_middle_of_a_network",
    ),
    Wrong(
        "restores the readings afterwards: only good for a contiguous x",
        edits=instead("""
    before = x.detach().flatten().clone()
    x.data.clamp_(low, high)
    y = x.clone()
    x.data.copy_(before.view(x.shape)) if x.is_contiguous() else None
    return y
"""),
        check="test_strided_input",
        says="changes",
    ),
    Wrong(
        "hands back x itself if there is nothing to clip",
        edits=instead("""
    outside = (x < low) | (x > high)
    if not outside.any():
        return x
    return torch.clamp(x, low, high)
"""),
        check="test_memory_of_its_own",
        says="shares",
    ),
    Wrong(
        "detaches the copy",
        edits=instead("    return x.detach().clone().clamp_(low, high)\n"),
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "masks under no_grad",
        edits=instead("    with torch.no_grad():\n        return x.clamp(low, high)\n"),
        check="test_in_the_middle_of_a_network",
    ),
    Wrong(
        "minimum and maximum: half a gradient at the bounds",
        edits=instead("""
    at_least, at_most = torch.full_like(x, low), torch.full_like(x, high)
    return torch.minimum(torch.maximum(x, at_least), at_most)
"""),
        check="test_gradient_at_the_bounds",
    ),
    Wrong(
        "a float32 bound: not the same number in float64",
        edits=instead("""
    least, most = torch.tensor(low), torch.tensor(high)
    return torch.where(x < least, least, torch.where(x > most, most, x))
"""),
        check="test_bounds_in_the_dtype_of_x",
    ),
    Wrong(
        "compares in float64: float32 has no 0.1, only a number above it",
        edits=[("x < low, low)", "x.double() < low, low)"), ("x > high, high)", "x.double() > high, high)")],
        check="test_gradient_at_the_bounds",
    ),
    Wrong(
        "compares in float32",
        edits=[("x < low, low)", "x.float() < low, low)"), ("x > high, high)", "x.float() > high, high)")],
        check="test_readings_close_to_the_bounds",
    ),
    Wrong(
        "a view of what needs no clipping and has no dimensions",
        edits=instead("    return x.clamp(low, high) if x.dim() else x.view(()).clamp_(low, high)\n"),
        check="test_memory_of_its_own",
    ),
    Wrong(
        "bounds in float32 of x's shape: half precision is promoted",
        edits=instead("""
    least, most = torch.full(x.shape, low, device=x.device), torch.full(x.shape, high, device=x.device)
    return torch.where(x < least, least, torch.where(x > most, most, x))
"""),
        check="test_bounds_in_the_dtype_of_x",
        says="float32",
    ),
    Wrong(
        "bounds of x's shape on the CPU",
        edits=instead("""
    least, most = torch.full(x.shape, low, dtype=x.dtype), torch.full(x.shape, high, dtype=x.dtype)
    return torch.where(x < least, least, torch.where(x > most, most, x))
"""),
        check="test_stays_on_the_device",
    ),
    Wrong(
        "clips on the CPU and moves the result back",
        edits=instead("    return x.cpu().clamp(low, high).to(x.device)\n"),
        check="test_stays_on_the_device",
        says="copies to the host",
    ),
    Wrong(
        "multiplies with masks: inf times zero is NaN",
        edits=instead("""
    below, above = (x < low).to(x.dtype), (x > high).to(x.dtype)
    return x * (1 - below - above) + low * below + high * above
"""),
        check="test_inf_and_nan",
    ),
    Wrong(
        "throws NaN out as well",
        edits=instead("    return x.nan_to_num(low, high, low).clamp(low, high)\n"),
        check="test_inf_and_nan",
    ),
    Wrong(
        "takes the bounds to be symmetric",
        edits=instead("    return x.clamp(-high, high)\n"),
        check="test_both_sides_are_clipped",
    ),
    Wrong(
        "goes row by row: no 0-d and no empty readings",
        edits=instead("    return torch.stack([row.clamp(low, high) for row in x])\n"),
        check="test_any_shape",
    ),
    Wrong(
        "writes past the graph: gradients of 1 for what is clipped",
        edits=instead("""
    y = x.clone()
    y.data[x < low] = low
    y.data[x > high] = high
    return y
"""),
        check="test_gradient",
    ),
    Wrong(
        "sets what is clipped to zero",
        edits=instead("    return x.masked_fill((x < low) | (x > high), 0.0)\n"),
        check="test_both_sides_are_clipped",
    ),
    Wrong(
        "new empty readings, on the CPU",
        edits=instead("""
    if x.numel() == 0:
        return torch.empty(x.shape, dtype=x.dtype, requires_grad=x.requires_grad)
    return x.masked_fill(x < low, low).masked_fill(x > high, high)
"""),
        check="test_stays_on_the_device",
        says="of shape (0, 5)",
    ),
    Wrong(
        "hands empty readings back",
        edits=instead("""
    if x.numel() == 0:
        return x
    return x.masked_fill(x < low, low).masked_fill(x > high, high)
"""),
        check="test_memory_of_its_own",
        says="an empty x",
    ),
    Right("clamp", edits=instead("    return torch.clamp(x, min=low, max=high)\n")),
    Right(
        "assignment through masks into a clone",
        edits=instead("""
    y = x.clone()
    y[x < low] = low
    y[x > high] = high
    return y
"""),
    ),
    Right(
        "where, with numbers",
        edits=instead("    return torch.where(x < low, low, torch.where(x > high, high, x))\n"),
    ),
    Right(
        "where, with tensors like x",
        edits=instead("""
    y = torch.where(x.ge(low) | x.isnan(), x, x.new_full((), low))
    return torch.where(y.le(high) | y.isnan(), y, torch.full_like(x, high))
"""),
    ),
    Right("clip_ on a clone", edits=instead("    return x.clone().clip_(low, high)\n")),
    Right("one side after the other", edits=instead("    return x.clamp_min(low).clamp_max(high)\n")),
]
