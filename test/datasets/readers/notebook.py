"""Runs a notebook in its folder, and prints what its cells print and the number of its pictures, as JSON.

    python notebook.py NOTEBOOK
"""

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

path = Path(sys.argv[1])
notebook = nbformat.read(path, as_version=4)
NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
pictures = sum("image/png" in output.get("data", {}) for output in outputs)
print(json.dumps({"lines": printed.splitlines(), "pictures": pictures}))
