"""What grades nondeterminism: draws and orders that repeat, seeds, epochs; streams and settings put back."""

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

STREAMS = {
    "random": "random.seed(seed)",
    "np.random": "np.random.seed(seed)",
    "torch": "torch.manual_seed(seed)",
}


def texts(gen, n, words=12, length=4):
    """Documents that each hold a word of their own, and labels that are not in alphabetical order."""
    vocabulary = [f"w{i:02d}" for i in torch.randperm(words, generator=gen).tolist()]
    documents = []
    for i in range(n):
        ids = torch.randint(words, (length,), generator=gen).tolist()
        documents.append([f"own{i:02d}", *(vocabulary[j] for j in ids)])
    return documents, [("sport", "news", "art")[i % 3] for i in range(n)]


def zeros(words, classes):
    linear = nn.Linear(words, classes, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def draw():
    """A number from each global stream; the normal ones leave another one waiting in it."""
    random.gauss(0.0, 1.0), np.random.randn()
    return {"random": random.random(), "np.random": np.random.rand(), "torch": torch.rand(()).item()}


def disturb(seed):
    """Leave the global streams somewhere else."""
    random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)
    draw()


def states():
    numpy = np.random.get_state()
    numpy = (numpy[0], numpy[1].tolist(), *numpy[2:])
    return {"random": random.getstate(), "np.random": numpy, "torch": torch.get_rng_state().tolist()}


def settings():
    """What a run sets, and what people also turn for the sake of numbers that repeat."""
    return {
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "cudnn.benchmark": torch.backends.cudnn.benchmark,
        "cudnn.deterministic": torch.backends.cudnn.deterministic,
        "the number of threads": torch.get_num_threads(),
        "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED"),
        "CUBLAS_WORKSPACE_CONFIG": os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
    }


@pytest.fixture(autouse=True)
def as_before():
    """What a check or an answer changes in this process is put back for the next."""
    variables, cudnn = dict(os.environ), torch.backends.cudnn
    state, kept = (random.getstate(), np.random.get_state()), (cudnn.benchmark, cudnn.deterministic)
    yield
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.use_deterministic_algorithms(False)
    cudnn.benchmark, cudnn.deterministic = kept
    os.environ.clear()
    os.environ.update(variables)


class Run:
    """A run whose model and augmentation note what they draw, and which documents come."""

    def __init__(self, answer, documents, labels, seed, **kwargs):
        self.own = {document[0]: i for i, document in enumerate(documents)}
        index = answer.build_index(word for document in documents for word in document)
        self.columns = [index[word] for word in self.own]  # of the words that a document has for itself
        self.order, self.sizes, self.augmented, self.draws = [], [], [], []
        _, self.losses = answer.train(documents, labels, self.make_model, self.augment, seed=seed, **kwargs)

    def make_model(self, words, classes):
        model = nn.Linear(words, classes)
        self.start, self.made = model.weight.detach().clone(), draw()
        model.register_forward_pre_hook(lambda _, args: self.note(args[0]))
        return model

    def note(self, x):
        self.order += x[:, self.columns].argmax(1).tolist()
        self.sizes.append(len(x))

    def augment(self, words):
        self.augmented.append(self.own[words[0]])
        self.draws.append(draw())
        return words

    def drawn(self, stream):
        return [draws[stream] for draws in self.draws]


def twice(answer, gen):
    """Two runs with the same arguments, and other draws and another run between them."""
    documents, labels = texts(gen, 10)
    disturb(1)
    first = Run(answer, documents, labels, 3)
    disturb(20)
    Run(answer, documents[:7], labels[:7], 5)
    return first, Run(answer, documents, labels, 3)


@pytest.mark.parametrize("stream", STREAMS)
def test_draws_repeat(answer, gen, stream):
    """What make_model and augment draw is the same in every run with the same seed."""
    first, second = twice(answer, gen)
    model, words = first.made[stream] != second.made[stream], first.drawn(stream) != second.drawn(stream)
    never = f"nothing seeds this stream in train(…): `{STREAMS[stream]}`"
    late = "the stream is seeded too late: make_model draws as well"
    where = "make_model" if model else "augment"
    expect_that(
        not (model or words),
        f"{where} draws other numbers from {stream} in a second run with the same seed",
        likely=late if model and not words else never,
    )


def test_order_repeats(answer, gen):
    """The documents come in the same order in every run with the same seed."""
    first, second = twice(answer, gen)
    expect_that(
        first.order == second.order,
        "the documents come in another order in a second run with the same seed",
        likely="the order comes from a generator that lives longer than the call, or that has no seed",
        first=str(first.order[:10]),
        second=str(second.order[:10]),
    )


