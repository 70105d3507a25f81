"""The suite of to_onnx."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given, values

pytestmark = [
    pytest.mark.needs("onnx", "onnxruntime", "onnxscript"),
    pytest.mark.filterwarnings("ignore"),  # of the exporters of PyTorch
]


class Halved(nn.Module):
    """As a dropout, it works in training mode alone; but it is the same for all numbers."""

    def forward(self, x):
        return 0.5 * x if self.training else x


def run(answer, weight, x):
    """What a file makes of some batches, the first of which was the example."""
    layer = nn.Linear(*weight.shape[::-1])
    layer.weight, layer.bias = nn.Parameter(weight.clone()), nn.Parameter(torch.full_like(weight[:, 0], 1.5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        answer.to_onnx(nn.Sequential(Halved(), layer).train(), x[0], str(path))
        expect_that(path.is_file(), "to_onnx(model, x, path) writes no file at path")
        results = [answer.ask_onnx(str(path), batch.numpy()) for batch in x]
    arrays = all(isinstance(result, np.ndarray) for result in results)
    expect_that(
        arrays, "ask_onnx(path, other) returns no array: the first item of the list", yours=results[0]
    )
    return torch.stack([torch.from_numpy(result) for result in results])


def four_batches(gen):
    """One call, as each export takes its second."""
    sizes = torch.randint(2, 6, (3,), generator=gen).tolist()
    rows, features, outputs = sizes
    weight, x = torch.randn(outputs, features, generator=gen), torch.randn(4, rows, features, generator=gen)
    return {"four batches": given(weight, x)}


contract = Contract(
    "ask_onnx(path, other)",
    reference=lambda weight, x: x @ weight.T + 1.5,
    example=(given(torch.tensor([[2.0]]), torch.tensor([[[7.0]], [[3.0]]])), [[[15.5]], [[7.5]]]),
    job=[values(inputs=four_batches)],
    suspects={
        "the file holds the model in training mode: call model.eval() before you export": (
            lambda weight, x: 0.5 * x @ weight.T + 1.5
        ),
    },
    use=run,
)


def oracle(answer, gen):
    """Four cases from one export."""
    (held,) = four_batches(gen).values()
    return {f"batch {n}": found for n, found in enumerate(run(answer, *held.args), start=1)}
