"""What grades fit: new rows, the accuracy, seeds; odd columns, single rows, state_dict, streams."""

import copy
import math
import random

import numpy as np
import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_number, expect_that

CALL = "fit(train, valid, 3, seed)"
UNITS = {  # offset and size of each column
    "three arms": ((300.0, 40.0), (-0.002, 0.0005)),
    "three arms in other units": ((-5.0, 2.0), (1e4, 2e3)),
}


def spiral(gen, rows, units):
    """Rows of one spiral of three arms, sorted by arm."""
    labels = torch.arange(rows) * 3 // rows
    radius = 0.1 + 0.9 * torch.rand(rows, generator=gen)
    angle = labels * 2 * math.pi / 3 + 6 * radius + 0.1 * torch.randn(rows, generator=gen)
    position = (radius * angle.cos(), radius * angle.sin())
    return torch.stack([a + b * x for (a, b), x in zip(units, position, strict=True)], 1), labels


def tables(case, gen=None, rows=384):
    """Training, validation and new rows; always the same ones unless gen is given."""
    gen = gen or torch.Generator().manual_seed(1000)
    return [spiral(gen, n, UNITS[case]) for n in (rows, 100, 500)]


def streams():
    return {
        "torch": torch.get_rng_state().tolist(),
        "NumPy": np.random.get_state()[1].tolist(),
        "Python": random.getstate(),
    }


_fitted = {}


def fitted(answer, case="three arms", seed=0, wrong=False):
    """A copy of what fit returns, and what it changed: trained once for each answer, which takes a while."""
    if _fitted.get("answer") is not answer:
        _fitted.clear()
        _fitted["answer"] = answer
    if (case, seed, wrong) not in _fitted:
        train, (features, labels), _ = tables(case)
        valid = (features[::4], (labels[::4] + 1) % 3) if wrong else (features, labels)
        before = streams()
        model, accuracy = answer.fit(train, valid, 3, seed)
        changed = [name for name, state in streams().items() if state != before[name]]
        _fitted[case, seed, wrong] = model, accuracy, changed
    return copy.deepcopy(_fitted[case, seed, wrong])


def logits_of(model, features):
    with torch.no_grad():
        return model(features)


def share_of(model, table):
    return (logits_of(model, table[0]).argmax(-1) == table[1]).double().mean().item()


def expect_learned(model, train, new, case):
    share, known = share_of(model, new), share_of(model, train)
    likely = "it knows its training rows, and no others"
    if known < 0.9:
        likely = "are columns brought to one scale, gradients cleared, rows shuffled in each epoch?"
    if logits_of(model, new[0]).isnan().any():
        likely = "logits are NaN: is a column divided by a spread of 0?"
    facts = {"yours": f"{share:.3f}; of its own training rows {known:.3f}", "wanted": "at least 0.9"}
    expect_that(share >= 0.9, f"too many new rows are wrong, {case}", **facts, likely=likely)


@pytest.mark.parametrize("case", UNITS)
def test_new_rows(answer, case):
    """On new rows at least nine of ten are right, whatever the units are."""
    train, _, new = tables(case)
    expect_learned(fitted(answer, case)[0], train, new, case)


def test_logits(answer):
    """The model gives logits, one for each row and class."""
    logits = logits_of(fitted(answer)[0], tables("three arms")[2][0])
    expect_equal(logits.shape, torch.Size([500, 3]), "the shape of model(features) for 500 rows")
    told = "model(features) are probabilities: cross_entropy has the softmax inside, and wants logits"
    expect_that(bool(((logits < 0) | (logits > 1)).any()), told, yours=logits[:2])


def test_accuracy(answer):
    """The accuracy is the share of validation rows that the returned model gets right."""
    (model, accuracy, _), (train, valid, _) = fitted(answer), tables("three arms")
    right = share_of(model, valid)
    suspects = {
        "this is in per cent": lambda: 100 * right,
        "this is the number of rows": lambda: 100.0 * right,
        "this is the share of training rows": lambda: share_of(model, train),
    }
    expect_number(accuracy, right, f"the accuracy from {CALL}", suspects=suspects)


def test_wrong_labels(answer):
    """The accuracy is low where the labels of the validation rows are wrong."""
    accuracy = fitted(answer, wrong=True)[1]
    what = f"the accuracy from {CALL} where all labels in valid are wrong is high"
    likely = "it is measured on the training rows, or the validation rows are trained on"
    expect_that(accuracy < 0.7, what, yours=accuracy, wanted="about 0", likely=likely)


