"""What beginners write every day: each idiom, provoked, and its cause."""

import linecache
import textwrap

import pytest
import torch

from grader.checks.error_words import SUSPECT, likely, unusable
from grader.course import specimens
from grader.course.catalog import load
from grader.course.specimen import Right, Works
from grader.diagnose.idioms import Site, cause_of_error, cause_of_signature, parsed, silent_idiom
from grader.diagnose.idioms.silent import idiom_in

SETUP = """
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
x, whole, r = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.long), torch.ones(3, requires_grad=True)
a, b, n, width, losses = torch.ones(2), torch.ones(2), 4, 3.0, []
layer, lstm, model = nn.Linear(3, 2), nn.LSTM(3, 2), nn.Sequential(nn.Linear(3, 2))
loader = DataLoader(TensorDataset(x))
"""
FILE = "an answer.py"


def raised(code):
    """What the code raises, with the site of it, as in an answer."""
    source = SETUP + textwrap.dedent(code)
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    names = {"__name__": "answer"}
    with pytest.raises(Exception) as found:
        exec(compile(source, FILE, "exec"), names)
    return found.value, Site.of(found.value, lambda file: file == FILE)


RAISED = {
    # called too much, or not
    "x.ndim()": "`x.ndim` is a value, no function: leave out the `()` behind it",
    "x.shape()": "`x.shape` is a value, no function",
    "x.T() @ x": "`x.T` is a value, no function",
    "x(0)": "`x` is no function: `x[…]` picks from it",
    "layer.weight(0)": "`layer.weight` is no function: `layer.weight[…]` picks from it",
    "x.requires_grad()": "`x.requires_grad` tells; `x.requires_grad_()`, with an underscore, switches it on",
    "nn.parameter(x)": "`nn.parameter` is a module: `nn.Parameter`",
    "from torch.utils import checkpoint\ncheckpoint(x)": "`checkpoint` is a module: `checkpoint.checkpoint`",
    "2 * 3(4)": "`3` is a number, no function: is a `*` missing",
    "sum = 0\nsum([1, 2])": "`sum` is a name of your own here",
    "x.size[0]": "`x.size` is a function: `x.size()` calls it",
    "x.sum + 1": "`x.sum` is a function: `x.sum()` calls it",
    "labels = torch.zeros(5).long()\nlayer(x) == labels": "`layer(x)` holds a score for each class: `.arg",
    "scores, labels = x, torch.zeros(5).long()\nlabels == scores": "`scores` holds a score for each class",
    "class C:\n    def __len__(self): return x.shape\nlen(C())": "a shape is a tuple of sizes",
    "torch.optim.SGD([r], lr=1).lr": "the rates are in `optimizer.param_groups`",
    "x.mean.item()": "`x.mean` is a function",
    "x.sum().item + 1": "`x.sum().item` is a function",
    "for p in model.parameters: pass": "`model.parameters` is a function",
    "torch.optim.SGD(model.parameters, lr=1)": "`model.parameters` is a function",
    "with torch.no_grad: pass": "`torch.no_grad` is called: `with torch.no_grad():`",
    # what torch calls otherwise
    "x.copy()": "torch's way: `.clone()`",
    "x.astype(int)": "torch's way: `.to(torch.float32)`",
    "x.unsqeeze(0)": "is `.unsqueeze` meant?",
    "x.cross_entropy(whole)": "torch's way: `F.cross_entropy(scores, classes)`",
    "torch.array([1])": "torch's way: `torch.tensor`",
    "nn.relu(x)": "it is spelled `nn.ReLU`",
    "nn.linear(3, 2)": "it is spelled `nn.Linear`",
    "torch.cross_entropy(x, x)": "it is in another part of torch: `F.cross_entropy`",
    "torch.Linear(3, 2)": "it is in another part of torch: `nn.Linear`",
    "F.normalize(x, axis=1)": "here it is called `dim`",
    "x.to(float64)": "a dtype is torch's: `torch.float64`",
    "dist.all_reduce(x)": "it is not imported: `import torch.distributed as dist`",
    "true": "Python writes `True`",
    "weihgt = 1\nprint(weight)": "is `weihgt` meant?",
    "print(sigmoid(x))": "it is part of torch: `torch.sigmoid`",
    # arguments
    "torch.cat(a, b)": "`cat` takes its tensors in one list: `torch.cat([a, b])`",
    "torch.stack(a, b, a)": "`stack` takes its tensors in one list: `torch.stack([a, b, a])`",
    "torch.softmax(x)": "along which dim? `dim=-1` is the last",
    "x.unsqueeze()": "along which dim?",
    "x.transpose(0)": "`transpose` wants to be told more: dim1",
    "x.transpose(0, 1, 2)": "transpose exchanges two dims",
    "torch.randint(1, 7, n)": "the size is a tuple: `torch.randint(1, 7, (n,))`",
    "torch.full(2, 3, 7)": "the sizes go into a bracket of their own: `torch.full((2, 3), 7)`",
    "torch.full(n, 7)": "the sizes go into a bracket of their own: `torch.full((n,), 7)`",
    "torch.tensor(2, 3)": "`torch.tensor` makes a tensor of one thing",
    "x.reshape(len(x) / 2, -1)": "`len(x) / 2` is a float, as `/` makes it, and a whole",
    "torch.zeros(width, 3)": "`width` is a float, and a whole number is wanted",
    "x.view(3 / 1, 2)": "`3 / 1` is a float",
    "range(n / 2)": "`n / 2` is a float",
    "x[: n / 2]": "`n / 2` is a float",
    "nn.Linear(x.shape, 2)": "a layer's sizes are whole numbers, and one of these is a whole shape",
    "nn.Linear(x, 2)": "a layer's sizes are whole numbers, and one of these is a tensor",
    "torch.optim.AdamW(model)": "an optimizer takes what learns: `AdamW(model.parameters(), …)`",
    "torch.optim.SGD(r, lr=1)": "an optimizer takes what learns",
    "random_split([1, 2], [0.5, 0.5], generator=3)": "`generator=` takes `torch.Gen",
    'torch.zeros(2, dtype="float32")': "a dtype is no text",
    'x.to("gpu")': 'an NVIDIA GPU is called "cuda"',
    "torch.linspace(0, 1)": "`linspace` wants to be told more: start, end, steps",
    "torch.randint(6)": "`randint` wants to be told more: high, size",
    "torch.full_like(n, x)": "the tensor comes first: `torch.full_like(x, …)`",
    "torch.zeros(x)": "it takes sizes, and no tensor",
    "x.repeat(2)": "`repeat` wants a count for each dim",
    "DataLoader(x, a, batch_size=4)": "`batch_size` is given twice",
    "model.register_buffer(x)": "a buffer has a name, which comes first",
    "random_split([1, 2, 3, 4], [2.0, 2.0])": "random_split takes whole lengths",
    "torch.randn(2, generator=3)": "`generator=` takes",
    'x.to("int64")': "a text is taken for a device: a dtype comes without quotes, `torch.int64`",
    "torch.arange(8, 2)": "arange counts from its first number to its second",
    "torch.einsum('ij->ji')": "einsum takes the letters, then the tensors",
    "torch.einsum(x, 'ij->ji')": "einsum takes the letters, then the tensors",
    "nn.Conv2d(8, 3, 3)(torch.zeros(1, 3, 9, 9))": "the layer is made for 8 channels, and 3 come in",
    "DataLoader(x, 4, True, True)": "a sampler and shuffle are both given",
    "torch.repeat_interleave(2, x)": "the tensor comes first: `repeat_interleave(x, …)`",
    "x.masked_fill(x > 0, '-inf')": "the value is a number",
    "F.linear(3, 2)": "`F.linear` computes with weights that it is given: `nn.Linear` makes a layer",
    "1 - (x > 0)": "bools are not subtracted",
    "pair = (x, x)\npair * x": "`pair` is a tuple, no tensor",
    "pair = (x,)\n2 * pair * x": "`pair` is a tuple, no tensor",
    "x -= grad": "is `x.grad` meant?",
    "(1, 2) + 1": "a tuple does not calculate",
    "x.dtype(torch.int64)": "`x.dtype` only tells: `x.to(torch.int64)`",
    "torch.pad_sequence([a])": "it is somewhere else: `from torch.nn.utils.rnn import pad_sequence`",
    "torch.fill((2, 3), 7)": "`torch.full((rows, columns), value)` makes",
    "torch.seed(3)": "`torch.manual_seed(seed)` sets the seed",
    "torch.Generator.manual_seed(3)": "`Generator` is a class: `Generator().manual_seed(…)`",
    "torch.Generator(3)": "a generator is made first, and seeded then",
    "torch.zeros(x, 2)": "`x` is a tensor, and a size is a whole number",
    "top = 3 / 2\nx[top : top + 1]": "`top` is a float",
    "nn.Linear(3)": "`Linear` wants to be told more: out_features",
    "DataLoader(x, batch=4)": "is `batch_size=` meant?",
    "losses.append(1, 2)": "`append` adds one thing",
    "torch.tensor(['a', 'b'])": "a tensor holds numbers, and no texts",
    "['a'].index(['a'])": "`index` looks for one item",
    "x.dtype = torch.int64": "`dtype` cannot be set",
    "torch.autograd.gradcheck(torch.exp, x)": "gradcheck wants",
    "x.row(1)": "torch's way: `x[i]` is row i",
    # something else than a tensor
    "nn.Sequential(nn.Linear(3, 2), nn.ReLU)": "`nn.ReLU` is a class: `nn.ReLU()` makes a layer",
    "nn.Sequential(torch.relu)": "a function is no layer",
    "nn.Sequential([layer])": "layers are given one by one",
    "layer(nn.ReLU(x))": "a layer, and not what it makes of x: `nn.ReLU(…)(x)`",
    "nn.ReLU(x) + 1": "a layer, and not what it makes of x",
    "layer([1.0, 2.0, 3.0])": "a Python list: `torch.tensor(…)` makes a tensor of numbers",
    "layer(lstm(x))": "a tuple, no tensor",
    "[1, 2].mean()": "a Python list: `torch.tensor(…)`",
    "[1, 2] * 2.0": "a Python list does not calculate",
    "x + [1, 2, 3]": "a Python list does not calculate",
    "np.ones(2).unsqueeze(0)": "a NumPy array: `torch.from_numpy(…)`",
    "x.sum().item().backward()": "a Python number has no `backward`",
    "torch.sqrt(4)": "`sqrt` of torch takes tensors: `math.sqrt`",
    "torch.max(x, 1) + 1": "`max` along a dim returns two things: take its `.values` or its `.indices`",
    "x.sort().sum()": "`sort` along a dim returns two things",
    "x.shape - 1": "a shape is a tuple of sizes",
    "torch.stack([1, 2])": "numbers, where tensors are wanted",
    "torch.tensor([a, b])": "`torch.tensor` makes a tensor of numbers: `torch.stack` makes one of tensors",
    "nn.Parameter(3.0)": "nn.Parameter takes a tensor",
    # None
    "r.grad + 1": "`r.grad` is None: no backward has reached it",
    "r.grad.zero_()": "`r.grad` is None",
    "r.sum().backward\nr.grad * 2": "`r.sum().backward` alone on its line does nothing",
    "y = losses.append(1)\ny.sum()": "`losses.append` changes its list, and returns nothing",
    "g = r.sum().backward()\ng * 2": "`r.sum().backward` fills `.grad`, and returns nothing",
    "def helper(x):\n    x + 1\nhelper(x) * 2": "`helper` returns nothing: `return` is missing in it",
    # one or many
    "if x > 0: pass": "one True or False is wanted, and this tensor holds many",
    "(x > 0) and (x < 2)": "`and` asks for one True or False: `&` works place by place",
    "0 < x < 2": "`a < x < b` asks for one True or False",
    "max(x)": "Python's `max` compares whole rows",
    "math.sqrt(x)": "`math.sqrt` takes one number: `torch.sqrt` takes tensors",
    "float(x)": "`float` takes one number",
    "x.item()": "`.item()` is for a tensor of one number",
    "(r * 2).backward()": "backward starts from one number",
    "for k in n: pass": "`for` goes through many, and this is one number: `range(n)`",
    "rows, columns, more = x.shape": "`x.shape` holds one size for each dim, and the tensor has 2, not 3",
    "outputs, h, c = lstm(x)": "an LSTM returns two things, and the second is a pair",
    "[k for k in range(2) for _ in n]": "`for` goes through many, and this is one number: `range(n)`",
    "values, places = x.max()": "`x.max()` is one number of all: `x.max(dim=…)` gives values",
    "v, i = torch.max(x)": "`torch.max(x)` is one number of all: `torch.max(x, dim=…)` gives values",
    "for k in x.mean(): pass": "one number (0-d), where several are taken out of it",
    "for k in len(x): pass": "`for` goes through many, and this is one number: `range(len(x))`",
    "layer[x]": "`layer` is a layer: `layer(…)` runs it",
    "nn.ModuleList([layer])(x)": "nn.ModuleList is a list, and runs nothing by itself",
    "sum(p.numel for p in model.parameters())": "`p.numel` is a function: `p.numel()` calls it",
    "names = list(set('ab')).sort()\nnames.index('a')": "`list(set('ab')).sort` changes its list",
    # dtypes
    "layer(whole)": "a product wants one dtype on both sides",
    "x @ whole.T": "a product wants one dtype on both sides",
    "whole.mean()": "whole numbers have no mean",
    "(x > 0).mean()": "bools have no mean",
    "whole.requires_grad_()": "whole numbers have no gradient",
    "torch.tensor(3, requires_grad=True)": "whole numbers have no gradient",
    "whole += 0.5": "the result has decimals",
    "x.masked_fill(x, 0)": "a mask is True or False",
    "torch.where(x, 1, 0)": "a condition is True or False",
    "~x": "`~` turns bools around",
    "x & x": "`&` and `|` take bools",
    "x[x]": "an index holds whole numbers, or True and False",
    "x.gather(1, x)": "indices are whole numbers",
    "F.one_hot(x)": "indices are whole numbers",
    "nn.Embedding(2, 3)(x)": "indices are whole numbers",
    "F.cross_entropy(x, a)": "classes are whole numbers",
    # shapes
    "x + torch.ones(2, 4)": "sizes are compared from the last dim on",
    "x.T.view(6)": "after a transpose or permute the numbers lie in another order",
    "x.sum(2)": "2 dims are counted from 0 (or from -1, the last): dim 2 is not there",
    "x[2]": "2 places are counted from 0 (or from -1, the last): place 2 is not there",
    "x[0, 0, 0]": "more numbers in `[…]` than the tensor has dims (2)",
    "x[::-1]": "torch has no negative steps",
    "x.permute(1, 0, 2)": "permute names every dim once: the tensor has 2, and 3 are named",
    "torch.cat([x, a])": "`cat` adds no dim",
    "torch.stack([x, a])": "only tensors of one size can be stacked",
    "torch.cat([x, torch.ones(2, 2)])": "`cat` along dim 0 wants all other sizes equal",
    "x.expand(3, 3)": "only a dim of size 1 can be expanded, and dim 0 has size 2",
    "x.gather(1, whole[0])": "gather wants as many dims in the index",
    "F.cross_entropy(x, whole[0])": "2 rows of scores meet 3 targets",
    "F.cross_entropy(x, whole[:, 0] * 3)": "labels go from 0 to the number of classes - 1",
    "F.cross_entropy(x, whole)": "cross_entropy wants one class number for each row",
    "nn.Embedding(2, 3)(whole * 5)": "a number is looked up that the table has no row for",
    # autograd, modules, data
    "r.numpy()": "NumPy records no gradients",
    "r += 1": "a parameter is changed while autograd records",
    "x.sum().backward()": "nothing that this is computed from requires a gradient",
    "torch.optim.SGD([], lr=1)": "the model knows of no parameters",
    "torch.optim.SGD([r * 2], lr=1)": "an optimizer takes the tensors that learn themselves",
    "layer.weight = torch.ones(2, 3)": "`weight` is a parameter",
    "model.load_state_dict(model.state_dict)": "`model.state_dict` is a function",
    "model.load_state_dict(model)": "load_state_dict takes what `state_dict()` returns",
    "model.device": "a module has no device of its own",
    "model.parameters()[0]": "a generator gives its items one by one",
    "loader[0]": "a loader has no places",
    "next(loader)": "a loader has no places",
    "next(iter(DataLoader([None])))": "the dataset gives None for an item",
    "TensorDataset(x, torch.ones(3))": "the tensors of a TensorDataset have one row for each item",
}


