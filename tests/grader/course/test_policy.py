"""What a course makes of the fine print stands in `course.toml`."""

import pytest

from grader.core.errors import KataError
from grader.course.policy import Policy, load


def said(folder, text):
    (folder / "course.toml").write_text(text)
    return load(folder)


def test_it_is_read(tmp_path):
    assert load(tmp_path) == Policy(0.3, strict=False)
    assert said(tmp_path, 'title = "Ours"\n') == Policy()
    assert said(tmp_path, "[grading]\nfine_print = 0\n") == Policy(0.0)
    assert said(tmp_path, "[grading]\nsteps = 0.5\n") == Policy(steps=0.5)
    assert said(tmp_path, "[grading]\nfine_print = 0.5\nstrict = true\n") == Policy(0.5, strict=True)
    assert said(tmp_path, '[grading]\nrules = "share"\n') == Policy(rules="share")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[grading", "cannot be read"),
        ("[grading]\nfine_print = 30", "a share from 0 to 1"),
        ("[grading]\nfine_print = true", "a share from 0 to 1"),
        ("[grading]\nstrict = 1", "say true or false"),
        ("[grading]\nsteps = -1", "say points from 0 to 100"),
        ("[grading]\nsteps = nan", "say points from 0 to 100"),
        ('[grading]\nsteps = "1"', "say points from 0 to 100"),
        ('[grading]\nrules = "no"', 'say "gate" or "share"'),
        ("[grading]\nfineprint = 0.2", "knows fine_print, strict, steps, rules, and not fineprint"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(tmp_path, text, words):
    with pytest.raises(KataError, match=words) as told:
        said(tmp_path, text)
    assert "\n" not in str(told.value)
