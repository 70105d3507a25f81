"""What provokes each message that a chapter explains, where a CPU can, by the message's first words."""

import copy
import datetime
import io
import json
import logging
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import safetensors.torch
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import lr_scheduler
from torch.utils.data import (
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    SequentialSampler,
    TensorDataset,
    random_split,
)

Provoke = Callable[[], object]
Kernel = Callable[[torch.Tensor], torch.Tensor]

ONES = torch.ones(2)


def w() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


def rnn(*shapes: Sequence[int]) -> object:
    x, *state = (torch.ones(shape) for shape in shapes)
    return nn.LSTM(3, 4)(x, (state[0], state[0]) if state else None)


def warned(provoke: Provoke) -> Provoke:
    """A warning, raised."""

    def raised() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            provoke()

    return raised


TENSORS: dict[str, Provoke] = {
    "Sizes of tensors": lambda: torch.cat([torch.ones(2, 3), torch.ones(3, 4)], 1),
    "argument 'tensors'": lambda: torch.cat(ONES, ONES),  # type: ignore[call-overload]
    "shape '[4, 2]'": lambda: torch.ones(6).view(4, 2),
    "batch1": lambda: torch.ones(2, 3).bmm(torch.ones(3, 2)),
    "Expected size for": lambda: torch.ones(2, 3, 4).bmm(torch.ones(3, 4, 2)),
    "number of dimensions": lambda: torch.ones(2, 3).permute(0, 1, 2),
    "index 3 is": lambda: ONES[3],
    "too many": lambda: torch.ones(2, 3)[:, 0, 0],
    "The shape of the mask": lambda: torch.ones(2, 3)[torch.ones(3).bool()],
    "tensors used": lambda: torch.ones(3)[torch.tensor([0.5])],
    "gather()": lambda: torch.ones(3).gather(0, torch.tensor([1.0])),
    "expected sequence": lambda: torch.tensor([[1, 2], [3]]),
    "only one element": lambda: torch.tensor([ONES]),
    "can't convert np.ndarray": lambda: torch.tensor(np.array(["cat"])),
    "tensors with negative": lambda: torch.from_numpy(np.arange(3)[::-1]),
    "result type": lambda: torch.arange(3).add_(0.5),
    "only supports": lambda: ONES.masked_fill(ONES, 0),
    "where expected": lambda: torch.where(ONES, 1, 2),
    "Subtraction": lambda: torch.tensor([True]) - torch.tensor([True]),
    "not implemented": lambda: torch.tensor([1, 2]).softmax(0),
    "probability tensor": lambda: torch.multinomial(-ONES, 1),
    "cannot sample": lambda: torch.multinomial(ONES, 3),
    "selected index": lambda: ONES.topk(5),
    "Number of": lambda: torch.ones(2, 3).repeat(2),
    "einsum()": lambda: torch.einsum("ij,jk", torch.ones(2, 3), torch.ones(4, 5)),
    "Expected reduction": lambda: torch.empty(0).max(),
    "one_hot": lambda: F.one_hot(ONES, 3),
    "Class values": lambda: F.one_hot(torch.tensor([5]), 3),
    "Tensors must": lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 3, 4)]),
    "'torch.Size'": lambda: ONES.shape(),  # type: ignore[operator]
    "The given NumPy": warned(lambda: torch.from_numpy(np.broadcast_to(np.ones(2), (2, 2)))),
    "To copy construct": warned(lambda: torch.tensor(ONES)),
    "Trying to resize": lambda: torch.from_numpy(np.ones(2)).resize_(5),
    "can't allocate": lambda: torch.zeros(1 << 50),
    "Attempting to broadcast": lambda: torch.broadcast_shapes((2,), (3,)),
    "maximum size for tensor": lambda: torch.ones(2).unfold(0, 3, 1),
    "setStorage: sizes": lambda: torch.ones(3).as_strided((2,), (5,)),
    "Index tensor must have": lambda: torch.zeros(4, 2).scatter_add(0, torch.tensor([2]), torch.ones(1, 2)),
    "shape mismatch: value tensor": lambda: torch.zeros(2, 3).__setitem__(
        torch.ones(2, 3) > 0, torch.ones(4)
    ),
}


