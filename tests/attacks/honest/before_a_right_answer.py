r"""Unusual things that an honest answer does before it is right.
then = "_right.py"
deserves = ["passed"]
[each]
starts_and_joins_a_thread = 'import threading; t = threading.Thread(target=print); t.start(); t.join()'
works_in_a_thread_pool = '''
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool: squares = list(pool.map(lambda n: n * n, range(8)))'''
seeds_the_generators = 'import random, numpy, torch; torch.manual_seed(3); random.seed(3); numpy.random.seed(3)'
is_slow_but_in_time = 'import time; time.sleep(1)'
imports_much = 'import collections, functools, inspect, itertools, math, operator, os, sys, types, typing; import torch.nn.functional as F; from torch import nn'
reads_its_own_file = '''from pathlib import Path; lines = Path(__file__).read_text().count('\n')'''
writes_a_file_of_its_own = '''
import tempfile
with tempfile.NamedTemporaryFile() as f: f.write(b'note')'''
compiles_another_function = "import torch; other = torch.compile(lambda y: y + 1, backend='eager'); other(torch.ones(2))"
uses_an_optimizer = 'import torch; p = torch.nn.Parameter(torch.ones(2)); torch.optim.AdamW([p]).step()'
turns_warnings_into_errors = "import warnings; warnings.simplefilter('error')"
takes_several_threads = 'import torch; torch.set_num_threads(4)'
sets_a_default_dtype = 'import torch; torch.set_default_dtype(torch.float64)'
shows_tensors_with_their_shapes = "import torch; shown = torch.Tensor.__repr__; torch.Tensor.__repr__ = torch.Tensor.__str__ = lambda x: f'{tuple(x.shape)} {shown(x)}'"
sets_up_its_output = "import faulthandler, sys; sys.stdout.reconfigure(line_buffering=True); faulthandler.enable(); sys.stdout.buffer.write(b'ready')"
"""
EACH
