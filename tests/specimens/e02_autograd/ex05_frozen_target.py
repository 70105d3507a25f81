"""Answers to frozen_target that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "detaches in place what target_net returns",
        edits=[(BEST, "        best = target_net(next_states).detach_().amax(dim=1)\n")],
        check="test_nothing_changes_for_the_caller",
        says="cuts next_states off",
    ),
    Wrong(
        "freezes target_net for a while, and leaves it so where it raises an error",
        edits=[
            (
                NO_GRAD,
                "    frozen = [p for p in getattr(target_net, 'parameters', list)() if p.requires_grad]\n"
                "    for p in frozen:\n        p.requires_grad_(False)\n" + NO_GRAD,
            ),
            (RETURN, "    for p in frozen:\n        p.requires_grad_(True)\n" + RETURN),
        ],
        check="test_grad_mode",
        says="requires_grad",
    ),
    Wrong(
        "where all is over the rewards themselves are the target, and get a gradient",
        edits=[
            (
                NO_GRAD,
                "    if done.all():\n        return (predictions - rewards).square().mean()\n" + NO_GRAD,
            )
        ],
        check="test_nothing_learns_through_the_target",
        says="all episodes over",
    ),
    Wrong(
        "an error in target_net leaves gradients switched off",
        edits=[
            (NO_GRAD, "    torch.set_grad_enabled(False)\n    if True:\n"),
            (RETURN, "    torch.set_grad_enabled(MODE)\n" + RETURN),
            (PREDICTIONS, "    MODE = torch.is_grad_enabled()\n" + PREDICTIONS),
        ],
        check="test_grad_mode",
        says="after an error",
    ),
    Wrong(
        "squeezes the estimates: with one action the best is taken over the batch",
        edits=[(BEST, "        best = target_net(next_states).squeeze().amax(dim=-1)\n")],
        check="test_loss",
        says="single action",
    ),
    Wrong(
        "detaches the prediction, not the target",
        edits=[(NO_GRAD, "    predictions = predictions.detach()\n    if True:\n")],
        check="test_gradient_with_one_net",
    ),
    Wrong(
        "cuts both",
        edits=[(PREDICTIONS + NO_GRAD, NO_GRAD + "    " + PREDICTIONS)],
        check="test_gradient_with_one_net",
        says="no gradient",
    ),
    Wrong(
        "cuts the next states only",
        edits=[(NO_GRAD, "    if True:\n"), ("target_net(next_states)", "target_net(next_states.detach())")],
        check="test_gradient_with_one_net",
    ),
    Wrong(
        "clones in place of detaching",
        edits=[(NO_GRAD, "    if True:\n"), (RETURN, "    targets = targets.clone()\n" + RETURN)],
        check="test_gradient_with_one_net",
    ),
    Wrong(
        "detaches the worth, and lets the rewards learn",
        edits=[
            (NO_GRAD, "    if True:\n"),
            ("target_net(next_states).amax(dim=1)", "target_net(next_states).amax(dim=1).detach()"),
        ],
        check="test_nothing_learns_through_the_target",
        says="rewards",
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
        check="test_nothing_changes_for_the_caller",
        says="requires_grad",
    ),
    Wrong(
        "freezes target_net for a while, and makes all of it trainable then",
        edits=[
            (
                RETURN,
                "    if isinstance(target_net, torch.nn.Module):\n        target_net.requires_grad_(True)\n"
                + RETURN,
            )
        ],
        check="test_nothing_changes_for_the_caller",
        says="requires_grad",
    ),
    Wrong(
        "detaches only where there are two nets",
        edits=[
            (NO_GRAD, "    with torch.set_grad_enabled(target_net is net):\n"),
        ],
        check="test_gradient_with_one_net",
    ),
    Wrong(
        "detaches only where it is one net",
        edits=[
            (NO_GRAD, "    with torch.set_grad_enabled(target_net is not net):\n"),
        ],
        check="test_nothing_learns_through_the_target",
    ),
    Wrong(
        "cuts the states as well",
        edits=[("net(states).gather", "net(states.detach()).gather")],
        check="test_one_encoder",
    ),
    Wrong(
        "runs a backward of its own",
        edits=[
            (
                RETURN,
                "    loss = (predictions - targets).square().mean()\n    if loss.requires_grad:\n        loss.backward(retain_graph=True)\n    return loss\n",
            )
        ],
        check="test_nothing_changes_for_the_caller",
        says="`.grad`",
    ),
    Wrong(
        "switches recording off for good",
        edits=[
            (NO_GRAD, "    torch.set_grad_enabled(False)\n    if True:\n"),
            (
                RETURN,
                "    difference = predictions - targets\n    torch.set_grad_enabled(True)\n    difference = predictions - targets\n    loss = difference.square().mean()\n    torch.set_grad_enabled(False)\n    return loss\n",
            ),
        ],
        check="test_grad_mode",
        says="is_grad_enabled",
    ),
    Wrong(
        "switches recording on at the end",
        edits=[
            (
                NO_GRAD + BEST + TARGETS,
                """    torch.set_grad_enabled(False)
    best = target_net(next_states).amax(dim=1)
    targets = rewards + gamma * best.masked_fill(done, 0.0)
    torch.set_grad_enabled(True)
