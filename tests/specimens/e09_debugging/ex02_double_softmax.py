"""Answers to double_softmax that people write."""

from grader.authoring.specimen import Right, Wrong

FORWARD = "        return self.topic(h), self.urgent(h).squeeze(-1)  # (batch, topics), (batch,): squeezed by the losses\n"
TOPIC = "    topic_loss = F.cross_entropy(topic_scores, topic)  # (), softmax inside\n"
URGENT = "    urgent_loss = F.binary_cross_entropy_with_logits(urgent_scores, urgent)  # (), sigmoid inside\n"
SQUEEZED = "F.binary_cross_entropy_with_logits(torch.sigmoid(urgent_scores), urgent)"
RETURN = "    return torch.softmax(topic_scores / temperature, dim=-1), torch.sigmoid(urgent_scores / temperature)\n"
RUN = "    topic_scores, urgent_scores = model(x)  # (batch, topics), (batch,)\n    topic_loss"

SPECIMENS = [
    Wrong(
        "a sigmoid by hand that overflows",
        edits=[
            (
                "torch.sigmoid(urgent_scores / temperature)",
                "(urgent_scores / temperature).exp() / (1 + (urgent_scores / temperature).exp())",
            )
        ],
        check="test_certain_probabilities",
        says="NaN",
    ),
    Wrong(
        "a floor under the temperature",
        edits=[(RETURN, "    temperature = max(temperature, 0.01)\n" + RETURN)],
        check="test_large_scores_at_a_temperature",
    ),
    Wrong(
        "urgency is squeezed twice still",
        edits=[("F.binary_cross_entropy_with_logits(urgent_scores, urgent)", SQUEEZED)],
        check="test_loss",
    ),
    Wrong(
        "topics are squeezed twice still",
        edits=[("return self.topic(h), self", "return torch.softmax(self.topic(h), dim=-1), self")],
        check="test_raw_scores",
    ),
    Wrong(
        "probabilities from the model, their logarithm in the loss",
        edits=[
            ("return self.topic(h), self", "return torch.softmax(self.topic(h), dim=-1), self"),
            (TOPIC, "    topic_loss = F.nll_loss(torch.log(topic_scores), topic)\n"),
        ],
        check="test_loss",
    ),
    Wrong(
        "a power of the probabilities, normalised",
        edits=[
            (
                "torch.softmax(topic_scores / temperature, dim=-1)",
                "F.normalize(torch.softmax(topic_scores, dim=-1) ** (1 / temperature), p=1, dim=-1)",
            )
        ],
        check="test_large_scores_at_a_temperature",
    ),
    Wrong(
        "divides the model's tensors in place",
        edits=[
            (
                RETURN,
                "    for scores in (topic_scores, urgent_scores):\n        scores.div_(temperature)\n    return torch.softmax(topic_scores, dim=-1), torch.sigmoid(urgent_scores)\n",
            )
        ],
        check="test_large_scores_at_a_temperature",
        says="changes",
    ),
    Wrong(
        "softmax, then its logarithm",
        edits=[
            (TOPIC, "    topic_loss = F.nll_loss(torch.log(torch.softmax(topic_scores, dim=-1)), topic)\n")
        ],
        check="test_loss_of_large_scores",
    ),
    Wrong(
        "softmax, then its logarithm above a floor",
        edits=[
            (
                TOPIC,
                "    topic_loss = F.nll_loss(torch.log(torch.softmax(topic_scores, dim=-1) + 1e-8), topic)\n",
            )
        ],
        check="test_loss_of_large_scores",
    ),
    Wrong(
        "log-probabilities from the model",
        edits=[("return self.topic(h), self", "return torch.log_softmax(self.topic(h), dim=-1), self")],
        check="test_raw_scores",
    ),
    Wrong(
        "sigmoid, then the loss for probabilities, which stops at 100",
        edits=[
            (
                URGENT,
                "    urgent_loss = F.binary_cross_entropy(torch.sigmoid(urgent_scores), urgent)\n",
            )
        ],
        check="test_loss_of_large_scores",
    ),
    Wrong(
        "clamps the scores",
        edits=[
            (
                RUN,
                "    topic_scores, urgent_scores = model(x)\n    topic_scores = topic_scores.clamp(-50, 50)\n    topic_loss",
            )
        ],
        check="test_loss_of_large_scores",
    ),
    Wrong(
        "binary loss from the definition, without care for large scores",
        edits=[
            (
                URGENT,
                "    urgent_loss = (torch.log1p(torch.exp(urgent_scores)) - urgent_scores * urgent).mean()\n",
            )
        ],
        check="test_loss_of_large_scores",
    ),
    Wrong(
        "nll_loss on raw scores",
        edits=[(TOPIC, "    topic_loss = F.nll_loss(topic_scores, topic)\n")],
        check="test_loss",
    ),
    Wrong(
        "cuts the graph of urgency",
        edits=[("logits(urgent_scores, urgent)", "logits(urgent_scores.detach(), urgent)")],
        check="test_gradient",
    ),
    Wrong(
        "sums over the batch",
        edits=[(TOPIC, "    topic_loss = F.cross_entropy(topic_scores, topic, reduction='sum')\n")],
        check="test_loss",
    ),
    Wrong(
        "forgets the weight of urgency",
        edits=[("topic_loss + urgent_weight * urgent_loss", "topic_loss + urgent_loss")],
        check="test_loss",
    ),
    Wrong(
        "the weight on the topics",
        edits=[("topic_loss + urgent_weight * urgent_loss", "urgent_weight * topic_loss + urgent_loss")],
        check="test_loss",
    ),
    Wrong(
        "the loss in float32",
        edits=[
            (
                "return topic_loss + urgent_weight * urgent_loss",
                "return (topic_loss + urgent_weight * urgent_loss).float()",
            )
        ],
        check="test_loss",
        says="dtype",
    ),
    Wrong(
        "predict returns the raw scores",
        edits=[(RETURN, "    return topic_scores / temperature, urgent_scores / temperature\n")],
        check="test_probabilities",
    ),
    Wrong(
        "predict squeezes twice instead",
        edits=[
            (
                "torch.softmax(topic_scores / temperature, dim=-1)",
                "torch.softmax(torch.softmax(topic_scores, dim=-1) / temperature, dim=-1)",
            )
        ],
        check="test_probabilities",
    ),
    Wrong(
        "temperature divides the probabilities",
        edits=[
            (
                "torch.softmax(topic_scores / temperature, dim=-1)",
                "torch.softmax(topic_scores, dim=-1) / temperature",
            )
        ],
        check="test_probabilities",
    ),
    Wrong(
        "temperature for the topics only",
        edits=[("torch.sigmoid(urgent_scores / temperature)", "torch.sigmoid(urgent_scores)")],
        check="test_probabilities",
    ),
    Wrong(
        "softmax over the batch",
        edits=[("temperature, dim=-1)", "temperature, dim=0)")],
        check="test_probabilities",
    ),
    Wrong(
        "softmax by hand, without the maximum",
        edits=[
            (
                "torch.softmax(topic_scores / temperature, dim=-1)",
                "torch.exp(topic_scores / temperature) / torch.exp(topic_scores / temperature).sum(-1, True)",
            )
        ],
        check="test_certain_probabilities",
    ),
    Wrong(
        "predict records a graph",
        edits=[("@torch.no_grad()\n", "")],
        check="test_probabilities",
        says="gradient",
    ),
    Wrong(
        "predict switches to evaluation mode and stays there",
        edits=[
            (
                RETURN,
                "    model.eval() if isinstance(model, nn.Module) else None\n" + RETURN,
            )
        ],
        check="test_modes_are_the_callers",
    ),
    Wrong(
        "predict runs the model twice",
        edits=[
            (
                RETURN,
                RETURN.replace("urgent_scores / t", "model(x)[1] / t"),
            )
        ],
        check="test_probabilities",
        says="runs",
    ),
    Wrong(
        "training mode in the loss",
        edits=[
            (RUN, "    model.train() if isinstance(model, nn.Module) else None\n" + RUN),
        ],
        check="test_modes_are_the_callers",
    ),
    Wrong(
        "squeezes away a batch of one",
        edits=[("self.urgent(h).squeeze(-1)", "self.urgent(h).squeeze()")],
        check="test_raw_scores",
    ),
    Wrong(
        "topics in a Sequential: other names",
        edits=[
            (
                "self.topic = nn.Linear(hidden, topics)",
                "self.topic = nn.Sequential(nn.Linear(hidden, topics))",
            )
        ],
        check="test_checkpoints_load",
    ),
    Wrong(
        "squeezes in training mode no more, and in evaluation mode still",
        edits=[
            (
                FORWARD,
                FORWARD + "",
            ),
            (
                "        h = torch.tanh(self.body(x))  # (batch, hidden)\n",
                "        h = torch.tanh(self.body(x))\n        if not self.training:\n            return self.topic(h).softmax(-1), self.urgent(h).squeeze(-1)\n",
            ),
        ],
        check="test_raw_scores",
    ),
    Wrong(
        "trains the urgency alone",
        edits=[("    return topic_loss + urgent_weight", "    return topic_loss.detach() + urgent_weight")],
        check="test_the_loss_falls",
    ),
    Right(
        "written out with logsumexp and softplus",
        edits=[
            (
                TOPIC,
                "    topic_loss = (topic_scores.logsumexp(-1) - topic_scores[torch.arange(len(topic)), topic]).mean()\n",
            ),
            (
                URGENT,
                "    urgent_loss = F.softplus(torch.where(urgent > 0, -urgent_scores, urgent_scores)).mean()\n",
            ),
            (
                "torch.sigmoid(urgent_scores / temperature)",
                "1 - (-urgent_scores / temperature).sigmoid()",
            ),
        ],
    ),
    Right(
        "urgency as a softmax over two scores, loss modules",
        edits=[
            (TOPIC, "    topic_loss = nn.NLLLoss()(nn.LogSoftmax(dim=1)(topic_scores), topic)\n"),
            (
                URGENT,
                "    both = torch.stack([torch.zeros_like(urgent_scores), urgent_scores], 1)\n    urgent_loss = nn.CrossEntropyLoss()(both, urgent.long())\n",
            ),
            (
                RETURN,
                "    tempered = topic_scores.detach().div(temperature)\n    return (tempered - tempered.logsumexp(1, True)).exp(), urgent_scores.detach().div(temperature).sigmoid()\n",
            ),
            ("self.urgent(h).squeeze(-1)", "self.urgent(h)[:, 0]"),
        ],
    ),
    Wrong(
        "switches gradients off by hand, and on again for all",
        edits=[
            ("@torch.no_grad()\n", ""),
            (
                "    topic_scores, urgent_scores = model(x)  # (batch, topics), (batch,)\n" + RETURN,
                "    torch.set_grad_enabled(False)\n    topic_scores, urgent_scores = model(x)\n"
                + RETURN.replace("return", "found =")
                + "    torch.set_grad_enabled(True)\n    return found\n",
            ),
        ],
        check="test_modes_are_the_callers",
        says="gradients are on after predict",
    ),
    Wrong(
        "switches gradients off by hand, and an error leaves them off",
        edits=[
            ("@torch.no_grad()\n", ""),
            (
                "    topic_scores, urgent_scores = model(x)  # (batch, topics), (batch,)\n" + RETURN,
                "    before = torch.is_grad_enabled()\n    torch.set_grad_enabled(False)\n"
                "    topic_scores, urgent_scores = model(x)\n"
                + RETURN.replace("return", "found =")
                + "    torch.set_grad_enabled(before)\n    return found\n",
            ),
        ],
        check="test_modes_are_the_callers",
        says="gradients are off after predict",
    ),
    Wrong(
        "clamps scores to what it holds for any size",
        edits=[(TOPIC, "    topic_scores = topic_scores.clamp(-1e4, 1e4)\n" + TOPIC)],
        check="test_loss_of_large_scores",
        says="1e+30",
    ),
    Wrong(
        "another name for urgent_weight",
        edits=[
            ("    urgent_weight: float = 1.0,\n", "    weight: float = 1.0,\n"),
            ("topic_loss + urgent_weight * urgent_loss", "topic_loss + weight * urgent_loss"),
        ],
        check="test_gradient",
        says="urgent_weight",
    ),
    Wrong(
        "keeps probabilities off 0 and 1, for the logarithm that somebody may take",
        edits=[
            (
                "torch.sigmoid(urgent_scores / temperature)\n",
                "torch.sigmoid(urgent_scores / temperature).clamp(1e-7, 1 - 1e-7)\n",
            )
        ],
        check="test_certain_probabilities",
        says="scores of -20 in float64",
    ),
    Right(
        "a stable formula by hand, of which clamp has another gradient for a score of exactly 0",
        edits=[
            (
                URGENT,
                "    away = urgent_scores.clamp(min=0) + torch.log1p(torch.exp(-urgent_scores.abs()))\n"
                "    urgent_loss = (away - urgent_scores * urgent).mean()\n",
            )
        ],
    ),
    Right(
        "the binary loss by logaddexp",
        edits=[
            (
                URGENT,
                "    away = torch.logaddexp(urgent_scores, torch.zeros_like(urgent_scores))\n"
                "    urgent_loss = (away - urgent_scores * urgent).mean()\n",
            )
        ],
    ),
    Right(
        "registers the layers in another order",
        edits=[
            ("        self.topic = nn.Linear(hidden, topics)\n", ""),
            (
                "        self.body = nn.Linear",
                "        self.topic = nn.Linear(hidden, topics)\n        self.body = nn.Linear",
            ),
        ],
    ),
]
