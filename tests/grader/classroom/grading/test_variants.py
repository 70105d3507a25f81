"""Each student has a variant of their own: what is handed out, and by which start it is judged."""

import csv
import json
import shutil
import zipfile

import pytest

from grader.classroom.grading import foreign
from grader.classroom.submissions.class_folder import collect
from grader.core.errors import KataError
from grader.core.packed import unpacked, written
from grader.course import starts, variant, variant_table
from grader.course.catalog import Catalog, Section, load
from grader.course.paths import SOURCE
from grader.course.specimen import Bug
from grader.course.variant_table import NOBODYS, VariantTable
from tests.grader.support.capstone import NAMES, SLUG, add_capstone, exercise
from tests.grader.support.clone import Clone


@pytest.fixture
def capstone(tmp_path):
    return exercise(tmp_path / "aside")


def test_nobody_has_the_bugs_of_another(capstone):
    students = [f"s{n}" for n in range(60)]
    table = variant_table.drawn(students, [capstone])
    chosen = [frozenset(variant.chosen(capstone, seed)) for seed in (0, *table.seeds.values())]
    assert len({*chosen}) == 61
    assert variant_table.drawn(students[:9], [capstone]).seeds.items() <= table.seeds.items()


def test_the_table_is_read_as_it_was_written(capstone, tmp_path):
    catalog = Catalog((Section("e01_x", "X", (capstone,)),))
    table = variant_table.drawn(["ada", 'o"hara, b'], [capstone])
    file = tmp_path / "variants.csv"
    file.write_text(table.text())
    assert variant_table.read(file, catalog) == table
    assert table.of("ada", capstone).variant == 1 and table.of("eve", capstone) is capstone


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,seed\nada,1\n", "first line is to be student,slug,seed"),
        ("student,slug,seed\nada,other,1\n", "line 2: 'ada,other,1'"),
        (f"student,slug,seed\nada,{SLUG},1\nbob,{SLUG},-1\n", "line 3"),
        (f"student,slug,seed\nada,{SLUG}\n", "line 2"),
    ],
)
def test_a_table_of_another_form_is_told(capstone, tmp_path, text, words):
    file = tmp_path / "variants.csv"
    file.write_text(text)
    with pytest.raises(KataError, match=words):
        variant_table.read(file, Catalog((Section("e01_x", "X", (capstone,)),)))


def test_a_start_that_was_handed_out_gives_way_to_work_that_lies_beside_it(capstone, tmp_path):
    catalog = Catalog((Section("e01_x", "X", (capstone,)),))
    table = VariantTable({("ada", SLUG): 1, ("bob", SLUG): 2})
    for who in ("ada", "bob"):
        given = unpacked(starts.content(table.of(who, capstone)))
        written(given, tmp_path / "class" / who / capstone.relative)
        work = {f"{SLUG}/{name}": held.replace(b"x - 1", b"x + 1") for name, held in given.items()}
        with zipfile.ZipFile(tmp_path / "class" / who / "work.zip", "w") as packed:
            for name, held in work.items() if who == "ada" else ():
                packed.writestr(name, held)
    ada, bob = collect(tmp_path / "class", table.knowing(catalog)).submissions
    assert b"x - 1" not in ada.answers[SLUG] and not ada.problems
    assert table.of("bob", capstone).is_start(bob.answers[SLUG]), "where there is nothing else"


def test_bugs_of_another_variant_are_flagged_and_the_pool_is_read_once(capstone, monkeypatch):
    applied = []
    monkeypatch.setattr(
        Bug, "applied", lambda bug, files, real=Bug.applied: applied.append(bug.name) or real(bug, files)
    )
    table = VariantTable({("ada", SLUG): 1, ("bob", SLUG): 2})
    other = starts.content(starts.as_variant(capstone, 2))
    new = [name for name in variant.chosen(capstone, 2) if name not in variant.chosen(capstone, 1)]
    mine = table.of("ada", capstone)
    starts.content(mine)
    applied.clear()
    for _ in range(3):
        flag = foreign.flag(mine, other, table)
        assert flag.startswith("holds bugs of another variant") and all(name in flag for name in new)
        assert flag.endswith("variant 2 has them")
    assert sorted(applied) == sorted(NAMES)
    assert foreign.flag(table.of("bob", capstone), other, table) == ""
    assert foreign.flag(capstone, other, NOBODYS).endswith("name their table with --variants")


def test_the_sample_was_handed_out_from_todays_variants():
    """Where a capstone's pool changes, so do its variants: the sample is to be made anew then."""
    sample, catalog = SOURCE / "samples/capstone", load()
    table, capstone = variant_table.read(sample / "variants.csv", catalog), catalog.exercise("broken_gpt")
    assert table == variant_table.drawn(["ada", "bob", "cyd", "dov"], [capstone])
    given = sample / "submissions/cyd" / capstone.relative
    assert table.of("cyd", capstone).is_start(capstone.read(given))


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path / "clone")
    add_capstone(clone)
    for name in ("README.md", "Makefile", "constraints.txt"):
        shutil.copy(SOURCE / name, clone.root / name)
    clone.commit()
    return clone


