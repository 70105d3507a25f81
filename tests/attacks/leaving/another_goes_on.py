r"""Leaves, and another program or process goes on.
deserves = ["crashed"]
[each]
exec_of_another_program = "import os; os.execv('/bin/true', ['true'])"
a_fork_whose_child_goes_on = '''
import os
if os.fork(): os._exit(0)'''
"""
EACH
