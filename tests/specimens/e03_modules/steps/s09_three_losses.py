"""Answers to three_losses."""

from grader.authoring.specimen import Right, Wrong

CLASSES = "F.cross_entropy(scores, classes)"
PRICES = "F.mse_loss(guesses, prices)"
SPAM = "F.binary_cross_entropy_with_logits(spam, is_spam)"

SPECIMENS = [
    Wrong(
        "softmax first",
        edits=[(CLASSES, "F.cross_entropy(scores.softmax(dim=1), classes)")],
        rung="job",
        check="test_worked_example",
        says="softmax is taken twice",
    ),
    Wrong(
        "sigmoid first",
        edits=[(SPAM, "F.binary_cross_entropy_with_logits(spam.sigmoid(), is_spam)")],
        rung="job",
        check="test_worked_example",
        says="sigmoid is taken twice",
    ),
    Wrong(
        "sums",
        edits=[
            (CLASSES, 'F.cross_entropy(scores, classes, reduction="sum")'),
            (PRICES, 'F.mse_loss(guesses, prices, reduction="sum")'),
            (SPAM, SPAM.replace(")", ', reduction="sum")')),
        ],
        rung="job",
        check="test_values",
        says="a sum over the rows",
    ),
    Wrong(
        "plain binary cross-entropy",
        edits=[(SPAM, "F.binary_cross_entropy(spam, is_spam)")],
        rung="job",
        check="test_values",
        says="wants probabilities",
    ),
    Right(
        "by modules",
        edits=[
            (CLASSES, "nn.CrossEntropyLoss()(scores, classes)"),
            (PRICES, "nn.MSELoss()(guesses, prices)"),
            (SPAM, "nn.BCEWithLogitsLoss()(spam, is_spam)"),
            ("import Tensor\n", "import Tensor, nn\n"),
        ],
    ),
    Right(
        "by hand",
        edits=[
            (CLASSES, "-scores.log_softmax(1).gather(1, classes.unsqueeze(1)).mean()"),
            (PRICES, "((guesses - prices) ** 2).mean()"),
            (SPAM, "F.binary_cross_entropy(spam.sigmoid(), is_spam)"),
        ],
    ),
]
