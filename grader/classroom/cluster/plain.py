"""Keep what arrives from a Dask scheduler from being more than data.

Dask pickles what is not text or numbers, and unpickling runs whatever code the sender likes. Our own
messages are text, but a worker's process decides for itself what it sends. So while a cluster is in
use, pickles that arrive here may name Python's plain types and nothing else.
"""

import builtins
import io
import logging
import pickle
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from grader.classroom.cluster._compat import EVENT_HANDLERS

_PLAIN = ("bool", "bytes", "dict", "float", "int", "list", "str", "tuple")


class Unread(Exception):
    """Stands where a pickle names anything that is not plain; a worker's exceptions are such things."""

    def __setstate__(self, state: Any) -> None:
        return


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == "builtins" and name in _PLAIN:
            return getattr(builtins, name)
        if name == "unpickle_traceback":  # which Dask insists on being a traceback or nothing
            return lambda *_arguments: None
        return Unread


def loads(data: Any, *, buffers: Iterable[Any] = ()) -> Any:
    """Like pickle.loads, for plain data."""
    return _Unpickler(io.BytesIO(data), buffers=buffers).load()


@contextmanager
def plain_data_only() -> Iterator[None]:
    """Dask has no switch for this, so its reference to pickle is exchanged.

    What workers print or warn of is not passed on here either: it would reach the terminal as it is.
    """
    from distributed import client
    from distributed.protocol import pickle as dask_pickle

    ours = SimpleNamespace(**{**vars(pickle), "loads": loads, "Unpickler": _Unpickler})
    exchanged: list[tuple[Any, str, Any]] = [
        (dask_pickle, "pickle", ours),
        (client, "pickle", ours),
        (client.Client, EVENT_HANDLERS, {}),
    ]
    before = [getattr(owner, name) for owner, name, _ in exchanged]
    try:
        for owner, name, value in exchanged:
            setattr(owner, name, value)
        yield
    finally:
        for (owner, name, _), value in zip(exchanged, before, strict=True):
            setattr(owner, name, value)


@contextmanager
def quiet() -> Iterator[None]:
    """Without Dask's own log and warnings: what matters of them is told in a line of ours."""
    import distributed  # sets its loggers up

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == distributed.__name__]
    levels = {name: logging.getLogger(name).level for name in names}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"distributed\.")
        try:
            for name in names:
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