def wrong_in(folder):
    text = "".join(file.read_text() for file in folder.glob("*.py"))
    return [name for n, name in enumerate(NAMES, 100) if f"x - {n}" in text]


def mend(folder, names):
    for file in folder.glob("*.py"):
        text = file.read_text()
        for name in names:
            text = text.replace(f"x - {100 + NAMES.index(name)}", f"x + {100 + NAMES.index(name)}")
        file.write_text(text)


@pytest.mark.slow
def test_a_release_holds_the_given_start_whatever_variant_lies_here(clone, capstone, tmp_path):
    code, lines = clone.kata("capstone", SLUG, "--seed", "3")
    assert code == 0, lines
    place = clone.root / "exercises/e01_tensors" / SLUG
    assert wrong_in(place) == sorted(variant.chosen(capstone, 3))
    code, lines = clone.kata("release", str(tmp_path / "out"), "--only", SLUG)
    assert code == 0, lines
    given = tmp_path / "out/exercises/e01_tensors" / SLUG
    assert wrong_in(given) == sorted(variant.chosen(capstone, 0)) and (given / "README.md").is_file()
    assert wrong_in(place) == sorted(variant.chosen(capstone, 3)), "mine stays"
    mend(place, wrong_in(place)[:1])
    code, lines = clone.kata("release", str(tmp_path / "again"), "--only", SLUG)
    assert code == 2 and f"exercises/e01_tensors/{SLUG}" in lines[-1] and "kata reset" in lines[-1]
    clone.kata("reset", SLUG, "--yes")
    assert clone.kata("release", str(tmp_path / "again"), "--only", SLUG)[0] == 0, "as the line said"


def test_the_given_start_is_made_from_another_variant(capstone):
    given = starts.content(capstone)
    for name, held in unpacked(starts.content(starts.as_variant(capstone, 3))).items():
        (capstone.place("exercises") / name).write_bytes(held)
    starts.content.cache_clear()
    assert not capstone.is_start(capstone.content("exercises"))
    assert starts.content(capstone) == given, "without git"


@pytest.mark.slow
def test_each_is_judged_by_what_they_got(clone, capstone, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("student,name\nada,Ada\nbob,Bob\neve,Eve\nkim,Kim\n")
    out = tmp_path / "out"
    code, lines = clone.kata("release", str(out), "--variants", str(roster))
    assert code == 0 and "for each of 4 students" in lines[-2], lines
    seeds = {row["student"]: int(row["seed"]) for row in csv.DictReader((out / "variants.csv").open())}
    assert sorted(seeds) == ["ada", "bob", "eve", "kim"]
    for student, seed in seeds.items():
        folder = out / student / "exercises/e01_tensors"
        assert wrong_in(folder / SLUG) == sorted(variant.chosen(capstone, seed))
        row = (folder / "section.toml").read_text()
        assert "bugs" not in row and variant.of(capstone, seed, capstone.content("exercises")).start in row
        shutil.copytree(folder / SLUG, clone.root / "submissions" / student / "e01_tensors" / SLUG)
    given = clone.root / "submissions"
    ada, bob = (wrong_in(given / name / "e01_tensors" / SLUG) for name in ("ada", "bob"))
    mend(given / "ada" / "e01_tensors" / SLUG, ada)
    mend(given / "bob" / "e01_tensors" / SLUG, bob[:2])
    shutil.copytree(
        out / "ada/exercises/e01_tensors" / SLUG, given / "eve/e01_tensors" / SLUG, dirs_exist_ok=True
    )
    table = ["--variants", str(out / "variants.csv"), "--roster", str(roster)]
    code, lines = clone.kata("grade", "submissions", "--sandbox", "off", "--json", *table)
    assert code == 0, lines
    found = {one["student"]: one["exercises"][SLUG] for one in json.loads("\n".join(lines))["students"]}
    assert {name: found[name]["status"] for name in ("ada", "bob", "kim")} == {
        "ada": "passed",
        "bob": "partial",
        "kim": "todo",
    }
    assert found["bob"]["job"] == pytest.approx(1 / 3, abs=1e-4)  # of five sums and the public check, two
    assert not any(found[name]["flags"] for name in ("ada", "bob", "kim"))
    for student, seed in seeds.items():
        assert found[student]["variant"] == seed
        assert [*found[student]["bugs"]] == [*variant.chosen(capstone, seed)]
    assert {name for name, is_found in found["bob"]["bugs"].items() if is_found} == {*bob[:2]}
    assert all(found["ada"]["bugs"].values()) and not any(found["kim"]["bugs"].values())
    code, lines = clone.kata("report", "--to", "report", *table[2:])
    assert code == 0 and "2 of 5 bugs found" in (clone.root / "report/students/bob.html").read_text(), lines
    (flag,) = found["eve"]["flags"]
    assert flag.startswith("holds bugs of another variant") and flag.endswith(
        f"variant {seeds['ada']} has them"
    )
