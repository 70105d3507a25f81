"""The audit, run on a small clone with planted faults: each is reported, and a sound exercise is not."""

import itertools
import re

import pytest

from tests.grader.support.clone import ADDING, CONSTANT, HIDDEN, MUTATING, SOLUTION, STEP, STUB, Clone

pytestmark = pytest.mark.slow

FINE = "import pytest\n" + HIDDEN.replace("def test_input", "@pytest.mark.fine\ndef test_input")
SHORT = STUB.replace("Double a tensor.", "Double a tensor.\n\nFine print:\n- x stays as it is.\n")
WORDY = SHORT.replace("Fine", f"{'many words ' * 60}\n\n    {'code ' * 30}\n\nFine") + "\n"


def specimen(title, code):
    return f"{title}\n- x * 2.0\n+ {code}\n"


DECLARED = """
from grader.checks.contract import Contract, device, untouched

twice = Contract(
    "double(x)",
    reference=lambda x: 2 * x,
    inputs=lambda gen: [torch.randn(3, generator=gen)],
    fine=[untouched(), device()],
)
"""
CHANCY = """

def test_one(answer):
    'One is doubled.'
    x = torch.tensor([1.0, 0.0])
    expect_close(answer.double(x), 2 * x, "double(x)", suspects={"nothing is doubled": lambda: x})
"""
BLIND = DECLARED.replace("untouched()", "untouched(inputs=lambda gen: [2.0])")
MARKED = HIDDEN.replace("def test_input", '@pytest.mark.refuses("sings")\ndef test_input')
WORKING = specimen("works: in place, and returned", "x.mul_(2.0)")
HASTY = specimen("works: three times", "x * 3")
RIGHT = specimen("right: by the operator", "2.0 * x")
JOB = specimen("wrong job test_input: only mutates", "x.mul_(2)")
BARE = SOLUTION.replace('"""Double a tensor."""\n\n\n', "").replace('    """Twice x."""\n', "")
NEW = [MUTATING, CONSTANT, ADDING, RIGHT, WORKING, WORKING]


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("sound")
    right = specimen("wrong fine: rounds", "x + x")
    clone.add("lenient", specimens=[MUTATING, CONSTANT, right])
    clone.add("idle", specimens=[CONSTANT])
    both = specimen("wrong fine test_values: both", "x.zero_()")
    undone = specimen('wrong fine test_one "nothing is doubled": as it was', "x * 1.0")
    clone.add("chancy", hidden=HIDDEN + CHANCY, specimens=[CONSTANT, MUTATING, undone])
    clone.add("besides", specimens=[CONSTANT, both])
    clone.add("elsewhere", specimens=[MUTATING.replace("test_input", "test_values"), CONSTANT])
    clone.add("wordless", specimens=[MUTATING, CONSTANT.replace("wrong values", "sideways")])
    wide = specimen("right: in float64", "x.double() * 2")
    clone.add("strict", specimens=[MUTATING, CONSTANT, wide])
    clone.add("giveaway", stub=STUB.replace("raise NotImplementedError", "return x + x"))
    clone.add("unlike", stub=STUB.replace("Twice x", "Two x"))
    clone.add("garbled", solution=f"{SOLUTION}\nreturn (")
    clone.add("telling", hints='["Write return x * 2.0 there."]')
    clone.add("silent", hints="[]")
    clone.add("needy", needs='["sound", "lonely", "nothing"]')
    clone.add("lonely", hidden=None)
    clone.add("mistaken", solution=SOLUTION.replace("2.0", "3.0"), specimens=[ADDING])
    clone.add("misfit", specimens=["wrong fine: edit\n- no such text\n+ x\n"])
    drawn = "torch.randn(9, generator=gen)"
    clone.add("uniform", hidden=HIDDEN.replace(drawn, "torch.ones(9)"))
    in_cases = "for case in cases}"
    clone.add("repeating", hidden=HIDDEN.replace(in_cases, f'{in_cases} | {{"bad input": "ValueError"}}'))
    clone.add("scarce", hidden=HIDDEN.replace(in_cases, "for case in cases[:2]}"))
    clone.add("scanty", hidden=HIDDEN.replace(drawn, "torch.randint(9, (1,), generator=gen).expand(9)"))
    clone.add("proper", stub=SHORT, solution=BARE, hidden=FINE, specimens=NEW)
    clone.add("wordy", stub=WORDY, solution=BARE, hidden=FINE, specimens=NEW)
    clone.add("endless", stub=SHORT.replace("is.\n", "is.\n" * 13), solution=BARE, hidden=FINE, specimens=NEW)
    clone.add("lacking", stub=SHORT, solution=BARE, hidden=FINE)
    clone.add("hasty", stub=SHORT, solution=BARE, hidden=FINE, specimens=[*NEW, HASTY])
    clone.add("harmless", stub=SHORT, solution=BARE, hidden=FINE, specimens=[*NEW, JOB])
    clone.add("declared", hidden=HIDDEN + DECLARED)
    clone.add("blind", hidden=HIDDEN + BLIND)
    clone.add("unheard", hidden=f"import pytest\n{MARKED}")
    (clone.root / "solutions" / "e01_tensors" / "notes.txt").write_text("stray")
    code, lines = clone.kata("audit")
    assert code == 1
    names = "sound", "lenient", "uniform"
    again = clone.kata("audit", *itertools.chain(*(("--only", name) for name in names)))[1]
    first, second = ([line for line in told if line.startswith(names)] for told in (lines, again))
    assert len(first) == 2 and first == second, "what is remembered is told as before"
    return lines


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("lenient", "'rounds' passes"),
        ("idle", "no wrong answer fails test_input"),
        ("elsewhere", "is not caught by test_values, only by test_input"),
        ("wordless", "lacks 'sideways'"),
        ("strict", "in float64"),
        ("giveaway", "the stub works"),
        ("unlike", "differ in the signature or docstring of double"),
        ("garbled", "no Python: line"),
        ("telling", "a hint quotes the solution"),
        ("silent", "nearly there; here are 0"),
        ("needy", "needs 'lonely', which does not come earlier"),
        ("needy", "needs 'nothing', which is no exercise"),
        ("lonely", "is missing"),
        ("mistaken", "the solution (seed 0) is right but"),
        ("misfit", "misfit.txt:1: 'no such text' occurs 0 times"),
        ("uniform", "differ by 0 bits, and 64 are wanted; draw its inputs"),
        ("scanty", "the oracle hardly depends on the seed"),
        ("repeating", "the oracle gives the same for every seed in 'bad input'"),
        ("scarce", "the oracle has 2 of the 3 cases that are wanted"),
        ("wordy", "the job has 123 words, and 120 are room enough"),
        ("endless", "the fine print has 13 lines, and 12 are room enough"),
        ("lacking", "Works: 2 are wanted, and here 0"),
        ("lacking", "Right: 2 are wanted, and here 1"),
        ("hasty", "three times (seed 0) does not work: public::test_example, hidden::test_values failed"),
        ("harmless", "'only mutates' works: only checks of the fine print fail on it"),
        ("blind", "test_twice_arguments_are_left_alone lets through the solution that changes its arguments"),
        ("unheard", "hidden::test_input is missing of the solution that sings"),
        ("e01_tensors", "notes.txt belongs to no exercise"),
    ],
)
def test_a_planted_fault_is_reported(reported, where, words):
    assert any(line.startswith(f"{where}: ") and words in line for line in reported), reported