def test_other_seeds_give_other_runs(answer, gen):
    """Another seed gives another initial model, another order, and other draws from each stream."""
    documents, labels = texts(gen, 11)
    runs = [Run(answer, documents, labels, seed) for seed in (0, 1, 2**31)]
    for one, other in itertools.combinations(runs, 2):
        same = {stream: set(one.drawn(stream)) & set(other.drawn(stream)) for stream in STREAMS}
        for stream, shared in same.items():
            again = len(set(one.drawn(stream))) < len(one.draws)
            likely = (
                "it is seeded again and again" if again else "it is seeded with another number than `seed`"
            )
            expect_that(len(shared) < 3, f"two seeds draw the same numbers from {stream}", likely=likely)
        expect_that(not torch.equal(one.start, other.start), "two seeds start from the same model")
        shuffled = one.order[:11] != sorted(one.order[:11])
        likely = "the generator of the order has a fixed seed" if shuffled else "nothing shuffles them"
        expect_that(one.order != other.order, "two seeds give the same order of documents", likely=likely)


@pytest.mark.parametrize("batch_size", [4, 5])
def test_orders_of_epochs(answer, gen, batch_size):
    """Each epoch takes every document once, in an order of its own, in batches; the last may be smaller."""
    run = Run(answer, *texts(gen, 11), 6, epochs=3, batch_size=batch_size)
    sizes = [min(batch_size, 11 - start) for start in range(0, 11, batch_size)] * 3
    expect_equal(run.sizes, sizes, f"the sizes of the batches with batch_size={batch_size}")
    expect_equal(len(run.losses), len(sizes), "the number of losses")
    orders = [run.order[i : i + 11] for i in (0, 11, 22)]
    for order in orders:
        expect_equal(sorted(order), list(range(11)), "the documents of an epoch, sorted")
        expect_that(order != sorted(order), "the documents are not shuffled")
    likely = "the order, or the seed, is set again in each epoch"
    all_differ = orders[0] != orders[1] != orders[2] != orders[0]
    expect_that(all_differ, "two epochs have the same order", yours=str(orders), likely=likely)


def test_augmented_anew(answer, gen):
    """Each epoch augments every document anew, and is trained on what comes out."""
    documents, labels = texts(gen, 11)
    run = Run(answer, documents, labels, 6, epochs=3)
    what = "the documents that augment gets in three epochs, sorted"
    once = {"each document is augmented once, and not anew in each epoch": lambda: list(range(11))}
    expect_equal(sorted(run.augmented), sorted(list(range(11)) * 3), what, suspects=once)
    for stream in STREAMS:
        likely = "the stream is seeded more than once in a run"
        different = len(set(run.drawn(stream))) > 30
        expect_that(different, f"augment draws the same numbers from {stream} again in a run", likely=likely)
    calls = itertools.count()
    fewer = lambda words: words if next(calls) < 11 else []  # noqa: E731
    _, losses = answer.train(documents, labels, zeros, fewer, seed=6, batch_size=11, lr=1.0)
    expect_that(
        math.isclose(losses[1], math.log(3), rel_tol=1e-5),
        "the second epoch is not trained on what augment gave in it: no words at all",
        yours=f"a loss of {losses[1]:.6g}",
        wanted=f"{math.log(3):.6g}, the same logits for all classes",
    )


def test_deterministic_algorithms(answer, gen):
    """Forward and backward run with deterministic algorithms, and without cuDNN's benchmark."""
    seen = {}

    def make_model(words, classes):
        model = nn.Linear(words, classes)
        model.register_forward_hook(lambda *_: seen.update(forward=settings()))
        model.weight.register_hook(lambda _: seen.update(backward=settings()))
        return model

    torch.backends.cudnn.benchmark = True
    answer.train(*texts(gen, 5), make_model, list, seed=1)
    for name, found in seen.items():
        alone = found["cudnn.deterministic"]
        expect_that(
            found["deterministic algorithms"],
            f"deterministic algorithms are off in the {name}",
            likely="`cudnn.deterministic` is about cuDNN alone: `torch.use_deterministic_algorithms(True)`"
            if alone
            else "`torch.use_deterministic_algorithms(True)` is missing, or ends too early",
        )
        expect_that(not found["cudnn.benchmark"], f"torch.backends.cudnn.benchmark is on in the {name}")


def written_out(documents, labels, epochs, lr, mean=True, once=False):
    """Losses and weight of full batches, from zeros, in float64."""
    words, classes = sorted({word for document in documents for word in document}), sorted(set(labels))
    x = torch.tensor([[document.count(word) for word in words] for document in documents]).double()
    x = x.clamp(max=1) if once else x
    y = torch.tensor([classes.index(label) for label in labels])
    weight, losses = torch.zeros(len(classes), len(words)).double(), []
    for _ in range(epochs):
        weight.requires_grad_()
        loss = F.cross_entropy(x @ weight.T, y, reduction="mean" if mean else "sum")
        (gradient,) = torch.autograd.grad(loss, weight)
        weight = (weight - lr * gradient).detach()
        losses.append(loss.item())
    return weight.float(), torch.tensor(losses)