@pytest.mark.parametrize("code", RAISED)
def test_an_error_tells_its_idiom(code):
    error, site = raised(code)
    assert (cause_of_error(error, site) or "nothing").startswith(RAISED[code]), repr(error)


IN_CLASSES = {
    "self.first = nn.Linear(3, 2)": "`super().__init__()` is missing",
    "super.__init__()": "`super` is called, too",
    "super().__init__()\nsecond = nn.Linear(3, 2)": "`__init__` makes `second`, and does not keep it",
    "super().__init__()\nself.secnod = nn.Linear(3, 2)": "`Net` has `secnod`: is it meant?",
    "super().__init__()\nself.other = 1": "nothing in `Net` sets `self.second`",
}


@pytest.mark.parametrize("body", IN_CLASSES)
def test_a_module_tells_what_is_wrong_with_it(body):
    init = textwrap.indent(body, " " * 8)
    code = f"class Net(nn.Module):\n    def __init__(self):\n{init}\n"
    code += "    def forward(self, x):\n        return self.second(x)\nNet()(x)"
    error, site = raised(code)
    assert (cause_of_error(error, site) or "nothing").startswith(IN_CLASSES[body]), repr(error)


def test_no_right_answer_has_an_idiom():
    found = []
    for exercise in load().exercises:
        kept = specimens.read(exercise.file("specimens")) if exercise.file("specimens").exists() else ()
        right = [one.content(exercise) for one in kept if isinstance(one, (Right, Works))]
        for source in (exercise.content("solutions"), *right) if not exercise.is_project else ():
            if (tree := parsed(source.decode("utf-8"))) and (told := idiom_in(tree)):
                found.append(f"{exercise.slug}: {told}")
    assert found == []


