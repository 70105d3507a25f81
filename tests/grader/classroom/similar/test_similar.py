"""Answers that are alike: planted copies are found, independent right answers are not."""

import ast
import io
import random
import re

import numpy as np
import pytest
from rich.console import Console

from grader.classroom import similar
from grader.classroom.cli import suite as by_suite
from grader.classroom.cli.options import SuiteOptions
from grader.classroom.report import render
from grader.classroom.similar.compare import FEWEST, Reader, compare, together
from grader.classroom.similar.page import Piece, page, pieces
from grader.classroom.similar.tokens import Alphabet, Symbol, symbols
from grader.classroom.submissions.class_folder import Submission
from grader.core.errors import KataError
from grader.core.packed import packed
from grader.course import paths, specimens
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.specimen import Right
from tests.grader.classroom.suite.courses import lay

EXERCISES = tuple(e for e in load().select(["e01"]) if not e.is_step)[:4]
OPERATIONS = [
    "softmax",
    "exp",
    "log1p",
    "cumsum",
    "roll",
    "flip",
    "sort",
    "clamp",
    "square",
    "tanh",
    "cos",
    "sin",
]
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}\x1b\u202e"


def program(seed: int) -> str:
    """What one person may write: two functions of a few lines, by chance."""
    rng = random.Random(seed)

    def line(n: int) -> str:
        one, other, number = rng.choice(OPERATIONS), rng.choice(OPERATIONS), rng.randrange(99)
        return rng.choice(
            [
                f"    step{n} = torch.{one}(values[{rng.randrange(9)}:], dim={rng.randrange(4)}) * {number}",
                f"    part{n} = [torch.{one}(row) for row in values if row.{other}() > {number}]",
                f"    if values.{one}().{other}() != {number}:\n        values = values.{other}()",
            ]
        )

    first, second = ("\n".join(line(n) for n in range(8)) for _ in range(2))
    return f"""import torch


def first(values):
{first}
    return values


def second(values):
{second}
    return values
"""


