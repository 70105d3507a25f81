"""What grades Int8Embedding: error of each row, bytes, buffers, rows read; constant rows, half precision."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that, peak_bytes, unchanged

CALL = "Int8Embedding(table)(indices)"


def drawn(gen, rows, features):
    """Rows of sizes and places of their own, none around 0."""
    size = 10.0 ** (3 * torch.rand(rows, 1, generator=gen) - 2)
    return size * (torch.rand(rows, features, generator=gen) + 4 * torch.rand(rows, 1, generator=gen) - 2)


def small(answer, rows):
    return answer.Int8Embedding(nn.Embedding.from_pretrained(rows.clone()))


def expect_rows(yours, wanted, call):
    """Off by half a scale of its row at most, and float32's own rounding."""
    about = (tuple(yours.shape), yours.dtype)
    expect_equal(about, (tuple(wanted.shape), torch.float32), f"shape and dtype of {call}")
    wide = wanted.double()
    half = (wide.amax(-1, keepdim=True) - wide.amin(-1, keepdim=True)) / 510
    slack = half * 1e-3 + wide.abs().amax(-1, keepdim=True) * 2.0**-21
    beyond = ((yours.double() - wide).abs() - half - slack).nan_to_num(torch.inf)
    worst, half = int(beyond.argmax()), half.expand_as(wide).flatten()
    expect_that(
        bool((beyond <= 0).all()),
        f"a number of {call} is off by more than half of its row's scale",
        yours=f"{float(yours.flatten()[worst]):.6g}",
        wanted=f"{float(wide.flatten()[worst]):.6g}, off by {float(half[worst]):.3g}",
    )


def test_error(answer, gen):
    """Each number comes back off by half its row's scale at most."""
    for rows, features in ((7, 5), (6, 6), (3, 40)):
        table = drawn(gen, rows, features)
        expect_rows(small(answer, table)(torch.arange(rows)), table, CALL)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 1, 3)], ids=str)
def test_shapes(answer, gen, shape):
    """Indices may have any shape, and come again."""
    table = drawn(gen, 6, 5)
    indices = torch.randint(6, shape, generator=gen)
    expect_rows(small(answer, table)(indices), table[indices], f"{CALL}, indices of shape {shape}")


def test_bytes(answer, gen):
    """The table takes a byte for each number, and each row a few more; there are no parameters."""
    made = small(answer, drawn(gen, 50, 64))
    held = {name: t for name, t in made.state_dict().items() if t.numel() >= 50 * 64}
    dtypes = [t.dtype for t in held.values()]
    expect_equal(dtypes, [torch.int8], "the dtypes of what the state dict has in the table's size")
    used = sum(t.nbytes for t in made.state_dict().values())
    expect_that(
        used <= 50 * (64 + 16), "the state dict is too large", yours=f"{used} bytes, for 50 rows of 64"
    )
    expect_equal([name for name, _ in made.named_parameters()], [], "the parameters of Int8Embedding(table)")
    tensors = [t for t in vars(made).values() if isinstance(t, torch.Tensor)]
    expect_equal(len(tensors), 0, "the tensors that are attributes, and no buffers")


def test_loads(answer, gen):
    """Another one that loads the state dict gives the same rows."""
    table, other = drawn(gen, 5, 4), drawn(gen, 5, 4)
    first, second = small(answer, table), small(answer, other)
    second.load_state_dict(first.state_dict())
    expect_rows(second(torch.arange(5)), table, f"{CALL}, loaded")


def test_rows_read(answer, gen):
    """A call widens the rows that it reads, not the table."""
    made, indices = small(answer, drawn(gen, 500, 64)), torch.tensor([3, 7])
    made(indices)
    used = peak_bytes(lambda: made(indices))
    expect_that(used < 500 * 64, "a call of two rows takes memory for the table", yours=f"{used} bytes")


@pytest.mark.fine
def test_constant_rows(answer, gen):
    """A row of one number throughout comes back."""
    table = torch.cat([drawn(gen, 2, 4), torch.full((1, 4), 0.7), torch.zeros(1, 4)])
    expect_rows(small(answer, table)(torch.arange(4)), table, f"{CALL}, with rows of one number")
    table = torch.full((3, 4), -2.5)
    expect_rows(small(answer, table)(torch.arange(3)), table, f"{CALL}, all numbers alike")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Tables in half precision are quantized in float32."""
    table = drawn(gen, 6, 30).to(dtype)
    expect_rows(small(answer, table)(torch.arange(6)), table.float(), f"{CALL} of a table in {dtype}")


@pytest.mark.fine
def test_table_stays(answer, gen):
    """The table stays as it is, and what comes back has no graph."""
    table = nn.Embedding(4, 3)
    with unchanged("Int8Embedding(table)", weight=table.weight):
        made = answer.Int8Embedding(table)
        yours = made(torch.tensor([2, 0]))
    expect_that(not yours.requires_grad, f"what comes back from {CALL} has a graph")


def oracle(answer, gen):
    def case(rows, features):
        """Rows of whole steps, and the smallest and largest among them; what comes back in steps."""
        whole = torch.randint(1, 255, (rows, features), generator=gen).float()
        whole[:, 0], whole[:, 1] = 0.0, 255.0
        start = torch.randint(-300, 300, (rows, 1), generator=gen).float()
        indices = torch.randint(rows, (2, 4), generator=gen)
        return lambda: (small(answer, 0.25 * (whole + start))(indices) * 4).round()

    return {
        f"{rows} rows of {features}": case(rows, features) for rows, features in ((5, 9), (8, 8), (3, 20))
    }
