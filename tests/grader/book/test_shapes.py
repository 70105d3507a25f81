"""The pictures of statements whose numbers are not written out, as boxes."""

import re

from grader.course.arrays import Array
from grader.course.example import Call
from grader.publish.book.shapes import of_sizes, picture

MERGE = '''
from jaxtyping import Float
from torch import Tensor


def merge_heads(x: Float[Tensor, "batch heads time dim"]) -> Float[Tensor, "batch time width"]:
    """Side by side."""
    raise NotImplementedError
'''


def test_every_dim_is_named_and_has_one_colour():
    html = picture(MERGE)
    assert 'aria-label="merge_heads: x (batch, heads, time, dim) becomes (batch, time, width)"' in html
    names = re.findall(r'fill="(#\w+)"[^>]*>([^<]+)</text>', html)
    assert [name for _, name in names] == ["dim", "time", "batch × heads", "width", "time", "batch"]
    colours = dict((name, colour) for colour, name in names)
    assert len(set(colours.values())) == 4 and colours["batch"] == colours["batch × heads"]


def test_a_dim_is_as_long_wherever_it_stands():
    html = picture("def mean(x: Float[Tensor, 'rows columns']) -> Float[Tensor, 'columns']: ...")
    wide, narrow = re.findall(r'<rect [^>]*width="(\d+)" height="(\d+)"', html)
    assert wide[0] == narrow[0] and wide[1] != narrow[1]


def test_without_dims_there_is_no_picture():
    assert not picture("def f(x: Tensor) -> Tensor: ...")
    assert not picture("def f(x: Float[Tensor, 'n']) -> int: ...")
    assert not picture("def f(x: Float[Tensor, '']) -> Float[Tensor, '']: ...")


def test_sizes_are_drawn_where_dims_have_no_names():
    html = of_sizes(Call("f(x)", (("x", Array((5, 4))),), (("", Array((5, 3))), ("", Array(())))))
    assert 'aria-label="f(x): x (5, 4) becomes (5, 3)"' in html and html.count("<svg") == 2
    assert not of_sizes(Call("f(2)", (), (("", Array((5, 3))),)))
