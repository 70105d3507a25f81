"""The contract of onnx_parity."""

import numpy as np
import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

pytestmark = [
    pytest.mark.needs("onnx", "onnxruntime", "onnxscript"),
    pytest.mark.filterwarnings("ignore"),  # of the exporters of PyTorch
]


def example():
    """The model of the worked example."""
    model = nn.Linear(2, 1)
    model.load_state_dict({"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([0.5])})
    return model


def test_worked_example(answer, tmp_path):
    """The worked example of the statement comes out, and another model is told from it."""
    import onnxruntime

    path = str(tmp_path / "model.onnx")
    answer.export_onnx(example(), torch.zeros(1, 2), path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (yours,) = session.run(None, {"input": np.ones((3, 2), np.float32)})
    expect_close(torch.from_numpy(yours), torch.full((3, 1), 3.5), "the model in ONNX Runtime")
    expect_equal([end.name for end in session.get_outputs()], ["output"], "the names of the outputs")
    off = answer.parity(path, example(), [torch.randn(4, 2), torch.randn(1, 2)])
    expect_that(isinstance(off, float) and 0 <= off < 1e-5, "parity is not near 0.0", yours=off)
    other = example()
    other.bias.data += 0.25
    expect_raises(
        ValueError, lambda: answer.parity(path, other, [torch.ones(4, 2)]), "parity", words="batch 0"
    )
    off = answer.parity(path, other, [torch.ones(4, 2)], atol=0.5)
    expect_close(torch.tensor(off), torch.tensor(0.25), "parity(path, other, batches, atol=0.5)")
