r"""Says what may harm its reader.
deserves = ["failed"]
[each]
a_script = "'<script>alert(1)</script><img src=x onerror=alert(1)>'"
terminal_escapes = "'\\x1b]0;title\\x07\\x1b[2J\\x1b[31mred\\x9b31m'"
a_formula = '''"=cmd|' /C calc'!A0"'''
line_ends_and_bells = "'a\\rb\\x08\\x08\\x07\\x00c'"
text_that_runs_backwards = "'\\u202egnp.exe\\u2066'"
a_lone_surrogate = "'\\ud800 alone'"
a_very_long_line = ''''x' * 100_000'''
very_many_lines = ''''x\n' * 100_000'''
"""
def merge_heads(x):
    raise ValueError(EACH)
