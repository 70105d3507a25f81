"""A GPT that does not learn: five mistakes in two hundred lines.

A colleague is away, and you need her program today: a small GPT that learns to write sentences, letter by letter. Her README.md
says what it is meant to do. Her notes have the run below, and yours comes out differently. Mend it, in as many places
as it takes. From `exercises/e13_capstones`, in seconds:

    python -m broken_gpt.train
    27168 parameters, 85735 letters to learn, 9527 held out
    step   0: 3.38 in training, 3.354 held out
    step  50: 1.51 in training, 1.468 held out
    ...
    step 299: 0.70 in training, 0.613 held out
    at the end  0.613 held out
    the old hens hear tired crow at t night.

- What README.md says is meant to be so: data, model, training, evaluation and sampling.
- Names, signatures, and the names and shapes of parameters stay: there are checkpoints.
- A loss far below what is promised is a mistake, too.
- Each part is judged alone, and some mistakes show in no loss.

Fine print:
- Sampling runs the model once for each new letter, for all texts of the batch together.
- An evaluation builds no graph.
- The last digits may be others on your machine.
"""
