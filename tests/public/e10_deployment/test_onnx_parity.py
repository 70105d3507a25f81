"""The worked example of onnx_parity."""

import numpy as np
import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_raises, expect_that

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
    answer.export_onnx(example(), torch.zeros(2, 2), path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    batch = session.get_inputs()[0].shape[0]
    what = "the file takes batches of one size alone: that of the example is burnt in"
    expect_that(not isinstance(batch, int), what, yours=batch, likely="the export is told of no dynamic size")
    (yours,) = session.run(None, {session.get_inputs()[0].name: np.ones((3, 2), np.float32)})
    expect_close(torch.from_numpy(yours), torch.full((3, 1), 3.5), "the model in ONNX Runtime")
    off = answer.parity(path, example(), [torch.randn(4, 2), torch.randn(1, 2)])
    expect_that(isinstance(off, float) and 0 <= off < 1e-5, "parity is not near 0.0", yours=off)
    other = example()
    other.bias.data += 0.25
    call = "parity of a file and a model that differ by 0.25"
    expect_raises(ValueError, lambda: answer.parity(path, other, [torch.ones(4, 2)]), call, words="batch 0")
