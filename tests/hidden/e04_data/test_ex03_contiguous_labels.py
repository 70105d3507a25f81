"""What grades contiguous_labels: any integers, dtypes, ignored labels, shapes, errors, devices, cost."""

import itertools

import pytest
import torch

from grader.checks import (
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_raises,
    expect_that,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import is_simulated, on_host

SIGNED = [torch.int8, torch.int16, torch.int32, torch.int64]
LARGE = 2**62 + 1
SETS = {
    "gaps": ([90, 1, 3, 3, 13, 90], torch.int64),
    "negative": ([4, -7, -1, 4, 0], torch.int32),
    "bytes": ([255, 128, 0, 255], torch.uint8),
    "small": ([127, -128, 0], torch.int8),
    "short": ([-32768, 300, 32767, 300], torch.int16),
    "ids of 64 bits": ([2**63 - 1, -(2**63), 5, LARGE, LARGE - 1, -LARGE], torch.int64),
    "64 bits below 0 only": ([-(2**40), 5, -1, 5 - 2**32], torch.int64),
    "neighbours above 2**53": ([2**53 + 2, 2**53 + 1, 2**53], torch.int64),
    "neighbours above 2**24": ([2**24 + 2, 2**24 + 1, 2**24], torch.int32),
    "one class": ([7, 7], torch.int64),
    "already from 0 on": ([0, 2, 1], torch.int64),
}


def drawn(gen, values, shape):
    """A tensor of this shape with values drawn from the list; its codes are the places in the list."""
    codes = torch.randint(len(values), shape, generator=gen)
    return codes, torch.tensor(values)[codes]


def expect_map(classes, values, dtype, call):
    expect_equal(len(classes), len(values), f"len({call})")
    expect_equal(classes.labels, torch.tensor(values, dtype=dtype), f"{call}.labels", dims="classes")


@pytest.mark.parametrize("name", SETS)
def test_label_sets(answer, gen, name):
    """Labels with gaps, negative or of 64 bits become 0, 1, 2, … in ascending order, and come back."""
    given, dtype = SETS[name]
    values = sorted(set(given))
    classes = answer.ClassMap(torch.tensor(given, dtype=dtype))
    expect_map(classes, values, dtype, f"ClassMap({given})")
    codes, labels = drawn(gen, values, (4, 5))
    labels = labels.to(dtype)
    known = torch.tensor(values)
    suspects = {
        "labels are compared as floats, to which neighbours this large are one number": lambda: (
            torch.searchsorted(known.double(), labels.double())
        ),
        "labels are compared in float32, to which neighbours this large are one number": lambda: (
            torch.searchsorted(known.float(), labels.float())
        ),
        "255 is ignored, though no ignore is given": lambda: codes.masked_fill(labels == 255, -100),
    }
    call = f"encode of labels from {values} in {dtype}"
    expect_equal(classes.encode(labels), codes, call, suspects=suspects)
    expect_equal(classes.decode(codes), labels, f"decode of codes of {values}")
    again = answer.ClassMap(torch.tensor(given[::-1] * 3, dtype=dtype))
    expect_map(again, values, dtype, f"ClassMap({given[::-1]}, three times)")
    expect_equal(again.encode(labels[:1]), codes[:1], "encode of a map from labels in another order")


def test_ignore(answer, gen):
    """The ignored label is no class, becomes -100 and comes back, whatever number it is."""
    for values, ignore, dtype in (
        ([3, 7, 40], 255, torch.uint8),
        ([1, 5], 0, torch.uint8),
        ([-3, 2, 9], -1, torch.int64),
        ([0, 1, 2], -100, torch.int16),
        ([-100, 5, 6], 4, torch.int64),
        ([0, 1, 5], 2, torch.int32),
        ([-5, LARGE], LARGE - 1, torch.int64),
    ):
        for seen in (True, False):
            given = torch.tensor(values + [ignore] * seen, dtype=dtype)
            classes = answer.ClassMap(given, ignore=ignore)
            call = f"ClassMap({given.tolist()}, ignore={ignore})"
            expect_map(classes, values, dtype, call)
            places, labels = drawn(gen, [*values, ignore], (3, 4))
            places[0, 0], labels[0, 0] = len(values), ignore
            labels = labels.to(dtype)
            codes = places.masked_fill(places == len(values), -100)
            expect_equal(classes.encode(labels), codes, f"{call}.encode(labels)")
            expect_equal(classes.decode(codes), labels, f"{call}.decode(codes)")
            all_ignored = torch.full((2, 3), ignore, dtype=dtype)
            expect_equal(
                classes.encode(all_ignored), torch.full((2, 3), -100), f"{call}.encode of ignored ones"
            )
            expect_equal(classes.decode(torch.full((2, 3), -100)), all_ignored, f"{call}.decode of -100 only")
    positional = answer.ClassMap(torch.tensor([4, 2, 9]), 9)
    expect_map(positional, [2, 4], torch.int64, "ClassMap(tensor([4, 2, 9]), 9)")


def test_not_ignored(answer):
    """Without an ignored label, -100 and 255 are labels like others, and 0 may be one too."""
    classes = answer.ClassMap(torch.tensor([255, -100, 0]))
    expect_map(classes, [-100, 0, 255], torch.int64, "ClassMap(tensor([255, -100, 0]))")
    labels = torch.tensor([0, 255, -100])
    expect_equal(classes.encode(labels), torch.tensor([1, 2, 0]), "encode(tensor([0, 255, -100]))")
    expect_equal(classes.decode(torch.tensor([1, 2, 0])), labels, "decode(tensor([1, 2, 0]))")
    expect_raises(
        IndexError, lambda: classes.decode(torch.tensor([1, -100])), "decode of -100 without ignore"
    )


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_shapes(answer, gen, shape):
    """Any shape goes there and back, also none and empty ones; and classes are found in any shape."""
    values = [-4, 6, 11]
    codes, labels = drawn(gen, values, shape)
    classes = answer.ClassMap(torch.tensor(values))
    expect_equal(classes.encode(labels), codes, f"encode of labels {shape}")
    expect_equal(classes.decode(codes), labels, f"decode of codes {shape}")
    found = sorted(set(labels.flatten().tolist()))
    expect_map(answer.ClassMap(labels.int()), found, torch.int32, f"ClassMap(labels {shape})")


def test_layouts(answer, gen):
    """Transposed, strided and expanded labels are numbered like others."""
    values = [-4, 6, 11]
    classes = answer.ClassMap(torch.tensor(values))
    codes, labels = drawn(gen, values, (6, 4))
    for name, change in {
        "transposed": lambda t: t.T,
        "strided": lambda t: t[::2, 1::2],
        "expanded": lambda t: t[:1].expand(3, 4),
        "a column": lambda t: t[:, 1],
    }.items():
        yours = classes.encode(change(labels))
        expect_equal(yours, change(codes), f"encode of labels that are {name}")
        expect_equal(classes.decode(change(codes)), change(labels), f"decode of codes that are {name}")
        found = sorted(set(change(labels).flatten().tolist()))
        expect_map(answer.ClassMap(change(labels)), found, torch.int64, f"ClassMap of labels that are {name}")


def test_other_dtypes(answer):
    """encode takes labels, and decode codes, of other dtypes; a number that would wrap around is no class."""
    for own, values in ((torch.uint8, [3, 7, 40]), (torch.int64, [3, 7, 40]), (torch.int8, [3, 7, 40])):
        classes = answer.ClassMap(torch.tensor(values, dtype=own), ignore=100)
        for dtype in [torch.uint8, *SIGNED]:
            labels = torch.tensor([40, 3, 100], dtype=dtype)
            call = f"encode of labels in {dtype}, with a map in {own}"
            expect_equal(classes.encode(labels), torch.tensor([2, 0, -100]), call)
        for dtype in SIGNED:
            codes = torch.tensor([2, -100, 0, 1], dtype=dtype)
            wanted = torch.tensor([40, 100, 3, 7], dtype=own)
            expect_equal(classes.decode(codes), wanted, f"decode of codes in {dtype}, with a map in {own}")
    classes = answer.ClassMap(torch.tensor([3, 7, 40], dtype=torch.uint8), ignore=255)
    for label in (263, -249, -1, 511, 2**32 + 7, 2**40):
        expect_raises(
            ValueError,
            lambda label=label: classes.encode(torch.tensor([7, label])),
            f"encode of {label} with a map in uint8",
            words=str(label),
        )
    for label, dtype in ((-1, torch.int8), (511, torch.int16), (-1, torch.int64)):
        expect_raises(
            ValueError,
            lambda label=label, dtype=dtype: classes.encode(torch.tensor([7, label], dtype=dtype)),
            f"encode of {label} in {dtype} where 255 is ignored",
            words=str(label),
        )
    wide = answer.ClassMap(torch.tensor([263, 519, 65543]))
    for dtype in (torch.uint8, torch.int8, torch.int16):
        seven = torch.tensor([7], dtype=dtype)
        expect_raises(
            ValueError, lambda x=seven: wide.encode(x), f"encode of 7 in {dtype} where 263 is a class"
        )
    for code in (256, 2**32, -256, 2**32 - 100):
        expect_raises(
            IndexError,
            lambda code=code: classes.decode(torch.tensor([0, code])),
            f"decode of {code} with a map in uint8",
        )


def test_many_classes(answer):
    """There may be more classes than the labels' dtype can count."""
    values = list(range(-128, 128))
    classes = answer.ClassMap(torch.tensor(values, dtype=torch.int8))
    codes = torch.arange(256).flip(0)
    labels = torch.tensor(values[::-1], dtype=torch.int8)
    expect_equal(classes.encode(labels), codes, "encode with 256 classes in int8")
    expect_equal(classes.decode(codes), labels, "decode with 256 classes in int8")
    few = torch.tensor([127, 0, 5], dtype=torch.int8)
    wanted = torch.tensor([-1, -128, -123], dtype=torch.int8)
    expect_equal(classes.decode(few), wanted, "decode of codes in int8 with 256 classes")
    for code in (-100, -1, -256, 256):
        expect_raises(
            IndexError,
            lambda code=code: classes.decode(torch.tensor([0, code])),
            f"decode of {code} with 256 classes, without ignore",
        )


def test_unknown_labels(answer):
    """A label that is no class raises ValueError and is named: below, between, above, or the only one."""
    for values, ignore in (([10, 20, 30], None), ([10, 20, 30], 25), ([-5], None), ([-5], 10)):
        classes = answer.ClassMap(torch.tensor(values), ignore=ignore)
        for label in (-77, 15, 29, 31, 0, 1, -100, 2**63 - 1):
            for labels in (
                torch.tensor([values[0], label]),
                torch.tensor(label),
                torch.tensor([[label]] * 2),
            ):
                expect_raises(
                    ValueError,
                    lambda classes=classes, labels=labels: classes.encode(labels),
                    f"encode({labels.tolist()}) with the classes {values} and ignore={ignore}",
                    words=str(label),
                )
    large = answer.ClassMap(torch.tensor([LARGE, 5]))
    for label in (LARGE - 1, LARGE + 1):
        expect_raises(
            ValueError,
            lambda label=label: large.encode(torch.tensor([5, label])),
            f"encode(tensor([5, {label}])), which is next to a class of 64 bits",
            words=str(label),
        )


def test_unknown_codes(answer):
    """A code outside of 0 … C−1 raises IndexError; none counts from the end."""
    for values, ignore in (([10, 20, 30], None), ([10, 20, 30], 25), ([-5], 255)):
        classes = answer.ClassMap(torch.tensor(values), ignore=ignore)
        bad = [-1, -len(values), len(values), len(values) + 1, 100, -99, -101, 10**6]
        for code in bad + [-100] * (ignore is None):
            for codes in (torch.tensor([0, code]), torch.tensor(code)):
                expect_raises(
                    IndexError,
                    lambda classes=classes, codes=codes: classes.decode(codes),
                    f"decode({codes.tolist()}) with {len(values)} classes and ignore={ignore}",
                )


def test_no_classes(answer):
    """A map without classes numbers nothing: empty tensors, and ignored labels, pass."""
    nothing = torch.empty(0, dtype=torch.int32)
    for given, ignore in ((nothing, None), (nothing, 9), (torch.tensor([9, 9], dtype=torch.int32), 9)):
        classes = answer.ClassMap(given, ignore=ignore)
        call = f"ClassMap({given.tolist()}, ignore={ignore})"
        expect_map(classes, [], torch.int32, call)
        expect_equal(classes.encode(nothing), nothing.long(), f"{call}.encode(nothing)")
        expect_equal(classes.decode(nothing.long()), nothing, f"{call}.decode(nothing)")
        expect_raises(
            ValueError, lambda c=classes: c.encode(torch.tensor([5])), f"{call}.encode of 5", words="5"
        )
        expect_raises(IndexError, lambda c=classes: c.decode(torch.tensor([0])), f"{call}.decode of 0")
        if ignore is not None:
            nines = torch.tensor([9, 9], dtype=torch.int32)
            expect_equal(classes.encode(nines), torch.tensor([-100, -100]), f"{call}.encode of ignored ones")
            expect_equal(classes.decode(torch.tensor([-100, -100])), nines, f"{call}.decode of -100")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_floats(answer, dtype):
    """Floats raise TypeError, also whole ones and empty tensors."""
    classes = answer.ClassMap(torch.tensor([0, 1, 2]), ignore=9)
    kinds = [dtype] if dtype != torch.float16 else [dtype, torch.bfloat16]
    for values, kind in itertools.product(([0.0, 1.0], [0.5], []), kinds):
        floats = torch.tensor(values, dtype=kind)
        for name, call in (
            ("ClassMap", answer.ClassMap),
            ("encode", classes.encode),
            ("decode", classes.decode),
        ):
            expect_raises(TypeError, lambda call=call, x=floats: call(x), f"{name}({values} in {kind})")


def test_memory(answer, gen):
    """Arguments stay as they are, results are the caller's own, and the map keeps its classes."""
    values = [0, 1, 2]
    given = torch.tensor(values)
    classes = answer.ClassMap(given)
    other = answer.ClassMap(torch.tensor([5, 6]), ignore=0)
    codes, labels = drawn(gen, values, (5,))
    with unchanged("encode(labels)", labels=labels):
        encoded = classes.encode(labels)
    with unchanged("decode(codes)", codes=codes):
        decoded = classes.decode(codes)
    expect_copy(encoded, labels, "encode(labels)")
    expect_copy(decoded, codes, "decode(codes)")
    wanted = codes.clone(), labels.clone()
    for t in (
        given,
        encoded,
        decoded,
        classes.decode(torch.tensor([0, 1, 2])),
        classes.decode(torch.tensor(1)),
    ):
        t.fill_(77)
    expect_map(
        classes, values, torch.int64, "ClassMap(labels), after its argument and results were overwritten"
    )
    expect_equal(
        classes.encode(labels),
        wanted[0],
        "encode(labels), again, after the codes that it gave were overwritten",
    )
    expect_equal(
        classes.decode(codes),
        wanted[1],
        "decode(codes), again, after the labels that it gave were overwritten",
    )
    expect_map(other, [5, 6], torch.int64, "another ClassMap")
    given = torch.tensor([8])
    classes = answer.ClassMap(given)
    given.fill_(77)
    classes.decode(torch.tensor([0])).fill_(77)
    call = "ClassMap(tensor([8])), after its argument and what decode gave were overwritten"
    expect_map(classes, [8], torch.int64, call)
    labels, codes = torch.tensor([6, 0, 5]), torch.tensor([1, -100, 0])
    with unchanged("encode(labels) with ignored ones", labels=labels):
        expect_equal(other.encode(labels), codes, "encode with another map")
    with unchanged("decode(codes) with ignored ones", codes=codes):
        expect_equal(other.decode(codes), labels, "decode with another map")
    labels = wanted[1]
    with unchanged("ClassMap(labels, ignore=2)", labels=labels):
        answer.ClassMap(labels, ignore=2)


def test_cost(answer, gen):
    """There is no Python loop over labels, codes or classes, and memory does not go by the largest label."""
    classes = answer.ClassMap(torch.arange(5) * 3, ignore=1)
    codes = torch.randint(5, (30,), generator=gen)
    expect_flat_cost(lambda n: lambda: classes.encode(codes[:n] * 3), "encode(labels)")
    expect_flat_cost(lambda n: lambda: classes.decode(codes[:n]), "decode(codes)")
    expect_flat_cost(lambda n: lambda: answer.ClassMap(torch.arange(n)), "ClassMap(labels)")
    maps = {n: answer.ClassMap(torch.arange(n)) for n in (6, 24)}
    expect_flat_cost(
        lambda n: lambda: maps[n].encode(codes), "encode(labels) by number of classes", over="classes"
    )

    def there_and_back(largest):
        ids = torch.tensor([3, largest, 3])
        classes = answer.ClassMap(ids, ignore=3)
        classes.decode(classes.encode(ids))

    small, large = (peak_bytes(lambda largest=largest: there_and_back(largest)) for largest in (9, 900_000))
    expect_that(
        large < small + 10_000,
        "a map of large labels takes more memory than one of small labels",
        yours=f"{small} bytes with the labels 3 and 9, {large} bytes with 3 and 900000",
        wanted="as much",
        likely="a table with a place for each number up to the largest label",
    )


def test_on_a_device(answer, gen, device):
    """Labels and codes on another device are mapped there, wherever the map was built."""
    values = [-4, 6, 11]
    codes, labels = drawn(gen, [*values, 99], (3, 4))
    codes = codes.masked_fill(codes == 3, -100)
    for built in ("cpu", device):
        classes = answer.ClassMap(torch.tensor([*values, 99]).to(built), ignore=99)
        for place in ("cpu", device):
            call = f"with labels on {place} and a map built on {built}"
            encoded = classes.encode(labels.to(place))
            decoded = classes.decode(codes.to(place))
            for t in (encoded, decoded):
                expect_that(is_simulated(t) == (place == device), f"the result is on another device {call}")
            expect_equal(on_host(encoded), codes, f"encode {call}")
            expect_equal(on_host(decoded), labels, f"decode {call}")


def oracle(answer, gen):
    labels = torch.randint(-(10**12), 10**12, (6,), generator=gen)[torch.randint(6, (4, 5), generator=gen)]
    classes = answer.ClassMap(labels, ignore=int(labels[0, 0]))
    codes = classes.encode(labels.T)
    return [len(classes), classes.labels, codes, classes.decode(codes)]
