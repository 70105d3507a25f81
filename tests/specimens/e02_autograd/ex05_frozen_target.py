"""Answers to frozen_target that people write."""

from grader.authoring.specimen import Right, Works, Wrong

PREDICTIONS = "    predictions = net(states).gather(1, actions.unsqueeze(1)).squeeze(1)  # (batch,)\n"
NO_GRAD = "    with torch.no_grad():  # a target is a number: nothing learns through it\n"
BEST = "        best = target_net(next_states).amax(dim=1)  # (batch,)\n"
TARGETS = "        targets = rewards + gamma * best.masked_fill(done, 0.0)  # (batch,)\n"
RETURN = "    return (predictions - targets).square().mean()  # ()\n"
BODY = PREDICTIONS + NO_GRAD + BEST + TARGETS + RETURN


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "detaches the prediction, not the target",
        edits=[(NO_GRAD, "    predictions = predictions.detach()\n    if True:\n")],
        rung="job",
        check="test_gradient",
    ),
    Wrong(
        "cuts both",
        edits=[(PREDICTIONS + NO_GRAD, NO_GRAD + "    " + PREDICTIONS)],
        rung="job",
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "cuts the next states only",
        edits=[(NO_GRAD, "    if True:\n"), ("target_net(next_states)", "target_net(next_states.detach())")],
        rung="job",
        check="test_gradient_with_one_net",
    ),
    Wrong(
        "forgets the end",
        edits=[("best.masked_fill(done, 0.0)", "best")],
        rung="job",
        check="test_loss",
        says="done has no effect",
    ),
    Wrong(
        "the end the wrong way round",
        edits=[("best.masked_fill(done, 0.0)", "best.masked_fill(~done, 0.0)")],
        rung="job",
        check="test_loss",
        says="wrong way round",
    ),
    Wrong(
        "net for the worth of the next state",
        edits=[("target_net(next_states)", "net(next_states)")],
        rung="job",
        check="test_loss",
        says="target_net should",
    ),
    Wrong(
        "the mean over the actions",
        edits=[("amax(dim=1)", "mean(dim=1)")],
        rung="job",
        check="test_loss",
        says="the mean of their actions",
    ),
    Wrong("ignores gamma", edits=[("gamma * best", "0.99 * best")], rung="job", check="test_gamma"),
    Wrong(
        "half the mean", edits=[(".square().mean()", ".square().mean() / 2")], rung="job", check="test_loss"
    ),
    Wrong(
        "a prediction of (batch, 1) against a target of (batch,)",
        edits=[(".squeeze(1)  # (batch,)", "")],
        rung="job",
        check="test_loss",
        says="of all of them",
    ),
    Wrong("the best over the batch", edits=[("amax(dim=1)", "amax()")], rung="job", check="test_loss"),
    Wrong(
        "detaches the worth, and lets the rewards learn",
        edits=[
            (NO_GRAD, "    if True:\n"),
            ("target_net(next_states).amax(dim=1)", "target_net(next_states).amax(dim=1).detach()"),
        ],
        rung="fine",
        check="test_nothing_learns_through_the_target",
        says="rewards",
    ),
    Wrong(
        "multiplies what comes after the end by 0",
        edits=[("best.masked_fill(done, 0.0)", "best * (1 - done.to(best.dtype))")],
        rung="fine",
        check="test_ended_episodes",
        says="NaN",
    ),
    Wrong(
        "a product with zeros and ones, in which the other actions stand",
        edits=[
            (
                RETURN,
                "    estimates = net(states)\n"
                "    chosen = torch.nn.functional.one_hot(actions, estimates.size(1))\n"
                "    predictions = (estimates * chosen).sum(1)\n" + RETURN,
            )
        ],
        rung="fine",
        check="test_impossible_actions",
        says="-inf",
    ),
    Wrong(
        "freezes target_net, which may be net",
        edits=[
            (
                PREDICTIONS,
                "    if isinstance(target_net, torch.nn.Module):\n        target_net.requires_grad_(False)\n"
                + PREDICTIONS,
            )
        ],
        rung="fine",
        check="test_nothing_changes_for_the_caller",
        says="requires_grad",
    ),
    Wrong(
        "a target in evaluation mode, for good",
        edits=[
            (
                NO_GRAD,
                "    if isinstance(net, torch.nn.Module):\n        net.eval()\n" + NO_GRAD,
            )
        ],
        rung="fine",
        check="test_nothing_changes_for_the_caller",
        says="training flag",
    ),
    Wrong(
        "zeros written into what target_net returns",
        edits=[("        best = ", "        target_net(next_states)[done] = 0.0\n        best = ")],
        rung="fine",
        check="test_nothing_changes_for_the_caller",
        says="networks that return their states",
    ),
    Wrong(
        "targets are made anew on the CPU",
        edits=[(RETURN, "    targets = torch.tensor(targets.tolist(), dtype=targets.dtype)\n" + RETURN)],
        rung="fine",
        check="test_on_another_device",
    ),
    Wrong(
        "float32 throughout",
        edits=[(RETURN, RETURN.replace("(predictions - targets)", "(predictions - targets).float()"))],
        rung="fine",
        check="test_float64",
    ),
    Works(
        "as CleanRL has it",
        edits=instead("""
    with torch.no_grad():
        target_max, _ = target_net(next_states).max(dim=1)
        td_target = rewards.flatten() + gamma * target_max * (1 - done.flatten().float())
    old_val = net(states).gather(1, actions[:, None]).squeeze()
    return torch.nn.functional.mse_loss(td_target, old_val)
"""),
    ),
    Works(
        "as PyTorch's tutorial has it, with a detached worth",
        edits=instead("""
    state_action_values = net(states).gather(1, actions.unsqueeze(1))
    next_state_values = torch.zeros(len(states))
    next_state_values[~done] = target_net(next_states[~done]).max(1).values.detach()
    expected_state_action_values = (next_state_values * gamma) + rewards
    return torch.nn.MSELoss()(state_action_values, expected_state_action_values.unsqueeze(1))
"""),
    ),
    Right(
        "detaches the target at the end",
        edits=instead("""
    rows = torch.arange(len(actions), device=actions.device)
    chosen = net(states)[rows, actions]
    worth, _ = target_net(next_states).max(dim=-1)
    target = torch.where(done, rewards, rewards + gamma * worth)
    return torch.nn.functional.mse_loss(chosen, target.detach())
"""),
    ),
    Right("a target from inference mode", edits=[("torch.no_grad():", "torch.inference_mode():")]),
    Right(
        "a decorated helper",
        edits=instead("""
    @torch.no_grad()
    def target():
        worth = target_net(next_states).max(1).values
        return rewards.add(torch.where(done, torch.zeros_like(worth), worth), alpha=gamma)

    error = torch.take_along_dim(net(states), actions[:, None], dim=1)[:, 0] - target()
    return error.pow(2).sum() / error.numel()
"""),
    ),
]
