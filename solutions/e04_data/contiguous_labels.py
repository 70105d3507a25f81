import torch
from jaxtyping import Int, Integer
from torch import Tensor


class ClassMap:
    labels: Integer[Tensor, "classes"]

    def __init__(self, labels: Integer[Tensor, "*shape"], ignore: int | None = None) -> None:
        found = labels.unique()  # ascending
        self.labels = found if ignore is None else found[found != ignore]
        self.ignore = ignore

    def __len__(self) -> int:
        return len(self.labels)

    def encode(self, labels: Integer[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        wide, classes = labels.long().contiguous(), self.labels.to(labels.device).long()
        codes = torch.searchsorted(classes, wide)  # (*shape)
        unknown = ~torch.isin(wide, classes)
        if self.ignore is not None:
            codes = codes.masked_fill(wide == self.ignore, -100)
            unknown = unknown & (wide != self.ignore)
        if unknown.any():
            raise ValueError(f"label {int(wide[unknown][0])} is no class")
        return codes

    def decode(self, codes: Int[Tensor, "*shape"]) -> Integer[Tensor, "*shape"]:
        classes = self.labels.to(codes.device)
        ignored = (codes == -100) if self.ignore is not None else torch.zeros_like(codes, dtype=torch.bool)
        if not (ignored | (codes >= 0) & (codes < len(classes))).all():
            raise IndexError(f"a code is none of 0 … {len(classes) - 1}")
        labels = classes.new_full(codes.shape, self.ignore or 0)
        labels[~ignored] = classes[codes[~ignored]]
        return labels
