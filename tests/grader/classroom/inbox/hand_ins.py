"""Small hand-ins of all kinds, and what each is to earn. To add one, add a row.

A row is a student; what the exercises `double` and `twice` earn (1; ! for no point; 0 where nothing was
handed in; ? where a person has to look and no zero is given unseen); what lies in their folder, or beside
it where the name begins with a slash; and words that stand under the table.
"""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.submissions.generated import MARK
from grader.course.cell_names import answer_cell
from tests.grader.support.clone import STUB

Content = bytes | str | Callable[[Path], None]


@dataclass(frozen=True)
class HandIn:
    """A row of the table."""

    student: str
    outcome: str
    files: Mapping[str, Content] = field(repr=False)
    says: str = ""

    @property
    def earned(self) -> dict[str, float | None]:
        points = [{"?": None, "1": 1.0}.get(one, 0.0) for one in self.outcome.split()]
        return dict(zip(EXERCISES, points, strict=True))


EXERCISES = ("double", "twice")
DOUBLE = "def double(x):\n    return x + x\n"
TWICE = "def twice(x):\n    return x + x\n"
STARTS = {
    f"e01_tensors/ex0{n}_{slug}.py": STUB.replace("double", slug)
    for n, slug in enumerate(("double", "twice"), 1)
}
PDF = b"%PDF-1.7\n\x93\x8c\x8b\x9e\n"
HTML = "<!DOCTYPE html><html><body>Please log in.</body></html>"
LATIN = "# möglich\ndef double(x):\n    return x + x\n".encode("latin-1")


def cell(text: str, slug: str = "", kind: str = "code") -> dict[str, object]:
    about = {"nbgrader": {"grade_id": answer_cell(slug), "solution": True}} if slug else {}
    return {"cell_type": kind, "source": text, "metadata": about, "outputs": []}


def book(*cells: dict[str, object]) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def check(slug: str) -> dict[str, object]:
    return cell(f'check("{slug}")')


RIGHT = book(cell(DOUBLE, "double"), check("double"), cell(TWICE, "twice"), check("twice"))


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def encrypted() -> bytes:
    content = bytearray(zipped({"ex01_double.py": DOUBLE}))
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(sign) + flags] |= 1
    return bytes(content)


def marked(about: object) -> str:
    return json.dumps({**json.loads(RIGHT), "metadata": {MARK: about}})


CLAIMED = 999_999_999_999_999


def tar(*, pax: Mapping[str, str] | None = None, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A tarball of one file that claims what is not there, and ends after its headers."""
    info = tarfile.TarInfo("ex01_double.py")
    info.type, info.pax_headers, info.size = kind, pax or {}, size
    return info.tobuf(tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT)


def sparse(numbers: int) -> bytes:
    """A file of GNU's sparse format 1.0, whose map claims to be long."""
    told = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "1"}
    return tar(pax=told, size=512) + f"{numbers}\n".encode().ljust(512, b"\n") * 2


def linked(place: Path) -> None:
    place.symlink_to("/etc")


def large(place: Path) -> None:
    with place.open("wb") as stream:
        stream.truncate((32 << 20) + 1)


def nothing(place: Path) -> None:
    """Who is in the roster alone."""


SHOWN = """files = !ls
%matplotlib inline
def double(x):
    return x + x
t = %timeit -o double(x)
print(t.best, files[0])
display(double(of_a_deleted_cell))
"""
LANGUAGE = book(
    cell(SHOWN, "double"), cell("double = double(3)"), cell(f"%%capture\n{TWICE}"), check("double")
)
OTHERWISE = "def mine(x):\n    return x + x\n"
RENAMED = book(cell(OTHERWISE, "first"), cell(OTHERWISE, "second")).replace("-answer", "")
ONE_RENAMED = book(cell(DOUBLE, "double"), cell(OTHERWISE, "second"))
OUT = "../../e/ex01_double.py"

ROSTER = """student,name,aliases
dora,"Marsden, Dora",
zoe,Zo\u00eb d'Arc,
kim,Kim Lee,
kim2,"Lee, Kim",
eva,Eva Ek,ekeva_77
fay,Fay Fu,fufay_78
"""
IDS = {"77": "eva", "78": "fay"}


def moodle(name: str) -> str:
    return f"/{name}_assignsubmission_file_/ex01_double.py"


