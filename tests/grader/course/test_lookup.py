"""`kata find` and the book's search: words, messages and tracebacks, and what they find."""

import dataclasses

import pytest

from grader.course.catalog import load
from grader.course.lookup.asked import message_of
from grader.course.lookup.finding import Lookup
from grader.course.lookup.words import terms

LOOKUP = Lookup(load())

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/ada/train.py", line 31, in <module>
    loss = step(x, y)
           ^^^^^^^^^^
KeyError: 'weights'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/ada/train.py", line 18, in step
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be
multiplied (64x512 and 784x10)
"""


@pytest.mark.parametrize(
    "one, another",
    [
        ("training trains trained", "train train train"),
        ("losses", "loss"),
        ("stopped", "stops"),
        ("multiplied", "multiply"),
        ("initialization", "initialize"),
        ("optimisation of batches", "optimization batch"),
        ("CUDA OOM", "GPU memory"),
        ("DataLoader", "loader data"),
        ("zero_grad", "zero gradients zerograd"),
        ("My loss is NaN at step 2000!", "loss nan step"),
        ("0x7f3a12bc at /usr/lib/python3/site.py", ""),
    ],
)
def test_what_means_the_same_has_the_same_terms(one: str, another: str) -> None:
    assert set(terms(one)) - set(terms(another)) in (set(), {"dataload"})
    assert set(terms(another)) <= set(terms(one))


@pytest.mark.parametrize(
    "asked, message",
    [
        (TRACEBACK, "RuntimeError: mat1 and mat2 shapes cannot be\nmultiplied (64x512 and 784x10)"),
        ("ValueError: first\n\nRuntimeError: second", "RuntimeError: second"),
        (
            'torch.cuda.OutOfMemoryError: CUDA out of memory.\n  File "x.py", line 1',
            "torch.cuda.OutOfMemoryError: CUDA out of memory.",
        ),
        ("E       RuntimeError: stack expects", "E       RuntimeError: stack expects"),
        ("my loss does not fall", "my loss does not fall"),
    ],
)
def test_of_a_traceback_the_last_error_counts(asked: str, message: str) -> None:
    assert message_of(asked).strip() == message


SYMPTOMS = {
    "loss is NaN after 2000 steps with amp": "The loss becomes NaN under mixed precision",
    "DDP hangs after the first epoch": "Distributed training hangs",
    "GPU memory grows every iteration": "GPU memory grows every iteration",
    "CUDA out of memory": "CUDA out of memory",
    "learning rate jumps after resume": "The learning rate jumps after a resume",
    "same augmentation in every worker": "Every worker makes the same random numbers",
    "loss not decreasing": "The loss does not decrease",
    "validation accuracy stuck at 10 %": "The accuracy is stuck at chance",
    "model gives different outputs each time": "The model gives another output each time",
    "training slower with compile": "torch.compile makes it slower",
}


@pytest.mark.parametrize("said", SYMPTOMS)
def test_a_symptom_is_found_as_people_say_it(said: str) -> None:
    assert LOOKUP.find(said).entries[0].name == SYMPTOMS[said]


def test_a_call_an_idea_and_a_whole_traceback_are_found() -> None:
    assert any("x.gather(" in e.name for e in LOOKUP.find("gather").entries)
    assert LOOKUP.find("merging attention heads").entries[0].exercises[0].slug == "merge_heads"
    assert LOOKUP.find(TRACEBACK).entries[0].name.startswith("mat1 and mat2 shapes")


def test_words_that_are_nowhere_give_the_nearest() -> None:
    found = LOOKUP.find("graddient chekpoint")
    assert found.instead and found.entries
    nothing = LOOKUP.find("zzxqk")
    assert not nothing.entries and not nothing.instead


def test_what_a_release_lacks_is_not_named() -> None:
    catalog = load()
    fewer = dataclasses.replace(catalog, sections=catalog.sections[:1])
    known = set(fewer.exercises)
    assert all(set(e.exercises) <= known for e in Lookup(fewer).find("loss is nan").entries)