class _Renamed(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"my_{node.id}" if node.id != "torch" else node.id, node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg("my_values")


def disguised(code: str) -> str:
    """The same with other names, the functions in another order, and comments."""
    tree = _Renamed().visit(ast.parse(code))
    tree.body = [tree.body[0], *tree.body[:0:-1]]
    return ast.unparse(ast.fix_missing_locations(tree)).replace(
        "    return", "    # all my own work\n    return"
    )


def handed_in(programs: dict[str, list[str]]) -> list[Submission]:
    return [
        Submission(student, {e.slug: code.encode() for e, code in zip(EXERCISES, codes, strict=False)})
        for student, codes in programs.items()
    ]


def written(students: int, exercises: int = 4) -> dict[str, list[str]]:
    return {f"s{i:02}": [program(100 * i + n) for n in range(exercises)] for i in range(students)}


def shown(submissions, threshold=0.5, most=50):
    found = similar.likenesses(submissions, EXERCISES)
    return page([s.student for s in submissions], found, threshold, most)


def test_symbols_do_not_change_with_names_comments_layout_and_quotes():
    first = '''import torch


def f(x):
    """Doc."""
    y = x.sum(0)  # why
    return y + 10 if y else "a"
'''
    second = """from torch import Tensor
def g( row ):

    total = row.sum(
        0)
    return total + 1_0 if total else 'bc'
"""
    one, two = ([s.text for s in symbols(code)] for code in (first, second))
    assert one == two
    assert "sum" in one and "name" in one and "x" not in one
    assert [first[s.start : s.end] for s in symbols(first)][:3] == ["def", "f", "("]
    assert [s.text for s in symbols("y = x.mean()")] != [s.text for s in symbols("y = x.sum()")]


@pytest.mark.parametrize("code", ["", "def (", "'''", "\x00\x1b", "x = " + "(" * 5000, "é" * 100])
def test_any_text_is_split(code):
    assert all(0 <= s.start < s.end <= len(code) for s in symbols(code))


@pytest.mark.slow
def test_more_numbers_than_characters_are_compared():
    alphabet = Alphabet()
    symbol = Symbol("7", 0, 1)
    first = alphabet.written([symbol])
    others = alphabet.written([Symbol(str(n), 0, 1) for n in range(10, 1_200_000)])
    assert alphabet.written([symbol]) == first and len(others) == 1_199_990
    assert others[-8:] not in others[:-8]  # what is shared makes no two runs alike


def test_a_copy_under_other_names_and_in_another_order_is_found():
    programs = written(8)
    programs["copy"] = [disguised(code) for code in programs["s03"]]
    result = shown(handed_in(programs))
    (pair,) = result.pairs
    assert {pair.first, pair.second} == {"s03", "copy"}
    assert pair.alike > 85 and pair.exercises == 4
    assert result.usual < 10
    assert all(both.alike > 80 and both.as_alike == 1 and both.pairs == 36 for both in pair.both)
    kinds = {piece.kind for _, code in pair.both[0].codes for piece in code}
    assert "rare" in kinds
    assert "all my own work" not in "".join(
        p.text for _, c in pair.both[0].codes for p in c if p.kind == "rare"
    )


def test_one_copied_exercise_of_many_is_found():
    programs = written(8)
    programs["s05"][2] = disguised(programs["s02"][2])
    (pair,) = shown(handed_in(programs)).pairs
    assert (pair.first, pair.second) == ("s02", "s05")
    assert pair.alike < 50
    assert pair.both[0].slug == EXERCISES[2].slug


def test_what_most_of_a_class_writes_counts_for_little():
    common = program(1)
    programs = {student: [common, *codes[1:]] for student, codes in written(12).items()}
    result = shown(handed_in(programs))
    assert result.pairs == []
    base = next(b for b in result.exercises if b.slug == EXERCISES[0].slug)
    assert base.usual == 100


def test_independent_right_answers_are_not_listed(monkeypatch):
    """Each student has right answers of their own, which the specimens hold and here do not give away."""
    known = ("exercises", "solutions")
    monkeypatch.setattr(
        similar, "_everybodys", lambda e, _: [e.file(tree).read_text("utf-8") for tree in known]
    )
    answers: dict[str, dict[str, bytes]] = {}
    for exercise in load().select(["e01"]):
        solution = exercise.file("solutions").read_text("utf-8")
        rights = [s for s in specimens.read(exercise.file("specimens")) if isinstance(s, Right)]
        for index, one in enumerate(rights):
            answers.setdefault(f"s{index}", {})[exercise.slug] = one.source(solution).encode()
        answers.setdefault("reader", {})[exercise.slug] = solution.encode()
        answers.setdefault("another", {})[exercise.slug] = solution.encode()
    submissions = [Submission(student, codes) for student, codes in answers.items()]
    found = similar.likenesses(submissions, load().select(["e01"]))
    result = page(list(answers), found, 0.5, 50)
    assert len(found) > 10 and result.compared > 2
    assert result.pairs == []


def test_statement_reference_and_specimens_are_nobodys():
    for exercise in EXERCISES:
        solution = exercise.file("solutions").read_text("utf-8")
        texts = [solution, *(s.source(solution) for s in specimens.read(exercise.file("specimens")))]
        reader = Reader()
        anybodys = reader.boilerplate(similar._everybodys(exercise, print))
        assert all(not reader.prints(text, anybodys).own for text in texts)


@pytest.mark.parametrize(
    ("specimens", "why"),
    [
        ("SPECIMENS = [", "'SPECIMENS = [' is neither a line of an answer nor"),
        ("right: x\n- no such text\n+ z\n", "not once"),
    ],
)
def test_specimens_that_cannot_be_read_are_told_and_the_rest_is_compared(tmp_path, specimens, why):
    broken, sound = EXERCISES[0], EXERCISES[1]
    own = tmp_path / "specimens.txt"
    own.write_text(specimens)

    class Broken(Exercise):
        def file(self, tree):
            return own if tree == "specimens" else broken.file(tree)

    told: list[str] = []
    programs = {name: [program(seed)] * 2 for name, seed in (("ada", 1), ("bob", 1), ("cyd", 2))}
    exercises = [Broken(**vars(broken)), sound]
    submissions = [
        Submission(name, {e.slug: text.encode() for e, text in zip(exercises, texts, strict=True)})
        for name, texts in programs.items()
    ]
    found = similar.likenesses(submissions, exercises, tell=told.append)
    assert [one.exercise.slug for one in found] == [broken.slug, sound.slug]
    (line,) = told
    assert line.startswith(f"{broken.slug}: ") and why in line


def test_stubs_and_missing_answers_are_skipped():
    stubs = {e.slug: e.file("exercises").read_bytes() for e in EXERCISES}
    submissions = [Submission("ada", stubs), Submission("bob", stubs), Submission("cyd", {})]
    assert similar.likenesses(submissions, EXERCISES) == []


def test_weights_follow_how_rare_a_run_is():
    reader = Reader()
    text = {
        name: reader.prints(program(seed), set()) for name, seed in (("a", 1), ("b", 1), ("c", 1), ("d", 2))
    }
    found = compare(text)
    assert found.students == ["a", "b", "c", "d"]
    own = text["a"].own - text["d"].own
    expected = np.log(4 / 2) / np.log(4)  # one of the four has it besides the two
    assert {round(found.weights[run], 9) for run in own} == {round(expected, 9)}
    assert found.alike[0, 1] == 1.0
    assert found.rare[0, 3] < found.rare[0, 1] < len(own)
    assert np.allclose(found.alike, found.alike.T) and not found.alike.diagonal().any()


def test_two_students_are_a_class():
    reader = Reader()
    found = compare({"a": reader.prints(program(1), set()), "b": reader.prints(disguised(program(1)), set())})
    ((pair,), alike) = together(["a", "b"], [found])
    assert pair.alike == alike[0] > 0.8


def test_too_little_code_is_not_compared():
    reader = Reader()
    short = reader.prints("x = torch.exp(y)", set())
    assert len(short.own) < FEWEST
    assert compare({"a": short, "b": short}).students == []


def test_the_same_every_time():
    programs = written(5)
    programs["copy"] = [disguised(code) for code in programs["s03"]]
    first, second = (render("similar.html", page=shown(handed_in(programs))) for _ in range(2))
    assert first == second


def test_far_lines_are_left_out():
    code = "\n".join(f"line {i}" for i in range(12)) + "\n"
    start = code.index("line 6")
    found = pieces(code, common=[], rare=[slice(start, start + 6)])
    assert found == [
        Piece("gap", "4 lines left out"),
        Piece("text", "line 4\nline 5\n"),
        Piece("rare", "line 6"),
        Piece("text", "\nline 7\nline 8\n"),
        Piece("gap", "3 lines left out"),
    ]
    assert pieces("", [], []) == []


def test_no_more_pairs_than_asked_for():
    programs = written(3)
    programs |= {f"copy{i}": [disguised(code) for code in programs["s01"]] for i in range(3)}
    result = shown(handed_in(programs), most=2)
    assert (len(result.pairs), result.more) == (2, 4)


def test_the_threshold_is_what_it_says():
    programs = written(4)
    half = [disguised(code) for code in programs["s01"][:2]] + [program(7000), program(7001)]
    programs["half"] = half
    alike = {t: len(shown(handed_in({**programs}), threshold=t).pairs) for t in (0.3, 0.5)}
    assert alike[0.3] == 1
    assert alike[0.5] == 1  # two exercises are nearly the same


def save(folder, programs: dict[str, list[str]]) -> None:
    for student, codes in programs.items():
        for exercise, code in zip(EXERCISES, codes, strict=False):
            file = folder / student / exercise.relative
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code)


