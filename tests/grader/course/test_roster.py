"""The list of students: how it is read, who is found in it, and what it refuses."""

import dataclasses
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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_excels_unicode_text_remarks_and_sep_are_read(tmp_path, encoding):
    text = (
        'sep=\t\n# autumn\nstudent\tname\tsection\nada\t"Ada\n\u202bLovelace\u202c"\t=1+1\n# late, by mail\n'
    )
    assert read(tmp_path, text, encoding) == Roster((Student("ada", "Ada Lovelace", section="=1+1"),))


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


@pytest.mark.parametrize("called", ["lovelaceada_1234", "George_3", "_12345x", "", "bo", "Lovelace_12345"])
def test_a_stranger_keeps_the_name(called):
    assert Roster((ADA, BOB)).id_of(called) == called


def garbled(name: str, written: str, shown: str = "cp437") -> str:
    """A name from an archive that does not tell its encoding."""
    return name.encode(written).decode(shown)


PEOPLE = {
    "ada": "Lovelace, Ada",
    "siobhan": "Siobhán O’Neil-Byrne",
    "king": "Ada King Lovelace",
    "wei": "王 小明",
    "taro": "山田 太郎",
    "nguyen": "Nguyễn Văn An",
    "jorg": "Jörg Größmann",
    "hopper": "Grace Hopper",
    "1005": "Max Newman",
}


@pytest.mark.parametrize(
    ("called", "student"),
    [
        ("Ada Lovelace_1005", None),  # the number is another's: asked
        ("Ada Lovelace_1006", "ada"),
        ("Lovelace Ada_1006", "ada"),
        ("ADA  LOVELACE", "ada"),
        ("lovelaceada_1006", "ada"),
        ("adalovelace_1006", "ada"),
        ("adalovelace", None),  # a user's own choice
        ("ada-lovelace", None),
        ("Ada Lovelace (1)", "ada"),
        ("\u202eAda\u00a0Lovelace\u202c_1006", "ada"),
        ("Siobha\u0301n ONeil-Byrne_1006", "siobhan"),
        ("O'Neil Byrne Siobhán_1006", "siobhan"),
        ("O`NeilByrne, Siobhán", "siobhan"),
        ("Siobhan ONeil-Byrne_1006", None),
        ("lovelaceadaking_1006", "king"),
        ("小明 王_1006", "wei"),
        ("王小明_1006", "wei"),
        (garbled("王小明_1006", "gbk"), "wei"),
        (garbled("小明 王_1006", "utf-8"), "wei"),
        (garbled("山田 太郎_1006", "cp932"), "taro"),
        (garbled("Jörg Größmann_1006", "cp1252"), "jorg"),
        (garbled("Jörg Größmann_1006", "utf-8", "latin-1"), "jorg"),
        ("Jörg Größmann_1006".encode("cp1252").decode("utf-8", "surrogateescape"), "jorg"),
        (garbled("王大明_1006", "gbk"), None),
        (garbled("王小明_1005", "gbk"), None),
        ("Nguyễn Văn An_1006", "nguyen"),
        ("An Nguyễn Văn_1006", "nguyen"),
        ("Hopper, G_1006", None),
        ("Newman_1005", None),
        ("newmanmax_1005", "1005"),
        ("newmann_1005", "1005"),
    ],
)
def test_a_name_is_one_students_for_sure_or_is_asked(called, student):
    roster = Roster(tuple(Student(id, name) for id, name in PEOPLE.items()))
    found = roster.find(called)
    assert (found and found.id) == student


def test_a_name_that_two_have_finds_neither_and_both_are_meant():
    second, third = Student("ada2", "lovelace, ada"), Student("ada3", "Ada Loveless")
    roster = Roster((third, ADA, second))
    assert roster.find("Ada Lovelace_1234567") is None
    assert roster.meant("Ada Lovelace_1234567") == [ADA, second]
    known = Roster((third, ADA, dataclasses.replace(second, aliases=("Participant 1234567",))))
    assert [s.id for s in known.meant("Ada Lovelace_1234567")] == ["ada", "ada2"]
    assert known.id_of("Participant_1234567") == "ada2"


@pytest.mark.parametrize(
    ("called", "meant"),
    [
        ("adaa", ["ada"]),
        ("Ada Lovelac_99", ["ada"]),
        ("ada-l", ["ada"]),
        ("alovelace", ["ada"]),
        ("Ada King Lovelace_9", ["ada"]),
        ("Ada Hopper_9", []),
        ("week1-countess", ["ada"]),
        ("Monday-Lovelace Ada_9", ["ada"]),
        ("lab-1-zoe", []),
        ("George Bool_3", ["bob"]),
        ("zoe", []),
        ("ab124", []),
    ],
)
def test_who_may_be_meant_is_told(called, meant):
    roster = Roster((ADA, BOB, Student("ab123")))
    assert [student.id for student in roster.meant(called)] == meant


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
        ("student,student\nada,bob\n", r"names 'student' twice"),
        ("student\n..\n", r"line 2: '\.\.' cannot be"),
        ("student\nCON\n", r"line 2: 'CON' cannot be"),
        ("student\naux.1\n", r"line 2: 'aux\.1' cannot be"),
        ("student\nada.\n", r"line 2: 'ada\.' cannot be"),
        ("student\na\\b\n", r"line 2: 'a\\\\b' cannot be"),
        ('student\n"a\nb"\n', r"line 3: 'a\\nb' cannot be"),
        ("student\n\u202eada\n", r"line 2: '\\u202eada' cannot be"),
        ("student\n" + "a" * 161, r"line 2: 'a{40}' cannot be"),
        ("student,name\nada," + "a" * 201, r"line 2: the name 'a{40}'… has more than 200 letters"),
        ("student,name\nada," + "a" * 140_000, r"field larger than field limit"),
        ("student,aliases\nada,\nbob,ada\n", r"line 3: 'ada' is 'ada' in line 2 already"),
        ("student,aliases\nbob,ada\nada,\n", r"line 3: 'ada' is 'bob' in line 2 already"),
        (
            'student,name,aliases\nada,Ada Byron,\nbob,Bob,"Byron, Ada"\n',
            r"'Byron, Ada' of 'bob' is the name of 'ada'",
        ),
        ("student\n" + "\n".join(f"s{n}" for n in range(100_001)), r"has more than 100000 students"),
        ("student\n" + "\n" * (16 << 20), r"has more than 16 MiB"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path, text, told):
    with pytest.raises(KataError, match=told) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_another_encoding_is_told(tmp_path):
    with pytest.raises(KataError, match=r"class\.csv is no UTF-8; save it again as \*CSV UTF-8\*"):
        read(tmp_path, "student,name\nasa,Åsa\n", "cp1252")
