"""Answers to learn_from_reward."""

from grader.authoring.specimen import Right, Wrong

P = "torch.softmax(scores, dim=0)"
DRAW = f"int(torch.multinomial({P}, 1))"
LOG = "torch.log_softmax(scores, dim=0)[machine]"

SPECIMENS = [
    Wrong(
        "argmax",
        edits=[(DRAW, "int(scores.argmax())")],
        rung="job",
        check="test_draws",
        says="argmax takes the likeliest",
    ),
    Wrong(
        "no minus", edits=[("-log_p *", "log_p *")], rung="job", check="test_loss", says="minus is missing"
    ),
    Wrong(
        "no logarithm",
        edits=[(LOG, P + "[machine]")],
        rung="job",
        check="test_loss",
        says="not its logarithm",
    ),
    Wrong(
        "no reward",
        edits=[(" * rewards[machine]", "")],
        rung="job",
        check="test_loss",
        says="reward is left out",
    ),
    Wrong(
        "no gradient",
        edits=[(LOG, "torch.log_softmax(scores.detach(), dim=0)[machine]")],
        rung="job",
        check="test_gradient",
        says="log p must come from scores",
    ),
    Right(
        "log of softmax",
        edits=[
            (
                "    machine = " + DRAW,
                "    p = torch.softmax(scores, 0)\n    machine = torch.multinomial(p, num_samples=1).item()",
            ),
            (LOG, "p[machine].log()"),
        ],
    ),
    Right(
        "Categorical",
        edits=[
            (
                "    machine = " + DRAW,
                "    choice = torch.distributions.Categorical(logits=scores)\n    machine = choice.sample()",
            ),
            (LOG, "choice.log_prob(machine)"),
            ("return machine,", "return int(machine),"),
        ],
    ),
]
