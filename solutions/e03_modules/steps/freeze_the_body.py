from torch import nn


def freeze_the_body(model: nn.Module) -> None:
    model.requires_grad_(False)
    model.head.requires_grad_(True)
