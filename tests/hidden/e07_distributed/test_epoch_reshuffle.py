"""What grades epoch_reshuffle: complete epochs, other orders, restarts, seeds; uneven shares, reads."""

import builtins
import random
from itertools import chain, pairwise

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

from grader.checks import expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


class Numbers(Dataset):
    """The numbers that it is made of, and a list of those read."""

    def __init__(self, numbers):
        self.numbers, self.read = numbers, []

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        self.read.append(self.numbers[index].item())
        return self.numbers[index]


def draw(where):
    """The next number of each global stream."""
    numbers = {"torch": torch.rand(()).item(), "random": random.random(), "NumPy": np.random.rand()}
    return {f"{name} {where}": number for name, number in numbers.items()}


def run(rank, world_size, answer, numbers, jobs, stream=0):
    """The batches of each job on this rank, as (epoch, numbers); what is read; global random numbers."""
    found = []
    for options in jobs:
        for seed_stream in (torch.manual_seed, random.seed, np.random.seed):
            seed_stream(stream + rank)  # global streams are of no account
        dataset, log, draws = Numbers(numbers), [], {}

        def train_batch(epoch, batch, log=log, draws=draws):
            log.append((epoch, batch.tolist()))
            draws.update(draw(f"in epoch {epoch}"))

        answer.run_epochs(dataset, train_batch, **options)
        found.append((log, dataset.read, draws | draw("afterwards")))
    return found


def run_otherwise(rank, world_size, answer, numbers, jobs):
    """With other global streams, and other hashes of texts, as processes that are no forks have them."""
    plain = builtins.hash
    builtins.hash = lambda x: plain(x) + rank * 104729 if isinstance(x, (str, bytes)) else plain(x)
    return [run(rank, world_size, answer, numbers, jobs, stream) for stream in (0, 1000)]


def orders(log):
    """The numbers of each epoch of a log, in order."""
    found = {}
    for epoch, numbers in log:
        found.setdefault(epoch, []).extend(numbers)
    return found