def expect_same(model, other, told, same=True):
    """Fail unless the parameters of both are the same, or not."""
    pairs = zip(model.parameters(), other.parameters(), strict=True)
    expect_that(all(torch.equal(p, q) for p, q in pairs) == same, told)


def test_seed(answer):
    """The same seed gives the same weights, whatever was drawn before."""
    train, valid, _ = tables("three arms")
    torch.rand(7), random.random(), np.random.rand()
    again, _ = answer.fit(train, valid, 3, 0)
    expect_same(fitted(answer)[0], again, f"a second {CALL} with the same seed gives other weights")


def test_other_seed(answer):
    """Another seed gives other weights."""
    told = f"{CALL} gives the same weights for the seeds 0 and 1"
    expect_same(fitted(answer)[0], fitted(answer, seed=1)[0], told, same=False)


@pytest.mark.fine
def test_odd_columns(answer):
    """A column may hold the same number in every row, another numbers of about 1e-6."""
    train, valid, new = (
        (torch.cat([x[:, :1], 1e-3 * x[:, 1:], torch.full((len(x), 1), 7.3)], 1), y)
        for x, y in tables("three arms")
    )
    model, _ = answer.fit(train, valid, 3, 0)
    expect_learned(model, train, new, "where a third column is 7.3 in every row, and the second about 1e-6")


@pytest.mark.fine
def test_single_row(answer):
    """A last batch of a single row does no harm."""
    train, valid, new = tables("three arms", rows=385)  # 6 · 64 + 1
    model, _ = answer.fit(train, valid, 3, 0)
    expect_learned(model, train, new, "385 training rows")


@pytest.mark.fine
def test_evaluation_mode(answer):
    """The model comes in evaluation mode in all its parts, and answers the same at each call."""
    model, features = fitted(answer)[0], tables("three arms")[2][0]
    training = [name or "the model itself" for name, m in model.named_modules() if m.training]
    expect_equal(training, [], "the modules that are in training mode")
    again = "the logits of the same rows in a second call"
    expect_equal(logits_of(model, features), logits_of(model, features), again)


@pytest.mark.fine
def test_rows_alone(answer):
    """The logits of a row depend on this row alone: not on those that come with it."""
    model, features = fitted(answer)[0], tables("three arms")[2][0]
    together = logits_of(model, features)
    for rows, name in [(slice(40, 43), "three rows by themselves"), (slice(7, 8), "a row by itself")]:
        yours = logits_of(model, features[rows])
        expect_close(yours, together[rows], f"the logits of {name}", ulps=200.0, scale=10.0)


@pytest.mark.fine
def test_state_dict(answer):
    """A model that was fitted to other rows and loads the state_dict predicts the same: units are in it."""
    model, other = fitted(answer)[0], fitted(answer, "three arms in other units")[0]
    other.load_state_dict(model.state_dict())
    features = tables("three arms")[2][0]
    call = "the logits of a model fitted in other units, once it has loaded the state_dict"
    expect_close(logits_of(other, features), logits_of(model, features), call, ulps=100.0)


@pytest.mark.fine
def test_valid_only_measures(answer):
    """The weights do not depend on the validation rows."""
    told = f"{CALL} gives other weights for other rows in valid"
    expect_same(fitted(answer)[0], fitted(answer, wrong=True)[0], told)


@pytest.mark.fine
def test_streams(answer):
    """The global random streams are afterwards where they were."""
    moved = fitted(answer)[2]
    expect_that(not moved, f"{CALL} draws from a global random stream, or seeds it", yours=", ".join(moved))


def hours(model, gen):
    """How long a machine is in each state: 40 spells of 101 rows, each in the state that most rows tell."""
    features, _ = spiral(gen, 3 * 300, UNITS["three arms"])
    states = torch.randint(3, (40,), generator=gen)
    rows = 300 * states[:, None] + torch.randint(300, (40, 101), generator=gen)
    lengths = torch.rand(40, generator=gen, dtype=torch.float64)
    told = logits_of(model, features[rows.view(-1)]).argmax(-1).view(40, 101).mode().values
    return torch.zeros(3, dtype=torch.float64).index_add(0, told, lengths)


def oracle(answer, gen):
    # The weights are free, and one row in ten may be wrong: what most of 101 rows tell is neither.
    train, valid, _ = tables("three arms", gen)
    model, accuracy = answer.fit(train, valid, 3, 4)
    machines = {f"the hours of machine {number} in each state": hours(model, gen) for number in range(1, 6)}
    is_right = abs(share_of(model, valid) - accuracy) < 1e-6
    told = "the accuracy is that of the model on the validation rows"
    return machines | {told: [hours(model, gen), is_right]}
