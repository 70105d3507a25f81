"""How the cells of an exercise are called in every notebook: nbgrader's, a hand-in, formgrader's."""


def answer_cell(slug: str) -> str:
    """The name of the cell that holds an answer; the cell that grades it bears the exercise's own."""
    return f"{slug}-answer"