def run(folder, to, threshold=50, only=None) -> str:
    out, err = (Console(file=io.StringIO(), width=300) for _ in range(2))
    similar.run(folder, to, threshold, 50, only, out, err)
    assert err.file.getvalue() == ""  # type: ignore[attr-defined]
    return out.file.getvalue()  # type: ignore[attr-defined]


def test_hostile_names_and_contents_are_only_text(tmp_path):
    programs = written(3)
    programs["<img src=x onerror=alert(3)>"] = [
        f"{code}\ntext = '''{HOSTILE}'''\n" for code in programs["s01"]
    ]
    programs["s01"] = [f"{code}\ntext = '''{HOSTILE}'''\n" for code in programs["s01"]]
    save(tmp_path / "class", programs)
    told = run(tmp_path / "class", tmp_path / "similar.html")
    assert "(1 pair to look at)" in told
    text = (tmp_path / "similar.html").read_text("utf-8")
    assert not re.search(r"<(script|img|iframe)", text)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)
    assert "&lt;script&gt;alert(1)" in text and "&lt;img src=x onerror=alert(3)&gt;" in text
    assert "{{ 7 * 7 }}" in text


def test_students_are_the_rosters(tmp_path, monkeypatch):
    programs = written(3)
    programs["copy"] = programs["s01"]
    save(tmp_path / "class", programs)
    monkeypatch.setattr(paths, "COURSE", tmp_path)
    (tmp_path / "roster.csv").write_text("student,name,aliases\nzoe,Zoe,copy\nadam,Adam,s01\n")
    assert "(1 pair to look at)" in run(tmp_path / "class", tmp_path / "similar.html")
    text = (tmp_path / "similar.html").read_text("utf-8")
    assert "Zoe (zoe)" in text and "Adam (adam)" in text
    (tmp_path / "roster.csv").write_text("student,aliases\nzoe,copy;s01\n")
    assert "(0 pairs to look at)" in run(tmp_path / "class", tmp_path / "similar.html")


