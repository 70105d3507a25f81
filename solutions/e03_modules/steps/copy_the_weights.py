from torch import nn


def copy_the_weights(a: nn.Module, b: nn.Module) -> list[str]:
    state = a.state_dict()
    b.load_state_dict(state)
    return list(state)
