from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def lstm_cell(
    x: Float[Tensor, "batch features"],
    h: Float[Tensor, "batch hidden"],
    c: Float[Tensor, "batch hidden"],
    weight_ih: Float[Tensor, "4*hidden features"],
    weight_hh: Float[Tensor, "4*hidden hidden"],
    bias_ih: Float[Tensor, "4*hidden"],
    bias_hh: Float[Tensor, "4*hidden"],
) -> tuple[Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"]]:
    gates = F.linear(x, weight_ih, bias_ih) + F.linear(h, weight_hh, bias_hh)  # (batch, 4 * hidden)
    i, f, g, o = gates.chunk(4, dim=1)
    new_c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * new_c.tanh(), new_c


def gru_cell(
    x: Float[Tensor, "batch features"],
    h: Float[Tensor, "batch hidden"],
    weight_ih: Float[Tensor, "3*hidden features"],
    weight_hh: Float[Tensor, "3*hidden hidden"],
    bias_ih: Float[Tensor, "3*hidden"],
    bias_hh: Float[Tensor, "3*hidden"],
) -> Float[Tensor, "batch hidden"]:
    r_x, z_x, n_x = F.linear(x, weight_ih, bias_ih).chunk(3, dim=1)
    r_h, z_h, n_h = F.linear(h, weight_hh, bias_hh).chunk(3, dim=1)
    z = (z_x + z_h).sigmoid()
    n = (n_x + (r_x + r_h).sigmoid() * n_h).tanh()
    return (1 - z) * n + z * h


def last_states(
    x: Float[Tensor, "batch time features"],
    lengths: Int64[Tensor, "batch"],
    weight_ih: Float[Tensor, "3*hidden features"],
    weight_hh: Float[Tensor, "3*hidden hidden"],
    bias_ih: Float[Tensor, "3*hidden"],
    bias_hh: Float[Tensor, "3*hidden"],
) -> Float[Tensor, "batch hidden"]:
    h = x.new_zeros(len(x), weight_hh.shape[1])
    for t, step in enumerate(x.unbind(1)):
        new = gru_cell(step, h, weight_ih, weight_hh, bias_ih, bias_hh)
        h = new.where((t < lengths)[:, None], h)  # a row that has ended keeps its state
    return h
