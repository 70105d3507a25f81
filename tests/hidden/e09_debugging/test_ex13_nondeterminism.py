"""What grades nondeterminism: bits that repeat, streams and settings, seeds, orders, what is trained."""

import copy
import itertools
import math
import os
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that


def texts(gen, n, words=12, length=4):
    """Documents that each hold a word of their own, and labels that are not in alphabetical order."""
    vocabulary = [f"w{i:02d}" for i in torch.randperm(words, generator=gen).tolist()]
    documents = []
    for i in range(n):
        ids = torch.randint(words, (length,), generator=gen).tolist()
        documents.append([f"own{i:02d}", *(vocabulary[j] for j in ids)])
    labels = [("sport", "news", "art")[i % 3] for i in range(n)]
    return documents, labels


def with_python(words):
    return [word for word in words if random.random() < 0.7]


def with_numpy(words):
    return [word for word in words if np.random.rand() < 0.7]


def with_torch(words):
    return [word for word in words if torch.rand(()) < 0.7]


def with_all(words):
    chances = random.gauss(0.0, 1.0), np.random.randn(), torch.randn(()).item()
    return [word for word in words if chances[len(word) % 3] > -0.5]


def network(words, classes):
    """Weights from torch's stream, a buffer from NumPy's, one from Python's; dropout."""
    model = nn.Sequential(nn.Linear(words, 6), nn.Dropout(0.5), nn.BatchNorm1d(6), nn.Linear(6, classes))
    model.register_buffer("numpy", torch.tensor(np.random.rand()))
    model.register_buffer("python", torch.tensor(random.random()))
    return model


