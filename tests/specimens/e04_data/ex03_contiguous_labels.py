"""Answers to contiguous_labels that people write."""

from grader.authoring.specimen import Right, Wrong

FOUND = "found = labels.unique()  # (classes,), ascending"
OWN = "self.labels = found if ignore is None else found[found != ignore]"
KNOWN = "known = self.labels.to(wide.device).long()  # (classes,)"
WIDE = "wide = labels.long().contiguous()"
SEARCH = "codes = torch.searchsorted(known, wide)"
IGNORED_LABELS = (
    "ignored = torch.zeros_like(wide, dtype=torch.bool) if self.ignore is None else wide == self.ignore"
)
NONE = "if self.ignore is None else codes == IGNORED"
MATCH = "right |= known[codes.clamp(max=len(known) - 1)] == wide"
GUARD = "        if len(known) > 0:\n            " + MATCH + "\n"
RAISE = """        if not right.all():
            raise ValueError(f"label {int(wide[~right][0])} is none of the {len(known)} classes")
"""
FILL = "return codes.masked_fill(ignored, IGNORED)"
RIGHT_CODES = "right = ignored | ((codes >= 0) & (codes < len(self)))"
RAISE_CODE = """        if not right.all():
            raise IndexError(f"code {int(codes[~right][0])} stands for none of {len(self)} classes")
"""
LAST = "last = self.labels.new_full((1,), self.ignore or 0)"
TABLE = "table = torch.cat([self.labels, last]).to(codes.device)"
BACK = "return table[codes.masked_fill(ignored, len(self))]"
CHECK = "    if x.is_floating_point() or x.is_complex():"
LONG = "        codes = codes.long()\n"

