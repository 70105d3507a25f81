"""The lines of a worked example: its statements, each with the remark behind it or below."""

import ast
import contextlib
import io
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from itertools import groupby

_INDENT = "    "
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError)


def statements(job: str) -> Iterator[tuple[ast.stmt | None, str]]:
    """The statements of an example with the remark behind each; a remark above the first has none."""
    for is_code, run in groupby(job.splitlines(), lambda line: line.startswith(_INDENT) or not line.strip()):
        block = textwrap.dedent("\n".join(run)) if is_code else ""
        try:
            yield from _of(block)
        except _UNREADABLE:
            yield from _one_by_one(block)


def _one_by_one(block: str) -> Iterator[tuple[ast.stmt | None, str]]:
    """What can be read of a block that holds a formula, or two columns: its paragraphs, or their lines."""
    for paragraph in block.split("\n\n"):
        with contextlib.suppress(*_UNREADABLE):
            yield from _of(paragraph)
            continue
        for line in paragraph.splitlines():
            with contextlib.suppress(*_UNREADABLE):
                yield from (told for told in _of(line.strip()) if told[0])


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those that stand in a `with`."""
    for node in body:
        yield from _flat(node.body) if isinstance(node, ast.With) else [node]


def _of(code: str) -> Iterator[tuple[ast.stmt | None, str]]:
    body = [*_flat(ast.parse(code).body)]
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    remarks = [
        (token.start[0], token.string.lstrip("# ")) for token in tokens if token.type == tokenize.COMMENT
    ]
    ends = [node.end_lineno or node.lineno for node in body]
    first = [text for line, text in remarks if not body or line < body[0].lineno]
    if first:
        yield None, "\n".join(first)
    for place, node in enumerate(body):
        until = body[place + 1].lineno if body[place + 1 :] else len(code) + 1
        yield node, "\n".join(text for line, text in remarks if ends[place] <= line < until)