def zeros(words, classes):
    linear = nn.Linear(words, classes, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def frozen(words, classes):
    """A model one part of which is in evaluation mode, and one parameter frozen."""
    model = nn.Sequential(nn.Linear(words, classes), nn.Dropout(0.5).eval())
    model[0].bias.requires_grad_(False)
    return model


def disturb(seed):
    """Leave the global streams somewhere else, with a normal number kept for the next call."""
    random.seed(seed)
    random.gauss(0, 1)
    np.random.seed(seed)
    np.random.randn()
    torch.manual_seed(seed)
    torch.rand(seed % 7)


def streams():
    numpy = np.random.get_state()
    return [
        random.getstate(),
        (numpy[0], numpy[1].tolist(), *numpy[2:]),
        torch.get_rng_state(),
    ]


def settings():
    return [
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.backends.cudnn.benchmark,
    ]


@pytest.fixture(autouse=True)
def as_before():
    """What a check changes in this process is put back for the next."""
    state, (strict, warn_only, benchmark) = (random.getstate(), np.random.get_state()), settings()
    yield
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.use_deterministic_algorithms(strict, warn_only=warn_only)
    torch.backends.cudnn.benchmark = benchmark


def hash_elsewhere(item):
    """As in another process: the hashes of strings are others."""
    return hash(("elsewhere", item)) if "'" in repr(item) else hash(item)


def expect_same_run(yours, wanted, note):
    expect_equal(yours[1], wanted[1], f"the losses {note}")
    expect_equal(dict(yours[0].state_dict()), dict(wanted[0].state_dict()), f"the state dict {note}")


@pytest.mark.parametrize(
    ("augment", "seed"), [(with_python, 0), (with_numpy, 3), (with_torch, 2**32 - 1), (with_all, 0)]
)
def test_runs_repeat(answer, gen, augment, seed, monkeypatch):
    """Runs with the same seed are the same to the bit, whatever happened before in the process."""
    documents, labels = texts(gen, 10)
    disturb(1)
    first = answer.train(documents, labels, network, augment, seed=seed)
    monkeypatch.setattr(answer, "hash", hash_elsewhere, raising=False)
    again = answer.train(documents, labels, network, augment, seed=seed)
    expect_same_run(again, first, f"of a second run with seed={seed}")
    disturb(20)
    answer.train(documents[:7], labels[:7], network, augment, seed=5)
    again = answer.train(documents, labels, network, augment, seed=seed)
    expect_same_run(again, first, f"of a run with seed={seed} after other runs and draws")


def test_streams_are_left_alone(answer, gen):
    """The global streams of random, NumPy and torch are after a run as they were before."""
    documents, labels = texts(gen, 6)
    for seed, epochs in ((0, 2), (9, 2), (9, 0)):
        disturb(seed + 4)
        before, settled = streams(), settings()
        answer.train(documents, labels, network, with_all, seed=seed, epochs=epochs)
        call = f"train(…, seed={seed}, epochs={epochs})"
        for name, now, was in zip(("random", "np.random", "torch"), streams(), before, strict=True):
            same = torch.equal(now, was) if isinstance(now, torch.Tensor) else now == was
            expect_that(same, f"the global stream of {name} is not what it was before {call}")
        expect_equal(settings(), settled, f"deterministic, warn_only and cudnn.benchmark after {call}")


CALLERS = [(False, False, False), (True, True, True), (True, False, False), (False, False, True)]


@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_deterministic_algorithms(answer, gen, caller):
    """Building, augmenting, forward and backward run with deterministic algorithms, as errors."""
    documents, labels = texts(gen, 5)
    seen = []

    def make_model(words, classes):
        seen.append(("make_model", settings()))
        model = nn.Linear(words, classes)
        model.register_forward_hook(lambda *_: seen.append(("forward", settings())))
        model.weight.register_hook(lambda g: seen.append(("backward", settings())))
        return model

    def augment(words):
        seen.append(("augment", settings()))
        return words

    torch.use_deterministic_algorithms(caller[0], warn_only=caller[1])
    torch.backends.cudnn.benchmark = caller[2]
    answer.train(documents, labels, make_model, augment, seed=1)
    after = settings()
    expect_equal(after, list(caller), "deterministic, warn_only and cudnn.benchmark after train(…)")
    names = [name for name, _ in seen]
    for name in ("make_model", "augment", "forward", "backward"):
        expect_that(name in names, f"{name} does not run in train(…)")
    for name, (strict, warn_only, benchmark) in seen:
        expect_that(strict, f"deterministic algorithms are off in {name}", with_=f"the caller's {caller}")
        expect_that(not warn_only, f"operations without determinism only warn in {name}")
        expect_that(not benchmark, f"torch.backends.cudnn.benchmark is on in {name}")


@pytest.fixture
def environment():
    """Variables and settings that a check hands out, and that nobody has to keep."""
    variables, threads = dict(os.environ), torch.get_num_threads()
    deterministic, others = torch.backends.cudnn.deterministic, other_settings()
    yield
    set_others(*others.values())
    os.environ.clear()
    os.environ.update(variables)
    torch.set_num_threads(threads)
    torch.backends.cudnn.deterministic = deterministic


def other_settings():
    """What people also turn for the sake of repeatable numbers, or of speed."""
    return {
        "torch.backends.cudnn.enabled": torch.backends.cudnn.enabled,
        "torch.backends.cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
        "torch.get_float32_matmul_precision()": torch.get_float32_matmul_precision(),
        "torch.utils.deterministic.fill_uninitialized_memory": (
            torch.utils.deterministic.fill_uninitialized_memory
        ),
    }


def set_others(enabled, tf32, precision, fill):
    torch.backends.cudnn.enabled = enabled
    torch.backends.cudnn.allow_tf32 = tf32
    torch.set_float32_matmul_precision(precision)
    torch.utils.deterministic.fill_uninitialized_memory = fill


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("deterministic", [False, True])
def test_other_settings(answer, gen, deterministic):
    """Whatever else of the process is set for a run is put back after it."""
    documents, labels = texts(gen, 6)
    os.environ.pop("PYTHONHASHSEED", None)
    os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
    if deterministic:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"
    torch.set_num_threads(2)
    torch.backends.cudnn.deterministic = deterministic
    set_others(True, deterministic, "high" if deterministic else "highest", deterministic)
    before, settled = dict(os.environ), other_settings()
    answer.train(documents, labels, network, with_all, seed=1)
    changed = sorted(name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name))
    expect_that(
        not changed,
        "environment variables are others after train(…)",
        yours=", ".join(changed),
        wanted="none",
    )
    expect_equal(
        torch.backends.cudnn.deterministic, deterministic, "torch.backends.cudnn.deterministic after train(…)"
    )
    expect_equal(torch.get_num_threads(), 2, "the number of threads after train(…)")
    for name, value in other_settings().items():
        expect_equal(value, settled[name], f"{name} after train(…)")


