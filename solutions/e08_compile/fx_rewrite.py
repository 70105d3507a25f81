import operator

import torch
import torch.nn.functional as F
from torch import fx, nn


def _is_call(node: object, functions: tuple[object, ...], method: str) -> bool:
    if not isinstance(node, fx.Node):
        return False
    if node.op == "call_method":
        return node.target == method
    return node.op == "call_function" and node.target in functions


def _is_sigmoid(node: object, traced: fx.GraphModule) -> bool:
    if isinstance(node, fx.Node) and node.op == "call_module":
        return isinstance(traced.get_submodule(str(node.target)), nn.Sigmoid)
    return _is_call(node, (torch.sigmoid, F.sigmoid), "sigmoid")


def fuse_silu(model: nn.Module) -> fx.GraphModule:
    traced = fx.symbolic_trace(model)
    graph = traced.graph
    for node in list(graph.nodes):
        if not _is_call(node, (operator.mul, torch.mul), "mul") or len(node.args) != 2:
            continue
        left, right = node.args
        for x, gate in ((left, right), (right, left)):
            if _is_sigmoid(gate, traced) and gate.args and gate.args[0] is x:
                with graph.inserting_before(node):
                    fused = graph.call_function(F.silu, (x,))
                node.replace_all_uses_with(fused)
                graph.erase_node(node)
                if not gate.users:
                    graph.erase_node(gate)
                break
    graph.lint()
    traced.recompile()
    return traced
