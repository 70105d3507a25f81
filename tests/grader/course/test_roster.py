"""The list of students: how it is read, who is found in it, and what it refuses."""

import datetime

import pytest

from grader.core.errors import KataError
from grader.course import paths
from grader.course.roster import NOBODY, Roster, Student, load

ADA = Student("ada", "Ada Lovelace", "ada@x.org", ("countess", "12345"), "A", datetime.timedelta(days=3))
BOB = Student("bob", "Boole, George", extension=datetime.datetime(2026, 11, 25, 23, 59, 59, 999999))
TABLE = """\
student,name,email,aliases,section,extension
ada,Ada Lovelace,ada@x.org,countess; 12345,A,3

bob,"Boole, George",,,,2026-11-25
"""


def read(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "class.csv"
    file.write_text(text, encoding)
    return load(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.replace("\n", "\r\n"),
        'Student;Name;E-Mail;Aliases;Section;Extension\nada;Ada Lovelace;ada@x.org;"countess;12345";A;3\n'
        "bob;Boole, George;;;;2026-11-25\n",
        TABLE.replace('"Boole, George"', "%").replace(",", "\t").replace("%", "Boole, George"),
        "email,student,aliases,room,name,section,extension\n"
        "ada@x.org,ada,countess;12345,7,Ada Lovelace,A,3.0\n"
        ',bob,,,"Boole, George",,2026-11-25',
    ],
)
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path, text, encoding):
    assert read(tmp_path, text, encoding) == Roster((ADA, BOB))


def test_a_student_alone_is_enough(tmp_path):
    assert read(tmp_path, "student\nada\n") == Roster((Student("ada"),))


def test_without_a_roster_there_is_nobody_and_a_named_one_has_to_be_there(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "COURSE", tmp_path)
    assert load() is NOBODY
    assert NOBODY.id_of("ada") == "ada"
    (tmp_path / "roster.csv").write_text(TABLE)
    assert load() == Roster((ADA, BOB))
    with pytest.raises(KataError, match=r"other\.csv cannot be read"):
        load(tmp_path / "other.csv")


@pytest.mark.parametrize(
    "called",
    [
        "ada",
        "Ada",
        "ADA@x.org",
        "Countess",
        "12345",
        "lovelaceada_12345",
        "Ada Lovelace_1234567",
        "Ada Lovelace",
    ],
)
def test_who_is_called_so_is_found(called):
    assert Roster((ADA, BOB)).id_of(called) == "ada"


@pytest.mark.parametrize("called", ["lovelaceada_1234", "George_3", "_12345x", "", "bo"])
def test_a_stranger_keeps_the_name(called):
    assert Roster((ADA, BOB)).id_of(called) == called


def test_a_name_that_two_have_finds_neither():
    assert Roster((ADA, Student("ada2", "ada lovelace"))).find("Ada Lovelace_1234567") is None


def test_the_nearest_is_told():
    roster = Roster((ADA, BOB))
    assert roster.nearest("adaa") == roster.nearest("Ada Lovelac_99") == ADA
    assert roster.nearest("zoe") is None


def test_first_and_last_names():
    assert ADA.first_and_last == ("Ada", "Lovelace")
    assert BOB.first_and_last == ("George", "Boole")
    assert Student("x", "Plato").first_and_last == ("", "Plato")


@pytest.mark.parametrize(
    "text, told",
    [
        ("name\nAda\n", r"no column 'student': it begins with 'name'"),
        ("", r"no column 'student'"),
        ("student,extention\nada,3\n", r"no column 'extension'; is 'extention' meant\?"),
        ("student\nada\nADA\n", r"line 3: 'ada' is 'ada' in line 2 already"),
        ("student,aliases\nada,x\nbob,X\n", r"line 3: 'x' is 'ada' in line 2 already"),
        ("student,name\nada,\n,Bob\n", r"line 3: the column student is empty"),
        ("student,name\nada,Marsden, Dora\n", r"line 2: has more cells than the first row; quote what"),
        ("student,nmae\nada,Ada\n", r"no column 'name'; is 'nmae' meant\?"),
        ("student\n../ada\n", r"line 2: '\.\./ada' cannot be"),
        ("student\n.ada\n", r"line 2: '\.ada' cannot be"),
        ("student,extension\nada,soon\n", r"line 2: the extension 'soon' is neither days \(3\) nor a date"),
        ("student,extension\nada,-1\n", r"line 2: the extension '-1'"),
        ("student,extension\nada,367\n", r"line 2: the extension '367'"),
        ('student,name\nada,"Ada\n', r"cannot be read as CSV"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path, text, told):
    with pytest.raises(KataError, match=told) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_another_encoding_is_told(tmp_path):
    with pytest.raises(KataError, match=r"class\.csv is no UTF-8; save it again as \*CSV UTF-8\*"):
        read(tmp_path, "student,name\nasa,Åsa\n", "cp1252")
