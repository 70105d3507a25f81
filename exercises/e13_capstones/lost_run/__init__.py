"""The run that goes on, and is another one.

A colleague's training script is to survive every kill: started again in its folder, it goes on from the newest
checkpoint, and ends with the same weights, bit for bit. It does not. From `exercises/e13_capstones`,
`python -m lost_run.train` trains one run undisturbed, and one that is killed four times. You should see

    never disturbed
      batches 1 to 60, losses 1.5879 to 0.2552
      accuracy 0.8800, best 0.8867, that of the weights kept 0.8867
    killed after batches 17 and 38, while a checkpoint is written, and after batch 58
      first batches: 1 16 36 56
      batches 56 to 60, losses 0.2221 to 0.2552
      accuracy 0.8800, best 0.8867, that of the weights kept 0.8867
    the weights differ by 0 at most

Mend it, in as many places as it takes.

- Names and signatures stay, those in checkpoints included.
- What the README says is meant to be so.
- Checkpoints that exist still load: those of before, and those of today.

Fine print:
- Loading a checkpoint trains on nothing again: it runs no batch through the model.
- A checkpoint is no larger after many epochs than after one.
- The digits of the losses may be others on your machine; what matters is that both runs have the same.
"""
