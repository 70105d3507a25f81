r"""Changes its inputs, so that a late reference agrees.
[each]
an_input_overwritten_so_that_a_late_reference_agrees = '''
def merge_heads(x):
    with __import__('torch').no_grad():
        x.zero_()
    return x.reshape(x.shape[0], x.shape[2], -1)'''
an_input_s_memory_overwritten_through_data = 'def merge_heads(x): x.data.fill_(1.0); return x.reshape(x.shape[0], x.shape[2], -1)'
an_input_resized_to_nothing = 'def merge_heads(x): x.data = x.data[:0]; return x.data'
"""
EACH
