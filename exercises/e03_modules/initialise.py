"""Initialise a network: fan-in, fan-out, and a rule for each kind of layer.

PyTorch draws the first weights of a layer without knowing what follows it. Deep networks with ReLU do better with He's
rule (He et al. 2015, "Delving deep into rectifiers"), embeddings with small numbers (GPT-2). Write the function that
`model.apply` calls with each module of a model, innermost first, and at last with the model:

    layer                           weight                                       bias
    nn.Linear                       normal, standard deviation √(2 / fan_in)     0
    nn.Conv2d                       normal, standard deviation √(2 / fan_out)    0
    nn.Embedding                    normal, standard deviation 0.02
    nn.LayerNorm, nn.BatchNorm2d    1                                            0

    model = nn.Sequential(nn.Conv2d(3, 32, kernel_size=5), nn.Flatten(), nn.Linear(800, 100))
    model.apply(initialise)
    # model[0]: fan_out is 32 · 5 · 5 = 800, so √(2 / 800) = 0.05;  model[2]: fan_in is 800, 0.05 as well

- All normal distributions have the mean 0.
- Whatever the table does not name stays as it is.

Fine print:
- A layer may have no bias, a norm neither weight nor bias.
- Classes that derive from these layers count as well, such as `out_proj` of nn.MultiheadAttention.
- The row of an embedding's `padding_idx` is 0.
- The parameters that are there are written to; what was frozen remains frozen.
- Numbers come from the global random stream: `torch.manual_seed` repeats them.
"""

from torch import nn


def initialise(module: nn.Module) -> None:
    """Draw new weights for this one module, if the table has its kind."""
    raise NotImplementedError
