"""Oracle results are compared as plain data, up to rounding, and defensively."""

import json

import pytest
import torch

from grader.protocol.oracle_codec import Rough, encode
from grader.verdict.oracle_match import compared, disagreement


def sent(value):
    """What arrives in the parent."""
    return json.loads(json.dumps(encode(value)))


SAMPLES = [
    None,
    True,
    3,
    2.5,
    float("inf"),
    float("nan"),
    "text",
    [1, [2.0, "x"]],
    {"a": torch.arange(3), "b": (1, 2)},
    torch.tensor([float("nan"), float("inf"), -float("inf"), 1.0]),
    torch.zeros(0, 3),
    torch.randn(2, 3).t(),
    torch.arange(7).view(1, 7)[:, 3],
    torch.randn(3, 4, dtype=torch.float64),
    torch.randn(5).bfloat16(),
    torch.randn(5).half(),
    torch.randn(2, dtype=torch.complex64),
    torch.tensor(True),
    torch.randn(4).to(torch.float8_e4m3fn),
]


@pytest.mark.parametrize("value", SAMPLES, ids=range(len(SAMPLES)))
def test_a_value_agrees_with_itself(value):
    assert disagreement(sent(value), sent(value)) is None


@pytest.mark.parametrize(
    ("yours", "wanted", "words"),
    [
        (1, 1.0, "type"),
        (True, 1, "type"),
        (1, 2, "differs"),
        (0.1, 0.2, "differs"),
        ("a", "b", "differs"),
        ([1], [1, 2], "length"),
        ({"a": 1}, {"b": 1}, "keys"),
        ([{"a": 1}], [{"a": 2}], "result[0]['a'] differs"),
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64), "dtype"),
        (torch.zeros(2), torch.zeros(1, 2), "shape"),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), "1 of 2"),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0]), "1 of 2"),
        (torch.tensor([1.0, float("inf")]), torch.tensor([1.0, -float("inf")]), "1 of 2"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "1 of 2"),
        (torch.tensor([1.0]).bfloat16(), torch.tensor([1.5]).bfloat16(), "1 of 1"),
        (torch.tensor([True]), torch.tensor([False]), "1 of 1"),
    ],
)
def test_a_difference_is_named(yours, wanted, words):
    assert words in (disagreement(sent(yours), sent(wanted)) or "")


def test_another_order_of_summation_agrees():
    x = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    assert disagreement(sent(x.cumsum(0)), sent(x.double().cumsum(0).float())) is None


@pytest.mark.parametrize(
    ("ulps", "scale", "agree"), [(None, None, False), (1e6, None, True), (1.0, 1e6, True)]
)
def test_rounding_may_do_what_the_reference_grants(ulps, scale, agree):
    yours, wanted = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])
    granted = Rough([wanted], ulps, scale)
    assert (disagreement(sent(Rough([yours], 1e9, 1e9)), sent(granted)) is None) == agree
    assert disagreement(sent([yours]), sent(granted)) is not None


@pytest.mark.parametrize(
    "hostile",
    [
        None,
        [],
        {},
        "t",
        ["t"],
        ["t", "float32", [2], "!!"],
        ["t", "float32", [2], "AAAA"],
        ["t", "float32", [2], 7],
        ["l", 3],
        ["l", [["l", 3], 4]],
        ["f", "one"],
        ["f", 10**400],
        ["d", [3]],
        ["__reduce__", "os.system"],
    ],
    ids=lambda hostile: str(hostile)[:30],
)
def test_anything_else_disagrees_without_an_error(hostile):
    assert disagreement(hostile, sent(torch.zeros(2))) is not None
    assert disagreement(hostile, sent([torch.zeros(2), 1.0])) is not None
    assert disagreement(hostile, sent(1.0)) is not None


class Number(int):
    """A whole number as JSON holds it, which says when somebody makes it a key."""

    asked = 0

    def __hash__(self):
        Number.asked += 1
        return 0


def test_keys_are_texts_that_the_reference_has():
    # Multiples of 2 ** 61 - 1 have one hash: 32,000 of them as keys take a dict 15 seconds.
    flood = ["d", [[Number(k), 0] for k in range(9)]]
    right = sent({"a": 1, "b": {"c": 2}})
    assert compared(flood, right)["a"] == "nothing came back for a"
    assert compared(["d", [["a", sent(1)], ["b", flood]]], right) == {"a": "", "b": "b has other keys"}
    twice = ["d", [["c", sent(2)], ["c", sent(2)]]]
    assert disagreement(twice, sent({"c": 2})) == disagreement(twice, sent({"c": 2, "d": 2}))
    assert Number.asked == 0


def test_what_is_no_plain_data_is_refused():
    with pytest.raises(TypeError, match="not plain data"):
        encode(object())


def test_each_case_is_compared_by_itself():
    yours = {"the gradient": 1, "two rows": [1, {"a": 2}], "more": 0}
    wanted = {"the gradient": 2, "two rows": [1, {"a": 3}], "no rows": 4, "more": 0}
    assert compared(sent(yours), sent(wanted)) == {
        "the gradient": "the gradient differs",
        "two rows": "two rows[1]['a'] differs",
        "no rows": "nothing came back for no rows",
        "more": "",
    }
    raised = ["d", [["a", ["e", "ValueError: no"]], ["b", ["e", 7]]]]
    assert compared(raised, sent({"a": 1, "b": 2})) == {
        "a": "a: your code raised ValueError: no",
        "b": "b raised",
    }
    assert compared(raised, raised)["a"] == "a: the reference raised ValueError: no"
    assert compared(sent([1]), sent([2])) == {"": "result[0] differs"}
