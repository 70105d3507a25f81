"""Patches as people have them: read and applied, or refused in one line that says which file and where."""

import pytest

from grader.authoring.bring import patches
from grader.core.errors import KataError
from tests.grader.support.brought import PROGRAM, patch
from tests.grader.support.project import write

pytest.importorskip("unidiff", reason="unidiff is an optional extra: torchkata[class]")

RIGHT = PROGRAM["data.py"]
WRONG = RIGHT.replace("[*range(count)]", "[*range(1, count)]")
DIFF = patch("data.py", RIGHT, WRONG)
MAIL = f"""From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001
From: Ada <ada@example.org>
Date: Mon, 30 Nov 2026 12:00:00 +0000
Subject: [PATCH 2/6] the first number
 is lost

More of it.
---
 data.py | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/data.py b/data.py
index 0123456..789abcd 100644
{DIFF}--\x20
2.39.5

"""
BINARY = """diff --git a/data.py b/data.py
index 0123456..789abcd 100644
Binary files a/data.py and b/data.py differ
"""
RENAMED = """diff --git a/data.py b/numbers.py
similarity index 100%
rename from data.py
rename to numbers.py
"""
MODE = """diff --git a/data.py b/data.py
old mode 100644
new mode 100755
"""


@pytest.fixture
def read(tmp_path):
    def told(**texts):
        write(tmp_path, {f"{name}.patch": text for name, text in texts.items()})
        return patches.read(tmp_path, PROGRAM)

    return told


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (DIFF, ""),
        (f"The first number is lost.\n\n{DIFF}", "The first number is lost."),
        (f"commit 0123\nAuthor: Ada\nDate:   today\n\n    lost\n\n{DIFF}", "lost"),
        (MAIL, "the first number is lost"),
        (DIFF.replace("a/", "right/").replace("b/", "wrong/"), ""),
        (DIFF.replace("a/", "a/course/sums/").replace("b/", "b/course/sums/"), ""),
        (DIFF.replace("+++ b/data.py", "+++ -"), ""),
        (DIFF.replace("@@ -1,5 +1,5 @@", "@@ -9,5 +9,5 @@"), ""),
        (DIFF.replace("\n", "\r\n"), ""),
    ],
)
def test_what_people_have_is_read(read, text, about):
    (found,) = read(first=text)
    assert (found.name, found.about, found.wrong) == ("first", about, {"data.py": WRONG})


def test_names_are_those_of_files(read):
    assert [one.name for one in read(**{"0002-From-one": DIFF, "0001-the.first": DIFF})] == [
        "the_first",
        "from_one",
    ]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({}, "holds no patch"),
        ({"first": "nothing\n"}, "first.patch changes no line"),
        ({"first": MODE}, "first.patch changes no line"),
        ({"first": DIFF[: DIFF.index("+    return")]}, "first.patch is no unified diff: Hunk is shorter"),
        (
            {"first": DIFF.replace("range(count)", "range(n)", 1)},
            "hunk 1 of data.py does not apply: line 2 is 'return",
        ),
        (
            {"first": DIFF.replace("data.py", "lost.py")},
            "first.patch: lost.py is no file of the program, which has data.py",
        ),
        ({"first": BINARY}, "first.patch changes bytes, not lines, of data.py"),
        ({"first": RENAMED}, "first.patch renames or copies"),
        ({"first": DIFF.replace("b/data.py", "b/main.py")}, "first.patch renames data.py"),
        (
            {"first": patch("data.py", RIGHT, "").replace("b/data.py", "/dev/null")},
            "first.patch deletes data.py",
        ),
        ({"first": patch("new.py", "", RIGHT).replace("a/new.py", "/dev/null")}, "first.patch adds new.py"),
        ({"1": DIFF}, "1.patch: call it after its bug"),
        ({"hides": DIFF}, "hides.patch: call it after its bug"),
        ({"first": DIFF, "01-First": DIFF}, "are both called first"),
    ],
)
def test_what_is_no_bug_is_told_in_a_line(read, texts, words):
    with pytest.raises(KataError) as told:
        read(**texts)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_no_folder_of_patches(tmp_path):
    with pytest.raises(KataError, match="is no folder; put a patch for each bug there"):
        patches.read(tmp_path / "patches", PROGRAM)
