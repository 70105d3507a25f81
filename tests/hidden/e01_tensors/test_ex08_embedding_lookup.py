"""What grades embedding_lookup: any ids, gradients of repeated ids, memory, devices, bad input."""

import math
from functools import partial

import torch

from grader.checks import (
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    forbid,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import on_host

CALL = "embedding_lookup(weight, ids)"


def table(vocab=7, dim=3, dtype=torch.float32):
    return (torch.arange(vocab * dim) + 10).to(dtype).view(vocab, dim)


def ids_of(shape, gen, vocab=7):
    return torch.randint(vocab, shape, generator=gen)


def looked_up(weight, ids):
    """Row by row."""
    rows = [weight[int(i)].clone() for i in ids.flatten()]
    return (torch.stack(rows) if rows else weight[:0]).view(*ids.shape, weight.shape[1])


def test_any_shape(answer, gen):
    """Ids of any shape are looked up, also a single one without dimensions, and none at all."""
    weight = table()
    for shape in [(5,), (2, 4), (1, 1), (2, 3, 1, 4), (), (0,), (3, 0)]:
        ids = ids_of(shape, gen)
        wanted = looked_up(weight, ids)
        expect_equal(answer.embedding_lookup(weight, ids), wanted, f"{CALL} with ids of shape {shape}")
    empty = table(0)
    yours = answer.embedding_lookup(empty, torch.zeros(2, 0, dtype=torch.int64))
    expect_equal(yours, torch.zeros(2, 0, 3), f"{CALL} with no ids and an empty table")


def test_strided_inputs(answer, gen):
    """A transposed table, and ids that are transposed or expanded, are read like any others."""
    weight = table(3, 7).t()
    packed = weight.t().reshape(7, 3)  # the same numbers in memory, as rows of three
    for ids in (ids_of((4, 5), gen).t()[::2], ids_of((1, 4), gen).expand(3, 4)):
        wanted, call = looked_up(weight, ids), f"{CALL} of a strided weight and ids"
        suspects = {"weight is read as if it were contiguous": partial(looked_up, packed, ids)}
        expect_equal(answer.embedding_lookup(weight, ids), wanted, call, suspects=suspects)


def test_integer_dtypes(answer, gen):
    """Ids of every integer dtype name rows; uint8 ids are no mask."""
    weight = table()
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        for shape in [(7,), ()]:
            ids = ids_of(shape, gen).to(dtype)
            wanted = looked_up(weight, ids)
            call = f"{CALL} with ids of {dtype} and shape {shape}"
            expect_equal(answer.embedding_lookup(weight, ids), wanted, call)


def test_many_rows(answer):
    """A table may have more rows than a small integer dtype can count."""
    weight = table(300, 2)
    ids = torch.tensor([299, 255, 256, 0])
    wanted = looked_up(weight, ids)
    suspects = {"ids are cut to 8 bits: 255 is the largest of them": lambda: looked_up(weight, ids % 256)}
    expect_equal(answer.embedding_lookup(weight, ids), wanted, f"{CALL} with 300 rows", suspects=suspects)
    small = torch.tensor([200, 0, 255], dtype=torch.uint8)
    wanted = looked_up(weight, small)
    try:
        yours = answer.embedding_lookup(weight, small)
    except IndexError as error:
        expect_that(
            False,
            f"{CALL} refuses the ids 200, 0 and 255 in uint8, where weight has 300 rows",
            yours=f"IndexError {error}",
            likely="a uint8 tensor is compared with 300, which it takes for 44, the rest modulo 256",
        )
    expect_equal(yours, wanted, f"{CALL} with 300 rows, uint8 ids")


def test_dtype_of_weight(answer, gen):
    """The result has the dtype of weight, bit for bit."""
    ids = ids_of((2, 3), gen)
    for dtype in (torch.bfloat16, torch.float64, torch.int64, torch.bool, torch.complex64):
        weight = table(dtype=dtype) if dtype is not torch.float64 else table(dtype=dtype) / 3
        wanted = looked_up(weight, ids)
        expect_equal(answer.embedding_lookup(weight, ids), wanted, f"{CALL} of a {dtype} weight")


def test_gradient_accumulates(answer, gen):
    """A row that is asked for several times gets the sum of its gradients, others get zero."""
    weight = torch.randn(6, 3, generator=gen)
    few = torch.tensor([4, 4, 1], dtype=torch.uint8)
    for ids in (torch.tensor([[4, 0, 4], [4, 2, 0]]), few, torch.tensor(3).int(), torch.zeros(2, 0).long()):
        one_hot = (ids.unsqueeze(-1) == torch.arange(6)).double()
        fn = lambda weight, ids=ids: answer.embedding_lookup(weight, ids)  # noqa: E731
        reference = lambda w, one_hot=one_hot: one_hot @ w  # noqa: E731
        call = f"{CALL} with ids of shape {tuple(ids.shape)}"
        expect_gradients(fn, [weight], reference, gen=gen, call=call, names="weight")


def test_memory_of_its_own(answer):
    """Writing to the result leaves weight alone, whatever the shape of ids; the inputs stay the same."""
    for weight in (table(), table().requires_grad_()):
        few = torch.tensor(2), torch.tensor(2).int(), torch.tensor([2]), torch.tensor([[0]])
        for ids in (*few, torch.tensor([1, 2, 3]), torch.arange(7)):
            trained = ", weight requires gradients" if weight.requires_grad else ""
            call = f"{CALL} with ids of shape {tuple(ids.shape)}{trained}"
            with unchanged(call, weight=weight, ids=ids):
                rows = answer.embedding_lookup(weight, ids)
            expect_copy(rows, weight, call)


def test_other_rows_have_no_influence(answer):
    """inf and NaN in rows that nobody asks for stay there, and come where they are asked for."""
    weight = table()
    weight[1], weight[3] = math.inf, math.nan
    weight[6, 1] = -math.inf
    ids = torch.tensor([[0, 2], [6, 2]])
    wanted = looked_up(weight, ids)
    expect_equal(answer.embedding_lookup(weight, ids), wanted, f"{CALL} beside rows of inf and NaN")


VOCAB, DIM = 800, 32
TABLES = {
    "contiguous": torch.zeros(VOCAB, DIM),
    "transposed": torch.zeros(DIM, VOCAB).t(),
    "sliced": torch.zeros(VOCAB, DIM + 1)[:, 1:],
    "bfloat16": torch.zeros(VOCAB, DIM, dtype=torch.bfloat16),
}


def test_memory_in_proportion_to_the_result(answer):
    """A lookup copies the rows that are asked for, not the table, and builds no one-hot matrix."""
    many = 32 * torch.arange(24)
    for kind, ids in [
        ("contiguous", many),
        ("contiguous", many.view(4, 6)),
        ("contiguous", many[7]),
        ("transposed", many),
        ("transposed", many[7]),
        ("sliced", many.view(4, 6)),
        ("bfloat16", many),
    ]:
        weight = TABLES[kind]
        used = peak_bytes(lambda weight=weight, ids=ids: answer.embedding_lookup(weight, ids))
        result = ids.numel() * DIM * weight.itemsize
        # A few copies of the result and a few numbers for each row of the table do no harm.
        expect_that(
            used <= 4 * result + 32 * VOCAB,
            f"{CALL} takes too much memory",
            yours=f"{used:,} bytes for a result of {result:,}, with a {kind} weight of {weight.nbytes:,}",
            wanted="memory in proportion to the result",
        )
    weight = TABLES["contiguous"].clone().requires_grad_()
    crowd = (7 * torch.arange(400)) % VOCAB
    used = peak_bytes(lambda: answer.embedding_lookup(weight, crowd).sum().backward())
    expect_that(
        used <= 4 * weight.nbytes + 8 * len(crowd) * DIM * weight.itemsize,
        f"{CALL} and a backward take too much memory",
        yours=f"{used:,} bytes for {len(crowd)} ids, with a weight of {weight.nbytes:,}",
        wanted="a gradient in the size of weight, without a one-hot matrix or a table for each id",
    )


def test_no_loop(answer, gen):
    """The cost is the same for 6 ids and for 24, and for 6 rows and 24."""
    weight = table()

    def make(n):
        few, many = ids_of((n,), gen), ids_of((n, n), gen)
        return lambda: (answer.embedding_lookup(weight, few), answer.embedding_lookup(weight, many))

    expect_flat_cost(make, CALL, over="ids")
    ids = ids_of((5,), gen, vocab=6)
    tables = {n: table(n) for n in (6, 24)}
    expect_flat_cost(lambda n: lambda: answer.embedding_lookup(tables[n], ids), CALL, over="rows of weight")


def test_without_embedding(answer, gen):
    """The lookup is your own: no nn.Embedding and none of its relatives."""
    weight, ids = table(), ids_of((2, 3), gen)
    with forbid(CALL, "embedding", "embedding_bag"):
        answer.embedding_lookup(weight, ids)


def test_stays_on_the_device(answer, device, gen):
    """A table on another device is read there."""
    weight, ids = table(), ids_of((2, 3), gen)
    wanted = looked_up(weight, ids)
    there = weight.to(device)
    rows = answer.embedding_lookup(there, ids.to(device))
    expect_equal(rows.device, there.device, f"the device of {CALL}")
    expect_equal(on_host(rows), wanted, CALL)


def test_bad_ids(answer):
    """Ids out of range raise IndexError wherever they stand; floating and boolean ids raise TypeError."""
    weight = table()
    for ids in (
        torch.tensor([[0, -1], [2, 3]]),
        torch.tensor([7, 0]),
        torch.tensor(-7),
        torch.tensor([1, 2**32]),
        torch.tensor([[-(2**40)]]),
        torch.tensor([0, -1], dtype=torch.int8),
        torch.tensor([0, -3], dtype=torch.int16),
    ):
        expect_raises(
            IndexError,
            lambda ids=ids: answer.embedding_lookup(weight, ids),
            f"{CALL} with ids {ids.tolist()} and 7 rows",
        )
    expect_raises(
        IndexError,
        lambda: answer.embedding_lookup(weight, torch.tensor([200], dtype=torch.uint8)),
        f"{CALL} with id 200",
    )
    expect_raises(
        IndexError,
        lambda: answer.embedding_lookup(table(300), torch.tensor([[-1]], dtype=torch.int8)),
        f"{CALL} with id -1 in int8 and 300 rows",
    )
    for ids in (
        torch.tensor([0.0, 1.0]),
        torch.tensor([True, False] * 3 + [True]),
        torch.tensor(1.0),
        torch.ones(2).half(),
        torch.zeros(0),
        torch.zeros(3, 0, dtype=torch.bool),
    ):
        expect_raises(
            TypeError, lambda ids=ids: answer.embedding_lookup(weight, ids), f"{CALL} with ids of {ids.dtype}"
        )


def oracle(answer, gen):
    weight = torch.randn(9, 4, generator=gen, requires_grad=True)
    ids = torch.randint(9, (3, 5), generator=gen)
    rows = answer.embedding_lookup(weight, ids)
    rows.backward(torch.randn(rows.shape, generator=gen))
    few = answer.embedding_lookup(weight.detach(), ids[0].to(torch.uint8))
    return [rows.detach(), weight.grad.to_dense(), few]  # a sparse gradient is one, too
