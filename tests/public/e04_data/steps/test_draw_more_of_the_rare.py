"""The suite of draw_more_of_the_rare."""

import torch
from torch.utils.data import TensorDataset

from grader.checks import expect_equal, expect_that


def albums(gen):
    """Photos of weight 0, 3 and 1; sizes are odd, so that the last batch is short."""
    for least in (1000, 2000, 3000):
        n = least + 2 * int(torch.randint(450, (), generator=gen)) + 1
        yield n, torch.tensor([0.0, 3.0, 1.0])[torch.randint(3, (n,), generator=gen)]


def facts(answer, n, weights):
    """What is true of every such loader, whatever it draws."""
    loader = answer.weighted_loader(TensorDataset(torch.arange(n)), weights)
    batches = [x for (x,) in loader]
    drawn, again = torch.cat(batches), torch.cat([x for (x,) in loader])
    often, seldom = int((weights[drawn] == 3).sum()), int((weights[drawn] == 1).sum())
    ratio = often / max(seldom, 1) / (int((weights == 3).sum()) / int((weights == 1).sum()))
    return {
        "drawn": len(drawn),
        "first": len(batches[0]),
        "none of weight 0": not bool((weights[drawn] == 0).any()),
        "three times": 2.0 < ratio < 4.5,
        "drawn anew": not torch.equal(drawn, again),
    }


def test_loader(answer, gen):
    """Batches of four are drawn by weight, as many photos as the dataset has."""
    for n, weights in albums(gen):
        found = facts(answer, n, weights)
        mistakes = {"every batch has one photo: DataLoader was not told batch_size=4": lambda: 1}
        expect_equal(found["first"], 4, "how many photos the first batch has", suspects=mistakes)
        why = "the loader does not draw by weight: give it the sampler"
        expect_that(found["none of weight 0"], "photos of weight 0 come", likely=why)
        mistakes = {
            "each photo that may come is drawn once: draw as many as dataset has": lambda w=weights: int(
                (w > 0).sum()
            ),
            "this is the number of batches: the sampler wants that of photos": lambda n=n: n // 4,
        }
        expect_equal(found["drawn"], n, f"how many of {n} photos an epoch draws", suspects=mistakes)
        why = "all weights above 0 count alike"
        expect_that(found["three times"], "3.0 does not come three times as often as 1.0", likely=why)
        why = "it is drawn once and kept"
        expect_that(found["drawn anew"], "the second epoch draws the same photos", likely=why)


def oracle(answer, gen):
    return {f"album {i}": facts(answer, *album) for i, album in enumerate(albums(gen))}
