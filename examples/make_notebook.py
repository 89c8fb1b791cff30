"""Makes release.ipynb of release_notebook.py, whose cells begin with `# %%`.

    python make_notebook.py > release.ipynb
"""

import sys
from pathlib import Path

import nbformat
from nbformat import v4


def notebook(source: str) -> nbformat.NotebookNode:
    """The cells of a program, without outputs."""
    cells = []
    for number, part in enumerate(source.split("# %%")[1:]):
        kind, _, body = part.partition("\n")
        text = body.strip("\n")
        if kind.strip() == "[markdown]":
            text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.split("\n"))
        make = v4.new_markdown_cell if kind.strip() == "[markdown]" else v4.new_code_cell
        cells.append(make(text, id=f"cell-{number}"))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


if __name__ == "__main__":
    program = Path(__file__).with_name("release_notebook.py").read_text(encoding="utf-8")
    nbformat.write(notebook(program), sys.stdout)
