"""NaN, or nearly right: a classifier that is trained in half precision.

A colleague trains a classifier in float16, with a loss scaler of his own. His notes have the run below. Yours comes out
differently: NaN, one skipped update after another, an accuracy that is too low, or other digits. README.md says how each
part is meant. Mend it, in five places. From `exercises/e13_capstones`, in seconds:

    python -m half_and_half.train
    step   0: loss 1.838, 0 taken, 1 skipped, scale 2.09715e+06
    step  20: loss 0.643, 18 taken, 3 skipped, scale 524288
    step  40: loss 0.082, 36 taken, 5 skipped, scale 262144
    ...
    accuracy 0.984, last learning rate 0.00133

- What README.md says is meant to be so; the weights of the model stay in float16.
- Names, arguments and results stay; so do names and shapes of weights.
- Each part is judged alone, also with other numbers; some mistakes show in no run of 100 steps.

Fine print:
- An update runs the model once for each of its small batches.
- Measuring the accuracy builds no graph.
- The last digits, and when a step is skipped, may be others on your machine.
"""
