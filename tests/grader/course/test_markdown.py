"""From statements to Markdown: what is code, and what means something that was not meant."""

from grader.course.markdown import escaped, linked, prose


def test_only_backticks_mean_something():
    assert escaped("a*b*c_d [x](y) `k*v`") == r"a\*b\*c\_d \[x\](y) `k*v`"


def test_a_statement_is_markdown():
    text = (
        "Two * of `a\n* b` and\n\n- one\n  line\n\n    f(1)\n\n    g(2)  # *\n\nEnd of __init__:\n\n    y ← x"
    )
    assert prose(text) == (
        "Two \\* of `a\n* b` and\n\n- one\n  line\n\n```python\nf(1)\n\ng(2)  # *\n```\n\n"
        "End of \\_\\_init\\_\\_:\n\n```\ny ← x\n```"
    )


def test_code_may_follow_a_line_at_once():
    assert prose("Rules:\n    if x:\n        y\n- a\n  b") == (
        "Rules:\n\n```python\nif x:\n    y\n```\n\n- a\n  b"
    )


def test_names_that_have_a_page_lead_there():
    page = {"gather": "g.md"}.get
    text = "`gather` and `other`\n```\n`gather`\n```"
    assert linked(text, page) == "[`gather`](g.md) and `other`\n```\n`gather`\n```"