""",
            )
        ],
        check="test_grad_mode",
        says="is_grad_enabled",
    ),
    Wrong(
        "a target in evaluation mode, for good",
        edits=[
            (
                NO_GRAD,
                "    if isinstance(net, torch.nn.Module):\n        net.eval()\n" + NO_GRAD,
            )
        ],
        check="test_nothing_changes_for_the_caller",
        says="training flag",
    ),
    Wrong(
        "puts target_net into evaluation mode, for good",
        edits=[(PREDICTIONS, "    getattr(target_net, 'eval', bool)()\n" + PREDICTIONS)],
        check="test_nothing_changes_for_the_caller",
        says="training flag",
    ),
    Wrong(
        "multiplies what comes after the end by 0",
        edits=[("best.masked_fill(done, 0.0)", "best * (1 - done.to(best.dtype))")],
        check="test_ended_episodes",
        says="NaN",
    ),
    Wrong(
        "turns NaN into 0 in the worth: NaN elsewhere comes through",
        edits=[
            ("best.masked_fill(done, 0.0)", "(best * ~done).nan_to_num()"),
            ("amax(dim=1)", "amax(dim=1).nan_to_num(1.0)"),
        ],
        check="test_ended_episodes",
    ),
    Wrong(
        "forgets the end",
        edits=[("best.masked_fill(done, 0.0)", "best")],
        check="test_loss",
        says="done has no effect",
    ),
    Wrong(
        "the end the wrong way round",
        edits=[("best.masked_fill(done, 0.0)", "best.masked_fill(~done, 0.0)")],
        check="test_loss",
        says="done is read the wrong way round",
    ),
    Wrong(
        "drops the reward at the end too",
        edits=[
            (
                "rewards + gamma * best.masked_fill(done, 0.0)",
                "(rewards + gamma * best).masked_fill(done, 0.0)",
            )
        ],
        check="test_loss",
    ),
    Wrong(
        "net for the worth of the next state",
        edits=[("target_net(next_states)", "net(next_states)")],
        check="test_target_net_tells_the_worth",
    ),
    Wrong(
        "net picks the best action, target_net tells its worth",
        edits=[
            (
                "target_net(next_states).amax(dim=1)",
                "target_net(next_states).gather(1, net(next_states).argmax(1, keepdim=True)).squeeze(1)",
            )
        ],
        check="test_target_net_tells_the_worth",
    ),
    Wrong(
        "target_net for both",
        edits=[(PREDICTIONS, PREDICTIONS.replace("net(states)", "target_net(states)"))],
        check="test_target_net_tells_the_worth",
    ),
    Wrong(
        "the mean over the actions",
        edits=[("amax(dim=1)", "mean(dim=1)")],
        check="test_loss",
        says="next states are worth the mean of their actions",
    ),
    Wrong("the best over the batch", edits=[("amax(dim=1)", "amax()")], check="test_loss"),
    Wrong("ignores gamma", edits=[("gamma * best", "0.99 * best")], check="test_gamma"),
    Wrong(
        "another default for gamma", edits=[("gamma: float = 0.99", "gamma: float = 0.9")], check="test_gamma"
    ),
    Wrong("the sum over the batch", edits=[(".square().mean()", ".square().sum()")], check="test_loss"),
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
        check="test_target_net_tells_the_worth",
        says="-inf",
    ),
    Wrong(
        "zeros written into what target_net returns",
        edits=[("        best = ", "        target_net(next_states)[done] = 0.0\n        best = ")],
        check="test_nothing_changes_for_the_caller",
        says="networks that return their states",
    ),
    Wrong(
        "drops NaN after the end, and multiplies inf by 0",
        edits=[
            (BEST, "        best = target_net(next_states).amax(1)\n"),
            ("best.masked_fill(done, 0.0)", "best.masked_fill(done & best.isnan(), 0.0) * ~done"),
        ],
        check="test_ended_episodes",
        says="and inf",
    ),
    Wrong(
        "lets net choose the action where both are modules",
        edits=[
            (
                BEST,
                "        worth = target_net(next_states)\n"
                "        judge = net if isinstance(net, torch.nn.Module) else target_net\n"
                "        best = worth.gather(1, judge(next_states).argmax(1, keepdim=True)).squeeze(1)\n",
            )
        ],
        check="test_target_net_tells_the_worth",
    ),
    Wrong("half the mean", edits=[(".square().mean()", ".square().mean() / 2")], check="test_loss"),
    Wrong("absolute differences", edits=[(".square().mean()", ".abs().mean()")], check="test_loss"),
    Wrong(
        "a smooth loss",
        edits=[(RETURN, "    return torch.nn.functional.smooth_l1_loss(predictions, targets)\n")],
        check="test_loss",
    ),
    Wrong(
        "a mean without NaN",
        edits=[(".square().mean()", ".square().nanmean()")],
        check="test_nan_comes_through",
        says="hides nan in",
    ),
    Wrong(
        "a Huber loss, which is linear beyond 100",
        edits=[
            (RETURN, "    return 2 * torch.nn.functional.huber_loss(predictions, targets, delta=100.0)\n")
        ],
        check="test_rewards_of_any_size",
        says="wrong values",
    ),
    Wrong(
        "a prediction of (batch, 1) against a target of (batch,)",
        edits=[(".squeeze(1)  # (batch,)", "")],
        check="test_loss",
    ),
    Wrong(
        "flattens states to two dimensions that it guesses",
        edits=[("net(states).gather", "net(states.view(len(states), 3)).gather")],
        check="test_states_with_more_dimensions",
    ),
    Wrong(
        "targets are made anew on the CPU",
        edits=[(RETURN, "    targets = torch.tensor(targets.tolist(), dtype=targets.dtype)\n" + RETURN)],
        check="test_on_another_device",
    ),
    Wrong(
        "a step the wrong way",
        edits=[(RETURN, "    predictions = 2 * predictions.detach() - predictions\n" + RETURN)],
        check="test_training_reaches_the_right_worth",
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
    Right(
        "asks target_net about episodes that go on, and not at all where there are none",
        edits=instead("""
    target = rewards.detach().clone()
    if not done.all():
        with torch.no_grad():
            target[~done] += gamma * target_net(next_states[~done]).amax(1)
    return (net(states).gather(1, actions[:, None])[:, 0] - target).square().mean()
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
    Right(
        "a target of plain numbers",
        edits=instead("""
    worth = target_net(next_states).data.amax(-1)
    target = rewards.data.clone()
    target[~done] += gamma * worth[~done]
    mask = torch.nn.functional.one_hot(actions, worth.new_empty(0).numel() + net(states).size(1)).bool()
    return (net(states)[mask] - target).square().mean()
"""),
    ),
    Wrong(
        "asks one net for both at once, so that NaN after an end reaches its weights",
        edits=[
            (
                "    predictions = net(states)",
                "    both = net(torch.cat([states, next_states])) if net is target_net else None\n"
                "    predictions = (net(states) if both is None else both[: len(states)])",
            ),
            (
                "target_net(next_states)",
                "(target_net(next_states) if both is None else both[len(states) :])",
            ),
        ],
        check="test_ended_episodes",
        says="NaN after the end",
    ),
    Wrong(
        "takes what the network returns for contiguous",
        edits=[
            (
                PREDICTIONS,
                "    worth = net(states)\n"
                "    rows = torch.arange(len(actions), device=actions.device)\n"
                "    predictions = worth.view(-1)[rows * worth.shape[1] + actions]\n",
            )
        ],
        check="test_target_net_tells_the_worth",
    ),
    Right(
        "takes the actions out of the flat table",
        edits=[
            (
                PREDICTIONS,
                "    worth = net(states)\n"
                "    rows = torch.arange(len(actions), device=actions.device)\n"
                "    predictions = worth.take(rows * worth.shape[1] + actions)\n",
            )
        ],
    ),
]
