"""Text of answers, made safe."""

from grader.core.sanitize import MOST_LINES, message, plain


def test_plain_text():
    assert plain("\tMissing key(s): é\n\x1b[1m\u202e\0") == " Missing key(s): é\n�[1m��"


def test_message_is_short():
    assert message("a\n" * 99).splitlines() == ["a"] * (MOST_LINES - 1) + ["…"]
