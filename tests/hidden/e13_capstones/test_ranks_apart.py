"""What grades ranks_apart: rows and noise of ranks, an update, the evaluation, the report, the file; cost."""

import tempfile
import time
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process
PATIENCE = 45.0
"""Seconds for ranks that come together in a hundredth of that."""


class Scores(nn.Module):
    """Scores are the rows themselves; counts the rows."""

    seen = 0

    def forward(self, x):
        self.seen += len(x)
        return x


def filled(model, number):
    """The model, each of its tensors full of this number, with gradients of twice of it."""
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.fill_(number)
    for p in model.parameters():
        p.grad = torch.full_like(p, 2 * number)
    return model


def copied(tensors):
    return {name: tensor.detach().clone() for name, tensor in tensors}


def linear():
    """Scores of four classes, all zero."""
    return filled(nn.Linear(3, 4, bias=False).double(), 0.0)


def batch_of(rank):
    """Rows whose gradients are far longer than 1, and longer on rank 0."""
    x = torch.eye(3, dtype=torch.float64)[[0, 1, 2, rank]] * (90.0 if rank == 0 else 9.0)
    return x, torch.tensor([rank, 3, rank, 2])


def start(rank, answer, folder):
    model = filled(answer.model.Net(), rank + 1.0)
    answer.ranks.share(model)
    return copied(model.state_dict().items())


def gradient(rank, answer, folder):
    model = filled(answer.model.Net(), rank + 1.0)
    answer.ranks.average_gradients(model)
    return {name: p.grad for name, p in model.named_parameters()}


def statistics(rank, answer, folder):
    model = filled(answer.model.Net(), rank + 1.0)
    answer.train.evaluate(model, torch.ones(6, 6), torch.zeros(6, dtype=torch.long))
    return copied(model.named_buffers())


def accuracy(rank, answer, folder):
    """Five rows, of which those with even numbers are right; and the rows that the model got."""
    model, scores = Scores(), torch.eye(4)[[0, 1, 2, 3, 0]]
    found = answer.train.evaluate(model, scores, torch.tensor([0, 2, 2, 1, 0]))
    return float(found), model.seen


def counts(rank, answer, folder):
    mine = {"red": 1, "blue": 20} if rank == 0 else {"blue": 300, "red": 4000}
    return {name: int(n) for name, n in answer.ranks.total(mine).items()}


def update(rank, answer, folder):
    model = linear()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    answer.train.step(model, optimizer, [batch_of(rank)])
    return model.weight.detach()


def saving(rank, answer, folder):
    """How often this rank writes, whether the file is there when save returns, and how often ranks met."""
    path, written, save = Path(folder, "model.pt"), [], torch.save

    def slowly(state, file, *args, **options):
        if not hasattr(file, "write"):
            written.append(str(file))
            if rank == 0:
                time.sleep(0.2)  # who does not wait, goes on now
        return save(state, file, *args, **options)

    torch.save = slowly
    try:
        with count_collectives() as seen:
            answer.ranks.save(filled(answer.model.Net(), rank + 1.0), path)
        there = path.exists()
    finally:
        torch.save = save
    dist.barrier()
    return len(written), there, sum(seen.count.values())


def loading(rank, answer, folder):
    path = Path(folder, "given.pt")
    if rank == 0:
        torch.save(filled(answer.model.Net(), 7.0).state_dict(), path)
    dist.barrier()
    model = filled(answer.model.Net(), rank + 1.0)
    answer.ranks.load(model, path)
    return copied(model.state_dict().items())


def report(rank, answer, folder):
    told = []
    return float(answer.train.report(3, 1.0 + 2 * rank, 0.5, told.append)), len(told)


PARTS = {f.__name__: f for f in (start, gradient, statistics, accuracy, counts, update, saving, loading)}
"""What is asked of ranks that are started once."""


def ask(rank, world_size, answer, names, folder):
    found = {}
    for name in names:
        found[name] = {**PARTS, "report": report}[name](rank, answer, folder)
        dist.barrier()
    return found


def asked(answer, names):
    with tempfile.TemporaryDirectory() as folder:
        # `saving` sleeps on one rank while the other waits; that is no hang, on a busy machine neither
        return run_ranks(2, ask, list(names), folder, answer=answer, timeout=PATIENCE, grace=3.0)


@cache
def all_parts(answer):
    """What all parts give, of ranks started once; None where they do not come to an end together."""
    try:
        return asked(answer, PARTS)
    except CheckFailure:
        return None


@pytest.fixture
def on_ranks(answer):
    """What a part gives, rank by rank. Where all of them together fail, each is asked alone."""

    def part(name):
        return [found[name] for found in all_parts(answer) or asked(answer, [name])]

    return part


