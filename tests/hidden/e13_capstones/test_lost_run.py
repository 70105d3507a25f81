"""What grades lost_run: each part of a run that goes on; checkpoints of before; work and size."""

import copy
import io
import random
import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_number, expect_raises, expect_that


@pytest.fixture(autouse=True)
def streams():
    """The random streams, as they were."""
    before, python = torch.get_rng_state(), random.getstate()
    yield
    torch.set_rng_state(before)
    random.setstate(python)


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def trained(answer, batches, seed=3):
    """A run after so many batches."""
    run = answer.train.Run(seed)
    for _ in range(batches):
        run.train_batch()
    return run


def resumed(answer, state):
    """A new run that has loaded this state."""
    run = answer.train.Run(8)
    run.load_state_dict(copy.deepcopy(state))
    return run


def copied(weights):
    return {name: value.detach().clone() for name, value in weights.items()}


def test_starts_anew(answer, folder):
    """A run that is started again in its folder begins with batch 1."""
    answer.train.train(folder, 6)
    _, log = answer.train.train(folder, 8)
    first = [number for number, _ in log[:1]]
    expect_that(first != [1], "started again after 6 batches, a run begins with batch 1", first_batch=first)


def test_newest(answer, folder):
    """A run goes on from an old checkpoint, though there is a newer one."""
    for number in (5, 90, 95, 100):
        (folder / f"batch_{number}.pt").touch()
    found = answer.checkpoint.latest(folder)
    name = None if found is None else Path(found).name
    what = "of the checkpoints of batches 5, 90, 95 and 100 another is taken than the newest"
    expect_that(name == "batch_100.pt", what, yours=str(name))


class Bomb:
    """The machine goes away while this is written."""

    def __reduce__(self):
        raise ZeroDivisionError


def test_killed_while_saving(answer, folder):
    """After a kill while a checkpoint was written, there is one that cannot be read."""
    state = {"batches": 14, "model": {"weight": torch.ones(3000)}}
    answer.checkpoint.save(state, folder)
    bad = {**state, "batches": 16, "bomb": Bomb()}
    expect_raises(ZeroDivisionError, lambda: answer.checkpoint.save(bad, folder), "a save that is killed")
    names = sorted(path.name for path in folder.glob("batch_*.pt"))
    what = "a save that was killed leaves a file that is not whole under a checkpoint's name"
    expect_that(names == ["batch_14.pt"], what, yours=names, wanted=["batch_14.pt"])


def test_count_goes_on(answer):
    """After a resume the number of batches is another one than before."""
    state = trained(answer, 7).state_dict()
    yours = resumed(answer, state).batches
    expect_equal(yours, 7, "the number of batches, resumed after 7,")


def test_weights_go_on(answer):
    """The weights of the model are others right after a resume."""
    run = trained(answer, 8)
    wanted, averaged = copied(run.model.state_dict()), copied(run.average.weights)
    yours = resumed(answer, run.state_dict()).model.state_dict()
    for name, value in wanted.items():
        suspects = {"these are the averaged weights": lambda name=name: averaged[name]}
        expect_equal(yours[name], value, f"{name} of the model right after a resume", suspects=suspects)


def test_moments(answer):
    """The first updates after a resume are as large as those of a fresh optimizer."""
    run = trained(answer, 8)
    wanted = {name: copied(run.optimizer.state[p]) for name, p in run.model.named_parameters()}
    again = resumed(answer, run.state_dict())
    for name, p in again.model.named_parameters():
        yours = again.optimizer.state.get(p, {})
        expect_that(bool(yours), f"after a resume the optimizer has no moments for {name}")
        for moment, value in wanted[name].items():
            expect_equal(yours[moment], value, f"the optimizer's moments, {moment} of {name}, after a resume")


@pytest.mark.parametrize("batches", [6, 9, 20])
def test_learning_rate(answer, batches):
    """The learning rate jumps at a resume."""
    state, u = trained(answer, batches).state_dict(), batches // 2
    wanted = 0.05 * ((u + 1) / 6 if u < 6 else 1 - 0.9 * (u - 6) / 24)
    yours = resumed(answer, state).schedule.get_last_lr()[0]
    expect_number(yours, wanted, f"the learning rate, resumed after {batches} batches,")


