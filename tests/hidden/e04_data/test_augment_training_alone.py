"""What grades augment_training_alone: what each part gives, and when; memory, pickles, the global stream."""

import tracemalloc

import pytest
import torch
from torch.utils.data import random_split

from grader.checks import expect_equal, expect_that, global_rng_untouched, peak_bytes, unchanged
from grader.checks.contract import Contract, given, values
from grader.checks.dataloader.workers import imported_anew


def halved(x):
    return x / 2


def lighter(x):
    return x + 3


def parts(size, seed):
    """The rows of both parts."""
    return random_split(range(size), [0.8, 0.2], generator=torch.Generator().manual_seed(seed))


def read(part):
    pairs = [part[i] for i in range(len(part))]
    return torch.stack([x for x, _ in pairs]), torch.stack([torch.as_tensor(y) for _, y in pairs])


def stacked(answer, *arguments, **options):
    """All items of both parts."""
    (x, y), (of, classes) = map(read, answer.split(*arguments, **options))
    return {"x of train": x, "y of train": y, "x of validation": of, "y of validation": classes}


def wanted_of(
    pictures,
    labels,
    prepare,
    augment,
    seed=0,
    train=lambda x, prepare, augment: prepare(augment(x)),
    validation=lambda x, prepare, augment: prepare(x),
    rows=parts,
):
    """The same, row by row; what comes after `seed` is as people get it wrong."""
    found = {}
    for name, part, change in zip(
        ("train", "validation"), rows(len(labels), seed), (train, validation), strict=True
    ):
        rows_of = list(part)
        found[f"x of {name}"] = torch.stack([change(pictures[i].clone(), prepare, augment) for i in rows_of])
        found[f"y of {name}"] = labels[rows_of]
    return found


def wrong(**how):
    return lambda *arguments, **options: wanted_of(*arguments, **options, **how)


def drawn(gen, size, *shape, **options):
    pictures = 10 * torch.rand(size, *shape, generator=gen) + 5
    return given(pictures, torch.randint(40, (size,), generator=gen), halved, lighter, **options)


contract = Contract(
    "split(pictures, labels, prepare, augment, seed)",
    reference=wanted_of,
    use=stacked,
    inputs=lambda gen: {
        "ten pictures": drawn(gen, 10, 3),
        "fifteen grey pictures, seed 7": drawn(gen, 15, 2, 4, seed=7),
        "as many as do not divide, seed 3": drawn(gen, 23, 3, 2, 2, seed=3),
    },
    suspects={
        "validation is augmented as well: both parts share one dataset": wrong(
            validation=lambda x, prepare, augment: prepare(augment(x))
        ),
        "nothing is augmented": wrong(train=lambda x, prepare, augment: prepare(x)),
        "validation is not prepared": wrong(validation=lambda x, prepare, augment: x),
        "train is not prepared": wrong(train=lambda x, prepare, augment: augment(x)),
        "prepared first, and then augmented": wrong(train=lambda x, prepare, augment: augment(prepare(x))),
        "the parts do not follow from the seed": wrong(rows=lambda size, seed: parts(size, 0)),
        "the first pictures are trained on: random_split draws them": wrong(
            rows=lambda size, seed: (range(len(parts(size, seed)[0])), range(len(parts(size, seed)[0]), size))
        ),
    },
    job=[
        values(
            title="Training items are augmented and prepared, the others prepared, in random_split's parts."
        )
    ],
)


def noisy(x):
    return x + torch.rand(x.shape)


def test_read_again(answer, gen):
    """A training item is augmented anew each time; one of the others is always the same."""
    train, validation = answer.split(torch.rand(10, 4, generator=gen), torch.arange(10), halved, noisy, 2)
    once, again = train[1][0], train[1][0]
    told = "a training item is the same when it is read again"
    expect_that(not torch.equal(once, again), told, likely="augmented once for all: do it in __getitem__")
    for i in range(2):
        once, again = validation[i][0], validation[i][0]
        expect_that(
            torch.equal(once, again), f"validation[{i}] is another one when it is read again", yours=again
        )


def test_no_row_in_both(answer):
    """No picture is in both parts, and none is missing."""
    for seed in (0, 3, 11):
        train, validation = answer.split(torch.ones(20, 2), torch.arange(20), halved, noisy, seed)
        rows = [{int(part[i][1]) for i in range(len(part))} for part in (train, validation)]
        both, lost = sorted(rows[0] & rows[1]), sorted(set(range(20)) - rows[0] - rows[1])
        likely = "two splits have two orders: draw once"
        expect_that(
            not both, "pictures are in both parts", yours=f"pictures {both}, with seed={seed}", likely=likely
        )
        expect_that(not lost, "pictures are in no part", yours=f"pictures {lost}, with seed={seed}")


def paint(x):
    return x.fill_(99.0)


@pytest.mark.fine
def test_augment_that_writes(answer, gen):
    """An augment or a prepare that writes into its argument changes no picture."""
    pictures = torch.rand(10, 3, generator=gen)
    with unchanged("reading all items, with an augment that writes into its argument", pictures=pictures):
        for part in answer.split(pictures, torch.arange(10), paint, paint, 1):
            read(part)


@pytest.mark.fine
def test_memory(answer):
    """The pictures are not copied as a whole."""
    pictures, labels = torch.zeros(100, 50, 50), torch.arange(100)
    tracemalloc.start()
    try:
        made = []
        for told, act in (
            ("split(…)", lambda: made.append(answer.split(pictures, labels, halved, lighter))),
            ("train[3]", lambda: made[0][0][3]),
            ("validation[3]", lambda: made[0][1][3]),
        ):
            tracemalloc.reset_peak()
            cost = peak_bytes(act) + tracemalloc.get_traced_memory()[1]
            what = f"{told} copies more than one picture"
            expect_that(cost < 200_000, what, yours=f"{cost} bytes", wanted="a few times 10000")
    finally:
        tracemalloc.stop()


@pytest.mark.fine
def test_when(answer):
    """Nothing is augmented or prepared before it is asked for, and then once."""
    done = []

    def watched(name):
        return lambda x: (done.append(name), x)[1]

    labels = torch.arange(10)
    train, validation = answer.split(torch.ones(10, 2), labels, watched("prepare"), watched("augment"))
    expect_equal(done, [], "what runs in split(…)")
    train[2]
    expect_equal(done, ["augment", "prepare"], "what runs for train[2]")
    validation[1]
    expect_equal(done[2:], ["prepare"], "what runs for validation[1]")


@pytest.mark.fine
def test_pickled(answer, gen):
    """Both parts can be pickled, for spawned workers."""
    pictures = torch.rand(10, 3, generator=gen)
    made = answer.split(pictures, torch.arange(10), halved, lighter, 5)
    _, *there = imported_anew(answer, "part", *made)
    for name, part, other in zip(("train", "validation"), made, there, strict=True):
        expect_equal(read(other)[0], read(part)[0], f"x of {name} after pickling")


@pytest.mark.fine
def test_global_stream(answer):
    """split leaves torch's global random stream alone."""
    with global_rng_untouched("split(pictures, labels, prepare, augment, 3)"):
        answer.split(torch.ones(10, 2), torch.arange(10), halved, lighter, 3)
