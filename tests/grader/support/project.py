"""An exercise whose answer is a folder, for a `Clone`: count words, and say which comes next."""

from grader.core.packed import packed
from grader.course.exercise import digest
from grader.course.project import plain
from tests.grader.support.clone import Clone

START = {
    "__init__.py": '"""Say which word comes next.\n\nRead `data`, and count.\n"""\n',
    "corpus.py": "def words(folder):\n    raise NotImplementedError\n",
    "model.py": "import torch\n\n\nclass Bigrams:\n"
    "    def __init__(self, words):\n        raise NotImplementedError\n\n"
    "    def after(self, word):\n        raise NotImplementedError\n",
}
RIGHT = {
    "__init__.py": "",
    "corpus.py": """def words(folder):
    return (folder / "corpus.txt").read_text().split()
""",
    "model.py": """import torch


class Bigrams:
    def __init__(self, words):
        self.vocabulary = sorted({*words})
        place = {word: i for i, word in enumerate(self.vocabulary)}
        self.place = place
        self.counts = torch.zeros(len(place), len(place))
        for one, two in zip(words, words[1:]):
            self.counts[place[one], place[two]] += 1

    def after(self, word):
        row = self.counts[self.place[word]]
        return row / row.sum()
""",
}
WRONG = {**RIGHT, "model.py": RIGHT["model.py"].replace("row / row.sum()", "row")}
LACKING = {name: text for name, text in RIGHT.items() if name != "model.py"}
ENDING = {**RIGHT, "model.py": "import os\n\nos._exit(0)\n"}

CORPUS = "a b a c a b\n"
PUBLIC = '''"""What is read."""

from grader.checks import expect_equal


def test_words(answer, data):
    """The words come in their order."""
    expect_equal(answer.corpus.words(data), ["a", "b", "a", "c", "a", "b"], "words(data)")
'''
CONFTEST = """import pytest

MADE = []


@pytest.fixture(scope="module")
def trained(request):
    MADE.append(1)
    return []


@pytest.fixture
def bigrams(answer, trained):
    if not trained:
        trained.append(answer.model.Bigrams(["a", "b", "a", "c", "a", "b", "a"]))
    return trained[0]
"""
HIDDEN = '''"""What comes next."""

import pytest
import torch

from grader.checks import expect_close
from tests.hidden.e01_tensors.conftest import MADE


def test_values(bigrams):
    """The chances of what comes next add up to one."""
    expect_close(bigrams.after("a"), torch.tensor([0.0, 2 / 3, 1 / 3]), 'after("a")')


@pytest.mark.fine
def test_counts(bigrams, trained):
    """What was counted stays as it is."""
    before = bigrams.counts.clone()
    bigrams.after("b")
    expect_close(bigrams.counts, before, "the counts")
    assert (len(trained), len(MADE)) == (1, 1), "the fixture is made once for the module"


def oracle(answer, gen):
    words = [["a", "b", "c"][i] for i in torch.randint(3, (30,), generator=gen)]
    model = answer.model.Bigrams(words)
    return {f"after {word}": model.after(word) for word in "abc"}
'''
SPECIMENS = """wrong job test_values: counts
- row / row.sum()
+ row

wrong job test_words: sorts
@ corpus.py
- .split()
+ .split()[::-1]

wrong fine test_counts: divides in place
- row / row.sum()
+ row.div_(row.sum())

works: forgets
- row / row.sum()
+ row.div_(row.sum())

right: divides
- row / row.sum()
+ row.div(row.sum())

right: another file
@ corpus.py
| def words(folder):
|     return [*(folder / 'corpus.txt').read_text().split()]
"""
ROW = """
[exercise.{slug}]
kind = "project"
path = "core"
title = "Which word comes next"
points = 4
difficulty = 1
minutes = 5
needs = []
concepts = ["counts"]
hints = ["Count.", "Divide."]
reading = "https://docs.pytorch.org"
start = "{start}"
"""


def content(texts: dict[str, str]) -> bytes:
    """An answer as it travels."""
    return packed({name: text.encode() for name, text in texts.items()})


def write(folder, texts: dict[str, str]) -> None:
    """An answer as a folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def add_project(clone: Clone, slug: str = "next_word") -> str:
    """Write the exercise into a clone; its stem."""
    stem = f"{slug}"
    write(clone.root / "exercises/e01_tensors" / stem, {**START, "data/corpus.txt": CORPUS})
    write(clone.root / "solutions/e01_tensors" / stem, RIGHT)
    tests = clone.root / "tests"
    write(tests / "public/e01_tensors", {f"test_{stem}.py": PUBLIC})
    write(tests / "hidden/e01_tensors", {f"test_{stem}.py": HIDDEN, "conftest.py": CONFTEST})
    write(tests / "specimens/e01_tensors", {f"{stem}.txt": SPECIMENS})
    start = digest(plain(content(START)))
    with clone.catalog.open("a") as stream:
        stream.write(ROW.format(slug=slug, start=start))
    return stem
