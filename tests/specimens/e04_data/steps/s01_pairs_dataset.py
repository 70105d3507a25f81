"""Answers to pairs_dataset."""

from grader.authoring.specimen import Right, Wrong

LENGTH, ITEM = "return len(self.features)", "return self.features[i], self.labels[i]"
KEEP = "        self.features = features\n        self.labels = labels\n"

SPECIMENS = [
    Wrong(
        "columns are counted",
        edits=[(LENGTH, "return self.features.shape[1]")],
        rung="job",
        check="test_length",
        says="number of columns",
    ),
    Wrong(
        "all numbers are counted",
        edits=[(LENGTH, "return self.features.numel()")],
        rung="job",
        check="test_length",
    ),
    Wrong(
        "no label", edits=[(ITEM, "return self.features[i]")], rung="job", check="test_items", says="no pair"
    ),
    Wrong(
        "the label first",
        edits=[(ITEM, "return self.labels[i], self.features[i]")],
        rung="job",
        check="test_items",
        says="label comes second",
    ),
    Wrong(
        "all labels", edits=[(ITEM, "return self.features[i], self.labels")], rung="job", check="test_items"
    ),
    Wrong(
        "columns for rows",
        edits=[(ITEM, "return self.features[:, i], self.labels[i]")],
        rung="job",
        check="test_items",
    ),
    Right(
        "a list of pairs",
        edits=[
            (KEEP, "        self.pairs = list(zip(features, labels))\n"),
            (LENGTH, "return len(self.pairs)"),
            (ITEM, "return self.pairs[i]"),
        ],
    ),
    Right(
        "super, size, and a list",
        edits=[
            (KEEP, "        super().__init__()\n" + KEEP),
            (LENGTH, "return self.features.size(0)"),
            (ITEM, "return [self.features[i, :], self.labels[i].item()]"),
        ],
    ),
]
