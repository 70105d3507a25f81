"""The same model in ONNX: a file that runs without PyTorch, and the proof that it computes the same.

ONNX Runtime runs a model from a file, without Python. An export can go wrong silently: dropout stays on, a batch size
is burnt in.

    model = nn.Linear(2, 1)                      # say [[1, 2]] with a bias of 0.5
    export_onnx(model, torch.zeros(2, 2), "model.onnx")
    session = onnxruntime.InferenceSession("model.onnx")
    session.run(None, {"input": numpy.ones((3, 2), numpy.float32)})     # [[3.5], [3.5], [3.5]]
    parity("model.onnx", model, [torch.randn(4, 2), torch.randn(1, 2)]) # 0.0, or as good as

- The file holds the model in evaluation mode, with one input named input and one output named output. Their first
  dimension is a batch of any size.
- parity runs both on each batch, the model in evaluation mode, and returns the largest |onnx - torch| as a float.
- ValueError if |onnx - torch| > atol + rtol · |torch| anywhere. Its message names the first such batch, counted from
  0, as "batch 2", and says how far it is off.

Fine print:
- All weights are in the file, and no other is written. The example may be a batch of 1.
- Afterwards, also after an error, each module is in the mode in which it was before.
- Results of another shape are off, too, also where they would broadcast.
- NaN on both sides is no difference, nor is the same infinity. NaN or infinity on one side only is off, whatever the
  tolerances.
"""

from collections.abc import Iterable
from pathlib import Path

import onnxruntime
import torch
from torch import Tensor, nn


def export_onnx(model: nn.Module, example: Tensor, path: str | Path) -> None:
    """Write a model to an ONNX file."""
    raise NotImplementedError


def parity(
    path: str | Path, model: nn.Module, batches: Iterable[Tensor], *, rtol: float = 1e-4, atol: float = 1e-5
) -> float:
    """The largest difference between an ONNX file and the model that it came from."""
    raise NotImplementedError
