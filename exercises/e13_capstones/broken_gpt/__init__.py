"""A GPT that does not learn: five mistakes in two hundred lines.

A colleague is away, and you need her program today: a small GPT that learns to write sentences, letter by letter. Her README.md
says what it does. The loss stalls, and what is written are no words. Mend it, in as many places as it takes. From
the folder above, with what her notes have behind it:

    python -m broken_gpt.train
    27168 parameters, 85735 letters to learn, 9527 held out
    step   0: 3.38 in training, 3.375 held out
    ...
    step 299: 1.29 in training, 1.274 held out     # 0.70 and 0.613
    the hhhhhhhh.h.hhhhhhohhhhhshhhhhe             # the old hens hear tired crow

- What README.md says is meant to be so: data, model, training, evaluation and sampling.
- Names, signatures, and the names and shapes of parameters stay: there are checkpoints.
- A loss far below what is promised is a mistake, too.
- Each part is judged alone.

Fine print:
- Sampling runs the model once for each new letter, for all texts of the batch together.
- An evaluation builds no graph.
"""
