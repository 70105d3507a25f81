"""Answers to next_token_windows that people write."""

from grader.authoring.specimen import Right, Wrong

STRIDE = "    stride = block if stride is None else stride\n"
DIMS = "    if tokens.dim() != 1:\n"
BAD = "    if block < 1 or stride < 1 or offset < 0:\n"
REST = "    rest = tokens[offset:]\n"
SHORT = "    if len(rest) <= block:  # unfold refuses rows that are too short\n"
EMPTY = "        empty = rest[:0].view(0, 1).expand(0, block)\n        return empty, empty\n"
CUT = "    windows = rest.unfold(0, block + 1, stride)  # (windows, block + 1)\n"
RETURN = "    return windows[:, :-1], windows[:, 1:]\n"

STRIDED = """    count = (len(rest) - block - 1) // stride + 1
    x = torch.as_strided({base}, (count, block), ({step}stride, {step}1), {at})
    y = torch.as_strided({base}, (count, block), ({step}stride, {step}1), {at} + {one})
    return x, y
"""
TORCH = ("from jaxtyping import Shaped\n", "import torch\nfrom jaxtyping import Shaped\n")

SPECIMENS = [
    Right(
        "no windows at all are made on the CPU and moved",
        code="""
import torch


def next_token_windows(tokens, block, stride=None, offset=0):
    if len(tokens.size()) != 1:
        raise ValueError("tokens must be 1-d")
    if stride == None:
        stride = block
    if block <= 0 or stride <= 0:
        raise ValueError("block and stride must be positive")
    if offset < 0:
        raise ValueError("offset must be >= 0")
    n = tokens.size(0)
    num = max(0, (n - offset - block - 1) // stride + 1)
    if num == 0:
        e = torch.zeros(0, block).to(tokens.device).to(tokens.dtype)
        return e, e
    s = tokens.stride()[0]
    o = tokens.storage_offset()
    x = torch.as_strided(tokens, (num, block), (s * stride, s), o + offset * s)
    y = torch.as_strided(tokens, (num, block), (s * stride, s), o + (offset + 1) * s)
    return x, y
""",
    ),
    Wrong(
        "copies of both",
        edits=[(RETURN, "    return windows[:, :-1].contiguous(), windows[:, 1:].contiguous()\n")],
        check="test_views",
        says="copies",
    ),
    Wrong(
        "a copy of the targets",
        edits=[(RETURN, "    return windows[:, :-1], windows[:, 1:].clone()\n")],
        check="test_views",
        says="copies",
    ),
    Wrong(
        "gathers by a table of places",
        edits=[
            TORCH,
            (
                CUT,
                "    at = torch.arange(0, len(rest) - block, stride)[:, None] + torch.arange(block + 1)\n    windows = rest[at]\n",
            ),
        ],
        check="test_memory",
        says="new tensors",
    ),
    Wrong(
        "stacks slices",
        edits=[
            TORCH,
            (
                CUT,
                "    windows = torch.stack([rest[i : i + block + 1] for i in range(0, len(rest) - block, stride)])\n",
            ),
        ],
        check="test_cost",
        says="grows",
    ),
    Wrong(
        "makes the row contiguous first",
        edits=[(REST, "    rest = tokens.contiguous()[offset:]\n")],
        check="test_odd_memory",
        says="copies",
    ),
    Wrong("widens the tokens", edits=[(REST, "    rest = tokens[offset:].long()\n")], check="test_dtypes"),
    Wrong(
        "strides of a contiguous row",
        edits=[
            TORCH,
            (CUT + RETURN, STRIDED.format(base="rest", step="", at="rest.storage_offset()", one="1")),
        ],
        check="test_odd_memory",
    ),
    Wrong(
        "strides from the start of the memory",
        edits=[
            TORCH,
            (
                CUT + RETURN,
                STRIDED.format(
                    base="tokens",
                    step="tokens.stride(0) * ",
                    at="offset * tokens.stride(0)",
                    one="tokens.stride(0)",
                ),
            ),
        ],
        check="test_odd_memory",
    ),
    Wrong(
        "through NumPy",
        edits=[
            ("from jaxtyping", "import numpy as np\nimport torch\nfrom jaxtyping"),
            (
                CUT,
                "    windows = np.lib.stride_tricks.sliding_window_view(rest.numpy(), block + 1)[::stride]\n",
            ),
            (
                RETURN,
                "    return torch.from_numpy(windows[:, :-1].copy()), torch.from_numpy(windows[:, 1:].copy())\n",
            ),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "the targets are the inputs",
        edits=[(RETURN, "    return windows[:, :-1], windows[:, :-1]\n")],
        check="test_every_length",
        says="y from",
    ),
    Wrong(
        "targets one window on",
        edits=[
            (CUT, "    windows = rest.unfold(0, block, stride)\n"),
            (RETURN, "    return windows[:-1], windows[1:]\n"),
        ],
        check="test_every_length",
    ),
    Wrong(
        "targets two tokens on",
        edits=[
            (SHORT, "    if len(rest) <= block + 1:\n"),
            (CUT, CUT.replace("block + 1", "block + 2")),
            (RETURN, "    return windows[:, :-2], windows[:, 2:]\n"),
        ],
        check="test_every_length",
    ),
    Wrong(
        "one window less where all tokens are used",
        edits=[
            (SHORT, "    if len(rest) <= block + 1:\n"),
            (CUT, "    windows = rest[:-1].unfold(0, block + 1, stride)\n"),
        ],
        check="test_every_length",
    ),
    Wrong(
        "the last window's targets go round",
        edits=[
            TORCH,
            (SHORT, "    if len(rest) < block:\n"),
            (CUT, "    shifted = torch.cat([rest[1:], rest[:1]])\n"),
            (RETURN, "    return rest.unfold(0, block, stride), shifted.unfold(0, block, stride)\n"),
        ],
        check="test_every_length",
    ),
    Wrong("stride ignored", edits=[(CUT, CUT.replace(", stride)", ", block)"))], check="test_every_length"),
    Wrong(
        "windows never skip tokens",
        edits=[(CUT, CUT.replace(", stride)", ", min(stride, block))"))],
        check="test_every_length",
    ),
    Wrong("offset ignored", edits=[(REST, "    rest = tokens\n")], check="test_offsets"),
    Wrong(
        "offset counted in windows",
        edits=[(REST, "    rest = tokens[offset * stride :]\n")],
        check="test_offsets",
    ),
    Wrong(
        "offset wraps at the stride",
        edits=[(REST, "    rest = tokens[offset % stride :]\n")],
        check="test_offsets",
    ),
    Wrong(
        "windows that begin before the offset",
        edits=[
            (REST, "    rest = tokens\n"),
            (CUT, CUT.replace("stride)", "stride)[(offset + stride - 1) // stride :]")),
        ],
        check="test_offsets",
    ),
    Wrong("stride 1 by default", edits=[(STRIDE, STRIDE.replace("block if", "1 if"))], check="test_defaults"),
    Wrong(
        "stride block + 1 by default",
        edits=[(STRIDE, STRIDE.replace("block if", "block + 1 if"))],
        check="test_defaults",
    ),
    Wrong("0 for None", edits=[(STRIDE, "    stride = stride or block\n")], check="test_bad_input"),
    Wrong("raises for short rows", edits=[(SHORT + EMPTY, "")], check="test_too_short"),
    Wrong(
        "nothing at all for short rows",
        edits=[(EMPTY, "        return rest[:0], rest[:0]\n")],
        check="test_too_short",
        says="shape",
    ),
    Wrong(
        "a padded window for short rows",
        edits=[(EMPTY, "        short = rest.new_zeros(1, block)\n        return short, short\n")],
        check="test_too_short",
    ),
    Wrong(
        "int64 for short rows",
        edits=[
            TORCH,
            (
                EMPTY,
                "        empty = torch.empty(0, block, dtype=torch.int64)\n        return empty, empty\n",
            ),
        ],
        check="test_too_short",
    ),
    Wrong(
        "the CPU for short rows",
        edits=[
            TORCH,
            (EMPTY, "        empty = torch.empty(0, block, dtype=rest.dtype)\n        return empty, empty\n"),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "flattens tables", edits=[(DIMS, "    tokens = tokens.reshape(-1)\n" + DIMS)], check="test_bad_input"
    ),
    Wrong(
        "unfolds the last dimension",
        edits=[(DIMS, "    if tokens.dim() < 1:\n"), (CUT, CUT.replace("(0,", "(-1,"))],
        check="test_bad_input",
    ),
    Wrong(
        "a negative offset counts from the end",
        edits=[(BAD, "    if block < 1 or stride < 1:\n")],
        check="test_bad_input",
    ),
    Wrong(
        "looks at the numbers after the length",
        edits=[(BAD, "    if len(tokens) > block and (block < 1 or stride < 1 or offset < 0):\n")],
        check="test_bad_input",
    ),
    Wrong("no look at block", edits=[(BAD, "    if stride < 1 or offset < 0:\n")], check="test_bad_input"),
    Wrong(
        "marks the borders",
        edits=[
            (RETURN, "    if len(tokens) and not tokens.stride(0) == 0:\n        tokens[-1] = 0\n" + RETURN)
        ],
        check="test_tokens_are_left_alone",
        says="changes",
    ),
    Wrong(
        "squeezes single windows",
        edits=[(RETURN, "    return windows[:, :-1].squeeze(), windows[:, 1:].squeeze()\n")],
        check="test_every_length",
    ),
    Wrong(
        "an iterator of pairs",
        edits=[(RETURN, "    return [(w[:-1], w[1:]) for w in windows]\n")],
        check="test_every_length",
    ),
    Wrong(
        "resizes the tokens",
        edits=[
            (
                REST,
                "    keep = offset + (len(tokens) - offset - 1) // block * block + 1\n    rest = tokens[offset:keep] if stride == block else tokens[offset:]\n    if tokens.is_contiguous() and stride == 1 and block == 2:\n        tokens.resize_(max(0, len(tokens) - 1))\n",
            )
        ],
        check="test_tokens_are_left_alone",
    ),
    Wrong(
        "a copy, where the file is",
        edits=[
            (
                REST,
                "    rest = tokens[offset:]\n    rest = rest.clone() if rest.dtype == torch.uint16 else rest\n",
            ),
            TORCH,
        ],
        check="test_from_a_file",
        says="copies",
    ),
    Right(
        "as_strided, with the row's own strides",
        edits=[
            TORCH,
            (
                CUT + RETURN,
                STRIDED.format(
                    base="rest", step="rest.stride(0) * ", at="rest.storage_offset()", one="rest.stride(0)"
                ),
            ),
        ],
    ),
    Right(
        "a list of two rows, unfolded alike",
        edits=[
            (
                SHORT + EMPTY + CUT + RETURN,
                "    if len(rest) <= block:\n        none = rest.new_empty(0, block)\n        return [none, none]\n    return [row.unfold(0, block, stride) for row in (rest[:-1], rest[1:])]\n",
            )
        ],
    ),
    Right(
        "all windows, then every stride-th",
        edits=[(CUT, "    windows = rest.unfold(0, block + 1, 1)[::stride]\n")],
    ),
]