def test_why_words_are_lacking_is_told(reported):
    lines = iter(reported)
    assert any("the feedback of test_one lacks 'nothing is doubled'" in line for line in lines)
    assert any(line.startswith("'nothing is doubled' would fit, but chance") for line in lines)


@pytest.mark.parametrize("slug", ["sound", "proper", "declared"])
def test_a_sound_exercise_is_not_reported(reported, slug):
    assert not any(line.startswith(f"{slug}: ") for line in reported)


SHOWN = STUB.replace(
    "Double a tensor.",
    "Double a tensor.\n\n    double(torch.ones(1))    # 2\n\nNew here: `x * 2` doubles each number.",
)
THRICE = specimen('wrong job test_example "wrong values": thrice', "x * 3")
ZERO = specimen("wrong job test_example: nothing", "x * 0")
SAME = specimen("wrong job test_example: nothing new", "x")
STEPPED = [THRICE, ZERO, SAME, ADDING, RIGHT]


@pytest.fixture(scope="module")
def of_steps(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("steps"))

    def add(slug, stub=SHOWN, specimens=STEPPED, **others):
        clone.add_step(slug, stub=stub, specimens=specimens, **{"solution": BARE, **others})

    add("sound")
    add("wordy", stub=SHOWN.replace("tensor.", f"tensor.\n\n{'many words ' * 40}"))
    add("nothing_new", stub=SHOWN.replace("New here: ", "Remember New here: "))
    add("abstract", stub=SHOWN.replace("    double(", "double("))
    add("small_print", stub=SHOWN.replace("number.", "number.\n\nFine print:\n- x stays as it is.\n"))
    add("few", specimens=[THRICE, ZERO, ADDING])
    add("mute", specimens=[ZERO, SAME, THRICE.replace(' "wrong values"', ""), ADDING, RIGHT])
    add("vague", specimens=[THRICE.replace("wrong values", "sideways"), *STEPPED[1:]])
    add(
        "fine",
        public=f"import pytest\n{STEP}".replace("def test_", "@pytest.mark.fine\ndef test_", 1) + SECOND,
    )
    add("finer", public=STEP + STEP[STEP.index("def oracle") :].replace("oracle", "fine_oracle"))
    add("idle", public=STEP + SECOND)
    add("strict", public=STEP.replace("torch.full((3,), 2.0)", "torch.full((3,), 3.0)"))
    add("uniform", public=STEP.replace("torch.randn(9, generator=gen)", "torch.ones(9)"))
    add("given_away", stub=SHOWN.replace("raise NotImplementedError", "return x + x"))
    add("doubled")
    hidden = clone.root / "tests" / "hidden" / "e01_tensors" / "steps"
    hidden.mkdir()
    (hidden / "test_doubled.py").write_text(HIDDEN)
    code, lines = clone.kata("audit")
    assert code == 1
    return lines


