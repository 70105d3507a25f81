"""The scale of the loss, large enough that small gradients do not become 0 in half precision."""

from collections.abc import Iterable

from torch import Tensor


class Scaler:
    """A scale that halves for each skipped update, and doubles after `interval` good ones in a row."""

    def __init__(self, scale: float = 2.0**22, interval: int = 25) -> None:
        self.scale, self.interval = scale, interval
        self.good = 0

    def unscale(self, grads: Iterable[Tensor]) -> bool:
        """Divide gradients by the scale, in place; whether all are finite."""
        finite = True
        for grad in grads:
            grad.div_(self.scale)
            finite = finite and bool(grad.isfinite().all())
        return finite

    def update(self, finite: bool) -> None:
        """Adapt the scale, once for each update, whether it was taken or skipped."""
        self.good = self.good + 1 if finite else 0
        if not finite:
            self.scale /= 2
        elif self.good >= self.interval:
            self.scale *= 2
            self.good = 0
