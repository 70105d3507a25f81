"""Answers to device_agnostic that people write."""

from grader.authoring.specimen import Right, Wrong

MPS = """    if torch.backends.mps.is_available():
        return torch.device("mps")
"""
WIDEST = 'torch.float32 if device.type == "mps" else torch.float64'
WIDE = "wide = angle_dtype(x.device)"
ANGLE = "angle = position * rate  # (time, dim / 2)"
POSITION = "position = torch.arange(time, dtype=wide, device=x.device).unsqueeze(1)  # (time, 1)"
TABLE = "table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (time, dim), in turns"
SUM = "x + table.to(x.dtype)  # (*batch, time, dim)"

SPECIMENS = [
    Wrong(
        "finite numbers for infinite ones, to be safe",
        edits=[(SUM, "torch.nan_to_num(x) + table.to(x.dtype)")],
        check="test_any_sizes",
        says="inf",
    ),
    Wrong(
        "a table of 5000 rows, as the old tutorial has it",
        edits=[(SUM, "x + table[:5000].to(x.dtype)")],
        check="test_late_positions",
    ),
    Wrong(
        "makes the table on the CPU and moves it",
        edits=[
            (POSITION, "position = torch.arange(time, dtype=wide).unsqueeze(1)"),
            ("dim, 2, dtype=wide, device=x.device)", "dim, 2, dtype=wide)"),
            (SUM, "x + table.to(x)"),
        ],
        check="test_made_on_the_device",
        says="copies between host and device",
    ),
    Wrong(
        "forgets the device of one tensor",
        edits=[("dim, 2, dtype=wide, device=x.device)", "dim, 2, dtype=wide)")],
        check="test_made_on_the_device",
    ),
    Wrong(
        "fills a table that is made on the CPU",
        edits=[
            (
                TABLE,
                "table = torch.zeros(time, dim, dtype=wide)\n    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()",
            )
        ],
        check="test_made_on_the_device",
    ),
    Wrong(
        "keeps the table of the first call",
        edits=[
            (
                WIDE,
                "wide = angle_dtype(x.device)\n    if (time, dim) in KEPT:\n        return x + KEPT[time, dim]",
            ),
            (SUM, "x + KEPT.setdefault((time, dim), table.to(x.dtype))\n\n\nKEPT = {}"),
        ],
        check="test_sequences_of_all_kinds_in_turn",
    ),
    Wrong(
        "returns the dtype of the table",
        edits=[(SUM, "x + table")],
        check="test_dtype_is_kept",
        says="float64",
    ),
    Wrong(
        "angles in the dtype of x: half precision has no 2049",
        edits=[(WIDE, "wide = x.dtype")],
        check="test_late_positions",
    ),
    Wrong(
        "angles in float32",
        edits=[(WIDE, "wide = torch.float32")],
        check="test_late_positions",
    ),
    Wrong(
        "float64 written into add_positions: an error on mps",
        edits=[(WIDE, "wide = torch.float64")],
        check="test_angle_dtype_is_asked",
        says="asks angle_dtype",
    ),
    Wrong(
        "asks angle_dtype for the positions only",
        edits=[("0, dim, 2, dtype=wide", "0, dim, 2, dtype=torch.float64")],
        check="test_angle_dtype_is_asked",
        says="does not compute in the dtype",
    ),
    Wrong(
        "views the leading dimensions as one",
        edits=[
            (
                SUM,
                "(x.view(-1, time, dim) if x.numel() else x).add(table.to(x.dtype)).view(x.shape)",
            )
        ],
        check="test_strided_sequences",
        says="view size",
    ),
    Wrong(
        "a table in float32, whatever x is",
        edits=[(SUM, "(x + table.float()).to(x.dtype)")],
        check="test_dtype_is_kept",
    ),
    Wrong(
        "the default dtype for the table",
        edits=[
            (
                SUM,
                "x + (table.to(x.dtype) if x.dtype != torch.float32 else table.to(torch.get_default_dtype()))",
            )
        ],
        check="test_default_dtype_does_not_matter",
        says="float64",
    ),
    Wrong(
        "sines first, then cosines",
        edits=[(TABLE, "table = torch.cat([angle.sin(), angle.cos()], dim=-1)")],
        check="test_any_sizes",
    ),
    Wrong(
        "positions from 1",
        edits=[("torch.arange(time, dtype=wide", "torch.arange(1, time + 1, dtype=wide")],
        check="test_any_sizes",
    ),
    Wrong(
        "time counted along the first of three dims",
        edits=[("time, dim = x.shape[-2:]", "_, time, dim = x.shape")],
        check="test_any_sizes",
    ),
    Wrong(
        "adds in place",
        edits=[(SUM, "x.add_(table.to(x.dtype)) if not x.requires_grad else x + table.to(x.dtype)")],
        check="test_x_is_left_alone",
        says="changes its input x",
    ),
    Wrong(
        "wraps x in a new tensor",
        edits=[(SUM, "x.detach().clone() + table.to(x.dtype)")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "an Apple GPU before CUDA",
        edits=[
            (MPS, ""),
            (
                "    if torch.cuda.is_available():",
                '    if torch.backends.mps.is_available():\n        return torch.device("mps")\n    if torch.cuda.is_available():',
            ),
        ],
        check="test_order_of_devices",
    ),
    Wrong(
        "never an Apple GPU",
        edits=[(MPS, "")],
        check="test_order_of_devices",
        says="mps",
    ),
    Wrong(
        "asks once, when the file is imported",
        edits=[
            (MPS, "    if MPS:\n        return torch.device('mps')\n"),
            (SUM, SUM + "\n\n\nMPS = torch.backends.mps.is_available()"),
        ],
        check="test_order_of_devices",
    ),
    Wrong(
        "a string for a device",
        edits=[('return torch.device("cpu")', 'return "cpu"')],
        check="test_order_of_devices",
        says="torch.device",
    ),
    Wrong(
        "float32 everywhere but on the CPU",
        edits=[(WIDEST, 'torch.float64 if device.type == "cpu" else torch.float32')],
        check="test_widest_dtype",
    ),
    Wrong(
        "float64 on mps",
        edits=[(WIDEST, "torch.float64")],
        check="test_widest_dtype",
        says="float32",
    ),
    Wrong(
        "compares the device with mps without an index",
        edits=[(WIDEST, 'torch.float32 if device == torch.device("mps") else torch.float64')],
        check="test_widest_dtype",
    ),
    Wrong(
        "asks angle_dtype about the CPU, wherever x is",
        edits=[("wide = angle_dtype(x.device)", 'wide = angle_dtype(torch.device("cpu"))')],
        check="test_angle_dtype_is_asked",
        says="asks angle_dtype about",
    ),
    Wrong(
        "adds in place to a single sequence",
        edits=[
            (
                "    return x + table",
                "    if x.dim() == 2 and not x.requires_grad:\n        return x.add_(table.to(x.dtype))\n    return x + table",
            )
        ],
        check="test_x_is_left_alone",
        says="changes its input",
    ),
    Wrong(
        "an empty x comes back itself",
        edits=[("    return x + table", "    if not x.numel():\n        return x\n    return x + table")],
        check="test_x_is_left_alone",
        says="returns x itself",
    ),
    Wrong(
        "half precision without gradients",
        edits=[
            (
                "    return x + table",
                "    x = x if x.dtype.itemsize > 2 else x.detach()\n    return x + table",
            )
        ],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "the dtype for the best device there is, not for that of x",
        edits=[("    wide = angle_dtype(x.device)\n", "    wide = angle_dtype(pick_device())\n")],
        check="test_angle_dtype_is_asked",
        says="meta",
    ),
    Wrong(
        "takes the angles of half precision modulo 2π, and rounds them before the sine",
        edits=[
            (
                "    angle = position * rate  # (time, dim / 2)\n",
                "    angle = (position * rate).remainder(2 * math.pi).to(x.dtype)\n",
            )
        ],
        check="test_late_positions",
        says="float16",
    ),
    Right(
        "powers for rates, a table filled column by column",
        code="""
import torch

def pick_device():
    available = [("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_available), ("cpu", lambda: True)]
    return torch.device(next(name for name, asked in available if asked()))

def angle_dtype(device):
    return {"mps": torch.float32}.get(device.type, torch.float64)

def add_positions(x):
    *_, time, dim = x.shape
    like = dict(dtype=angle_dtype(x.device), device=x.device)
    rate = 10000.0 ** -(torch.arange(0, dim, 2, **like) / dim)
    angle = torch.outer(torch.arange(time, **like), rate)
    table = torch.empty(time, dim, **like)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle)
    return x.add(table.to(dtype=x.dtype))
""",
    ),
    Right(
        "new_tensor style: everything from x; cosines as shifted positions in the sum",
        code="""
import math
import torch

def pick_device():
    name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return torch.device(name)

def angle_dtype(device):
    return torch.float32 if "mps" in str(device) else torch.float64

def add_positions(x):
    wide = x.new_ones(x.shape[-2:], dtype=angle_dtype(x.device))
    position = wide.cumsum(0) - 1
    column = wide.cumsum(1) - 1
    even = column.remainder(2) == 0
    angle = position / torch.pow(10000.0, (column - column.remainder(2)) / x.shape[-1])
    return x + torch.where(even, angle.sin(), angle.cos()).type(x.dtype)
""",
    ),
    Wrong(
        "works in place where no gradient is recorded",
        edits=[(SUM, "x + table.to(x.dtype) if torch.is_grad_enabled() else x.add_(table.to(x.dtype))")],
        check="test_x_is_left_alone",
        says="under no_grad",
    ),
    Wrong(
        "switches the default dtype, and back to float32",
        edits=[
            (WIDE, WIDE + "\n    torch.set_default_dtype(wide)"),
            (TABLE, TABLE + "\n    torch.set_default_dtype(torch.float32)"),
        ],
        check="test_default_dtype_does_not_matter",
        says="default dtype, which was float64",
    ),
    Wrong(
        "rounds the angles themselves to float32 for the sines",
        edits=[(ANGLE, "angle = (position * rate).to(torch.promote_types(x.dtype, torch.float32))")],
        check="test_late_positions",
        says="torch.float32",
    ),
    Wrong(
        "takes float32 for bfloat16, and asks angle_dtype for the others",
        edits=[(WIDE, WIDE + " if x.dtype != torch.bfloat16 else torch.float32")],
        check="test_angle_dtype_is_asked",
        says="bfloat16",
    ),
    Wrong(
        "asks for the CPU once, at import",
        edits=[
            ("def add_positions(", 'HERE = angle_dtype(torch.device("cpu"))\n\n\ndef add_positions('),
            (WIDE, WIDE.replace("=", '= HERE if x.device.type == "cpu" else')),
        ],
        check="test_angle_dtype_is_asked",
        says="on the CPU",
    ),
]
