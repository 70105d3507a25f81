from torch import nn


def how_many_numbers(model: nn.Module) -> tuple[int, int]:
    total = sum(p.numel() for p in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return total, trained