SECOND = '''

def test_rank(answer):
    """The rank stays."""
    assert answer.double(torch.ones(3, 1)).dim() == 2
'''


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("wordy", "the statement has 90 words, and 80 are room enough for a step"),
        ("nothing_new", "lacks a line 'New here:'"),
        ("abstract", "lacks a worked example"),
        ("small_print", "a step has no fine print"),
        ("few", "Wrong: 3 are wanted, and here 2"),
        ("few", "Right: 2 are wanted, and here 1"),
        ("mute", "no wrong specimen has words to be said"),
        ("vague", "the feedback of test_example lacks 'sideways'"),
        ("fine", "test_example is fine print, and a step has none"),
        ("finer", "a step has no fine print: drop its fine_oracle"),
        ("idle", "no wrong answer fails test_rank: add one, or drop the check"),
        ("strict", "the solution (seed 0) is right but"),
        ("uniform", "the oracle"),
        ("given_away", "the stub works"),
        (
            "doubled",
            "a step has one suite, and tests/hidden/e01_tensors/steps/test_doubled.py is another",
        ),
    ],
)
def test_a_planted_fault_of_a_step_is_reported(of_steps, where, words):
    assert any(line.startswith(f"{where}: ") and words in line for line in of_steps), of_steps


def test_a_sound_step_is_not_reported(of_steps):
    assert not any(line.startswith("sound: ") for line in of_steps)


@pytest.mark.parametrize("kind", ["build", "fix"])
@pytest.mark.parametrize("step", [False, True])
def test_a_beginning_is_audited_as_a_list_of_what_is_to_do(tmp_path, step, kind):
    clone = Clone(tmp_path)
    clone.add("sound")
    code, lines = clone.kata("new", "e01", "shares", "--kind", kind, *(["--step"] if step else []))
    stem = "steps/shares" if step else "shares"
    assert code == 0 and f"made exercises/e01_tensors/{stem}.py" in lines and len(lines) == 7
    assert lines[-1].startswith("next: kata audit --write-starts --only shares ")
    code, lines = clone.kata("audit", "--only", "shares")
    assert code == 1
    told = [line.removeprefix("shares: ") for line in lines[:-1] if line.startswith("shares: ")]
    assert len(told) == len(lines) - 1
    assert all(line.startswith("to do in ") for line in told), told
    places = [re.match(r"to do in (\S+):(\d+): \S", line) for line in told]
    assert all(
        place and int(place[2]) <= len((tmp_path / place[1]).read_text().splitlines()) for place in places
    )
    folders = [place[1].removeprefix("tests/").split("/")[0] for place in places if place]
    row = ["exercises"]
    order = ["exercises", "solutions", "specimens", "public", *([] if step else ["hidden"]), *row]
    assert [folder for folder, _ in itertools.groupby(folders)] == order
    assert [line.split(": ")[1] for line in told if ".toml:" in line] == [
        "concepts",
        "hints",
        *([] if step else ["reading"]),
    ]


