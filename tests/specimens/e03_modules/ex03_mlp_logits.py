"""Answers to mlp_logits that people write."""

from grader.authoring.specimen import Right, Works, Wrong

ADD = "layers += [nn.Linear(inputs, outputs), nn.ReLU()]"
KEEP = "self.layers = nn.Sequential(*layers[:-1])  # nothing after the last linear layer"
RETURN = "return self.layers(x)  # (*batch, classes)"


def forward(code):
    return [(RETURN, code)]


SPECIMENS = [
    Wrong(
        "softmax at the end",
        edits=forward("return self.layers(x).softmax(-1)"),
        check="test_logits",
        says="softmax is taken",
        rung="job",
    ),
    Wrong(
        "log-softmax at the end",
        edits=forward("return self.layers(x).log_softmax(-1)"),
        check="test_logits",
        says="log_softmax is taken",
        rung="job",
    ),
    Wrong(
        "ReLU at the end",
        edits=[("*layers[:-1]", "*layers")],
        check="test_logits",
        says="a ReLU follows",
        rung="job",
    ),
    Wrong(
        "softmax in evaluation only",
        edits=forward("y = self.layers(x)\n        return y if self.training else y.softmax(-1)"),
        check="test_raw_logits",
        says="softmax is taken",
        rung="job",
    ),
    Wrong(
        "the class in place of logits",
        edits=forward("return self.layers(x).argmax(-1)"),
        check="test_sizes",
        rung="job",
    ),
    Wrong(
        "no ReLU in between",
        edits=[(ADD, "layers += [nn.Linear(inputs, outputs), nn.Identity()]")],
        check="test_raw_logits",
        says="no ReLU stands",
        rung="job",
    ),
    Wrong(
        "another activation", edits=[(ADD, ADD.replace("ReLU", "Tanh"))], check="test_raw_logits", rung="job"
    ),
    Wrong(
        "always two hidden layers",
        code="""
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super().__init__()
        first, second = (*hidden, 30, 20)[:2]
        self.layers = nn.Sequential(
            nn.Linear(features, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, classes)
        )

    def forward(self, x):
        return self.layers(x)
""",
        check="test_layers",
        rung="job",
    ),
    Wrong(
        "no bias in the layers",
        edits=[(ADD, ADD.replace("outputs)", "outputs, bias=False)"))],
        check="test_layers",
        says="number of parameters",
        rung="job",
    ),
    Wrong(
        "starts from a wide normal distribution",
        edits=[
            (
                KEEP,
                KEEP + "\n        for layer in self.layers[::2]:\n            nn.init.normal_(layer.weight)",
            )
        ],
        check="test_start",
        says="does not start like",
        rung="job",
    ),
    Wrong(
        "trains the last layer only",
        edits=forward("return self.layers[-1](self.layers[:-1](x).detach())"),
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "layers under another name",
        edits=[(KEEP, "self.net = nn.Sequential(*layers[:-1])"), ("self.layers(x)", "self.net(x)")],
        check="test_loads",
        says="layers.0.weight",
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
        check="test_container",
    ),
    Wrong(
        "a head that it has put aside",
        edits=[
            (KEEP, KEEP + "\n        self._head = [layers[-2]]"),
            (RETURN, "return self._head[0](self.layers[:-1](x))"),
        ],
        check="test_a_new_head",
    ),
    Wrong(
        "flattens each sample",
        edits=forward("return self.layers(x.flatten(1))"),
        check="test_leading_dimensions",
    ),
    Wrong(
        "turns x into float32", edits=forward("return self.layers(x.float())"), check="test_moves_and_casts"
    ),
    Works(
        "a class with a list of layers and F.relu",
        code="""
import torch.nn.functional as F
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super().__init__()
        sizes = [features] + list(hidden)
        self.hidden = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.out = nn.Linear(sizes[-1], classes)

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.out(x)
""",
    ),
    Works(
        "the tutorial's linear_relu_stack, with flatten",
        code="""
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super().__init__()
        self.flatten = nn.Flatten()
        stack = []
        for size in hidden:
            stack += [nn.Linear(features, size), nn.ReLU()]
            features = size
        stack.append(nn.Linear(features, classes))
        self.linear_relu_stack = nn.Sequential(*stack)

    def forward(self, x):
        x = self.flatten(x)
        logits = self.linear_relu_stack(x)
        return logits
""",
    ),
    Right(
        "append one by one, a loop in forward",
        code="""
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super().__init__()
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
        "by index, with ReLU in place",
        code="""
from torch import nn

class Classifier(nn.Module):
    def __init__(self, features=50, hidden=(30, 20), classes=3):
        super().__init__()
        sizes = (features, *hidden, classes)
        layers = [nn.Linear(sizes[0], sizes[1])]
        for i in range(1, len(sizes) - 1):
            layers += [nn.ReLU(inplace=True), nn.Linear(sizes[i], sizes[i + 1])]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)
""",
    ),
]
