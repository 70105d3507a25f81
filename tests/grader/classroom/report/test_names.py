"""Names of the course's roster on the pages."""

from grader.classroom import report
from grader.course.roster import Roster, Student
from tests.grader.classroom.report.test_report import CATALOG, CLASS


def test_sections_of_the_roster_are_a_column(tmp_path):
    report.write(CLASS, CATALOG, tmp_path, roster=Roster((Student("ada", section="<A>"),)))
    index = (tmp_path / "index.html").read_text()
    assert (
        index.count('<td class="section"><bdi>&lt;A&gt;</bdi></td>') == 3
    )  # one heat map each, and the whole
    assert index.count('<td class="section">') == 3 * len(CLASS)
    report.write(CLASS, CATALOG, tmp_path, roster=Roster((Student("ada"),)))
    assert 'class="section"' not in (tmp_path / "index.html").read_text()


def test_names_of_the_roster_are_shown(tmp_path):
    roster = Roster((Student("ada", "Ada <King> Lovelace"), Student("bob")))
    report.write(CLASS, CATALOG, tmp_path, roster=roster)
    index = (tmp_path / "index.html").read_text()
    assert index.count("<bdi>Ada &lt;King&gt; Lovelace (ada)</bdi>") >= 2
    assert "<bdi>bob</bdi>" in index
    page = (tmp_path / "students" / "ada.html").read_text()
    assert "<h1><bdi>Ada &lt;King&gt; Lovelace (ada)</bdi></h1>" in page
    assert "<title>Ada &lt;King&gt; Lovelace (ada): " in page
    assert "Lovelace" not in (tmp_path / "students" / "bob.html").read_text()
