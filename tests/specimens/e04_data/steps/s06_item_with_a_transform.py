"""Answers to item_with_a_transform."""

from grader.authoring.specimen import Right, Wrong

ITEM = "        x, y = self.dataset[i]\n        return self.transform(x), y"
KEEP = "        self.dataset = dataset\n"
EARLY = "        self.dataset = [(transform(x), y) for x, y in dataset]\n"

SPECIMENS = [
    Wrong(
        "not called",
        edits=[("self.transform(x), y", "x, y")],
        rung="job",
        check="test_items",
        says="was not called",
    ),
    Wrong(
        "the label too",
        edits=[("self.transform(x), y", "self.transform(x), self.transform(y)")],
        rung="job",
        check="test_items",
        says="label was transformed",
    ),
    Wrong(
        "all at once",
        edits=[(KEEP, EARLY), ("self.transform(x), y", "x, y")],
        rung="job",
        check="test_each_time",
        says="before an item was asked for",
    ),
    Wrong(
        "once for each item",
        edits=[
            (
                ITEM,
                "        if i not in self.seen:\n            x, y = self.dataset[i]\n            self.seen[i] = self.transform(x), y\n        return self.seen[i]",
            ),
            (KEEP, KEEP + "        self.seen = {}\n"),
        ],
        rung="job",
        check="test_each_time",
        says="the same twice",
    ),
    Wrong("no label", edits=[("self.transform(x), y", "self.transform(x)")], rung="job", check="test_items"),
    Right(
        "by places",
        edits=[(ITEM, "        item = self.dataset[i]\n        return (self.transform(item[0]), item[1])")],
    ),
    Right(
        "other names, and super",
        edits=[
            (KEEP, "        super().__init__()\n        self.data = dataset\n"),
            ("len(self.dataset)", "len(self.data)"),
            ("x, y = self.dataset[i]", "x, y = self.data[i]"),
        ],
    ),
]
