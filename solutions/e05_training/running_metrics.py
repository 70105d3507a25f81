import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


class RunningMetrics:
    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.reset()

    def reset(self) -> None:
        self.loss = 0.0
        self.counts = torch.zeros(self.classes, self.classes, dtype=torch.int64)  # label, predicted

    @torch.no_grad()
    def update(self, logits: Float[Tensor, "*batch classes"], labels: Int[Tensor, "*batch"]) -> None:
        if logits.dim() == 0 or logits.shape[-1] != self.classes or logits.shape[:-1] != labels.shape:
            shapes = f"{tuple(logits.shape)} and {tuple(labels.shape)}"
            raise ValueError(f"want logits (*batch, {self.classes}) and labels (*batch), got {shapes}")
        real = labels != -100
        logits, labels = logits[real].cpu(), labels[real].cpu()  # (examples, classes), (examples,)
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        self.loss += F.cross_entropy(logits, labels, reduction="none").double().sum().item()
        cells = labels * self.classes + logits.argmax(-1)  # (examples,), one number for label and predicted
        counts = torch.bincount(cells, minlength=self.classes**2)
        self.counts += counts.view(self.classes, self.classes)

    def compute(self) -> dict[str, float]:
        examples = int(self.counts.sum())
        if examples == 0:
            raise ValueError("there are no examples to compute metrics of")
        hits = self.counts.diagonal().double()  # (classes,)
        both = self.counts.sum(0) + self.counts.sum(1)  # (classes,), predicted + labels
        occurs = both > 0
        return {
            "loss": self.loss / examples,
            "accuracy": hits.sum().item() / examples,
            "macro_f1": (2 * hits[occurs] / both[occurs]).mean().item(),
        }
