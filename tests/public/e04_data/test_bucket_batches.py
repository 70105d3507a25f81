"""The worked example of bucket_batches."""

from grader.checks import expect_equal, expect_that


def test_worked_example(answer):
    """Short and long sentences of the worked example are in batches of their own."""
    sampler = answer.BucketBatches([3, 90, 4, 91, 2, 5, 97], batch_size=2, width=10, seed=0)
    batches = [[int(index) for index in batch] for batch in sampler]
    found = [index for batch in batches for index in batch]
    never, twice = set(range(7)) - set(found), {index for index in found if found.count(index) > 1}
    expect_that(not never, "some indices never come in an epoch", yours=f"not among them: {sorted(never)}")
    expect_that(not twice, "some indices come twice in an epoch", yours=sorted(twice))
    mixed = [batch for batch in batches if 0 < sum(index in (1, 3, 6) for index in batch) < len(batch)]
    expect_equal(mixed, [], "the batches that hold short and long sentences")
    modulo = {"the bucket is length // width, not length % width": lambda: [1] * 7}
    expect_equal(sorted(map(len, batches)), [1, 2, 2, 2], "the sizes of the batches, sorted", suspects=modulo)
    expect_equal(len(sampler), 4, "len(sampler)")
