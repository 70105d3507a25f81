"""Answers to mlp_logits that people write."""

from grader.authoring.specimen import Right, Wrong

PAIRS = "for inputs, outputs in pairwise([features, *hidden, classes]):"
ADD = "layers += [nn.Linear(inputs, outputs), nn.ReLU()]"
KEEP = "self.layers = nn.Sequential(*layers[:-1])  # nothing after the last linear layer"
RETURN = "return self.layers(x)  # (*batch, classes)"


def forward(body):
    return [(RETURN, body)]


SPECIMENS = [
    Wrong(
        "drops a leading dimension of one",
        edits=forward("return self.layers(x.squeeze(0) if x.dim() > 2 and len(x) == 1 else x)"),
        check="test_raw_logits",
        says="shape",
    ),
    Wrong(
        "zeros without a graph for no samples",
        edits=forward(
            "return self.layers(x) if x.numel() else x.new_zeros(*x.shape[:-1], self.layers[-1].out_features)"
        ),
        check="test_raw_logits",
        says="no gradient flows",
    ),
    Wrong("softmax at the end", edits=forward("return self.layers(x).softmax(-1)"), check="test_raw_logits"),
    Wrong(
        "softmax in evaluation only",
        edits=forward("y = self.layers(x)\n        return y if self.training else y.softmax(-1)"),
        check="test_raw_logits",
    ),
    Wrong(
        "takes lists and tuples only",
        edits=[
            (
                PAIRS,
                "hidden = hidden if isinstance(hidden, list | tuple) else ()\n        " + PAIRS,
            )
        ],
        check="test_layers",
    ),
    Wrong(
        "hides NaN",
        edits=forward("return self.layers(x).nan_to_num()"),
        check="test_raw_logits",
        says="hides",
    ),
    Wrong(
        "cuts the graph for a single sample",
        edits=forward("return self.layers(x if x.dim() > 1 else x.detach())"),
        check="test_values_and_gradients",
    ),
    Wrong(
        "runs the kinds of layers that it knows",
        edits=forward(
            "for layer in self.layers:\n"
            "            x = layer(x) if isinstance(layer, nn.Linear | nn.ReLU | nn.Sigmoid) else x\n"
            "        return x"
        ),
        check="test_layers_can_be_exchanged",
        says="Tanh",
    ),
    Wrong(
        "clamps large logits, to be safe",
        edits=forward("return self.layers(x).clamp(-1e4, 1e4)"),
        check="test_raw_logits",
    ),
    Wrong(
        "runs as many layers as it was made with",
        edits=[
            (KEEP, KEEP.replace("  # ", "\n        self.depth = len(self.layers)  # ")),
            (RETURN, "for layer in self.layers[: self.depth]:\n            x = layer(x)\n        return x"),
        ],
        check="test_layers_can_be_exchanged",
        says="appended",
    ),
    Wrong(
        "log-softmax at the end",
        edits=forward("return self.layers(x).log_softmax(-1)"),
        check="test_raw_logits",
        says="log_softmax is taken at the end",
    ),
    Wrong(
        "softmax among the layers",
        edits=[(KEEP, "self.layers = nn.Sequential(*layers[:-1], nn.Softmax(-1))")],
        check="test_layers",
        says="Softmax",
    ),
    Wrong(
        "ReLU at the end",
        edits=[(KEEP, "self.layers = nn.Sequential(*layers)")],
        check="test_layers",
        says="wrong layers",
    ),
    Wrong("sigmoid at the end", edits=forward("return self.layers(x).sigmoid()"), check="test_raw_logits"),
    Wrong(
        "the class in place of logits",
        edits=forward("return self.layers(x).argmax(-1)"),
        check="test_raw_logits",
    ),
    Wrong(
        "the class in evaluation",
        edits=forward("y = self.layers(x)\n        return y if self.training else y.argmax(-1)"),
        check="test_raw_logits",
    ),
    Wrong(
        "keeps the logits from getting large",
        edits=forward("return self.layers(x).clamp(-50, 50)"),
        check="test_raw_logits",
    ),
    Wrong(
        "no ReLU in between",
        edits=[(ADD, "layers += [nn.Linear(inputs, outputs), nn.Identity()]")],
        check="test_layers",
        says="Identity",
    ),
    Wrong(
        "ReLU in forward, not among the layers",
        edits=[
            (ADD, "layers += [nn.Linear(inputs, outputs)]"),
            (KEEP, "self.layers = nn.Sequential(*layers)"),
            (
                RETURN,
                "for layer in self.layers[:-1]:\n            x = layer(x).relu()\n        return self.layers[-1](x)",
            ),
        ],
        check="test_layers",
        says="layers.1.weight",
    ),
    Wrong(
        "another activation",
        edits=[(ADD, "layers += [nn.Linear(inputs, outputs), nn.GELU()]")],
        check="test_layers",
        says="GELU",
    ),
    Wrong(
        "dropout for good measure",
        edits=forward("return self.layers(nn.functional.dropout(x, 0.1, self.training))"),
        check="test_raw_logits",
    ),
    Wrong(
        "batch norm before the layers",
        edits=[
            (KEEP, KEEP + "\n        self.norm = nn.BatchNorm1d(features)"),
            (RETURN, "return self.layers(self.norm(x))"),
        ],
        check="test_layers",
        says="norm",
    ),
    Wrong(
        "sizes from the example",
        edits=[(PAIRS, "for inputs, outputs in pairwise([50, 30, 20, 3]):")],
        check="test_layers",
    ),
    Wrong(
        "always two hidden layers",
        edits=[(PAIRS, "for inputs, outputs in pairwise([features, *(tuple(hidden) * 2)[:2], classes]):")],
        check="test_layers",
    ),
    Wrong(
        "writes into the list of sizes",
        edits=[
            (
                PAIRS,
                """sizes = hidden if isinstance(hidden, list) else list(hidden)
        sizes.insert(0, features)
        sizes.append(classes)
        for inputs, outputs in pairwise(sizes):""",
            )
        ],
        check="test_layers",
        says="hidden, after",
    ),
    Wrong(
        "hidden layers without a bias",
        edits=[(ADD, "layers += [nn.Linear(inputs, outputs, bias=outputs == classes), nn.ReLU()]")],
        check="test_layers",
    ),
    Wrong(
        "one layer for all equal sizes",
        edits=[
            ("        layers: list", "        made = {}\n        layers: list"),
            (
                ADD,
                "made.setdefault((inputs, outputs), nn.Linear(inputs, outputs))\n            "
                "layers += [made[inputs, outputs], nn.ReLU()]",
            ),
        ],
        check="test_start",
        says="equal sizes",
    ),
    Wrong(
        "starts from zeros",
        edits=[(KEEP, KEEP + "\n        for p in self.parameters():\n            nn.init.zeros_(p)")],
        check="test_start",
        says="does not start",
    ),
    Wrong(
        "starts the weights with numbers from a normal distribution",
        edits=[(KEEP, KEEP + "\n        for p in self.parameters():\n            nn.init.normal_(p)")],
        check="test_start",
        says="does not start",
    ),
    Wrong(
        "starts from the same seed each time",
        edits=[
            (
                "        layers: list",
                "        import torch\n        torch.manual_seed(0)\n        layers: list",
            )
        ],
        check="test_start",
        says="same in two models",
    ),
    Wrong(
        "flattens to one batch dimension",
        edits=forward("return self.layers(x.reshape(-1, x.shape[-1]))"),
        check="test_raw_logits",
        says="shape",
    ),
    Wrong(
        "flattens each sample",
        edits=forward("return self.layers(x.flatten(1) if x.dim() > 1 else x)"),
        check="test_raw_logits",
    ),
    Wrong(
        "squeezes", edits=forward("return self.layers(x).squeeze()"), check="test_raw_logits", says="shape"
    ),
    Wrong(
        "wants a batch",
        edits=forward("return self.layers(x[None] if x.dim() == 1 else x)"),
        check="test_raw_logits",
        says="shape",
    ),
    Wrong(
        "turns x into float32", edits=forward("return self.layers(x.float())"), check="test_moves_and_casts"
    ),
    Wrong(
        "rounds half precision up",
        edits=forward("return self.layers(x).float()"),
        check="test_moves_and_casts",
        says="float32",
    ),
    Wrong(
        "fetches the logits to the CPU",
        edits=forward("return self.layers(x).cpu()"),
        check="test_moves_and_casts",
    ),
    Wrong(
        "evaluates without a graph",
        edits=forward("return self.layers(x).detach()"),
        check="test_values_and_gradients",
    ),
    Wrong(
        "no graph in evaluation mode",
        edits=[
            ("from itertools import pairwise\n", "from itertools import pairwise\n\nimport torch\n"),
            (RETURN, "with torch.set_grad_enabled(self.training):\n            return self.layers(x)"),
        ],
        check="test_values_and_gradients",
        says="no gradient",
    ),
    Wrong(
        "cuts x off",
        edits=forward("return self.layers(x.detach())"),
        check="test_values_and_gradients",
        says="input0",
    ),
    Wrong(
        "trains the last layer only",
        edits=forward("return self.layers[-1](self.layers[:-1](x).detach())"),
        check="test_training",
    ),
    Wrong(
        "runs a list of layers that it has kept",
        edits=[
            (KEEP, KEEP + "\n        self._kept = layers[:-1]"),
            (RETURN, "for layer in self._kept:\n            x = layer(x)\n        return x"),
        ],
        check="test_layers_can_be_exchanged",
        says="last layer",
    ),
    Wrong(
        "goes through the layers by hand: hooks and other activations are passed by",
        edits=forward(
            """for layer in self.layers:
            x = nn.functional.linear(x, layer.weight, layer.bias) if isinstance(layer, nn.Linear) else x.relu()
        return x"""
        ),
        check="test_layers_can_be_exchanged",
    ),
    Wrong(
        "calls forward of the layers: hooks do not run",
        edits=forward("for layer in self.layers:\n            x = layer.forward(x)\n        return x"),
        check="test_layers_can_be_exchanged",
        says="hooks",
    ),
    Wrong(
        "scales x in place first",
        edits=forward("x /= 1 + 1e-3\n        return self.layers(x)"),
        check="test_raw_logits",
    ),
    Wrong(
        "a head that it has put aside",
        edits=[
            (KEEP, KEEP + "\n        self._head = [layers[-2]]"),
            (RETURN, "y = self.layers[:-1](x)\n        return self._head[0](y)"),
        ],
        check="test_layers_can_be_exchanged",
    ),
    Wrong(
        "adds a second set of layers that nobody uses",
        edits=[(KEEP, KEEP + "\n        self.spare = nn.Linear(classes, classes)")],
        check="test_layers",
        says="spare",
    ),
    Wrong(
        "layers under another name",
        edits=[(KEEP, "self.net = nn.Sequential(*layers[:-1])"), ("self.layers(x)", "self.net(x)")],
        check="test_loads_and_copies",
        says="layers.0.weight",
    ),
    Wrong(
        "a deep copy that shares the layers",
        edits=[
            (
                RETURN,
                RETURN
                + "\n\n    def __deepcopy__(self, memo):\n        import copy\n        return copy.copy(self)",
            )
        ],
        check="test_loads_and_copies",
    ),
    Right(
        "append one by one, a loop in forward",
        code="""
import torch
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super(Classifier, self).__init__()
        self.layers = nn.Sequential()
        size = features
        for wanted in hidden:
            self.layers.append(nn.Linear(size, wanted))
            self.layers.append(nn.ReLU())
            size = wanted
        self.layers.append(nn.Linear(size, classes))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    ),
    Right(
        "numbered by hand",
        code="""
from collections import OrderedDict
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super().__init__()
        ins, outs = [features] + list(hidden), list(hidden) + [classes]
        named = OrderedDict()
        for i in range(len(ins)):
            if i > 0:
                named[str(2 * i - 1)] = nn.ReLU()
            named[str(2 * i)] = nn.Linear(ins[i], outs[i])
        self.layers = nn.Sequential(named)

    def forward(self, x):
        return self.layers(x)
""",
    ),
    Wrong(
        "ReLU in place, which writes into x once it comes first",
        edits=[(ADD, ADD.replace("nn.ReLU()", "nn.ReLU(inplace=True)"))],
        check="test_layers_can_be_exchanged",
        says="changes",
    ),
    Wrong(
        "one ReLU stands in every place",
        edits=[
            ("        layers: list[nn.Module] = []", "        layers, relu = [], nn.ReLU()"),
            ("nn.ReLU()]", "relu]"),
        ],
        check="test_layers",
        says="different objects",
    ),
    Wrong(
        "ReLU in place, on a copy of x",
        edits=[(ADD, ADD.replace("nn.ReLU()", "nn.ReLU(inplace=True)")), ("(x)  #", "(x.clone())  #")],
        check="test_layers",
        says="in place",
    ),
    Wrong(
        "float32, whatever the default dtype",
        edits=[
            (ADD, ADD.replace("outputs)", "outputs, dtype=torch.float32)")),
            ("from torch import Tensor, nn", "import torch\nfrom torch import Tensor, nn"),
        ],
        check="test_start",
        says="while the default is float64",
    ),
    Wrong(
        "half precision in training only",
        edits=forward("return self.layers(x.float() if x.itemsize == 2 and not self.training else x)"),
        check="test_moves_and_casts",
    ),
    Wrong(
        "runs the children, which are a layer's places no more",
        edits=forward("for layer in self.layers.children():\n            x = layer(x)\n        return x"),
        check="test_layers_can_be_exchanged",
        says="in two places",
    ),
    Wrong(
        "another name for hidden",
        edits=[
            ("hidden: Sequence[int] =", "sizes: Sequence[int] ="),
            ("*hidden, classes", "*sizes, classes"),
        ],
        check="test_start",
        says="hidden",
    ),
    Wrong(
        "runs the layers in the order of their names",
        edits=forward(
            "for name in sorted(self.layers._modules):\n            x = self.layers._modules[name](x)\n        return x"
        ),
        check="test_raw_logits",
        says="Classifier(6, (4, 4, 4, 4, 4), 4)",
    ),
]
