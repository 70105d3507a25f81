"""Answers to loss_leak that people write."""

from grader.authoring.specimen import Right, Wrong

LOSS = "        total_loss += loss.detach() * len(targets)  # on the device still: no graph, and no wait\n"
METRIC = "        total_metric += metric.detach() * len(targets)\n"
COUNT = "        count += len(targets)\n"
START = "    total_loss, total_metric, count = 0.0, 0.0, 0\n"
BACKWARD = "        loss.backward()\n"
ZERO = "        optimizer.zero_grad()\n"
STEP = "        optimizer.step()\n"
RETURN = "    return float(total_loss / count), float(total_metric / count)\n"
COMPUTED = "        metric = metric_fn(predictions, targets)\n"
PREDICTED = "        predictions = model(inputs)\n"

SPECIMENS = [
    Wrong(
        "asks for the next batch while the last one's predictions are still there",
        code="""
import torch
from torch import Tensor, nn


def train_epoch(model, loss_fn, metric_fn, optimizer, batches):
    total_loss, total_metric, count = 0.0, 0.0, 0
    rows = iter(batches)
    ahead = next(rows, None)
    while ahead is not None:
        inputs, targets = ahead
        ahead = next(rows, None)
        predictions = model(inputs)
        loss = loss_fn(predictions, targets)
        metric = metric_fn(predictions, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        n = len(targets)
        total_loss = total_loss + loss.detach().clone() * n
        total_metric = total_metric + metric.detach().clone() * n
        count += n
    return float(total_loss / count), float(total_metric / count)
""",
        check="test_nothing_piles_up",
        says="after the next",
    ),
    Wrong(
        "leaves the last loss on the optimizer",
        edits=[
            (
                "        optimizer.step()\n",
                "        optimizer.step()\n        optimizer.last_loss = loss.detach()\n",
            )
        ],
        check="test_nothing_is_left",
    ),
    Wrong(
        "sets the model's mode once more, for all that it contains",
        edits=[(START, "    model.train(model.training)\n" + START)],
        check="test_weights",
        says="training flag of layer 1",
    ),
    Wrong(
        "metrics in the dtype of the loss",
        edits=[(METRIC, METRIC.replace("metric.detach()", "metric.detach().to(loss.dtype)"))],
        check="test_means",
        says="float64 metrics",
    ),
    Wrong(
        "numbers in the targets, not examples",
        edits=[(text, text.replace("len(targets)", "targets.numel()")) for text in (LOSS, METRIC, COUNT)],
        check="test_means",
        says="(n, 4)",
    ),
    Wrong(
        "cuts the loss off its graph in place",
        edits=[(LOSS, LOSS.replace("loss.detach()", "loss.detach_()"))],
        check="test_called_once",
        says="in place",
    ),
    Wrong(
        "a list of detached losses, each in the memory of its batch",
        edits=[
            (START, START + "    losses = []\n"),
            (LOSS, "        losses.append((loss.detach(), len(targets)))\n"),
            (RETURN, "    total_loss = sum(loss * n for loss, n in losses)\n" + RETURN),
        ],
        check="test_nothing_piles_up",
        says="loss",
    ),
    Wrong(
        "a running mean, which makes NaN of inf",
        edits=[
            (COUNT, ""),
            (
                LOSS,
                COUNT + "        total_loss += (loss.detach() - total_loss) * len(targets) / count\n",
            ),
            (RETURN, RETURN.replace("total_loss / count", "total_loss")),
        ],
        check="test_nan_and_inf",
    ),
    Wrong(
        "sums with graphs, and floats at the end",
        edits=[("loss.detach() *", "loss *"), ("metric.detach() *", "metric *")],
        check="test_nothing_piles_up",
        says="graph",
    ),
    Wrong(
        "detaches the loss alone",
        edits=[("metric.detach() *", "metric *")],
        check="test_nothing_piles_up",
        says="graph",
    ),
    Wrong(
        "detaches the metric alone",
        edits=[("loss.detach() *", "loss *")],
        check="test_nothing_piles_up",
        says="graph",
    ),
    Wrong(
        "detaches at the end",
        edits=[
            ("loss.detach() *", "loss *"),
            ("metric.detach() *", "metric *"),
            (RETURN, "    return (total_loss.detach() / count).item(), float(total_metric / count)\n"),
        ],
        check="test_nothing_piles_up",
    ),
    Wrong(
        "a list of losses",
        edits=[
            (START, START + "    every = []\n"),
            (COUNT, COUNT + "        every.append(loss)\n"),
        ],
        check="test_nothing_piles_up",
        says="loss",
    ),
    Wrong(
        "a list of predictions",
        edits=[
            (START, START + "    every = []\n"),
            (PREDICTED, PREDICTED + "        every.append(predictions)\n"),
        ],
        check="test_nothing_piles_up",
        says="predictions",
    ),
    Wrong(
        "a list of the batches",
        edits=[("in batches:", "in list(batches):")],
        check="test_nothing_piles_up",
    ),
    Wrong(
        "keeps the inputs",
        edits=[
            (START, START + "    every = []\n"),
            (PREDICTED, PREDICTED + "        every.append(inputs)\n"),
        ],
        check="test_nothing_piles_up",
        says="inputs",
    ),
    Wrong(
        "returns tensors",
        edits=[(RETURN, "    return total_loss / count, total_metric / count\n")],
        check="test_means",
        says="types",
    ),
    Wrong(
        "item in each batch",
        edits=[("loss.detach() *", "loss.item() *"), ("metric.detach() *", "metric.item() *")],
        check="test_waits_at_the_end",
        says="waits",
    ),
    Wrong(
        "item for the loss in each batch",
        edits=[("loss.detach() *", "loss.item() *")],
        check="test_waits_at_the_end",
        says="waits",
    ),
    Wrong(
        "copies each number to the host",
        edits=[
            ("loss.detach() *", "loss.detach().cpu() *"),
            ("metric.detach() *", "metric.detach().cpu() *"),
        ],
        check="test_waits_at_the_end",
        says="waits",
    ),
    Wrong(
        "sums in float32",
        edits=[
            (START, "    total_loss, total_metric, count = torch.zeros(()), torch.zeros(()), 0\n"),
        ],
        check="test_means",
        says="wrong mean",
    ),
    Wrong(
        "a mean of batch means",
        edits=[
            ("loss.detach() * len(targets)", "loss.detach()"),
            ("metric.detach() * len(targets)", "metric.detach()"),
            (COUNT, "        count += 1\n"),
        ],
        check="test_means",
        says="wrong mean",
    ),
    Wrong(
        "loss and metric the wrong way round",
        edits=[(RETURN, "    return float(total_metric / count), float(total_loss / count)\n")],
        check="test_means",
    ),
    Wrong(
        "the metric after the step, from a second run",
        edits=[
            (COMPUTED, ""),
            (
                STEP,
                STEP
                + "        with torch.no_grad():\n            metric = metric_fn(model(inputs), targets)\n",
            ),
        ],
        check="test_called_once",
        says="runs of model",
    ),
    Wrong(
        "skips losses that are not finite",
        edits=[
            (
                LOSS + METRIC,
                "        total_loss += loss.detach().nan_to_num(0.0, 0.0) * len(targets)\n        total_metric += metric.detach().nan_to_num(0.0, 0.0) * len(targets)\n",
            )
        ],
        check="test_nan_and_inf",
    ),
    Wrong(
        "cuts the predictions before the loss",
        edits=[
            (PREDICTED, "        predictions = model(inputs).detach().requires_grad_()\n"),
        ],
        check="test_weights",
    ),
    Wrong(
        "trains on the metric too",
        edits=[(BACKWARD, "        (loss + metric).backward()\n")],
        check="test_weights",
    ),
    Wrong("never clears the gradients", edits=[(ZERO, "")], check="test_weights"),
    Wrong(
        "keeps the graph for a second backward",
        edits=[
            (
                BACKWARD,
                "        loss.backward(create_graph=True)\n",
            )
        ],
        check="test_nothing_is_left",
    ),
    Wrong(
        "puts the last loss on the model",
        edits=[(RETURN, "    model.last = (loss, predictions)\n" + RETURN)],
        check="test_nothing_is_left",
        says="alive after",
    ),
    Wrong(
        "keeps the last metric on the function",
        edits=[(RETURN, "    train_epoch.last = metric\n" + RETURN)],
        check="test_nothing_is_left",
        says="alive after",
    ),
    Wrong(
        "switches to training mode",
        edits=[(START, START + "    model.train()\n")],
        check="test_called_once",
        says="training mode",
    ),
    Wrong(
        "steps twice",
        edits=[(STEP, STEP + STEP)],
        check="test_called_once",
        says="step",
    ),
    Right(
        "the metric without gradients, sums in float64",
        edits=[
            (
                COMPUTED,
                "        with torch.no_grad():\n            metric = metric_fn(predictions.detach(), targets)\n",
            ),
            (METRIC, "        total_metric = total_metric + metric.double() * targets.shape[0]\n"),
            (LOSS, "        total_loss = total_loss + loss.data.double() * targets.shape[0]\n"),
            (
                RETURN,
                "    both = torch.stack([total_loss, total_metric]) / count\n    first, second = both.tolist()\n    return first, second\n",
            ),
        ],
    ),
    Right(
        "lists of detached numbers, in memory of their own",
        edits=[
            (START, "    losses, metrics, sizes = [], [], []\n"),
            (LOSS, "        losses.append(loss.detach().clone())\n"),
            (METRIC, "        metrics.append(metric.detach().clone())\n"),
            (
                COUNT,
                "        sizes.append(len(targets))\n        del inputs, targets, predictions, loss, metric\n",
            ),
            (
                RETURN,
                """    losses, metrics = torch.stack(losses).tolist(), torch.stack(metrics).tolist()
    count = sum(sizes)
    weighted = [sum(n * x for n, x in zip(sizes, numbers)) / count for numbers in (losses, metrics)]
    return weighted[0], weighted[1]
""",
            ),
        ],
    ),
    Right(
        "one epoch's sums in no_grad",
        edits=[
            (
                LOSS + METRIC,
                """        with torch.no_grad():
            total_loss = total_loss + loss * len(targets)
            total_metric = total_metric + metric * len(targets)
""",
            ),
            (RETURN, "    return (total_loss / count).item(), (total_metric / count).item()\n"),
        ],
    ),
    Wrong(
        "counts the inputs",
        edits=[
            ("loss.detach() * len(targets)", "loss.detach() * len(inputs)"),
            ("metric.detach() * len(targets)", "metric.detach() * len(inputs)"),
            (COUNT, COUNT.replace("targets", "inputs")),
        ],
        check="test_time_first",
    ),
    Wrong(
        "clears the model's gradients alone",
        edits=[(ZERO, ZERO.replace("optimizer", "model"))],
        check="test_weights",
    ),
    Wrong(
        "keeps detached predictions",
        edits=[
            (START, START + "    kept = []\n"),
            (PREDICTED, PREDICTED + "        kept.append(predictions.detach())\n"),
        ],
        check="test_nothing_piles_up",
        says="predictions",
    ),
    Wrong(
        "adds up in the first batch's tensors",
        edits=[
            (
                METRIC,
                "        if torch.is_tensor(total_metric):\n            total_metric += metric.detach() * len(targets)\n        else:\n            total_metric = metric.detach().mul_(len(targets))\n",
            )
        ],
        check="test_called_once",
    ),
    Wrong(
        "the metric goes along with a weight of 0",
        edits=[(BACKWARD, "        (loss + 0 * metric if metric.requires_grad else loss).backward()\n")],
        check="test_weights",
    ),
    Wrong(
        "clips large gradients",
        edits=[
            (
                STEP,
                "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e3)\n        optimizer.step()\n",
            )
        ],
        check="test_weights",
    ),
    Wrong(
        "the metric of predictions that the step has changed",
        edits=[
            (COMPUTED, ""),
            (STEP, STEP + "        metric = metric_fn(predictions.detach(), targets)\n"),
        ],
        check="test_means",
        says="parameter itself",
    ),
    Wrong(
        "sums in the dtype of the predictions",
        edits=[(METRIC, "        total_metric += metric.detach().to(predictions.dtype) * len(targets)\n")],
        check="test_means",
        says="float64 metrics",
    ),
    Wrong(
        "counts the predictions' rows",
        edits=[
            ("loss.detach() * len(targets)", "loss.detach() * predictions.shape[0]"),
            ("metric.detach() * len(targets)", "metric.detach() * predictions.shape[0]"),
            ("count += len(targets)", "count += predictions.shape[0]"),
        ],
        check="test_means",
        says="predictions (2, n)",
    ),
    Wrong(
        "a metric of predictions without a graph, taken to have none",
        edits=[
            ("metric_fn(predictions, targets)", "metric_fn(predictions.detach(), targets)"),
            ("metric.detach() * len(targets)", "metric * len(targets)"),
        ],
        check="test_nothing_piles_up",
        says="more than one batch is alive",
    ),
    Wrong(
        "sums on the host, of numbers that may not have arrived",
        edits=[
            (LOSS, LOSS.replace("loss.detach()", "loss.detach().to('cpu', non_blocking=True)")),
            (METRIC, METRIC.replace("metric.detach()", "metric.detach().to('cpu', non_blocking=True)")),
        ],
        check="test_waits_at_the_end",
        says="does not wait",
    ),
    Right(
        "both sums come to the host at once, in the end",
        edits=[
            (
                RETURN,
                "    both = torch.stack([total_loss.double(), total_metric.double()]).cpu() / count\n"
                "    return float(both[0]), float(both[1])\n",
            )
        ],
    ),
]
