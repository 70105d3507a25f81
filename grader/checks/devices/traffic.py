"""What crosses between the host and the simulated device, and when the host waits for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grader.checks.values import expect_that


@dataclass
class Traffic:
    """Counted as on CUDA.

    Attributes:
        to_device: copies from the host: one for `x.to(device)`, one for `torch.tensor(data, device=device)`.
        to_host: copies to the host (`.cpu()`, `.item()`, `.tolist()`, `bool(x)`, printing).
        numbers: how many numbers the copies to the host brought.
        syncs: times that the host had to wait for the device: every blocking copy to the host, every
            result whose shape depends on values (`nonzero`, `x[mask]`, `unique`), every `synchronize()`.
    """

    to_device: int = 0
    to_host: int = 0
    numbers: int = 0
    syncs: int = 0


_open: list[Traffic] = []


@contextmanager
def count_traffic() -> Iterator[Traffic]:
    """Count what the block sends to and fetches from the simulated device. Blocks may nest.

    Example:
        def test_the_host_does_not_wait(answer, device):
            x = torch.ones(3, device=device)
            with count_traffic() as traffic:
                answer.center(x)
            expect_equal(traffic.syncs, 0, "how often the host waits in center(x)")
    """
    traffic = Traffic()
    _open.append(traffic)
    try:
        yield traffic
    finally:
        # by identity: two counters with the same numbers are equal
        _open[:] = [counter for counter in _open if counter is not traffic]


def expect_no_traffic(traffic: Traffic, call: str, *, waits: bool = False) -> None:
    """Fail if anything was copied between host and device; with `waits`, also if the host waited.

    Example:
        def test_nothing_is_copied(answer, device):
            x = torch.ones(3, device=device)
            with count_traffic() as traffic:
                answer.center(x)
            expect_no_traffic(traffic, "center(x)", waits=True)
    """
    counts = {"to the device": traffic.to_device, "to the host": traffic.to_host}
    if waits:
        counts["waits"] = traffic.syncs
    told = ", ".join(f"{what}: {count}" for what, count in counts.items() if count)
    if not told:
        return
    what = "copies and waits" if waits else "copies"
    if not traffic.to_host:
        likely = "a tensor or number made on the CPU: device=x.device"
    elif not traffic.to_device:
        likely = "`.item()`, `.cpu()`, `.tolist()`, or an `if` on a tensor"
    else:
        likely = "a step on the CPU, and back: `.cpu()`, `.item()`, `.numpy()`"
    expect_that(False, f"{what} between host and device in {call}", yours=told, wanted="none", likely=likely)


def is_counting() -> bool:
    """Whether anybody wants to know: looking for what a call copies takes time."""
    return bool(_open)


def record(*, to_device: int = 0, to_host: int = 0, numbers: int = 0, syncs: int = 0) -> None:
    """Add to every counter that is open."""
    for traffic in _open:
        traffic.to_device += to_device
        traffic.to_host += to_host
        traffic.numbers += numbers
        traffic.syncs += syncs
