import math


def wsd(
    step: int,
    total: int,
    warmup: int,
    decay: int,
    peak: float = 1.0,
    floor: float = 0.0,
    shape: str = "linear",
) -> float:
    if min(step, warmup, decay) < 0 or warmup + decay > total:
        raise ValueError(f"want numbers from 0 on, and {warmup=} + {decay=} up to {total=}; got {step=}")
    if shape not in ("linear", "sqrt"):
        raise ValueError(f'shape must be "linear" or "sqrt", not {shape!r}')
    start = total - decay
    if step < warmup:
        return float(peak * (step + 1) / warmup)
    if step < start:
        return float(peak)
    if step >= total:  # decay may be 0
        return float(floor)
    share = (step - start) / decay  # 0 up to, but not including, 1
    return float(peak - (peak - floor) * (math.sqrt(share) if shape == "sqrt" else share))
