import json
import math
from collections.abc import Iterable
from typing import TextIO

from torch import Tensor


def record(file: TextIO, step: int, **scalars: float | Tensor) -> None:
    values = {name: float(value) for name, value in scalars.items()}
    plain = {name: value if math.isfinite(value) else None for name, value in values.items()}
    file.write(json.dumps({"step": step, **plain}) + "\n")
    file.flush()


def read_curve(lines: Iterable[str], name: str) -> tuple[list[int], list[float]]:
    steps: list[int] = []
    values: list[float] = []
    for line in lines:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # cut off by a crash
            continue
        if name not in entry:
            continue
        while steps and steps[-1] >= entry["step"]:  # of a run that was given up
            steps.pop()
            values.pop()
        steps.append(entry["step"])
        values.append(math.nan if entry[name] is None else entry[name])
    return steps, values


def smooth(values: list[float], weight: float) -> list[float]:
    found, mean, n = [], 0.0, 0
    for value in values:
        if math.isnan(value):
            found.append(value)
            continue
        n += 1
        mean = weight * mean + (1 - weight) * value
        found.append(mean / (1 - weight**n))
    return found


def draw(steps: list[int], values: list[float], width: int, height: int) -> str:
    real = [value for value in values if not math.isnan(value)]
    low, high = min(real, default=0.0), max(real, default=0.0)
    parts: list[list[str]] = [[]]
    for step, value in zip(steps, values, strict=True):
        if math.isnan(value):
            parts.append([])
            continue
        x = width * (step - steps[0]) / max(steps[-1] - steps[0], 1)
        y = height * (high - value) / (high - low) if high > low else height / 2
        parts[-1].append(f"{x:.2f},{y:.2f}")
    lines = [f'<polyline points="{" ".join(p)}" fill="none" stroke="black"/>' for p in parts if p]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    return head + "".join(lines) + "</svg>"