class Stop(Exception):
    pass


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("where", ["make_model", "augment", "forward", "backward"])
def test_errors(answer, gen, where):
    """Errors of make_model, the model and augment pass through, and all is put back nevertheless."""
    documents, labels = texts(gen, 6)
    calls = itertools.count()

    def fail(name):
        if name == where and (name == "make_model" or next(calls) == 1):
            raise KeyboardInterrupt if where == "augment" else Stop

    def make_model(words, classes):
        random.random(), np.random.rand(), torch.rand(())
        fail("make_model")
        model = nn.Linear(words, classes)
        model.register_forward_hook(lambda *_: fail("forward"))
        model.weight.register_hook(lambda g: fail("backward"))
        return model

    def augment(words):
        fail("augment")
        return with_all(words)

    disturb(8)
    torch.backends.cudnn.benchmark = True
    torch.set_num_threads(2)
    before, raised = [*streams(), settings()], False
    try:
        answer.train(documents, labels, make_model, augment, seed=2)
    except (Stop, KeyboardInterrupt):
        raised = True
    error = "a KeyboardInterrupt" if where == "augment" else "an error"
    expect_that(raised, f"{error} of {where} does not come out of train(…)")
    names = ("the stream of random", "the stream of np.random", "the stream of torch", "the settings")
    for name, now, was in zip(names, [*streams(), settings()], before, strict=True):
        same = torch.equal(now, was) if isinstance(now, torch.Tensor) else now == was
        expect_that(same, f"after {error} of {where}, {name} is not what it was before train(…)")
    expect_equal(torch.get_num_threads(), 2, f"the number of threads after {error} of {where}")


class Recorder:
    """A model and an augmentation that note which documents come, and what was drawn for them."""

    def __init__(self, documents):
        self.own = {document[0]: i for i, document in enumerate(documents)}
        self.order, self.sizes, self.draws, self.start = [], [], [], None

    def make_model(self, words, classes):
        model = nn.Linear(words, classes)
        self.start = model.weight.detach().clone()
        # the documents' own words are the first in sorted order
        model.register_forward_pre_hook(lambda m, args: self.note(args[0]))
        return model

    def note(self, x):
        self.order += x[:, : len(self.own)].argmax(1).tolist()
        self.sizes.append(len(x))

    def augment(self, words):
        self.draws.append((self.own[words[0]], random.random(), np.random.rand(), torch.rand(()).item()))
        return words


def recorded(answer, documents, labels, seed, **kwargs):
    recorder = Recorder(documents)
    _, losses = answer.train(documents, labels, recorder.make_model, recorder.augment, seed=seed, **kwargs)
    expect_equal(len(losses), len(recorder.sizes), "the number of losses")
    return recorder


@pytest.mark.parametrize("batch_size", [4, 5, 1])
def test_each_epoch_has_its_own_order(answer, gen, batch_size):
    """Each epoch takes every document once, in an order of its own, and augments each anew."""
    documents, labels = texts(gen, 11)
    run = recorded(answer, documents, labels, 6, epochs=3, batch_size=batch_size)
    sizes = [min(batch_size, 11 - start) for start in range(0, 11, batch_size)] * 3
    expect_equal(run.sizes, sizes, f"the sizes of the batches with batch_size={batch_size}")
    orders = [run.order[i * 11 : (i + 1) * 11] for i in range(3)]
    for order in orders:
        expect_equal(sorted(order), list(range(11)), "the documents of an epoch, sorted")
        expect_that(order != sorted(order), "the documents are not shuffled")
    expect_that(
        orders[0] != orders[1] != orders[2] != orders[0], "two epochs have the same order", yours=str(orders)
    )
    expect_equal(len(run.draws), 33, "the calls of augment in three epochs of 11 documents")
    expect_equal(
        sorted(d[0] for d in run.draws), sorted(list(range(11)) * 3), "the documents that are augmented"
    )
    for column, name in ((1, "random"), (2, "np.random"), (3, "torch")):
        drawn = {d[column] for d in run.draws}
        expect_that(
            len(drawn) > 30, f"{name} draws the same numbers again in a run", yours=len(drawn), wanted=33
        )
    calls = itertools.count()
    _, losses = answer.train(
        documents, labels, zeros, lambda d: d if next(calls) < 11 else [], seed=6, batch_size=11, lr=1.0
    )
    wanted = math.log(len(set(labels)))
    expect_that(
        math.isclose(losses[1], wanted, rel_tol=1e-5),
        "the second epoch is not trained on what augment gave in it, no words at all",
        yours=f"a loss of {losses[1]:.6g}",
        wanted=f"{wanted:.6g}, the same logits for all classes",
    )


def test_other_seeds_give_other_runs(answer, gen):
    """Another seed gives another initial model, another order, and other draws from each stream."""
    documents, labels = texts(gen, 11)
    runs = [recorded(answer, documents, labels, seed) for seed in (0, 1, 2, 2**31)]
    for one, other in itertools.combinations(runs, 2):
        expect_that(not torch.equal(one.start, other.start), "two seeds start from the same model")
        expect_that(one.order != other.order, "two seeds give the same order")
        for column, name in ((1, "random"), (2, "np.random"), (3, "torch")):
            same = {d[column] for d in one.draws} & {d[column] for d in other.draws}
            expect_that(len(same) < 3, f"two seeds draw the same numbers from {name}", yours=len(same))


