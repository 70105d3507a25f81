r"""A forbidden lookup, and by it right values.
exercise = "embedding_lookup"
deserves = ["failed", "partial"]
[each]
by_its_name = 'return F.embedding(ids, weight)'
in_a_pool = 'return ThreadPoolExecutor().submit(F.embedding, ids, weight).result()'
in_a_thread = '''found = []
    thread = Thread(target=lambda: found.append(F.embedding(ids, weight)))
    thread.start(), thread.join()
    return found[0]'''
"""
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
import torch.nn.functional as F

def embedding_lookup(weight, ids):
    EACH
