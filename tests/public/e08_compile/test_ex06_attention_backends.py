"""The worked example of attention."""

import torch

from grader.checks.contract import Contract, given


def written_out(query, key, value, causal=False, scale=None):
    """The formula of the statement."""
    (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
    key, value = (x.repeat_interleave(heads // kv_heads, dim=2) for x in (key, value))
    scores = (dim**-0.5 if scale is None else scale) * torch.einsum("bthd,bshd->bhts", query, key)
    if causal:
        scores = scores.masked_fill(~torch.ones(time, keys, dtype=torch.bool).tril(keys - time), -torch.inf)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), value)


QUERY, KEY = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)
VALUE = torch.tensor([1.0, 3.0, 5.0]).view(1, 3, 1, 1)
WANTED = {False: [[[[3.0]], [[3.0]], [[3.0]]]], True: [[[[1.0]], [[2.0]], [[3.0]]]]}

contract = Contract(
    "attention(query, key, value)",
    reference=written_out,
    example=[(given(QUERY, KEY, VALUE, causal=causal), wanted) for causal, wanted in WANTED.items()],
    dims="batch time heads dim",
    suspects={
        "heads stand where time does: transpose(1, 2) before and after": lambda *args, **options: written_out(
            *(x.transpose(1, 2) for x in args), **options
        ).transpose(1, 2),
        "causal is left out": lambda query, key, value, causal=False: written_out(query, key, value),
    },
)
