"""Answers to layers_in_a_list that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "seeds the global stream: all start alike",
        edits=[
            ("        super().__init__()\n", "        super().__init__()\n        torch.manual_seed(0)\n")
        ],
        check="test_start",
        says="in two nets",
    ),
    Wrong(
        "names of heads in lower case",
        edits=[(HEADS, HEADS.replace("{name:", "{name.lower():"))],
        check="test_values",
        says="East",
    ),
    Wrong(
        "keeps the last features, graph and all: after a call it cannot be copied",
        edits=[(RETURN, "self.last = x\n        " + RETURN)],
        check="test_deep_copy",
        says="cannot be copied",
    ),
    Wrong(
        "knows two leading dimensions at most",
        edits=[(LOOP, "x = x.flatten(0, -3) if x.dim() > 3 else x\n        " + LOOP)],
        check="test_values",
    ),
    Wrong(
        "the scales stay in a list",
        edits=[(SCALES, "self.scales = [nn.Parameter(torch.tensor(0.5)) for _ in range(depth)]")],
        check="test_what_is_registered",
        says="scales.0",
    ),
    Wrong(
        "the heads stay in a dict",
        edits=[(HEADS, f"self.heads = {DICT}")],
        check="test_everything_trains",
        says="heads.rooms.weight",
    ),
    Wrong(
        "the layers stay in a list",
        edits=[(LAYERS, f"self.layers = {LISTED}")],
        check="test_saves_and_loads",
        says="layers.0.weight",
    ),
    Wrong(
        "a tuple is no better than a list",
        edits=[(LAYERS, f"self.layers = tuple({LISTED})")],
        check="test_what_is_registered",
    ),
    Wrong(
        "moves what is in the lists by hand",
        code="""
import torch
from torch import nn

class ResidualNet(nn.Module):
    def __init__(self, features, depth, heads):
        super().__init__()
        self.layers = [nn.Linear(features, features) for _ in range(depth)]
        self.scales = [nn.Parameter(torch.tensor(0.5)) for _ in range(depth)]
        self.heads = {name: nn.Linear(features, size) for name, size in heads.items()}

    def parameters(self, recurse=True):
        for layer in [*self.layers, *self.heads.values()]:
            yield from layer.parameters()
        yield from self.scales

    def _apply(self, fn, recurse=True):
        for layer in [*self.layers, *self.heads.values()]:
            layer._apply(fn)
        self.scales = [nn.Parameter(fn(scale.data)) for scale in self.scales]
        return super()._apply(fn)

    def forward(self, x):
        for layer, scale in zip(self.layers, self.scales):
            x = x + scale * torch.relu(layer(x))
        return {name: head(x) for name, head in self.heads.items()}
