"""The verbs of an instructor, which `kata` imports once somebody asks for one."""

import typer

app = typer.Typer(rich_markup_mode=None)
