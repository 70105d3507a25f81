r"""Loops without end.
deserves = ["timeout"]
[each]
an_endless_loop_in_python = '''
def merge_heads(x):
    while True: pass'''
an_endless_loop_in_c = '''
import re
def merge_heads(x): re.match(r'(a|a|b?)*$' * 3, 'a' * 60 + 'c')'''
ignores_the_alarm = '''
import signal
def merge_heads(x):
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True: pass'''
"""
EACH
