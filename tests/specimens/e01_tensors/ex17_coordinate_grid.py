"""Answers to coordinate_grid that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FIRST = (
    "    first = -1.0 if align_corners and count > 1 else 1 / max(count, 1) - 1  # a single pixel is at 0\n"
)
LINE = "    return torch.linspace(first, -first, count, dtype=dtype, device=device)  # (count,)\n"
STACK = "    return torch.stack((columns, rows), dim=-1)  # (height, width, 2)\n"

SPECIMENS = [
    Wrong(
        "y before x: what meshgrid gives is stacked as it comes",
        edits=[("(columns, rows)", "(rows, columns)")],
        check="test_values",
        says="y stands before x",
        rung="job",
    ),
    Wrong(
        "columns before rows",
        edits=[(STACK, STACK.replace("dim=-1)", "dim=-1).transpose(0, 1)"))],
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "align_corners is ignored",
        edits=[("-1.0 if align_corners and count > 1 else ", "")],
        check="test_values",
        says="the other convention",
        rung="job",
    ),
    Wrong(
        "pixels at their left and upper edges",
        edits=[
            (FIRST, "    if not align_corners:\n        return _edges(count, dtype, device)\n" + FIRST),
            (
                LINE,
                LINE + "\n\ndef _edges(count, dtype, device):\n"
                "    return torch.linspace(-1, 1, count + 1, dtype=dtype, device=device)[:-1]\n",
            ),
        ],
        check="test_values",
        says="left and upper edges",
        rung="job",
    ),
    Wrong(
        "an arange from -1 by steps of 2 / (count - 1), which rounding makes one pixel longer at times",
        edits=[
            (
                LINE,
                "    if first == -1.0:\n"
                "        step = 2 / (count - 1)\n"
                "        return torch.arange(-1, 1 + step, step, dtype=dtype, device=device)\n" + LINE,
            )
        ],
        check="test_values",
        says="51",
        rung="job",
    ),
    Wrong(
        "an arange of integers, and so float32 whatever the dtype",
        edits=[
            (
                FIRST,
                "    if not align_corners:\n"
                "        return (2 * torch.arange(count, device=device) + 1) / max(count, 1) - 1\n" + FIRST,
            )
        ],
        check="test_dtype_asked_for",
        says="float32",
        rung="job",
    ),
    Wrong(
        "the device is forgotten",
        edits=[("count, dtype=dtype, device=device)  # (count,)", "count, dtype=dtype)  # (count,)")],
        check="test_device_asked_for",
        says="cpu",
        rung="job",
    ),
    Wrong(
        "two loops over the pixels",
        edits=[
            (
                STACK,
                "    grid = torch.empty(height, width, 2, dtype=xs.dtype, device=xs.device)\n"
                "    for i in range(height):\n        for j in range(width):\n"
                "            grid[i, j, 0] = xs[j]\n            grid[i, j, 1] = ys[i]\n    return grid\n",
            )
        ],
        check="test_no_loop",
        says="operations",
        rung="job",
    ),
    Wrong(
        "a list of coordinates, one Python number each",
        edits=[
            (
                LINE,
                "    points = [first + i * 2 * -first / max(count - 1, 1) for i in range(count)]\n"
                "    return torch.tensor(points, dtype=dtype, device=device)\n",
            )
        ],
        check="test_no_loop",
        says="Python steps",
        rung="job",
    ),
    Wrong(
        "linspace from -1 to 1, also for a side of one pixel",
        edits=[("if align_corners and count > 1", "if align_corners")],
        check="test_one_pixel",
    ),
    Wrong(
        "one over the size, which an empty side does not have",
        edits=[("1 / max(count, 1) - 1", "1 / count - 1")],
        check="test_no_pixels",
        says="ZeroDivisionError",
    ),
    Wrong(
        "computes in float32 and casts at the end",
        edits=[
            (
                LINE,
                "    line = torch.linspace(first, -first, count, device=device)\n"
                "    return line.to(dtype or torch.get_default_dtype())\n",
            )
        ],
        check="test_float64",
        says="wrong values",
    ),
    Wrong(
        "float32 where no dtype is given",
        edits=[("    xs = _centres(", "    dtype = dtype or torch.float32\n    xs = _centres(")],
        check="test_default_dtype",
        says="float32",
    ),
    Wrong(
        "the CPU where no device is given",
        edits=[("    xs = _centres(", "    device = device or 'cpu'\n    xs = _centres(")],
        check="test_default_device",
        says="cpu",
    ),
    Wrong(
        "made on the CPU, then moved",
        edits=[
            (STACK, STACK.replace("dim=-1)", "dim=-1).to(place)")),
            (
                "    xs = _centres(",
                "    place = device or torch.get_default_device()\n    device = 'cpu'\n    xs = _centres(",
            ),
        ],
        check="test_made_on_the_device",
        says="copies between host and device",
    ),
    Works(
        "linspace and meshgrid, then cast and moved",
        code="""
import torch

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    if align_corners:
        x = torch.linspace(-1, 1, width)
        y = torch.linspace(-1, 1, height)
    else:
        x = (2 * torch.arange(width) + 1) / width - 1
        y = (2 * torch.arange(height) + 1) / height - 1
    y, x = torch.meshgrid(y, x, indexing="ij")
    return torch.stack([x, y], dim=-1).to(device=device, dtype=dtype)
""",
    ),
    Works(
        "pixel numbers divided by the size, as kornia's create_meshgrid does",
        code="""
import torch

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    xs = torch.linspace(0, width - 1, width, device=device, dtype=dtype)
    ys = torch.linspace(0, height - 1, height, device=device, dtype=dtype)
    if align_corners:
        xs = (xs / (width - 1) - 0.5) * 2
        ys = (ys / (height - 1) - 0.5) * 2
    else:
        xs = ((xs + 0.5) / width - 0.5) * 2
        ys = ((ys + 0.5) / height - 0.5) * 2
    return torch.stack(torch.meshgrid([xs, ys], indexing="ij"), dim=-1).permute(1, 0, 2)
""",
    ),
    Right(
        "affine_grid of the identity",
        code="""
import torch
import torch.nn.functional as F

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    if 0 in (height, width):
        return torch.empty(height, width, 2, dtype=dtype, device=device)
    dtype = dtype or torch.get_default_dtype()
    wide = torch.promote_types(dtype, torch.float32)  # on the CPU, affine_grid lacks float16
    theta = torch.eye(2, 3, dtype=wide, device=device).unsqueeze(0)
    return F.affine_grid(theta, (1, 1, height, width), align_corners=align_corners)[0].to(dtype)
""",
    ),
    Right(
        "fills an empty grid by broadcasting",
        code="""
import torch

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    grid = torch.zeros(height, width, 2, dtype=dtype, device=device)
    for channel, n in ((0, width), (1, height)):
        if n < 2:
            continue
        edge = 1 if align_corners else 1 - 1 / n
        line = torch.linspace(-edge, edge, n, dtype=dtype, device=device)
        grid[:, :, channel] = line if channel == 0 else line[:, None]
    return grid
""",
    ),
]