def test_epochs_differ(answer):
    """The rows come in the same order in each epoch."""
    sampler = answer.data.Sampler(40, 1, 2, 3)
    epochs = [torch.cat(list(answer.data.batches(sampler, epoch, 6))).tolist() for epoch in (0, 1, 4)]
    same = epochs[0] == epochs[1] or epochs[1] == epochs[2]
    expect_that(not same, "the rows come in the same order in two epochs", of_epoch_1=epochs[1])


@pytest.mark.parametrize(("size", "world"), [(301, 2), (13, 3), (20, 4)])
def test_equally_many_batches(answer, size, world):
    """One rank has a batch more than another, and waits there for ever."""
    samplers = [answer.data.Sampler(size, rank, world) for rank in range(world)]
    sizes = [[len(rows) for rows in answer.data.batches(sampler, 2, 4)] for sampler in samplers]
    what = f"ranks have batches of other sizes, or other numbers of batches: {size} rows on {world} ranks"
    yours = ", ".join(f"{len(one)} batches of {sum(one)} rows" for one in sizes)
    expect_that(all(one == sizes[0] for one in sizes), what, yours=yours)


def test_noise_of_ranks(answer):
    """Two ranks put the same noise on their rows."""
    x = torch.zeros(5, 6)
    first, second = (answer.data.noisy(x, answer.data.noise_stream(4, rank)) for rank in (0, 1))
    expect_that(not torch.equal(first, second), "ranks 0 and 1 draw the same noise", yours=first[0])


def test_start(on_ranks):
    """Ranks start with other weights."""
    for rank, weights in enumerate(on_ranks("start")):
        for name, found in weights.items():
            what = f"{name} at the start, on rank {rank}; rank 0 had ones"
            expect_equal(found, torch.ones_like(found), what)


def test_mean_gradient(on_ranks):
    """With more ranks the gradient becomes longer."""
    for rank, gradients in enumerate(on_ranks("gradient")):
        for name, found in gradients.items():
            what = f"the gradient of {name} on rank {rank}, where ranks had 2 and 4,"
            expect_close(found, torch.full_like(found, 3.0), what)


def test_statistics(on_ranks):
    """Ranks evaluate with other running statistics."""
    for rank, buffers in enumerate(on_ranks("statistics")):
        for name, found in buffers.items():
            what = f"the running statistics {name} in an evaluation on rank {rank}, where ranks had 1 and 2,"
            expect_close(found, torch.full_like(found, 1.5), what)


def test_accuracy(on_ranks):
    """The accuracy is not that of all rows, where ranks have shares of other sizes."""
    for rank, (found, _) in enumerate(on_ranks("accuracy")):
        what = f"the accuracy on rank {rank}, three of five rows being right,"
        expect_close(torch.tensor(found), torch.tensor(0.6), what)


def test_counts(on_ranks):
    """The counts of two names are mixed up in their sum over ranks."""
    for rank, found in enumerate(on_ranks("counts")):
        wanted = {"red": 4001, "blue": 320}
        what = f"the counts added over ranks, on rank {rank}, are those of other names"
        expect_that(found == wanted, what, yours=found, wanted=wanted)


def by_hand(rank):
    """The gradient of this rank's batch in `linear()`."""
    model = linear()
    model.zero_grad()
    x, y = batch_of(rank)
    F.cross_entropy(model(x), y).backward()
    return model.weight.grad


def test_direction(on_ranks):
    """An update goes in another direction than that of the gradient over all rows, when it is clipped."""
    wanted = -(by_hand(0) + by_hand(1))
    wanted /= wanted.norm()
    for rank, weight in enumerate(on_ranks("update")):
        what = f"the direction of an update on rank {rank}, where ranks have gradients of other lengths,"
        expect_close(weight / weight.norm(), wanted, what, ulps=1000)


def test_who_writes(on_ranks):
    """Another rank than 0 writes the file as well."""
    times = [written for written, *_ in on_ranks("saving")]
    expect_that(times[1] == 0, "rank 1 writes the file, too", times=times)


def test_file_is_there(on_ranks):
    """On some rank there is no file yet when save returns."""
    (_, _, _), (_, there, met) = on_ranks("saving")
    what = "save returns on rank 1 before rank 0 has written the file"
    expect_that(there and met > 0, what, there=there, calls_that_wait=met)


def test_report(answer):
    """The report makes rank 0 wait for ever, or is another one on each rank."""
    try:
        found = [one["report"] for one in asked(answer, ["report"])]
    except CheckFailure as failure:
        expect_that(False, "the report does not come to an end on both ranks", yours=str(failure)[:300])
    expect_equal([mean for mean, _ in found], [2.0, 2.0], "the loss in the report, of 1 and 3 on two ranks,")
    expect_equal([lines for _, lines in found], [1, 0], "the lines of the report that each rank tells")