def test_index(answer, gen):
    """Any iterable of strings is numbered in sorted order, each string once."""
    names = [f"{chr(97 + i % 26)}{i * 7919 % 101}" for i in torch.randperm(60, generator=gen).tolist()]
    wanted = {name: number for number, name in enumerate(sorted(names))}
    for items in (names, iter(names * 2), tuple(reversed(names)), set(names), (n for n in names)):
        expect_equal(answer.build_index(items), wanted, f"build_index of a {type(items).__name__}")
    expect_equal(answer.build_index([]), {}, "build_index([])")
    expect_equal(
        answer.build_index(["b", "B", "a10", "a9", "", " b"]),
        {"": 0, " b": 1, "B": 2, "a10": 3, "a9": 4, "b": 5},
        "build_index",
    )


def written_out(documents, labels, model, epochs, lr):
    """Losses and weights of full batches, in float64."""
    words = sorted({word for document in documents for word in document})
    classes = sorted(set(labels))
    x = torch.zeros(len(documents), len(words), dtype=torch.float64)
    for row, document in enumerate(documents):
        for word in document:
            x[row, words.index(word)] += 1
    y = torch.tensor([classes.index(label) for label in labels])
    weight, losses = model(len(words), len(classes)).weight.detach().double(), []
    for _ in range(epochs):
        weight.requires_grad_()
        loss = F.cross_entropy(x @ weight.T, y)
        (gradient,) = torch.autograd.grad(loss, weight)
        weight = (weight - lr * gradient).detach()
        losses.append(loss.item())
    return weight, losses


def test_what_is_trained(answer, gen):
    """Full batches give the losses and weights of gradient descent, on words and labels in sorted order."""
    documents, labels = (items[::-1] for items in texts(gen, 7))
    for epochs, lr in ((3, 0.5), (1, 0.125)):
        weight, wanted = written_out(documents, labels, zeros, epochs, lr)
        given, mine = (documents, labels), copy.deepcopy((documents, labels))
        made = []

        def make_model(words, classes, made=made):
            made.append(zeros(words, classes))
            return made[-1]

        options = {"epochs": epochs, "batch_size": 9, "lr": lr}
        model, losses = answer.train(*given, make_model, list, seed=5, **options)
        expect_that(model is made[0] and len(made) == 1, "the model is not the one that make_model has made")
        expect_equal([type(loss).__name__ for loss in losses], ["float"] * epochs, "the types of the losses")
        note = f"of {epochs} epochs with lr={lr}"
        expect_close(torch.tensor(losses), torch.tensor(wanted), f"the losses {note}", ulps=100)
        expect_close(model.weight.detach(), weight.float(), f"the weight {note}", ulps=100)
        expect_that(given == mine, "documents or labels are others after train(…)")
    model, losses = answer.train(documents, labels, frozen, list, seed=5)
    expect_equal(
        [m.training for m in model], [True, False], "the modes of the parts of a model, after train(…)"
    )
    expect_equal(model[0].bias.requires_grad, False, "requires_grad of a frozen parameter after train(…)")
    model, losses = answer.train(documents, labels, zeros, list, seed=5, lr=0.0)
    wanted = torch.full((4,), math.log(3))
    expect_close(torch.tensor(losses), wanted, "the losses of batches of 4 and 3 documents, lr=0", ulps=100)
    model, losses = answer.train(documents, labels, zeros, list, seed=5)
    expect_equal(len(losses), 4, "the number of losses of 7 documents with default arguments")
    _, wanted = answer.train(documents, labels, zeros, list, seed=5, epochs=2, batch_size=4, lr=0.1)
    expect_equal(losses, wanted, "the losses with default arguments")
    few = [["spam"], [], []], ["yes", "no", "yes"]  # documents without words are documents too
    model, losses = answer.train(*few, zeros, list, seed=5, epochs=2, batch_size=1)
    expect_equal(len(losses), 6, "the number of losses of 3 documents, 2 of them without words, one by one")
    model, losses = answer.train(documents, labels, zeros, list, seed=5, epochs=0)
    expect_equal((type(model).__name__, losses), ("Linear", []), "the result of 0 epochs")


def oracle(answer, gen):
    documents, labels = texts(gen, 8)
    model, losses = answer.train(documents, labels, zeros, list, seed=4, epochs=3, batch_size=8, lr=0.25)
    runs = [answer.train(documents, labels, network, with_all, seed=1) for _ in range(2)]
    same = runs[0][1] == runs[1][1] and torch.equal(runs[0][0][0].weight, runs[1][0][0].weight)
    return [model.weight.detach(), losses, same, answer.build_index(labels), len(runs[0][1])]
