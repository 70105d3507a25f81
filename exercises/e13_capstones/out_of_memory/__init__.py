"""Out of memory: a step that fits must fit.

A colleague trains the upper blocks of a small decoder where memory is short. Her README.md says what each part may take, and the
program measures it; with you it takes more than below. Mend it, in as many places as it takes. From
`exercises/e13_capstones`, in seconds:

    python -m out_of_memory.train
              loss      at most    behind it
    step  0   9.38      1721 kB       202 kB
    step 10   8.21      1923 kB       202 kB
    ...
    held out  7.27       861 kB       202 kB

- What README.md says is meant to be so: model, loss, steps, evaluation.
- Names, signatures, and the names and shapes of parameters stay: there are checkpoints.
- The loss stays what it is: nothing is left out, made smaller or rounded.
- Each part is judged alone, in bytes, and some mistakes show in no byte.

Fine print:
- A step runs a block that is frozen once, and one that learns twice at most.
- An evaluation of more texts takes no more memory.
- `Meter` in watch.py is right.
- The last digits may be others on your machine.
"""
