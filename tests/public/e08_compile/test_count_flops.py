"""The worked example of count_flops, training_flops and utilisation."""

from grader.checks import expect_equal, expect_number

FORWARD = {
    "projections": 21990232555520,
    "attention": 35184372088832,
    "mlp": 92358976733184,
    "head": 8607114461184,
    "total": 158140695838720,
}


def llama(answer):
    return answer.Decoder(32, 4096, heads=32, kv_heads=8, head_dim=128, hidden=14336, vocabulary=128256)


def test_worked_example(answer):
    """The FLOPs of a forward pass in the worked example come out."""
    yours = answer.count_flops(llama(answer), batch=1, time=8192)
    expect_equal(sorted(yours), sorted(FORWARD), "the keys of count_flops(llama, 1, 8192)")
    for kind, wanted in FORWARD.items():
        half = "a product takes 2·m·k·n FLOPs"
        if kind == "attention":
            half = "scores and weighted sum both count, and the causal mask saves nothing"
        suspects = {half: lambda wanted=wanted: wanted // 2}
        if kind == "attention":
            each = "every one of the 32 heads has scores, not only every key head"
            suspects[each] = lambda wanted=wanted: wanted // 4
        if kind == "head":
            suspects["the head stands once behind the layers, not in each"] = lambda wanted=wanted: (
                wanted * 32
            )
        expect_equal(int(yours[kind]), wanted, f'count_flops(llama, 1, 8192)["{kind}"]', suspects=suspects)


def test_training_example(answer):
    """The FLOPs of forward and backward in the worked example come out."""
    suspects = {
        "backward has two products for each of forward, not one": lambda: 316281391677440,
        "this is forward alone": lambda: FORWARD["total"],
    }
    yours = answer.training_flops(llama(answer), batch=1, time=8192)
    expect_equal(int(yours), 474422087516160, "training_flops(llama, 1, 8192)", suspects=suspects)


def test_utilisation_example(answer):
    """The utilisation in the worked example comes out."""
    suspects = {
        "this is in percent": lambda: 54.4579907,
        "training takes three times the FLOPs of forward": lambda: 0.1815266,
        "these are the FLOPs of a sequence, not of a token": lambda: 0.5445799 * 8192,
    }
    share = answer.utilisation(llama(answer), tokens_per_second=9300, time=8192, peak=989e12)
    expect_number(share, 0.544579907, "utilisation(llama, 9300, 8192, 989e12)", rtol=1e-4, suspects=suspects)