def test_an_argument_of_init_is_none_of_forward():
    code = """
        class Scale(nn.Module):
            def __init__(self, factor):
                super().__init__()
            def forward(self, x):
                return x * factor
        Scale(2)(x)
    """
    assert cause_of_error(*raised(code)).startswith("`__init__` is given `factor`, and other methods do not")


@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError('no rows')",
        "{}['x']",
        "x.view(5)",
        "object() / 2",
        "open('/nowhere/x')",
        "assert not len(x)",
        "def f(x, y): pass\nf(1)",
        "class A: pass\nA() + 1",
    ],
)
def test_an_error_that_says_enough_has_no_cause(code):
    assert not cause_of_error(*raised(code))


FUNCTION = "def f(x: Tensor, model, loss, optimizer, names: list[str], k: int) -> Tensor:\n"
SILENT = {
    "loss.backward\nreturn x": "`loss.backward` alone on its line does nothing: `loss.backward()` calls it",
    "optimizer.zero_grad\nreturn x": "`optimizer.zero_grad` alone on its line does nothing",
    "if torch.cuda.is_available:\n    k = 1\nreturn k": "`torch.cuda.is_available` without `()` is",
    "return 'cuda' if torch.cuda.is_available else 'cpu'": "`torch.cuda.is_available` without `()`",
    "total = dist.all_reduce(x)\nreturn total": "`dist.all_reduce` changes its tensor in place, and",
    "rows = []\nrows = rows.append(x)\nreturn rows": "`rows.append` changes its list, and returns nothing",
    "x.unsqueeze(1)\nreturn x": "`x.unsqueeze(1)` makes a new tensor, which nothing keeps",
    "x.to('cpu')\nreturn x": "`x.to('cpu')` makes a new tensor, which nothing keeps",
    "torch.relu(x)\nreturn x": "`torch.relu(x)` makes a new tensor, which nothing keeps",
    "x + 1\nreturn x": "`x + 1` alone on its line is computed, and dropped",
    "x[0] == 1\nreturn x": "`x[0] == 1` compares, and changes nothing",
    "for p in model.parameters():\n    p.require_grad = False": "`require_grad` means nothing to torch",
    "for row in x:\n    k += 1\n    return k": "`return` at the end of a loop's body",
    "print(x.sum())": "`f` returns nothing: `return` in place of `print`",
    "y = x + 1": "`f` returns nothing: does it end with `return`?",
    "return list(set(names))": "a set has no order: `sorted(set(names))` has one",
    "return {s: i for i, s in enumerate(set(names))}": "a set has no order",
    "return sum(x)": "Python's `sum` adds up the rows of a tensor: `x.sum()` takes all numbers, or a dim",
    "return sum(x == 1)": "Python's `sum` adds up the rows of a tensor",
    "return nn.ReLU(x)": "`nn.ReLU(…)` makes a layer, and does not run it: `nn.ReLU()(x)`",
    "return nn.MSELoss(x, k)": "`nn.MSELoss(…)` makes a layer, and does not run it: `nn.MSELoss()(x, k)`",
    "return nn.CrossEntropyLoss(x, x)": "`nn.CrossEntropyLoss(…)` makes a layer, and",
    "torch.no_grad()\nreturn x": "`torch.no_grad()` alone on its line does nothing",
    "return torch.where(x > 0)": "`torch.where` of a condition alone gives the places",
    "return x\nreturn k": "what stands below `return x` is never run",
    "x.requires_grad_()\ny = (x ** 2).sum()\nreturn x.grad": "`backward()` is never called, so `x.grad`",
    "w = x.clone().requires_grad_()\nreturn w.sum(), w.grad": "`backward()` is never called, so",
    "return (x * 2).numpy": "`(x * 2).numpy` is a function: `(x * 2).numpy()` calls it",
    "return k, x.sum": "`x.sum` is a function",
    "return x.sort(dim=1)[:3]": "`sort` gives values and indices, and `[:3]` slices the pair",
    "z = x.clone()\no = z\no += 1\nreturn z": "`o = z` copies nothing: both names stand for one",
    # nothing wrong
    "return x // 2": "",
    "o = x\nreturn o": "",
    "return x.T, x.shape": "",
    "return x.sort(dim=1)[0][:3]": "",
    "x.requires_grad_()\n(x ** 2).sum().backward()\nreturn x.grad": "",
    "return x - x.grad": "",
    "x.shape\ntorch.rand(1)\nreturn x": "",
    "loss.backward()\nreturn x": "",
    "model.to('cpu')\nmodel.float()\nreturn x": "",
    "if torch.cuda.is_available():\n    k = 1\nreturn k": "",
    "work = dist.all_reduce(x, async_op=True)\nreturn work": "",
    "x.add_(1)\nnames.sort()\nreturn x.sort()": "",
    "values = x.sort()\nreturn values": "",
    "for p in model.parameters():\n    p.requires_grad = False\nreturn model": "",
    "for row in x:\n    if row.sum():\n        return row": "",
    "return sorted(set(names))": "",
    "return sum(len(s) for s in names) + sum(names)": "",
    "return nn.Softmax(k)(x)": "",
    "print(k)\nreturn x": "",
    "x = k\nreturn sum(x)": "",
    "return nn.Linear(k, k)": "",
}


