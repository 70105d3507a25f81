r"""Skips the check that calls it.
[each]
pytest_skip = '''
import pytest
def merge_heads(x): pytest.skip('no')'''
pytest_xfail = '''
import pytest
def merge_heads(x): pytest.xfail('no')'''
unittest_s_skip = '''
import unittest
def merge_heads(x): raise unittest.SkipTest'''
"""
EACH