def twice() -> None:
    loss = w().square().sum()
    loss.backward()
    loss.backward()


def modified() -> None:
    e = w().exp()
    e += 1
    e.sum().backward()


def made_in_inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(2)


def anomaly() -> None:
    with torch.autograd.set_detect_anomaly(True):
        (torch.zeros(2, requires_grad=True).sqrt() * 0).sum().backward()


class TwoGradients(torch.autograd.Function):
    """A backward that returns one too many."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * x

    @staticmethod
    def backward(ctx: object, *grads: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return grads[0], grads[0]


class HalfAGradient(torch.autograd.Function):
    """A backward that returns a part."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * x

    @staticmethod
    def backward(ctx: object, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0].new_ones(3)


def shrunk() -> None:
    p = w()
    p.register_hook(lambda gradient: gradient[:1])
    p.sum().backward()


AUTOGRAD: dict[str, Provoke] = {
    "appears to": lambda: torch.autograd.grad(w().sum(), w()),
    "you can only": lambda: setattr(w() * 2, "requires_grad", False),
    "a view of": lambda: w()[0].fill_(3),
    "Only Tensors created": lambda: copy.deepcopy(w() * 2),
    "returned an incorrect": lambda: TwoGradients.apply(w()).sum().backward(),
    "returned an invalid": lambda: HalfAGradient.apply(w()).sum().backward(),
    "has changed": shrunk,
    "Legacy": lambda: TwoGradients()(w()),
    "vmap: called": lambda: torch.func.vmap(F.dropout)(ONES),
    "Mismatch in": lambda: w().backward(torch.ones(3)),
    "'NoneType' object": lambda: w().grad.zero_(),  # type: ignore[union-attr]
    "Inplace update": lambda: made_in_inference().add_(1),
    "Jacobian": lambda: torch.autograd.gradcheck(lambda x: x.detach() * x, w().double()),
    "The .grad": warned(lambda: (w() * 2).grad),
}


class NoSuper(nn.Module):
    """A module that forgets its parent."""

    def __init__(self) -> None:
        self.layer = nn.Linear(2, 2)


class Net(nn.Module):
    """A model without a forward."""


MODULES: dict[str, Provoke] = {
    "cannot assign": NoSuper,
    "is missing": lambda: Net()(ONES),
    "as parameter": lambda: setattr(nn.Linear(2, 2), "weight", torch.ones(2, 2)),
    "argument 'input' (position 1) must be Tensor, not list": lambda: nn.Linear(2, 2)([1.0, 2.0]),
    "argument 'input' (position 1) must be Tensor, not tuple": lambda: F.relu(rnn((2, 2, 3))),  # type: ignore[arg-type]
    "Given groups": lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 8, 8, 3)),
    "Expected 3D": lambda: nn.Conv2d(3, 4, 3)(torch.ones(8, 8)),
    "Kernel size": lambda: nn.Conv2d(3, 4, 5)(torch.ones(1, 3, 4, 4)),
    "Output size": lambda: nn.MaxPool2d(2)(torch.ones(1, 1, 1, 1)),
    "Input type": lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 3, 8, 8).byte()),
    "Expected more": lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)),
    "running_mean": lambda: nn.BatchNorm1d(3)(torch.ones(2, 4)),
    "expected 4D": lambda: nn.BatchNorm2d(3)(torch.ones(2, 3)),
    "Given normalized_shape": lambda: nn.LayerNorm(4)(torch.ones(2, 3)),
    "Expected tensor": lambda: nn.Embedding(3, 2)(ONES),
    "input.size": lambda: rnn((2, 5)),
    "Expected hidden": lambda: rnn((2, 3, 3), (1, 2, 4)),
    "embed_dim": lambda: nn.MultiheadAttention(5, 2),
    "The shape of the 2D": lambda: nn.MultiheadAttention(4, 2)(
        *[torch.ones(2, 1, 4)] * 3, attn_mask=torch.ones(3, 3)
    ),
    "Need attn_mask": lambda: nn.MultiheadAttention(4, 2)(*[torch.ones(2, 1, 4)] * 3, is_causal=True),
    "Expected key_padded_mask": lambda: nn.MultiheadAttention(4, 2, batch_first=True)(
        *[torch.ones(2, 3, 4)] * 3, key_padding_mask=torch.ones(3, 2).bool()
    ),
    "Expected input": lambda: F.cross_entropy(torch.ones(4, 3), torch.zeros(3).long()),
    "0D or 1D": lambda: F.cross_entropy(torch.ones(2, 3), torch.ones(2, 1).long()),
    "Expected floating": lambda: F.cross_entropy(torch.ones(2, 3), torch.ones(2, 3).long()),
    "all elements": lambda: F.binary_cross_entropy(2 * ONES, ONES),
    "Target size": lambda: F.binary_cross_entropy_with_logits(torch.ones(2, 1), ONES),
    "Found dtype": lambda: F.binary_cross_entropy(ONES, ONES.long()),
    "weight tensor": lambda: F.cross_entropy(torch.ones(2, 3), torch.zeros(2).long(), weight=ONES),
    "Implicit": warned(lambda: F.softmax(ONES)),
    "list is": lambda: nn.Sequential([nn.Linear(2, 2)]),  # type: ignore[arg-type]
    "attribute 'weight'": lambda: nn.Linear(2, 2).register_buffer("weight", ONES),
    "Expected state_dict": lambda: nn.Linear(2, 2).load_state_dict(nn.Linear(2, 2)),  # type: ignore[arg-type]
    "forward() missing": lambda: nn.Linear(2, 2)(),
    "'tuple' object": lambda: rnn((2, 2, 3)).sum(),  # type: ignore[attr-defined]
    "Cannot copy": lambda: nn.Linear(2, 2, device="meta").to("cpu"),
    "size mismatch": lambda: nn.Linear(4, 2).load_state_dict(nn.Linear(3, 2).state_dict()),
}


