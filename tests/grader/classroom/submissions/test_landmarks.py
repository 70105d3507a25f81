"""A repository is found where a landmark lies, and by a file that is certainly meant to be one."""

import pytest

from grader.classroom.submissions.io.folders import FILE
from grader.classroom.submissions.landmarks import Place, completed, found, meant


def kinds(*paths):
    return dict.fromkeys(paths, FILE)


def test_the_least_deep_landmark_tells():
    held = kinds("deep/er/hw/linalg.py", "work/hw/linalg.py", "linalg.py")
    assert found(held, ["hw/linalg.py"]) == Place("work")
    assert found(held, ["none.py", "linalg.py"]) == Place("")
    assert found(held, ["hw/none.py"]) is None


@pytest.mark.parametrize(
    ("held", "place"),
    [
        (["linalg.py", "notes.txt"], Place("", "hw")),
        (["mine/linalg.py"], Place("mine", "hw")),
        (["a/linalg.py", "b/linalg.py"], Place("a", "hw", {"linalg.py": "hw/linalg.py"})),
        (["Linalg_final.py"], Place("", "hw", {"Linalg_final.py": "hw/linalg.py"})),
        (["x/linalg - Copy.py"], Place("x", "hw", {"linalg - Copy.py": "hw/linalg.py"})),
        (["linalg (1).py", "linalg (2).py"], Place("", "hw", {"linalg (2).py": "hw/linalg.py"})),
        (["algebra.py"], None),
        (["linalg10.py"], None),
        (["linalg.txt"], None),
    ],
)
def test_what_is_meant_is_found_if_that_is_certain(held, place):
    assert meant(kinds(*held), ["hw/linalg.py"]) == place


def test_a_place_says_what_a_path_is_in_the_repository():
    place = Place("mine", "hw", {"linalg (1).py": "hw/linalg.py"})
    assert [place.path(path) for path in ("linalg (1).py", "sub/x.py")] == ["hw/linalg.py", "hw/sub/x.py"]
    assert [*place.told()] == ["linalg (1).py as hw/linalg.py"]
    assert [*Place("mine", "hw").told()] == ["mine/ as hw/"]


def test_each_file_that_is_meant_is_read_as_it_should_be_called():
    held = kinds("hw/Model.py", "hw/train (1).py", "hw/train (2).py", "hw/data.py", "old/model.py")
    place = completed(Place("hw"), held, ["model.py", "train.py", "data.py"])
    assert place.renamed == {"Model.py": "model.py", "train (2).py": "train.py"}
    assert [*place.told()][-1] == "hw/, not old/"
    assert completed(Place("", "hw"), kinds("a.py"), ["hw/a.py"]) == Place("", "hw")
