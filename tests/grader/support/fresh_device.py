"""Run a test in a process of its own, in which the simulated device is installed."""

import multiprocessing
import traceback
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.checks import devices
from grader.checks.devices import count_traffic, is_simulated, on_host

# Not forked from pytest: there, another test may have run a backward already.
_fresh = multiprocessing.get_context("forkserver")
_fresh.set_forkserver_preload(["torch._dynamo", "torch.distributed.tensor", __name__])


def on_device(body: Callable[[torch.device], None]) -> Callable[[], None]:
    """Make a test of a function that takes the freshly installed device."""

    def test() -> None:
        receive, send = _fresh.Pipe(duplex=False)
        process = _fresh.Process(target=_child, args=(body.__module__, body.__name__, send))
        process.start()
        send.close()
        try:
            trouble = receive.recv() if receive.poll(120) else "no answer within two minutes"
        except EOFError:
            trouble = "the process died"
        if trouble:
            process.kill()
        process.join()
        assert not trouble, f"in a process of its own:\n{trouble}"

    test.__name__, test.__doc__, test.__module__ = body.__name__, body.__doc__, body.__module__
    test.body = body  # type: ignore[attr-defined]
    return test


def _child(module: str, name: str, send: Connection) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        test = getattr(import_module(module), name)
        assert torch._C._get_privateuse1_backend_name() == "privateuseone", "installed by an import"
        test.body(devices.install())
    except BaseException:
        send.send(traceback.format_exc())
    else:
        send.send("")


def mixed() -> Any:
    words = "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!"
    return pytest.raises(RuntimeError, match=words)


def counted(fn: Callable[[], object]) -> tuple[int, int, int]:
    with count_traffic() as traffic:
        fn()
    return traffic.to_device, traffic.to_host, traffic.syncs


def same(on_device: Tensor, wanted: Tensor) -> bool:
    return is_simulated(on_device) and torch.equal(on_host(on_device), wanted.detach())
