"""The contract of attention."""

import pytest
import torch

from grader.checks import expect_close, expect_equal

VALUE = torch.tensor([1.0, 3.0, 5.0]).view(1, 3, 1, 1)
QUERY, KEY = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)
EXAMPLES = {
    "attention(query, key, value)": (0, False, [3.0, 3.0, 3.0]),
    "attention(query, key, value, causal=True)": (0, True, [1.0, 2.0, 3.0]),
    "attention(query[:, 1:], key, value, causal=True)": (1, True, [2.0, 3.0]),
    "attention(query[:, 2:], key, value, causal=True)": (2, True, [3.0]),
}


@pytest.mark.parametrize("call", EXAMPLES)
def test_worked_example(answer, call):
    """The worked examples of the statement come out."""
    start, causal, wanted = EXAMPLES[call]
    yours = answer.attention(QUERY[:, start:].clone(), KEY.clone(), VALUE.clone(), causal=causal)
    expect_close(yours, torch.tensor(wanted).view(1, -1, 1, 1), call, dims="batch time heads dim")


def test_shape_and_dtype(answer):
    """The result has the shape and dtype of query, also where heads share keys."""
    for dtype in (torch.float32, torch.bfloat16):
        query, key = torch.ones(2, 5, 4, 3, dtype=dtype), torch.ones(2, 7, 2, 3, dtype=dtype)
        yours = answer.attention(query, key, key)
        expect_equal(
            (yours.shape, yours.dtype), (query.shape, dtype), "shape and dtype of attention(query, key, key)"
        )
