"""Whole repositories are read as they come: in a folder or an archive, with or without a folder around."""

import io
import tarfile
import zipfile

import pytest

from grader.classroom.submissions.io import patience
from grader.classroom.submissions.io.folders import Directory
from grader.classroom.submissions.repository import Landmarks
from grader.classroom.submissions.trees import alone, collect
from grader.core.errors import KataError
from grader.course.roster import Roster, Student

ADAPTER = "tests/adapters.py"
FILES = {ADAPTER: b"1", "pkg/model.py": b"2", "pkg/data/vocab.json": b"{}", "tests/test_x.py": b"3"}
OWN = {path: content for path, content in FILES.items() if path != "tests/test_x.py"}
WANTED = Landmarks([ADAPTER], lambda path: path != "tests/test_x.py", [ADAPTER])


def laid(folder, files=FILES):
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def zipped(file, prefix=""):
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in FILES.items():
            archive.writestr(prefix + path, content)


def tarred(file, prefix="", mode="w:gz"):
    with tarfile.open(file, mode) as archive:
        for path, content in FILES.items():
            member = tarfile.TarInfo(prefix + path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_folders_and_archives_of_a_class(tmp_path):
    laid(tmp_path / "ada")
    laid(tmp_path / "bob" / "hw1-main" / "code")
    zipped(tmp_path / "cyn.zip", "hw1-main/")
    tarred(tmp_path / "dan.tar.gz")
    (tmp_path / "eve").mkdir()
    zipped(tmp_path / "eve" / "upload.zip", "a/b/")
    found = collect(tmp_path, WANTED)
    assert {tree.student: tree.files for tree in found.students} == dict.fromkeys(
        ["ada", "bob", "cyn", "dan", "eve"], OWN
    )
    assert not any(tree.notes for tree in found.students) and not found.is_one


def test_a_download_of_canvas_and_the_roster(tmp_path):
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as download:
        for upload, name in ((7, "old.zip"), (9, "hw-1.zip")):
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as archive:
                archive.writestr(ADAPTER, str(upload))
            download.writestr(f"lovelaceada_LATE_12_{upload}_{name}", inner.getvalue())
    roster = Roster((Student("ada", aliases=("lovelaceada_12",)),))
    (tree,) = collect(tmp_path / "submissions.zip", WANTED, roster=roster).students
    assert (tree.student, tree.files, tree.late) == ("ada", {ADAPTER: b"9"}, True)
    assert tree.notes == ("not read: old.zip comes beside what was read", "handed in late")


def test_what_is_not_read_in_time_is_no_repository(tmp_path, monkeypatch):
    for name in ("ada", "bob"):
        laid(tmp_path / name)
    (tmp_path / "ada" / "pkg" / "zz_endless.py").touch()
    content = Directory.content

    def endless(folder, name, most):
        while name == "zz_endless.py":
            pass
        return content(folder, name, most)

    monkeypatch.setattr(Directory, "content", endless)
    monkeypatch.setattr(patience, "SECONDS", 0.2)
    ada, bob = collect(tmp_path, WANTED).students
    assert ada.files is None and "the hand-in takes more than 0.2 s to read" in ada.notes[0]
    assert bob.files == OWN


def test_one_student_is_named_by_the_folder(tmp_path):
    found = collect(laid(tmp_path / "ada"), WANTED)
    assert found.is_one and [tree.student for tree in found.students] == ["ada"]
    zipped(tmp_path / "cyn.zip", "hw1-main/")
    (cyn,) = collect(tmp_path / "cyn.zip", WANTED).students
    assert (cyn.student, cyn.files) == ("cyn", OWN)
    assert alone(laid(tmp_path / "bob" / "inner").parent, WANTED).files == OWN


def test_what_is_no_repository_is_nobodys_zero(tmp_path):
    laid(tmp_path / "ada", {"model.py": b"2"})
    (tmp_path / "bob.zip").write_bytes(b"PK nothing")
    ada, bob = collect(tmp_path, WANTED).students
    assert ada.files is None and bob.files is None
    assert "is no archive that can be read" in bob.notes[0]


def test_a_landmark_that_need_not_be_there(tmp_path):
    laid(tmp_path / "ada" / "a" / "b", {"src/pkg/x.py": b"", "more/y.py": b""})
    laid(tmp_path / "bob", {"src/pkg/x.py": b""})
    laid(tmp_path / "cyn" / "c", {"solve.py": b""})
    zipped(tmp_path / "dan.zip", "d/")
    wanted = Landmarks(["tests", "src"], lambda path: True, is_needed=False)
    assert [{*tree.files} for tree in collect(tmp_path, wanted).students] == [
        {"src/pkg/x.py", "more/y.py"},
        {"src/pkg/x.py"},
        {"c/solve.py"},
        {*FILES},
    ]


def test_links_large_files_and_what_tools_leave_are_not_read(tmp_path):
    ada = laid(tmp_path / "ada")
    (tmp_path / "secret").write_text("s")
    (ada / "pkg/secret.py").symlink_to(tmp_path / "secret")
    (ada / "pkg/all").symlink_to(tmp_path)
    (ada / "pkg/weights.bin").write_bytes(bytes((1 << 20) + 1))
    laid(ada, {".git/config": b"", "__pycache__/x.pyc": b"", ".venv/lib/x.py": b""})
    (tree,) = (tree for tree in collect(tmp_path, WANTED).students if tree.student == "ada")
    assert tree.files == OWN
    assert (
        "pkg/secret.py is a link" in tree.notes[0] and "pkg/weights.bin is larger than 1 MiB" in tree.notes[0]
    )
    assert tree.doubt == "pkg/secret.py is a link, which is not followed"


@pytest.mark.parametrize(
    ("content", "doubt"),
    [
        (b"NAME = 'caf\xe9'\n", "is not UTF-8"),
        (b"# coding: latin-1\nNAME = 'caf\xe9'\n", ""),
        (b"\0", "holds null bytes"),
        (bytes(2 << 20), "is larger than 1 MiB"),
    ],
)
@pytest.mark.parametrize("name", ["pkg/more.py", "pkg/more.bin"])
def test_a_module_that_cannot_be_read_is_for_a_person_to_look_at(tmp_path, name, content, doubt):
    laid(tmp_path / "in" / "ada", {**FILES, name: content})
    with zipfile.ZipFile(tmp_path / "in" / "bob.zip", "w") as archive:
        for path, each in {**FILES, name: content}.items():
            archive.writestr(path, each)
    wanted = f"{name} {doubt}" if doubt and name.endswith(".py") else ""
    for tree in collect(tmp_path / "in", WANTED).students:
        assert tree.doubt.startswith(wanted) if wanted else tree.doubt == "", tree


@pytest.mark.parametrize("name", ["../../evil.py", "/evil.py", "pkg/" + "x" * 300])
def test_names_that_lead_elsewhere_are_left_out(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr(ADAPTER, "1")
        archive.writestr(name, "2")
    (tree,) = collect(tmp_path, WANTED).students
    assert tree.files == {ADAPTER: b"1"} and len(tree.notes) == 1
    assert bool(tree.doubt) is name.endswith(".py")


def test_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr("grader.classroom.submissions.repository._MOST_FILES", 2)
    laid(tmp_path / "ada")
    (tree,) = collect(tmp_path, WANTED).students
    assert len(tree.files) == 2 and "comes after too much else" in tree.notes[0]


def test_nothing_to_read(tmp_path):
    with pytest.raises(KataError, match="holds no student's folder or archive"):
        collect(tmp_path, WANTED)
    with pytest.raises(KataError, match="cannot be read"):
        collect(tmp_path / "nowhere", WANTED)


def test_an_archive_of_one_student_is_known_by_what_lies_beside_the_tests(tmp_path):
    (tmp_path / "ada-main.zip").write_bytes(archive(**{"ada-main/src/x.py": "", "ada-main/data/y": ""}))
    found = collect(
        tmp_path / "ada-main.zip", Landmarks(["tests", "data", "src"], lambda _: True, is_needed=False)
    )
    assert found.is_one and {*found.students[0].files} == {"src/x.py", "data/y"}


def archive(**texts):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        for name, text in texts.items():
            file.writestr(name, text)
    return inner.getvalue()


def test_an_archive_is_found_where_it_lies(tmp_path):
    (tmp_path / "ada/deep/er").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "ada/deep/er/hw.zip", "w") as outer:
        outer.writestr("hw/inner.zip", archive(**{ADAPTER: "1"}))
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob/a.zip").write_bytes(archive(**{ADAPTER: "1"}))
    (tmp_path / "bob/b.zip").write_bytes(archive(other=""))
    ada, bob = collect(tmp_path, WANTED).students
    assert ada.files == bob.files == {ADAPTER: b"1"}
    assert (ada.notes, bob.notes) == ((), ("not read: b.zip comes beside what was read",))


def test_of_several_names_the_newest_counts_or_a_person_says_which(tmp_path):
    roster = Roster((Student("ada", aliases=("countess",)), Student("bob")))
    for name, content in (("countess", b"old"), ("ada (1)", b"new")):
        laid(tmp_path / "a" / name, {**FILES, ADAPTER: content})
    (tree,) = collect(tmp_path / "a", WANTED, roster=roster).students
    assert tree.files is None and tree.doubt == "ada (1) and countess differ: which counts?"
    assert tree.notes == ("handed in under 2 names: ada (1) and countess",)
    (tmp_path / "a" / "countess").rename(tmp_path / "a" / "ada")
    (tree,) = collect(tmp_path / "a", WANTED, roster=roster).students
    assert tree.files == {**OWN, ADAPTER: b"new"} and not tree.doubt
    assert tree.notes[1:] == ("of these, ada (1) is newer and counts",)
    (tmp_path / "a" / "ada (1)" / ADAPTER).write_bytes(b"old")
    (tree,) = collect(tmp_path / "a", WANTED, roster=roster).students
    assert tree.files == {**OWN, ADAPTER: b"old"} and len(tree.notes) == 1
