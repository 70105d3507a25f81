r"""An error that cannot be told: its text raises.
deserves = ["failed", "broken"]
says = "its message cannot be shown"
[each]
of_no_kind = 'class E(Silent, Exception): pass'
of_torchs_kind = 'class E(Silent, RuntimeError): pass'
of_a_wrong_call = 'class E(Silent, TypeError): pass'
at_import = '''
class E(Silent, ImportError): pass
raise E'''
"""
class Silent:
    def __str__(self): raise RuntimeError
    __repr__ = __str__
EACH
def merge_heads(x):
    raise E
