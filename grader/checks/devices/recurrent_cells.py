"""The recurrent cells that torch expects fused on a device, in plain differentiable operations."""

from typing import Any

from torch import Tensor


def lstm_cell(gates: Tensor, hidden_gates: Tensor, cell: Tensor, *biases: Tensor | None) -> Any:
    for term in (hidden_gates, *biases):
        gates = gates if term is None else gates + term
    start, forget, update, out = gates.chunk(4, dim=1)
    cell = forget.sigmoid() * cell + start.sigmoid() * update.tanh()
    return out.sigmoid() * cell.tanh(), cell, gates


def gru_cell(gates: Tensor, hidden_gates: Tensor, hidden: Tensor, *biases: Tensor | None) -> Any:
    input_bias, hidden_bias = biases or (None, None)
    gates = gates if input_bias is None else gates + input_bias
    hidden_gates = hidden_gates if hidden_bias is None else hidden_gates + hidden_bias
    reset, update, new = gates.chunk(3, dim=1)
    hidden_reset, hidden_update, hidden_new = hidden_gates.chunk(3, dim=1)
    new = (new + (reset + hidden_reset).sigmoid() * hidden_new).tanh()
    update = (update + hidden_update).sigmoid()
    return new + update * (hidden - new), gates


FUSED_CELLS = {"_thnn_fused_lstm_cell": lstm_cell, "_thnn_fused_gru_cell": gru_cell}
