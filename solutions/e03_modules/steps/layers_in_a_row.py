from torch import nn


def layers_in_a_row(features: int, classes: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(features, 30),
        nn.ReLU(),
        nn.Linear(30, 20),
        nn.ReLU(),
        nn.Linear(20, classes),
    )