def test_one_exercise_alone(tmp_path):
    programs = written(3)
    programs["copy"] = [disguised(code) for code in programs["s01"]]
    save(tmp_path / "class", programs)
    run(tmp_path / "class", tmp_path / "similar.html", only=[EXERCISES[1].slug])
    text = (tmp_path / "similar.html").read_text("utf-8")
    assert EXERCISES[1].slug in text and EXERCISES[0].slug not in text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: None, "No such file"),
        (lambda folder: folder.mkdir(), "holds no student's folder"),
    ],
)
def test_a_class_that_cannot_be_compared_is_told_in_one_line(tmp_path, make, words):
    make(tmp_path / "class")
    with pytest.raises(KataError, match=words) as told:
        run(tmp_path / "class", tmp_path / "similar.html")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "similar.html").exists()


def test_a_class_with_too_little_code_is_told_so(tmp_path):
    save(tmp_path / "class", written(1))
    told = run(tmp_path / "class", tmp_path / "similar.html")
    assert "no two answers with enough code" in told and told.count("\n") == 1
    assert not (tmp_path / "similar.html").exists()


def test_a_page_that_cannot_be_written_is_told_first(tmp_path):
    save(tmp_path / "class", written(2))
    (tmp_path / "mine.html").write_text("<h1>mine</h1>")
    for to, words in ((tmp_path, "is a folder"), (tmp_path / "mine.html", "no page of ours")):
        with pytest.raises(KataError, match=words):
            run(tmp_path / "class", to)


def test_answers_of_many_files_are_compared_as_one(tmp_path):
    project = Exercise("tools", "e01_tensors", 99, "", "project", "core", 2, 1, (), (), (), "", root=tmp_path)

    def answer(*seeds):
        return packed({f"part{place}.py": program(seed).encode() for place, seed in enumerate(seeds)})

    texts = {"ada": answer(1, 2), "bob": answer(3, 4), "eve": answer(5, 1)}
    work = [Submission(student, {"tools": text}) for student, text in texts.items()]
    (found,) = similar.likenesses(work, [project])
    shown = page(["ada", "bob", "eve"], [found], 0.3, 9)
    assert [{pair.first, pair.second} for pair in shown.pairs] == [{"ada", "eve"}]


def test_hand_ins_to_a_suite_are_compared_without_what_all_were_given(tmp_path):
    given = program(7)
    lay(tmp_path, {"hw/tests/test_a.py": "import a\n", "hw/given.py": given, "solution/a.py": program(8)})
    for student, seed in {"ada": 1, "bob": 2, "eve": 1}.items():
        own = {"a.py": program(seed) + program(8), "given.py": given}
        lay(tmp_path / "class" / student, own)
    out = Console(quiet=True)
    suite = SuiteOptions(tmp_path / "hw/tests", handout=tmp_path / "hw", solution=tmp_path / "solution")
    own = by_suite.assignment(tmp_path / "class", suite)
    similar.run(tmp_path / "class", tmp_path / "page.html", 30, 9, None, out, out, own)
    text = (tmp_path / "page.html").read_text()
    assert "ada" in text and "eve" in text and "bob" not in text
