"""The notebook of the samples, run as a person runs it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent.parent / "samples" / "notebook.ipynb"


def test_the_notebook_runs_and_draws(
    arena: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_ARENA", arena)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells), "it is kept without outputs"
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}})
    client.execute()
    table, figures, page, fouls = (cell.outputs for cell in cells[1:])

    def shown(outputs: list[nbformat.NotebookNode], kind: str) -> str:
        found = [one.data[kind] for one in outputs if kind in one.get("data", {})]
        assert found, outputs
        return str(found[-1])

    drawn = shown(table, "text/html")
    assert "<table>" in drawn and "leftmost" in drawn
    # A game that one steps through: its pictures and its script are in the frame.
    for html in (drawn, shown(page, "text/html")):
        assert "<iframe" in html and "&lt;svg" in html and "&lt;script" in html
    assert "Estimate(value=" in shown(figures, "text/plain")
    assert "IndexError: list index out of range" in shown(fouls, "text/plain")
    # What an agent prints goes to its cell, and so does the traceback of its exception.
    errors = "".join(one.text for one in fouls if one.output_type == "stream")
    assert "IndexError" in errors
