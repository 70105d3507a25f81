from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Steps(NamedTuple):
    z: Float[Tensor, "batch"]
    a: Float[Tensor, "batch"]
    loss: Float[Tensor, "batch"]
    dloss_da: Float[Tensor, "batch"]
    da_dz: Float[Tensor, "batch"]
    dloss_dz: Float[Tensor, "batch"]
    dz_dw: Float[Tensor, "batch features"]
    dz_db: Float[Tensor, "batch"]
    dw: Float[Tensor, "features"]
    db: Float[Tensor, ""]


def logistic_by_hand(
    x: Float[Tensor, "batch features"],
    w: Float[Tensor, "features"],
    b: Float[Tensor, ""],
    y: Float[Tensor, "batch"],
) -> Steps:
    x, w, b, y = x.detach(), w.detach(), b.detach(), y.detach()
    z = x @ w + b  # (batch,)
    a = torch.sigmoid(z)  # (batch,)
    loss = -(y * a.log() + (1 - y) * (1 - a).log())  # (batch,)
    dloss_da = (1 - y) / (1 - a) - y / a  # (batch,)
    da_dz = a * (1 - a)  # (batch,)
    dloss_dz = a - y  # (batch,), the product of the two above, without dividing by 0
    dz_dw = x  # (batch, features)
    dz_db = torch.ones_like(z)  # (batch,)
    dw = (dloss_dz.unsqueeze(1) * dz_dw).mean(0)  # (features,)
    db = (dloss_dz * dz_db).mean()  # ()
    return Steps(z, a, loss, dloss_da, da_dz, dloss_dz, dz_dw, dz_db, dw, db)