@pytest.mark.parametrize("body", SILENT)
def test_a_source_tells_its_idiom(body):
    told = silent_idiom(parsed(FUNCTION + textwrap.indent(body, "    ")), "wrong result from f(x)")
    assert told.startswith(SILENT[body]) and bool(told) == bool(SILENT[body])


@pytest.mark.parametrize(
    "init, told",
    [
        ("layer = nn.Linear(3, 2)", "`layer` is gone when `__init__` ends: `self.layer = …` keeps it"),
        ("self.layers = [nn.Linear(3, 2)]", "a module finds no layers in a plain list"),
        ("self.layers = [nn.Linear(n, n) for _ in range(n)]", "a module finds no layers in a plain list"),
        ("layer = nn.Linear(3, 2)\n        self.layer = layer", ""),
        ("self.layers = nn.ModuleList([nn.Linear(3, 2)])", ""),
    ],
)
def test_a_layer_that_is_not_kept(init, told):
    source = (
        f"class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        {init}\n"
    )
    found = silent_idiom(parsed(source))
    assert found.startswith(told) and bool(found) == bool(told)


@pytest.mark.parametrize(
    "source, told",
    [
        (
            "class Net:\n    def __init__(self): pass\n    def forward(self, x): pass",
            "`Net` is no module yet",
        ),
        ("class Net(nn.Module):\n    def __init__(self): pass\n    def forward(self, x): pass", ""),
        ("class Sq(torch.autograd.Function): pass\ndef f(x):\n    return Sq(x)", "`Sq.apply(…)` runs it"),
        ("class Sq(torch.autograd.Function): pass\ndef f(x):\n    return Sq.apply(x)", ""),
    ],
)
def test_a_class_of_another_kind(source, told):
    found = silent_idiom(parsed(source), certain=True)
    assert found.startswith(told) and bool(found) == bool(told)


