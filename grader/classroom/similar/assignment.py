"""An assignment with a suite of its own, whose hand-ins are compared as wholes."""

from dataclasses import dataclass
from pathlib import Path

from grader.classroom.submissions.class_folder import Classwork
from grader.classroom.suite import hand_ins
from grader.classroom.suite.suite import Suite
from grader.core.packed import Files
from grader.course.exercise import Exercise
from grader.course.roster import Roster


@dataclass(frozen=True)
class SuiteAssignment:
    """The suite, and the files of a solution, if there is one."""

    suite: Suite
    solution: Files

    @property
    def exercise(self) -> Exercise:
        """The assignment as an exercise whose answers are folders."""
        name = self.suite.name
        return Exercise(
            hand_ins.ANSWER, "", 1, name, "project", "core", 1, 1, (), (), (), "", root=self.suite.root
        )

    def collect(self, folder: Path, roster: Roster) -> Classwork:
        """Read what a class handed in."""
        return hand_ins.collect(folder, self.suite, roster)

    def everybodys(self, _: Exercise, tell: object) -> list[str]:
        """What anybody may have written: the solution, and all that students were handed out."""
        held = (self.suite.files, self.suite.given, self.solution)
        sources = (content for files in held for path, content in files.items() if path.endswith(".py"))
        return [content.decode("utf-8", "replace") for content in sources]
