"""What grades epoch_reshuffle: complete epochs, other orders, restarts, seeds, what is read."""

import builtins
import random
from itertools import chain, pairwise

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, TensorDataset

from grader.checks import expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

FAR = 4800
"""An epoch that comes out as epoch 0 where only so many orders are told apart: 10, 16, 64, 100, ..."""


SEEDS = (0, 1, 12800)  # the last is the first where only some low digits of a seed count


class Numbers(Dataset):
    """Examples that are ten times their index, with a label, and a list of those read."""

    def __init__(self, length):
        self.length = length
        self.read = []

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if not 0 <= index < self.length:
            raise IndexError(index)
        self.read.append(int(index) * 10)
        return torch.tensor(int(index) * 10), int(index) % 3


class Training:
    """Writes down each batch that it trains on, the epoch and the numbers, and what it has drawn."""

    def __init__(self):
        self.log = []
        self.draws = {}

    def train_batch(self, epoch, batch, /):
        numbers, labels = batch
        right = [n // 10 % 3 for n in numbers.tolist()]
        told = f"{numbers.tolist()}, {labels.tolist()} for [numbers, labels] that a DataLoader collates"
        assert labels.tolist() == right, f"train_batch gets {told}: for these numbers, labels are {right}"
        self.log.append((epoch, numbers.tolist()))
        self.draws.update(draw(f"for train_batch in epoch {epoch}"))


def draw(where):
    """The next number of each global stream."""
    numbers = {"torch": torch.rand(()).item(), "random": random.random(), "NumPy": np.random.rand()}
    return {f"{name} {where}": number for name, number in numbers.items()}


def run(rank, world_size, answer, length, jobs, stream=0):
    """The log of each job on this rank: epoch and numbers of each batch; what it has read; draws."""
    logs = []
    hash_texts_otherwise(rank)
    for number, options in enumerate(jobs):
        for seed_stream in (torch.manual_seed, random.seed, np.random.seed):
            seed_stream(stream + 17 * number + rank)  # global streams are of no account
        dataset, training = Numbers(length), Training()
        result = answer.run_epochs(dataset, training.train_batch, **options)
        logs.append((training.log, dataset.read, result, training.draws | draw("afterwards")))
    return logs


def hash_texts_otherwise(rank):
    """Python hashes texts otherwise in each process, except in forks, as the ranks of this test are."""
    plain = builtins.hash
    builtins.hash = lambda x: plain(x) + rank * 104729 if isinstance(x, (str, bytes)) else plain(x)


def orders(log):
    """The numbers of each epoch of a log, in order."""
    found = {}
    for epoch, numbers in log:
        found.setdefault(epoch, []).extend(numbers)
    return found


def run_twice(rank, world_size, answer, length, jobs):
    """The same with other global streams."""
    return [run(rank, world_size, answer, length, jobs, stream) for stream in (0, 1000)]


def told_sizes(batches):
    sizes = orders((epoch, [size]) for epoch, size in batches)
    return "; ".join(f"epoch {epoch}: {', '.join(map(str, each))}" for epoch, each in sizes.items()) or "none"


@pytest.mark.parametrize(("world_size", "length"), [(1, 7), (2, 15), (4, 5), (5, 2)])
def test_complete_epochs(answer, world_size, length):
    """Each epoch gives every example to a rank, equally many to each, in batches of batch_size."""
    jobs = [{"batch_size": 2, "epochs": 3}, {"batch_size": 5, "epochs": 4, "first_epoch": 2, "seed": 3}]
    jobs.append({"batch_size": 2, "epochs": 2, "first_epoch": 2})
    found = run_ranks(world_size, run, length, jobs, answer=answer)
    share = -(-length // world_size)
    for number, job in enumerate(jobs):
        logs = [logs[number][0] for logs in found]
        wanted = range(job.get("first_epoch", 0), job["epochs"])
        sizes = [job["batch_size"]] * (share // job["batch_size"])
        sizes += [share % job["batch_size"]] if share % job["batch_size"] else []
        about = f"{length} examples, {world_size} ranks, {job}"
        for rank, log in enumerate(logs):
            batches = [(epoch, len(numbers)) for epoch, numbers in log]
            right = [(epoch, size) for epoch in wanted for size in sizes]
            told = f"wrong epochs, or sizes of the batches, on rank {rank}; {about}"
            expect_that(batches == right, told, yours=told_sizes(batches), wanted=told_sizes(right))
        for epoch in wanted:
            everything = list(chain.from_iterable(orders(log)[epoch] for log in logs))
            numbers = sorted(set(everything))
            right = list(range(0, 10 * length, 10))
            expect_equal(numbers, right, f"the different examples of epoch {epoch} on all ranks; {about}")
            often = sorted(n for n in numbers if everything.count(n) > 2)
            told = f"examples come more than twice in epoch {epoch}; {about}"
            expect_that(not often or world_size > length, told, yours=str(often), wanted="none")


def followers(orders_of_ranks):
    """The pairs of examples that come one after the other, on whichever rank."""
    return {pair for order in orders_of_ranks for pair in pairwise(order)}


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_other_orders(answer, world_size):
    """No epoch is in the order of another one or of the data set; each gives a rank other examples."""
    jobs = [{"batch_size": 4, "epochs": 6}, {"batch_size": 24, "epochs": FAR + 1, "first_epoch": FAR}]
    logs = run_ranks(world_size, run, 24, jobs, answer=answer)
    found = [list(orders(near[0]).values()) for near, _ in logs]
    for rank, each in enumerate(found):
        where = f"on rank {rank} of {world_size}"
        for epoch, order in enumerate(each):
            fact = {"yours": str(order)}
            expect_that(order != sorted(order), f"epoch {epoch} is not shuffled {where}", **fact)
            told = f"epoch {epoch} repeats the order of an epoch before {where}"
            expect_that(order not in each[:epoch], told, **fact)
            shares = [sorted(other) for other in each[:epoch]]
            told = f"epoch {epoch} gives the same examples as an epoch before, shuffled, {where}"
            expect_that(world_size == 1 or sorted(order) not in shares, told, **fact)
    first, *later = [followers(shares) for shares in zip(*found, strict=True)]
    for epoch, pairs in enumerate(later, start=1):
        told = f"epoch {epoch} is the order of epoch 0, turned or shared out anew: it is not shuffled again"
        kept = f"{len(pairs & first)} of {len(first)} examples come after the same one as in epoch 0"
        expect_that(2 * len(pairs & first) < len(first), told, yours=kept, wanted="about one")
    for rank, (each, (_, far)) in enumerate(zip(found, logs, strict=True)):
        order = orders(far[0])[FAR]
        where = f"on rank {rank} of {world_size}, in a run with first_epoch={FAR}"
        told = f"epoch {FAR} repeats the order of one of the epochs 0 to 5 {where}"
        expect_that(order not in each, told, yours=str(order))


def test_restart(answer):
    """An epoch is the same for a run from the start, one from a checkpoint, and one that is called again."""
    common = {"batch_size": 3, "seed": 5}
    starts = [0, 1, 3, 4]
    jobs = [{**common, "epochs": 5, "first_epoch": start} for start in starts]
    jobs.append({**common, "epochs": 6, "first_epoch": 2, "batch_size": 4})  # of no account to the order
    for rank, logs in enumerate(run_ranks(2, run, 18, jobs, answer=answer)):
        whole = orders(logs[0][0])
        for (log, *_), job in zip(logs[1:], jobs[1:], strict=True):
            for epoch, order in orders(log).items():
                if epoch in whole:
                    options = f"first_epoch={job['first_epoch']}, batch_size={job['batch_size']}"
                    call = f"the examples of epoch {epoch} on rank {rank}, with {options}"
                    expect_equal(order, whole[epoch], call)


def test_seeds(answer):
    """Orders follow from the seed, not from the global random streams, and these are not seeded."""
    jobs = [{"batch_size": 6, "epochs": 2, "seed": seed} for seed in SEEDS]
    jobs.append({"batch_size": 6, "epochs": 2})
    for rank, (once, again) in enumerate(run_ranks(2, run_twice, 24, jobs, answer=answer)):
        for job, (log, *_, draws), (same, *_, others) in zip(jobs, once, again, strict=True):
            expect_equal(
                same, log, f"the batches of another run with seed={job.get('seed', 0)} on rank {rank}"
            )
            for name, drawn in draws.items():
                told = f"run_epochs(…) seeds the global random stream of {name}, on rank {rank}"
                expect_that(drawn != others[name], told)
            told = f"the global random streams give train_batch the numbers of another epoch, on rank {rank}"
            expect_that(len(set(draws.values())) == len(draws), told, yours=str(draws))
        (first, *_), *_, (default, *_) = once
        expect_equal(default, first, f"the batches without a seed, which is 0 then, on rank {rank}")
        for epoch in (0, 1):
            different = {tuple(orders(log)[epoch]) for log, *_ in once}
            told = f"epoch {epoch} is the same for different seeds on rank {rank}"
            expect_that(len(different) == 3, told, wanted=f"3 orders for the seeds {SEEDS}")


def test_reads(answer):
    """A rank reads what it trains on, and nothing else; the result is None."""
    found = run_ranks(3, run, 12, [{"batch_size": 2, "epochs": 2}], answer=answer)
    for rank, ((log, read, result, _),) in enumerate(found):
        trained = list(chain.from_iterable(numbers for _, numbers in log))
        expect_equal(sorted(read), sorted(trained), f"the examples read on rank {rank}")
        expect_equal(result, None, f"the result of run_epochs(…) on rank {rank}")


def trained(rank, world_size, answer, numbers, **options):
    """The numbers that this rank trains on, by epoch."""
    log = []
    answer.run_epochs(
        TensorDataset(numbers), lambda epoch, batch: log.append((epoch, batch[0].tolist())), **options
    )
    return orders(log)


def several(rank, world_size, answer, jobs):
    return [trained(rank, world_size, answer, numbers, **options) for numbers, options in jobs]


def oracle(answer, gen):
    seed, share = torch.randint(4, 9, (2,), generator=gen).tolist()
    even, odd = (torch.rand(length, generator=gen) for length in (3 * share, 3 * share + 1))
    options = {"batch_size": 2, "epochs": 4, "seed": seed}
    jobs = [(even, options), (even, options | {"first_epoch": 2}), (odd, options)]
    ranks = run_ranks(3, several, jobs, answer=answer)
    whole, late, uneven = zip(*ranks, strict=True)
    return {
        "all that three ranks train on, by epoch": [
            sorted(chain.from_iterable(rank[epoch] for rank in whole)) for epoch in range(4)
        ],
        "how many different orders each rank has in four epochs": [
            len({tuple(order) for order in rank.values()}) for rank in whole
        ],
        "a run from epoch 2 on trains on what the whole run does then": [
            [rank[epoch] == late[number][epoch] for epoch in (2, 3)] for number, rank in enumerate(whole)
        ],
        "the different examples of an epoch, one more than three ranks share evenly": [
            sorted(set(chain.from_iterable(rank[epoch] for rank in uneven))) for epoch in range(4)
        ],
        "how many of these each rank gets": [[len(rank[epoch]) for epoch in range(4)] for rank in uneven],
    }
