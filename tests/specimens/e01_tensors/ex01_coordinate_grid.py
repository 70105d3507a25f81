"""Answers to coordinate_grid that people write."""

from grader.authoring.specimen import Right, Wrong

FIRST = (
    "    first = -1.0 if align_corners and count > 1 else 1 / max(count, 1) - 1  # a single pixel is at 0\n"
)
LINE = "    return torch.linspace(first, -first, count, dtype=dtype, device=device)  # (count,)\n"

SPECIMENS = [
    Wrong(
        "one transform, expanded: whoever writes to that of one image writes to all",
        edits=[("one.repeat(images.shape[0], 1, 1)", "one.expand(images.shape[0], 2, 3)")],
        check="test_fresh_memory",
        says="the transform of one image",
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
        check="test_dtype_asked_for",
        says="136",
    ),
    Wrong(
        "y before x: meshgrid's order is stacked as it comes",
        edits=[("torch.stack((columns, rows), dim=-1)", "torch.stack((rows, columns), dim=-1)")],
        check="test_every_pixel",
        says="wrong",
    ),
    Wrong(
        "the corners convention only: align_corners is ignored",
        edits=[("if align_corners and count > 1", "if count > 1")],
        check="test_edges_are_the_default",
    ),
    Wrong(
        "linspace from -1 to 1, also for a side of one pixel",
        edits=[("if align_corners and count > 1", "if align_corners")],
        check="test_side_of_one_pixel",
    ),
    Wrong(
        "divides by count - 1, which is 0 for a single pixel",
        edits=[
            (
                FIRST,
                "    if align_corners:\n"
                "        return 2 * torch.arange(count, dtype=dtype or torch.get_default_dtype(), device=device) / (count - 1) - 1\n"
                + FIRST,
            )
        ],
        check="test_side_of_one_pixel",
        says="nan",
    ),
    Wrong(
        "one over the size, which an empty side does not have",
        edits=[("1 / max(count, 1) - 1", "1 / count - 1")],
        check="test_no_pixels",
        says="ZeroDivisionError",
    ),
    Wrong(
        "an arange of integers, and so float32 whatever the dtype",
        edits=[
            (
                LINE,
                "    if align_corners:\n    "
                + LINE
                + "    return (2 * torch.arange(count, device=device) + 1) / max(count, 1) - 1\n",
            )
        ],
        check="test_dtype_asked_for",
        says="float64",
    ),
    Wrong(
        "computes in float32 and casts to float64 at the end",
        edits=[
            (
                "_centres(width, align_corners, dtype, device)",
                "_centres(width, align_corners, torch.float32, device)",
            ),
            (
                "_centres(height, align_corners, dtype, device)",
                "_centres(height, align_corners, torch.float32, device)",
            ),
            ("dim=-1)  # (height, width, 2)", "dim=-1).to(dtype or torch.get_default_dtype())"),
        ],
        check="test_dtype_asked_for",
        says="wrong values",
    ),
    Wrong(
        "numbers the pixels in the grid's dtype, and doubles them: inf in float16",
        edits=[
            (
                LINE,
                "    if not align_corners or count < 2:\n    "
                + LINE
                + "    i = torch.arange(count, dtype=dtype or torch.get_default_dtype(), device=device)\n"
                "    return 2 * i / (count - 1) - 1\n",
            )
        ],
        check="test_float16_does_not_overflow",
        says="inf",
    ),
    Wrong(
        "float32 where no dtype is given",
        edits=[
            ("    xs = _centres(", "    dtype = dtype or torch.float32\n    xs = _centres("),
        ],
        check="test_default_dtype",
        says="float32",
    ),
    Wrong(
        "the CPU where no device is given",
        edits=[("    xs = _centres(", "    device = device or 'cpu'\n    xs = _centres(")],
        check="test_default_device",
        says="default device",
    ),
    Wrong(
        "made on the CPU, then moved",
        edits=[
            (
                "    xs = _centres(width, align_corners, dtype, device)\n",
                "    xs = _centres(width, align_corners, dtype, None).to(device)\n",
            ),
            (
                "    ys = _centres(height, align_corners, dtype, device)\n",
                "    ys = _centres(height, align_corners, dtype, None).to(device)\n",
            ),
        ],
        check="test_made_on_the_device",
        says="copies between host and device",
    ),
    Wrong(
        "the device is forgotten",
        edits=[("count, dtype=dtype, device=device)  # (count,)", "count, dtype=dtype)  # (count,)")],
        check="test_made_on_the_device",
        says="another device",
    ),
    Wrong(
        "two loops over the pixels",
        edits=[
            (
                "    return torch.stack((columns, rows), dim=-1)  # (height, width, 2)",
                "    grid = torch.empty(height, width, 2, dtype=xs.dtype, device=xs.device)\n"
                "    for i in range(height):\n        for j in range(width):\n"
                "            grid[i, j, 0] = xs[j]\n            grid[i, j, 1] = ys[i]\n    return grid",
            )
        ],
        check="test_no_loop",
        says="grows with side",
    ),
    Wrong(
        "a list of coordinates, one Python number each",
        edits=[
            (
                "    xs = _centres(width, align_corners, dtype, device)\n",
                "    if not align_corners:\n"
                "        points = [[((2 * j + 1) / width - 1, (2 * i + 1) / height - 1) for j in range(width)] for i in range(height)]\n"
                "        return torch.tensor(points, dtype=dtype, device=device).reshape(height, width, 2)\n"
                "    xs = _centres(width, align_corners, dtype, device)\n",
            )
        ],
        check="test_no_loop",
    ),
    Wrong(
        "grids are kept in a cache and handed out again",
        edits=[("def coordinate_grid(", "@__import__('functools').lru_cache\ndef coordinate_grid(")],
        check="test_fresh_memory",
        says="share memory",
    ),
    Wrong(
        "an empty grid of its own, in the default dtype",
        edits=[
            (
                "    xs = _centres(",
                "    if height == 0 or width == 0:\n        return torch.empty(height, width, 2, device=device)\n    xs = _centres(",
            )
        ],
        check="test_no_pixels",
        says="float64",
    ),
    Wrong(
        "an empty grid of its own, on the default device",
        edits=[
            (
                "    xs = _centres(",
                "    if height == 0 or width == 0:\n        return torch.empty(height, width, 2, dtype=dtype)\n    xs = _centres(",
            )
        ],
        check="test_made_on_the_device",
        says="device",
    ),
    Wrong(
        "a single pixel at 0, in the default dtype",
        edits=[
            (
                "    xs = _centres(",
                "    if height == width == 1:\n        return torch.zeros(1, 1, 2, device=device)\n    xs = _centres(",
            )
        ],
        check="test_dtype_asked_for",
        says="dtype",
    ),
    Wrong(
        "transforms from the pixels, times 0",
        edits=[
            (
                "    one = torch.eye",
                "    if images.is_floating_point():\n"
                "        return torch.eye(2, 3, dtype=dtype, device=images.device) + 0 * images.mean((1, 2, 3))[:, None, None]\n"
                "    one = torch.eye",
            )
        ],
        check="test_identity_in_the_images_dtype",
        says="nan",
    ),
    Wrong(
        "transforms are kept in a cache and handed out again",
        edits=[
            (
                "    one = torch.eye(2, 3, dtype=dtype, device=images.device)\n"
                "    return one.repeat(images.shape[0], 1, 1)  # (batch, 2, 3)\n",
                "    return _transforms(images.shape[0], dtype or torch.get_default_dtype(), images.device)\n\n\n"
                "@__import__('functools').lru_cache\n"
                "def _transforms(batch, dtype, device):\n"
                "    return torch.eye(2, 3, dtype=dtype, device=device).repeat(batch, 1, 1)\n",
            )
        ],
        check="test_fresh_memory",
        says="transforms that share memory",
    ),
    Wrong(
        "transforms in the dtype of uint8 pixels",
        edits=[("images.dtype if images.is_floating_point() else None", "images.dtype")],
        check="test_identity_in_the_images_dtype",
        says="uint8",
    ),
    Wrong(
        "a list of integer dtypes that lacks some",
        edits=[
            (
                "images.dtype if images.is_floating_point() else None",
                "None if images.dtype in (torch.uint8, torch.int16, torch.int64, torch.bool) else images.dtype",
            )
        ],
        check="test_identity_in_the_images_dtype",
        says="uint16",
    ),
    Wrong(
        "made in inference mode: the learned warp cannot start from it",
        edits=[("def identity_transforms", "@torch.inference_mode()\ndef identity_transforms")],
        check="test_fresh_memory",
        says="inference tensor",
    ),
    Wrong(
        "widens float16 where it is asked for, but not as the default",
        edits=[
            (
                LINE,
                "    wide = torch.float32 if dtype == torch.float16 else dtype or torch.get_default_dtype()\n"
                "    i = torch.arange(count, dtype=wide, device=device)\n"
                "    if align_corners:\n    "
                + LINE
                + "    return ((2 * i + 1) / max(count, 1) - 1).to(dtype or torch.get_default_dtype())\n",
            )
        ],
        check="test_float16_does_not_overflow",
        says="as default",
    ),
    Wrong(
        "float64 in float32 along longer sides",
        edits=[
            (
                LINE,
                "    wide = torch.float32 if count > 64 else dtype\n"
                "    return torch.linspace(first, -first, count, dtype=wide, device=device).to(dtype)\n",
            )
        ],
        check="test_dtype_asked_for",
        says="wrong values",
    ),
    Wrong(
        "takes two rows and three columns of the images, which smaller ones lack",
        edits=[
            (
                "    one = torch.eye(2, 3, dtype=dtype, device=images.device)\n"
                "    return one.repeat(images.shape[0], 1, 1)  # (batch, 2, 3)\n",
                "    theta = torch.zeros_like(images[:, 0, :2, :3], dtype=dtype or torch.get_default_dtype())\n"
                "    theta[:, 0, 0] = 1\n    theta[:, 1, 1] = 1\n    return theta\n",
            )
        ],
        check="test_identity_in_the_images_dtype",
    ),
    Wrong(
        "transforms always in the default dtype",
        edits=[("images.dtype if images.is_floating_point() else None", "None")],
        check="test_identity_in_the_images_dtype",
        says="float32",
    ),
    Wrong(
        "transforms from a list of numbers, copied to the device",
        edits=[
            (
                "torch.eye(2, 3, dtype=dtype, device=images.device)",
                "torch.tensor([[1.0, 0, 0], [0, 1, 0]], dtype=dtype, device=images.device)",
            )
        ],
        check="test_identity_is_made_on_the_device",
        says="copies between host and device",
    ),
    Wrong(
        "transforms on the CPU",
        edits=[("torch.eye(2, 3, dtype=dtype, device=images.device)", "torch.eye(2, 3, dtype=dtype)")],
        check="test_identity_is_made_on_the_device",
        says="another device",
    ),
    Wrong(
        "a stack of one transform for each image: fails on an empty batch, and loops",
        edits=[("one.repeat(images.shape[0], 1, 1)", "torch.stack([one for _ in images])")],
        check="test_no_loop_over_images",
        says="grows with batch",
    ),
    Wrong(
        "a single transform is kept, and handed out itself for a batch of one",
        edits=[
            (
                "    one = torch.eye(2, 3, dtype=dtype, device=images.device)\n"
                "    return one.repeat(images.shape[0], 1, 1)  # (batch, 2, 3)\n",
                "    one = _transform(dtype or torch.get_default_dtype(), images.device)\n"
                "    return one if len(images) == 1 else one.repeat(len(images), 1, 1)\n\n\n"
                "@__import__('functools').lru_cache\n"
                "def _transform(dtype, device):\n"
                "    return torch.eye(2, 3, dtype=dtype, device=device).unsqueeze(0)\n",
            )
        ],
        check="test_fresh_memory",
        says="transforms that share memory",
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

def identity_transforms(images):
    dtype = images.dtype if images.dtype.is_floating_point else torch.get_default_dtype()
    return torch.eye(3, dtype=dtype, device=images.device)[:2].expand(len(images), 2, 3).clone()
""",
    ),
    Right(
        "fills an empty grid by broadcasting",
        code="""
import torch

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    grid = torch.zeros(height, width, 2, dtype=dtype, device=device)
    for channel, n in ((0, width), (1, height)):
        if align_corners:
            line = torch.zeros(n, dtype=dtype, device=device) if n < 2 else torch.linspace(-1, 1, n, dtype=dtype, device=device)
        else:
            edge = 1 - 1 / n if n else 0.0
            line = torch.linspace(-edge, edge, n, dtype=dtype, device=device)
        grid[:, :, channel] = line if channel == 0 else line[:, None]
    return grid

def identity_transforms(images):
    dtype = None if not torch.is_floating_point(images) else images.dtype
    theta = torch.zeros(images.size(0), 2, 3, dtype=dtype, device=images.device)
    theta[:, 0, 0] = 1
    theta[:, 1, 1] = 1
    return theta
""",
    ),
    Right(
        "cumulative sums of full tensors",
        code="""
import torch

def line(n, aligned, dtype, device):
    step = 2 / max(n - 1, 1) if aligned else 2 / max(n, 1)
    start = -1.0 if aligned else -1 + step / 2
    if n == 1:
        start = 0.0
    return torch.full((n,), step, dtype=torch.float64, device=device).cumsum(0).sub(step).add(start).to(dtype or torch.get_default_dtype())

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    x = line(width, align_corners, dtype, device)[None, :].expand(height, width)
    y = line(height, align_corners, dtype, device)[:, None].expand(height, width)
    return torch.cat([x[..., None], y[..., None]], -1)

def identity_transforms(images):
    kwargs = {"device": images.device, **({"dtype": images.dtype} if images.is_floating_point() else {})}
    return torch.stack([torch.tril(torch.triu(torch.ones(2, 3, **kwargs)))] * 1).repeat(images.shape[0], 1, 1)
""",
    ),
    Wrong(
        "sides are kept in a cache, whose key knows no default device",
        edits=[
            ("def _centres(", "@__import__('functools').lru_cache\ndef _centres("),
            (
                "    xs = _centres(",
                "    dtype = dtype or torch.get_default_dtype()\n    xs = _centres(",
            ),
            (
                "    return torch.stack((columns, rows), dim=-1)  # (height, width, 2)\n",
                "    grid = torch.empty(height, width, 2, dtype=dtype, device=device)\n"
                "    grid[..., 0], grid[..., 1] = columns, rows\n"
                "    return grid\n",
            ),
        ],
        check="test_default_device",
        says="copies",
    ),
]
