"""What grades latency_report: percentiles, throughput, warm-up, waiting; order, a late clock, generators."""

import pytest
import torch

from grader.checks import expect_equal, expect_number

CALL = "latency_report(predict, batches)"
FIELDS = ("p50", "p95", "p99", "rows_per_second")


class Server:
    """A clock that only moves while `predict` works, and while a batch is brought.

    Of each call the number of rows, the milliseconds that it takes, and those that its batch takes to come.
    """

    def __init__(self, calls, start=2.0):
        self.calls, self.now, self.seen = calls, start, []

    def batches(self):
        for number, (rows, _, bringing) in enumerate(self.calls):
            self.now += bringing / 1000
            yield torch.full((rows, 2), number)

    def predict(self, batch):
        number = int(batch[0, 0])
        self.seen.append(number)
        self.now += self.calls[number][1] / 1000
        return batch

    def clock(self):
        return self.now


class Brought(list):
    """Batches that have a length, and yet take time to come."""

    def __init__(self, server):
        super().__init__(server.calls)
        self.server = server

    def __iter__(self):
        return self.server.batches()

    def __getitem__(self, at):
        raise TypeError("batches are an iterable: they come one after the other")


def drawn(gen, sizes, bringing=0.0):
    """Calls of sizes that come mixed, `sizes[rows]` of each; the first of each size takes long."""
    order = [rows for rows, calls in sizes.items() for _ in range(calls)]
    order = [order[i] for i in torch.randperm(len(order), generator=gen).tolist()]
    takes = (5 + 40 * torch.rand(len(order), generator=gen).double() ** 3).tolist()
    first = {rows: order.index(rows) for rows in sizes}
    waits = (bringing * (1 + torch.rand(len(order), generator=gen).double())).tolist()
    return [
        (rows, 100 * take if first[rows] == i else take, wait)
        for i, (rows, take, wait) in enumerate(zip(order, takes, waits, strict=True))
    ]


def percentile(times, percent, between=True):
    times, at = sorted(times), (len(times) - 1) * percent / 100
    if not between:
        return times[min(int(len(times) * percent / 100), len(times) - 1)]
    low, high = times[int(at)], times[min(int(at) + 1, len(times) - 1)]
    return low + (at - int(at)) * (high - low)


def wanted(calls, warmup, unit=1.0, between=True, each=True, coming=False, rate="rows"):
    """Calls, percentiles and throughput of each size; the options are as people do it otherwise."""
    counted = {}
    for number, (rows, take, bringing) in enumerate(calls):
        earlier = sum(call[0] == rows for call in calls[:number]) if each else number
        if earlier >= warmup:
            counted.setdefault(rows, []).append(take + (bringing if coming else 0.0))
    report = {}
    for rows, times in counted.items():
        rates = {
            "rows": 1000 * rows * len(times) / sum(times),
            "calls": 1000 * len(times) / sum(times),
            "means": sum(1000 * rows / t for t in times) / len(times),
            "all": 1000 * rows * len(times) / sum(take + bringing for _, take, bringing in calls),
        }
        p50, p95, p99 = (unit * percentile(times, p, between) for p in (50, 95, 99))
        report[rows] = {
            "calls": len(times),
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "rows_per_second": rates[rate],
        }
    return report


MISTAKES = {
    "it is in seconds": {"unit": 1e-3},
    "the percentile is one of the calls, not interpolated": {"between": False},
    "calls are counted, not rows": {"rate": "calls"},
    "it is the mean of the calls' own rates": {"rate": "means"},
    "the time is that of all sizes": {"rate": "all"},
    "the wait for a batch is counted": {"coming": True},
    "the warm-up is of the first batches, not of each size": {"each": False},
    "the warm-up is counted": {"warmup": 0},
}


