"""The suite of save_and_go_on."""

import tempfile
from functools import partial
from pathlib import Path

import torch
from torch import nn

from grader.checks.contract import Contract, given


def trained(model, optimizer, x, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    return model.weight.detach().clone()


def run(save, go_on, path, weight, rest):
    """What a new model is after loading, and after one more step."""
    (x, epoch), made = rest, []
    for number in range(2):
        model = nn.Linear(*weight.shape[::-1], bias=False)
        model.weight = nn.Parameter(weight.clone() if number == 0 else torch.full_like(weight, 0.5))
        made.append((model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)))
    (old, optimizer), new = made
    trained(old, optimizer, x, 3)
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder) / path, old, optimizer, epoch)
        trained(old, optimizer, x, 2)
        epoch = go_on(Path(folder) / path, *new)
    return {
        "the epoch": epoch,
        "weight": trained(*new, x, 0),
        "weight after one more step": trained(*new, x, 1),
    }


def save(path, model, optimizer, epoch, whole=False):
    states = {"model": model if whole else model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(states | {"epoch": epoch}, path)


def go_on(path, model, optimizer, weights=True, velocities=True):
    checkpoint = torch.load(path)
    if weights:
        model.load_state_dict(checkpoint["model"])
    if velocities:
        optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]


def draw(gen):
    cases = {}
    for n in (1, 2, 4):
        epoch = int(torch.randint(1, 100, (), generator=gen))
        weight, x = torch.randn(2, n, generator=gen), torch.randn(5, n, generator=gen)
        cases[f"{n} features"] = given("run.pt", weight, (x, epoch))
    return cases


contract = Contract(
    "go_on(path, model, optimizer)",
    reference=partial(run, save, go_on),
    inputs=draw,
    suspects={
        "the optimizer has forgotten its earlier steps: load its state as well": partial(
            run, save, partial(go_on, velocities=False)
        ),
        "the weights are not loaded: call model.load_state_dict(…)": partial(
            run, save, partial(go_on, weights=False)
        ),
        "go_on does not return the epoch": partial(run, save, lambda *given: go_on(*given) and None),
        "a whole model was saved, which torch.load refuses: save its state_dict()": partial(
            run, partial(save, whole=True), go_on
        ),
    },
    use=lambda answer, *given: run(answer.save, answer.go_on, *given),
)
