"""What grades resumable_loader: orders, states, workers; what is read, states as they are, streams."""

import copy
import itertools
import json

import pytest
import torch

from grader.checks import expect_equal, expect_that, global_rng_untouched
from grader.checks.dataloader.workers import FORKED

# More workers than processors: a machine may have only one.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
READ_AHEAD = "what workers have read ahead is counted: count what comes out"
WORKERS = {"num_workers": 2, "multiprocessing_context": FORKED}


def listed(batches):
    return [batch.tolist() for batch in batches]


def order(size, batch, seed, epoch):
    """The batches of an epoch."""
    indices = torch.randperm(size, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    return [indices[i : i + batch] for i in range(0, size, batch)]


def expect_batches(yours, wanted, call, *mistakes):
    """Fail unless these are the batches; mistakes are pairs of words and what they give."""
    likely = next((said for said, other in mistakes if yours == other), "")
    expect_that(yours == wanted, f"wrong batches: {call}", yours=yours, wanted=wanted, likely=likely)


def stopped(answer, taken, size=11, batch=3, seed=6, epochs=0, **options):
    """A loader that gave some epochs and `taken` batches of the next, and its state then."""
    loader = answer.ResumableLoader(range(size), batch, seed, **options)
    for _ in range(epochs):
        list(loader)
    state = copy.deepcopy(loader.state_dict())
    for number, _ in enumerate(loader, 1):
        if number > taken:
            break
        state = copy.deepcopy(loader.state_dict())
        if number == taken:
            break
    return loader, state


def resumed(answer, state, size=11, batch=3, seed=6, **options):
    loader = answer.ResumableLoader(range(size), batch, seed, **options)
    loader.load_state_dict(state)
    return loader


@pytest.mark.parametrize(("size", "batch"), [(11, 3), (8, 4), (5, 7)])
def test_epochs(answer, size, batch):
    """Each loop is an epoch, in the order that the seed and the epoch decide."""
    loader = answer.ResumableLoader(range(size), batch, seed=4)
    for epoch in range(3):
        expect_batches(
            listed(loader),
            order(size, batch, 4, epoch),
            f"epoch {epoch} of {size} items by {batch}, with seed 4",
            ("all epochs have the order of the first", order(size, batch, 4, 0)),
            ("the seed is ignored", order(size, batch, 0, epoch)),
            ("nothing is shuffled", [list(range(i, min(i + batch, size))) for i in range(0, size, batch)]),
        )


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(("epochs", "taken"), [(0, 2), (2, 3)])
def test_goes_on(answer, epochs, taken, workers):
    """A new loader with the state goes on with the next batch, and then with the next epoch."""
    options = WORKERS if workers else {}
    _, state = stopped(answer, taken, epochs=epochs, **options)
    again, whole = resumed(answer, state, **options), order(11, 3, 6, epochs)
    told = f"after {taken} batches of epoch {epochs}, with {workers} workers, the loop"
    expect_batches(
        listed(again),
        whole[taken:],
        told,
        ("the last batch comes again: count it before it goes out", whole[taken - 1 :]),
        ("the epoch begins anew: how far it got is a part of the state", whole),
        ("the next epoch begins", order(11, 3, 6, epochs + 1)),
        ("the epoch is forgotten", order(11, 3, 6, 0)[taken:]),
        *((READ_AHEAD, whole[n:]) for n in range(taken + 1, 5) if workers),
    )
    following = order(11, 3, 6, epochs + 1)
    expect_batches(
        listed(again),
        following,
        f"{told} after that",
        ("that epoch is shortened, too: begin to count anew", []),
        ("that epoch is shortened, too: begin to count anew", following[taken:]),
        ("the epoch comes again", whole),
    )


def test_between_epochs(answer):
    """A state that is taken before the first batch, or between two loops, stands for a whole epoch."""
    for epochs in (0, 1, 3):
        _, state = stopped(answer, 0, epochs=epochs)
        yours = listed(resumed(answer, state))
        expect_batches(yours, order(11, 3, 6, epochs), f"after {epochs} epochs, the loop that goes on")


def test_options(answer):
    """Options go to the DataLoader."""
    loader = answer.ResumableLoader(range(5), 2, seed=3, collate_fn=sum)
    expect_equal(list(loader), [sum(b) for b in order(5, 2, 3, 0)], "the batches with collate_fn=sum")


class Watched:
    """Items that count, in shared memory, how often each is read."""

    def __init__(self, size):
        self.read = torch.zeros(size, dtype=torch.int64).share_memory_()

    def __len__(self):
        return len(self.read)

    def __getitem__(self, index):
        self.read[index] += 1
        return 100 + index


@pytest.mark.fine
def test_what_is_read(answer):
    """What came out before the state was taken is not read again."""
    data = Watched(11)
    for options in ({}, WORKERS):
        _, state = stopped(answer, 2, **options)
        loader = answer.ResumableLoader(data, 3, 6, **options)
        loader.load_state_dict(state)
        data.read.zero_()
        list(loader)
        again = [i for batch in order(11, 3, 6, 0)[:2] for i in batch if data.read[i]]
        told = "items of batches that came out before are read again"
        likely = "leave out their indices, not their batches"
        expect_that(not again, told, yours=f"items {again}", likely=likely)


@pytest.mark.fine
def test_plain_states(answer):
    """A state goes through json, and does not change while the loader goes on."""
    loader = answer.ResumableLoader(range(11), 3, 6)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    try:
        written = json.dumps(state)
    except TypeError as error:
        expect_that(False, f"state_dict() holds what json cannot write: {error}", yours=state)
    next(batches)
    expect_that(json.dumps(state) == written, "a state changes while the loader goes on", yours=state)
    expect_batches(
        listed(resumed(answer, json.loads(written))), order(11, 3, 6, 0)[1:], "after json, the loop"
    )


@pytest.mark.fine
def test_after_the_last(answer):
    """After the last batch, in the loop, the state stands for the next epoch."""
    for epochs in (0, 1):
        _, state = stopped(answer, 4, epochs=epochs)
        yours, wanted = listed(resumed(answer, state)), order(11, 3, 6, epochs + 1)
        nothing = ("a loop over nothing comes first: the epoch ends with its last batch", [])
        expect_batches(yours, wanted, f"after all batches of epoch {epochs}, the loop", nothing)


@pytest.mark.fine
def test_break(answer):
    """The loop after one that was left gives the rest of the epoch."""
    loader, _ = stopped(answer, 2)
    expect_batches(listed(loader), order(11, 3, 6, 0)[2:], "after two batches and `break`, the next loop")
    expect_batches(listed(loader), order(11, 3, 6, 1), "the loop after that")


@pytest.mark.fine
def test_global_stream(answer):
    """torch's global random stream is left alone, with workers and without."""
    for options in ({}, WORKERS):
        loader = answer.ResumableLoader(range(11), 3, 6, **options)
        with global_rng_untouched(
            f"a loop over ResumableLoader(range(11), 3, 6), with {len(options)} options"
        ):
            list(loader)


def oracle(answer, gen):
    def run(gen, taken, epochs, **options):
        size, seed = (int(torch.randint(20, 40, (), generator=gen)) for _ in range(2))
        settings = {"size": size, "batch": 4, "seed": seed, **options}
        _, state = stopped(answer, taken, epochs=epochs, **settings)
        again = resumed(answer, state, **settings)
        return list(itertools.chain(listed(again), listed(again)))

    return {
        "two epochs": lambda gen: run(gen, 0, 0),
        "from the second batch of an epoch on": lambda gen: run(gen, 1, 1),
        "from the fourth batch on, with workers": lambda gen: run(gen, 3, 0, **WORKERS),
    }
