"""A cache that changes what is said: five mistakes in a program that generates text.

A colleague has built a small server for conversations, and has gone on leave. Her README.md says what it does. With its cache it
replies something else than without, or is no faster, and her report shows some of it. Mend it, in as many places as it takes. From
the folder above, with what should stand there behind it:

    python -m slow_cache.report
    tokens as without a cache, of 24          24
    tokens read for the 24th                  29      # 1
    places held in the end                     6      # 12
    ...

- What README.md says is meant to be so: positions, what is seen, what is kept, what is read.
- Names, signatures, attributes, and the names and shapes of parameters stay: there are checkpoints.
- The report does not show everything.
- Each part is judged alone.

Fine print:
- A prompt is read in pieces of 16 tokens, by one call of the model for each; a batch stops once all its rows have.
"""
