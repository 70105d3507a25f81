"""`check` in a notebook: cells are gathered into an answer, judged, and shown with pictures."""

import linecache

import pytest

import grader
from grader import cells, paths
from grader.catalog import load
from grader.errors import KataError

MERGE = load().exercise("merge_heads")
RIGHT = """
import torch
from torch import Tensor
from jaxtyping import Float

ORDER = (0, 2, 1, 3)


def swapped(x):
    return x.permute(ORDER)


def merge_heads(x: Float[Tensor, "batch heads time dim"]) -> Tensor:
    '''Merge.'''
    batch, heads, time, dim = x.shape
    return swapped(x).reshape(batch, time, heads * dim)
"""
WRONG = RIGHT.replace("return swapped(x)", "return x")


def notebook(*texts):
    """The namespace of a notebook in which these cells were run, as IPython runs them."""
    namespace = {"__name__": "__main__", "check": grader.check}
    for number, text in enumerate(texts):
        name = f"<ipython-input-{number}-{abs(hash(text))}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), namespace)
    return namespace


def test_a_right_function_passes():
    verdict = eval("check('merge_heads')", notebook(RIGHT))
    assert verdict.lesson.state == "done"
    assert "✓" in repr(verdict)


def test_a_wrong_one_is_told_with_a_picture():
    verdict = eval("check('merge_heads')", notebook(WRONG))
    assert verdict.lesson.state == "failing"
    assert "reshape does not swap dims" in repr(verdict)
    page = verdict._repr_html_()
    assert "<svg" in page and "<rect" in page
    assert "reshape does not swap dims" in page


def test_cells_are_gathered_with_what_they_use():
    text = cells.answer(MERGE, notebook("import torch", RIGHT))
    namespace = {"__name__": "answer"}
    exec(text, namespace)
    assert namespace["ORDER"] == (0, 2, 1, 3)
    assert callable(namespace["swapped"])


def test_html_is_escaped():
    source = RIGHT.replace("swapped(x).", "(_ for _ in ()).throw(ValueError('<script>alert(1)</script>')).")
    page = eval("check('merge_heads')", notebook(source))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_last_definition_counts():
    assert eval("check('merge_heads')", notebook(WRONG, RIGHT)).lesson.state == "done"


def test_classes_are_gathered():
    namespace = notebook(
        "import torch\n\nclass Scale(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n"
    )
    namespace["merge_heads"] = namespace["Scale"]
    text = cells.answer(MERGE, namespace)
    assert "class Scale(torch.nn.Module):" in text
    assert "merge_heads = Scale" in text


def test_in_a_real_kernel():
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    code = nbformat.v4.new_code_cell
    cells_ = [code("from grader import check"), code(RIGHT), code("check('merge_heads')")]
    book = nbformat.v4.new_notebook(cells=cells_)
    nbclient.NotebookClient(
        book, kernel_name="python3", resources={"metadata": {"path": str(paths.ROOT)}}
    ).execute()
    data = book.cells[-1].outputs[-1]["data"]
    assert "✓" in data["text/plain"]
    assert "0 failed" in data["text/html"]


def test_nothing_defined_is_told_in_one_line():
    with pytest.raises(KataError, match="no cell defines merge_heads"):
        eval("check('merge_heads')", notebook("x = 1"))
    with pytest.raises(KataError, match="no exercise is called"):
        eval("check('merge')", notebook(RIGHT))
