"""It does not ship: right in the notebook, wrong behind the endpoint.

A colleague's network tells fruit apart, and in her notebook it is nearly always right. What is released is a file
with weights in int8, and an endpoint that answers requests; there it errs, fails, or answers what it should
refuse. Her README.md says how all of it is meant. From `exercises/e13_capstones`, in seconds, you should see, and do
not:

    python -m does_not_ship.ship
    notebook               right 120 of 120
    endpoint, 40 at a time  right 120, unsure  0 of 120, status [200]
    endpoint,  2 at a time  right 120, unsure  0 of 120, status [200]
    endpoint,  1 at a time  right 120, unsure  0 of 120, status [200]
    two apples             apple 0.999 apple 0.997
    two apples             apple 0.999 apple 0.997
    a grey picture         status 422
    ...

Mend it, in as many places as it takes.

- What README.md says is meant to be so; names, signatures, and the names in checkpoints stay.
- The run does not show everything.
- Each part is judged alone, also with other models, labels and pictures.

Fine print:
- The program runs once for a request, for all its pictures together, and records no graph.
- In int8, a weight takes one byte.
- The last digits may be others on your machine.
"""
