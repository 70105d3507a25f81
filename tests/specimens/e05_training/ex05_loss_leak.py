"""Answers to loss_leak that people write."""

from grader.authoring.specimen import Right, Works, Wrong

PREDICTIONS = "        predictions = model(inputs)\n"
LOSS = "        loss = loss_fn(predictions, targets)\n"
METRIC = "        metric = metric_fn(predictions, targets)\n"
CLEAR = "        optimizer.zero_grad()\n"
BACKWARD = "        loss.backward()\n"
STEP = "        optimizer.step()\n"
TOTAL_LOSS = (
    "        total_loss += loss.detach() * len(targets)  # on the device still: no graph, and no wait\n"
)
TOTAL_METRIC = "        total_metric += metric.detach() * len(targets)\n"
COUNT = "        count += len(targets)\n"
LAST = "    return float(total_loss / count), float(total_metric / count)\n"
START = "    total_loss, total_metric, count = 0.0, 0.0, 0\n"

SPECIMENS = [
    Wrong(
        "sums with graphs, and floats at the end",
        edits=[("loss.detach()", "loss"), ("metric.detach()", "metric")],
        check="test_no_graph_piles_up",
        says="of the losses and the metrics",
        rung="job",
    ),
    Wrong(
        "detaches the loss alone",
        edits=[("metric.detach()", "metric")],
        check="test_no_graph_piles_up",
        says="graphs of the metrics",
        rung="job",
    ),
    Wrong(
        "a list of losses, and item for the metric",
        edits=[
            (START, START + "    losses = []\n"),
            (TOTAL_LOSS, "        losses.append(loss * len(targets))\n"),
            ("metric.detach()", "metric.item()"),
            ("float(total_loss / count)", "float(sum(losses) / count)"),
        ],
        check="test_no_graph_piles_up",
        says="graphs of the losses",
        rung="job",
    ),
    Wrong(
        "returns tensors",
        edits=[(LAST, "    return total_loss / count, total_metric / count\n")],
        check="test_means",
        says="float",
        rung="job",
    ),
    Wrong(
        "a mean of batch means",
        edits=[
            ("loss.detach() * len(targets)", "loss.detach()"),
            ("metric.detach() * len(targets)", "metric.detach()"),
            (COUNT, "        count += 1\n"),
        ],
        check="test_means",
        says="batches' means",
        rung="job",
    ),
    Wrong(
        "the metric after the step, from a second run",
        edits=[(METRIC, ""), (STEP, STEP + METRIC.replace("predictions", "model(inputs)"))],
        check="test_means",
        says="after the step",
        rung="job",
    ),
    Wrong(
        "never clears the gradients",
        edits=[(CLEAR, "")],
        check="test_weights",
        says="batches before count as well",
        rung="job",
    ),
    Wrong(
        "cuts the predictions before the loss",
        edits=[(PREDICTIONS, "        predictions = model(inputs).detach()\n")],
        check="test_weights",
        says="does not require grad",
        rung="job",
    ),
    Wrong(
        "detaches the loss before the backward",
        edits=[(LOSS, LOSS.replace("targets)", "targets).item()"))],
        check="test_weights",
        says="'float' object has no attribute 'backward'",
        rung="job",
    ),
    Wrong(
        "collects the predictions, for the metric of the whole epoch",
        edits=[
            (START, START + "    outputs = []\n"),
            (LOSS, "        outputs.append(predictions.detach())\n" + LOSS),
        ],
        check="test_batches_are_let_go",
        says="the predictions of earlier batches",
    ),
    Wrong(
        "a list of the batches",
        edits=[("in batches:", "in list(batches):")],
        check="test_batches_are_let_go",
        says="the inputs of earlier batches",
    ),
    Wrong(
        "copies each number to the host",
        edits=[("metric.detach()", "metric.detach().cpu()")],
        check="test_waits_at_the_end",
        says="waits for 5 batches",
    ),
    Works(
        "as PyTorch's FAQ says: float in each batch",
        edits=[("loss.detach()", "float(loss)"), ("metric.detach()", "float(metric)")],
    ),
    Works(
        "as PyTorch's ImageNet example has it: meters that are updated with item",
        code="""
class AverageMeter(object):
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

def train_epoch(model, loss_fn, metric_fn, optimizer, batches):
    losses, top1 = AverageMeter(), AverageMeter()
    for i, (images, target) in enumerate(batches):
        output = model(images)
        loss = loss_fn(output, target)
        acc1 = metric_fn(output, target)
        losses.update(loss.item(), images.size(0))
        top1.update(acc1.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses.avg, top1.avg
""",
    ),
    Right(
        "as Hugging Face's Trainer has it: a detached sum; the metric under no_grad",
        code="""
import torch

def train_epoch(model, loss_fn, metric_fn, optimizer, batches):
    tr_loss, tr_metric, rows = torch.tensor(0.0), torch.tensor(0.0), 0
    for inputs, labels in batches:
        outputs = model(inputs)
        loss = loss_fn(outputs, labels)
        with torch.no_grad():
            metric = metric_fn(outputs, labels)
        loss.backward()
        optimizer.step()
        model.zero_grad()
        tr_loss = tr_loss.to(loss) + loss.detach() * len(labels)
        tr_metric = tr_metric.to(metric) + metric * len(labels)
        rows += len(labels)
    return (tr_loss / rows).item(), (tr_metric / rows).item()
""",
    ),
    Right(
        "lists of detached numbers, stacked at the end",
        code="""
import torch

def train_epoch(model, loss_fn, metric_fn, optimizer, batches):
    seen, sizes = [], []
    for inputs, targets in batches:
        optimizer.zero_grad(set_to_none=True)
        predictions = model(inputs)
        loss = loss_fn(predictions, targets)
        loss.backward()
        metric = metric_fn(predictions.detach(), targets)
        seen.append(torch.stack([loss.detach().double(), metric.double()]) * targets.shape[0])
        sizes.append(targets.shape[0])
        optimizer.step()
    loss, metric = (torch.stack(seen).sum(0) / sum(sizes)).tolist()
    return loss, metric
""",
    ),
]
