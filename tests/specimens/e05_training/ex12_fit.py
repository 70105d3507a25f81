"""Answers to fit that people write."""

from grader.authoring.specimen import Right, Works, Wrong

ZERO = "            optimizer.zero_grad()\n"
BACK = "            loss.backward()\n"
STEP = "            optimizer.step()\n"
LOSS = "            loss = F.cross_entropy(model(features[rows]), labels[rows])\n"
ROWS = "        for rows in torch.randperm(len(labels)).split(batch):  # another order in each epoch\n"
FORWARD = "        return self.net((features - self.mean) / self.scale)  # (rows, classes)\n"
SCALE = '        self.register_buffer("scale", torch.where(scale > 0, scale, torch.ones_like(scale)))\n'
MEAN = '        self.register_buffer("mean", features.mean(0))  # buffers: part of the state_dict\n'
SEED = (
    "        torch.default_generator.manual_seed(seed)  # and not the GPUs' streams, as torch.manual_seed\n"
)
FORK = (
    "    with torch.random.fork_rng(devices=[]):  # gives the global stream back\n"
    + SEED
    + "        model = _train(train, classes)\n"
)
RETURN = "    return model, hits.double().mean().item()\n"
EVAL = "    return model.eval()\n"
HITS = "        hits = model(valid[0]).argmax(-1) == valid[1]  # (rows,)\n"
NET = "    net = nn.Sequential(nn.Linear(features.shape[1], width), nn.Tanh(), nn.Linear(width, width), nn.ReLU())\n"

SPECIMENS = [
    Wrong(
        "features in their own units",
        edits=[(FORWARD, "        return self.net(features)\n")],
        check="test_new_rows",
        says="gradients cleared",
        rung="job",
    ),
    Wrong(
        "divides by a scale of 0",
        edits=[
            (SCALE, '        self.register_buffer("scale", scale)\n'),
            (
                MEAN,
                '        self.register_buffer("mean", features[0] if False else torch.where(scale > 1e-30, features.mean(0), features[0]))\n',
            ),
            (
                "        scale = features.std(0)\n",
                "        scale = features.std(0)\n        scale = torch.where(features.amin(0) == features.amax(0), 0.0, scale)\n",
            ),
        ],
        check="test_odd_columns",
        says="NaN",
    ),
    Wrong(
        "a softmax at the end",
        edits=[
            (FORWARD, FORWARD.replace("  # (rows, classes)", ".softmax(-1)")),
            ("steps: int = 200", "steps: int = 500"),
        ],
        check="test_logits",
        says="probabilities",
        rung="job",
    ),
    Wrong(
        "the accuracy on the training rows",
        edits=[(HITS, HITS.replace("valid", "train"))],
        check="test_wrong_labels",
        rung="job",
    ),
    Wrong(
        "per cent",
        edits=[(RETURN, "    return model, 100 * hits.double().mean().item()\n")],
        check="test_accuracy",
        says="per cent",
        rung="job",
    ),
    Wrong(
        "a tensor",
        edits=[(RETURN, "    return model, hits.double().mean()\n")],
        check="test_accuracy",
        says="float",
        rung="job",
    ),
    Wrong(
        "ends in training mode",
        edits=[(EVAL, "    return model\n")],
        check="test_evaluation_mode",
        says="training mode",
    ),
    Wrong(
        "standardises each batch by itself",
        edits=[
            (
                FORWARD,
                "        return self.net((features - features.mean(0)) / features.std(0, correction=0).clamp(min=1e-9))\n",
            )
        ],
        check="test_rows_alone",
    ),
    Wrong(
        "units in buffers that are not saved",
        edits=[
            (SCALE, SCALE.replace("torch.ones_like(scale))", "torch.ones_like(scale)), persistent=False"))
        ],
        check="test_state_dict",
    ),
    Wrong("no seed", edits=[(SEED, "")], check="test_seed", rung="job"),
    Wrong(
        "seeds the global stream for good",
        edits=[(FORK, "    torch.manual_seed(seed)\n    model = _train(train, classes)\n")],
        check="test_streams",
    ),
    Wrong(
        "always the same seed",
        edits=[(SEED, "        torch.manual_seed(0)\n")],
        check="test_other_seed",
        rung="job",
    ),
    Works(
        "as a tutorial has it: a DataLoader, Adam, the seed set for all",
        code="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, mean, std, classes):
        super().__init__()
        self.mean, self.std = mean, std
        self.layers = nn.Sequential(
            nn.Linear(len(mean), 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, classes)
        )

    def forward(self, x):
        return self.layers((x - self.mean) / self.std)


def fit(train, valid, classes, seed):
    torch.manual_seed(seed)
    model = Classifier(train[0].mean(dim=0), train[0].std(dim=0), classes)
    loader = DataLoader(TensorDataset(*train), batch_size=64, shuffle=True)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(60):
        model.train()
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(inputs), labels)
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(valid[0]).argmax(dim=1) == valid[1]).float().mean().item()
    return model, accuracy
