"""Answers to layers_in_a_list that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LAYERS = "self.layers = nn.ModuleList(nn.Linear(features, features) for _ in range(depth))"
SCALES = "self.scales = nn.ParameterList(nn.Parameter(torch.tensor(0.5)) for _ in range(depth))"
HEADS = "self.heads = nn.ModuleDict({name: nn.Linear(features, size) for name, size in heads.items()})"
LOOP = "for layer, scale in zip(self.layers, self.scales, strict=False):"
BLOCK = "x = x + scale * torch.relu(layer(x))  # (*batch, features)"
RETURN = "return {name: head(x) for name, head in self.heads.items()}"

LISTED = "[nn.Linear(features, features) for _ in range(depth)]"
DICT = "{name: nn.Linear(features, size) for name, size in heads.items()}"

SPECIMENS = [
    Wrong(
        "the scales stay in a list",
        edits=[(SCALES, "self.scales = [nn.Parameter(torch.tensor(0.5)) for _ in range(depth)]")],
        rung="job",
        check="test_parameters",
        says="scales.0",
    ),
    Wrong(
        "the heads stay in a dict",
        edits=[(HEADS, f"self.heads = {DICT}")],
        rung="job",
        check="test_everything_trains",
    ),
    Wrong(
        "the layers stay in a list",
        edits=[(LAYERS, f"self.layers = {LISTED}")],
        rung="job",
        check="test_what_is_registered",
        says="layers.0.weight",
    ),
    Wrong(
        "one layer, depth times",
        edits=[(LAYERS, "self.layers = nn.ModuleList([nn.Linear(features, features)] * depth)")],
        rung="job",
        check="test_what_is_registered",
        says="one and the same",
    ),
    Wrong(
        "one scale for all blocks",
        edits=[
            (SCALES, "self.scales = nn.Parameter(torch.full((depth,), 0.5))"),
        ],
        rung="job",
        check="test_what_is_registered",
        says="scales (2,)",
    ),
    Wrong(
        "deep copies of one layer",
        edits=[
            (
                LAYERS,
                "import copy\n        layer = nn.Linear(features, features)\n"
                "        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(depth))",
            )
        ],
        rung="job",
        check="test_start",
        says="same numbers",
    ),
    Wrong(
        "scales that start at one",
        edits=[(SCALES, SCALES.replace("0.5", "1.0"))],
        rung="job",
        check="test_start",
    ),
    Wrong(
        "scales of one element",
        edits=[(SCALES, SCALES.replace("torch.tensor(0.5)", "torch.tensor([0.5])"))],
        rung="job",
        check="test_what_is_registered",
        says="(1,)",
    ),
    Wrong(
        "reads the scales with item()",
        edits=[(BLOCK, BLOCK.replace("scale *", "scale.item() *"))],
        rung="job",
        check="test_gradients",
        says="scales",
    ),
    Wrong(
        "no residual",
        edits=[(BLOCK, "x = scale * torch.relu(layer(x))")],
        rung="job",
        check="test_values",
        says="no residual",
    ),
    Wrong(
        "registers under other names beside the lists",
        code="""
import torch
from torch import nn

class ResidualNet(nn.Module):
    def __init__(self, features, depth, heads):
        super().__init__()
        self.layers, self.scales, self.heads = [], [], {}
        for i in range(depth):
            self.layers.append(nn.Linear(features, features))
            self.scales.append(nn.Parameter(torch.tensor(0.5)))
            self.add_module(f"layer{i}", self.layers[-1])
            self.register_parameter(f"scale{i}", self.scales[-1])
        for name, size in heads.items():
            self.heads[name] = nn.Linear(features, size)
            self.add_module(name, self.heads[name])

    def forward(self, x):
        for layer, scale in zip(self.layers, self.scales):
            x = x + scale * torch.relu(layer(x))
        return {name: head(x) for name, head in self.heads.items()}
