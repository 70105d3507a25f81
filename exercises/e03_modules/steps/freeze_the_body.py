"""Fine-tuning: train the last part only.

A model that has seen millions of photos is to learn your five classes. Its last part, `model.head`, is new.
Stop the training of all other parts, whatever they are called: afterwards only the head is trained. Nothing
is returned.

    model = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 5)})
    freeze_the_body(model)
    model.body.weight.requires_grad, model.head.weight.requires_grad
    # (False, True)

New here: `part.requires_grad_(False)` stops the training of all parameters of a model or a layer, and
`part.requires_grad_(True)` takes it up again. A ModuleDict, as above, is a module with named parts.
"""

from torch import nn


def freeze_the_body(model: nn.Module) -> None:
    raise NotImplementedError
