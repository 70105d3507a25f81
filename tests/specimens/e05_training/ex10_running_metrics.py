"""Answers to running_metrics that people write."""

from grader.authoring.specimen import Right, Works, Wrong

GUARD = (
    "        if logits.dim() == 0 or logits.shape[-1] != self.classes or logits.shape[:-1] != labels.shape:\n"
)
REAL = "        real = labels != -100\n"
DROP = "        logits, labels = logits[real].cpu(), labels[real].cpu()  # (examples, classes), (examples,)\n"
HALF = "        if logits.dtype in (torch.float16, torch.bfloat16):\n            logits = logits.float()\n"
LOSS = '        self.loss += F.cross_entropy(logits, labels, reduction="none").double().sum().item()\n'
NONE = '            raise ValueError("there are no examples to compute metrics of")\n'
OCCURS = "        occurs = both > 0\n"
F1 = '            "macro_f1": (2 * hits[occurs] / both[occurs]).mean().item(),\n'
ACC = '            "accuracy": hits.sum().item() / examples,\n'
MEAN = '            "loss": self.loss / examples,\n'
BOTH = "        both = self.counts.sum(0) + self.counts.sum(1)  # (classes,), predicted + labels\n"
COUNTS = (
    "        self.counts = torch.zeros(self.classes, self.classes, dtype=torch.int64)  # label, predicted\n"
)
ADD = "        self.counts += counts.view(self.classes, self.classes)\n"

