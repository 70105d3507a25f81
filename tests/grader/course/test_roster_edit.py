"""Aliases are written into the list of students, and every other letter stays."""

import pytest

from grader.core.errors import KataError
from grader.course.roster import load
from grader.course.roster_edit import add

TABLE = """# autumn, "A" only
student,"name",aliases,room
"ada",  Ada ,countess,"7, left"

bob,"Bob ""B"" Boole",,
# late
eve
"""
WRITTEN = """# autumn, "A" only
student,"name",aliases,room
"ada",  Ada ,"countess;Ada, L.;x#1","7, left"

bob,"Bob ""B"" Boole",;=b(),
# late
eve,,Eve
"""
MORE = {"ada": ["Ada, L.", "x#1"], "bob": ["=b()"], "eve": ["Eve"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_only_the_aliases_change(tmp_path, encoding, end, last):
    def written(text: str) -> bytes:
        text = text if last else text.removesuffix("\n")
        mark = "\ufeff" if encoding.startswith("utf-16") else ""
        return (mark + text.replace("\n", end)).encode(encoding)

    file = tmp_path / "class.csv"
    (tmp_path / "roster.csv").symlink_to(file)
    file.write_bytes(written(TABLE))
    file.chmod(0o600)
    add(tmp_path / "roster.csv", MORE)
    assert file.read_bytes() == written(WRITTEN)
    assert file.stat().st_mode & 0o777 == 0o600 and (tmp_path / "roster.csv").is_symlink()
    assert load(file).students[0].aliases == ("countess", "Ada, L.", "x#1")


@pytest.mark.parametrize(
    ("table", "written"),
    [
        ("student;name\nada;Ada\nbob;\n", 'student;name;aliases\nada;Ada;"x;y"\nbob;;\nnew;;\n'),
        ("name\tstudent\r\nAda\tada", "name\tstudent\taliases\r\nAda\tada\tx;y\r\n\tnew\t\r\n"),
    ],
)
def test_a_column_and_students_are_added_where_they_lack(tmp_path, table, written):
    file = tmp_path / "roster.csv"
    file.write_bytes(table.encode())
    add(file, {"ada": ["x", "y"]}, ["new"])
    assert file.read_bytes() == written.encode()


def test_a_platforms_own_table_takes_aliases_and_no_students(tmp_path):
    file = tmp_path / "roster.csv"
    file.write_text('"identifier","github_username"\n"ada@x.org",""\n')
    add(file, {"ada@x.org": ["countess"]})
    assert file.read_text() == '"identifier","github_username",aliases\n"ada@x.org","",countess\n'
    with pytest.raises(KataError, match="only a roster with a column student"):
        add(file, {}, ["new"])


@pytest.mark.parametrize(
    ("aliases", "students", "why"),
    [
        ({"ada": ["bob"]}, [], r"'bob' is 'ada' in line 2 already"),
        ({"ada": ["Boole, Bob"]}, [], r"'Boole, Bob' of 'ada' is the name of 'bob'"),
        ({}, ["a/b"], r"'a/b' cannot be"),
    ],
)
def test_what_would_be_no_roster_is_not_written(tmp_path, aliases, students, why):
    file = tmp_path / "roster.csv"
    file.write_text(before := "student,name,aliases\nada,Ada,\nbob,Bob Boole,\n")
    with pytest.raises(KataError, match=why) as told:
        add(file, aliases, students)
    assert str(told.value).endswith("roster.csv stays as it is)") and "/." not in str(told.value)
    assert file.read_text() == before and [*tmp_path.iterdir()] == [file]
