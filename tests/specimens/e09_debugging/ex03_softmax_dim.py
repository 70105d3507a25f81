"""Answers to softmax_dim that people write."""

from grader.authoring.specimen import Right, Wrong

SCORES = "        scores = self.score(tokens).squeeze(-1)  # (batch, time)\n"
WEIGHTS = "        return scores.masked_fill(~mask, -torch.inf).softmax(dim=1)\n"
GET = "        weights = self.token_weights(tokens, mask)\n"
MEAN = '        mean = torch.einsum("bt,btd->bd", weights, tokens)\n'
LOGS = "        return F.log_softmax(self.head(mean), dim=1)\n"
CLASSES = "        return F.softmax(self.head(tokens), dim=2)\n"
PREDICT = """    with torch.no_grad():
        confidence, labels = model(tokens, mask).exp().max(dim=1)
"""
RETURN = "    return labels, confidence\n"
OLD_WEIGHTS = WEIGHTS.replace("dim=1", "dim=0")
OLD_LOGS = LOGS.replace("dim=1", "dim=0")
OLD_CLASSES = CLASSES.replace("dim=2", "dim=1")

SPECIMENS = [
    Wrong(
        "mends the weights alone", edits=[(LOGS, OLD_LOGS), (CLASSES, OLD_CLASSES)], check="test_each_review"
    ),
    Wrong("leaves the weights", edits=[(WEIGHTS, OLD_WEIGHTS)], check="test_each_review", says=""),
    Wrong("leaves the classes of the reviews", edits=[(LOGS, OLD_LOGS)], check="test_each_review"),
    Wrong("leaves the classes of the tokens", edits=[(CLASSES, OLD_CLASSES)], check="test_each_review"),
    Wrong(
        "the classes of the tokens over the batch",
        edits=[(CLASSES, CLASSES.replace("dim=2", "dim=0"))],
        check="test_each_review",
    ),
    Wrong(
        "leaves the dimension of the tokens' classes to torch",
        edits=[
            (
                CLASSES,
                "        import warnings\n\n        with warnings.catch_warnings():\n            warnings.simplefilter('ignore')\n            return F.softmax(self.head(tokens))\n",
            )
        ],
        check="test_each_review",
    ),
    Wrong(
        "weights over the batch, scaled to sum to one",
        edits=[
            (
                WEIGHTS,
                "        weights = scores.softmax(dim=0) * mask\n        return weights / weights.sum(dim=1, keepdim=True)\n",
            )
        ],
        check="test_each_review",
    ),
    Wrong(
        "probabilities over the batch, scaled to sum to one",
        edits=[
            (
                LOGS,
                "        shares = F.softmax(self.head(mean), dim=0)\n        return (shares / shares.sum(dim=1, keepdim=True)).log()\n",
            )
        ],
        check="test_each_review",
    ),
    Wrong(
        "over everything at once",
        edits=[
            (
                LOGS,
                "        logits = self.head(mean)\n        return logits.flatten().log_softmax(0).view(logits.shape)\n",
            )
        ],
        check="test_each_review",
    ),
    Wrong(
        "the right dimension only where a review comes alone",
        edits=[(LOGS, "        return F.log_softmax(self.head(mean), dim=1 if len(tokens) == 1 else 0)\n")],
        check="test_each_review",
    ),
    Wrong(
        "one review after the other in predict: the model stays as it was",
        edits=[
            (WEIGHTS, OLD_WEIGHTS),
            (LOGS, OLD_LOGS),
            (
                PREDICT,
                "    with torch.no_grad():\n        logits = model.head(torch.einsum('bt,btd->bd', model.score(tokens).squeeze(-1).masked_fill(~mask, -torch.inf).softmax(1), tokens))\n        confidence, labels = logits.softmax(dim=1).max(dim=1)\n",
            ),
        ],
        check="test_each_review",
    ),
    Wrong(
        "squeezes every dimension",
        edits=[
            (SCORES, "        scores = self.score(tokens).squeeze()\n"),
            (WEIGHTS, WEIGHTS.replace("dim=1", "dim=-1")),
        ],
        check="test_each_review",
    ),
    Wrong(
        "padding counts",
        edits=[(WEIGHTS, "        return scores.softmax(dim=1)\n")],
        check="test_each_review",
    ),
    Wrong(
        "padding has a score of 0",
        edits=[(WEIGHTS, WEIGHTS.replace("-torch.inf", "0.0"))],
        check="test_each_review",
    ),
    Wrong(
        "padding has a score of -100",
        edits=[(WEIGHTS, WEIGHTS.replace("-torch.inf", "-100.0"))],
        check="test_large_scores",
        says="",
    ),
    Wrong(
        "takes 1e9 from the score of padding, which may be larger",
        edits=[(WEIGHTS, "        return (scores - 1e9 * ~mask).softmax(dim=1)\n")],
        check="test_other_company",
        says="padding",
    ),
    Wrong(
        "padding has a score of -1e4",
        edits=[(WEIGHTS, WEIGHTS.replace("-torch.inf", "-1e4"))],
        check="test_large_scores",
    ),
    Wrong(
        "the mask the wrong way round",
        edits=[(WEIGHTS, WEIGHTS.replace("~mask", "mask"))],
        check="test_each_review",
    ),
    Wrong(
        "padding is taken out after the softmax",
        edits=[(WEIGHTS, "        return scores.softmax(dim=1) * mask\n")],
        check="test_each_review",
    ),
    Wrong(
        "padding is taken out after the softmax, the rest scaled: underflows",
        edits=[
            (
                WEIGHTS,
                "        weights = scores.softmax(dim=1) * mask\n        return weights / weights.sum(dim=1, keepdim=True)\n",
            )
        ],
        check="test_large_scores",
    ),
    Wrong(
        "an epsilon in the sum",
        edits=[
            (
                WEIGHTS,
                "        weights = (scores - scores.masked_fill(~mask, -torch.inf).amax(1, keepdim=True)).clamp(max=0).exp() * mask\n        return weights / (weights.sum(dim=1, keepdim=True) + 1e-3)\n",
            )
        ],
        check="test_each_review",
    ),
    Wrong(
        "exponentials without a shift",
        edits=[
            (
                WEIGHTS,
                "        weights = scores.exp() * mask\n        return weights / weights.sum(dim=1, keepdim=True)\n",
            )
        ],
        check="test_large_scores",
    ),
    Wrong(
        "the logarithm of the softmax",
        edits=[(LOGS, "        return F.softmax(self.head(mean), dim=1).log()\n")],
        check="test_large_scores",
    ),
    Wrong(
        "the logarithm of the softmax, with an epsilon",
        edits=[(LOGS, "        return (F.softmax(self.head(mean), dim=1) + 1e-9).log()\n")],
        check="test_large_scores",
    ),
    Wrong(
        "shifts by the largest logit of the batch",
        edits=[
            (
                LOGS,
                "        logits = self.head(mean)\n        logits = logits - logits.max() if len(logits) else logits\n        return logits - logits.exp().sum(dim=1, keepdim=True).log()\n",
            )
        ],
        check="test_large_scores",
    ),
    Wrong(
        "clamps the logits",
        edits=[(LOGS, LOGS.replace("self.head(mean)", "self.head(mean).clamp(-50, 50)"))],
        check="test_large_scores",
    ),
    Wrong(
        "probabilities in place of their logarithms",
        edits=[(LOGS, LOGS.replace("log_softmax", "softmax"))],
        check="test_each_review",
    ),
    Wrong(
        "log-probabilities of the tokens' classes",
        edits=[(CLASSES, CLASSES.replace("F.softmax", "F.log_softmax"))],
        check="test_each_review",
    ),
    Wrong(
        "softmax twice",
        edits=[(LOGS, LOGS.replace("self.head(mean)", "self.head(mean).softmax(dim=1)"))],
        check="test_each_review",
    ),
    Wrong(
        "the plain mean",
        edits=[(GET, "        weights = mask / mask.sum(dim=1, keepdim=True).to(tokens.dtype)\n")],
        check="test_each_review",
    ),
    Wrong(
        "the plain mean over all reviews' lengths",
        edits=[(MEAN, MEAN + "        mean = mean / tokens.shape[1]\n")],
        check="test_each_review",
    ),
    Wrong(
        "log-probabilities of each token, then their mean",
        edits=[
            (
                MEAN + LOGS,
                '        return torch.einsum("bt,btc->bc", weights, F.log_softmax(self.head(tokens), dim=2))\n',
            )
        ],
        check="test_each_review",
    ),
    Wrong(
        "weights are constants", edits=[(GET, GET.replace("mask)", "mask).detach()"))], check="test_gradients"
    ),
    Wrong(
        "tokens are constants in the sum",
        edits=[(MEAN, MEAN.replace("tokens)", "tokens.detach())"))],
        check="test_gradients",
    ),
    Wrong(
        "centres the scores of the batch, which others then move",
        edits=[
            (
                SCORES,
                SCORES
                + "        if len(scores) > 1:\n            scores = scores / scores.detach().std().clamp(min=1e-6) * scores.std()\n",
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "normalises the means over the batch",
        edits=[(MEAN, MEAN + "        if len(mean) > 1:\n            mean = mean - mean.mean(dim=0)\n")],
        check="test_each_review",
    ),
    Wrong(
        "clears the padding in the caller's tokens",
        edits=[(GET, "        tokens[~mask] = 0.0\n" + GET)],
        check="test_each_review",
        says="changes",
    ),
    Wrong(
        "no bias, since softmax forgets it",
        edits=[("nn.Linear(dim, 1)", "nn.Linear(dim, 1, bias=False)")],
        check="test_parameters",
    ),
    Wrong(
        "other names",
        edits=[
            (
                "        self.head = nn.Linear(dim, classes)\n",
                "        self.head = nn.Sequential(nn.Linear(dim, classes))\n",
            )
        ],
        check="test_parameters",
    ),
    Wrong(
        "confidence over the batch",
        edits=[
            (
                PREDICT,
                "    with torch.no_grad():\n        logs = model(tokens, mask)\n        labels, confidence = logs.argmax(dim=1), logs.exp().softmax(dim=0).amax(dim=1)\n",
            )
        ],
        check="test_predict",
    ),
    Wrong(
        "the most confident review for each class",
        edits=[(PREDICT, PREDICT.replace("max(dim=1)", "max(dim=0)"))],
        check="test_predict",
    ),
    Wrong(
        "log-probabilities for confidence",
        edits=[(PREDICT, PREDICT.replace(".exp()", ""))],
        check="test_predict",
    ),
    Wrong(
        "confidence with a graph",
        edits=[(PREDICT, "    confidence, labels = model(tokens, mask).exp().max(dim=1)\n")],
        check="test_predict",
        says="graph",
    ),
    Wrong(
        "labels of another dtype",
        edits=[(RETURN, "    return labels.int(), confidence\n")],
        check="test_predict",
        says="int32",
    ),
    Wrong("the other way round", edits=[(RETURN, "    return confidence, labels\n")], check="test_predict"),
    Wrong(
        "turns the model to eval",
        edits=[(PREDICT, "    model.eval()\n" + PREDICT)],
        check="test_predict",
        says="training",
    ),
    Wrong(
        "not for an empty batch",
        edits=[
            (
                PREDICT,
                PREDICT.replace(
                    "model(tokens, mask).exp().max(dim=1)",
                    "torch.stack([row.exp().max(dim=0).values for row in model(tokens, mask)]), torch.stack([row.argmax() for row in model(tokens, mask)])",
                ),
            )
        ],
        check="test_empty_batch",
    ),
    Wrong(
        "a loop over the reviews",
        edits=[
            (
                WEIGHTS,
                "        out = torch.zeros_like(scores)\n        for i in range(len(scores)):\n            out[i, mask[i]] = scores[i, mask[i]].softmax(dim=0)\n        return out\n",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "always float32",
        edits=[
            (
                WEIGHTS,
                WEIGHTS.replace("softmax(dim=1)", "softmax(dim=1, dtype=torch.float32).to(scores.dtype)"),
            )
        ],
        check="test_each_review",
    ),
    Right(
        "the smallest number in place of -inf, and a product",
        edits=[
            (
                WEIGHTS,
                "        lowest = torch.finfo(scores.dtype).min\n        return torch.softmax(torch.where(mask, scores, lowest), -1)\n",
            ),
            (MEAN, "        mean = (weights.unsqueeze(2) * tokens).sum(1)\n"),
            (
                LOGS,
                "        logits = self.head(mean)\n        return logits - logits.logsumexp(1, keepdim=True)\n",
            ),
            (CLASSES, "        return self.head(tokens).log_softmax(-1).exp()\n"),
        ],
    ),
    Right(
        "softmax by hand, the head before the mean",
        edits=[
            (
                WEIGHTS,
                """        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        top = scores.amax(dim=1, keepdim=True).detach()
        shares = (scores - top).exp()
        return shares / shares.sum(dim=1, keepdim=True)
""",
            ),
            (
                MEAN + LOGS,
                """        logits = torch.bmm(weights.unsqueeze(1), self.head(tokens.masked_fill(~mask.unsqueeze(2), 0.0))).squeeze(1)
        return torch.nn.LogSoftmax(dim=-1)(logits)
""",
            ),
            (
                PREDICT,
                """    with torch.inference_mode():
        logs = model(tokens, mask)
        labels = logs.argmax(-1)
        confidence = logs.gather(1, labels[:, None])[:, 0].exp()
""",
            ),
        ],
    ),
    Wrong(
        "a confidence in float32, whatever the model computes in",
        edits=[(RETURN, "    return labels, confidence.float()\n")],
        check="test_predict",
        says="float64",
    ),
    Wrong(
        "switches gradients off, and on again for whoever had them off",
        edits=[
            (
                PREDICT,
                """    torch.set_grad_enabled(False)
    confidence, labels = model(tokens, mask).exp().max(dim=1)
    torch.set_grad_enabled(True)
""",
            )
        ],
        check="test_predict",
        says="on or off",
    ),
]
