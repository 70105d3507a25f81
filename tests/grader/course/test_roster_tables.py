"""What Canvas, Moodle and GitHub Classroom export, as the list of students."""

import pytest

from grader.course.roster import Student, load

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,merge_heads (501),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,2,(read only)
"Lovelace, Ada",12,S-12,ada@example.org,Monday,1.5,
"Boole, George",13,,george,Tuesday,,
"Student, Test",14,,0f1e2d,Monday,,
"""
LASTNAME = """\
LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,merge_heads (501)
    Points Possible,,,,,,2
Lovelace,Ada,12,S-12,ada@example.org,Monday,1.5
Boole,George,13,,george,Tuesday,
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,"Last modified (submission)"
Participant 1005,Ada Lovelace,ada@example.org,Submitted,,"Friday, 20 November 2026, 11:58 PM"
Participant 1006,George Boole,,No submission,,-
"""
BLIND = "Identifier,Status,Grade\nParticipant 1005,Submitted,\n"
PARTICIPANTS = """\
"First name","Last name","ID number","Email address",Groups
Ada,Lovelace,4711,ada@example.org,Monday
George,Boole,,george@example.org,
"""
GITHUB = """\
"identifier","github_username","github_id","name"
"ada@example.org","countess","99","Ada Lovelace"
"boole-1","","",""
"""
GRADES = """\
"assignment_name","github_username","roster_identifier","student_repository_name","points_awarded"
"week1","countess","ada@example.org","week1-countess","0"
"""
ADA, BOOLE = "ada@example.org", "George Boole"
OF_CANVAS = [
    Student(ADA, "Lovelace, Ada", ADA, ("lovelaceada_12", "12", "S-12"), "Monday"),
    Student("george", "Boole, George", "", ("boolegeorge_13", "13"), "Tuesday"),
]


@pytest.mark.parametrize(
    ("table", "students"),
    [
        (CANVAS, OF_CANVAS),
        (LASTNAME, OF_CANVAS),
        (
            WORKSHEET,
            [
                Student(ADA, "Ada Lovelace", ADA, ("Participant 1005",)),
                Student(BOOLE, BOOLE, "", ("Participant 1006",)),
            ],
        ),
        (BLIND, [Student("Participant 1005")]),
        (
            PARTICIPANTS,
            [
                Student("4711", "Lovelace, Ada", ADA, section="Monday"),
                Student("george@example.org", "Boole, George", "george@example.org"),
            ],
        ),
        (GITHUB, [Student(ADA, "Ada Lovelace", ADA, ("countess",)), Student("boole-1")]),
        (
            GITHUB.replace("boole-1", "9/boole").replace('boole",""', 'boole","boole"'),
            [Student(ADA, "Ada Lovelace", ADA, ("countess",)), Student("boole", aliases=("9/boole",))],
        ),
        (GRADES, [Student(ADA, "", ADA, ("countess",))]),
        ("student,id,section\nada,7,A\n", [Student("ada", section="A")]),
    ],
)
def test_a_platforms_table_is_a_roster(tmp_path, table, students):
    (tmp_path / "roster.csv").write_text(table, "utf-8-sig")
    assert [*load(tmp_path / "roster.csv").students] == students


@pytest.mark.parametrize(
    ("table", "called", "student"),
    [
        (CANVAS, "lovelaceada_12", ADA),
        (CANVAS, "lovelaceanna_12", ADA),
        (WORKSHEET, "Ada Byron_1005", ADA),
        (WORKSHEET, "Participant_1005", ADA),
        (GITHUB, "countess", ADA),
        (PARTICIPANTS, "Lovelace Ada_1005", "4711"),
    ],
)
def test_who_came_by_that_platform_is_found(tmp_path, table, called, student):
    (tmp_path / "roster.csv").write_text(table)
    assert load(tmp_path / "roster.csv").id_of(called) == student
