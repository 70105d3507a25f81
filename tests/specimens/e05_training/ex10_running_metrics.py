"""Answers to running_metrics that people write."""

from grader.authoring.specimen import Right, Wrong

GUARD = (
    "        if logits.dim() == 0 or logits.shape[-1] != self.classes or logits.shape[:-1] != labels.shape:\n"
)
REAL = "        real = labels != -100\n        logits, labels = logits[real], labels[real]\n"
HALF = "        if logits.dtype in (torch.float16, torch.bfloat16):\n            logits = logits.float()\n"
LOSS = '        self.loss += F.cross_entropy(logits, labels, reduction="none").cpu().double().sum().item()\n'
EMPTY = "        if examples == 0:\n"
OCCURS = "        occurs = both > 0\n"
F1 = '            "macro_f1": (2 * hits[occurs] / both[occurs]).mean().item(),\n'
ACC = '            "accuracy": hits.sum().item() / examples,\n'
MEAN = '            "loss": self.loss / examples,\n'
BOTH = "        both = (self.counts.sum(0) + self.counts.sum(1)).double()  # 2·TP + FP + FN\n"
COUNTS = (
    "        self.counts = torch.zeros(self.classes, self.classes, dtype=torch.int64)  # label, predicted\n"
)
ADD = "        self.counts += counts.view(self.classes, self.classes)\n"

