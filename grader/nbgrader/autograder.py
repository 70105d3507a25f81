"""Where `c.Autograder` of older configurations finds its steps."""

from grader.classroom.nbgrader.autograder import EnterScores, JudgeAnswers

__all__ = ["EnterScores", "JudgeAnswers"]
