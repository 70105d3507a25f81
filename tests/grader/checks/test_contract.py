"""What a contract demands, and what an answer reads that does not keep it."""

import inspect
from types import SimpleNamespace

import pytest
import torch

from grader.authoring import reference
from grader.checks import CheckFailure
from grader.checks import contract as contracts
from grader.checks.contract import Contract, given
from grader.checks.contract.call import Signature, cases
from grader.checks.contract.oracle import oracle_of
from grader.checks.devices import install

EXAMPLE = next(helper.example for helper in reference.helpers() if helper.name == "Contract")


@pytest.fixture(scope="module")
def documented():
    names = {**vars(contracts), "torch": torch}
    exec(EXAMPLE, names)
    return names["contract"]


def judge(contract, **answer):
    """What each check says; "" where it passes."""
    told = {}
    for check in contract.checks("contract"):
        fixtures = {"gen": torch.Generator().manual_seed(1), "device": install()}
        wanted = inspect.signature(check.function).parameters
        try:
            check.function(SimpleNamespace(**answer), **{n: fixtures[n] for n in wanted if n != "answer"})
            told[check.name] = ""
        except (CheckFailure, RuntimeError) as failure:
            told[check.name] = str(failure)
    return told


def shares(sold, dim, base=1.0):
    return base * sold / sold.sum(dim, keepdim=True)


def test_the_documented_example_has_the_checks_that_it_names(documented):
    found = {check.name: check.fine for check in documented.checks("contract")}
    job = ["test_worked_example", "test_values", "test_gradients"]
    fine = ["test_dtype_is_kept", "test_arguments_are_left_alone", "test_stays_on_the_device"]
    assert found == dict.fromkeys(job, False) | dict.fromkeys(fine, True)
    assert not any(judge(documented, shares=shares).values())


def test_a_suspect_is_told_with_the_case(documented):
    told = judge(documented, shares=lambda sold, dim, base=1.0: base * sold / sold.sum(dim))["test_values"]
    assert "wrong values from shares(sold, 1) of as many shops as fruits" in told
    assert "likely  keepdim is missing" in told


def test_the_oracle_has_the_cases_and_the_gradient(documented):
    found = oracle_of([documented])(SimpleNamespace(shares=shares), torch.Generator())
    assert list(found) == ["as many shops as fruits", "three shops", "percentages by fruit", "the gradient"]
    assert found["the gradient"]().shape == (4, 4)
    assert oracle_of([Contract("f(x)", example=(1, 1))]) is None


def test_the_oracle_grants_what_the_contract_says_of_rounding():
    inputs = {"inputs": lambda gen: {"one number": torch.rand(1, generator=gen)}}
    found = oracle_of([Contract("f(x)", **inputs, gradient="x", ulps=100.0)])
    for case in found(SimpleNamespace(f=lambda x: 2 * x), torch.Generator()).values():
        assert (case().ulps, case().scale) == (100.0, None)


def test_a_list_of_several_results_is_as_good_as_a_tuple():
    inputs = {"inputs": lambda gen: {"one row": torch.rand(3, generator=gen)}}
    contract = Contract("f(x)", reference=lambda x: (x.amin(), (x.amax(), x.sum())), **inputs)
    assert judge(contract, f=lambda x: [x.amin(), (x.amax(), x.sum())])["test_values"] == ""
    assert "list" in judge(contract, f=lambda x: (x.amin(), [x.amax(), x.sum()]))["test_values"]
    assert "list" in judge(contract, f=lambda x: [x.amin()])["test_values"]


def test_the_oracle_of_two_functions_tells_them_apart():
    inputs = {"inputs": lambda gen: {"one number": torch.rand(1, generator=gen)}}
    found = oracle_of([Contract("f(x)", **inputs), Contract("g(x)", **inputs, gradient="x")])
    answer = SimpleNamespace(f=lambda x: x, g=lambda x: 2 * x)
    assert list(found(answer, torch.Generator())) == [
        "f of one number",
        "g of one number",
        "the gradient through g",
    ]


