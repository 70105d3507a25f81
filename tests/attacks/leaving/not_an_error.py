r"""Leaves a call by what is no error.
[each]
pytest_exit_with_status_0 = '''
import pytest
def merge_heads(x): pytest.exit('done', returncode=0)'''
keyboardinterrupt = 'def merge_heads(x): raise KeyboardInterrupt'
generatorexit = 'def merge_heads(x): raise GeneratorExit'
"""
EACH