class Rows(Dataset[object]):
    """What is given, row by row; `None` has no rows, and an exception is raised."""

    def __init__(self, rows: Sequence[object]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> object:
        if self.rows[row] is KeyError:
            raise KeyError("label")
        if self.rows[row] is os._exit:
            os._exit(1)
        return self.rows[row]


class Stream(IterableDataset[int]):
    """A stream."""

    def __iter__(self) -> Iterator[int]:
        yield 1


def batch(rows: Sequence[object], **settings: object) -> object:
    return next(iter(DataLoader(Rows(rows), batch_size=len(rows) or 1, **settings)))  # type: ignore[arg-type]


def no_pairs() -> None:
    for _x, _y in DataLoader(TensorDataset(ONES)):
        pass


def in_a_worker(row: object) -> object:
    return batch([row], num_workers=1, multiprocessing_context="fork")


DATA: dict[str, Provoke] = {
    "'list' object": lambda: [ONES].to("cpu"),  # type: ignore[attr-defined]
    "not enough": no_pairs,
    "default_collate": lambda: batch([None, None]),
    "each element": lambda: batch([[1, 2], [1]]),
    "num_samples": lambda: batch([], shuffle=True),
    "object of type": lambda: len(Stream()),  # type: ignore[arg-type]
    "sampler option": lambda: batch([1], sampler=SequentialSampler([1]), shuffle=True),
    "'DataLoader' object is not subscriptable": lambda: DataLoader(Rows([1]))[0],  # type: ignore[index]
    "'DataLoader' object is not an iterator": lambda: next(DataLoader(Rows([1]))),  # type: ignore[call-overload]
    "Sum of": lambda: random_split(Rows([1, 2, 3]), [1, 1]),
    "Size mismatch": lambda: TensorDataset(ONES, torch.ones(3)),
    "Can't pickle": lambda: pickle.dumps(lambda rows: rows),
    "Caught KeyError": lambda: in_a_worker(KeyError),
    "DataLoader worker": lambda: in_a_worker(os._exit),
    "DataLoader with": lambda: DataLoader(Stream(), shuffle=True),
    "persistent_workers": lambda: DataLoader(Rows([1]), persistent_workers=True),
    "prefetch_factor": lambda: DataLoader(Rows([1]), prefetch_factor=2),
    "This DataLoader": warned(lambda: DataLoader(Rows([1]), num_workers=999)),
    "`lengths`": lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), torch.tensor([1, 2])),
}


