"""What grades migrate: versions, prefixes, steps; clashes, newer versions, what stays."""

import copy

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that

STEPS = [
    [("encoder.", "body."), ("fc.", "head.")],
    [("body.conv.", "body.stem."), ("body.", "trunk."), ("trunk.", "lost.")],
    [("head.", "heads.0."), ("", "net.")],
]
CALL = "migrate(checkpoint, steps)"


def tensors(gen, *names):
    return {name: torch.randn(2, generator=gen) for name in names}


def names(answer, gen, given, version=None, steps=STEPS):
    """The names that come back, each behind the one that its tensor had."""
    state = tensors(gen, *given)
    yours = answer.migrate(state if version is None else {"version": version, "model": state}, steps)
    back = {tuple(tensor.tolist()): name for name, tensor in yours.items()}
    return {name: back.get(tuple(tensor.tolist())) for name, tensor in state.items()}


OLD = ["encoder.conv.weight", "encoder.norm.bias", "fc.bias", "scale"]
TODAY = ["net.body.stem.weight", "net.trunk.norm.bias", "heads.0.bias", "net.scale"]


def test_all_steps(answer, gen):
    """A state dict alone is of version 0: all steps are taken, in order, one renaming in each."""
    expect_equal(names(answer, gen, OLD), dict(zip(OLD, TODAY, strict=True)), f"the new names from {CALL}")


def test_versions(answer, gen):
    """A checkpoint with a version takes the steps from there on."""
    given = ["body.conv.weight", "encoder.a", "head.bias"]
    wanted = [
        ["net.body.stem.weight", "net.encoder.a", "heads.0.bias"],
        ["net.body.conv.weight", "net.encoder.a", "heads.0.bias"],
        given,
    ]
    for version, new in enumerate(wanted, start=1):
        call = f"the new names from {CALL}, version {version} of 3"
        expect_equal(names(answer, gen, given, version), dict(zip(given, new, strict=True)), call)


@pytest.mark.parametrize(
    "prefix", ["module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "module.module._orig_mod."]
)
def test_prefixes(answer, gen, prefix):
    """What DistributedDataParallel and torch.compile put before all names is taken off."""
    given = [prefix + name for name in OLD]
    for version, new in ((None, TODAY), (3, OLD)):
        call = f"the new names from {CALL}, all names beginning with {prefix!r}"
        expect_equal(names(answer, gen, given, version), dict(zip(given, new, strict=True)), call)


def test_not_on_all(answer, gen):
    """A prefix that some names have and others do not is a layer's name, and stays."""
    given = ["module.weight", "head.bias", "_orig_mod.weight"]
    expect_equal(names(answer, gen, given, 3), {n: n for n in given}, f"the new names from {CALL}")


def test_first_pair(answer, gen):
    """The first pair that fits renames, at the beginning of a name alone."""
    steps = [[("a.", "x."), ("a.b.", "y."), ("b", "c")]]
    given = {"a.b.w": "x.b.w", "b.a.w": "c.a.w", "d.a.b.w": "d.a.b.w", "ab.w": "ab.w", "b": "c"}
    call = "the new names for one step of [('a.', 'x.'), ('a.b.', 'y.'), ('b', 'c')]"
    expect_equal(names(answer, gen, given, steps=steps), given, call)


def test_exchange(answer, gen):
    """A step may exchange two names."""
    given = {"left.w": "right.w", "right.w": "left.w"}
    steps = [[("left.", "right."), ("right.", "left.")]]
    expect_equal(names(answer, gen, given, steps=steps), given, "the new names where left and right change")


@pytest.mark.fine
def test_clashes(answer, gen):
    """Where two names become one, it raises ValueError."""
    for state, steps in (
        (tensors(gen, "a.w", "b.w"), [[("a.", "b.")]]),
        (tensors(gen, "b.w", "a.w"), [[("a.", "b.")]]),
        (tensors(gen, "a.w", "c.w"), [[("a.", "b."), ("c.", "b.")], [("b.", "d.")]]),
    ):
        call = f"migrate of {list(state)} by {steps}"
        expect_raises(ValueError, lambda s=state, steps=steps: answer.migrate(s, steps), call)


@pytest.mark.fine
def test_newer_versions(answer, gen):
    """A version that is newer than the steps raises ValueError."""
    saved = {"version": 4, "model": tensors(gen, "a")}
    expect_raises(ValueError, lambda: answer.migrate(saved, STEPS), f"{CALL}, version 4 of 3")


@pytest.mark.fine
def test_what_stays(answer, gen):
    """The checkpoint stays as it is, tensors are the very ones, in their order; nothing stays nothing."""
    state = tensors(gen, *(f"module.{name}" for name in OLD))
    saved = {"version": 0, "model": state}
    before = copy.deepcopy(saved)
    yours = answer.migrate(saved, STEPS)
    expect_equal(saved, before, f"the checkpoint after {CALL}")
    expect_equal(list(yours), TODAY, f"the order of names from {CALL}")
    same = all(a is b for a, b in zip(yours.values(), state.values(), strict=True))
    expect_that(same, f"{CALL} copies tensors")
    expect_equal(answer.migrate({}, STEPS), {}, "migrate({}, steps)")


@pytest.mark.fine
def test_further_inside(answer, gen):
    """A layer that is called module further inside keeps its name."""
    given = {"module.a.module.w": "a.module.w", "module.b._orig_mod.w": "b._orig_mod.w"}
    expect_equal(names(answer, gen, given, 3), given, f"the new names from {CALL}")


def oracle(answer, gen):
    def pick(*options):
        return options[int(torch.randint(len(options), (), generator=gen))]

    def case(version):
        layer = f"layer{int(torch.randint(1 << 30, (), generator=gen))}."
        prefix = pick("module.", "_orig_mod.", "module._orig_mod.", "")
        given = [prefix + layer + name for name in ("encoder.w", "norm.w", "b")]
        steps = [[(layer, "body.")], [("body.encoder.", "stem."), ("", "net.")], [("stem.", layer)]]
        state = tensors(gen, *given)
        return lambda: answer.migrate({"version": version, "model": state}, steps)

    return {f"a checkpoint of version {version}": case(version) for version in range(4)}
