"""A model without PyTorch: `to_onnx(model, x, path)` and `ask_onnx(path, other)`.

ONNX is a file format for models; ONNX Runtime runs such files in browsers, on phones and from other languages.
`to_onnx` writes the model to a file, with x as an example of its inputs. `ask_onnx` returns what the file makes of
another batch of the same shape.

    # the model: a dropout, then weight 2 and bias 1.5
    to_onnx(model, torch.tensor([[7.0]]), "model.onnx")
    ask_onnx("model.onnx", numpy.array([[3.0]], numpy.float32))
    # array([[7.5]])

- Dropout must be off in the file.

New here: three calls, the last of which takes and gives NumPy arrays.

    torch.onnx.export(model, (x,), path, input_names=["x"])
    session = onnxruntime.InferenceSession(path)
    results = session.run(None, {"x": other})
    # a list of arrays, here of one
"""

import numpy
import onnxruntime
import torch
from jaxtyping import Float
from torch import Tensor, nn


def to_onnx(model: nn.Module, x: Float[Tensor, "rows features"], path: str) -> None:
    raise NotImplementedError


def ask_onnx(path: str, other: Float[numpy.ndarray, "rows features"]) -> Float[numpy.ndarray, "rows outputs"]:
    raise NotImplementedError
