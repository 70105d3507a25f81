"""Archives of other people: what is in them is read, and nothing that they pull costs anybody else."""

import bz2
import gzip
import io
import lzma
import random
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from grader.classroom.submissions.class_folder import Submission, collect
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import Refused
from grader.core.errors import KataError
from tests.grader.classroom.submissions.test_class_folder import put
from tests.grader.support.little_course import CATALOG

FIRST = "e01_one/ex01_first.py"
SECOND = "e01_one/ex02_second.py"


def zipped(*files) -> bytes:
    """A zip of (name or ZipInfo, content) pairs."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(*members: tuple[tarfile.TarInfo | str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.create_system = 3
    return info


def hand_in(folder: Path, **files: bytes) -> dict[str, Submission]:
    """The submissions of a class with `ada=…` as ada.zip, and bob, who is honest."""
    for name, content in files.items():
        put(folder / f"{name}.zip", content)
    put(folder / "bob" / FIRST, b"bob\n")
    found = {s.student: s for s in collect(folder, CATALOG).submissions}
    assert found["bob"] == Submission("bob", {"first": b"bob\n"})
    return found


@pytest.mark.parametrize("wrapper", ["", "kata-main/", "exercises/", "kata-main/exercises/", "ps1/"])
def test_an_archive_is_read_as_the_folder_that_it_was(tmp_path, wrapper):
    content = zipped((wrapper + FIRST, b"a\n"), (f"{wrapper}e02_two/ex03_third.py", b"c\n"))
    assert hand_in(tmp_path, ada=content)["ada"] == Submission("ada", {"first": b"a\n", "third": b"c\n"})


@pytest.mark.parametrize(
    ("ending", "packed"),
    [
        ("tar", bytes),
        ("tar.gz", gzip.compress),
        ("tgz", gzip.compress),
        ("tar.bz2", bz2.compress),
        ("tar.xz", lzma.compress),
        ("zip", bytes),
    ],
)
def test_tarballs_are_told_by_what_they_are(tmp_path, ending, packed):
    long = b"# a comment, which is read fast\n" * 6_000 + b"a\n"
    put(tmp_path / f"ada.{ending}", packed(tarred((f"./work/{FIRST}", long))))
    (ada,) = collect(tmp_path, CATALOG).submissions
    assert ada == Submission("ada", {"first": long})


def test_a_folder_and_an_archive_of_one_student_are_one_submission(tmp_path):
    put(tmp_path / "ada" / FIRST, b"folder\n")
    put(tmp_path / "ada" / "more" / "rest.zip", zipped((SECOND, b"in the folder\n")))
    put(tmp_path / "ada.zip", zipped((FIRST, b"zip\n"), ("e02_two/ex03_third.py", b"zip\n")))
    (ada,) = collect(tmp_path, CATALOG).submissions
    assert ada.answers == {"first": b"folder\n", "second": b"in the folder\n", "third": b"zip\n"}
    assert ada.notes == (f"not read: ada.zip/{FIRST} is a second answer",)


def test_a_clone_in_an_archive_gives_its_exercises_alone(tmp_path):
    names = (f"samples/class/bo/{FIRST}", f"tests/specimens/{FIRST}", f"solutions/{FIRST}", ".git/config")
    content = zipped(*((f"kata/{name}", b"no\n") for name in names), (f"kata/exercises/{FIRST}", b"a\n"))
    assert hand_in(tmp_path, ada=content)["ada"] == Submission("ada", {"first": b"a\n"})


@pytest.mark.parametrize(
    "name", [f"../{FIRST}", f"/{FIRST}", f"work/../../{FIRST}", f"C:\\{FIRST}", "..\\..\\ex01_first.py"]
)
def test_names_that_lead_elsewhere_are_left_out(tmp_path, name):
    ada = hand_in(tmp_path, ada=zipped((name, b"no\n"), (SECOND, b"a\n")))["ada"]
    assert ada.answers == {"second": b"a\n"}
    assert "leads out of the archive" in ada.notes[0]


def test_windows_may_write_backslashes(tmp_path):
    ada = hand_in(tmp_path, ada=zipped(("work\\e01_one\\ex01_first.py", b"a\n")))["ada"]
    assert ada.answers == {"first": b"a\n"}


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (stat.S_IFLNK | 0o777, "is a link"),
        (stat.S_IFCHR | 0o666, "is a device"),
        (stat.S_IFIFO, "a named pipe"),
    ],
)
def test_links_and_devices_in_a_zip_are_problems(tmp_path, mode, words):
    content = zipped((special(FIRST, mode), b"/etc/passwd"), (SECOND, b"a\n"))
    ada = hand_in(tmp_path, ada=content)["ada"]
    assert ada.answers == {"second": b"a\n"}
    assert words in ada.problems["first"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tarball_are_problems(tmp_path, kind):
    info = tarfile.TarInfo(FIRST)
    info.type, info.linkname = kind, "/etc/passwd"
    ada = hand_in(tmp_path, ada=tarred((info, b""), (SECOND, b"a\n")))["ada"]
    assert ada.answers == {"second": b"a\n"}
    assert [*ada.problems] == ["first"]


def encrypted() -> bytes:
    content = bytearray(zipped((FIRST, b"secret\n")))
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(sign) + flags] |= 1
    return bytes(content)


def lying(size: int) -> bytes:
    """A zip whose file unpacks to more than it says."""
    content = bytearray(zipped((FIRST, b"x" * (2 << 20))))
    for sign, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = content.index(sign) + at
        content[start : start + 4] = struct.pack("<I", size)
    return bytes(content)


def nested(times: int) -> bytes:
    content = zipped((FIRST, b"deep\n"))
    for _ in range(times):
        content = zipped(("more.zip", content))
    return content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no archive that can be read"),
        (b"PK\x03\x04 and no more", "is no archive that can be read"),
        (b"essay " * 1000, "is no archive that can be read"),
        (zipped((FIRST, b"x = 1\n" * 9000))[:-30], "is no archive that can be read"),
        (gzip.compress(tarred((FIRST, b"x = 1\n" * 9000)))[:-30], "is no archive that can be read"),
        (b"7z\xbc\xaf\x27\x1c rest", "is a 7z archive, which is not read; hand in a zip"),
        (b"Rar!\x1a\x07\x01\x00", "is a RAR archive, which is not read; hand in a zip"),
        (encrypted(), "is encrypted; hand it in without a password"),
        (zipped((FIRST, b"x" * (1 << 21))), "is larger than 1 MiB"),
        (tarred((FIRST, b"x" * (1 << 21))), "is larger than 1 MiB"),
        (lying(100), "no archive that can be read"),
        (nested(3), "is an archive in an archive in an archive"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_bad_archive_is_one_line_and_its_students_alone(tmp_path, content, words):
    ada = hand_in(tmp_path, ada=content)["ada"]
    assert ada.answers == {}
    assert words in ada.problems["first"]
    (note,) = ada.notes
    assert words in note
    assert "\n" not in note


def test_an_archive_in_an_archive_is_read(tmp_path):
    assert hand_in(tmp_path, ada=nested(2))["ada"].answers == {"first": b"deep\n"}


def test_a_zip_that_holds_itself_ends(tmp_path):
    """A chain of archives costs no more than its first links."""
    content = zipped(*((f"{n}.zip", nested(3)) for n in range(5)))
    assert hand_in(tmp_path, ada=content)["ada"].answers == {}


def test_a_zip_that_lists_more_files_than_anybody_hands_in_is_not_read():
    limits = archives.ArchiveLimits(listing=1000, unpacked=1 << 20, read=1 << 20)
    many = [(f"{n}.txt", b"") for n in range(100)]
    for content in (zipped(*many), tarred(*many)):
        with pytest.raises(Refused, match="too many files"), archives.opened(io.BytesIO(content), limits):
            pass


def test_a_tarball_that_unpacks_to_more_than_it_may_is_not_read():
    limits = archives.ArchiveLimits(listing=1 << 20, unpacked=1 << 20, read=1 << 20)
    bomb = gzip.compress(tarred(("zeros.bin", bytes(8 << 20))))
    with (
        pytest.raises(Refused, match="unpacks to more than 1 MiB"),
        archives.opened(io.BytesIO(bomb), limits),
    ):
        pass


def test_all_that_is_read_of_an_archive_is_counted():
    limits = archives.ArchiveLimits(listing=1 << 20, unpacked=8 << 20, read=1 << 20)
    zeros = [(f"{n}.ipynb", bytes(700_000)) for n in range(2)]
    with archives.opened(io.BytesIO(zipped(*zeros)), limits) as content:
        content.content("0.ipynb", 1 << 20)
        with pytest.raises(Refused, match="more than 1 MiB would be read"):
            content.content("1.ipynb", 1 << 20)


def test_of_two_files_with_one_name_the_last_counts_and_that_is_told(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = zipped((FIRST, b"one\n"), (FIRST, b"two\n"))
    ada = hand_in(tmp_path, ada=content)["ada"]
    assert ada.answers == {"first": b"two\n"}
    assert ada.notes == (f"not read: ada.zip: {FIRST} is there twice; the last counts",)


def test_a_file_that_is_a_folder_as_well_is_told(tmp_path):
    content = zipped(("work", b""), (f"work/{FIRST}", b"no\n"), (SECOND, b"a\n"))
    ada = hand_in(tmp_path, ada=content)["ada"]
    assert ada.answers == {"second": b"a\n"}
    assert "lies in a file" in ada.notes[0]


def test_names_in_other_encodings_are_read(tmp_path):
    utf8_unsaid = bytearray(zipped((f"Åsa/{FIRST}", b"a\n")))
    for sign, flags in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        utf8_unsaid[utf8_unsaid.index(sign) + flags] &= ~0x08 & 0xFF
    put(tmp_path / "class.zip", bytes(utf8_unsaid))
    assert [s.student for s in collect(tmp_path / "class.zip", CATALOG).submissions] == ["Åsa"]
    odd = tarfile.TarInfo("ada\x1b/" + FIRST)
    put(tmp_path / "class.tar", tarred((odd, b"a\n"), ("b\udcff/" + FIRST, b"b\n")))
    found = collect(tmp_path / "class.tar", CATALOG).submissions
    assert [s.student for s in found] == [r"ada\x1b", r"b\udcff"]
    assert all(s.answers for s in found)


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04", b"Rar!\x1a\x07\x01\x00", zipped(("x.txt", b""))],
    ids=["empty", "cut", "rar", "no answers"],  # not the bytes: a zip tells the time
)
def test_an_archive_that_is_no_class_is_one_line(tmp_path, content):
    put(tmp_path / "class.zip", content)
    with pytest.raises(KataError, match=r"class\.zip (is|holds no student)") as told:
        collect(tmp_path / "class.zip", CATALOG)
    assert "\n" not in str(told.value)


def test_names_that_no_disk_could_hold_are_left_out(tmp_path):
    name = f"ex01_first{'-1' * 30_000}.py"
    ada = hand_in(tmp_path, ada=zipped((name, b"no\n"), (SECOND, b"a\n")))["ada"]
    assert ada.answers == {"second": b"a\n"}
    assert "is too long a name" in ada.notes[0]
    assert len(ada.notes[0]) < 400


def test_depth_ends(tmp_path):
    ada = hand_in(tmp_path, ada=zipped(("a/" * 40 + FIRST, b"no\n"), ("b/" * 20 + FIRST, b"no\n")))["ada"]
    assert ada.answers == {}
    assert ada.notes[0].count("too deep") == 2


def test_a_very_long_name_is_a_students_all_the_same(tmp_path):
    put(tmp_path / ("a" * 250) / FIRST)
    put(tmp_path / ("a" * 249 + "b") / FIRST)
    names = [s.student for s in collect(tmp_path, CATALOG).submissions]
    assert len({*names}) == 2
    assert max(map(len, names)) < 200


def test_headers_that_old_pythons_search_for_hours_are_not_parsed(tmp_path):
    long = tarfile.TarInfo("x.py")
    long.pax_headers = {"comment": "1" * 60_000}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(long)
    with pytest.raises(Refused, match="headers that are too long"), archives.opened(stream_of(stream)):
        pass


def stream_of(written: io.BytesIO) -> io.BytesIO:
    return io.BytesIO(written.getvalue())


def test_a_negative_size_ends_the_reading_of_a_tarball():
    content = bytearray(tarred((FIRST, b"x\n"), (SECOND, b"y\n")))
    content[124:136] = b"\xff" * 12  # minus one, in base 256
    checksum = sum(content[:148]) + 8 * 32 + sum(content[156:512])
    content[148:156] = b"%06o\0 " % checksum
    try:
        with archives.opened(io.BytesIO(bytes(content))) as found:
            assert "e01_one" in found.kinds()
    except Refused:
        pass


@pytest.mark.parametrize("kind", ["archives", "notebooks", "folders"])
def test_what_one_student_costs_is_limited_altogether(tmp_path, kind, monkeypatch):
    from grader.classroom.submissions import student

    monkeypatch.setattr(student, "_MAX_READ", 300)
    monkeypatch.setattr(student, "_MAX_FOLDERS", 30)
    for n in range(40):
        if kind == "archives":
            put(tmp_path / f"ada/{n}.zip", zipped(("x.txt", b"")))
        elif kind == "notebooks":
            put(tmp_path / f"ada/{n}.ipynb", b"[" + b" " * 100)
        else:
            put(tmp_path / f"ada/{n}/x.txt")
    put(tmp_path / "ada" / FIRST, b"a\n")
    ada = hand_in(tmp_path)["ada"]
    assert ada.answers == {"first": b"a\n"}
    words = {
        "archives": "is one archive too many",
        "notebooks": "comes after too much else",
        "folders": "lies behind too many folders",
    }
    assert words[kind] in " ".join((*ada.notes, *ada.problems.values()))


def test_archives_with_any_byte_changed_are_told_and_never_raise(tmp_path):
    chance = random.Random(7)
    inner = zipped((SECOND, b"inner\n"))
    whole = [
        zipped((FIRST, b"a\n" * 50), ("notes/x.ipynb", b"{}"), ("more.zip", inner)),
        tarred((FIRST, b"a\n" * 50), ("more.zip", inner)),
    ]
    whole += [gzip.compress(whole[1]), lzma.compress(whole[1])]
    for _ in range(400):
        content = bytearray(chance.choice(whole))
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(content))
            content[at : at + chance.choice((1, 4))] = bytes([chance.choice((0, 1, 0x80, 0xFF))])
        put(tmp_path / "ada.zip", bytes(content))
        hand_in(tmp_path)
