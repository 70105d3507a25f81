r"""Right values by a loop over heads, which costs what the job is not to cost.
then = ""
deserves = ["failed", "partial", "works"]
earns = 0.95
says = "grows with"
[each]
in_a_string = "exec(compile(code, '<mine>', 'exec'), globals())"
in_a_string_of_a_library_s = "exec(compile(code, __import__('os').__file__, 'exec'), globals())"
in_a_thread = '''
exec(code.replace('merge_heads', 'loop'), globals())
def merge_heads(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(loop(x)))
    thread.start(), thread.join()
    return found[0]'''
in_a_pool_from_before = '''
exec(code.replace('merge_heads', 'loop'), globals())
pool = ThreadPoolExecutor(1)
pool.submit(print).result()
def merge_heads(x): return pool.submit(loop, x).result()'''
"""
import threading
from concurrent.futures import ThreadPoolExecutor
import torch

code = """
def merge_heads(x):
    heads = [x[:, i] for i in range(x.shape[1])]
    return torch.cat(heads, -1) if heads else x.transpose(1, 2).flatten(2)
"""
EACH