""",
        rung="job",
        check="test_what_is_registered",
        says="layers.0.weight",
    ),
    Wrong(
        "scales that do not train",
        edits=[(SCALES, SCALES.replace("torch.tensor(0.5)", "torch.tensor(0.5), requires_grad=False"))],
        rung="job",
        check="test_what_is_registered",
        says="scales.0",
    ),
    Wrong(
        "keeps a list beside the container, and runs that",
        edits=[
            (LAYERS, LAYERS + "\n        self._run = list(self.layers)"),
            (LOOP, "for layer, scale in zip(self._run, self.scales):"),
        ],
        rung="fine",
        check="test_containers_are_used",
        says="replaced and added",
    ),
    Wrong(
        "calls forward of the layers: hooks do not run",
        edits=[(BLOCK, BLOCK.replace("layer(x)", "layer.forward(x)"))],
        rung="fine",
        check="test_containers_are_used",
        says="hooks",
    ),
    Wrong(
        "takes the heads out of the given dict",
        edits=[
            (
                HEADS,
                "self.heads = nn.ModuleDict()\n        while heads:\n            name = next(iter(heads))\n"
                "            self.heads[name] = nn.Linear(features, heads.pop(name))",
            )
        ],
        rung="fine",
        check="test_few_blocks_and_heads",
        says="heads after",
    ),
    Wrong(
        "sorts the heads",
        edits=[(HEADS, HEADS.replace("in heads.items()", "in sorted(heads.items())"))],
        rung="fine",
        check="test_result",
        says="in order",
    ),
    Wrong(
        "adds in place where no gradient is wanted",
        edits=[
            (
                BLOCK,
                "y = scale * torch.relu(layer(x))\n"
                "            x = x + y if torch.is_grad_enabled() else x.add_(y)",
            )
        ],
        rung="fine",
        check="test_result",
        says="changes its input x",
    ),
    Wrong(
        "moves x to the first parameter, where there may be none",
        edits=[(LOOP, "x = x.to(next(self.parameters()).device)\n        " + LOOP)],
        rung="fine",
        check="test_few_blocks_and_heads",
    ),
    Wrong(
        "constants on the CPU",
        edits=[(BLOCK, "x = x + scale * torch.maximum(layer(x), torch.zeros(x.shape))")],
        rung="fine",
        check="test_moves_and_casts",
    ),
    Wrong(
        "keeps the last features, graph and all: after a call it cannot be copied",
        edits=[(RETURN, "self.last = x\n        " + RETURN)],
        rung="fine",
        check="test_deep_copy",
        says="cannot be copied",
    ),
    Works(
        "keeps the names of the heads, and counts to depth",
        edits=[
            (HEADS, HEADS + "\n        self.names = list(heads)\n        self.depth = depth"),
            (LOOP, "for layer, scale in list(zip(self.layers, self.scales))[: self.depth]:"),
            (RETURN, "return {name: self.heads[name](x) for name in self.names}"),
        ],
    ),
    Works(
        "a Sequential for the layers, and x in place where no gradient is wanted",
        edits=[
            (LAYERS, "self.layers = nn.Sequential(*[nn.Linear(features, features) for _ in range(depth)])"),
            (
                BLOCK,
                "x = x.add_(scale * torch.relu(layer(x))) if not torch.is_grad_enabled() else x + scale * torch.relu(layer(x))",
            ),
        ],
    ),
    Right(
        "Sequential as a list, empty containers filled one by one",
        code="""
import torch
from torch import nn

class ResidualNet(nn.Module):
    def __init__(self, features, depth, heads):
        super().__init__()
        self.layers = nn.Sequential()
        self.scales = nn.ParameterList()
        for _ in range(depth):
            self.layers.append(nn.Linear(features, features))
            self.scales.append(torch.full((), 0.5))
        self.heads = nn.ModuleDict()
        for name in heads:
            self.heads[name] = nn.Linear(features, heads[name])

    def forward(self, x):
        for i in range(min(len(self.layers), len(self.scales))):
            x = torch.addcmul(x, self.scales[i], self.layers[i](x).relu())
        result = {}
        for name in self.heads:
            result[name] = self.heads[name](x)
        return result
""",
    ),
    Right(
        "by index",
        edits=[
            (LOOP, "for layer, scale in ((self.layers[i], self.scales[i]) for i in range(len(self.layers))):")
        ],
    ),
    Right(
        "containers made from lists",
        edits=[
            (LAYERS, f"self.layers = nn.ModuleList({LISTED})"),
            (SCALES, "self.scales = nn.ParameterList([torch.tensor(0.5) for _ in range(depth)])"),
            (HEADS, "self.heads = nn.ModuleDict([(k, nn.Linear(features, v)) for k, v in heads.items()])"),
            (BLOCK, "x = nn.functional.relu(layer(x)) * scale + x"),
        ],
    ),
]
