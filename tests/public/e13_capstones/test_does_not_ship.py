"""The run of does_not_ship, shortened."""

import tempfile
from pathlib import Path

from grader.checks import expect_that


def test_worked_example(answer):
    """The endpoint gets right what the notebook does, by two and alone; a grey picture is refused."""
    ship = answer.ship
    checkpoint, (x, y) = ship.fit(epochs=6), ship.make(40, seed=2)
    with tempfile.TemporaryDirectory() as folder:
        ship.release(checkpoint, Path(folder, "fruit.pt2"))
        endpoint = answer.serve.load(Path(folder, "fruit.pt2"))
    for size in (2, 1):
        right = 0
        for pictures, numbers in zip(x.split(size), y.split(size), strict=True):
            reply = endpoint.handle({"pictures": [ship.photo(picture) for picture in pictures]})
            what = f"the endpoint does not answer {size} of the pictures"
            expect_that(reply["status"] == 200 and "answers" in reply, what, reply=str(reply))
            wanted = [ship.LABELS[i] for i in numbers.tolist()]
            right += sum(a["label"] == label for a, label in zip(reply["answers"], wanted, strict=True))
        expect_that(
            right >= 36, f"sent {size} at a time, fewer than 36 of 40 pictures are right", right=right
        )
    status = endpoint.handle({"pictures": [[[0.0]]]})["status"]
    expect_that(status == 422, "a grey picture is not refused with 422", status=status)
