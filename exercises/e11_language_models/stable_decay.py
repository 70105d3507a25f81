"""Warm up, stay, cool down: a schedule whose run can always go on.

A cosine is bound to its end. With a constant learning rate you cool down a copy whenever you want a finished model, and
go on from where that began. (Hu et al. 2024, "MiniCPM", section 4; Hägele et al. 2024 for the shape "sqrt".) Write the
learning rate at each step, counted from 0:

    [round(wsd(step, total=9, warmup=2, decay=4, peak=0.8), 3) for step in range(11)]
    # [0.4, 0.8,    0.8, 0.8, 0.8,    0.8, 0.6, 0.4, 0.2,    0, 0]
    #  warm-up      stays at peak     decay                  stays at floor
    wsd(8, total=9, warmup=2, decay=4, peak=0.8, shape="sqrt")      # 0.107

- Where step < warmup: peak * (step + 1) / warmup.
- Then peak, up to the last `decay` steps of total.
- There share = (step - (total - decay)) / decay, and the rate goes from peak to floor:
  peak - (peak - floor) * share, or with shape="sqrt" peak - (peak - floor) * sqrt(share).
- From step = total on, it is floor.

Fine print:
- With warmup = 0 there is no warm-up, and with decay = 0 no decay: the last step of total is taken with peak.
- With warmup + decay = total nothing lies between them. total may be 0.
- The rate is a plain Python float, also where peak and floor are whole numbers.
- ValueError where step, warmup or decay is below 0, warmup + decay is above total, or shape is neither "linear" nor
  "sqrt": whatever the step is.
"""


def wsd(
    step: int,
    total: int,
    warmup: int,
    decay: int,
    peak: float = 1.0,
    floor: float = 0.0,
    shape: str = "linear",
) -> float:
    """The learning rate at one step; with peak = 1 it is the factor that LambdaLR wants."""
    raise NotImplementedError
