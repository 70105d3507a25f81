r"""Looks for what is worth finding around it.
deserves = ["broken"]
says = "found nothing"
[each]
reads_the_environment = "import os; raise RuntimeError('found ' + os.environ.get('KATA_SECRET', 'nothing'))"
looks_for_a_classmate_s_answer_in_the_worker_s_memory = "import gc; found = [o for o in gc.get_objects() if isinstance(o, (bytes, str)) and 'classmate' in repr(o)[:200]]; raise RuntimeError('found ' + (str(len(found)) if found else 'nothing'))"
looks_for_the_reference_among_all_functions = '''
import gc, types
found = [f for f in gc.get_objects()
         if isinstance(f, types.FunctionType) and 'solutions/' in f.__code__.co_filename]
raise RuntimeError('found ' + (str(len(found)) if found else 'nothing'))'''
"""
EACH
