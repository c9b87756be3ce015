"""Executes a notebook as Jupyter does, in a directory of its own: python notebook.py FILE. BOTD names the program."""
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

path = Path(sys.argv[1]).resolve()
notebook = nbformat.read(path, as_version=4)
nbformat.validate(notebook)
with tempfile.TemporaryDirectory() as folder:
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
pictures = sum("image/png" in output.get("data", {}) for output in outputs)
text = "".join(output.get("text", "") for output in outputs)
if pictures != 2 or "best of 20 tries" not in text:
    sys.exit(f"want two plots and the verdict over 20 tries, have {pictures} and {text!r} ({os.path.basename(path)})")
print(f"{path.name}: {len(notebook.cells)} cells, {pictures} plots; {text.splitlines()[0]}")
