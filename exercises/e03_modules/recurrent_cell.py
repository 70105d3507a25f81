"""LSTM and GRU cells, with PyTorch's weights, and the last state of rows that are padded.

A recurrent network reads a step, updates its state, reads the next. The weights of a cell are stacked, one block of
`hidden` rows for each gate, in PyTorch's order. With a = weight_ih @ x + bias_ih and b = weight_hh @ h + bias_hh, block by block:

    LSTM, blocks i, f, g, o: new c = σ(f) * c + σ(i) * tanh(g), new h = σ(o) * tanh(new c), each of them a + b
    GRU, blocks r, z, n: n = tanh(a_n + σ(r) * b_n), new h = (1 - σ(z)) * n + σ(z) * h, where r and z are a + b

    log3, no = math.log(3), torch.zeros(4)      # σ(log 3) is 0.75, σ(0) is 0.5
    w_ih, w_hh = torch.tensor([[0.], [0.], [1.], [0.]]), torch.tensor([[0.], [0.], [2.], [0.]])
    x, h, c = torch.tensor([[1.]]), torch.tensor([[0.5]]), torch.tensor([[2.]])
    lstm_cell(x, h, c, w_ih, w_hh, torch.tensor([0., log3, 0., 0.]), no)    # h [[0.4814]], c [[1.982]]
    gru_cell(x, h, w_ih[:3], w_hh[:3], torch.tensor([0., log3, 0.]), no[:3])            # [[0.6013]]

- `last_states` reads x, (batch, time, features), with a GRU that begins at zeros: the state of each row after its own
  `lengths` steps. What comes behind is padding, and may hold any numbers.
- Gradients flow to all but lengths.
- No recurrent layer of PyTorch's. A loop over time, but none over rows.

Fine print:
- A row of length 0 has the state 0. No rows give no states. Lengths are up to time.
- The results have x's dtype, also float64; all arguments stay as they are.
- On another device nothing is copied to or from the CPU: lengths lies where x does.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def lstm_cell(
    x: Float[Tensor, "batch features"],
    h: Float[Tensor, "batch hidden"],
    c: Float[Tensor, "batch hidden"],
    weight_ih: Float[Tensor, "4*hidden features"],
    weight_hh: Float[Tensor, "4*hidden hidden"],
    bias_ih: Float[Tensor, "4*hidden"],
    bias_hh: Float[Tensor, "4*hidden"],
) -> tuple[Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"]]:
    """The new h and the new c after one step."""
    raise NotImplementedError


def gru_cell(
    x: Float[Tensor, "batch features"],
    h: Float[Tensor, "batch hidden"],
    weight_ih: Float[Tensor, "3*hidden features"],
    weight_hh: Float[Tensor, "3*hidden hidden"],
    bias_ih: Float[Tensor, "3*hidden"],
    bias_hh: Float[Tensor, "3*hidden"],
) -> Float[Tensor, "batch hidden"]:
    """The new h after one step."""
    raise NotImplementedError


def last_states(
    x: Float[Tensor, "batch time features"],
    lengths: Int64[Tensor, "batch"],
    weight_ih: Float[Tensor, "3*hidden features"],
    weight_hh: Float[Tensor, "3*hidden hidden"],
    bias_ih: Float[Tensor, "3*hidden"],
    bias_hh: Float[Tensor, "3*hidden"],
) -> Float[Tensor, "batch hidden"]:
    """The state of each row when its last step is read."""
    raise NotImplementedError