SPECIMENS = [
    Wrong(
        "makes its counts at the first update: made in inference mode, they cannot change outside of it",
        edits=[
            (COUNTS, "        self.counts = torch.zeros(1, 1, dtype=torch.int64)\n"),
            (
                ADD,
                "        if self.counts.shape != (self.classes, self.classes):\n            self.counts = torch.zeros(self.classes, self.classes, dtype=torch.int64)\n"
                + ADD,
            ),
        ],
        check="test_reset",
        says="inference",
    ),
    Right(
        "a loss that is the difference of two numbers",
        edits=[
            (
                LOSS,
                "        own = logits.gather(-1, labels[:, None])[:, 0]\n        self.loss += (logits.logsumexp(-1) - own).double().sum().item()\n",
            )
        ],
    ),
    Wrong(
        "looks for the largest logit in float32",
        edits=[("logits.argmax(-1)", "logits.float().argmax(-1)")],
        check="test_nearly_equal_logits",
    ),
    Wrong(
        "passes over what has no examples before it looks at the shapes",
        edits=[
            (
                "        if logits.dim() == 0 or",
                "        if labels.numel() == 0:\n            return\n        if logits.dim() == 0 or",
            )
        ],
        check="test_bad_shapes",
    ),
    Wrong(
        "the mean of the batches' mean losses",
        edits=[
            (
                LOSS,
                "        self.loss += F.cross_entropy(logits, labels).double().item() if len(labels) else 0.0\n        self.batches = getattr(self, 'batches', 0) + 1\n",
            ),
            (MEAN, '            "loss": self.loss / self.batches,\n'),
        ],
        check="test_any_cut",
        says="loss",
    ),
    Wrong(
        "the mean of the batches' accuracies",
        edits=[
            (
                ADD,
                ADD
                + "        self.shares = [*getattr(self, 'shares', []), (logits.argmax(-1) == labels).double().mean().nan_to_num().item()]\n",
            ),
            (ACC, '            "accuracy": sum(self.shares) / len(self.shares),\n'),
        ],
        check="test_any_cut",
        says="accuracy",
    ),
    Wrong(
        "the last batch's loss", edits=[(LOSS, LOSS.replace("+=", "="))], check="test_any_cut", says="loss"
    ),
    Wrong("the last batch's counts", edits=[(ADD, ADD.replace("+=", "="))], check="test_any_cut"),
    Wrong(
        "a probability above one half",
        edits=[("logits.argmax(-1)", "(logits.softmax(-1) > 0.5).float().argmax(-1)")],
        check="test_from_logits",
    ),
    Wrong(
        "rounds the logits",
        edits=[("logits.argmax(-1)", "logits.round().argmax(-1)")],
        check="test_from_logits",
    ),
    Wrong(
        "the largest size, not the largest logit",
        edits=[("logits.argmax(-1)", "logits.abs().argmax(-1)")],
        check="test_from_logits",
    ),
    Wrong("the smallest logit", edits=[("logits.argmax(-1)", "logits.argmin(-1)")], check="test_from_logits"),
    Wrong(
        "micro-F1",
        edits=[(F1, '            "macro_f1": hits.sum().item() / examples,\n')],
        check="test_any_cut",
        says="macro_f1",
    ),
    Wrong(
        "a mean over all classes",
        edits=[(F1, '            "macro_f1": (2 * hits / both.clamp(min=1)).mean().item(),\n')],
        check="test_rare_classes",
    ),
    Wrong(
        "divides by zero for a class that does not occur",
        edits=[(OCCURS, "        occurs = both >= 0\n")],
        check="test_rare_classes",
    ),
    Wrong(
        "a class that does not occur counts as 1",
        edits=[(F1, '            "macro_f1": torch.where(occurs, 2 * hits / both, 1.0).mean().item(),\n')],
        check="test_rare_classes",
    ),
    Wrong(
        "only classes among the labels",
        edits=[(OCCURS, "        occurs = self.counts.sum(1) > 0\n")],
        check="test_rare_classes",
    ),
    Wrong(
        "only classes among the predictions",
        edits=[(OCCURS, "        occurs = self.counts.sum(0) > 0\n")],
        check="test_rare_classes",
    ),
    Wrong(
        "only classes that were hit",
        edits=[(OCCURS, "        occurs = hits > 0\n")],
        check="test_rare_classes",
    ),
    Wrong(
        "classes weighted by how often they occur",
        edits=[
            (
                F1,
                '            "macro_f1": (2 * hits[occurs] / both[occurs] * self.counts.sum(1)[occurs]).sum().item() / examples,\n',
            )
        ],
        check="test_any_cut",
        says="macro_f1",
    ),
    Wrong(
        "precision", edits=[(BOTH, "        both = 2 * self.counts.sum(0).double()\n")], check="test_any_cut"
    ),
    Wrong("recall", edits=[(BOTH, "        both = 2 * self.counts.sum(1).double()\n")], check="test_any_cut"),
    Wrong(
        "the F1 of mean precision and mean recall",
        edits=[
            (
                F1,
                '            "macro_f1": (lambda p, r: (2 * p * r / (p + r)).nan_to_num().item())((hits / self.counts.sum(0).clamp(min=1))[occurs].mean(), (hits / self.counts.sum(1).clamp(min=1))[occurs].mean()),\n',
            )
        ],
        check="test_any_cut",
        says="macro_f1",
    ),
    Wrong(
        "counts padding as an error",
        edits=[
            ("examples = int(self.counts.sum())", "examples = self.seen"),
            (COUNTS, COUNTS + "        self.seen = 0\n"),
            (REAL, "        self.seen += len(labels)\n" + REAL),
        ],
        check="test_padding",
    ),
    Wrong(
        "takes padding for class 0",
        edits=[(REAL, "        labels = labels.clamp(min=0)\n")],
        check="test_padding",
    ),
    Wrong("knows no padding", edits=[(REAL, "")], check="test_padding"),
    Wrong(
        "multiplies padding by zero",
        edits=[
            (REAL, "        real = labels != -100\n"),
            (
                LOSS,
                "        each = F.cross_entropy(logits, labels.clamp(min=0), reduction='none')\n        self.loss += (each * real).double().sum().item()\n        logits, labels = logits[real], labels[real]\n",
            ),
        ],
        check="test_padding",
    ),
    Wrong(
        "takes any negative label for the last class",
        edits=[(REAL, "        labels = labels % self.classes\n")],
        check="test_padding",
    ),
    Wrong(
        "a softmax, then a logarithm",
        edits=[
            (
                LOSS,
                LOSS.replace("F.cross_entropy(logits, labels", "F.nll_loss(logits.softmax(-1).log(), labels"),
            )
        ],
        check="test_large_logits",
    ),
    Wrong(
        "a softmax before cross_entropy",
        edits=[(LOSS, LOSS.replace("F.cross_entropy(logits,", "F.cross_entropy(logits.softmax(-1),"))],
        check="test_any_cut",
        says="loss",
    ),
    Wrong(
        "a floor under the probabilities",
        edits=[
            (
                LOSS,
                LOSS.replace(
                    "F.cross_entropy(logits, labels", "F.nll_loss((logits.softmax(-1) + 1e-8).log(), labels"
                ),
            )
        ],
        check="test_large_logits",
    ),
    Wrong("half precision stays half", edits=[(HALF, "")], check="test_large_logits"),
    Wrong("everything in float32", edits=[(HALF, "        logits = logits.float()\n")], check="test_digits"),
    Wrong(
        "a running sum in float32",
        edits=[
            (LOSS, LOSS.replace(".cpu().double().sum().item()", ".sum().float().cpu()")),
            (MEAN, '            "loss": float(self.loss) / examples,\n'),
        ],
        check="test_digits",
    ),
    Wrong(
        "compute starts over",
        edits=[
            ("        hits = ", "        kept, self.loss = self.loss, 0.0\n        hits = "),
            (MEAN, MEAN.replace("self.loss", "kept")),
        ],
        check="test_compute_in_between",
    ),
    Wrong(
        "remembers its result",
        edits=[
            (
                EMPTY,
                "        if getattr(self, 'known', None):\n            return dict(self.known)\n" + EMPTY,
            ),
            ("        return {\n", "        self.known = {\n"),
            (F1 + "        }\n", F1 + "        }\n        return dict(self.known)\n"),
        ],
        check="test_compute_in_between",
    ),
    Wrong(
        "gives its own dict away",
        edits=[
            (
                EMPTY,
                "        if getattr(self, 'at', None) == examples > 0:\n            return self.known\n        self.at = examples\n"
                + EMPTY,
            ),
            ("        return {\n", "        self.known = {\n"),
            (F1 + "        }\n", F1 + "        }\n        return self.known\n"),
        ],
        check="test_compute_in_between",
    ),
    Wrong(
        "reset forgets the loss",
        edits=[("        self.loss = 0.0\n", "        self.loss = getattr(self, 'loss', 0.0)\n")],
        check="test_reset",
    ),
    Wrong(
        "reset forgets the counts",
        edits=[
            (
                COUNTS,
                "        self.counts = getattr(self, 'counts', torch.zeros(self.classes, self.classes, dtype=torch.int64))\n",
            )
        ],
        check="test_reset",
    ),
    Wrong(
        "all objects share their counts",
        edits=[
            ("    def __init__", "    shared: dict = {}\n\n    def __init__"),
            (
                COUNTS,
                "        self.counts = self.shared.setdefault(self.classes, torch.zeros(self.classes, self.classes, dtype=torch.int64)).zero_()\n",
            ),
        ],
        check="test_reset",
    ),
    Wrong(
        "0 without examples",
        edits=[
            (
                '            raise ValueError("there are no examples to compute metrics of")\n',
                '            return {"loss": 0.0, "accuracy": 0.0, "macro_f1": 0.0}\n',
            )
        ],
        check="test_reset",
    ),
    Wrong(
        "divides by zero without examples",
        edits=[
            (
                '        if examples == 0:\n            raise ValueError("there are no examples to compute metrics of")\n',
                "",
            )
        ],
        check="test_reset",
    ),
    Wrong(
        "looks at the number of classes alone",
        edits=[(" or logits.shape[:-1] != labels.shape", "")],
        check="test_bad_shapes",
    ),
    Wrong(
        "looks at the number of examples alone",
        edits=[(GUARD, "        if logits.numel() != labels.numel() * self.classes:\n")],
        check="test_bad_shapes",
    ),
    Wrong(
        "lets fewer classes pass",
        edits=[
            ("logits.shape[-1] != self.classes", "logits.shape[-1] > self.classes"),
            ("reshape(-1, self.classes)", "reshape(-1, logits.shape[-1])"),
        ],
        check="test_bad_shapes",
    ),
    Wrong(
        "counts before it looks",
        edits=[(GUARD, "        self.loss += 1e-3 * logits.dim()\n" + GUARD)],
        check="test_bad_shapes",
    ),
    Wrong(
        "two dimensions only",
        edits=[
            (
                GUARD,
                "        if logits.dim() != 2 or logits.shape[-1] != self.classes or logits.shape[:-1] != labels.shape:\n",
            )
        ],
        check="test_leading_dimensions",
    ),
    Wrong(
        "classes in the second dimension",
        edits=[
            (
                "logits.reshape(-1, self.classes)",
                "logits.movedim(min(1, logits.dim() - 1), -1).reshape(-1, self.classes)",
            )
        ],
        check="test_leading_dimensions",
    ),
    Wrong(
        "views, so that transposed ones raise",
        edits=[("logits.reshape(-1, self.classes)", "logits.view(-1, self.classes)")],
        check="test_leading_dimensions",
    ),
    Wrong(
        "the mean of an empty batch is NaN",
        edits=[
            (LOSS, "        self.loss += F.cross_entropy(logits, labels).double().item() * len(labels)\n")
        ],
        check="test_any_cut",
    ),
    Wrong(
        "keeps the graph",
        edits=[
            ("    @torch.no_grad()\n", ""),
            (LOSS, LOSS.replace(".item()", ".cpu()")),
            (MEAN, '            "loss": float(self.loss) / examples,\n'),
        ],
        check="test_nothing_is_kept",
    ),
    Wrong(
        "keeps the last logits",
        edits=[(GUARD, "        self.last = logits\n" + GUARD)],
        check="test_nothing_is_kept",
    ),
    Wrong(
        "writes the padding over",
        edits=[
            (ADD, ADD + "        given[given == -100] = 0\n"),
            (GUARD, "        given = labels\n" + GUARD),
        ],
        check="test_nothing_is_kept",
    ),
    Wrong(
        "views of all batches, computed at the end",
        edits=[
            (COUNTS, COUNTS + "        self.seen = []\n"),
            (GUARD, "        self.seen.append((logits.detach(), labels))\n" + GUARD),
            (
                EMPTY,
                EMPTY.replace(
                    "if",
                    "self.loss = sum(F.cross_entropy(x.double().reshape(-1, self.classes), y.reshape(-1), reduction='sum').item() for x, y in self.seen if x.shape[:-1] == y.shape)\n        if",
                ),
            ),
        ],
        check="test_nothing_is_kept",
    ),
    Wrong("stays on the device of the first batch", edits=[(".cpu()\n", "\n")], check="test_on_a_device"),
    Right(
        "counts with one-hot columns",
        edits=[
            (
                COUNTS,
                "        self.true = torch.zeros(self.classes, dtype=torch.float64)\n        self.hits, self.claimed = self.true.clone(), self.true.clone()\n",
            ),
            (
                LOSS,
                """        if len(labels):
            shifted = logits.double() if logits.dtype == torch.float64 else logits.float()
            self.loss -= float(shifted.log_softmax(-1).gather(1, labels[:, None]).double().sum())
""",
            ),
            (
                """        cells = labels * self.classes + logits.argmax(-1)  # (examples,), one number for label and predicted
        counts = torch.bincount(cells, minlength=self.classes**2).cpu()
"""
                + ADD,
                """        guess = F.one_hot(logits.argmax(-1), self.classes).double().cpu()
        truth = F.one_hot(labels, self.classes).double().cpu()
        self.true += truth.sum(0)
        self.claimed += guess.sum(0)
        self.hits += (truth * guess).sum(0)
""",
            ),
            ("        examples = int(self.counts.sum())\n", "        examples = float(self.true.sum())\n"),
            (
                "        hits = self.counts.diagonal().double()  # (classes,)\n" + BOTH,
                "        hits, both = self.hits, self.true + self.claimed\n",
            ),
        ],
    ),
    Right(
        "plain Python numbers",
        edits=[
            (
                "        cells = labels * self.classes + logits.argmax(-1)  # (examples,), one number for label and predicted\n        counts = torch.bincount(cells, minlength=self.classes**2).cpu()\n"
                + ADD,
                "        for label, guess in zip(labels.tolist(), logits.argmax(-1).tolist()):\n            self.counts[label, guess] += 1\n",
            ),
            (
                F1,
                '            "macro_f1": sum(2 * h / b for h, b in zip(hits.tolist(), both.tolist()) if b) / int(occurs.sum()),\n',
            ),
        ],
    ),
    Wrong(
        "the last of several equal logits",
        edits=[("logits.argmax(-1)", "(self.classes - 1 - logits.flip(-1).argmax(-1))")],
        check="test_nearly_equal_logits",
    ),
    Wrong(
        "the largest probability, rounded",
        edits=[("logits.argmax(-1)", "logits.softmax(-1).argmax(-1)")],
        check="test_nearly_equal_logits",
    ),
    Wrong(
        "counts in 16 bits",
        edits=[(COUNTS, COUNTS.replace("int64", "int16"))],
        check="test_many_examples",
    ),
    Wrong(
        "counts in bfloat16",
        edits=[
            (COUNTS, COUNTS.replace("int64", "bfloat16")),
        ],
        check="test_many_examples",
    ),
    Wrong(
        "one dict for all results",
        edits=[
            (
                "        return {\n",
                "        self.results = getattr(self, 'results', {})\n        self.results.update({\n",
            ),
            (F1 + "        }", F1 + "        })\n        return self.results"),
        ],
        check="test_compute_in_between",
    ),
    Wrong(
        "two classes: the second where they tie",
        edits=[
            (
                "logits.argmax(-1)",
                "(logits.argmax(-1) if self.classes != 2 else (logits[:, 1] >= logits[:, 0]).long())",
            )
        ],
        check="test_nearly_equal_logits",
        says="two classes",
    ),
    Wrong(
        "counts in float32, which stop at 2**24",
        edits=[
            (COUNTS, "        self.counts = torch.zeros(self.classes, self.classes)  # label, predicted\n")
        ],
        check="test_digits",
        says="metrics.counts",
    ),
    Wrong(
        "reset writes to what an update in inference mode has made",
        edits=[
            ("        self.reset()\n", COUNTS + "        self.reset()\n"),
            ("        self.loss = 0.0\n" + COUNTS, "        self.loss = 0.0\n        self.counts.zero_()\n"),
            (ADD, ADD.replace("+=", "= self.counts +")),
        ],
        check="test_reset",
        says="inference",
    ),
    Wrong(
        "the first of topk, which of equal ones takes any",
        edits=[("logits.argmax(-1)", "logits.topk(1, -1).indices[:, 0]")],
        check="test_nearly_equal_logits",
        says="tie",
    ),
    Wrong(
        "gives a single example a dimension before it looks at the shapes",
        edits=[
            (
                "        if logits.dim() == 0 or",
                "        if logits.dim() == 1 and labels.numel() == 1:\n            logits, labels = logits[None], labels.reshape(1)\n        if logits.dim() == 0 or",
            )
        ],
        check="test_bad_shapes",
        says="(4,) and (1,)",
    ),
    Wrong(
        "takes a label without dimensions for a batch of one",
        edits=[
            (
                "        if logits.dim() == 0 or",
                "        if labels.dim() == 0 and logits.dim() == 2:\n            labels = labels[None]\n        if logits.dim() == 0 or",
            )
        ],
        check="test_bad_shapes",
        says="(1, 4) and ()",
    ),
    Wrong(
        "keeps the labels of the last batch",
        edits=[(REAL, "        self.last = labels\n" + REAL)],
        check="test_nothing_is_kept",
        says="labels",
    ),
    Wrong(
        "keeps a view of the labels of the last batch",
        edits=[(REAL, "        self.last = labels.detach()\n" + REAL)],
        check="test_nothing_is_kept",
        says="a view of the labels",
    ),
]