def test_half_of_an_update(answer):
    """Of an update that was half done at a checkpoint, half is missing."""
    run = trained(answer, 7)
    wanted = {name: p.grad.clone() for name, p in run.model.named_parameters()}
    again = resumed(answer, run.state_dict())
    for name, p in again.model.named_parameters():
        what = f"the gradients of batch 7 are lost by a resume after it: {name} has none"
        expect_that(p.grad is not None, what)
        expect_equal(p.grad, wanted[name], f"the gradients of {name} after a resume")


def test_dropout_goes_on(answer):
    """Dropout drops other elements after a resume than without it."""
    state = copy.deepcopy(trained(answer, 3).state_dict())
    wanted = F.dropout(torch.ones(64))
    resumed(answer, state)
    yours = F.dropout(torch.ones(64))
    expect_that(
        torch.equal(yours, wanted), "after a resume dropout drops other elements", yours=yours, wanted=wanted
    )


def test_brightness_goes_on(answer):
    """A batch is brightened by another number after a resume than without it."""
    state = copy.deepcopy(trained(answer, 3).state_dict())
    wanted = answer.data.brighten(torch.ones(1)).item()
    resumed(answer, state)
    yours = answer.data.brighten(torch.ones(1)).item()
    expect_that(yours == wanted, "after a resume a batch is brightened otherwise", yours=yours, wanted=wanted)


def loaded(answer, taken):
    """A sampler of 10 rows by 4 that took so many batches, and one that has loaded its state."""
    sampler, other = answer.data.Sampler(10, 4, 3), answer.data.Sampler(10, 4, 3)
    for _ in range(taken):
        next(sampler)
    other.load_state_dict(copy.deepcopy(sampler.state_dict()))
    return sampler, other


@pytest.mark.parametrize("taken", [1, 2, 4])
def test_rest_of_the_epoch(answer, taken):
    """After a resume in an epoch, rows that were seen in it already come again."""
    sampler, other = loaded(answer, taken)
    wanted, yours = ([len(next(s)) for _ in range(5)] for s in (sampler, other))
    what = f"more or less than what is left of the epoch comes after a resume: {taken} batches were taken"
    expect_that(yours == wanted, what, sizes_of_yours=yours, wanted=wanted)


@pytest.mark.parametrize("taken", [5, 7])
def test_next_epochs(answer, taken):
    """The epochs after a resume have the orders of other epochs."""
    epochs = []
    for sampler in loaded(answer, taken):
        while len(next(sampler)) == 4:  # what is left of this epoch
            pass
        epochs.append(torch.cat([next(sampler) for _ in range(3)]).tolist())
    what = f"the order of an epoch is that of another one, after a resume at {taken} batches"
    expect_that(epochs[1] == epochs[0], what, yours=epochs[1], wanted=epochs[0])


def test_best_weights(answer):
    """The weights kept as the best do not have the accuracy that is told of them."""
    run = trained(answer, 4)
    accuracy, wanted = run.evaluate(), copied(run.average.weights)
    for _ in range(6):
        run.train_batch()
    for name, value in wanted.items():
        what = f"{name} of the weights kept as the best, {accuracy:.3f} after batch 4, six batches later"
        expect_equal(run.best_weights[name], value, what)


def before_renaming(state):
    """This state, as a checkpoint of earlier years has it."""
    state = copy.deepcopy(state)
    for part in ("model", "average", "best_weights"):
        state[part] = {name.replace("head.", "out."): value for name, value in state[part].items()}
    return state


def test_old_head(answer):
    """The head of a checkpoint from earlier years is lost: random weights stand in its place."""
    state = before_renaming(trained(answer, 8).state_dict())
    head = resumed(answer, state).model.head
    for name in ("weight", "bias"):
        what = f"the model's head.{name} after loading a checkpoint that calls it out.{name}"
        expect_equal(getattr(head, name).detach(), state["model"][f"out.{name}"], what)


def test_old_checkpoint(answer):
    """A checkpoint of earlier years, without gradients, loads, and the run trains on."""
    run = trained(answer, 8)
    run.evaluate()
    state = before_renaming(run.state_dict())
    del state["gradients"]
    again = resumed(answer, state)
    for what in ("average", "best_weights"):
        weights = again.average.weights if what == "average" else again.best_weights
        wanted = {name.replace("out.", "head."): value for name, value in state[what].items()}
        expect_equal(dict(weights), wanted, f"{what} after loading a checkpoint of earlier years")
    expect_that(all(p.grad is None for p in again.model.parameters()), "there are gradients from nowhere")
    again.train_batch(), again.train_batch()


