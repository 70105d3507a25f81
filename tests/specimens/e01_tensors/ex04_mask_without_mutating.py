"""Answers to mask_without_mutating that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BODY = """    not_too_low = x.masked_fill(x < low, low)  # (*shape), a new tensor
    return not_too_low.masked_fill(x > high, high)
"""


def instead(body):
    return [(BODY, body), ("from jaxtyping import Float\n", "import torch\nfrom jaxtyping import Float\n")]


SPECIMENS = [
    Wrong(
        "writes through a slice, which is a view",
        edits=instead("    y = x[:]\n    y[y < low] = low\n    y[y > high] = high\n    return y\n"),
        check="test_arguments_are_left_alone",
        says="changes its input x",
        rung="job",
    ),
    Wrong(
        "clamps in place through .data",
        edits=instead("    x.data.clamp_(low, high)\n    return x.clone()\n"),
        check="test_arguments_are_left_alone",
        says="changes its input x",
        rung="job",
    ),
    Wrong(
        "detaches the copy",
        edits=instead("    return x.detach().clone().clamp_(low, high)\n"),
        check="test_gradients",
        says="no gradient",
        rung="job",
    ),
    Wrong(
        "writes past the graph: gradients of 1 for what is clipped",
        edits=instead(
            "    y = x.clone()\n    y.data[x < low] = low\n    y.data[x > high] = high\n    return y\n"
        ),
        check="test_gradients",
        says="wrong",
        rung="job",
    ),
    Wrong(
        "takes the bounds to be symmetric",
        edits=instead("    return x.clamp(-high, high)\n"),
        check="test_values",
        says="symmetric",
        rung="job",
    ),
    Wrong(
        "sets what is clipped to zero",
        edits=instead("    return x.masked_fill((x < low) | (x > high), 0.0)\n"),
        check="test_values",
        says="wrong values",
        rung="job",
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
        check="test_exact_bounds",
        says="wrong values",
    ),
    Wrong(
        "bounds in float32 of x's shape, on the CPU: half precision is promoted",
        edits=instead("""
    least, most = torch.full(x.shape, low), torch.full(x.shape, high)
    return torch.where(x < least, least, torch.where(x > most, most, x))
"""),
        check="test_exact_bounds",
        says="float32",
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
        "goes row by row: no 0-d and no empty readings",
        edits=instead("    return torch.stack([row.clamp(low, high) for row in x])\n"),
        check="test_empty",
    ),
    Wrong(
        "views all readings as one row",
        edits=instead("    return x.view(-1).clamp(low, high).view(x.shape)\n"),
        check="test_strides",
        says="view size is not compatible",
    ),
    Works(
        "a clone, assigned through masks",
        code="""
def clip_outliers(x, low, high):
    y = x.clone()
    y[y < low] = low
    y[y > high] = high
    return y
""",
    ),
    Works(
        "where, with tensors of ones times the bounds",
        code="""
import torch

def clip_outliers(x, low, high):
    x = torch.where(x > high, torch.ones_like(x) * high, x)
    return torch.where(x < low, torch.ones_like(x) * low, x)
""",
    ),
    Works(
        "max and min with tensors of the bounds",
        code="""
import torch

def clip_outliers(x, low, high):
    return torch.max(torch.min(x, torch.tensor(high)), torch.tensor(low))
""",
    ),
    Right("clamp", edits=instead("    return torch.clamp(x, min=low, max=high)\n")),
    Right(
        "where, with numbers",
        edits=instead("    return torch.where(x < low, low, torch.where(x > high, high, x))\n"),
    ),
    Right("clip_ on a clone", edits=instead("    return x.clone().clip_(low, high)\n")),
]
