"""The run of does_not_ship, shortened."""

import tempfile
from pathlib import Path

from grader.checks import expect_that


def test_worked_example(answer):
    """The endpoint gets right what the notebook does, and refuses what is no picture."""
    ship = answer.ship
    checkpoint, (x, y) = ship.fit(), ship.make(40, seed=2)
    with tempfile.TemporaryDirectory() as folder:
        ship.release(checkpoint, Path(folder, "fruit.pt2"))
        endpoint = answer.serve.load(Path(folder, "fruit.pt2"))
    said = {}
    for size in (2, 1):
        said[size] = []
        for pictures in x.split(size):
            reply = endpoint.handle({"pictures": [ship.photo(picture) for picture in pictures]})
            what = f"the endpoint does not answer {size} of the pictures"
            expect_that(reply["status"] == 200 and "answers" in reply, what, reply=str(reply))
            said[size] += reply["answers"]
        labels = [ship.LABELS[i] for i in y.tolist()]
        right = sum(a["label"] == label for a, label in zip(said[size], labels, strict=True))
        expect_that(
            right >= 38, f"sent {size} at a time, fewer than 38 of 40 pictures are right", right=right
        )
    far = max(abs(a["probability"] - b["probability"]) for a, b in zip(said[2], said[1], strict=True))
    what = "a picture has another probability, sent alone, than beside another one"
    expect_that(far < 0.001, what, difference=round(far, 4))
    for name, picture in (("a grey picture", [[0.0]]), ("a picture of NaN", [[[float("nan")] * 3]])):
        status = endpoint.handle({"pictures": [picture]})["status"]
        expect_that(status == 422, f"{name} is not refused with 422", status=status)
