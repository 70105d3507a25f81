"""Ranks apart: two processes train one model, or should.

A colleague's script trains on two ranks, as one process would with batches twice as large. It may stand still or
end with an error of gloo; or the ranks part, learn too fast or too slowly, or tell numbers that are not of all
rows. Run it from `exercises/e13_capstones`; who waits in vain gives up after 20 seconds. Mend it, in as many
places as it takes. It should say

    python -m ranks_apart.train
    # epoch 0   loss 1.153   accuracy 0.768
    # ...
    # epoch 5   loss 0.536   accuracy 0.841
    # rows of each class: 0: 85 1: 84 2: 62 3: 71
    # rank 0 ends, sum of its weights 2.1577
    # rank 1 ends, sum of its weights 2.1577

- Names, arguments and results of functions and classes stay.
- What the README says is meant to be so, for any number of ranks and rows.
- Each function does its part of it alone.
- Files of earlier runs still load.

Fine print:
- In an evaluation a rank runs its share of the rows through the model, not all.
- The noise leaves the global random stream alone.
- The last digits may be others on your machine; what matters is that both ranks have the same.
"""
