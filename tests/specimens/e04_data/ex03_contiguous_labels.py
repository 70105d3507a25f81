"""Answers to contiguous_labels that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WITHOUT = "self.labels = found if ignore is None else found[found != ignore]"
SEARCH = "codes = torch.searchsorted(classes, wide)  # (*shape)"
FILL = "codes = codes.masked_fill(wide == self.ignore, -100)"
RANGE = "if not (ignored | (codes >= 0) & (codes < len(classes))).all():"
RESULT = "        return labels\n"
UNKNOWN = "if unknown.any():"

SPECIMENS = [
    Wrong(
        "ignore is a class like others",
        edits=[(WITHOUT, "self.labels = found")],
        check="test_classes",
        says="is to be left out",
        rung="job",
    ),
    Wrong(
        "the classes in the order in which they come",
        edits=[
            (
                "found = labels.unique()",
                "found = torch.tensor(list(dict.fromkeys(labels.flatten().tolist()))).to(labels)",
            )
        ],
        check="test_classes",
        rung="job",
    ),
    Wrong(
        "labels in int64",
        edits=[("found = labels.unique()", "found = labels.long().unique()")],
        check="test_classes",
        says="wrong dtype",
        rung="job",
    ),
    Wrong(
        "ignore stays what it was",
        edits=[(FILL, "codes = torch.where(wide == self.ignore, wide, codes)")],
        check="test_encode",
        rung="job",
    ),
    Wrong(
        "codes in the dtype of the labels",
        edits=[("        return codes\n", "        return codes.to(labels.dtype)\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "numbers the labels of each call anew",
        edits=[(SEARCH, "codes = torch.searchsorted(wide[wide != self.ignore].unique(), wide)")],
        check="test_other_labels",
        says="those of this call",
        rung="job",
    ),
    Wrong(
        "decodes -100 as a class",
        edits=[(RESULT, "        return classes[codes.clamp(min=-len(classes))]\n")],
        check="test_decode",
        rung="job",
    ),
    Wrong(
        "a dictionary, asked for each label",
        edits=[
            (
                SEARCH,
                "places = {label: place for place, label in enumerate(classes.tolist())}\n"
                "        codes = torch.tensor([places.get(n, 0) for n in wide.flatten().tolist()], device=wide.device)\n"
                "        codes = codes.long().view(wide.shape)",
            )
        ],
        check="test_no_loop",
        says="grows with labels",
        rung="job",
    ),
    Wrong(
        "searchsorted, and nothing said of labels that are no class",
        edits=[(UNKNOWN, "if False:")],
        check="test_unknown_labels",
        says="no error",
    ),
    Wrong(
        "takes codes from the end",
        edits=[(RANGE, "if not (ignored | (codes < len(classes))).all():")],
        check="test_unknown_codes",
    ),
    Wrong(
        "labels cut to the dtype of the map",
        edits=[
            (
                "wide, classes = labels.long().contiguous(),",
                "wide, classes = labels.to(self.labels).long().contiguous(),",
            )
        ],
        check="test_other_dtypes",
    ),
    Wrong(
        "a place among no classes",
        edits=[(SEARCH, SEARCH + "\n        classes[codes.clamp(max=len(classes) - 1)]")],
        check="test_shapes",
    ),
    Wrong(
        "no ignore of 0",
        edits=[
            (
                "        if self.ignore is not None:\n            codes",
                "        if self.ignore:\n            codes",
            )
        ],
        check="test_encode",
        rung="job",
    ),
    Wrong(
        "writes -100 into the labels",
        edits=[
            (
                FILL,
                FILL + "\n            if labels.dtype == torch.int64:\n"
                "                labels[labels == self.ignore] = -100",
            ),
            (UNKNOWN, "if (unknown & (wide != -100)).any():"),
        ],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "a map for one device",
        edits=[("self.labels.to(labels.device).long()", "self.labels.long()")],
        check="test_on_a_device",
    ),
    Works(
        "a loop over the classes",
        code="""
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        found = torch.unique(labels)
        self.labels = found[found != ignore] if ignore is not None else found
        self.ignore = ignore

    def __len__(self):
        return len(self.labels)

    def encode(self, labels):
        codes = torch.full(labels.shape, -100, dtype=torch.long)
        for i, label in enumerate(self.labels):
            codes[labels == label] = i
        return codes

    def decode(self, codes):
        labels = torch.full(codes.shape, self.ignore or 0, dtype=self.labels.dtype)
        for i, label in enumerate(self.labels):
            labels[codes == i] = label
        return labels
