"""The endpoint: a request comes in, an answer goes out, both plain dicts."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .pixels import Refusal, prepare

SURE = 0.6


class Endpoint:
    """Answers requests by a program that takes pictures (pictures, 3, SIZE, SIZE) and gives logits."""

    def __init__(self, program: Callable[[Tensor], Tensor], labels: Sequence[str]) -> None:
        self.program = program
        self.labels = tuple(labels)

    def read(self, request: dict[str, Any]) -> Tensor:
        """The pictures of a request, (pictures, 3, SIZE, SIZE)."""
        pictures = request.get("pictures")
        if not isinstance(pictures, list) or not pictures:
            raise Refusal(400, "a request has a list of pictures")
        return torch.stack([prepare(picture) for picture in pictures])

    def answers(self, x: Tensor) -> list[dict[str, Any]]:
        """Label and probability of each picture."""
        with torch.no_grad():
            logits = self.program(x).squeeze()  # (pictures, labels)
        best, places = logits.softmax(-1).max(-1)  # (pictures,) each
        sure = logits.amax(-1) >= SURE
        each = zip(best.tolist(), places.tolist(), sure.tolist(), strict=True)
        return [{"label": self.labels[i] if s else "unsure", "probability": p} for p, i, s in each]

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """What is said to a request; an error says why, too."""
        try:
            return {"status": 200, "answers": self.answers(self.read(request))}
        except Refusal as refusal:
            return {"status": refusal.status, "error": str(refusal)}
        except Exception:
            return {"status": 500, "error": "the model failed"}


def load(path: str | Path) -> Endpoint:
    """The endpoint of a file that `release` has written."""
    extra = {"labels": ""}
    program = torch.export.load(path, extra_files=extra)
    return Endpoint(program.module(), json.loads(extra["labels"]))