def sgd(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)  # type: ignore[arg-type]


def one_step_too_many() -> None:
    optimizer = sgd([w()])
    schedule = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2)
    for _ in range(3):
        optimizer.step()
        schedule.step()


def clip_nan() -> None:
    p = w()
    p.grad = p.detach() / 0
    nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)


TRAINING: dict[str, Provoke] = {
    "argument given": lambda: sgd(w()),
    "can't optimize": lambda: sgd([w() * 2]),
    "'method' object": lambda: sgd(nn.Linear(2, 2).parameters),
    "'Linear' object": lambda: sgd(nn.Linear(2, 2)),
    "some parameters": lambda: sgd([{"params": [p := w()]}, {"params": [p]}]),
    "Detected call": warned(lambda: lr_scheduler.StepLR(sgd([w()]), 1).step()),
    "Tried to": one_step_too_many,
    "loaded state dict": lambda: sgd([w()]).load_state_dict(sgd([w(), w()]).state_dict()),
    "is not specified": lambda: lr_scheduler.CosineAnnealingLR(sgd([w()]), 10, last_epoch=3),
    "is not an Optimizer": lambda: lr_scheduler.StepLR(nn.Linear(2, 2), 1),  # type: ignore[arg-type]
    "The total norm": clip_nan,
}


def scaled(*calls: str, backward: bool = True) -> Provoke:
    """A step with a GradScaler that calls these methods, in order."""

    def step() -> None:
        p, scaler = w(), torch.amp.GradScaler("cpu")
        optimizer, loss = sgd([p]), scaler.scale(p.sum())
        if backward:
            loss.backward()
        for call in calls:
            getattr(scaler, call)(optimizer)

    return step


PRECISION: dict[str, Provoke] = {
    "No inf": scaled("step", backward=False),
    "unscale_()": scaled("unscale_", "unscale_"),
    "step() has": scaled("step", "step"),
    "expected both": lambda: ONES.half() @ ONES,
    "value cannot": lambda: torch.tensor(300, dtype=torch.int8),
    "torch.finfo()": lambda: torch.finfo(torch.int8),
    '"add_stub"': lambda: ONES.to(torch.float8_e4m3fn) + 1,
    "expected m1": lambda: ONES.new_ones(2, 2).bfloat16() @ ONES.new_ones(2, 2),
}


class Forgets(nn.Module):
    """A model with a layer that it does not use."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.forgotten = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> object:
        return self.used(x)


def alone(what: Provoke) -> Provoke:
    """In a process group of one."""

    def provoke() -> None:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        try:
            what()
        finally:
            dist.destroy_process_group()

    return provoke


def unused() -> None:
    model = DistributedDataParallel(Forgets())
    for _ in range(2):
        model(torch.ones(1, 2)).sum().backward()


def port_taken() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        dist.TCPStore("127.0.0.1", held.getsockname()[1], 1, True)


def nobody_there() -> None:
    with socket.socket() as held:  # bound and not listening: nobody answers, nor takes it
        held.bind(("127.0.0.1", 0))
        short = datetime.timedelta(milliseconds=100)
        dist.TCPStore("127.0.0.1", held.getsockname()[1], 2, False, timeout=short)


def wrapped_names() -> dict[str, torch.Tensor]:
    return {f"module.{name}": p for name, p in nn.Linear(2, 2).state_dict().items()}


DISTRIBUTED: dict[str, Provoke] = {
    "Expected to have": alone(unused),
    "DistributedDataParallel is not": alone(lambda: DistributedDataParallel(nn.ReLU())),
    "DistributedDataParallel device_ids": alone(
        lambda: DistributedDataParallel(nn.Linear(2, 2), device_ids=[0])
    ),
    "'DistributedDataParallel'": alone(lambda: DistributedDataParallel(nn.Linear(2, 2)).weight),
    'Unexpected key(s) in state_dict: "module': lambda: nn.Linear(2, 2).load_state_dict(wrapped_names()),
    "trying to": alone(lambda: dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)),
    "environment variable": lambda: dist.init_process_group("gloo"),
    "The server socket": port_taken,
    "The client socket": nobody_there,
    "invalid output": alone(lambda: dist.all_gather([torch.ones(2), torch.ones(2)], ONES)),
    "invalid tensor": alone(lambda: dist.all_gather([torch.ones(3)], ONES)),
    "Invalid rank": lambda: DistributedSampler(Rows([1]), num_replicas=2, rank=5),
    "destination rank": alone(lambda: dist.send(ONES, 0)),
}


def by_sign(x: torch.Tensor) -> torch.Tensor:
    return x if x.sum() > 0 else -x


class BySign(nn.Module):
    """A model that decides by a value."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return by_sign(x)


