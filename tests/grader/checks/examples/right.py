"""What the examples of grader.checks judge, done right."""

import asyncio
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset


def softmax(x):
    exps = (x - x.amax(dim=1, keepdim=True)).exp()
    return exps / exps.sum(dim=1, keepdim=True)


def sizes(x):
    return list(x.shape)


def scale_(x):
    return x.mul_(2)


def total(x):
    return x.sum()


def mean(numbers):
    return sum(numbers) / len(numbers)


def exp(x):
    return x.exp()


def options():
    return {"lr": 0.1, "momentum": 0.9}


def score(x, w):
    return x @ w


def penalty(w):
    return w.square().sum()


def halves(n):
    if n % 2:
        raise ValueError(f"{n} is not even")
    return n // 2, n // 2


def center(x):
    return x - x.mean()


def clipped(x):
    return x.clamp(max=1)


def predict(model, x):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    out = model(x).argmax(dim=1)
    for m, training in modes.items():
        m.training = training
    return out


def logits(model, x):
    return model(x)


def loss_of(model, loss_fn, x):
    return loss_fn(model(x))


def step(model, optimizer, x, target):
    optimizer.zero_grad()
    loss = (model(x) - target).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def shuffled(n, gen):
    return torch.randperm(n, generator=gen)


def parts(x):
    return tuple(part.clone() for part in x.chunk(2))


def columns(x):
    return x.mT


def snapshot(x):
    return x.detach().clone()


def running_mean(losses):
    return sum(loss.detach() for loss in losses) / len(losses)


def gram(x):
    return x @ x.mT


def indices(n):
    return torch.arange(n)


def positions(n):
    return torch.arange(n, dtype=torch.float32)


def mean_square(x):
    return x.float().square().mean()


def project(x, w):
    return x.bfloat16() @ w.bfloat16()


def length(x):
    return x.float().square().sum().sqrt().to(x.dtype)


def first_column(x):
    return x[:, 0]


def mean_row(x):
    return x.sum(dim=0) / max(len(x), 1)


def scaled(x, by=1.0):
    return x * by


def shares(sold, dim, base=1.0):
    return base * sold / sold.sum(dim, keepdim=True)


class Scale(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x * self.weight


def all_mean(x):
    if not x.numel():
        raise ValueError("the mean of nothing")
    dist.all_reduce(x)
    return x / dist.get_world_size()


def save(model, path):
    torch.save(model.state_dict(), path)


class Squares(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index**2


async def now():
    return asyncio.get_running_loop().time()


async def pause(seconds):
    await asyncio.sleep(seconds)


async def app(scope, receive, send):
    numbers = json.loads((await receive())["body"])
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps({"sum": sum(numbers)}).encode()})


def shape_of_result(model, x):
    shapes = []
    handle = model.register_forward_hook(lambda _model, _given, out: shapes.append(out.shape))
    model(x)
    handle.remove()
    return shapes[0]


def twice(fn):
    return [fn(), fn()]
