"""Answers to device_agnostic that people write."""

from grader.authoring.specimen import Right, Works, Wrong

MPS = """    if torch.backends.mps.is_available():
        return torch.device("mps")
"""
WIDEST = 'torch.float32 if device.type == "mps" else torch.float64'
WIDE = "wide = angle_dtype(x.device)"
ANGLE = "angle = position * rate  # (time, dim / 2)"
POSITION = "position = torch.arange(time, dtype=wide, device=x.device).unsqueeze(1)  # (time, 1)"
TABLE = "table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (time, dim), in turns"
SUM = "x + table.to(x.dtype)  # (*batch, time, dim)"
BY_THE_BOOK = """
import math
import torch

def pick_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    elif torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")

def angle_dtype(device):
    if device.type == "mps":
        return torch.float32
    return torch.float64
"""

SPECIMENS = [
    Wrong(
        "forgets the device of one tensor",
        edits=[("dim, 2, dtype=wide, device=x.device)", "dim, 2, dtype=wide)")],
        check="test_on_another_device",
        rung="job",
    ),
    Wrong(
        "moves everything to the best device there is",
        edits=[(SUM, "(x + table.to(x.dtype)).to(pick_device())")],
        check="test_on_another_device",
        says="cpu",
        rung="job",
    ),
    Wrong(
        "returns the dtype of the table",
        edits=[(SUM, "x + table")],
        check="test_dtype_is_kept",
        says="float64",
        rung="job",
    ),
    Wrong(
        "keeps the table of the first call, in its dtype",
        edits=[
            (WIDE, WIDE + "\n    if (time, dim) in KEPT:\n        return x + KEPT[time, dim]"),
            (SUM, "x + KEPT.setdefault((time, dim), table.to(x.dtype))\n\n\nKEPT = {}"),
        ],
        check="test_dtype_is_kept",
        says="float32",
        rung="job",
    ),
    Wrong(
        "sines first, then cosines",
        edits=[(TABLE, "table = torch.cat([angle.sin(), angle.cos()], dim=-1)")],
        check="test_values",
        says="before all cosines",
        rung="job",
    ),
    Wrong(
        "wraps x in a new tensor",
        edits=[(SUM, "x.detach().clone() + table.to(x.dtype)")],
        check="test_gradients",
        says="no gradient",
        rung="job",
    ),
    Wrong(
        "never an Apple GPU",
        edits=[(MPS, "")],
        check="test_order_of_devices",
        says="mps",
        rung="job",
    ),
    Wrong(
        "an Apple GPU before CUDA",
        edits=[
            (MPS, ""),
            ("    if torch.cuda.is_available():", MPS + "    if torch.cuda.is_available():"),
        ],
        check="test_order_of_devices",
        says="cuda.is_available() is True and mps.is_available() is True",
        rung="job",
    ),
    Wrong(
        "a string for a device",
        edits=[('return torch.device("cpu")', 'return "cpu"')],
        check="test_order_of_devices",
        says="torch.device",
        rung="job",
    ),
    Wrong(
        "compares the device with mps without an index",
        edits=[(WIDEST, 'torch.float32 if device == torch.device("mps") else torch.float64')],
        check="test_widest_dtype",
        says="mps:0",
        rung="job",
    ),
    Wrong(
        "float32 everywhere but on the CPU",
        edits=[(WIDEST, 'torch.float64 if device.type == "cpu" else torch.float32')],
        check="test_widest_dtype",
        says="cuda",
        rung="job",
    ),
    Wrong(
        "makes the table on the CPU and moves it",
        edits=[
            (POSITION, "position = torch.arange(time, dtype=wide).unsqueeze(1)"),
            ("dim, 2, dtype=wide, device=x.device)", "dim, 2, dtype=wide)"),
            (SUM, "x + table.to(x)"),
        ],
        check="test_no_copies",
        says="copies between host and device",
    ),
    Wrong(
        "rounds the angles themselves to float32 for the sines",
        edits=[(ANGLE, "angle = (position * rate).to(torch.promote_types(x.dtype, torch.float32))")],
        check="test_late_positions",
        says="torch.float32",
    ),
    Wrong(
        "a table in float32, whatever x is",
        edits=[(SUM, "x + table.float().to(x.dtype)")],
        check="test_float64",
    ),
    Wrong(
        "float64 written into add_positions: an error on mps",
        edits=[(WIDE, "wide = torch.float64")],
        check="test_angle_dtype_is_asked",
        says="does not ask angle_dtype",
    ),
    Wrong(
        "the dtype for the best device there is, not for that of x",
        edits=[(WIDE, "wide = angle_dtype(pick_device())")],
        check="test_angle_dtype_is_asked",
        says="asks angle_dtype about",
    ),
    Wrong(
        "time counted along the second of three dims",
        edits=[("time, dim = x.shape[-2:]", "_, time, dim = x.shape")],
        check="test_leading_dimensions",
    ),
    Wrong(
        "views the leading dimensions as one",
        edits=[(SUM, "x.view(-1, time, dim).add(table.to(x.dtype)).view(x.shape)")],
        check="test_strides",
        says="view size",
    ),
    Wrong(
        "adds in place",
        edits=[(SUM, "x.add_(table.to(x.dtype)) if not x.requires_grad else x + table.to(x.dtype)")],
        check="test_arguments_are_left_alone",
        says="changes its input x",
    ),
    Works(
        "the table of the tutorial on transformers, moved to x",
        code=BY_THE_BOOK
        + """
def add_positions(x):
    time, dim = x.shape[-2:]
    position = torch.arange(time).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    pe = torch.zeros(time, dim)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return x + pe.to(device=x.device, dtype=x.dtype)
""",
    ),
    Works(
        "everything on the device and in the dtype of x",
        code=BY_THE_BOOK
        + """
def add_positions(x):
    _, time, dim = x.shape
    position = torch.arange(time, device=x.device, dtype=x.dtype).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2, device=x.device, dtype=x.dtype) * (-math.log(10000.0) / dim))
    table = torch.zeros(time, dim, device=x.device, dtype=x.dtype)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return x + table
""",
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
]
