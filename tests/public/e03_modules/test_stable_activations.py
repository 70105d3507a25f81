"""The worked examples of stable_activations."""

import torch

from grader.checks.contract import Contract, given

X, TWO = torch.tensor([-200.0, -20.0, 0.0, 200.0]), torch.tensor([-1.0, 2.0])

sigmoid = Contract("sigmoid(x)", example=(given(X), [0.0, 2.0611537e-9, 0.5, 1.0]))
softplus = Contract("softplus(x)", example=(given(X), [0.0, 2.0611537e-9, 0.6931472, 200.0]))
log_sigmoid = Contract("log_sigmoid(x)", example=(given(X), [-200.0, -20.0, -0.6931472, 0.0]))
gelu = Contract(
    "gelu(x, tanh)",
    example=[
        (given(TWO), [-0.1586553, 1.9544997]),
        (given(TWO, tanh=True), [-0.158808, 1.9545977]),
    ],
)
