"""What is printed where the output's encoding lacks our marks."""

import io
import sys

import pytest

from grader import cli
from grader.core.output_encoding import replace_what_lacks

VERBS = ([], ["list", "e06"], ["find", "grad"], ["status"], ["find", "zzz ✗"])


def printed(monkeypatch, encoding, words):
    """The bytes that `kata WORDS` puts out, and into the errors."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    monkeypatch.setattr(sys, "argv", ["kata", *words])
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    for stream in streams:
        stream.flush()
    return ended.value.code, b"".join(stream.buffer.getvalue() for stream in streams)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii"])
def test_no_verb_ends_in_an_encoding_error(monkeypatch, encoding):
    for words in VERBS:
        status, said = printed(monkeypatch, encoding, words)
        assert said and status in (0, 2) and b"?" not in said.replace(b"zzz ?", b""), words


def test_what_is_lacking_becomes_something_like_it(monkeypatch):
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        replace_what_lacks()
        print("✓ ✗ ·× ██░ (…) β₂ᵗ 10⁻⁶ ü “a” → “\udcff”う")
        stream.flush()
        assert stream.buffer.getvalue().decode() == '+ x .x ##. (...) beta2t 10-6 u "a" -> "?"?\n'
