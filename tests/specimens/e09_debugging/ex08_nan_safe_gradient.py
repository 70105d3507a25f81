"""Answers to nan_safe_gradient that people write."""

from grader.authoring.specimen import Right, Wrong

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
GRADIENT = (
    "        (gradient,) = torch.autograd.grad(clustering_loss(points, centres, temperature), centres)\n"
)
COPY = "    centres = centres.detach().clone().requires_grad_()\n"
MOVE = "            centres -= lr * gradient\n"
OLD_DISTANCES = "    return torch.where(squared == 0, squared, squared.sqrt())\n"
OLD_TERMS = (
    "    terms = torch.where(probabilities == 0, probabilities, -probabilities * probabilities.log())\n"
)
OLD_ENTROPY = OLD_TERMS + "    return terms.sum(dim=-1)\n"


def distances(body):
    return [(DISTANCES, body)]


def entropy(body):
    return [(ENTROPY, body)]


SPECIMENS = [
    Wrong(
        "no logarithm below -100, as in BCELoss",
        edits=entropy(
            "    logs = probabilities.log().clamp(min=-100)\n"
            "    return torch.where(probabilities == 0, 0.0, -probabilities * logs).sum(dim=-1)\n"
        ),
        check="test_entropy_gradients",
    ),
    Wrong(
        "a NaN spoils the gradients of its whole row",
        edits=entropy(
            ENTROPY.replace(
                "terms.sum(dim=-1)",
                "terms.sum(dim=-1) + 0 * (terms.sum(-1, keepdim=True).detach() * probabilities).sum(-1)",
            )
        ),
        check="test_nan_is_not_hidden",
        says="row 2's probabilities",
    ),
    Wrong(
        "takes places that share one coordinate for the same",
        edits=[("same = squared == 0", "same = (points[:, None, :] == centres[None, :, :]).any(dim=-1)")],
        check="test_distances",
    ),
    Wrong(
        "takes the NaN out of the steps of fit",
        edits=[(MOVE, MOVE.replace("gradient", "gradient.nan_to_num()"))],
        check="test_nan_is_not_hidden",
        says="fit",
    ),
    Wrong("mends the root alone", edits=entropy(OLD_ENTROPY), check="test_entropy_gradients", says="nan"),
    Wrong(
        "mends the logarithm alone",
        edits=distances(OLD_DISTANCES),
        check="test_distance_gradients",
        says="nan",
    ),
    Wrong(
        "takes NaN out of the gradient in fit",
        edits=[
            *distances(OLD_DISTANCES),
            *entropy(OLD_ENTROPY),
            (MOVE, "            centres -= lr * gradient.nan_to_num(0.0)\n"),
        ],
        check="test_distance_gradients",
        says="nan",
    ),
    Wrong(
        "skips steps with NaN",
        edits=[
            *distances(OLD_DISTANCES),
            *entropy(OLD_ENTROPY),
            (MOVE, "            if gradient.isfinite().all():\n                centres -= lr * gradient\n"),
        ],
        check="test_distance_gradients",
    ),
    Wrong(
        "a hook that takes NaN out on the way: what it was multiplied with is lost",
        edits=[
            (
                DISTANCES,
                """    roots = torch.where(squared == 0, squared, squared.sqrt())
    if points.requires_grad:
        points.register_hook(lambda g: g.nan_to_num(0.0))
    if centres.requires_grad:
        centres.register_hook(lambda g: g.nan_to_num(0.0))
    return roots
""",
            )
        ],
        check="test_distance_gradients",
    ),
    Wrong(
        "a hook on the squares that takes NaN out: hides real NaN",
        edits=distances(
            """    if squared.requires_grad:
        squared.register_hook(lambda g: g.nan_to_num(0.0, 0.0, 0.0))
"""
            + OLD_DISTANCES
        ),
        check="test_nan_is_not_hidden",
    ),
    Wrong(
        "moves the starts off the points",
        edits=[
            *distances(OLD_DISTANCES),
            (COPY, "    centres = (centres.detach() + 1e-3).requires_grad_()\n"),
        ],
        check="test_fit",
    ),
    Wrong(
        "an epsilon in the root",
        edits=distances("    return (squared + 1e-12).sqrt()\n"),
        check="test_short_distances",
    ),
    Wrong(
        "an epsilon of float32",
        edits=distances("    return (squared + torch.finfo(squared.dtype).eps).sqrt()\n"),
        check="test_distances",
    ),
    Wrong(
        "an epsilon under the root and 0 where it is 0",
        edits=distances("    return (squared + 1e-12).sqrt().masked_fill(squared == 0, 0.0)\n"),
        check="test_short_distances",
    ),
    Wrong(
        "the smallest number in the root",
        edits=distances("    return squared.clamp(min=1e-24).sqrt()\n"),
        check="test_distances",
        says="",
    ),
    Wrong(
        "distances below a threshold are 0",
        edits=distances(DISTANCES.replace("squared == 0", "squared < 1e-12")),
        check="test_short_distances",
    ),
    Wrong(
        "everything that is not above 0, NaN too",
        edits=distances(DISTANCES.replace("squared == 0", "~(squared > 0)")),
        check="test_nan_is_not_hidden",
    ),
    Wrong(
        "nothing safe: where on the inside only",
        edits=distances("    return squared.masked_fill(squared == 0, 1.0).sqrt()\n"),
        check="test_distances",
    ),
    Wrong(
        "products in place of differences",
        edits=[
            (
                SQUARED,
                "    squared = (points.square().sum(1)[:, None] + centres.square().sum(1)[None] - 2 * points @ centres.T).clamp(min=0)\n",
            )
        ],
        check="test_distances",
    ),
    Wrong(
        "cdist as it is: products from 26 points on",
        edits=[(SQUARED, ""), *distances("    return torch.cdist(points, centres)\n")],
        check="test_distances",
    ),
    Wrong(
        "pairwise_distance, with its epsilon",
        edits=[
            (SQUARED, ""),
            *distances("    return torch.nn.functional.pairwise_distance(points[:, None], centres[None])\n"),
        ],
        check="test_distances",
    ),
    Wrong(
        "stops the gradient of short distances",
        edits=distances(
            "    return torch.where(squared < 1e-6, squared.detach().sqrt(), squared.clamp(min=1e-6).sqrt())\n"
        ),
        check="test_short_distances",
    ),
    Wrong(
        "no gradient for a centre that lies at a point",
        edits=distances(
            """    if centres.requires_grad:
        at_a_point = (squared == 0).any(0)
        centres.register_hook(lambda g: g.masked_fill(at_a_point[:, None], 0.0))
"""
            + DISTANCES
        ),
        check="test_distance_gradients",
    ),
    Wrong(
        "writes 0 into the squares of the caller's graph",
        edits=distances("    roots = squared.sqrt()\n    roots[squared == 0] = 0.0\n    return roots\n"),
        check="test_distance_gradients",
        says="nan",
    ),
    Wrong(
        "a loop over the centres",
        edits=[
            (
                SQUARED,
                "    squared = torch.stack([(points - c).square().sum(1) for c in centres], 1) if len(centres) else points.new_zeros(len(points), 0)\n",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "a loop over the points",
        edits=[
            (
                SQUARED,
                "    squared = torch.stack([(x - centres).square().sum(1) for x in points]) if len(points) else points.new_zeros(0, len(centres))\n",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "float64 for everything",
        edits=distances(DISTANCES.replace("return roots", "return roots.double()")),
        check="test_distances",
        says="dtype",
    ),
    Wrong(
        "float32 for everything",
        edits=distances(DISTANCES.replace("return roots", "return roots.float()")),
        check="test_distances",
        says="dtype",
    ),
    Wrong(
        "an epsilon in the logarithm",
        edits=entropy("    return -(probabilities * (probabilities + 1e-12).log()).sum(dim=-1)\n"),
        check="test_entropy",
    ),
    Wrong(
        "the smallest probability in the logarithm",
        edits=entropy("    return -(probabilities * probabilities.clamp(min=1e-12).log()).sum(dim=-1)\n"),
        check="test_entropy",
    ),
    Wrong(
        "the smallest number of the dtype in the logarithm: the gradient at 0 is large",
        edits=entropy(
            "    tiny = torch.finfo(probabilities.dtype).tiny\n    return -(probabilities * probabilities.clamp(min=tiny).log()).sum(dim=-1)\n"
        ),
        check="test_entropy_gradients",
    ),
    Wrong(
        "the smallest normal number in the logarithm: smaller ones lose a part of their gradient",
        edits=entropy(
            "    logs = probabilities.clamp(min=torch.finfo(probabilities.dtype).tiny).log()\n"
            "    return torch.where(probabilities == 0, 0.0, -probabilities * logs).sum(dim=-1)\n"
        ),
        check="test_entropy_gradients",
    ),
    Wrong(
        "a logarithm of 1 for what is not above 0: NaN has a gradient of 0",
        edits=entropy(
            "    safe = torch.where(probabilities > 0, probabilities, 1.0)\n"
            "    return -(probabilities * safe.log()).sum(dim=-1)\n"
        ),
        check="test_nan_is_not_hidden",
    ),
    Wrong(
        "probabilities below a threshold count nothing",
        edits=entropy(ENTROPY.replace("probabilities == 0", "probabilities < 1e-12")),
        check="test_entropy",
    ),
    Wrong(
        "everything that is not above 0 counts nothing, NaN too",
        edits=entropy(ENTROPY.replace("probabilities == 0", "~(probabilities > 0)")),
        check="test_nan_is_not_hidden",
    ),
    Wrong(
        "nansum",
        edits=entropy("    return -(probabilities * probabilities.log()).nansum(dim=-1)\n"),
        check="test_entropy_gradients",
    ),
    Wrong(
        "xlogy",
        edits=entropy("    return -torch.xlogy(probabilities, probabilities).sum(dim=-1)\n"),
        check="test_entropy_gradients",
    ),
    Wrong(
        "torch.special.entr",
        edits=entropy("    return torch.special.entr(probabilities).sum(dim=-1)\n"),
        check="test_entropy_gradients",
    ),
    Wrong(
        "log-probabilities are constants",
        edits=entropy(ENTROPY.replace(".log()", ".log().detach()")),
        check="test_entropy_gradients",
    ),
    Wrong(
        "the entropy of the whole batch",
        edits=entropy(ENTROPY.replace("terms.sum(dim=-1)", "terms.sum()")),
        check="test_entropy",
    ),
    Wrong("two dimensions only", edits=entropy(ENTROPY.replace("dim=-1", "dim=1")), check="test_entropy"),
    Wrong(
        "a loop over the rows",
        edits=entropy("""    def one(row):
        row = row[row != 0]
        return -(row * row.log()).sum()

    flat = probabilities.reshape(-1, probabilities.shape[-1]) if probabilities.numel() else []
    shape = probabilities.shape[:-1]
    return torch.stack([one(row) for row in flat]).view(shape) if len(flat) else probabilities.new_zeros(shape)
"""),
        check="test_no_loops",
    ),
    Wrong(
        "writes ones into the probabilities",
        edits=entropy(
            ENTROPY.replace("probabilities.masked_fill(none", "probabilities.data.masked_fill_(none")
        ),
        check="test_entropy",
        says="changes",
    ),
    Wrong("leaves the entropy out", edits=[(" + weight * entropy(belongs).mean()", "")], check="test_loss"),
    Wrong(
        "a temperature of at least 0.1",
        edits=[("-far / temperature", "-far / max(temperature, 0.1)")],
        check="test_loss",
    ),
    Wrong(
        "the default temperature in fit",
        edits=[(GRADIENT, GRADIENT.replace(", temperature)", ")"))],
        check="test_fit",
    ),
    Wrong(
        "clips the gradient",
        edits=[(MOVE, MOVE.replace("gradient", "gradient.clamp(-0.1, 0.1)"))],
        check="test_fit",
    ),
    Wrong(
        "moves the centres that were given",
        edits=[(COPY, "    centres = centres.detach().requires_grad_()\n")],
        check="test_fit",
        says="changes",
    ),
    Wrong(
        "returns centres with a graph",
        edits=[("    return centres.detach()\n", "    return centres\n")],
        check="test_fit",
        says="graph",
    ),
    Wrong(
        "views",
        edits=entropy(
            "    flat = probabilities.view(probabilities.shape[:-1].numel(), probabilities.shape[-1])\n"
            + ENTROPY.replace("probabilities", "flat").replace(
                "dim=-1)", "dim=-1).view(probabilities.shape[:-1])"
            )
        ),
        check="test_layouts",
    ),
    Wrong(
        "a hook on the probabilities that takes NaN out",
        edits=entropy(
            "    some = probabilities * 1.0\n    if some.requires_grad:\n"
            "        some.register_hook(lambda g: g.nan_to_num(0.0, 0.0, 0.0))\n"
            "    return torch.where(some == 0, some * 0.0, -some * some.log()).sum(dim=-1)\n"
        ),
        check="test_nan_is_not_hidden",
    ),
    Right(
        "vector_norm, and logarithms of the row's own kind",
        edits=[
            (SQUARED, ""),
            *distances(
                "    return torch.linalg.vector_norm(points.unsqueeze(1) - centres.unsqueeze(0), dim=-1)\n"
            ),
            *entropy(
                "    some = probabilities.ne(0)\n    safe = torch.where(some, probabilities, torch.ones_like(probabilities))\n    return -(safe * safe.log()).sum(-1)\n"
            ),
        ],
    ),
    Right(
        "cdist without products",
        edits=[
            (SQUARED, ""),
            *distances(
                '    return torch.cdist(points, centres, compute_mode="donot_use_mm_for_euclid_dist")\n'
            ),
        ],
    ),
    Right(
        "index_put of the entries that are not 0",
        edits=[
            *distances(
                "    some = squared != 0\n    roots = torch.zeros_like(squared)\n    return roots.masked_scatter(some, squared[some].sqrt())\n"
            ),
        ],
    ),
    Right(
        "functions with a backward of their own",
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
    Wrong(
        "fit clips what might explode",
        edits=[(MOVE, "            centres -= lr * gradient.clamp(-10, 10)\n")],
        check="test_fit",
        says="gradients in the hundreds",
    ),
    Wrong(
        "fit takes one step more where none are given",
        edits=[("    steps: int = 100,\n", "    steps: int = 101,\n")],
        check="test_fit",
        says="100",
    ),
]