HAND_INS = (
    HandIn("nothing", "0 0", {}),
    HandIn("the_start", "0 0", STARTS),
    HandIn("the_start_as_a_cell", "0 0", {"hw.ipynb": book(cell(STUB, "double"))}),
    HandIn("right", "1 1", {"ex01_double.py": DOUBLE, "ex02_twice.py": TWICE}),
    HandIn("one_of_two", "1 0", {"ex01_double.py": DOUBLE}),
    HandIn("utf_16", "1 0", {"ex01_double (1).py": DOUBLE.encode("utf-16")}, "which is UTF-16"),
    # documents
    HandIn("lone_pdf", "? ?", {"hw.pdf": PDF}, "no answer can be read in hw.pdf"),
    HandIn("lone_picture", "? ?", {"photo.JPG": b"\xff\xd8\xff"}, "photo.JPG"),
    HandIn("lone_readme", "? ?", {"README.md": "I did it, see my repository."}, "README.md"),
    HandIn("textentry_12", "? ?", {"/textentry_12_text.html": HTML}, "text.html"),
    HandIn("pdf_beside_one", "1 0", {"ex01_double.py": DOUBLE, "hw.pdf": PDF}, "ignored: hw.pdf"),
    HandIn("pdf_beside_starts", "? ?", {**STARTS, "hw.pdf": PDF}, "hw.pdf"),
    HandIn("pdf_in_the_section", "? ?", {"e01_tensors/hw.pdf": PDF}, "e01_tensors/hw.pdf"),
    # notebooks that cannot be read
    HandIn("broken_book", "? ?", {"hw.ipynb": "{broken"}, "hw.ipynb is not read: the notebook is not JSON"),
    HandIn("empty_book", "? ?", {"hw.ipynb": ""}, "hw.ipynb"),
    HandIn("torn_book", "? ?", {"hw.ipynb": RIGHT[:-40]}, "hw.ipynb"),
    HandIn("html_book", "? ?", {"hw.ipynb": HTML}, "hw.ipynb"),
    HandIn("latin_book", "? ?", {"hw.ipynb": RIGHT.replace("+ x", "+ x # ä").encode("latin-1")}, "hw.ipynb"),
    HandIn("deep_book", "? ?", {"hw.ipynb": "[" * 100_000}, "hw.ipynb"),
    HandIn("large_book", "? ?", {"hw.ipynb": large}, "is larger than 32 MiB"),
    HandIn("format_3_book", "? ?", {"hw.ipynb": '{"worksheets": []}'}, "no list of cells"),
    HandIn("book_without_code", "? ?", {"hw.ipynb": book(cell("Thoughts.", kind="markdown"))}, "hw.ipynb"),
    HandIn("renamed_cells", "? ?", {"hw.ipynb": RENAMED}, "code that answers no exercise by its names"),
    HandIn("one_cell_renamed", "1 ?", {"hw.ipynb": ONE_RENAMED}, "an answer in a cell of another name"),
    HandIn(
        "broken_beside_one", "1 ?", {"ex01_double.py": DOUBLE, "hw.ipynb": "{"}, "twice needs manual grade"
    ),
    HandIn("broken_beside_starts", "? ?", {**STARTS, "hw.ipynb": "{"}, "hw.ipynb"),
    # notebooks that can
    HandIn("right_book", "1 1", {"hw.ipynb": RIGHT}),
    HandIn("huge_number", "1 1", {"hw.ipynb": RIGHT.replace("4,", "1" * 9999 + ",", 1)}),
    HandIn("as_downloaded", "1 1", {"hw.ipynb.json": RIGHT}),
    HandIn("capitals", "1 1", {"HW.IPYNB": RIGHT}),
    HandIn("in_ipythons_language", "1 1", {"hw.ipynb": LANGUAGE}),
    HandIn("names_of_cells_lost", "1 1", {"hw.ipynb": RIGHT.replace("-answer", "-a")}),
    HandIn("book_in_a_clone", "1 1", {**{f"exercises/{k}": v for k, v in STARTS.items()}, "hw.ipynb": RIGHT}),
    # what `kata grade` itself wrote for formgrader
    HandIn("as_formgrader_shows_it", "? ?", {"e01_tensors.ipynb": marked({})}, "no verdict of before"),
    HandIn("as_formgrader_shows_it_renamed", "? ?", {"hw.ipynb": marked({})}, "hw.ipynb"),
    HandIn("changed_since", "1 1", {"e01_tensors.ipynb": marked({"code": "of then"})}),
    HandIn("mark_of_no_kind", "1 1", {"e01_tensors.ipynb": marked(0)}),
    # Python files
    HandIn("homework", "1 0", {"homework.py": DOUBLE}, "homework.py taken for double.py"),
    HandIn("homework_of_both", "1 1", {"my work/homework.py": DOUBLE + TWICE}, "taken for twice.py"),
    HandIn(
        "homework_twice", "? 0", {"a.py": DOUBLE, "b.py": DOUBLE.replace("+", "-")}, "a.py and b.py may each"
    ),
    HandIn(
        "homework_broken", "? 0", {"homework.py": DOUBLE + "def"}, "homework.py has double, and is no Python"
    ),
    HandIn("homework_in_latin_1", "? ?", {"homework.py": LATIN}, "homework.py is not UTF-8"),
    HandIn("display_in_a_file", "! 0", {"ex01_double.py": DOUBLE + "display(double(1))"}, "double broken"),
    HandIn("helpers", "1 0", {"ex01_double.py": DOUBLE, "tools.py": "def f(): pass"}, "ignored: tools.py"),
    HandIn("in_latin_1", "? 0", {"ex01_double.py": LATIN}, "ex01_double.py is not UTF-8"),
    HandIn("empty", "? 0", {"ex01_double.py": ""}, "ex01_double.py holds no code"),
    HandIn("a_remark", "? 0", {"ex01_double.py": "# see my mail\n'or not'\n"}, "holds no code"),
    HandIn("hidden", "1 0", {".homework.py": DOUBLE}, "taken for"),
    HandIn("too_deep", "? ?", {"a/b/c/d/e/f/g/h/ex01_double.py": DOUBLE}, "lies too deep"),
    HandIn("linked", "? ?", {"work": linked}, "is a link"),
    # who is who
    HandIn("dora", "1 0", {moodle("Dora Marsden_1005"): DOUBLE}),
    HandIn("zoe", "1 0", {moodle("Zoe\u0308 d\u2019Arc_1006"): DOUBLE}),
    HandIn("Kim Lee_1007", "1 0", {moodle("Kim Lee_1007"): DOUBLE}, "is it Kim Lee (kim) or"),
    HandIn("kim", "? ?", {"/kim": nothing}, "may have handed in as Kim Lee_1007"),
    HandIn("kim2", "? ?", {"/kim2": nothing}, "may have handed in as Kim Lee_1007"),
    HandIn("eva", "? 0", {"/eva/double.py": DOUBLE, "/ekeva_77_1_double.py": f"{DOUBLE}# ?"}, "ekeva_77"),
    HandIn("fay", "1 1", {"/fay/double.py": DOUBLE, "/fufay_78_1_twice.py": TWICE}),
    # archives
    HandIn("zip", "1 1", {"hw.zip": zipped({"e01/ex01_double.py": DOUBLE, "x/hw.ipynb": RIGHT})}),
    HandIn("zip_leading_out", "? ?", {"hw.zip": zipped({OUT: DOUBLE})}, "leads out of the archive"),
    HandIn("zip_leading_out_in_part", "? 1", {"hw.zip": zipped({OUT: DOUBLE, "ex02_twice.py": TWICE})}, OUT),
    HandIn("book_leading_out", "1 ?", {"hw.zip": zipped({"/hw.ipynb": RIGHT, "ex01_double.py": DOUBLE})}),
    HandIn("zip_of_nothing", "? ?", {"hw.zip": zipped({})}, "hw.zip"),
    HandIn("zip_of_junk", "? ?", {"hw.zip": zipped({"__MACOSX/._ex01_double.py": "", ".DS_Store": ""})}),
    HandIn("zip_of_a_pdf", "? ?", {"hw.zip": zipped({"hw.pdf": PDF})}, "hw.zip/hw.pdf"),
    HandIn("zip_with_a_password", "? 0", {"hw.zip": encrypted()}, "is encrypted"),
    HandIn("zip_cut", "? ?", {"hw.zip": zipped({"ex01_double.py": DOUBLE})[:-30]}, "hw.zip"),
    HandIn("7z", "? ?", {"hw.7z": b"7z\xbc\xaf\x27\x1c"}, "is a 7z archive"),
    HandIn("mail", "? ?", {"/mail.zip": zipped({"hw.pdf": PDF})}, "mail.zip/hw.pdf"),
    HandIn("claim_of_pax", "? ?", {"hw.tar": tar(pax={"size": str(CLAIMED)})}, "hw.tar unpacks to more than"),
    HandIn("claim_of_gnu", "? ?", {"hw.tar": tar(size=CLAIMED)}, "hw.tar unpacks to more than"),
    HandIn("claim_of_little", "? ?", {"hw.tar": tar(size=200 << 20)}, "claims to hold more than is there"),
    HandIn(
        "claim_of_a_name", "? ?", {"hw.tar": tar(size=CLAIMED, kind=tarfile.GNUTYPE_LONGNAME)}, "too long"
    ),
    HandIn("sparse", "? ?", {"hw.tar": sparse(10**9)}, "holds a sparse file"),
)