def expect_complete(answer, world_size, length, jobs):
    """Every example once, or the fewest twice, on ranks that get equally many, in batches of batch_size."""
    found = run_ranks(world_size, run, torch.arange(length), jobs, answer=answer)
    share = -(-length // world_size)
    for number, job in enumerate(jobs):
        logs = [of_rank[number][0] for of_rank in found]
        wanted = range(job.get("first_epoch", 0), job["epochs"])
        size = job["batch_size"]
        sizes = [size] * (share // size) + [share % size] * (share % size > 0)
        about = f"{length} examples, {world_size} ranks, {job}"
        for rank, log in enumerate(logs):
            epochs = list(dict.fromkeys(epoch for epoch, _ in log))
            every = {
                "it begins with epoch 0, and not with first_epoch": lambda job=job: [*range(job["epochs"])]
            }
            expect_equal(epochs, list(wanted), f"the epochs on rank {rank}; {about}", suspects=every)
            for epoch in wanted:
                mine = [len(numbers) for number, numbers in log if number == epoch]
                call = f"the sizes of the batches of epoch {epoch} on rank {rank}; {about}"
                likely = "each rank gets all examples" if sum(mine) == length > share else None
                likely = "the last batch, which is smaller, is dropped" if sum(mine) < share else likely
                expect_that(
                    sum(mine) == share,
                    f"wrong number of examples in epoch {epoch} on rank {rank}; {about}",
                    yours=str(sum(mine)),
                    wanted=str(share),
                    **({"likely": likely} if likely else {}),
                )
                expect_equal(mine, sizes, call)
        for epoch in wanted:
            everything = list(chain.from_iterable(orders(log)[epoch] for log in logs))
            missing = sorted(set(range(length)) - set(everything))
            likely = "the ranks do not shuffle alike" if len(missing) > length / 8 else None
            told = f"examples are left out in epoch {epoch}; {about}"
            facts = {"likely": likely} if likely else {}
            expect_that(not missing, told, yours=f"without {missing}", wanted="all", **facts)
            often = sorted(n for n in set(everything) if everything.count(n) > 2)
            told = f"examples come more than twice in epoch {epoch}; {about}"
            expect_that(not often or world_size > length, told, yours=str(often), wanted="none")


def test_complete_epochs(answer):
    """Each epoch gives every example to one rank, equally many to each, in batches of batch_size."""
    jobs = [{"batch_size": 2, "epochs": 3}, {"batch_size": 5, "epochs": 4, "first_epoch": 2, "seed": 3}]
    expect_complete(answer, 2, 14, jobs)


def test_other_orders(answer):
    """No epoch is in the order of another one or of the data set; each gives a rank other examples."""
    jobs = [{"batch_size": 4, "epochs": 5}]
    found = [
        list(orders(log).values())
        for ((log, *_),) in run_ranks(2, run, torch.arange(24), jobs, answer=answer)
    ]
    for rank, each in enumerate(found):
        for epoch, order in enumerate(each):
            where, fact = f"on rank {rank} of 2", {"yours": str(order)}
            expect_that(order != sorted(order), f"epoch {epoch} is not shuffled {where}", **fact)
            told = f"epoch {epoch} repeats the order of an epoch before {where}"
            expect_that(order not in each[:epoch], told, **fact)
            told = f"epoch {epoch} gives the same examples as an epoch before, shuffled, {where}"
            expect_that(sorted(order) not in [sorted(other) for other in each[:epoch]], told, **fact)
    first, *later = [
        {pair for order in both for pair in pairwise(order)} for both in zip(*found, strict=True)
    ]
    for epoch, pairs in enumerate(later, start=1):
        told = f"epoch {epoch} is the order of epoch 0, turned: it is not shuffled again"
        kept = f"{len(pairs & first)} of {len(first)} examples come after the same one as in epoch 0"
        expect_that(2 * len(pairs & first) < len(first), told, yours=kept, wanted="about one")


def expect_same(answer, jobs):
    for rank, ((log, *_), *others) in enumerate(run_ranks(2, run, torch.arange(18), jobs, answer=answer)):
        whole = orders(log)
        for (other, *_), job in zip(others, jobs[1:], strict=True):
            for epoch, order in orders(other).items():
                call = f"the examples of epoch {epoch} on rank {rank}, with {job}"
                suspects = {
                    f"those are the ones of epoch {n}": lambda right=right: torch.tensor(right)
                    for n, right in whole.items()
                    if n != epoch
                }
                expect_equal(torch.tensor(order), torch.tensor(whole[epoch]), call, suspects=suspects)


def test_restart(answer):
    """An epoch is the same for a run from the start and one from a checkpoint."""
    expect_same(
        answer, [{"batch_size": 3, "epochs": 5, "seed": 5, "first_epoch": start} for start in (0, 1, 3)]
    )


@pytest.mark.fine
def test_batch_size(answer):
    """The order does not depend on batch_size."""
    expect_same(answer, [{"batch_size": size, "epochs": 3, "seed": 5} for size in (3, 4)])


def test_seeds(answer):
    """Another seed gives another order."""
    jobs = [{"batch_size": 6, "epochs": 1, "seed": seed} for seed in (0, 1, 7)]
    for rank, found in enumerate(run_ranks(2, run, torch.arange(24), jobs, answer=answer)):
        different = {tuple(orders(log)[0]) for log, *_ in found}
        told = f"epoch 0 is the same for different seeds on rank {rank}"
        expect_that(
            len(different) == 3, told, yours=f"{len(different)} orders", wanted="3, for the seeds 0, 1, 7"
        )


@pytest.mark.fine
@pytest.mark.parametrize(("world_size", "length"), [(2, 15), (4, 5), (5, 2)])
def test_uneven(answer, world_size, length):
    """Where ranks do not divide the examples, as few as possible come twice, and none is left out."""
    expect_complete(answer, world_size, length, [{"batch_size": 2, "epochs": 2}])


@pytest.mark.fine
def test_global_streams(answer):
    """Orders do not follow from the global random streams or hashes of texts; nor are the streams seeded."""
    jobs = [{"batch_size": 6, "epochs": 2, "seed": 3}]
    found = run_ranks(2, run_otherwise, torch.arange(24), jobs, answer=answer)
    for rank, (((log, _, draws),), ((same, _, others),)) in enumerate(found):
        expect_equal(same, log, f"the batches of another run with seed=3 on rank {rank}")
        for name, drawn in draws.items():
            told = f"run_epochs(…) seeds the global random stream of {name}, on rank {rank}"
            expect_that(drawn != others[name], told)
        told = f"the global random streams give train_batch the numbers of another epoch, on rank {rank}"
        expect_that(len(set(draws.values())) == len(draws), told, yours=str(draws))
    shares = [orders(once[0][0])[0] for once, _ in found]
    expect_equal(sorted(chain(*shares)), list(range(24)), "the examples of epoch 0 where hashes differ")


@pytest.mark.fine
def test_reads(answer):
    """A rank reads what it trains on, and nothing else."""
    for rank, ((log, read, _),) in enumerate(
        run_ranks(3, run, torch.arange(12), [{"batch_size": 2, "epochs": 2}], answer=answer)
    ):
        trained = sorted(chain.from_iterable(numbers for _, numbers in log))
        expect_equal(sorted(read), trained, f"the examples read on rank {rank}")


def oracle(answer, gen):
    def jobs(gen, *others):
        """The orders of four epochs with one seed, and of each of these jobs, on two ranks."""
        seed, share = torch.randint(4, 9, (2,), generator=gen).tolist()
        numbers = torch.rand(2 * share, generator=gen)
        asked = [{"seed": seed}, *({"seed": seed + other.pop("more", 0), **other} for other in others)]
        asked = [{"batch_size": 2, "epochs": 4, **job} for job in asked]
        return [
            [orders(log) for log, *_ in rank] for rank in run_ranks(2, run, numbers, asked, answer=answer)
        ]

    def everything(ranks, epochs=range(4)):
        return [sorted(chain(*(rank[0][epoch] for rank in ranks))) for epoch in epochs]

    def new_orders(gen):
        ranks = jobs(gen)
        return [everything(ranks), [len({tuple(order) for order in rank[0].values()}) for rank in ranks]]

    def resumed(gen):
        ranks = jobs(gen, {"first_epoch": 2})
        return [everything(ranks, (2, 3)), [[rank[1][n] == rank[0][n] for n in (2, 3)] for rank in ranks]]

    def another_seed(gen):
        ranks = jobs(gen, {"more": 1})
        return [everything(ranks, (0,)), [rank[1][0] != rank[0][0] for rank in ranks]]

    return {
        "all that two ranks train on in the first epoch": lambda gen: everything(jobs(gen), (0,)),
        "all that two ranks train on, by epoch, and how many orders each has": new_orders,
        "the last epochs, and whether a run from there is the same": resumed,
        "the first epoch, and whether another seed has another order": another_seed,
    }
