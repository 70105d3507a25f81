"""The suite of bytes_of_a_text."""

import torch

from grader.checks.contract import Contract, given

LETTERS = "aeknrstéöñß→語"


def written(gen, most):
    """A text with some letters of one byte, of two and of three."""
    letters = torch.randint(len(LETTERS), (most,), generator=gen).tolist()
    return given("n" + "".join(LETTERS[place] for place in letters) + "ü→")


contract = Contract(
    "bytes_of_a_text(text)",
    reference=lambda text: torch.tensor([byte for letter in text for byte in letter.encode("utf-8")]),
    example=(given("né"), [110, 195, 169]),
    inputs=lambda gen: {f"a text of {most + 3} letters": written(gen, most) for most in (9, 14, 21)},
    suspects={
        "a number for each letter: encode the text, and take its bytes": lambda text: torch.tensor(
            [ord(letter) for letter in text]
        ),
        "the letters are numbered by the alphabet of this text: take its bytes": lambda text: torch.tensor(
            [sorted(set(text)).index(letter) for letter in text]
        ),
        "these are bytes of another encoding: UTF-8 is meant": lambda text: torch.tensor(
            list(text.encode("utf-16"))
        ),
    },
)
