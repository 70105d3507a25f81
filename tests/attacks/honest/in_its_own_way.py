r"""Unusual ways in which an honest answer is right.
deserves = ["passed"]
[each]
plain = 'def merge_heads(x): return x.transpose(1, 2).flatten(2)'
prints_at_import_and_at_every_call = '''
print('hello')
def merge_heads(x): print(x.shape); return x.transpose(1, 2).flatten(2)'''
writes_to_stderr = '''
import sys
def merge_heads(x): print('!', file=sys.stderr); return x.transpose(1, 2).flatten(2)'''
warns = '''
import warnings; warnings.warn('careful')
def merge_heads(x): warnings.warn('again'); return x.transpose(1, 2).flatten(2)'''
logs = '''
import logging; logging.basicConfig(level=logging.DEBUG); log = logging.getLogger(__name__)
def merge_heads(x): log.info('%s', x.shape); return x.transpose(1, 2).flatten(2)'''
uses_getattr = "def merge_heads(x): return getattr(x, 'transpose')(1, 2).flatten(2)"
defines_classes = '''
from dataclasses import dataclass
@dataclass
class Heads:
    start: int = 2
H = Heads()
def merge_heads(x): return x.transpose(1, 2).flatten(H.start)'''
asserts = 'def merge_heads(x): assert x.dim() == 4, x.shape; return x.transpose(1, 2).flatten(2)'
has_a_main_block_with_tests_of_its_own = '''
def merge_heads(x): return x.transpose(1, 2).flatten(2)
if __name__ == '__main__': import torch; merge_heads(torch.ones(1, 2, 3, 4))'''
tries_itself_at_import = '''
import torch
def merge_heads(x): return x.transpose(1, 2).flatten(2)
assert merge_heads(torch.ones(1, 2, 3, 4)).shape == (1, 3, 8)'''
is_cached = '''
import functools
@functools.lru_cache
def order(n):
    return (0, 2, 1, *range(3, n))
def merge_heads(x): return x.permute(order(x.dim())).flatten(2)'''
profiles_and_traces_itself = '''
import cProfile, sys; import torch
def merge_heads(x): before = sys.gettrace(); sys.settrace(lambda *a: None); sys.settrace(before); return x.transpose(1, 2).flatten(2)
with cProfile.Profile(): merge_heads(torch.ones(1, 2, 3, 4))
with torch.profiler.profile(with_stack=True): merge_heads(torch.ones(1, 2, 3, 4))'''
spells_its_names_in_another_script = '''
# Löst die Aufgabe — 完成
def merge_heads(x): köpfe = x.transpose(1, 2); return köpfe.flatten(2)'''
has_windows_line_ends = "def merge_heads(x):\r\n    return x.transpose(1, 2).flatten(2)\r\n"
"""
EACH
