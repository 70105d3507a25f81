"""Compiled, and slower than before.

A colleague put `torch.compile` around a classifier of sequences, and each epoch takes longer than without. Seconds
differ between machines, so the program counts what is compiled; README.md says what each part is meant to do. From
`exercises/e13_capstones`, `python -m compiled_slower.train` should print

    epoch 0   loss 1.113   graphs so far 1
    epoch 3   loss 0.173   graphs so far 1
    accuracy 0.93; 2 graphs, of 70 operations at most

Mend it, in as many places as it takes.

- What README.md says is meant to be so; what is right stays as it is.
- Names and signatures stay, and the names and shapes in the state_dict.
- All of the model is compiled, under the compiler's default settings.
- Each part does as README.md says alone, too, with other data.

Fine print:
- An evaluation copies at most two numbers to the host, however many batches it has.
- `total` keeps nothing for a backward.
- The last digits of losses and the number of operations may be others on your machine.
- `TORCH_LOGS=graph_breaks,recompiles` in the environment tells why. No code is generated here: `Graphs` runs a graph as it is.
"""