@pytest.mark.parametrize(("epochs", "lr"), [(3, 0.5), (1, 0.125)])
def test_what_is_trained(answer, gen, epochs, lr):
    """Full batches give the losses and weights of gradient descent, on words and labels in sorted order."""
    given = texts(gen, 7)
    weight, losses = written_out(*given, epochs, lr)
    model, yours = answer.train(*given, zeros, list, seed=5, epochs=epochs, batch_size=9, lr=lr)
    note, mistakes = f"of {epochs} epochs with lr={lr}", {"the loss is a sum": {"mean": False}}
    mistakes["each word counts once"] = {"once": True}
    suspects = [
        {told: lambda i=i, m=m: written_out(*given, epochs, lr, **m)[i] for told, m in mistakes.items()}
        for i in (0, 1)
    ]
    expect_close(torch.tensor(yours), losses, f"the losses {note}", ulps=100, suspects=suspects[1])
    expect_close(model.weight.detach(), weight, f"the weight {note}", ulps=100, suspects=suspects[0])


@pytest.mark.fine
@pytest.mark.parametrize("stream", STREAMS)
def test_streams_are_left_alone(answer, gen, stream):
    """The global streams are after a run as they were before."""
    disturb(4)
    before = states()
    Run(answer, *texts(gen, 6), 9)
    same = states()[stream] == before[stream]
    expect_that(same, f"the global stream of {stream} is not where it was before train(…)")


def expect_settings(before, when):
    for name, now in settings().items():
        expect_equal(now, before[name], f"{name} after {when}")


CALLERS = [(False, False, False), (True, True, True), (True, False, True)]


@pytest.mark.fine
@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_settings_are_put_back(answer, gen, caller):
    """Whatever of the process is set for a run is put back after it, not only switched off."""
    strict, warn_only, torch.backends.cudnn.benchmark = caller
    torch.use_deterministic_algorithms(strict, warn_only=warn_only)
    torch.backends.cudnn.deterministic = warn_only
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        before = settings()
        Run(answer, *texts(gen, 5), 1)
        expect_settings(before, "train(…)")
    finally:
        torch.set_num_threads(threads)


@pytest.mark.fine
@pytest.mark.parametrize("where", ["make_model", "augment", "forward"])
def test_errors(answer, gen, where):
    """An error of make_model, augment or the model passes through, and all is put back nevertheless."""

    class Stop(Exception):
        pass

    def fail(name):
        draw()
        if name == where:
            raise Stop

    def make_model(words, classes):
        fail("make_model")
        model = nn.Linear(words, classes)
        model.register_forward_hook(lambda *_: fail("forward"))
        return model

    disturb(8)
    torch.backends.cudnn.benchmark, raised = True, False
    before, settled = states(), settings()
    try:
        answer.train(*texts(gen, 6), make_model, lambda words: fail("augment") or words, seed=2)
    except Stop:
        raised = True
    expect_that(raised, f"an error of {where} does not come out of train(…)")
    for stream, state in states().items():
        same = state == before[stream]
        expect_that(same, f"the global stream of {stream} is not put back after an error of {where}")
    expect_settings(settled, f"an error of {where}")


@pytest.mark.fine
def test_errors_not_warnings(answer, gen):
    """What is not deterministic raises in make_model and augment too, and does not only warn."""
    seen = []
    note = lambda name, value: seen.append((name, settings())) or value  # noqa: E731
    for caller in (True, False):
        torch.use_deterministic_algorithms(caller, warn_only=caller)
        make_model = lambda *sizes: note("make_model", nn.Linear(*sizes))  # noqa: E731
        answer.train(*texts(gen, 5), make_model, lambda words: note("augment", words), seed=1)
    for name, found in seen:
        expect_that(found["deterministic algorithms"], f"deterministic algorithms are off in {name}")
        expect_that(not found["warn_only"], f"what is not deterministic only warns in {name}")


@pytest.mark.fine
def test_model_and_arguments(answer, gen):
    """The result is the model that make_model has made, in its modes; the arguments stay as they are."""
    given, made = texts(gen, 6), []

    def make_model(words, classes):
        made.append(nn.Sequential(nn.Linear(words, classes), nn.Dropout(0.5).eval()))
        return made[-1]

    mine = copy.deepcopy(given)
    model, _ = answer.train(*given, make_model, list, seed=5)
    expect_that(model is made[0], "the model is not the one that make_model has made")
    expect_equal([part.training for part in model], [True, False], "the modes of the model's parts")
    expect_that(given == mine, "documents or labels are others after train(…)")


def oracle(answer, gen):
    many, some = texts(gen, 8), texts(gen, 9)
    lr = 0.1 + torch.rand((), generator=gen).item()
    words = [f"w{i}" for i in torch.randint(50, (30,), generator=gen).tolist()]

    def full_batches():
        model, losses = answer.train(*many, zeros, list, seed=4, epochs=3, batch_size=8, lr=lr)
        return [model.weight.detach(), losses]

    def repeated():
        one, other = (Run(answer, *some, 7) for _ in range(2))
        model, _ = answer.train(*some, zeros, list, seed=7, epochs=1, batch_size=9, lr=lr)
        return [one.losses == other.losses, torch.equal(one.start, other.start), model.weight.detach()]

    return {
        "full batches": full_batches,
        "a run that is repeated": repeated,
        "an index of words": lambda: answer.build_index(words),
    }
