"""What grades contiguous_labels: classes, codes, the way back, cost; unknown labels, dtypes, empties."""

import pytest
import torch

from grader.checks import expect_equal, expect_flat_cost, expect_raises, expect_that, unchanged
from grader.checks.devices import is_simulated, on_host

IDS = [-2, 0, 3, 7, 11, 40, 63, 90]


def drawn(gen, *sizes, ids=(), dtype=torch.int64):
    """Labels in any order, each of `ids` at least once where there is room."""
    ids = torch.tensor(ids or IDS)
    picked = torch.cat(
        [torch.randperm(len(ids), generator=gen), torch.randint(len(ids), (99,), generator=gen)]
    )
    count = torch.Size(sizes).numel()
    return ids[picked[:count][torch.randperm(count, generator=gen)]].view(sizes).to(dtype)


def coded(labels, classes, ignore=None):
    """Class numbers, label by label."""
    codes = [-100 if n == ignore else classes.index(n) for n in labels.flatten().tolist()]
    return torch.tensor(codes, dtype=torch.int64).view(labels.shape)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
def test_classes(answer, gen, dtype):
    """The classes are the distinct labels, ascending, without `ignore`, in the dtype of the labels."""
    ids = [3, 7, 11, 40, 63, 90]
    labels = drawn(gen, 4, 5, ids=ids, dtype=dtype)
    for ignore in (None, 255, 11, 3):
        left = [n for n in ids if n != ignore]
        classes, call = answer.ClassMap(labels, ignore), f"ClassMap(labels, ignore={ignore})"
        with_ignore = {"`ignore` is a class: it is to be left out": lambda: torch.tensor(ids, dtype=dtype)}
        wanted = torch.tensor(left, dtype=dtype)
        expect_equal(classes.labels, wanted, f"labels of {call}", dims="classes", suspects=with_ignore)
        expect_equal(len(classes), len(left), f"len({call})")


@pytest.mark.parametrize("ignore", [None, 40, 0])
@pytest.mark.parametrize("sizes", [(12,), (3, 4), (2, 3, 4)], ids=str)
def test_encode(answer, gen, sizes, ignore):
    """Each label becomes its class number in int64, and `ignore` -100, in any shape."""
    labels = drawn(gen, *sizes)
    wanted = coded(labels, [n for n in IDS if n != ignore], ignore)
    with_ignore = {
        "`ignore` counts as a class: the numbers behind it are one off": lambda: coded(labels, IDS)
    }
    yours = answer.ClassMap(labels, ignore).encode(labels)
    expect_equal(yours, wanted, f"ClassMap(labels, {ignore}).encode(labels)", suspects=with_ignore)


def test_other_labels(answer, gen):
    """Labels that come later get the numbers that the map was made with."""
    classes = answer.ClassMap(drawn(gen, 20), ignore=7)
    later = torch.tensor([63, 7, 90, 11, 63])
    own = {
        "the classes are those of this call: they are those of the map": lambda: coded(later, [11, 63, 90], 7)
    }
    wanted = coded(later, [n for n in IDS if n != 7], 7)
    expect_equal(classes.encode(later), wanted, f"encode({later.tolist()})", suspects=own)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
@pytest.mark.parametrize("ignore", [None, 40])
def test_decode(answer, gen, dtype, ignore):
    """Codes become the labels again, in the dtype of the labels, and -100 becomes `ignore`."""
    labels = drawn(gen, 3, 5, ids=[3, 7, 11, 40, 63], dtype=dtype)
    codes = coded(labels, [n for n in (3, 7, 11, 40, 63) if n != ignore], ignore)
    last = {"-100 becomes a class: it stands for `ignore`": lambda: labels.where(codes >= 0, labels.max())}
    yours = answer.ClassMap(labels, ignore).decode(codes)
    expect_equal(yours, labels, f"ClassMap(labels, {ignore}).decode(codes) in {dtype}", suspects=last)


def test_no_loop(answer):
    """No Python loop over the labels, to find the classes, to encode or to decode."""

    def make(n):
        labels = torch.arange(4).repeat(n)

        def call():
            classes = answer.ClassMap(labels, ignore=2)
            return classes.decode(classes.encode(labels))

        return call

    expect_flat_cost(make, "encode, decode and ClassMap(labels, ignore)", sizes=(50, 400), over="labels")


