from torch import nn


def mat1_and_mat2(features: int, classes: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(features, 20),
        nn.ReLU(),
        nn.Linear(20, classes),
    )
