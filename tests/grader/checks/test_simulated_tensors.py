"""Tensors on the simulated device behave as tensors do."""

import copy
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from grader.checks.devices import on_host
from tests.grader.support.fresh_device import counted, on_device, same


@on_device
def test_factories_create_on_the_device_without_a_transfer(device: torch.device) -> None:
    x = torch.rand(2, 3, device=device)
    factories: list[Callable[[Any], Tensor]] = [
        lambda d: torch.arange(1, 9, 3, device=d),
        lambda d: torch.full((2, 3), 4, device=d),
        lambda d: torch.eye(3, 2, device=d),
        lambda d: torch.linspace(0, 1, 5, dtype=torch.float64, device=d),
        lambda d: torch.logspace(0, 1, 3, device=d),
        lambda d: torch.zeros(2, device=d, dtype=torch.int8),
        lambda d: torch.ones(2, 3, device=d),
        lambda d: torch.tril_indices(3, 3, device=d),
        lambda d: torch.hann_window(4, device=d),
        lambda d: torch.tril(torch.ones(3, 3, device=d)),
        lambda d: torch.triu(torch.ones(3, 3, dtype=torch.bool, device=d), diagonal=1),
    ]
    for make in factories:
        assert counted(lambda make=make: make(device)) == (0, 0, 0)
        assert same(make(device), make("cpu")) and make(device).dtype == make("cpu").dtype
    drawn = [
        torch.rand(2, 3, device=device),
        torch.randn(2, 3, device=device),
        torch.randint(0, 5, (2, 3), device=device),
        torch.normal(0.0, 1.0, (2, 3), device=device),
        torch.empty(2, 3, device=device),
        x.new_zeros(2, 3),
        x.new_full((2, 3), 1.0),
        torch.zeros_like(x),
        torch.randn_like(x),
        torch.rand_like(torch.ones(2, 3), device=device),
        torch.empty_like(x),
    ]
    assert all(t.shape == (2, 3) and t.device == device for t in drawn)
    assert torch.randperm(5, device=device).device == device
    assert torch.zeros_like(x, device="cpu").device.type == "cpu"


@on_device
def test_views_alias(device: torch.device) -> None:
    x = torch.arange(12.0, device=device).reshape(3, 4)
    x[0].zero_()
    x.t()[3] = 9.0
    x.view(-1)[5:7].mul_(10)
    wanted = torch.arange(12.0).reshape(3, 4)
    wanted[0] = 0
    wanted[:, 3] = 9
    wanted.view(-1)[5:7] *= 10
    assert same(x, wanted)
    part = x[1:, 2]
    assert (part.stride(), part.storage_offset()) == ((4,), 6) and not part.is_contiguous()
    assert part.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert part.clone().untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    assert x.untyped_storage().nbytes() == 48 and x.untyped_storage().device == device
    assert x.data_ptr() != 0 and part._base is not None


@on_device
def test_operations_in_place_change_shapes_too(device: torch.device) -> None:
    x = torch.arange(6.0, device=device).reshape(2, 3)
    assert x.unsqueeze_(0).shape == (1, 2, 3) and x.squeeze_(0).t_().stride() == (1, 3)
    assert same(x, torch.arange(6.0).reshape(2, 3).t())
    out = torch.empty(0, device=device)
    assert torch.add(x, 1, out=out) is out and same(out, on_host(x) + 1)
    x.data = torch.ones(5, device=device)
    x.data[1] = 7
    assert same(x, torch.tensor([1.0, 7, 1, 1, 1]))
    version = x._version
    x.add_(1)
    assert x._version == version + 1


@on_device
def test_conversions(device: torch.device) -> None:
    x = torch.arange(4.0).to(device, torch.float64)
    assert x.dtype == torch.float64 and x.half().dtype == torch.float16 and (x > 1).dtype == torch.bool
    assert x.to(device) is x and x.to("sim") is x and x.sim() is x
    assert type(x.cpu()) is Tensor and x.float().cpu().dtype == torch.float32
    c = torch.complex(x, x + 1)
    assert same(c.conj().imag, -on_host(x) - 1) and same(c.real, on_host(x))


