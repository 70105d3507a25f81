from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def capture(model: nn.Module, names: Iterable[str]) -> Iterator[dict[str, list[Any]]]:
    seen: dict[str, list[Any]] = {name: [] for name in names}
    handles = []
    try:
        for name, kept in seen.items():
            layer = model.get_submodule(name)
            handles.append(layer.register_forward_hook(_hook(kept)))
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _hook(kept: list[Any]) -> Any:
    return lambda layer, args, output: kept.append(_copied(output))


def _copied(output: Any) -> Any:
    if isinstance(output, Tensor):
        return output.detach().clone()
    if isinstance(output, dict):
        return {key: _copied(value) for key, value in output.items()}
    if isinstance(output, (tuple, list)):
        return type(output)(map(_copied, output))
    return output
