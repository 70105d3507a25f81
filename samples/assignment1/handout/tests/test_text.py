import pytest

from .adapters import run_encode, run_train_bpe

MERGES = [(b"t", b"h"), (b" ", b"th"), (b"i", b"n"), (b" th", b"e"), (b"in", b"g")]


def test_train_bpe(corpus):
    expected = (corpus.parent / "merges.txt").read_text().splitlines()
    found = run_train_bpe(corpus, len(expected))
    assert [f"{a!r} {b!r}" for a, b in found] == expected


def test_train_bpe_of_little_text(tmp_path):
    """A text of one word has few pairs, and training ends with them."""
    file = tmp_path / "little.txt"
    file.write_text("abab")
    assert run_train_bpe(file, 10) == [(b"a", b"b"), (b"ab", b"ab")]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [("", []), ("the", ["th", "e"]), ("in the thing", ["in", " the", " th", "ing"])],
    ids=["nothing", "word", "words"],
)
def test_encode(text, pieces):
    assert run_encode(text, MERGES) == [piece.encode() for piece in pieces]


def test_encode_keeps_all_text():
    text = "thé  thing\n in ☃"
    assert b"".join(run_encode(text, MERGES)).decode() == text
