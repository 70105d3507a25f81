"""Answers to softmax_dim that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WEIGHTS = "return scores.masked_fill(~mask, -torch.inf).softmax(dim=1)"
LOGS = "return F.log_softmax(self.head(mean), dim=1)"
CLASSES = "return F.softmax(self.head(tokens), dim=2)"
OLD_WEIGHTS, OLD_LOGS = WEIGHTS.replace("dim=1", "dim=0"), LOGS.replace("dim=1", "dim=0")

SPECIMENS = [
    Wrong(
        "leaves the weights",
        edits=[(WEIGHTS, OLD_WEIGHTS)],
        check="test_token_weights_worked_example",
        says="softmax runs over the batch",
        rung="job",
    ),
    Wrong(
        "leaves the classes of the reviews",
        edits=[(LOGS, OLD_LOGS)],
        check="test_probabilities_of_the_example",
        says="log_softmax runs over the batch",
        rung="job",
    ),
    Wrong(
        "leaves the classes of the tokens",
        edits=[(CLASSES, CLASSES.replace("dim=2", "dim=1"))],
        check="test_token_classes_worked_example",
        says="softmax runs over time",
        rung="job",
    ),
    Wrong(
        "weights over the batch, scaled to sum to one",
        edits=[
            (
                WEIGHTS,
                "weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=0).nan_to_num(0.0)\n"
                "        return weights / weights.sum(dim=1, keepdim=True)",
            )
        ],
        check="test_token_weights_worked_example",
        says="scaled to sum to 1 afterwards",
        rung="job",
    ),
    Wrong(
        "the right dimension only where a review comes alone",
        edits=[(LOGS, LOGS.replace("dim=1", "dim=1 if len(tokens) == 1 else 0"))],
        check="test_other_company",
        rung="job",
    ),
    Wrong(
        "multiplies by the mask before the softmax",
        edits=[(WEIGHTS, "return (scores * mask).softmax(dim=1)")],
        check="test_token_weights_worked_example",
        says="a score of 0",
        rung="job",
    ),
    Wrong(
        "multiplies by the mask after the softmax",
        edits=[(WEIGHTS, "return scores.softmax(dim=1) * mask")],
        check="test_token_weights_worked_example",
        says="taken out after the softmax",
        rung="job",
    ),
    Wrong(
        "probabilities in place of their logarithms",
        edits=[(LOGS, LOGS.replace("log_softmax", "softmax"))],
        check="test_probabilities_of_the_example",
        says="their logarithms are asked for",
        rung="job",
    ),
    Wrong(
        "exponentials without a shift",
        edits=[
            (
                WEIGHTS,
                "weights = scores.exp() * mask\n        return weights / weights.sum(dim=1, keepdim=True)",
            )
        ],
        check="test_token_weights_large",
        says="nan",
    ),
    Wrong(
        "the logarithm of the softmax",
        edits=[(LOGS, "return F.softmax(self.head(mean), dim=1).log()")],
        check="test_forward_large",
        says="inf",
    ),
    Wrong(
        "exponentials of the logits without a shift",
        edits=[
            (
                CLASSES,
                "powers = self.head(tokens).exp()\n        return powers / powers.sum(dim=2, keepdim=True)",
            )
        ],
        check="test_token_classes_large",
        says="nan",
    ),
    Wrong(
        "a loop over the reviews",
        edits=[
            (
                WEIGHTS,
                "out = torch.zeros_like(scores)\n"
                "        for i in range(len(scores)):\n"
                "            out[i, mask[i]] = scores[i, mask[i]].softmax(dim=0)\n"
                "        return out",
            )
        ],
        check="test_forward_no_loop",
    ),
    Wrong(
        "weights in float32",
        edits=[
            (
                WEIGHTS,
                WEIGHTS.replace("dim=1", "dim=1, dtype=torch.float32").replace(")\n", "")
                + ".to(tokens.dtype)",
            )
        ],
        check="test_token_weights_dtype_is_kept",
    ),
    Works(
        "-1e9 for padding, as many repositories have it, and the last dim everywhere",
        edits=[
            (WEIGHTS, "return torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)"),
            (LOGS, "return torch.log(torch.softmax(self.head(mean), dim=-1))"),
            (CLASSES, "return torch.softmax(self.head(tokens), dim=-1)"),
        ],
    ),
    Works(
        "one review after the other",
        edits=[
            (
                WEIGHTS,
                "rows = [s.masked_fill(~m, float('-inf')).softmax(0) for s, m in zip(scores, mask)]\n"
                "        return torch.stack(rows)",
            )
        ],
    ),
    Right(
        "the smallest number in place of -inf, and a product",
        edits=[
            (WEIGHTS, "return torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(-1)"),
            (
                LOGS,
                "logits = self.head(mean)\n        return logits - logits.logsumexp(1, keepdim=True)",
            ),
            (CLASSES, "return self.head(tokens).log_softmax(-1).exp()"),
        ],
    ),
    Right(
        "softmax by hand, the head before the mean",
        edits=[
            (
                WEIGHTS,
                "scores = scores.masked_fill(mask.logical_not(), float('-inf'))\n"
                "        shares = (scores - scores.amax(dim=1, keepdim=True)).exp()\n"
                "        return shares / shares.sum(dim=1, keepdim=True)",
            ),
            (
                LOGS,
                "logits = torch.bmm(weights.unsqueeze(1), self.head(tokens)).squeeze(1)\n"
                "        return nn.LogSoftmax(dim=-1)(logits)",
            ),
        ],
    ),
]