@pytest.mark.fine
def test_unknown_labels(answer, gen):
    """encode raises ValueError for a label that is no class, and names it."""
    classes = answer.ClassMap(drawn(gen, 20), ignore=40)
    for label in (5, 91, -3, 10**6):
        labels = torch.tensor([[7, label], [40, 3]])
        expect_raises(
            ValueError, lambda x=labels: classes.encode(x), f"encode({labels.tolist()})", words=str(label)
        )


@pytest.mark.fine
def test_unknown_codes(answer, gen):
    """decode raises IndexError for a code that is no class."""
    for ignore in (None, 40):
        classes = answer.ClassMap(drawn(gen, 20), ignore)
        for code in (-1, len(IDS), -7):
            call = f"ClassMap(labels, {ignore}).decode([0, {code}]) with {len(classes)} classes"
            expect_raises(IndexError, lambda c=classes, x=code: c.decode(torch.tensor([0, x])), call)


@pytest.mark.fine
def test_other_dtypes(answer):
    """encode compares numbers, whatever dtype they are in: 263 in int64 is not 7 in uint8."""
    classes = answer.ClassMap(torch.tensor([7, 3, 255, 200], dtype=torch.uint8), ignore=255)
    for dtype in (torch.int64, torch.int32, torch.int16):
        labels = torch.tensor([3, 255, 200], dtype=dtype)
        expect_equal(classes.encode(labels), torch.tensor([0, -100, 2]), f"encode([3, 255, 200]) in {dtype}")
    for label in (263, -1):
        expect_raises(ValueError, lambda x=label: classes.encode(torch.tensor([x])), f"encode([{label}])")


@pytest.mark.fine
def test_shapes(answer):
    """Single labels, no labels, and labels that are all `ignore`."""
    classes = answer.ClassMap(torch.tensor([7, 3, 9]), ignore=3)
    expect_equal(classes.encode(torch.tensor(9)), torch.tensor(1), "encode(torch.tensor(9))")
    expect_equal(classes.decode(torch.tensor(-100)), torch.tensor(3), "decode(torch.tensor(-100))")
    empty = torch.zeros(0, 3, dtype=torch.int64)
    expect_equal(classes.encode(empty), empty, "encode of shape (0, 3)")
    expect_equal(classes.decode(empty), empty, "decode of shape (0, 3)")
    nothing = torch.tensor([5, 5])
    classes = answer.ClassMap(nothing, ignore=5)
    expect_equal(len(classes), 0, "len(ClassMap([5, 5], ignore=5))")
    expect_equal(classes.encode(nothing), torch.tensor([-100, -100]), "encode([5, 5]) where 5 is ignored")
    expect_equal(classes.decode(torch.tensor([-100])), torch.tensor([5]), "decode([-100]) without classes")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """Codes are where the labels are, and labels where the codes are, wherever the map was made."""
    labels = drawn(gen, 3, 5)
    codes = coded(labels, [n for n in IDS if n != 7], 7)
    for place in ("cpu", device):
        classes = answer.ClassMap(labels.to(place), ignore=7)
        there, back = classes.encode(labels.to(device)), classes.decode(codes.to(device))
        both = is_simulated(there) and is_simulated(back)
        expect_that(
            both, f"a map that was made on {place} gives a result on another device than its argument"
        )
        expect_equal(on_host(there), codes, "encode(labels) on a device")
        expect_equal(on_host(back), labels, "decode(codes) on a device")


@pytest.mark.fine
def test_arguments_are_left_alone(answer, gen):
    """Labels and codes stay as they are."""
    labels = drawn(gen, 3, 5)
    codes = coded(labels, [n for n in IDS if n != 7], 7)
    with unchanged("ClassMap(labels, 7), encode(labels) and decode(codes)", labels=labels, codes=codes):
        classes = answer.ClassMap(labels, ignore=7)
        classes.encode(labels)
        classes.decode(codes)


def oracle(answer, gen):
    ids = torch.randperm(250, generator=gen)[:9].tolist()
    labels = drawn(gen, 5, 8, ids=ids, dtype=torch.uint8)
    plain, classes = answer.ClassMap(labels.long()), answer.ClassMap(labels, ignore=ids[3])
    codes = torch.randint(0, 8, (4, 6), generator=gen)
    codes[torch.rand(4, 6, generator=gen) < 0.3] = -100
    return {
        "the classes": [len(plain), plain.labels, len(classes), classes.labels],
        "codes of labels": plain.encode(labels.long()),
        "codes of labels, some of them ignored": classes.encode(labels),
        "labels of codes": [classes.decode(codes), plain.decode(codes.abs() % 9)],
    }
