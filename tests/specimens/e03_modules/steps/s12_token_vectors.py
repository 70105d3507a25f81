"""Answers to token_vectors."""

from grader.authoring.specimen import Right, Wrong

MEAN = "mean(dim=1)"

SPECIMENS = [
    Wrong(
        "over the texts",
        edits=[(MEAN, "mean(dim=0)")],
        rung="job",
        check="test_worked_example",
        says="over the texts",
    ),
    Wrong(
        "over the numbers of a vector",
        edits=[(MEAN, "mean(dim=-1)")],
        rung="job",
        check="test_worked_example",
        says="numbers of each vector",
    ),
    Wrong(
        "no mean",
        edits=[("." + MEAN, "")],
        rung="job",
        check="test_worked_example",
        says="take their mean",
    ),
    Wrong("a sum", edits=[(MEAN, "sum(dim=1)")], rung="job", check="test_worked_example", says="added up"),
    Wrong(
        "made in forward",
        edits=[
            ("self.embedding = nn.Embedding(tokens, size)", "self.sizes = tokens, size"),
            ("self.embedding(ids)", "nn.Embedding(*self.sizes)(ids)"),
        ],
        rung="job",
        check="test_learned",
    ),
    Wrong(
        "sizes the other way round",
        edits=[("(tokens, size)\n", "(size, tokens)\n")],
        rung="job",
        check="test_learned",
    ),
    Right(
        "an EmbeddingBag",
        edits=[("nn.Embedding(", "nn.EmbeddingBag("), ("." + MEAN, "")],
    ),
    Right(
        "a parameter, text by text",
        edits=[
            ("nn.Embedding(tokens, size)", "nn.Parameter(torch.randn(tokens, size))"),
            (
                "self.embedding(ids).mean(dim=1)",
                "torch.stack([self.embedding[text].mean(0) for text in ids])",
            ),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