def traced(function: Callable[[torch.Tensor], object]) -> Callable[..., object]:
    torch.compiler.reset()
    return torch.compile(function, fullgraph=True, backend="eager")


def many_sizes() -> None:
    """A compilation for each size, until the compiler logs that it gives up: raised."""
    logged, handler = list[str](), logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    torch.compiler.reset()
    compiled = torch.compile(lambda x: x + 1, backend="eager", dynamic=False)
    logger = logging.getLogger("torch._dynamo")
    logger.addHandler(handler)
    try:
        for size in range(2, 12):
            compiled(torch.ones(size))
    finally:
        logger.removeHandler(handler)
    raise Warning(logged[0])


def operator(body: Kernel, name: str) -> Kernel:
    def kernel(x: torch.Tensor) -> torch.Tensor:
        return body(x)

    return torch.library.custom_op(f"kata_messages::{name}", kernel, mutates_args=())


COMPILE: dict[str, Provoke] = {
    "Data-dependent": lambda: traced(by_sign)(ONES),
    "hit config": many_sizes,
    "There was no fake": lambda: traced(operator(torch.neg, "unfaked"))(ONES),
    "but no autograd": lambda: operator(torch.neg, "underived")(w()).sum().backward(),
    "The output of": lambda: operator(lambda x: x, "same")(ONES),
    "'_OpNamespace'": lambda: torch.ops.mine.nothing(ONES),
    "vmap: It looks like you're calling": lambda: torch.vmap(lambda x: x.item())(ONES),
    "vmap: It looks like you're attempting": lambda: torch.vmap(by_sign)(ONES),
    "Expected attn_mask": lambda: F.scaled_dot_product_attention(
        *[torch.ones(1, 2, 4)] * 3, attn_mask=torch.ones(2, 2).long()
    ),
}

DEBUGGING: dict[str, Provoke] = {
    "mat1 and mat2 shapes": lambda: nn.Linear(4, 2)(torch.ones(3, 5)),
    "The size of tensor a": lambda: torch.ones(3) + torch.ones(4),
    "The expanded size": lambda: torch.ones(2, 3).expand(2, 4),
    "view size": lambda: torch.ones(2, 3).T.view(6),
    "stack expects": lambda: torch.stack([torch.ones(2), torch.ones(3)]),
    "Index tensor": lambda: torch.ones(2, 3).gather(1, torch.tensor([0, 1])),
    "Dimension out": lambda: ONES.sum(1),
    "index out": lambda: nn.Embedding(3, 2)(torch.tensor([5])),
    "Target 3": lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3])),
    "Expected target size": lambda: F.cross_entropy(torch.ones(2, 5, 7), torch.zeros(2, 5).long()),
    "expected target dtype": lambda: F.cross_entropy(torch.ones(2, 7), torch.zeros(2)),
    "mean()": lambda: torch.tensor([1, 2]).mean(),
    "mat1 and mat2 must": lambda: nn.Linear(4, 2)(torch.from_numpy(np.ones((3, 4)))),
    "a Tensor with": lambda: ONES.item(),
    "Boolean value": lambda: bool(ONES > 0),
    "Can't call numpy": lambda: w().numpy(),
    "element 0": lambda: ONES.sum().backward(),
    "grad can be": lambda: (2 * w()).backward(),
    "only Tensors": lambda: torch.tensor([1]).requires_grad_(),
    "Trying to backward": twice,
    "one of the variables": modified,
    "a leaf Variable": lambda: w().add_(1),
    "Inference tensors": lambda: (made_in_inference() * w()).sum().backward(),
    "Error(s) in": lambda: nn.Linear(2, 2).load_state_dict({}),
    "optimizer got": lambda: sgd([]),
    "Default process group": lambda: dist.all_reduce(ONES),
    "Object of type Tensor": lambda: json.dumps(ONES),
    "Function 'SqrtBackward0'": anomaly,
    "Using a target": warned(lambda: F.mse_loss(torch.ones(2, 1), ONES)),
    "does not have": lambda: deterministic(lambda: torch.ones(3).put_(torch.tensor([0]), torch.ones(1))),
    "Weights only": lambda: torch.load(saved(nn.Linear(2, 2))),
}