@pytest.mark.parametrize("world", [2, 8])
def test_learning_rate(answer, world):
    """With more ranks the learning rate stays as it was."""
    optimizer = answer.train.optimizer_for(nn.Linear(2, 2), world)
    yours, wanted = optimizer.param_groups[0]["lr"], torch.tensor(0.1 * world)
    expect_close(torch.tensor(yours), wanted, f"the learning rate for {world} ranks")


def parted(answer, x, y, parts):
    model = linear()
    model.zero_grad()
    answer.train.backward(model, list(zip(x.chunk(parts), y.chunk(parts), strict=True)))
    return model.weight.grad


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_parts(answer, gen, parts):
    """The more parts a batch is taken in, the shorter is its gradient."""
    x, y = torch.randn(8, 3, generator=gen, dtype=torch.float64), torch.arange(8) % 4
    model = linear()
    model.zero_grad()
    F.cross_entropy(model(x), y).backward()
    what = f"the gradient of a batch in parts of {8 // parts} rows"
    expect_close(parted(answer, x, y, parts), model.weight.grad, what)


def test_all_rows_come(answer):
    """In an epoch the ranks together have all rows, in the order that the README tells."""
    for rank in (0, 1, 2):
        (rows,) = answer.data.batches(answer.data.Sampler(14, rank, 3, 5), 0, 99)
        order = torch.randperm(14, generator=torch.Generator().manual_seed(5000))[rank::3]
        expect_equal(rows[: len(order)], order, f"the rows of rank {rank} of 3, without what comes again,")


def test_names(answer):
    """The parameters and buffers keep their names and shapes."""
    shapes = {name: tuple(tensor.shape) for name, tensor in answer.model.Net(5).state_dict().items()}
    wanted = {"scale.mean": (6,), "scale.var": (6,), "body.0.weight": (5, 6), "body.0.bias": (5,)}
    wanted |= {"head.weight": (4, 5), "head.bias": (4,)}
    expect_equal(shapes, wanted, "the shapes in Net(5).state_dict()")


def test_load(on_ranks):
    """All ranks load what is in the file."""
    for rank, weights in enumerate(on_ranks("loading")):
        for name, found in weights.items():
            expect_equal(found, torch.full_like(found, 7.0), f"{name} after load, on rank {rank}")


@pytest.mark.fine
def test_share_of_rows(on_ranks):
    """In an evaluation a rank runs its share of the rows, not all."""
    rows = [seen for _, seen in on_ranks("accuracy")]
    expect_that(max(rows) <= 3, "a rank runs more than its share of five rows through the model", rows=rows)


@pytest.mark.fine
def test_global_stream(answer):
    """The noise leaves the global random stream where it was."""
    before = torch.get_rng_state()
    answer.data.noisy(torch.zeros(3, 6), answer.data.noise_stream(1, 1))
    same = torch.equal(torch.get_rng_state(), before)
    torch.set_rng_state(before)
    expect_that(same, "the noise is drawn from the global stream, or seeds it")


def one_update(rank, world_size, answer, seed):
    """The weights at the start and after an update, and the accuracy then."""
    own, common = (torch.Generator().manual_seed(number) for number in (seed + 1 + rank, seed))
    model = answer.model.Net()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=own))
    answer.ranks.share(model)
    before = copied(model.state_dict().items())
    x, y = torch.randn(8, 6, generator=own), torch.randint(4, (8,), generator=own)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    answer.train.step(model, optimizer, list(zip(x.chunk(2), y.chunk(2), strict=True)))
    after = copied(model.named_parameters())
    x, y = torch.randn(31, 6, generator=common), torch.randint(4, (31,), generator=common)
    return before, after, float(answer.train.evaluate(model, x, y))


def oracle(answer, gen):
    def rows(gen):
        size, epoch = (int(n) for n in torch.randint(20, 90, (2,), generator=gen))
        return [torch.cat(list(answer.data.batches(answer.data.Sampler(size, 1, 2, 3), epoch, 7)))]

    def gradients(gen):
        x, y = torch.randn(12, 3, generator=gen).double(), torch.randint(4, (12,), generator=gen)
        return [parted(answer, x, y, parts) for parts in (1, 3)]

    seed = int(torch.randint(10**6, (), generator=gen))

    @cache
    def found():
        return run_ranks(2, one_update, seed, answer=answer, timeout=PATIENCE)

    return {
        "the rows of a rank": rows,
        "the gradients of a batch in parts": gradients,
        "the weights at the start": lambda: [start for start, *_ in found()],
        "the weights after an update": lambda: [after for _, after, _ in found()],
        "the accuracy after an update": lambda: [accuracy for *_, accuracy in found()],
    }