def test_calls_are_told_as_they_are_written():
    signature, x = Signature.of("f(x, dim, sizes)"), torch.ones(2)
    assert signature.text(given(x, 1, [2, 3], mask=x, eps=1e-5)) == "f(x, 1, [2, 3], mask=mask, eps=1e-05)"
    assert signature.text(given(x, dtype=torch.half)) == "f(x, dtype=torch.float16)"
    assert signature.text(given([x, x], 1, list(range(99)))) == "f(x, 1, sizes)"
    with pytest.raises(ValueError, match="no call"):
        Signature.of("f(x, *, dim=1)")


def test_cases_without_names_are_told_by_their_shapes():
    drawn = [torch.ones(2, 3), (torch.ones(2, 3), 1), 5]
    assert [case.about for case in cases(drawn)] == ["shape (2, 3)", "shape (2, 3), input 2", "input 3"]
    assert [case.where() for case in cases({"with eps": 1, "rows": 2})] == [" with eps", " of rows"]


def two(gen):
    return {"two rows": torch.randn(2, 3, generator=gen)}


def many(gen):
    return [torch.randn(64, 4, generator=gen)]


def doubled(**options):
    return Contract("double(x)", reference=lambda x: x * 2, inputs=two, **options)


@pytest.mark.parametrize(
    ("clause", "answer", "words"),
    [
        (contracts.values(name="more"), lambda x: x * 3, "wrong values from double(x) of two rows"),
        (contracts.gradients("x"), lambda x: (x * 2).detach(), "no gradient flows through double(x)"),
        (contracts.dtypes(torch.float64), lambda x: (x * 2).float(), "wrong dtype"),
        (contracts.dtypes(torch.int64), lambda x: (x * 2).float(), "two rows, in torch.int64"),
        (contracts.half_precision(inputs=many), lambda x: x * 0.1 * 20, "wrong values"),
        (contracts.empties(), lambda x: torch.zeros(1, 3) if not len(x) else x * 2, "an empty batch"),
        (contracts.untouched(), lambda x: x.mul_(2), "changes its input x"),
        (contracts.own_memory(), lambda x: x.mul_(2), "returns a view of its input"),
        (contracts.views(), lambda x: x * 2, "copies"),
        (contracts.device(), lambda x: torch.tensor(x.tolist()) * 2, "wrong device of double(x)"),
        (contracts.without("mul"), lambda x: x * 2, "uses what the statement rules out"),
        (
            contracts.strides(),
            lambda x: x.as_strided(x.shape, (3, 1), x.storage_offset()) * 2,
            "past the strides",
        ),
        (
            contracts.flat_cost(torch.ones, over="rows"),
            lambda x: torch.stack([2 * one for one in x]),
            "grows with rows",
        ),
        (
            contracts.errors(ValueError, lambda gen: {"no rows": torch.ones(0)}),
            lambda x: x * 2,
            "no error from double(x) of no rows",
        ),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_clause_that_is_not_kept(clause, answer, words):
    name = f"test_{clause.name}"
    assert words in judge(doubled(fine=[clause]), double=answer)[name]
    kept = judge(doubled(fine=[clause]), double=lambda x: x * 2)[name]
    assert not kept or clause.name in ("own_computation", "view", "errors")


def test_several_results_are_compared_one_by_one():
    contract = Contract("split(x)", reference=lambda x: (x[:1], {"n": len(x)}, 0.5), inputs=two)
    keep = {"split": lambda x: (x[:1], {"n": 2}, 0.5)}
    assert not judge(contract, **keep)["test_values"]
    told = judge(contract, split=lambda x: (x[1:], {"n": 2}, 0.5))["test_values"]
    assert "wrong values from split(x)[0] of two rows" in told
    told = judge(contract, split=lambda x: (x[:1], {"n": 3}, 0.5))["test_values"]
    assert "wrong result from split(x)[1]['n'] of two rows" in told
    assert "0.25" in judge(contract, split=lambda x: (x[:1], {"n": 2}, 0.25))["test_values"]
    assert "wrong type" in judge(contract, split=lambda x: x)["test_values"]


def test_an_example_may_give_what_is_no_tensor():
    contract = Contract("to_list(x)", reference=lambda x: x.tolist(), example=([1, 2], [1, 2]))
    assert not judge(contract, to_list=lambda x: x.tolist())["test_worked_example"]
    assert judge(contract, to_list=lambda x: x)["test_worked_example"]


def test_two_checks_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two checks of double"):
        doubled(fine=[contracts.untouched(), contracts.untouched()])