def deterministic(provoke: Provoke) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        provoke()
    finally:
        torch.use_deterministic_algorithms(False)


def saved(what: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(what, file)
    file.seek(0)
    return file


def class_gone() -> None:
    """As a script that pickled a class of its own, read by another one."""
    here = sys.modules[__name__]
    file = saved(nn.Sequential(Net()))
    gone = here.__dict__.pop("Net")
    try:
        torch.load(file, weights_only=False)
    finally:
        here.__dict__["Net"] = gone


DEPLOYMENT: dict[str, Provoke] = {
    "PytorchStreamReader": lambda: torch.load(io.BytesIO(saved({"a": ONES}).getvalue()[:-200])),
    "Parent directory": lambda: torch.save(ONES, "/nowhere/run.pt"),
    "Can't get attribute": class_gone,
    "Some tensors": lambda: safetensors.torch.save({"a": (x := torch.ones(4)), "b": x[:2]}),
    "You are trying": lambda: safetensors.torch.save({"a": torch.ones(2, 3).T}),
    'Unexpected key(s) in state_dict: "_orig': lambda: nn.Linear(2, 2).load_state_dict(
        torch.compile(nn.Linear(2, 2)).state_dict()
    ),
    "Could not guard": lambda: torch.export.export(BySign(), (ONES,)),
    "Guard failed": lambda: torch.export.export(Forgets(), (torch.ones(1, 2),)).module()(torch.ones(3, 2)),
    "Failed to export": lambda: torch.onnx.export(BySign(), (ONES,), io.BytesIO(), verbose=False),
    "Object of type float32": lambda: json.dumps(np.float32(1)),
}

LANGUAGE_MODELS: dict[str, Provoke] = {
    "Number of heads": lambda: F.scaled_dot_product_attention(
        torch.ones(1, 3, 2, 4), torch.ones(1, 2, 2, 4), torch.ones(1, 2, 2, 4), enable_gqa=True
    ),
    "'utf-8' codec": lambda: b"\xc3".decode("utf-8"),
    "new(): invalid": lambda: torch.tensor("text"),
    "invalid multinomial": lambda: torch.multinomial(torch.zeros(3), 1),
    "reduction: 'mean'": warned(lambda: F.kl_div(torch.zeros(2, 3), torch.zeros(2, 3))),
    "index_add_(): Number": lambda: torch.zeros(3, 2).index_add_(0, torch.tensor([0, 1]), torch.ones(3, 2)),
    '"lshift_cpu"': lambda: ONES << 4,
    "Muon only": lambda: torch.optim.Muon([torch.nn.Parameter(torch.ones(3))]),
}

BY_SECTION: dict[str, dict[str, Provoke]] = {
    "e01_tensors": TENSORS,
    "e02_autograd": AUTOGRAD,
    "e03_modules": MODULES,
    "e04_data": DATA,
    "e05_training": TRAINING,
    "e06_precision": PRECISION,
    "e07_distributed": DISTRIBUTED,
    "e08_compile": COMPILE,
    "e09_debugging": DEBUGGING,
    "e10_deployment": DEPLOYMENT,
    "e11_language_models": LANGUAGE_MODELS,
}
NEEDS_ANOTHER_MACHINE = (
    "Expected all tensors",
    "can't convert cuda",
    "Attempting to deserialize",
    "Torch not compiled",
    "Distributed package",
    "cudnn RNN",
    "Detected mismatch",
    "Caught RuntimeError in replica",
    "Failed to find C compiler",
    "CUDA out of memory",
)
"""What needs a GPU, a second rank, no compiler or a build without CUDA: the first words of those messages."""
