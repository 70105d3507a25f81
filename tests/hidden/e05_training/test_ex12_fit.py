"""What grades fit: new rows of several data sets, single rows, state_dict, seeds, tensors kept."""

import copy
import math
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    CheckFailure,
    expect_close,
    expect_equal,
    expect_that,
    global_rng_untouched,
    modes_kept,
    unchanged,
)

# arms, training rows, units (offset and size of each column), seeds of the rows and of fit
CASES = {
    "three arms": (3, 385, ((300.0, 40.0), (-0.002, 0.0005)), 0, 0),
    # the same rows times 2⁻⁶ and 2²⁵, so that the same seed would give the same weights to the last bit
    "three arms in other units": (
        3,
        385,
        ((300 / 64, 40 / 64), (-0.002 * 2**25, 0.0005 * 2**25)),
        0,
        2**20,
    ),
    "two arms": (2, 449, ((0.0, 1e-6), (2.0, 1.0)), 2, 2),
}
CLASSES = 4  # one or two of which have no rows: a model of any case can load that of any other


def spiral(gen, rows, arms, units, third="dead"):
    """Rows of one spiral; the third sensor is dead, or measures what the first does, or is not there."""
    labels = torch.arange(rows) * arms // rows
    radius = 0.1 + 0.9 * torch.rand(rows, generator=gen)
    angle = labels * 2 * math.pi / arms + 6 * radius + 0.1 * torch.randn(rows, generator=gen)
    position = (radius * angle.cos(), radius * angle.sin())
    columns = [offset + size * x for (offset, size), x in zip(units, position, strict=True)]
    if third == "dead":
        columns.append(torch.full((rows,), 7.3))
    elif third == "first":
        columns.append(columns[0] + 0.05 * units[0][1] * torch.randn(rows, generator=gen))
    return torch.stack(columns, 1), labels


def tables(case, gen=None):
    """Training, validation and new rows."""
    arms, rows, units, seed, _ = CASES[case]
    third = "none" if gen else "first" if case == "two arms" else "dead"
    gen = gen or torch.Generator().manual_seed(1000 + seed)
    return [spiral(gen, n, arms, units, third) for n in (rows, 100, 500)]


_fitted = {}


def fitted(answer, case):
    """A copy of what fit returns for a case: trained once for each answer, because it takes a while."""
    *_, seed = CASES[case]
    if _fitted.get("answer") is not answer:
        _fitted.clear()
        _fitted["answer"] = answer
    if case not in _fitted:
        train, valid, _ = tables(case)
        with modes_kept("fit(…)"):
            _fitted[case] = answer.fit(train, valid, CLASSES, seed)
    return copy.deepcopy(_fitted[case])


def logits_of(model, features):
    with torch.no_grad():
        return model(features)


