"""Text of answers, made safe."""

from grader.core.sanitize import MOST_LINES, message, plain


def test_plain_text():
    assert plain("\tMissing key(s): é\n\x1b[2J\u202e\0") == " Missing key(s): é\n�[2J��"


def test_styles_of_torchs_messages_are_taken_out():
    assert plain("file \x1b[1mnot\x1b[0m loaded\x1b[38;5;9m.") == "file not loaded."


def test_message_is_short():
    assert message("a\n" * 99).splitlines() == ["a"] * (MOST_LINES - 1) + ["…"]
