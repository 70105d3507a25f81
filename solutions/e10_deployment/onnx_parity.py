from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import onnxruntime
import torch
from torch import Tensor, nn


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def export_onnx(model: nn.Module, example: Tensor, path: str | Path) -> None:
    rows = torch.cat([example, example])  # a batch of 1 may be taken for a constant
    with _evaluating(model):
        torch.onnx.export(
            model,
            (rows,),
            path,
            input_names=["input"],
            output_names=["output"],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def parity(
    path: str | Path, model: nn.Module, batches: Iterable[Tensor], *, rtol: float = 1e-4, atol: float = 1e-5
) -> float:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    largest = 0.0
    with _evaluating(model), torch.no_grad():
        for place, x in enumerate(batches):
            wanted = model(x).double()  # (batch, …)
            (found,) = session.run(None, {"input": x.numpy()})
            yours = torch.from_numpy(found).double()
            if yours.shape != wanted.shape:
                raise ValueError(f"batch {place}: {tuple(yours.shape)} for {tuple(wanted.shape)}")
            same = (yours == wanted) | (yours.isnan() & wanted.isnan())
            off = (yours - wanted).abs().masked_fill(same, 0.0)
            # written so that NaN is not within; infinity allows nothing, not even itself
            within = same | ((off <= atol + rtol * wanted.abs()) & wanted.isfinite())
            if not within.all():
                raise ValueError(f"batch {place} is off by up to {off.max():.3g}")
            largest = max(largest, float(off.max()))
    return largest