""",
    ),
    Works(
        "searchsorted one way, an index the other",
        code="""
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        self.ignore = ignore
        self.labels = torch.unique(labels)
        if ignore is not None:
            self.labels = self.labels[self.labels != ignore]

    def __len__(self):
        return self.labels.numel()

    def encode(self, labels):
        codes = torch.searchsorted(self.labels, labels)
        if self.ignore is not None:
            codes[labels == self.ignore] = -100
        return codes

    def decode(self, codes):
        labels = self.labels[codes.clamp(min=0)]
        if self.ignore is not None:
            labels[codes == -100] = self.ignore
        return labels
""",
    ),
    Works(
        "a lookup table as long as the largest label, as segmentation code has it",
        code="""
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        self.labels = torch.tensor([n for n in torch.unique(labels).tolist() if n != ignore], dtype=labels.dtype)
        self.ignore, self.lowest = ignore, int(labels.min())
        self.table = torch.full((int(labels.max()) - self.lowest + 1,), -100)
        self.table[self.labels.long() - self.lowest] = torch.arange(len(self.labels))

    def __len__(self):
        return len(self.labels)

    def encode(self, labels):
        return self.table[labels.long() - self.lowest]

    def decode(self, codes):
        values = self.labels[codes.clamp(min=0)]
        return values if self.ignore is None else torch.where(codes == -100, self.ignore, values)
""",
    ),
    Right(
        "compares every label with every class",
        code="""
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        self.labels = torch.tensor(sorted({*labels.unique().tolist()} - {ignore}), dtype=labels.dtype)
        self.ignore = ignore

    def __len__(self):
        return self.labels.shape[0]

    def encode(self, labels):
        same = labels.long()[..., None] == self.labels.to(labels.device).long()
        numbers = torch.arange(len(self), device=labels.device)
        codes = (same * numbers).sum(-1)
        known = same.any(-1)
        if self.ignore is not None:
            ignored = labels.long() == self.ignore
            codes, known = torch.where(ignored, -100, codes), known | ignored
        if not known.all():
            raise ValueError(f"no classes: {labels[~known].unique().tolist()}")
        return codes

    def decode(self, codes):
        if self.ignore is None:
            table, at = self.labels, codes
        else:
            extra = torch.tensor([self.ignore]).to(self.labels)
            table, at = torch.cat([self.labels, extra]), torch.where(codes == -100, len(self), codes)
            if (codes == len(self)).any():
                raise IndexError(len(self))
        if codes.numel() and (at.min() < 0 or at.max() >= len(table)):
            raise IndexError("no such class")
        return table.to(codes.device)[at]
""",
    ),
    Right(
        "searchsorted on the right, and a look at what lies there",
        code="""
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        every = torch.unique(labels.flatten())
        keep = torch.ones_like(every, dtype=torch.bool) if ignore is None else every != ignore
        self.labels, self.ignore = every[keep], ignore

    def __len__(self):
        return int(self.labels.numel())

    def encode(self, labels):
        table = self.labels.to(device=labels.device, dtype=torch.int64)
        wide = labels.to(torch.int64)
        codes = torch.bucketize(wide.contiguous(), table, right=True) - 1
        padded = torch.cat([table, table.new_zeros(1)])
        good = (codes >= 0) & (padded[codes] == wide)
        if self.ignore is not None:
            skip = wide == self.ignore
            codes[skip], good = -100, good | skip
        for label in wide[~good].flatten()[:1].tolist():
            raise ValueError(f"there is no class for {label}")
        return codes

    def decode(self, codes):
        out = torch.empty(codes.shape, dtype=self.labels.dtype, device=codes.device)
        rest = torch.ones_like(codes, dtype=torch.bool)
        if self.ignore is not None:
            rest = codes != -100
            out[~rest] = self.ignore
        at = codes[rest]
        if ((at < 0) | (at >= len(self))).any():
            raise IndexError("codes go from 0 to the number of classes - 1")
        out[rest] = self.labels.to(codes.device)[at]
        return out
""",
    ),
]
