from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor


class Prepared(NamedTuple):
    train: Float[Tensor, "train columns"]
    test: Float[Tensor, "test columns"]
    mean: Float64[Tensor, "columns"]
    std: Float64[Tensor, "columns"]


def scale(
    rows: Float[Tensor, "*batch columns"], mean: Float64[Tensor, "columns"], std: Float64[Tensor, "columns"]
) -> Float[Tensor, "*batch columns"]:
    scaled = (rows.double() - mean) / std  # (*batch, columns)
    return scaled.masked_fill(rows.isnan(), 0.0).to(rows.dtype)


def prepare(table: Float[Tensor, "rows columns"], test: Bool[Tensor, "rows"]) -> Prepared:
    if test.dtype != torch.bool or test.shape != table.shape[:1]:
        raise ValueError(f"test must hold one bool for each of {len(table)} rows, not {tuple(test.shape)}")
    if test.all():
        raise ValueError("there is no row to train on")
    train = table[~test]
    known = ~train.isnan()  # (train, columns)
    count = known.sum(0).clamp(min=1)  # (columns,)
    numbers = train.double().masked_fill(~known, 0.0)
    least = train.double().masked_fill(~known, torch.inf).amin(0)
    most = train.double().masked_fill(~known, -torch.inf).amax(0)
    # A computed mean may be off by a rounding error, which a computed std of nearly 0 would blow up.
    mean = torch.where(least == most, least, numbers.sum(0) / count)
    off = (numbers - mean).masked_fill(~known, 0.0)
    std = (off.square().sum(0) / count).sqrt()
    std = torch.where(least < most, std, 1.0)  # no number: least is inf, most is -inf
    return Prepared(scale(train, mean, std), scale(table[test], mean, std), mean, std)
