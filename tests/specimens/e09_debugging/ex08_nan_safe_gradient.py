"""Answers to nan_safe_gradient that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SQUARED = (
    "    squared = (points[:, None, :] - centres[None, :, :]).square().sum(dim=-1)  # (points, centres)\n"
)
DISTANCES = """    same = squared == 0
    roots = squared.masked_fill(same, 1.0).sqrt()  # the root never sees a 0: inf times 0 would be NaN
    return roots.masked_fill(same, 0.0)
"""
ENTROPY = """    none = probabilities == 0
    logs = probabilities.masked_fill(none, 1.0).log()  # log(1) is 0, and finite in the backward pass
    terms = -(probabilities * logs).masked_fill(none, 0.0)
    return terms.sum(dim=-1)
"""
TORCH = ("from jaxtyping import Float\n", "import torch\nfrom jaxtyping import Float\n")


def distances(body):
    return [TORCH, (DISTANCES, body)]


def entropy(body):
    return [TORCH, (ENTROPY, body)]


SPECIMENS = [
    Wrong(
        "mends the root alone",
        edits=entropy(
            "    terms = torch.where(probabilities == 0, probabilities, -probabilities * probabilities.log())\n"
            "    return terms.sum(dim=-1)\n"
        ),
        check="test_entropy_of_the_example",
        says="The logarithm must not see a 0",
        rung="job",
    ),
    Wrong(
        "mends the logarithm alone",
        edits=distances("    return torch.where(squared == 0, squared, squared.sqrt())\n"),
        check="test_distances_of_the_example",
        says="The root must not see a 0",
        rung="job",
    ),
    Wrong(
        "writes 0 into the roots",
        edits=distances("    roots = squared.sqrt()\n    roots[squared == 0] = 0.0\n    return roots\n"),
        check="test_distances_of_the_example",
        rung="job",
    ),
    Wrong(
        "nan_to_num of the result",
        edits=entropy("    return torch.nan_to_num(-probabilities * probabilities.log()).sum(dim=-1)\n"),
        check="test_entropy_of_the_example",
        says="The logarithm must not see a 0",
        rung="job",
    ),
    Wrong(
        "a safe root, and no 0 in its place",
        edits=distances("    return squared.masked_fill(squared == 0, 1.0).sqrt()\n"),
        check="test_distances_of_the_example",
        says="to its own place",
        rung="job",
    ),
    Wrong(
        "takes the root away",
        edits=distances("    return squared\n"),
        check="test_distances_values",
        says="these are the squares",
        rung="job",
    ),
    Wrong(
        "a hook that takes NaN out of the gradient: the other shares are lost",
        edits=distances(
            "    roots = torch.where(squared == 0, squared, squared.sqrt())\n"
            "    for x in (points, centres):\n        if x.requires_grad:\n"
            "            x.register_hook(lambda g: g.nan_to_num(0.0))\n    return roots\n"
        ),
        check="test_distances_gradients",
        rung="job",
    ),
    Wrong(
        "stops the gradient where any distance is 0",
        edits=distances("    return squared.detach().sqrt() if (squared == 0).any() else squared.sqrt()\n"),
        check="test_clustering",
        rung="job",
    ),
    Wrong(
        "log-probabilities are constants",
        edits=entropy(ENTROPY.replace(".log()", ".log().detach()")),
        check="test_entropy_gradients",
        rung="job",
    ),
    Wrong(
        "the entropy of the whole batch",
        edits=entropy(ENTROPY.replace("terms.sum(dim=-1)", "terms.sum()")),
        check="test_entropy_values",
        says="each row has its own",
        rung="job",
    ),
    Wrong(
        "an epsilon in the root, and 0 where it is 0",
        edits=distances("    return (squared + 1e-12).sqrt().masked_fill(squared == 0, 0.0)\n"),
        check="test_distances_exact_gradients",
    ),
    Wrong(
        "distances below a threshold are 0",
        edits=distances(DISTANCES.replace("squared == 0", "squared < 1e-12")),
        check="test_distances_exact",
    ),
    Wrong(
        "the smallest number of the dtype in the logarithm: the gradient at 0 is large",
        edits=entropy(
            "    tiny = torch.finfo(probabilities.dtype).tiny\n"
            "    return -(probabilities * probabilities.clamp(min=tiny).log()).sum(dim=-1)\n"
        ),
        check="test_entropy_gradient_at_0",
    ),
    Wrong(
        "probabilities below a threshold count nothing",
        edits=entropy(ENTROPY.replace("probabilities == 0", "probabilities < 1e-12")),
        check="test_entropy_exact",
    ),
    Wrong(
        "everything that is not above 0, NaN too",
        edits=distances(DISTANCES.replace("squared == 0", "~(squared > 0)")),
        check="test_nan_is_not_hidden",
        says="distances of point 1",
    ),
    Wrong(
        "roots in float32",
        edits=distances(
            DISTANCES.replace("squared.masked_fill", "squared.float().masked_fill").replace(
                "roots.masked_fill(same, 0.0)", "roots.masked_fill(same, 0.0).to(points.dtype)"
            )
        ),
        check="test_distances_dtype_is_kept",
    ),
    Wrong(
        "logarithms in float32",
        edits=entropy(ENTROPY.replace(".log()", ".float().log().to(probabilities.dtype)")),
        check="test_entropy_dtype_is_kept",
    ),
    Wrong(
        "writes ones into the probabilities",
        edits=entropy(
            ENTROPY.replace("probabilities.masked_fill(none", "probabilities.data.masked_fill_(none")
        ),
        check="test_entropy_arguments_are_left_alone",
        says="changes",
    ),
    Works(
        "an epsilon under the root and in the logarithm",
        edits=[
            *distances("    return torch.sqrt(squared + 1e-12)\n"),
            (ENTROPY, "    return -(probabilities * torch.log(probabilities + 1e-12)).sum(dim=-1)\n"),
        ],
    ),
    Works(
        "clamped before root and logarithm",
        edits=[
            *distances("    return squared.clamp(min=1e-12).sqrt()\n"),
            (ENTROPY, "    return -(probabilities * probabilities.clamp(min=1e-12).log()).sum(-1)\n"),
        ],
    ),
    Works(
        "cdist, as PyTorch has it",
        edits=[
            (SQUARED, ""),
            *distances("    return torch.cdist(points, centres)\n"),
            (ENTROPY, "    return -(probabilities * (probabilities + 1e-9).log()).sum(-1)\n"),
        ],
    ),
    Right(
        "the double where, as JAX's manual has it",
        edits=[
            *distances(
                "    safe = torch.where(squared == 0, 1.0, squared)\n"
                "    return torch.where(squared == 0, 0.0, safe.sqrt())\n"
            ),
            (
                ENTROPY,
                "    safe = torch.where(probabilities == 0, 1.0, probabilities)\n"
                "    return -torch.where(probabilities == 0, 0.0, safe * safe.log()).sum(-1)\n",
            ),
        ],
    ),
    Right(
        "vector_norm, and products that are 0 by themselves",
        edits=[
            (SQUARED, ""),
            *distances(
                "    return torch.linalg.vector_norm(points.unsqueeze(1) - centres.unsqueeze(0), dim=-1)\n"
            ),
            (
                ENTROPY,
                "    safe = torch.where(probabilities.ne(0), probabilities, torch.ones_like(probabilities))\n"
                "    return -(safe * safe.log()).sum(-1)\n",
            ),
        ],
    ),
    Right(
        "a function with a backward of its own",
        edits=[
            *distances("    return _Root.apply(squared)\n"),
            (
                "def distances(",
                """class _Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        root = x.sqrt()
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, grad):
        (root,) = ctx.saved_tensors
        return torch.where(root == 0, 0.0, grad / (2 * root))


def distances(""",
            ),
        ],
    ),
]