""",
        check="test_saves_and_loads",
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
        check="test_what_is_registered",
        says="layers.0.weight",
    ),
    Wrong(
        "one layer, depth times",
        edits=[(LAYERS, "self.layers = nn.ModuleList([nn.Linear(features, features)] * depth)")],
        check="test_what_is_registered",
        says="one and the same",
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
        check="test_start",
        says="same numbers",
    ),
    Wrong(
        "one scale for all blocks",
        edits=[
            (SCALES, "self.scales = nn.Parameter(torch.full((depth,), 0.5))"),
        ],
        check="test_what_is_registered",
        says="scales (2,)",
    ),
    Wrong(
        "the same scale object in every block",
        edits=[(SCALES, "self.scales = nn.ParameterList([nn.Parameter(torch.tensor(0.5))] * depth)")],
        check="test_values_and_gradients",
    ),
    Wrong(
        "scales of one element",
        edits=[(SCALES, SCALES.replace("torch.tensor(0.5)", "torch.tensor([0.5])"))],
        check="test_what_is_registered",
        says="(1,)",
    ),
    Wrong(
        "scales that start at one",
        edits=[(SCALES, SCALES.replace("0.5", "1.0"))],
        check="test_start",
    ),
    Wrong(
        "numbers for scales",
        edits=[(SCALES, "self.scales = [0.5] * depth")],
        check="test_what_is_registered",
        says="scales.0",
    ),
    Wrong(
        "scales that do not train",
        edits=[(SCALES, SCALES.replace("torch.tensor(0.5)", "torch.tensor(0.5), requires_grad=False"))],
        check="test_what_is_registered",
        says="scales.0",
    ),
    Wrong(
        "reads the scales with item()",
        edits=[(BLOCK, BLOCK.replace("scale *", "scale.item() *"))],
        check="test_values_and_gradients",
        says="scales",
    ),
    Wrong(
        "keeps a list beside the container, and runs that",
        edits=[
            (LAYERS, LAYERS + "\n        self._run = list(self.layers)"),
            (LOOP, "for layer, scale in zip(self._run, self.scales):"),
        ],
        check="test_containers_are_used",
        says="replaced and added",
    ),
    Wrong(
        "keeps a list of the scales",
        edits=[
            (SCALES, SCALES + "\n        self._scales = list(self.scales)"),
            (LOOP, "for layer, scale in zip(self.layers, self._scales):"),
        ],
        check="test_values_and_gradients",
    ),
    Wrong(
        "remembers the names of the heads",
        edits=[
            (HEADS, HEADS + "\n        self.names = list(heads)"),
            (RETURN, "return {name: self.heads[name](x) for name in self.names}"),
        ],
        check="test_containers_are_used",
    ),
    Wrong(
        "calls forward of the layers: hooks do not run",
        edits=[(BLOCK, BLOCK.replace("layer(x)", "layer.forward(x)"))],
        check="test_containers_are_used",
        says="hooks",
    ),
    Wrong(
        "counts to depth",
        edits=[
            (LAYERS, LAYERS + "\n        self.depth = depth"),
            (LOOP, "for layer, scale in list(zip(self.layers, self.scales))[: self.depth]:"),
        ],
        check="test_containers_are_used",
    ),
    Wrong(
        "sorts the heads",
        edits=[(HEADS, HEADS.replace("in heads.items()", "in sorted(heads.items())"))],
        check="test_values",
        says="in order",
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
        check="test_what_is_registered",
        says="heads after",
    ),
    Wrong(
        "returns a ModuleDict's items, not a dict",
        edits=[(RETURN, "return [(name, head(x)) for name, head in self.heads.items()]")],
        check="test_values",
        says="dict",
    ),
    Wrong(
        "a tensor where there is one head only",
        edits=[
            (
                RETURN,
                "y = {name: head(x) for name, head in self.heads.items()}\n        return y if len(y) > 1 else next(iter(y.values()), y)",
            )
        ],
        check="test_values",
        says="dict",
    ),
    Wrong(
        "no residual",
        edits=[(BLOCK, "x = scale * torch.relu(layer(x))")],
        check="test_values",
        says="no residual",
    ),
    Wrong("adds in place", edits=[(BLOCK, "x += scale * torch.relu(layer(x))")], check="test_values"),
    Wrong(
        "adds in place where no gradient is wanted",
        edits=[
            (
                BLOCK,
                "y = scale * torch.relu(layer(x))\n"
                "            x = x + y if torch.is_grad_enabled() else x.add_(y)",
            )
        ],
        check="test_values",
        says="changes its input x",
    ),
    Wrong(
        "relu in place, on what belongs to the layer",
        edits=[(BLOCK, BLOCK.replace("torch.relu", "torch.relu_"))],
        check="test_containers_are_used",
        says="changes its input x",
    ),
    Wrong(
        "one head for all quantities of a size",
        edits=[
            (
                HEADS,
                "made = {size: nn.Linear(features, size) for size in heads.values()}\n"
                "        self.heads = nn.ModuleDict({name: made[size] for name, size in heads.items()})",
            )
        ],
        check="test_what_is_registered",
        says="one and the same",
    ),
    Wrong(
        "two heads learn the features, the others look on",
        edits=[
            (
                RETURN,
                "return {name: head(x if i < 2 else x.detach()) for i, (name, head) in enumerate(self.heads.items())}",
            )
        ],
        check="test_values_and_gradients",
    ),
    Wrong(
        "takes a dict for heads only",
        edits=[("self.heads =", "heads = heads if type(heads) is dict else {}\n        self.heads =")],
        check="test_what_is_registered",
        says="MappingProxyType",
    ),
    Wrong(
        "clamps large numbers",
        edits=[(BLOCK, BLOCK.replace("torch.relu(layer(x))", "layer(x).clamp(0, 100)"))],
        check="test_values",
    ),
    Wrong(
        "wants the first head to stay",
        edits=[
            (HEADS, HEADS + "\n        self.first = next(iter(heads), None)"),
            (RETURN, "if self.first:\n            self.heads[self.first]\n        " + RETURN),
        ],
        check="test_containers_are_used",
    ),
    Wrong(
        "no gradient through a net without blocks",
        edits=[(RETURN, "x = x if len(self.layers) else x.detach()\n        " + RETURN)],
        check="test_values_and_gradients",
    ),
    Wrong(
        "scales the sum",
        edits=[(BLOCK, "x = scale * (x + torch.relu(layer(x)))")],
        check="test_values",
        says="the scale multiplies the sum",
    ),
    Wrong(
        "relu outside",
        edits=[(BLOCK, "x = torch.relu(x + scale * layer(x))")],
        check="test_values",
        says="relu is taken of the sum",
    ),
    Wrong(
        "cuts the blocks apart",
        edits=[(BLOCK, "x = x.detach() + scale * torch.relu(layer(x.detach()))")],
        check="test_values_and_gradients",
    ),
    Wrong(
        "no graph in evaluation mode",
        edits=[(RETURN, "x = x if self.training else x.detach()\n        " + RETURN)],
        check="test_values_and_gradients",
        says="no gradient",
    ),
    Wrong(
        "heads on cut features",
        edits=[(RETURN, RETURN.replace("head(x)", "head(x.detach())"))],
        check="test_everything_trains",
    ),
    Wrong(
        "layers without a bias",
        edits=[(LAYERS, LAYERS.replace("features, features)", "features, features, bias=False)"))],
        check="test_what_is_registered",
    ),
    Wrong(
        "starts from zeros, as residual blocks often do",
        edits=[
            (LAYERS, LAYERS + "\n        for layer in self.layers:\n            nn.init.zeros_(layer.weight)")
        ],
        check="test_start",
        says="does not start",
    ),
    Wrong(
        "a dropout among the layers never hears of eval",
        edits=[
            (
                HEADS,
                HEADS
                + "\n\n    def train(self, mode=True):\n        self.training = mode\n        return self\n",
            )
        ],
        check="test_modes_and_freezing",
        says="eval",
    ),
    Wrong(
        "results in float32",
        edits=[(RETURN, RETURN.replace("head(x)", "head(x).float()"))],
        check="test_moves_and_casts",
        says="float32",
    ),
    Wrong(
        "constants on the CPU",
        edits=[(BLOCK, "x = x + scale * torch.maximum(layer(x), torch.zeros(x.shape))")],
        check="test_moves_and_casts",
    ),
    Wrong(
        "a deep copy that shares the scales",
        edits=[
            (
                RETURN,
                RETURN
                + "\n\n    def __deepcopy__(self, memo):\n        memo[id(self.scales)] = self.scales\n"
                "        import copy\n        twin = copy.copy(self)\n"
                "        twin._modules = copy.deepcopy(self._modules, memo)\n        return twin",
            )
        ],
        check="test_deep_copy",
        says="scales",
    ),
    Wrong(
        "one number in memory for all scales",
        edits=[(SCALES, "self.scales = nn.ParameterList([torch.tensor(0.5)] * depth)")],
        check="test_start",
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
    Right(
        "containers of its own kind",
        edits=[
            (
                "class ResidualNet",
                "class Layers(nn.ModuleList):\n    def __init__(self, features, depth):\n"
                "        super().__init__(nn.Linear(features, features) for _ in range(depth))\n\n\n"
                "class ResidualNet",
            ),
            (LAYERS, "self.layers = Layers(features, depth)"),
        ],
    ),
    Wrong(
        "flattens the leading dimensions by view, which an x that lies in memory otherwise does not have",
        edits=[
            (LOOP, "leading = x.shape[:-1]\n        x = x.view(-1, x.shape[-1])\n        " + LOOP),
            (
                RETURN,
                "return {name: (y := head(x)).view(*leading, y.shape[-1]) for name, head in self.heads.items()}",
            ),
        ],
        check="test_values",
        says="view",
    ),
    Right(
        "flattens the leading dimensions by reshape",
        edits=[
            (LOOP, "leading = x.shape[:-1]\n        x = x.flatten(0, -2) if leading else x\n        " + LOOP),
            (
                RETURN,
                "return {name: (y := head(x)).reshape(*leading, y.shape[-1]) for name, head in self.heads.items()}",
            ),
        ],
    ),
    Wrong(
        "records no graph for layers that are frozen",
        edits=[
            (
                BLOCK,
                "wanted = any(p.requires_grad for p in layer.parameters())\n"
                "            with torch.set_grad_enabled(torch.is_grad_enabled() and wanted):\n"
                "                y = torch.relu(layer(x))\n"
                "            x = x + scale * y",
            )
        ],
        check="test_modes_and_freezing",
        says="a net that is frozen",
    ),
    Wrong(
        "moves x to the first parameter, where there may be none",
        edits=[(LOOP, "x = x.to(next(self.parameters()).device)\n        " + LOOP)],
        check="test_values",
    ),
    Wrong(
        "leaves out a layer that stands in the list twice",
        edits=[(LOOP, LOOP.replace("self.layers", "self.layers.children()"))],
        check="test_containers_are_used",
        says="appended once more",
    ),
    Wrong(
        "leaves out a scale that stands in the list twice",
        edits=[(LOOP, LOOP.replace("self.scales", "self.scales.parameters()"))],
        check="test_containers_are_used",
        says="appended once more",
    ),
    Wrong(
        "records no graph for heads that are frozen",
        edits=[(RETURN, RETURN.replace("head(x)", "head(x if head.weight.requires_grad else x.detach())"))],
        check="test_modes_and_freezing",
    ),
]
