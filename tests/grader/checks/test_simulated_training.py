"""What people train with works on the simulated device, with the same numbers as on the CPU."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.checks.devices import count_traffic, is_simulated, on_host, to_device
from tests.grader.support.fresh_device import on_device, same


@on_device
def test_gradients_agree_with_the_cpu(device: torch.device) -> None:
    host = torch.rand(3, 4, requires_grad=True)
    x = to_device(host)

    def loss(t: Tensor) -> Tensor:
        y = t * 1
        y[0] = 0.5
        return (y.softmax(1) * y[:, :1].exp()).pow(2).sum()

    for t in (host, x):
        (first,) = torch.autograd.grad(loss(t), t, create_graph=True)
        first.pow(2).sum().backward()
    assert x.grad is not None and host.grad is not None and same(x.grad, host.grad)
    assert torch.autograd.gradcheck(lambda t: t.sigmoid().cumsum(0), x.detach().double().requires_grad_())
    start = torch.ones(2, requires_grad=True)
    (start.to(device) * 3).sum().cpu().backward()
    assert start.grad is not None and torch.equal(start.grad, torch.full((2,), 3.0))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grads[0] * 3 * x**2


@on_device
def test_custom_functions_and_checkpointing(device: torch.device) -> None:
    from torch.utils.checkpoint import checkpoint

    x = torch.full((2,), 2.0, device=device, requires_grad=True)
    Cube.apply(x).sum().backward()
    assert x.grad is not None and same(x.grad, torch.full((2,), 12.0))
    ones = torch.ones(64, device=device, requires_grad=True)
    torch.rand(1, device=device)
    out = checkpoint(F.dropout, ones, use_reentrant=False)
    out.sum().backward()
    assert ones.grad is not None and same(ones.grad, on_host(out))  # the same numbers were drawn again


@on_device
def test_function_transforms(device: torch.device) -> None:
    x = torch.rand(3, 2, device=device)

    def f(row: Tensor) -> Tensor:
        return (row**3).sum()

    assert same(torch.func.vmap(torch.func.grad(f))(x), torch.func.vmap(torch.func.grad(f))(on_host(x)))
    assert same(torch.func.hessian(f)(x[0]), torch.func.hessian(f)(on_host(x)[0]))
    model = nn.Linear(2, 1).to(device)
    out = torch.func.functional_call(model, {"weight": torch.ones(1, 2, device=device)}, (x,))
    assert is_simulated(out)


@on_device
def test_layers_agree_with_the_cpu(device: torch.device) -> None:
    images, words = torch.rand(2, 3, 8, 8), torch.randint(0, 9, (2, 5))
    for module, x in (
        (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)), images),
        (nn.ConvTranspose2d(3, 4, 3, stride=2), images),
        (nn.Sequential(nn.Embedding(9, 4), nn.LayerNorm(4), nn.GELU()), words),
        (nn.Sequential(nn.Upsample(scale_factor=2), nn.GroupNorm(3, 3)), images),
    ):
        twin = copy.deepcopy(module).to(device)
        wanted, got = module(x), twin(x.to(device))
        assert same(got, wanted)
        cotangent = torch.rand_like(wanted)
        wanted.backward(cotangent)
        got.backward(cotangent.to(device))
        for theirs, ours in zip(module.parameters(), twin.parameters(), strict=True):
            assert ours.grad is not None and theirs.grad is not None and same(ours.grad, theirs.grad)
        assert all(map(same, twin.buffers(), module.buffers()))


@on_device
def test_recurrent_layers(device: torch.device) -> None:
    x, lengths = torch.rand(2, 5, 3), torch.tensor([5, 3])
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        host = kind(3, 4, num_layers=2, bidirectional=True, batch_first=True)
        twin = copy.deepcopy(host).to(device)
        torch.testing.assert_close(on_host(twin(x.to(device))[0]), host(x)[0].detach())
        packed = nn.utils.rnn.pack_padded_sequence(x.to(device), lengths, batch_first=True)
        out, sizes = nn.utils.rnn.pad_packed_sequence(twin(packed)[0], batch_first=True)
        out.sum().backward()
        assert torch.equal(sizes, lengths) and all(p.grad is not None for p in twin.parameters())
        with torch.inference_mode():
            again = copy.deepcopy(host).to(device)(x.to(device))[0]
            torch.testing.assert_close(on_host(again), host(x)[0])
    with torch.inference_mode():
        assert nn.GRUCell(3, 4).to(device)(x[0].to(device)).shape == (5, 4)


@on_device
def test_attention(device: torch.device) -> None:
    q, k, v = (torch.rand(2, 2, 5, 8, requires_grad=True) for _ in range(3))
    wanted = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    moved = to_device((q, k, v))
    got = F.scaled_dot_product_attention(*moved, is_causal=True)
    torch.testing.assert_close(on_host(got), wanted.detach())
    wanted.sum().backward()
    got.sum().backward()
    assert v.grad is not None
    torch.testing.assert_close(on_host(moved[2].grad), v.grad)
    F.scaled_dot_product_attention(*moved, dropout_p=0.5).sum().backward()


@on_device
def test_autocast(device: torch.device) -> None:
    x, model = torch.rand(2, 3, device=device), nn.Linear(3, 3).to(device)
    with torch.autocast("sim", dtype=torch.bfloat16):
        y = model(x)
        assert y.dtype == (x @ x.t()).dtype == (y + y).dtype == torch.bfloat16
        assert y.softmax(1).dtype == y.sum().dtype == F.layer_norm(y, (3,)).dtype == torch.float32
        assert (x.double() @ x.double().t()).dtype == torch.float64
        loss = F.cross_entropy(y, torch.zeros(2, dtype=torch.int64, device=device))
    assert loss.dtype == torch.float32
    loss.backward()
    assert model.weight.grad is not None and model.weight.grad.dtype == torch.float32
    with torch.autocast("sim"):
        assert model(x).dtype == torch.float16
    assert model(x).dtype == torch.float32


@on_device
def test_gradient_scaling(device: torch.device) -> None:
    model = nn.Linear(2, 1).to(device)
    optimizer, scaler = (
        torch.optim.SGD(model.parameters(), lr=0.1),
        torch.amp.GradScaler("sim", init_scale=4.0),
    )
    scaler.scale(model(torch.ones(1, 2, device=device)).sum()).backward()
    scaler.unscale_(optimizer)
    assert model.weight.grad is not None and same(model.weight.grad, torch.ones(1, 2))
    scaler.step(optimizer)
    model.weight.grad.fill_(torch.inf)
    scaler.update()
    assert scaler.get_scale() == 4.0


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.out = nn.LayerNorm(8), nn.Linear(8, 8)
        self.qkv, self.mlp = nn.Linear(8, 24), nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
        self.register_buffer("mask", torch.ones(5, 5, dtype=torch.bool).tril())

    def forward(self, x: Tensor) -> Tensor:  # (batch, time, 8) -> (batch, time, 8)
        q, k, v = self.qkv(self.norm(x)).view(*x.shape[:2], 3, 2, 4).permute(2, 0, 3, 1, 4)
        scores = (q @ k.mT / 2).masked_fill(~self.mask, -torch.inf)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(x)


def train(device: torch.device, make: Callable[[Any], torch.optim.Optimizer]) -> None:
    host = Block()
    ours = copy.deepcopy(host).to(device)
    x = torch.rand(3, 5, 8)
    optimizers = [make(m.parameters()) for m in (host, ours)]
    moved = x.to(device)
    with count_traffic() as traffic:
        for _ in range(5):
            for model, batch, optimizer in zip((host, ours), (x, moved), optimizers, strict=True):
                optimizer.zero_grad()
                (model(batch) - batch.roll(1, dims=1)).pow(2).mean().backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
    assert (traffic.to_device, traffic.to_host, traffic.syncs) == (0, 0, 0)
    assert all(map(same, ours.parameters(), host.parameters()))
    optimizers[1].load_state_dict(copy.deepcopy(optimizers[1].state_dict()))
    assert all(is_simulated(t) for t in tensors_in(optimizers[1].state_dict()["state"]) if t.dim())


def tensors_in(state: Any) -> list[Tensor]:
    return [t for entry in state.values() for t in entry.values() if isinstance(t, Tensor)]


@on_device
def test_training_with_adamw_is_bit_identical_to_the_cpu(device: torch.device) -> None:
    train(device, lambda parameters: torch.optim.AdamW(parameters, lr=1e-2))


@on_device
def test_training_with_momentum_is_bit_identical_to_the_cpu(device: torch.device) -> None:
    train(device, lambda parameters: torch.optim.SGD(parameters, lr=1e-1, momentum=0.9))
