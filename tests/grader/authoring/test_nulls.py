"""Null answers replace everything that an exercise asks for."""

import asyncio

import pytest

from grader.authoring import nulls, stand_in

DATASET = """
class Lines:
    def __init__(self, lines):
        self.lines = lines

    def __len__(self):
        return len(self.lines)

    def __iter__(self):
        yield from self.lines
"""


def loaded(about, solution=DATASET):
    names = {"__name__": "answer"}
    exec(stand_in.text(solution, "nulls", about), names)
    return names


def test_special_methods_of_a_class_without_others():
    nothing, zeros = (loaded(about)["Lines"](["a", "b"]) for about in list(nulls.KINDS)[::2])
    assert nothing.lines == ["a", "b"]
    assert len(zeros) == 0
    assert list(zeros) == []
    with pytest.raises(TypeError):
        iter(nothing)


def test_methods_change_no_object():
    solution = "class Counter:\n    def __init__(self):\n        self.count = 0\n"
    solution += "    def step(self):\n        self.count += 1\n        return self.count\n"
    counter = loaded("returns zeros of the right shape", solution)["Counter"]()
    assert (counter.step(), counter.count) == (0, 0)


def test_nothing_comes_out_of_a_loader():
    solution = "def squares(n):\n    return (i * i for i in range(n)), range(n)\n"
    results = loaded("returns zeros of the right shape", solution)["squares"](4)
    assert [list(result) for result in results] == [[], []]


def test_special_methods_stay_next_to_public_ones():
    solution = DATASET + "\n    def first(self):\n        return self.lines[0]\n"
    lines = loaded("returns None", solution)["Lines"](["a", "b"])
    assert lines.first() is None
    assert list(lines) == ["a", "b"]


def test_coroutines_stay_coroutines():
    solution = "class Service:\n    async def answer(self, n):\n        return n + 1\n"
    solution += "\nasync def answer(n):\n    return [n]\n"
    results = []
    for about in nulls.KINDS:
        names = loaded(about, solution)
        results += [asyncio.run(names["Service"]().answer(4)), asyncio.run(names["answer"](4))]
    assert results == [None, None, 4, 4, 0, [0]]


def test_contexts_do_nothing():
    solution = "from contextlib import contextmanager\n\n@contextmanager\ndef group():\n    yield 4\n"
    with loaded("returns zeros of the right shape", solution)["group"]() as member:
        assert member is None


def test_functions_that_come_back_return_zeros():
    solution = "def adder(n):\n    return lambda k: n + k\n"
    assert loaded("returns zeros of the right shape", solution)["adder"](2)(3) == 0