@on_device
def test_sparse_products(device: torch.device) -> None:
    values = torch.tensor([2.0, 3.0], device=device, requires_grad=True)
    matrix = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]], device=device), values, (2, 2))
    assert matrix.layout is torch.sparse_coo and matrix.device == device
    product = matrix @ torch.eye(2, device=device)
    assert same(product, torch.tensor([[0.0, 2.0], [3.0, 0.0]]))
    product.sum().backward()
    assert same(values.grad, torch.ones(2))


@on_device
def test_lists_over_two_devices(device: torch.device) -> None:
    here, there = torch.tensor([3.0, 4.0]), torch.tensor([5.0, 12.0], device=device)
    for tensors, wanted in (([here, there], [5.0, 13.0]), ([there, here], [13.0, 5.0])):
        norms = torch._foreach_norm(tensors)
        assert [norm.item() for norm in norms] == wanted
        assert [norm.device for norm in norms] == [x.device for x in tensors]
    torch._foreach_mul_([here, there], 2.0)
    assert torch.equal(here, torch.tensor([6.0, 8.0])) and same(there, torch.tensor([10.0, 24.0]))
    torch._foreach_add_([here, there], [here, there], alpha=-1.0)
    assert not here.any() and not there.any()
    with pytest.raises(RuntimeError, match="same device"):
        torch._foreach_add([here, there], [there, here])


@on_device
def test_numpy_is_refused(device: torch.device) -> None:
    x = torch.ones(2, device=device)
    for convert in (x.numpy, lambda: np.asarray(x), lambda: np.linalg.norm(x)):
        with pytest.raises(TypeError, match="can't convert sim:0 device type tensor to numpy"):
            convert()
    assert x.cpu().numpy().sum() == 2


@on_device
def test_printing(device: torch.device) -> None:
    x = torch.tensor([1.0, 2.5], device=device)
    assert repr(x) == "tensor([1.0000, 2.5000], device='sim:0')"
    assert str(x.requires_grad_()) == "tensor([1.0000, 2.5000], device='sim:0', requires_grad=True)"
    assert "grad_fn=<MulBackward0>" in repr(x * 2) and f"{x.sum():.1f}" == "3.5"
    assert repr(nn.Linear(1, 1).to(device).weight).startswith("Parameter containing:\ntensor([[")


@on_device
def test_modules_and_state(device: torch.device) -> None:
    host = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model = copy.deepcopy(host).to(device)
    assert all(isinstance(p, nn.Parameter) and p.is_leaf and p.requires_grad for p in model.parameters())
    assert all(t.device == device for t in model.state_dict().values())
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin[0].weight.zero_()
    assert on_host(model[0].weight).any() and isinstance(twin[0].weight, nn.Parameter)
    twin.load_state_dict(host.state_dict())
    assert same(twin[0].weight, host[0].weight)
    assert (
        model.half()[0].weight.dtype == torch.float16 and model.float().cpu()[0].weight.device.type == "cpu"
    )
    tied = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)]).to(device)
    tied[1].weight = tied[0].weight
    both = copy.deepcopy(tied)
    assert both[1].weight is both[0].weight is not tied[0].weight


@on_device
def test_saving_keeps_the_device_and_map_location_changes_it(device: torch.device) -> None:
    x = torch.arange(6.0, device=device).reshape(2, 3)
    file = io.BytesIO()
    torch.save({"x": x, "row": x[1], "host": torch.ones(2)}, file)

    def load(where: Any) -> Any:
        file.seek(0)
        return torch.load(file, map_location=where)

    loaded = load(None)
    loaded["row"].zero_()
    assert same(loaded["x"], torch.tensor([[0.0, 1, 2], [0, 0, 0]])) and loaded["host"].device.type == "cpu"
    assert type(load("cpu")["x"]) is Tensor and torch.equal(load("cpu")["x"], on_host(x))
    assert same(load(device)["host"], torch.ones(2))


@on_device
def test_inference_mode(device: torch.device) -> None:
    x, model = torch.ones(2, 3, device=device), nn.Linear(3, 2).to(device)
    with torch.inference_mode():
        out = model(x)
        assert out.is_inference() and not x[0].is_inference() and out.device == device
        x[0].zero_()
        assert counted(lambda: x.to("cpu", torch.float64)) == (0, 1, 1) and x.sum().item() == 3
        assert nn.Linear(3, 2).to(device)(x).shape == (2, 2)
    assert same(x, torch.tensor([[0.0] * 3, [1.0] * 3]))
