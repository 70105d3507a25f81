"""What a process is set to: put back after each check, or one answer's mistake would fail the next ones."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True)
class Setting:
    """One of them: how it is read and set, and what is said of a value that was left behind."""

    read: Callable[[], Any]
    put: Callable[[Any], object]
    told: Callable[[Any], str]


def _switch_gc(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


def _switch_inference(enabled: bool) -> None:
    # Whoever entered it without leaving keeps a guard, and so do we: torch has no other way.
    gradients = torch.is_grad_enabled()
    guard: Any = torch.inference_mode(enabled)
    guard.__enter__()
    _GUARDS.append(guard)
    torch.set_grad_enabled(gradients)  # which entering has switched, too


_GUARDS: list[Any] = []


def _precision() -> str:
    with suppress(RuntimeError):  # torch refuses to read what was set by its newer names
        return torch.get_float32_matmul_precision()
    return "mixed"


def _put_device(device: torch.device) -> None:
    torch.set_default_device(None if device.type == "cpu" else device)


def _folder() -> str:
    with suppress(FileNotFoundError):
        return os.getcwd()  # noqa: PTH109  # ten times as fast
    return ""


def _put_folder(folder: str) -> None:
    if folder and Path(folder).is_dir():
        os.chdir(folder)


def _stream(name: str) -> Setting:
    return Setting(
        lambda: getattr(sys, name), lambda stream: setattr(sys, name, stream), lambda _: f"another sys.{name}"
    )


def _switched(what: str) -> Callable[[Any], str]:
    return lambda value: f"{what} {'on' if value else 'off'}"


_ALL = (
    Setting(torch.is_inference_mode_enabled, _switch_inference, _switched("inference mode")),
    Setting(torch.is_grad_enabled, torch.set_grad_enabled, _switched("gradients")),
    Setting(gc.isenabled, _switch_gc, _switched("garbage collection")),
    Setting(torch.get_default_dtype, torch.set_default_dtype, lambda value: f"{value} as default"),
    Setting(torch.get_default_device, _put_device, lambda value: f"{value} as default device"),
    Setting(torch.get_num_threads, torch.set_num_threads, lambda value: f"{value} threads"),
    Setting(
        torch.get_deterministic_debug_mode,
        torch.set_deterministic_debug_mode,
        _switched("deterministic algorithms"),
    ),
    Setting(
        _precision, torch.set_float32_matmul_precision, lambda value: f"{value} precision of float32 products"
    ),
    *map(_stream, ("stdin", "stdout", "stderr")),
    Setting(_folder, _put_folder, lambda _: "another current folder"),
)
_READ = tuple(setting.read for setting in _ALL)


def read() -> tuple[object, ...]:
    """All of them as they are."""
    return tuple([read() for read in _READ])


def put_back(before: tuple[object, ...]) -> str:
    """Set them as they were; in words, what was left behind otherwise."""
    now = read()
    if now == before:
        return ""
    left = [
        (setting, was, value) for setting, was, value in zip(_ALL, before, now, strict=True) if was != value
    ]
    for setting, was, _ in left:
        setting.put(was)
    return " and ".join(setting.told(value) for setting, _, value in left)


@contextmanager
def kept(tell: Callable[[str], object] = str) -> Iterator[None]:
    """Put back what the block leaves otherwise, and tell of it."""
    before = read()
    try:
        yield
    finally:
        if left := put_back(before):
            tell(left)