def test_a_float_tensor_is_not_floored():
    for kind, told in (("Float", "`c * 9 // 5`: `//` drops"), ("Int", "")):
        source = f"def f(c: {kind}[Tensor, 'n'], n: int):\n    return c * 9 // 5 + n // 2\n"
        assert silent_idiom(parsed(source), certain=True).startswith(told) and bool(told) == (kind == "Float")


LOST = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
        self.third = nn.Linear(4, 2)

    def forward(self, x):
        {line}
        return self.third(x)
"""


def test_a_layer_whose_output_is_dropped_is_told_where_shapes_do_not_fit():
    error, site = raised(LOST.format(line="self.third(torch.ones(2, 4))") + "\nNet()(x)")
    told = "`self.third(torch.ones(2, 4))` alone on its line is computed, and dropped"
    assert cause_of_error(error, site).startswith(told)
    error, site = raised(LOST.format(line="pass") + "\nNet()(x)")
    assert cause_of_error(error, site).startswith("3 features meet 4")


def test_one_number_where_more_are_wanted_was_made_of_all():
    tree = parsed("def f(x):\n    return x.exp().mean()\n")
    assert silent_idiom(tree, is_one=True).startswith("`x.exp().mean()` makes one number of all: `dim=`")
    assert silent_idiom(tree) == ""
    for right in ("x.mean(0)", "x.mean(dim=0)", "torch.sum(x, 0)"):
        assert silent_idiom(parsed(f"def f(x):\n    return {right}\n"), is_one=True) == ""


def test_what_has_no_annotation_is_a_tensor_by_what_is_done_to_it():
    assert silent_idiom(parsed("def f(v):\n    v.unsqueeze(0)\n    return sum(v)\n")).startswith(
        "`v.unsqueeze(0)`"
    )
    assert silent_idiom(parsed("def f(v):\n    return sum(v) / v.numel()\n")).startswith("Python's `sum`")
    assert silent_idiom(parsed("def f(v):\n    return sum(v) / len(v)\n")) == ""


def test_a_source_is_read_where_the_check_looks():
    source = "def f(x):\n    return g(x)\ndef g(x):\n    x.backward\n    return x\ndef h(x):\n    return x\n"
    tree = parsed(source)
    assert silent_idiom(tree, "wrong result from f(x)").startswith("`x.backward` alone")
    assert not silent_idiom(tree, "wrong result from h(x)")
    assert not silent_idiom(tree, line=7)
    assert silent_idiom(tree, line=2)


@pytest.mark.parametrize(
    "method, message, told",
    [
        (
            "forward(x)",
            "Net.forward() takes 1 positional argument but 2 were given",
            "`self` is missing: `def forw",
        ),
        (
            "_init_(self, n)",
            "Net.__init__() takes 1 positional argument but 2 were given",
            "`_init_` is",
        ),
        (
            "__int__(self, n)",
            "Net.__init__() got an unexpected keyword argument 'n'",
            "`__int__` is",
        ),
        ("__init__(self)", "Net.__init__() takes 1 positional argument but 2 were given", ""),
    ],
)
def test_a_signature_tells_what_is_misspelled(method, message, told):
    tree = parsed(f"class Net(nn.Module):\n    def {method}:\n        pass\n")
    found = cause_of_signature(message, tree)
    assert found.startswith(told) and bool(found) == bool(told)


def test_a_slip_is_told_before_a_mistake_of_values_that_raises_the_same():
    error, site = raised("def hook(module, output): pass\nlayer.register_forward_hook(hook)\nlayer(x)")
    setattr(error, SUSPECT, "this is the output of the whole model")
    assert likely(error, site).startswith("`hook` takes 2 arguments, and is called with 3")


@pytest.mark.parametrize("code", ["x[x > 0 and x < 2]", "0 < x < 2", "max(x)"])
def test_what_the_line_itself_tells_comes_first(code):
    error, site = raised(code)
    setattr(error, SUSPECT, "`if` wants one True or False")
    assert not likely(error, site).startswith("`if`")


def test_a_suspect_comes_before_what_words_alone_tell():
    error, site = raised("if x > 0: pass")
    setattr(error, SUSPECT, "`if` wants one True or False")
    assert likely(error, site) == "`if` wants one True or False"


@pytest.mark.parametrize("body, told", [("x.backward\nreturn x", True), ("return list(set(names))", False)])
def test_what_nobody_can_mean_is_told_before_a_suspect(body, told):
    tree = parsed(FUNCTION + textwrap.indent(body, "    "))
    assert bool(silent_idiom(tree, certain=True)) == told


def test_a_state_of_other_shapes_is_not_told_as_one_of_other_names():
    with pytest.raises(RuntimeError) as misfit:
        torch.nn.Linear(2, 3).load_state_dict({"weight": torch.ones(2, 3), "bias": torch.ones(3)})
    told = unusable(misfit.value)
    assert told.headline == "your code's parameters and buffers have other shapes than they should"
    assert told.likely == "its dims have changed places"


def test_of_a_message_without_end_only_the_beginning_is_looked_at():
    tree = parsed("def f(x):\n    raise ValueError(x)\n")
    site = Site(tree, (tree.body[0].body[0],), {}, 2)
    error = ValueError("x" * 1_000_000)
    assert likely(error, site) == cause_of_error(error, site) == ""  # else it takes minutes
