"""Answers to double_softmax that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FORWARD = "return self.topic(h), self.urgent(h).squeeze(-1)"
TOPIC = "F.cross_entropy(topic_scores, topic)"
URGENT = "F.binary_cross_entropy_with_logits(urgent_scores, urgent)"
SOFT = "torch.softmax(topic_scores / temperature, dim=-1)"
SIGMOID = "torch.sigmoid(urgent_scores / temperature)"
RUN = "    topic_scores, urgent_scores = model(x)  # (batch, topics), (batch,)\n"

SPECIMENS = [
    Wrong(
        "urgency is squeezed twice still",
        edits=[(URGENT, URGENT.replace("urgent_scores", "torch.sigmoid(urgent_scores)"))],
        check="test_training_loss_worked_example",
        says="sigmoid comes twice",
        rung="job",
    ),
    Wrong(
        "topics are squeezed twice still",
        edits=[(FORWARD, FORWARD.replace("self.topic(h)", "torch.softmax(self.topic(h), dim=-1)"))],
        check="test_raw_scores",
        says="softmax belongs into the loss",
        rung="job",
    ),
    Wrong(
        "probabilities from the model, their logarithm in the loss",
        edits=[
            (FORWARD, FORWARD.replace("self.topic(h)", "torch.softmax(self.topic(h), dim=-1)")),
            (TOPIC, "F.nll_loss(torch.log(topic_scores), topic)"),
        ],
        check="test_training_loss_worked_example",
        says="takes the logarithm of what the model gives",
        rung="job",
    ),
    Wrong(
        "log-probabilities from the model, nll_loss for them",
        edits=[
            (FORWARD, FORWARD.replace("self.topic(h)", "F.log_softmax(self.topic(h), dim=-1)")),
            (TOPIC, "F.nll_loss(topic_scores, topic)"),
        ],
        check="test_training_loss_worked_example",
        says="takes log-probabilities, and these are raw scores",
        rung="job",
    ),
    Wrong(
        "sigmoid in the model, and the loss for probabilities",
        edits=[
            (
                FORWARD,
                FORWARD.replace("self.urgent(h).squeeze(-1)", "torch.sigmoid(self.urgent(h).squeeze(-1))"),
            ),
            (URGENT, URGENT.replace("_with_logits", "")),
            (SIGMOID, "urgent_scores"),
        ],
        check="test_raw_scores",
        says="sigmoid belongs into the loss",
        rung="job",
    ),
    Wrong(
        "predict returns the raw scores",
        edits=[(SOFT, "topic_scores / temperature"), (SIGMOID, "urgent_scores / temperature")],
        check="test_predict_worked_example",
        says="softmax or sigmoid is missing",
        rung="job",
    ),
    Wrong(
        "the temperature divides the probabilities",
        edits=[(SOFT, "torch.softmax(topic_scores, dim=-1) / temperature")],
        check="test_predict_worked_example",
        says="it is to divide the scores",
        rung="job",
    ),
    Wrong(
        "forgets the weight of urgency",
        edits=[("topic_loss + urgent_weight * urgent_loss", "topic_loss + urgent_loss")],
        check="test_training_loss_values",
        says="urgent_weight is ignored",
        rung="job",
    ),
    Wrong(
        "cuts the graph of urgency",
        edits=[(URGENT, URGENT.replace("urgent_scores", "urgent_scores.detach()"))],
        check="test_gradient",
        rung="job",
    ),
    Wrong(
        "softmax, then its logarithm",
        edits=[(TOPIC, "F.nll_loss(torch.log(torch.softmax(topic_scores, dim=-1)), topic)")],
        check="test_training_loss_certain",
        says="the logarithm of a softmax that is 0",
    ),
    Wrong(
        "the loss in float32",
        edits=[
            (TOPIC, TOPIC.replace("topic_scores", "topic_scores.float()")),
            (URGENT, "F.binary_cross_entropy_with_logits(urgent_scores.float(), urgent.float())"),
        ],
        check="test_training_loss_dtype_is_kept",
    ),
    Wrong(
        "divides the model's tensors in place",
        edits=[(SOFT, SOFT.replace("topic_scores / temperature", "topic_scores.div_(temperature)"))],
        check="test_what_stays",
        says="changes",
    ),
    Wrong("predict records a graph", edits=[("@torch.no_grad()\n", "")], check="test_no_graph"),
    Works(
        "sigmoid, then the loss for probabilities, which stops at 100",
        edits=[(URGENT, "F.binary_cross_entropy(torch.sigmoid(urgent_scores), urgent)")],
    ),
    Works(
        "predict goes to evaluation mode, without a graph",
        edits=[
            ("@torch.no_grad()\n", "@torch.inference_mode()\n"),
            (RUN + "    return", "    model.eval()\n" + RUN + "    return"),
        ],
    ),
    Works(
        "softmax by hand, and its logarithm",
        edits=[
            (TOPIC, "-torch.log(torch.softmax(topic_scores, dim=1)[torch.arange(len(topic)), topic]).mean()"),
            (SIGMOID, "1 / (1 + torch.exp(-urgent_scores / temperature))"),
        ],
    ),
    Right(
        "written out with logsumexp and softplus",
        edits=[
            (TOPIC, "(topic_scores.logsumexp(-1) - topic_scores[torch.arange(len(topic)), topic]).mean()"),
            (URGENT, "F.softplus(torch.where(urgent > 0, -urgent_scores, urgent_scores)).mean()"),
            (SIGMOID, "1 - (-urgent_scores / temperature).sigmoid()"),
        ],
    ),
    Right(
        "urgency as a softmax over two scores, loss modules",
        edits=[
            (TOPIC, "nn.NLLLoss()(nn.LogSoftmax(dim=1)(topic_scores), topic)"),
            (
                URGENT,
                "nn.CrossEntropyLoss()(torch.stack([0 * urgent_scores, urgent_scores], 1), urgent.long())",
            ),
            (SOFT, "(topic_scores.div(temperature).log_softmax(1)).exp()"),
            ("self.urgent(h).squeeze(-1)", "self.urgent(h)[:, 0]"),
        ],
    ),
]