SPECIMENS = [
    Wrong(
        "leaves -100 to the indexing, which counts it from the end of many classes",
        edits=[(RIGHT_CODES, "right = (codes == IGNORED) | ((codes >= 0) & (codes < len(self)))")],
        check="test_many_classes",
        says="-100",
    ),
    Wrong(
        "keeps the last codes for the same labels, which the caller has overwritten",
        edits=[
            (
                "        " + WIDE,
                "        last = self.__dict__.get('last')\n        if last and last[0] is labels and last[1] == labels._version:\n            return last[2]\n        "
                + WIDE,
            ),
            (
                FILL,
                "self.last = labels, labels._version, codes.masked_fill(ignored, IGNORED)\n        return self.last[2]",
            ),
        ],
        check="test_memory",
        says="again",
    ),
    Wrong(
        "the largest number there is stands behind the classes, as if it were one",
        edits=[
            (GUARD, ""),
            (
                KNOWN,
                KNOWN.replace(
                    ".long()", ".long()\n        known = torch.cat([known, known.new_tensor([2**63 - 1])])"
                ),
            ),
            (
                "        if not right.all():\n            raise ValueError(",
                "        right |= known[codes] == wide\n        if not right.all():\n            raise ValueError(",
            ),
        ],
        check="test_unknown_labels",
    ),
    Wrong(
        "a single label is not copied",
        edits=[(FOUND, "found = labels.unique() if labels.numel() > 1 else labels.reshape(-1)")],
        check="test_memory",
        says="overwritten",
    ),
    Wrong(
        "in the order in which they come",
        edits=[(FOUND, "found = labels.new_tensor(list(dict.fromkeys(labels.flatten().tolist())))")],
        check="test_label_sets",
    ),
    Wrong(
        "the most frequent first",
        edits=[
            (
                FOUND,
                "found, times = labels.unique(return_counts=True)\n        found = found[times.argsort(descending=True, stable=True)]",
            )
        ],
        check="test_shapes",
    ),
    Wrong(
        "repeats are classes too",
        edits=[(FOUND, "found = labels.flatten().sort().values")],
        check="test_label_sets",
    ),
    Wrong("neighbours only", edits=[(FOUND, "found = labels.unique_consecutive()")], check="test_label_sets"),
    Wrong(
        "all numbers in between",
        edits=[
            (
                FOUND,
                "found = torch.arange(int(labels.min()), int(labels.max()) + 1, dtype=labels.dtype) if labels.numel() else labels.flatten()",
            )
        ],
        check="test_layouts",
    ),
    Wrong("the classes in int64", edits=[(FOUND, "found = labels.long().unique()")], check="test_label_sets"),
    Wrong(
        "the ignored label is a class",
        edits=[(OWN, "self.labels = found")],
        check="test_ignore",
    ),
    Wrong("ignores 255 always", edits=[("self.ignore = ignore", "self.ignore = 255")], check="test_ignore"),
    Wrong(
        "forgets an ignored 0",
        edits=[
            (OWN, "self.labels = found[found != ignore] if ignore else found"),
            ("self.ignore = ignore", "self.ignore = ignore or None"),
        ],
        check="test_ignore",
    ),
    Wrong(
        "-100 is ignored always",
        edits=[
            (NONE, "if False else codes == IGNORED"),
        ],
        check="test_not_ignored",
    ),
    Wrong(
        "ignored labels become -1",
        edits=[(FILL, "return codes.masked_fill(ignored, -1)")],
        check="test_ignore",
    ),
    Wrong(
        "ignored labels stay what they are",
        edits=[(FILL, "return codes.where(~ignored, wide)")],
        check="test_ignore",
    ),
    Wrong(
        "-100 comes back as 0", edits=[(LAST, "last = self.labels.new_full((1,), 0)")], check="test_ignore"
    ),
    Wrong(
        "-100 comes back as -100",
        edits=[
            (
                BACK,
                "return table.long()[codes.masked_fill(ignored, len(self))].masked_fill(ignored, IGNORED).to(table.dtype)",
            )
        ],
        check="test_ignore",
    ),
    Wrong("no error for unknown labels", edits=[(RAISE, "")], check="test_unknown_labels"),
    Wrong(
        "unknown labels are ignored",
        edits=[(RAISE, "        ignored = ignored | ~right\n")],
        check="test_unknown_labels",
    ),
    Wrong(
        "the nearest class",
        edits=[(RAISE, "        codes = codes.clamp(max=max(len(known) - 1, 0))\n")],
        check="test_unknown_labels",
    ),
    Wrong(
        "does not say which label",
        edits=[
            (
                'raise ValueError(f"label {int(wide[~right][0])} is none of the {len(known)} classes")',
                'raise ValueError("unknown label")',
            )
        ],
        check="test_unknown_labels",
        says="names",
    ),
    Wrong(
        "KeyError for unknown labels",
        edits=[('raise ValueError(f"label', 'raise KeyError(f"label')],
        check="test_unknown_labels",
    ),
    Wrong(
        "looks for labels above the last only",
        edits=[(MATCH, "right |= codes < len(known)")],
        check="test_unknown_labels",
    ),
    Wrong(
        "looks between the first and the last",
        edits=[(MATCH, "right |= (wide >= known[0]) & (wide <= known[-1])")],
        check="test_unknown_labels",
    ),
    Wrong(
        "one after the last is out of range",
        edits=[(MATCH, "right |= known[codes] == wide")],
        check="test_unknown_labels",
        says="ValueError",
    ),
    Wrong(
        "casts labels to the map's dtype",
        edits=[(WIDE, "wide = labels.to(self.labels.dtype).long().contiguous()")],
        check="test_other_dtypes",
    ),
    Wrong(
        "the labels' own dtype decides",
        edits=[
            (WIDE, "wide = labels.contiguous()"),
            (KNOWN, "known = self.labels.to(wide.device, wide.dtype)"),
        ],
        check="test_other_dtypes",
    ),
    Wrong(
        "compares with ignore in the labels' dtype, where -1 and 255 are the same",
        edits=[
            (
                IGNORED_LABELS,
                IGNORED_LABELS.replace(
                    "wide == self.ignore", "labels == torch.tensor(self.ignore).to(labels)"
                ),
            )
        ],
        check="test_other_dtypes",
    ),
    Wrong(
        "compares codes with the number of classes in their own dtype",
        edits=[
            (LONG, ""),
            (RIGHT_CODES, "right = ignored | ((codes >= 0) & (codes < torch.tensor(len(self)).to(codes)))"),
            (BACK, "return table[codes.long().masked_fill(ignored, len(self))]"),
        ],
        check="test_many_classes",
    ),
    Wrong(
        "only the map's own dtype",
        edits=[
            (
                WIDE,
                "if labels.dtype != self.labels.dtype:\n            raise TypeError('another dtype')\n        "
                + WIDE,
            )
        ],
        check="test_other_dtypes",
    ),
    Wrong(
        "int32 is enough",
        edits=[
            (WIDE, "wide = labels.int().contiguous()"),
            (KNOWN, "known = self.labels.to(wide.device).int()"),
            (FILL, "return codes.masked_fill(ignored, IGNORED).long()"),
        ],
        check="test_label_sets",
    ),
    Wrong(
        "compares as float64",
        edits=[
            (MATCH, "right |= known.double()[codes.clamp(max=len(known) - 1)] == wide.double()"),
            (SEARCH, "codes = torch.searchsorted(known.double(), wide.double())"),
        ],
        check="test_label_sets",
        says="compared as floats",
    ),
    Wrong(
        "a table as large as the labels",
        edits=[
            (
                SEARCH,
                "place = torch.zeros(int(known.max() - known.min()) + 1, dtype=torch.int64) if len(known) else known\n        place[known - known.min() if len(known) else known] = torch.arange(len(known))\n        codes = place[(wide - known.min()).clamp(0, len(place) - 1)] if len(known) else wide",
            )
        ],
        check="test_label_sets",
    ),
    Wrong(
        "codes in int32",
        edits=[(FILL, "return codes.masked_fill(ignored, IGNORED).int()")],
        check="test_label_sets",
    ),
    Wrong(
        "codes in the labels' dtype",
        edits=[(FILL, "return codes.masked_fill(ignored, IGNORED).to(labels.dtype)")],
        check="test_label_sets",
    ),
    Wrong("decode gives int64", edits=[(BACK, BACK + ".long()")], check="test_label_sets"),
    Wrong(
        "decode gives the dtype of its codes",
        edits=[(LONG, "        given = codes.dtype\n" + LONG), (BACK, BACK + ".to(given)")],
        check="test_label_sets",
    ),
    Wrong(
        "negative codes count from the end",
        edits=[(RIGHT_CODES, "right = ignored | ((codes >= -len(self)) & (codes < len(self)))")],
        check="test_unknown_codes",
    ),
    Wrong(
        "no look at codes",
        edits=[(RAISE_CODE, ""), (BACK, "return table[codes.masked_fill(ignored, len(self))]")],
        check="test_unknown_codes",
    ),
    Wrong(
        "whatever indexing says",
        edits=[
            (RAISE_CODE, ""),
            (TABLE, "table = self.labels.to(codes.device)"),
            (
                BACK,
                "return table[codes.masked_fill(ignored, 0)].masked_fill(ignored, self.ignore or 0) if len(table) else table.new_full(codes.shape, self.ignore or 0)",
            ),
        ],
        check="test_unknown_codes",
    ),
    Wrong(
        "one code too many",
        edits=[(RIGHT_CODES, "right = ignored | ((codes >= 0) & (codes <= len(self)))")],
        check="test_unknown_codes",
    ),
    Wrong(
        "ValueError for unknown codes",
        edits=[('raise IndexError(f"code', 'raise ValueError(f"code')],
        check="test_unknown_codes",
    ),
    Wrong(
        "codes in the map's narrow dtype",
        edits=[(LONG, "        codes = codes.to(self.labels.dtype).long()\n")],
        check="test_many_classes",
    ),
    Wrong(
        "no map without classes",
        edits=[(GUARD, "        " + MATCH + "\n")],
        check="test_no_classes",
    ),
    Wrong(
        "refuses to have no classes",
        edits=[
            (OWN, OWN + "\n        if len(self.labels) == 0:\n            raise ValueError('no classes')")
        ],
        check="test_no_classes",
    ),
    Wrong(
        "takes whole floats",
        edits=[(CHECK, "    if x.is_floating_point() and not torch.equal(x, x.trunc()):")],
        check="test_floats",
    ),
    Wrong("takes floats", edits=[(CHECK, "    if x.is_complex():")], check="test_floats"),
    Wrong(
        "ValueError for floats",
        edits=[('raise TypeError(f"want', 'raise ValueError(f"want')],
        check="test_floats",
    ),
    Wrong(
        "needs contiguous codes",
        edits=[
            (BACK, "return table[codes.view(-1).masked_fill(ignored.view(-1), len(self))].view(codes.shape)")
        ],
        check="test_layouts",
    ),
    Wrong(
        "flattens",
        edits=[(FILL, "return codes.masked_fill(ignored, IGNORED).flatten()")],
        check="test_shapes",
    ),
    Wrong(
        "at least one dimension",
        edits=[(FILL, "return torch.atleast_1d(codes.masked_fill(ignored, IGNORED))")],
        check="test_shapes",
    ),
    Wrong(
        "columns apart",
        edits=[(FOUND, "found = labels.unique(dim=-1).flatten()")],
        check="test_shapes",
    ),
    Wrong(
        "keeps what it was given, where that is sorted",
        edits=[
            (
                FOUND,
                "found = labels if labels.dim() == 1 and labels.equal(labels.unique()) else labels.unique()",
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "writes into its argument",
        edits=[
            (WIDE, "wide = labels.long()"),
            (FILL, "return wide.copy_(codes.masked_fill(ignored, IGNORED))"),
        ],
        check="test_layouts",
    ),
    Wrong(
        "writes over ignored codes",
        edits=[(BACK, "return table[codes.masked_fill_(ignored, len(self))]")],
        check="test_memory",
    ),
    Wrong(
        "gives its argument back where nothing changes",
        edits=[
            (
                FILL,
                "codes = codes.masked_fill(ignored, IGNORED)\n        return labels if labels.dtype == torch.int64 and labels.equal(codes) else codes",
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "all maps share their classes",
        edits=[(OWN, "type(self).labels = found if ignore is None else found[found != ignore]")],
        check="test_memory",
    ),
    Wrong(
        "a dictionary and a loop",
        edits=[
            (
                SEARCH,
                "places = {label: i for i, label in enumerate(known.tolist())}\n        codes = torch.tensor([places.get(x, len(known)) for x in wide.flatten().tolist()], dtype=torch.int64).view(wide.shape)",
            )
        ],
        check="test_cost",
    ),
    Wrong(
        "a loop over classes",
        edits=[
            (
                SEARCH,
                "codes = torch.full_like(wide, len(known))\n        for i in range(len(known)):\n            codes[wide == known[i]] = i",
            )
        ],
        check="test_cost",
        says="classes",
    ),
    Wrong(
        "a loop to go back",
        edits=[
            (
                BACK,
                "flat = codes.masked_fill(ignored, len(self)).flatten().tolist()\n        return torch.stack([table[i] for i in flat]).view(codes.shape) if flat else table[codes]",
            )
        ],
        check="test_cost",
    ),
    Wrong(
        "the map stays where it was built",
        edits=[(KNOWN, "known = self.labels.long()")],
        check="test_on_a_device",
    ),
    Wrong(
        "everything on the CPU",
        edits=[(WIDE, "wide = labels.long().contiguous().cpu()")],
        check="test_on_a_device",
    ),
    Wrong(
        "goes back on the CPU",
        edits=[(LONG, "        codes = codes.long().cpu()\n")],
        check="test_on_a_device",
    ),
    Right(
        "compares each with each",
        code="""
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        if labels.dtype.is_floating_point:
            raise TypeError("labels are integers")
        classes = torch.unique(labels.reshape(-1))
        if ignore is not None:
            classes = classes[~torch.isin(classes.long(), torch.tensor(ignore, device=classes.device))]
        self.labels, self._void = classes, ignore

    def __len__(self):
        return self.labels.numel()

    def encode(self, labels):
        if torch.is_floating_point(labels):
            raise TypeError("labels are integers")
        x = labels.to(torch.int64)
        same = x[..., None] == self.labels.to(x.device, torch.int64)
        known = same.any(-1)
        codes = (same.long() * torch.arange(len(self), device=x.device)).sum(-1)
        if self._void is not None:
            void = x == self._void
            codes[void] = -100
            known = known | void
        unknown = x[~known].tolist()
        if unknown:
            raise ValueError(f"unknown labels: {sorted(set(unknown))}")
        return codes

    def decode(self, codes):
        if torch.is_floating_point(codes):
            raise TypeError("codes are integers")
        void = torch.zeros(codes.shape, dtype=torch.bool, device=codes.device)
        if self._void is not None:
            void = codes == -100
        good = codes[~void].long()
        if good.numel() and not (0 <= int(good.min()) and int(good.max()) < len(self)):
            raise IndexError("no such class")
        result = torch.full(codes.shape, self._void or 0, dtype=self.labels.dtype, device=codes.device)
        result[~void] = self.labels.to(codes.device)[good]
        return result
""",
    ),
    Right(
        "NumPy inside",
        code="""
import numpy as np
import torch


class ClassMap:
    def __init__(self, labels, ignore=None):
        if not np.issubdtype(labels.cpu().numpy().dtype, np.integer):
            raise TypeError
        found = np.unique(labels.cpu().numpy())
        if ignore is not None:
            found = found[found != ignore]
        self.labels = torch.from_numpy(found)
        self.ignore = ignore

    def __len__(self):
        return int(self.labels.size(0))

    def encode(self, labels):
        if labels.is_floating_point():
            raise TypeError
        x = labels.cpu().numpy().astype(np.int64)
        own = self.labels.numpy().astype(np.int64)
        void = np.zeros(x.shape, bool) if self.ignore is None else np.asarray(x == self.ignore)
        strange = ~(np.isin(x, own) | void)
        if strange.any():
            raise ValueError(f"{x[strange][0]} is no class")
        codes = np.where(void, -100, np.searchsorted(own, x))
        return torch.from_numpy(np.asarray(codes, dtype=np.int64)).to(labels.device)

    def decode(self, codes):
        if codes.is_floating_point():
            raise TypeError
        x = codes.cpu().numpy().astype(np.int64)
        void = np.zeros(x.shape, bool) if self.ignore is None else np.asarray(x == -100)
        if ((x < 0) & ~void).any() or (x >= len(self)).any():
            raise IndexError
        own = np.append(self.labels.numpy(), self.labels.numpy().dtype.type(self.ignore or 0))
        return torch.from_numpy(np.asarray(own[np.where(void, -1, x)])).to(codes.device)
""",
    ),
    Wrong(
        "finds int32 labels in float32",
        edits=[
            (
                "labels.unique()",
                "labels.float().unique().to(labels.dtype) if labels.dtype != torch.int64 else labels.unique()",
            )
        ],
        check="test_label_sets",
        says="16777217",
    ),
    Wrong(
        "a single class is expanded",
        edits=[
            (
                BACK,
                "if len(self) == 1 and self.ignore is None:\n            return self.labels.to(codes.device).expand(codes.shape)\n        return table[codes.masked_fill(ignored, len(self))]",
            )
        ],
        check="test_memory",
        says="what decode gave",
    ),
    Wrong(
        "a label next to a class of 64 bits counts as one, for they are close",
        edits=[
            (
                MATCH,
                "right |= torch.isclose(known[codes.clamp(max=len(known) - 1)].double(), wide.double(), rtol=0)",
            )
        ],
        check="test_unknown_labels",
        says="next to a class",
    ),
    Wrong(
        "a table of places, for labels up to a million",
        edits=[
            (
                "        " + SEARCH,
                "        places = torch.zeros(0)\n        if len(known) and 0 <= known[0] and known[-1] < 10**6:\n            places = torch.zeros(int(known[-1]) + 1, dtype=torch.int64)\n            places[known] = torch.arange(len(known))\n        "
                + SEARCH,
            )
        ],
        check="test_cost",
        says="more memory than one of small labels",
    ),
    Wrong(
        "takes int32 where the largest label fits, and forgets the smallest",
        edits=[
            (
                FOUND,
                """fits = labels.numel() > 0 and labels.max() < 2**31
        found = labels.to(torch.int32).unique().to(labels.dtype) if fits else labels.unique()""",
            )
        ],
        check="test_label_sets",
        says="-1099511627776",
    ),
]
