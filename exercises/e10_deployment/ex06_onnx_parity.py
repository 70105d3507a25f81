"""A model without PyTorch: an ONNX file, and the proof that it computes the same.

ONNX Runtime runs a model from one file, in other languages and without Python. But an export can go wrong
silently: dropout stays on, a batch size is burnt in, the weights lie in a second file that nobody copies.

    model = nn.Linear(2, 1)                      # say [[1, 2]] with a bias of 0.5
    export_onnx(model, torch.zeros(1, 2), "model.onnx")
    session = onnxruntime.InferenceSession("model.onnx")
    session.run(None, {"input": numpy.ones((3, 2), numpy.float32)})     # [[3.5], [3.5], [3.5]]
    parity("model.onnx", model, [torch.randn(4, 2), torch.randn(1, 2)]) # 0.0, or as good as

Rules for export_onnx:
- The file has one input, named input, and one output, named output. Their first dimension is the batch: any
  size from 1, whatever the example has (1, too). All other sizes are those of the example.
- The file holds the model in evaluation mode. Afterwards every module in it is in the mode in which it was
  before, also after an error, and no parameter, buffer or example has changed.
- The file can be moved: all weights are in it, and nothing else is written. path may be a str or a Path, and
  end in anything; a file that is there is overwritten.

Rules for parity:
- It runs the file in ONNX Runtime, on the CPU, and the model in evaluation mode, recording no graph, on each
  batch, and returns the largest |onnx - torch| as a float: 0.0 without batches or rows. The model's modes are
  restored as above, and who recorded graphs still does.
- ValueError if |onnx - torch| > atol + rtol · |torch| anywhere. Its message names the first such batch,
  counted from 0, as "batch 2", and says how far it is off. Results of another shape are off, too, also where
  they would broadcast. NaN on both sides is no difference, nor is the same infinity; NaN or infinity on one
  side only is off.
- Input and output of the file may have any names: there is one of each. Batches are any iterable of float32
  tensors, which may require gradients and lie in memory in any way. They are not changed, also where the
  model works in place.
"""

from collections.abc import Iterable
from pathlib import Path

import onnxruntime
import torch
from torch import Tensor, nn


def export_onnx(model: nn.Module, example: Tensor, path: str | Path) -> None:
    """Write a model to an ONNX file.

    Args:
        model: takes one tensor (batch, …) to one tensor (batch, …). In evaluation mode it writes neither
            into its argument nor into buffers.
        example: an input.
        path: of the file.
    """
    raise NotImplementedError


def parity(
    path: str | Path, model: nn.Module, batches: Iterable[Tensor], *, rtol: float = 1e-4, atol: float = 1e-5
) -> float:
    """Compare an ONNX file with the model that it came from.

    Args:
        path: of the file.
        model: in PyTorch, on the CPU.
        batches: inputs, (batch, …).
        rtol: how far off a result may be, as a share of its size.
        atol: how far off it may be in any case.

    Returns:
        The largest difference.

    Raises:
        ValueError: a difference is larger than allowed, or a shape is another one.
    """
    raise NotImplementedError
