"""Answers to fit that people write."""

from grader.authoring.specimen import Right, Wrong

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
CHANGES = "        changes = features.amin(0) < features.amax(0)\n"

SPECIMENS = [
    Wrong("never clears the gradients", edits=[(ZERO, "")], check="test_new_rows"),
    Wrong("clears between backward and step", edits=[(ZERO, ""), (BACK, BACK + ZERO)], check="test_new_rows"),
    Wrong(
        "features in their own units",
        edits=[(FORWARD, "        return self.net(features)\n")],
        check="test_new_rows",
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
        check="test_new_rows",
    ),
    Wrong(
        "one scale for all columns",
        edits=[("scale = features.std(0)", "scale = features.std().expand(features.shape[1]).clone()")],
        check="test_new_rows",
    ),
    Wrong(
        "a small number under the scale",
        edits=[("torch.where(scale > 0, scale, torch.ones_like(scale))", "scale + 1.0")],
        check="test_new_rows",
    ),
    Wrong(
        "a floor under the scale",
        edits=[("torch.where(scale > 0, scale, torch.ones_like(scale))", "scale.clamp(min=1e-3)")],
        check="test_new_rows",
    ),
    Wrong(
        "shuffles features and labels apart",
        edits=[(LOSS, LOSS.replace("labels[rows]", "labels[rows[torch.randperm(len(rows))]]"))],
        check="test_new_rows",
    ),
    Wrong(
        "the first batch only",
        edits=[(ROWS, ROWS.replace(".split(batch)", ".sort()[0].split(batch)[:1]"))],
        check="test_new_rows",
    ),
    Wrong("a few steps", edits=[("steps: int = 200", "steps: int = 30")], check="test_new_rows"),
    Wrong(
        "a softmax at the end",
        edits=[
            (FORWARD, FORWARD.replace("  # (rows, classes)", ".softmax(-1)")),
            ("steps: int = 200", "steps: int = 500"),
        ],
        check="test_new_rows",
        says="cross-entropy",
    ),
    Wrong(
        "always three classes",
        edits=[("nn.Linear(width, classes)", "nn.Linear(width, 3)")],
        check="test_new_rows",
    ),
    Wrong(
        "float64 logits",
        edits=[(FORWARD, FORWARD.replace("  # (rows, classes)", ".double()"))],
        check="test_new_rows",
    ),
    Wrong(
        "two columns only",
        edits=[
            (FORWARD, FORWARD.replace("(features -", "(features[:, :2] -")),
            (
                "    features, labels = train\n",
                "    features, labels = train\n    features = features.view(len(labels), 2)\n",
            ),
        ],
        check="test_new_rows",
    ),
    Wrong(
        "the accuracy on the training rows",
        edits=[(HITS, HITS.replace("valid", "train"))],
        check="test_same_seed",
    ),
    Wrong(
        "learns from the validation rows",
        edits=[
            (
                "model = _train(train, classes)",
                "model = _train((torch.cat([train[0], valid[0]]), torch.cat([train[1], valid[1]])), classes)",
            ),
            (HITS, HITS.replace("valid", "train")),
        ],
        check="test_same_seed",
    ),
    Wrong(
        "per cent",
        edits=[(RETURN, "    return model, 100 * hits.double().mean().item()\n")],
        check="test_accuracy",
    ),
    Wrong(
        "a tensor",
        edits=[(RETURN, "    return model, hits.double().mean()\n")],
        check="test_accuracy",
        says="float",
    ),
    Wrong(
        "the accuracy before the last steps",
        edits=[
            (
                RETURN,
                "    share = hits.double().mean().item()\n    with torch.no_grad():\n        for p in model.parameters():\n            p *= 0.3\n    return model, share\n",
            )
        ],
        check="test_accuracy",
    ),
    Wrong(
        "ends in training mode",
        edits=[(EVAL, "    return model\n")],
        check="test_evaluation_mode",
        says="training mode",
    ),
    Wrong(
        "dropout that never ends",
        edits=[(FORWARD, "        return self.net(F.dropout((features - self.mean) / self.scale, 0.02))\n")],
        check="test_evaluation_mode",
    ),
    Wrong(
        "units of whatever rows come in",
        edits=[
            (
                FORWARD,
                "        if len(features) > 60:\n            self.mean, self.scale = features.mean(0), (features.std(0) + 1e-12)\n"
                + FORWARD,
            )
        ],
        check="test_evaluation_mode",
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
        "squeezes",
        edits=[(FORWARD, FORWARD.replace("  # (rows, classes)", ".squeeze()"))],
        check="test_rows_alone",
    ),
    Wrong(
        "units in buffers that are not saved",
        edits=[
            (SCALE, SCALE.replace("torch.ones_like(scale))", "torch.ones_like(scale)), persistent=False"))
        ],
        check="test_state_dict",
    ),
    Wrong("no seed", edits=[(SEED, "")], check="test_same_seed"),
    Wrong(
        "seeds the global stream for good",
        edits=[(FORK, "    torch.manual_seed(seed)\n    model = _train(train, classes)\n")],
        check="test_same_seed",
        says="global",
    ),
    Wrong(
        "units of all rows, the validation's as well",
        edits=[
            (
                "model = _train(train, classes)",
                "model = _train(train, classes)\n        model.mean.copy_(torch.cat([train[0], valid[0]]).mean(0))",
            )
        ],
        check="test_same_seed",
    ),
    Wrong(
        "always the same seed",
        edits=[(SEED, "        torch.manual_seed(0)\n")],
        check="test_other_seed",
    ),
    Wrong(
        "standardises the caller's tensor",
        edits=[
            ("    features, labels = train\n", "    features, labels = train\n    features *= 1.0 + 1e-6\n")
        ],
        check="test_same_seed",
        says="changes",
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
        "gradients are off afterwards",
        edits=[
            (RETURN, "    torch.set_grad_enabled(False)\n    return model, hits.double().mean().item()\n")
        ],
        check="test_new_rows",
        says="is_grad_enabled",
    ),
    Wrong(
        "seeds Python's stream as well",
        edits=[(SEED, '        torch.manual_seed(seed)\n        __import__("random").seed(seed)\n')],
        check="test_same_seed",
        says="Python or NumPy",
    ),
    Wrong(
        "as many classes as the labels hold",
        edits=[("width, classes)", "width, int(labels.max()) + 1)")],
        check="test_new_rows",
    ),
    Wrong(
        "the seed in eight bits",
        edits=[(SEED, "        torch.manual_seed(seed % 256)\n")],
        check="test_other_seed",
    ),
    Wrong(
        "a little of the other rows' logits",
        edits=[
            (
                FORWARD,
                "        logits = self.net((features - self.mean) / self.scale)\n        return logits if self.training or len(logits) < 2 else logits + 1e-4 * logits.mean(0)\n",
            )
        ],
        check="test_rows_alone",
    ),
    Wrong(
        "distances to all training rows, which are a buffer",
        edits=[
            (
                "        self.net = net\n",
                """        self.register_buffer("rows", (features - self.mean) / self.scale)
        self.net = nn.Linear(len(features), net[-1].out_features)
""",
            ),
            (
                FORWARD,
                "        near = torch.cdist((features - self.mean) / self.scale, self.rows).square().mul(-8.0).exp()\n        return self.net(near)\n",
            ),
        ],
        check="test_state_dict",
        says="cannot load",
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
        check="test_same_seed",
        says="other valid rows",
    ),
    Wrong(
        "leaves columns out that are the same number in every row",
        edits=[
            (SCALE, SCALE + CHANGES + '        self.register_buffer("kept", changes.nonzero().view(-1))\n'),
            (FORWARD, "        return self.net(((features - self.mean) / self.scale)[:, self.kept])\n"),
            (
                NET,
                CHANGES.replace("        ", "    ", 1)
                + NET.replace("features.shape[1]", "int(changes.sum())"),
            ),
        ],
        check="test_state_dict",
        says="third column",
    ),
    Wrong(
        "which columns are constant is no part of the state_dict",
        edits=[
            (SCALE, SCALE + CHANGES + "        self.changes = changes\n"),
            (FORWARD, FORWARD.replace("self.scale)", "self.scale * self.changes)")),
        ],
        check="test_state_dict",
        says="fitted to three arms, with",
    ),
]