def expect_report(answer, calls, warmup, fields, about, start=2.0, listed=True, rtol=1e-4):
    server = Server(calls, start)
    batches = Brought(server) if listed else server.batches()
    report = answer.latency_report(server.predict, batches, warmup=warmup, clock=server.clock)
    for rows, right in wanted(calls, warmup).items():
        expect_equal(rows in report, True, f"whether size {rows} is in {CALL} {about}")
        if "calls" in fields:
            expect_equal(report[rows].calls, right["calls"], f"calls of size {rows} from {CALL} {about}")
        for name in fields:
            if name == "calls":
                continue
            suspects = {
                told: lambda options=options, rows=rows, name=name: wanted(
                    calls, **{"warmup": warmup, **options}
                )[rows][name]
                for told, options in MISTAKES.items()
            }
            call = f"{name} of size {rows} from {CALL} {about}"
            expect_number(getattr(report[rows], name), right[name], call, rtol=rtol, suspects=suspects)
    return report


@pytest.mark.parametrize("sizes", [{3: 12}, {1: 7, 4: 10}, {8: 4, 2: 31}], ids=str)
def test_percentiles(answer, gen, sizes):
    """Percentiles are those of the calls of one size, interpolated, in milliseconds."""
    expect_report(answer, drawn(gen, sizes), 0, ("calls", "p50", "p95", "p99"), "without warm-up")


@pytest.mark.parametrize("sizes", [{3: 12}, {1: 7, 4: 10}], ids=str)
def test_throughput(answer, gen, sizes):
    """The throughput is in rows, by the time that the calls of this size took together."""
    expect_report(answer, drawn(gen, sizes), 0, ("rows_per_second",), "without warm-up")


@pytest.mark.parametrize("warmup", [1, 3])
def test_warm_up(answer, gen, warmup):
    """The first batches of each size run, and do not count; all batches are predicted once."""
    calls = drawn(gen, {2: 6, 5: 9, 3: 5})
    expect_report(answer, calls, warmup, ("calls", *FIELDS), f"with warmup={warmup}")
    server = Server(calls)
    answer.latency_report(server.predict, server.batches(), warmup=warmup, clock=server.clock)
    expect_equal(
        sorted(server.seen), list(range(len(calls))), "the numbers of the batches that were predicted"
    )


def test_bringing(answer, gen):
    """What it takes to bring a batch is no part of a call."""
    expect_report(answer, drawn(gen, {2: 6, 5: 9}, bringing=20.0), 0, FIELDS, "of batches that come slowly")


@pytest.mark.fine
def test_order(answer, gen):
    """The smallest size comes first; a size of which no batch counts is not there."""
    calls = [(rows, take, 0.0) for rows, take in ((7, 9.0), (2, 4.0), (7, 8.0), (5, 3.0), (2, 6.0), (7, 5.0))]
    report = expect_report(answer, calls, 1, FIELDS, "with warmup=1")
    expect_equal(list(report), [2, 7], f"the sizes from {CALL}, where one of size 5 came, with warmup=1")


@pytest.mark.fine
def test_late_clock(answer, gen):
    """A clock that stands at a large number is as good."""
    calls = drawn(gen, {2: 6, 3: 4})
    expect_report(answer, calls, 1, FIELDS, "where the clock stands at 1.7e9", start=1.7e9, rtol=1e-3)


@pytest.mark.fine
def test_generator(answer, gen):
    """Batches may come from a generator."""
    expect_report(answer, drawn(gen, {2: 6, 3: 4}), 1, FIELDS, "of a generator", listed=False)


def oracle(answer, gen):
    def case(warmup, bringing, sizes):
        server = Server(drawn(gen, sizes, bringing))

        def measured():
            report = answer.latency_report(server.predict, Brought(server), warmup=warmup, clock=server.clock)
            return {rows: torch.tensor(list(report[rows]), dtype=torch.float32) for rows in sorted(report)}

        return measured

    return {
        "without warm-up": case(0, 0.0, {3: 12}),
        "with warm-up": case(2, 0.0, {2: 6, 5: 9}),
        "batches that come slowly": case(0, 20.0, {1: 5, 4: 8}),
    }