""",
    ),
    Works(
        "keeps the epoch that does best on the validation rows, with dropout and AdamW",
        code="""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, x, classes):
        super().__init__()
        self.register_buffer("mean", x.mean(0))
        self.register_buffer("std", x.std(0) + 1e-8)
        self.fc1, self.fc2, self.fc3 = nn.Linear(x.shape[1], 128), nn.Linear(128, 128), nn.Linear(128, classes)
        self.dropout = nn.Dropout(0.05)

    def forward(self, x):
        x = F.relu(self.fc1((x - self.mean) / self.std))
        x = self.dropout(F.relu(self.fc2(x)))
        return self.fc3(x)


def fit(train, valid, classes, seed):
    torch.manual_seed(seed)
    x, y = train
    model = Net(x, classes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    best, best_state = -1.0, None
    for epoch in range(50):
        model.train()
        order = torch.randperm(len(x))
        for i in range(0, len(x), 64):
            rows = order[i : i + 64]
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(valid[0]).argmax(1) == valid[1]).float().mean().item()
        if accuracy > best:
            best, best_state = accuracy, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    return model, best
""",
    ),
    Right(
        "batch norm and AdamW, without short batches",
        edits=[
            (
                NET,
                "    net = nn.Sequential(nn.Linear(features.shape[1], width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU())\n",
            ),
            ("    width = 48\n", "    width = 64\n"),
            (
                ROWS,
                ROWS.replace(
                    ".split(batch):",
                    ".split(batch):\n            if len(rows) < 2:\n                continue",
                ),
            ),
            (
                "torch.optim.Adam(model.parameters(), lr=lr)",
                "torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-2)",
            ),
        ],
    ),
    Right(
        "plain momentum, statistics in a batch norm that never learns",
        edits=[
            (
                MEAN + SCALE,
                "        norm = nn.BatchNorm1d(features.shape[1], eps=1e-12, affine=False).eval()\n        norm.running_mean.copy_(features.mean(0))\n        norm.running_var.copy_(torch.where(scale > 1e-12, scale**2, torch.ones_like(scale)))\n        self.norm = norm\n",
            ),
            (FORWARD, "        return self.net(self.norm(features))\n"),
            (
                "torch.optim.Adam(model.parameters(), lr=lr)",
                "torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.95, nesterov=True)",
            ),
            ("lr: float = 0.03", "lr: float = 0.1"),
            ("steps: int = 200", "steps: int = 350"),
            ("    width = 48\n", "    width = 64\n"),
        ],
    ),
    Wrong(
        "shuffles the validation rows before the training, from the same stream",
        edits=[
            (
                FORK,
                FORK.replace(
                    "        model =",
                    "        order = torch.randperm(len(valid[1]))\n"
                    "        valid = valid[0][order], valid[1][order]\n"
                    "        model =",
                ),
            )
        ],
        check="test_valid_only_measures",
    ),
]