@pytest.mark.parametrize("step", [[], ["--step"]])
def test_what_a_beginning_brings_is_worth_keeping(tmp_path, step):
    clone = Clone(tmp_path)
    clone.add("sound")
    assert clone.kata("new", "e01", "shares", *step)[0] == 0
    code, lines = clone.kata("audit", "--only", "shares", "--redundant")
    assert (code, lines) == (0, ["no wrong specimens fail as another does"])


def test_a_section_of_ones_own_is_begun_where_it_is_missing(tmp_path):
    clone = Clone(tmp_path)
    clone.add("sound")
    code, lines = clone.kata("new", "e20_fine_tuning", "shares")
    made = [line.removeprefix("made ") for line in lines if line.startswith("made ")]
    assert code == 0 and "exercises/e20_fine_tuning/section.toml" in made
    modules = ["exercises", "solutions", "tests/public", "tests/hidden"]
    trees = [*modules, "tests/specimens"]
    assert [name for name in trees if f"{name}/e20_fine_tuning/__init__.py" in made] == modules
    assert all((clone.root / name).is_file() for name in made)
    assert clone.kata("new", "e20", "parts")[0] == 0
    code, lines = clone.kata("audit", "--only", "e20")
    assert code == 1 and lines[-1].startswith("audit: 2 exercises")
    assert (
        "e20_fine_tuning: to do in exercises/e20_fine_tuning/README.md:3: what this section is about"
        in (lines[0])
    )
    assert all(": to do in " in line for line in lines[:-1]), lines


def test_a_new_section_takes_no_number_of_another(tmp_path):
    clone = Clone(tmp_path)
    clone.add("sound")
    code, lines = clone.kata("new", "e01_tensor", "shares")
    assert (code, len(lines)) == (2, 1) and "e01 is e01_tensors; take another" in lines[0]
    assert not (clone.root / "exercises" / "e01_tensor").exists()


def test_a_check_may_be_failed_by_an_answer_that_names_another(reported):
    assert not any(line.startswith("besides: ") for line in reported)


def test_a_clean_clone_is_clean(tmp_path):
    clone = Clone(tmp_path)
    clone.add("sound")
    code, lines = clone.kata("audit")
    assert (code, lines[-1]) == (0, "audit: 1 exercises, no problems")


def test_what_does_much_of_a_job_and_agrees_in_no_case_is_listed(tmp_path):
    clone = Clone(tmp_path)
    slip = specimen("wrong job: by three where it is long", "x * (2 + (len(x) > 4))")
    clone.add("sound", specimens=[slip, MUTATING])
    code, lines = clone.kata("audit", "--proportion")
    told = "sound: by three where it is long: 3 of 3 checks of the job, and none of the 3 cases"
    assert (code, lines[0], len(lines)) == (0, told, 2)


def test_first_messages_that_name_no_mistake_are_listed(tmp_path):
    clone = Clone(tmp_path)
    of_the_job = [text.replace("wrong fine", "wrong job") for text in (CONSTANT, MUTATING)]
    clone.add("sound", specimens=[*of_the_job, CONSTANT.replace(": constant", ": of the fine print")])
    code, lines = clone.kata("audit", "--feedback")
    assert (code, lines[0]) == (0, "e01_tensors: 1 of 2 (50%), 0 in words of the check")
    met = "sound: constant (3 of 3 inputs)"  # the example is of ones, which become 2
    assert [line for line in lines if line.startswith("sound: ")] == ["sound: constant", met]
    assert "    wrong values from double(x)" in lines and "    sound · Every number is doubled." in lines
    assert lines[-1] == "feedback: 1 of 2 first messages name the mistake (50%)"
    _, lines = clone.kata("audit", "--feedback", "--only", "sound")
    assert [line for line in lines if line.startswith("sound: ")] == [
        "sound: constant",
        "sound: in place",
        met,
    ]


def test_wrong_answers_that_fail_alike_are_listed(tmp_path):
    clone = Clone(tmp_path)
    clone.add("sound", specimens=[MUTATING, CONSTANT, MUTATING.replace("in place", "in place again")])
    assert clone.kata("audit", "--redundant") == (
        0,
        [
            "sound: hidden::test_input: double(x) changes its input x",
            "  in place",
            "  in place again",
            "1 wrong specimen fails as another does",
        ],
    )
