"""Answers to next_token_windows that people write."""

from grader.authoring.specimen import Right, Works, Wrong

STRIDE = "stride = block if stride is None else stride"
CHECK = "if block < 1 or stride < 1 or offset < 0:"
REST = "rest = tokens[offset:]"
RETURN = "return windows[:, :-1], windows[:, 1:]"
SHORT = "if len(rest) <= block:"
SLICES = """
import torch

def next_token_windows(tokens, block, stride=None, offset=0):
    stride = block if stride is None else stride
    starts = range(offset, LAST, stride)
    x = torch.stack([tokens[i : i + block] for i in starts])
    y = torch.stack([tokens[i + 1 : i + 1 + block] for i in starts])
    return x, y
"""

SPECIMENS = [
    Wrong(
        "one window too few: the bound of a training loop that draws",
        code=SLICES.replace("LAST", "len(tokens) - block - 1"),
        check="test_every_length",
        rung="job",
    ),
    Wrong(
        "inputs are cut without a look at the token after their last",
        edits=[(RETURN, "return rest.unfold(0, block, stride), rest[1:].unfold(0, block, stride)")],
        check="test_every_length",
        says="are complete",
        rung="job",
    ),
    Wrong(
        "the targets are the inputs",
        edits=[(RETURN, "return windows[:, :-1], windows[:, :-1]")],
        check="test_every_length",
        says="one place on",
        rung="job",
    ),
    Wrong(
        "ignores the offset",
        edits=[(REST, "rest = tokens")],
        check="test_offsets",
        rung="job",
    ),
    Wrong(
        "a stride of 1 where there is none",
        edits=[(STRIDE, "stride = 1 if stride is None else stride")],
        check="test_default_stride",
        rung="job",
    ),
    Wrong(
        "always block by block",
        edits=[(STRIDE, "stride = block")],
        check="test_every_length",
        rung="job",
    ),
    Wrong(
        "windows along the second dimension",
        edits=[(RETURN, "return windows[:, :-1].T, windows[:, 1:].T")],
        check="test_every_length",
        rung="job",
    ),
    Wrong(
        "copies: unfold, then contiguous",
        edits=[(RETURN, "return windows[:, :-1].contiguous().clone(), windows[:, 1:].contiguous().clone()")],
        check="test_views",
    ),
    Wrong(
        "strides of a whole row",
        edits=[
            (
                "windows = rest.unfold(0, block + 1, stride)  # (windows, block + 1)",
                "count = (len(rest) - block - 1) // stride + 1\n"
                "    windows = rest.as_strided((count, block + 1), (stride, 1))",
            )
        ],
        check="test_parts",
    ),
    Wrong(
        "tokens in int64",
        edits=[(REST, "rest = tokens[offset:].long()")],
        check="test_dtypes",
        says="dtype",
    ),
    Wrong(
        "an error for a short row",
        edits=[(SHORT, "if False:")],
        check="test_too_short",
    ),
    Wrong(
        "windows on the CPU",
        edits=[(REST, "rest = tokens[offset:].cpu()")],
        check="test_on_a_device",
        says="another device",
    ),
    Wrong(
        "counts an offset from the end",
        edits=[(CHECK, "if block < 1 or stride < 1:")],
        check="test_errors",
    ),
    Works(
        "slices, stacked, as nanoGPT makes a batch",
        code=SLICES.replace("LAST", "len(tokens) - block"),
    ),
    Works(
        "a table of indices",
        code="""
import torch

def next_token_windows(tokens, block, stride=None, offset=0):
    stride = stride or block
    starts = torch.arange(offset, tokens.numel() - block, stride)
    index = starts[:, None] + torch.arange(block)
    return tokens[index], tokens[index + 1]
""",
    ),
    Right(
        "unfold twice, the inputs without the last token",
        code="""
def next_token_windows(tokens, block, stride=None, offset=0):
    if stride is None:
        stride = block
    if min(block, stride) < 1 or offset < 0:
        raise ValueError("too small")
    count = max(0, (len(tokens) - offset - block - 1) // stride + 1)
    if count == 0:
        return tokens.new_empty(0, block), tokens.new_empty(0, block)
    end = offset + (count - 1) * stride + block
    return tokens[offset:end].unfold(0, block, stride), tokens[offset + 1 : end + 1].unfold(0, block, stride)
""",
    ),
    Right(
        "as_strided, with the strides of the row",
        code="""
def next_token_windows(tokens, block, stride=None, offset=0):
    stride = block if stride is None else stride
    if block <= 0 or stride <= 0 or offset < 0:
        raise ValueError(f"{block}, {stride}, {offset}")
    count = len(range(offset, len(tokens) - block, stride))
    step = tokens.stride(0)
    first = tokens.storage_offset() + offset * step if count else 0
    x = tokens.as_strided((count, block), (stride * step, step), first)
    return x, tokens.as_strided((count, block), (stride * step, step), first + step if count else 0)
""",
    ),
]