def weights_of(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def expect_same_weights(yours, wanted, when):
    expect_equal(sorted(yours), sorted(wanted), f"the names in the state_dict {when}")
    for name, right in wanted.items():
        expect_equal(yours[name], right, f"{name} {when}")


@pytest.mark.parametrize("case", ["three arms", "two arms"])
def test_new_rows(answer, case):
    """On new rows at least nine of ten are right, and the logits say so: for each data set and seed."""
    _, _, (features, labels) = tables(case)
    logits = logits_of(fitted(answer, case)[0], features)
    expect_equal(
        (logits.shape, str(logits.dtype)),
        (torch.Size([500, CLASSES]), "torch.float32"),
        "shape and dtype of logits",
    )
    share = (logits.argmax(-1) == labels).double().mean().item()
    expect_that(
        share >= 0.9, f"too many new rows are wrong, {case}", yours=f"{share:.3f}", wanted="at least 0.9"
    )
    entropy = F.cross_entropy(logits, labels).item()
    expect_that(
        entropy < 0.5,
        f"the cross-entropy of the logits on new rows is too high, {case}",
        yours=f"{entropy:.3f}",
        wanted="below 0.5",
    )


def test_accuracy(answer):
    """The accuracy is the share of validation rows that the returned model gets right, a plain float."""
    case = "three arms"
    model, accuracy = fitted(answer, case)
    _, (features, labels), _ = tables(case)
    share = (logits_of(model, features).argmax(-1) == labels).double().mean().item()
    expect_equal(type(accuracy).__name__, "float", "the type of the accuracy")
    expect_that(
        math.isclose(accuracy, share, abs_tol=1e-6),
        f"wrong accuracy, {case}",
        yours=f"{accuracy:.4f}",
        wanted=f"{share:.4f}, on the rows of valid",
    )


def test_evaluation_mode(answer):
    """The model is in evaluation mode in all its parts, and answers the same at each call."""
    case = "three arms"
    model, _ = fitted(answer, case)
    expect_that(isinstance(model, nn.Module), "the model is no nn.Module", yours=model)
    training = [name or "the model itself" for name, m in model.named_modules() if m.training]
    expect_equal(training, [], "the modules that are in training mode")
    before = weights_of(model)
    features = tables(case)[2][0]
    first = logits_of(model, features)
    expect_equal(logits_of(model, features), first, "the logits of the same rows in a second call")
    expect_same_weights(weights_of(model), before, "after the model has run")


def test_rows_alone(answer):
    """The logits of a row depend on this row alone: not on those that come with it."""
    case = "three arms"
    model, _ = fitted(answer, case)
    features = tables(case)[2][0]
    together = logits_of(model, features)
    few = logits_of(model, features[40:43])
    expect_close(few, together[40:43], "the logits of three rows by themselves", ulps=200.0, scale=10.0)
    one = logits_of(model, features[7:8])
    expect_close(one, together[7:8], "the logits of a row by itself", ulps=200.0, scale=10.0)
    none = logits_of(model, features[:0])
    expect_equal(none, together[:0], "the logits of 0 rows")


def test_state_dict(answer):
    """A model that was fitted to other rows and loads the state_dict predicts the same: units are in it."""
    for case, another in (("three arms", "two arms"), ("two arms", "three arms")):
        model, other = fitted(answer, case)[0], fitted(answer, another)[0]
        features = tables(case)[2][0]
        try:
            other.load_state_dict(model.state_dict())
        except RuntimeError as error:
            raise CheckFailure(
                f"a model that was fitted to {another} cannot load the state_dict of one fitted to {case}: "
                "other rows, and another third column, which is the same number in all of three arms"
                f"\n  {str(error).splitlines()[-1].strip()}"
            ) from None
        yours = logits_of(other, features)
        call = f"the logits of a model fitted to {another}, with the state_dict of one fitted to {case}"
        expect_close(yours, logits_of(model, features), call, ulps=100.0)


def test_same_seed(answer):
    """The same rows and seed give the same weights, whatever was drawn before and is in valid."""
    model, _ = fitted(answer, "three arms")
    train, _, (features, labels) = tables("three arms")
    features, labels = features[::4].clone(), (labels[::4] + 1) % 3  # of another number, too
    torch.rand(7)
    streams = random.getstate(), np.random.get_state()[1].tolist()
    with (
        global_rng_untouched("fit(train, valid, classes, seed)"),
        unchanged("fit", features=train[0], labels=train[1], valid_features=features, valid_labels=labels),
    ):
        again, accuracy = answer.fit(train, (features, labels), CLASSES, 0)
    same = streams == (random.getstate(), np.random.get_state()[1].tolist())
    expect_that(same, "fit draws from the global stream of Python or NumPy, or seeds it")
    share = (logits_of(again, features).argmax(-1) == labels).double().mean().item()
    expect_that(
        math.isclose(accuracy, share, abs_tol=1e-6),
        "wrong accuracy where the labels of valid are wrong",
        yours=f"{accuracy:.4f}",
        wanted=f"{share:.4f}",
    )
    expect_same_weights(
        weights_of(again), weights_of(model), "of a second fit with the same seed, and with other valid rows,"
    )


def test_other_seed(answer):
    """Another seed gives other weights."""
    weights = weights_of(fitted(answer, "three arms in other units")[0])
    parameters = fitted(answer, "three arms")[0].named_parameters()
    differ = any(not torch.equal(p.detach(), weights[name]) for name, p in parameters)
    expect_that(differ, "another seed gives the same weights")


def hours(model, gen):
    """How long a machine is in each state: 40 spells of 101 rows, each in the state that most rows tell."""
    features, _ = spiral(gen, 3 * 300, 3, CASES["three arms"][2], "none")
    states = torch.randint(3, (40,), generator=gen)
    rows = 300 * states[:, None] + torch.randint(300, (40, 101), generator=gen)
    lengths = torch.rand(40, generator=gen, dtype=torch.float64)
    told = logits_of(model, features[rows.view(-1)]).argmax(-1).view(40, 101).mode().values
    return torch.zeros(3, dtype=torch.float64).index_add(0, told, lengths)


def oracle(answer, gen):
    # The weights are free, and one row in ten may be wrong: what most of 101 rows tell is neither.
    train, valid, (features, _) = tables("three arms", gen)
    model, accuracy = answer.fit(train, valid, 3, 4)
    logits = logits_of(model, features)
    share = (logits_of(model, valid[0]).argmax(-1) == valid[1]).double().mean().item()
    machines = {f"the hours of machine {number} in each state": hours(model, gen) for number in range(1, 6)}
    return machines | {
        "the accuracy is that of the model on the validation rows": abs(share - accuracy) < 1e-6,
        "the logits of 500 rows": [list(logits.shape), logits.dtype, model.training],
    }
