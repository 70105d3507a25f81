"""A flow that paints grey: five mistakes in a program that is to paint.

A colleague's program learns to paint bars, posts, crosses and boxes of 8×8 pixels, by flow matching. It runs without a message; what it
paints is grey, or noise, or not what was asked for. Her README.md says how each part is meant. Mend it, in as many places as it
takes. From `exercises/e13_capstones`, in seconds, it should say:

    python -m diffusion_grey.train
    ...
    step 1000: a loss of 0.477
    bar    25 of 25 show one, at 3 places;  29 levels off; from 0 to 255
    post   25 of 25 show one, at 3 places;  32 levels off; from 0 to 255
    ...

- What README.md says is meant to be so.
- Names, arguments, and the names and shapes of parameters stay: there are checkpoints.
- A loss far below what is promised is a mistake, too.
- Each part is judged alone, and some mistakes show in no picture.

Fine print:
- Each step of painting calls the model once, with and without labels together.
- Painting builds no graph.
- The last digits may be others on your machine.
"""