SPECIMENS = [
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
        says="the mean of the batches' results",
        rung="job",
    ),
    Wrong(
        "a softmax before cross_entropy",
        edits=[(LOSS, LOSS.replace("F.cross_entropy(logits,", "F.cross_entropy(logits.softmax(-1),"))],
        check="test_any_cut",
        says="softmax comes before",
        rung="job",
    ),
    Wrong(
        "a probability above one half",
        edits=[("logits.argmax(-1)", "(logits.softmax(-1) > 0.5).float().argmax(-1)")],
        check="test_largest_logit",
        rung="job",
    ),
    Wrong(
        "micro-F1",
        edits=[(F1, '            "macro_f1": hits.sum().item() / examples,\n')],
        check="test_any_cut",
        says="micro-F1",
        rung="job",
    ),
    Wrong(
        "the mean of the batches' F1",
        edits=[
            (
                ADD,
                "        self.counts = counts.view(self.classes, self.classes)\n        self.n = getattr(self, 'n', 0) + 1\n",
            ),
        ],
        check="test_any_cut",
        says="last batch alone",
        rung="job",
    ),
    Wrong(
        "compute starts over",
        edits=[
            ("        hits = ", "        kept, self.loss = self.loss, 0.0\n        hits = "),
            (MEAN, MEAN.replace("self.loss", "kept")),
        ],
        check="test_compute_in_between",
        rung="job",
    ),
    Wrong(
        "reset forgets the loss",
        edits=[("        self.loss = 0.0\n", "        self.loss = getattr(self, 'loss', 0.0)\n")],
        check="test_reset",
        rung="job",
    ),
    Wrong(
        "a mean over all classes",
        edits=[(F1, '            "macro_f1": (2 * hits / both.clamp(min=1)).mean().item(),\n')],
        check="test_absent_classes",
        says="occur nowhere",
    ),
    Wrong(
        "counts padding as an error",
        edits=[
            ("examples = int(self.counts.sum())", "examples = self.seen"),
            (COUNTS, COUNTS + "        self.seen = 0\n"),
            (REAL, "        self.seen += labels.numel()\n" + REAL),
        ],
        check="test_padding",
    ),
    Wrong(
        "multiplies padding by zero",
        edits=[
            (
                DROP,
                "        logits, labels = logits.reshape(-1, self.classes), labels.reshape(-1)\n        real = real.reshape(-1)\n",
            ),
            (
                LOSS,
                "        each = F.cross_entropy(logits, labels.clamp(min=0), reduction='none')\n        self.loss += (each * real).double().sum().item()\n        logits, labels = logits[real].cpu(), labels[real].cpu()\n",
            ),
        ],
        check="test_padding",
    ),
    Wrong(
        "two dimensions only",
        edits=[(GUARD, GUARD.replace("logits.dim() == 0", "logits.dim() != 2"))],
        check="test_leading_dimensions",
    ),
    Wrong(
        "the mean of an empty batch is NaN",
        edits=[
            (LOSS, "        self.loss += F.cross_entropy(logits, labels).double().item() * len(labels)\n")
        ],
        check="test_no_examples",
    ),
    Wrong("half precision stays half", edits=[(HALF, "")], check="test_dtypes"),
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
        "a running sum in float32",
        edits=[
            (LOSS, LOSS.replace(".double().sum().item()", ".sum().float()")),
            (MEAN, '            "loss": float(self.loss) / examples,\n'),
        ],
        check="test_digits_of_the_sum",
    ),
    Wrong(
        "keeps the graph",
        edits=[
            ("    @torch.no_grad()\n", ""),
            (LOSS, LOSS.replace(".item()", "")),
            (MEAN, '            "loss": float(self.loss) / examples,\n'),
        ],
        check="test_nothing_is_kept",
    ),
    Wrong(
        "stays on the device of the batches",
        edits=[(DROP, DROP.replace(".cpu()", ""))],
        check="test_on_a_device",
    ),
    Wrong(
        "looks at the number of classes alone",
        edits=[
            (" or logits.shape[:-1] != labels.shape", ""),
            (REAL, "        labels, logits = labels.flatten(), logits.flatten(0, -2)\n" + REAL),
        ],
        check="test_bad_shapes",
    ),
    Wrong(
        "0 without examples",
        edits=[(NONE, '            return {"loss": 0.0, "accuracy": 0.0, "macro_f1": 0.0}\n')],
        check="test_nothing_counted",
    ),
    Works(
        "the classic loop: correct and total, and three counts for each class",
        code="""
import torch
import torch.nn.functional as F


class RunningMetrics:
    def __init__(self, classes):
        self.classes = classes
        self.reset()

    def reset(self):
        self.running_loss = 0.0
        self.correct = 0
        self.total = 0
        self.tp = torch.zeros(self.classes)
        self.fp = torch.zeros(self.classes)
        self.fn = torch.zeros(self.classes)

    def update(self, logits, labels):
        self.running_loss += F.cross_entropy(logits, labels).item() * labels.size(0)
        predicted = logits.argmax(1)
        self.correct += (predicted == labels).sum().item()
        self.total += labels.size(0)
        for c in range(self.classes):
            self.tp[c] += ((predicted == c) & (labels == c)).sum()
            self.fp[c] += ((predicted == c) & (labels != c)).sum()
            self.fn[c] += ((predicted != c) & (labels == c)).sum()

    def compute(self):
        precision = self.tp / (self.tp + self.fp + 1e-8)
        recall = self.tp / (self.tp + self.fn + 1e-8)
        f1 = 2 * precision * recall / (precision + recall + 1e-8)
        return {
            "loss": self.running_loss / self.total,
            "accuracy": self.correct / self.total,
            "macro_f1": f1.mean().item(),
        }
""",
    ),
    Works(
        "keeps everything and computes at the end, as with scikit-learn",
        code="""
import torch
import torch.nn.functional as F


class RunningMetrics:
    def __init__(self, classes):
        self.classes = classes
        self.reset()

    def reset(self):
        self.logits, self.labels = [], []

    def update(self, logits, labels):
        self.logits.append(logits.detach().cpu())
        self.labels.append(labels.cpu())

    def compute(self):
        logits, labels = torch.cat(self.logits), torch.cat(self.labels)
        preds = logits.argmax(dim=-1)
        f1s = []
        for c in range(self.classes):
            tp = ((preds == c) & (labels == c)).sum().item()
            fp = ((preds == c) & (labels != c)).sum().item()
            fn = ((preds != c) & (labels == c)).sum().item()
            f1s.append(2 * tp / (2 * tp + fp + fn) if tp else 0.0)
        return {
            "loss": F.cross_entropy(logits, labels).item(),
            "accuracy": (preds == labels).float().mean().item(),
            "macro_f1": sum(f1s) / len(f1s),
        }
""",
    ),
    Right(
        "one-hot columns, cross-entropy by ignore_index",
        code="""
import torch
import torch.nn.functional as F


class RunningMetrics:
    def __init__(self, classes):
        self.classes = classes
        self.reset()

    def reset(self):
        self.total, self.n = 0.0, 0
        self.hits, self.both = [0] * self.classes, [0] * self.classes

    def update(self, logits, labels):
        if tuple(logits.shape) != (*labels.shape, self.classes):
            raise ValueError("shapes do not fit")
        with torch.no_grad():
            logits = logits.reshape(-1, self.classes).cpu().double()
            labels = labels.reshape(-1).cpu()
            if (labels == -100).all():
                return
            self.total += F.cross_entropy(logits, labels, reduction="sum", ignore_index=-100).item()
            keep = labels.ne(-100).nonzero()[:, 0]
            truth, guess = F.one_hot(labels[keep], self.classes), F.one_hot(logits[keep].argmax(1), self.classes)
            self.n += len(keep)
            self.hits = [a + b for a, b in zip(self.hits, (truth * guess).sum(0).tolist())]
            self.both = [a + b for a, b in zip(self.both, (truth + guess).sum(0).tolist())]

    def compute(self):
        if self.n == 0:
            raise ValueError("nothing counted")
        f1 = [2 * h / b for h, b in zip(self.hits, self.both) if b]
        return {"accuracy": sum(self.hits) / self.n, "macro_f1": sum(f1) / len(f1), "loss": self.total / self.n}
""",
    ),
    Right(
        "a loss that is the difference of two numbers, and a loop over the examples",
        edits=[
            (
                LOSS,
                "        own = logits.gather(-1, labels[:, None])[:, 0]\n        self.loss += (logits.logsumexp(-1) - own).double().sum().item()\n",
            ),
            (
                "        counts = torch.bincount(cells, minlength=self.classes**2)\n" + ADD,
                "        for cell in cells.tolist():\n            self.counts[cell // self.classes, cell % self.classes] += 1\n",
            ),
        ],
    ),
]