def test_file_from_a_gpu(answer, folder, monkeypatch):
    """A checkpoint that was written on a GPU loads on the CPU."""
    with monkeypatch.context() as patched:
        patched.setattr(torch.serialization, "location_tag", lambda *_: "cuda:0")
        torch.save({"batches": 5, "model": {"weight": torch.ones(3)}}, folder / "batch_5.pt")
    state = answer.checkpoint.load(folder / "batch_5.pt")
    expect_equal(state["model"]["weight"], torch.ones(3), "the weight from a file that a GPU wrote")


def test_three_are_kept(answer, folder):
    """The newest three checkpoints are kept."""
    for number in range(11, 16):
        answer.checkpoint.save({"batches": number}, folder)
    names = sorted(path.name for path in folder.glob("batch_*"))
    expect_equal(names, [f"batch_{number}.pt" for number in (13, 14, 15)], "the files after five checkpoints")


def test_first_batches(answer):
    """A new run trains as the README says."""
    train, seed = answer.train, 5
    torch.manual_seed(seed), random.seed(seed)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 6))
    optimizer, wanted = torch.optim.AdamW(model.parameters(), lr=0.05), []
    order = torch.randperm(200, generator=torch.Generator().manual_seed(1000 * seed)).split(24)
    for number, rows in enumerate(order[:8]):
        optimizer.param_groups[0]["lr"] = 0.05 * (number // 2 + 1) / 6
        scores = model(train.X[rows] * random.uniform(0.7, 1.3))
        loss = F.cross_entropy(scores, train.Y[rows])
        (loss / 2).backward()
        wanted.append(loss.item())
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    run = train.Run(seed)
    for number, loss in enumerate(wanted, 1):
        expect_number(run.train_batch(), loss, f"the loss of batch {number} of a new run", rtol=1e-4)


@pytest.mark.fine
def test_nothing_again(answer):
    """Loading a checkpoint runs no batch through the model."""
    state, calls = trained(answer, 8).state_dict(), []
    hook = nn.modules.module.register_module_forward_hook(lambda module, *_: calls.append(type(module)))
    try:
        resumed(answer, state)
    finally:
        hook.remove()
    times = calls.count(answer.model.Net)
    expect_that(not calls, "load_state_dict runs the model", times=times)


@pytest.mark.fine
def test_size(answer):
    """A checkpoint is no larger after many epochs than after one."""
    sizes = []
    for epochs in (1, 400):
        run = trained(answer, 2)
        for _ in range(9 * epochs):
            next(run.sampler)
        file = io.BytesIO()
        torch.save(run.state_dict(), file)
        sizes.append(len(file.getvalue()))
    what = "a checkpoint grows with the number of epochs"
    expect_that(sizes[1] <= sizes[0] + 1024, what, bytes_after_1_and_after_400=sizes)


def oracle(answer, gen):
    def killed(gen):
        """A run after a resume, and its seed."""
        seed, batches = (
            int(torch.randint(low, high, (), generator=gen)) for low, high in ((0, 10**6), (5, 20))
        )
        return resumed(answer, trained(answer, batches, seed).state_dict())

    def losses(gen):
        run = answer.train.Run(int(torch.randint(10**9, (), generator=gen)))
        return [run.train_batch() for _ in range(4)]

    def averaged(gen):
        return copied(killed(gen).average.weights)

    def weights(gen):
        run = killed(gen)
        for _ in range(6):
            run.train_batch()
        return copied(run.model.state_dict())

    def rows(gen):
        size = int(torch.randint(30, 1000, (), generator=gen))
        sampler, other = (answer.data.Sampler(size, 7, size) for _ in range(2))
        for _ in range(int(torch.randint(2, 9, (), generator=gen))):
            next(sampler)
        other.load_state_dict(sampler.state_dict())
        x = torch.randn(size, generator=gen, dtype=torch.float64)
        return [x[next(other)].sum() for _ in range(4)]

    return {
        "the losses of the first four batches": losses,
        "the averaged weights after a resume": averaged,
        "the weights six batches after a resume": weights,
        "sums over the rows of the batches after a resume": rows,
    }
