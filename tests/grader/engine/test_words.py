"""Words of memory tell what changed, and nothing else."""

import json
import types

import pytest

from grader.engine.integrity.words import Words, of_code, of_layout, of_values


class Base:
    def method(self):
        return 1


class Derived(Base):
    number = 1


def function():
    return 1


def test_a_value_that_is_replaced_shows():
    names = {"a": object(), "b": object()}
    layout, values = of_layout(names, growing=True), of_values(names, ["b"])
    names["a"] = 1
    assert layout.hold() and values.hold()
    names["b"] = 1
    assert layout.hold() and not values.hold()


def test_a_deleted_name_shows():
    names = {"a": object(), "b": object()}
    layout, values = of_layout(names, growing=True), of_values(names, names)
    del names["b"]
    assert layout.hold() and not values.hold()


def test_a_class_that_grows_shows():
    layout, values = of_layout(vars(Derived), growing=False), of_values(vars(Derived), ["number"])
    try:
        Derived.method = function
        assert not layout.hold() and values.hold()
    finally:
        del Derived.method
    assert layout.hold() and values.hold()


def test_a_namespace_that_moves_shows():
    module = types.ModuleType("module")
    module.first = object()
    layout = of_layout(vars(module), growing=True)
    for number in range(1000):
        setattr(module, f"name{number}", number)
    assert not layout.hold()
    assert of_layout(vars(module), growing=True).hold() and of_values(vars(module), ["first"]).hold()


def test_names_that_are_also_values_are_found():
    key = "json"
    names = {key: json, "other": key, "third": "other"}
    assert of_values(names, names).hold()


def test_code_that_is_replaced_shows():
    code = function.__code__
    words = of_code([function, Base.method])
    assert words.hold()
    try:
        function.__code__ = Base.method.__code__
        assert not words.hold()
    finally:
        function.__code__ = code
    assert words.hold()


def with_defaults(first=1, *, second=2):
    return first + second


@pytest.mark.parametrize(("name", "value"), [("__defaults__", (3,)), ("__kwdefaults__", {"second": 3})])
def test_defaults_that_are_replaced_show(monkeypatch, name, value):
    words = of_code([function, with_defaults])
    with monkeypatch.context() as patch:
        patch.setattr(with_defaults, name, value)
        assert not words.hold()
    assert words.hold()


def test_joined_words_remember_what_their_parts_do():
    names = {"a": object()}
    old = of_values(names, names)
    names["a"] = object()
    assert not Words.joined([old, of_code([function])]).hold()
    assert Words.joined([of_values(names, names), of_code([function])]).hold()
    assert Words.joined([]).hold()
