"""Records of games: where they are, and how they are shown. What is shown, `arena` draws."""

from __future__ import annotations

import html
import json
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bot_arena.program import ArenaError, ask_arena

# How high a page is drawn within a notebook, in pixels.
_HEIGHT = 760


class Folder:
    """A temporary folder, which is removed when nobody has this object any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="bot-arena-"))
        self.pages: dict[tuple[str, ...], str] = {}
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class Record:
    """Where the record of a game is."""

    words: tuple[str, ...]
    """What `arena replay` is told to find it: a file, or a tournament, a game and a store."""
    folder: Folder | None = field(default=None, repr=False, compare=False)
    """The temporary folder that has it, where it is in one."""

    @property
    def path(self) -> Path | None:
        """The file; nothing where it is in the store of a tournament."""
        return Path(self.words[0]) if len(self.words) == 1 else None


class HasRecord(Protocol):
    """A game that has been played."""

    @property
    def record(self) -> Record | None: ...


def show(game: Record | HasRecord | Mapping[str, Any] | str | os.PathLike[str]) -> None:
    """Shows a game: in a notebook as a page on which one steps through it, elsewhere as
    text. `game` is a game of a result, the path of a record (`.jsonl`, `.jsonl.zst`), the
    text of one, or an event `game`, as a line or as what was read from one. Raises
    `ArenaError`.
    """
    record = _record(game)
    if _in_notebook():
        from IPython.display import HTML, display

        display(HTML(page(record)))  # type: ignore[no-untyped-call]
    else:
        print(text(record), end="")


def text(record: Record) -> str:
    """A game as text: its moves, its times, its end."""
    return ask_arena(["replay", "show", *record.words]).decode()


def page(record: Record) -> str:
    """A game as HTML within a page: the page that `arena replay export` writes, in a
    frame; or its text, where this machine lacks the program that draws it.
    """
    try:
        drawn = _exported(record)
    except ArenaError as error:
        try:
            words = text(record)
        except ArenaError as why:
            words = str(why)
        return f"<pre>{html.escape(words)}\n{html.escape(str(error))}</pre>"
    return (
        f'<div><iframe sandbox="allow-scripts" srcdoc="{html.escape(drawn)}" '
        f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe></div>'
    )


def _exported(record: Record) -> str:
    pages = record.folder.pages if record.folder else {}
    if record.words not in pages:
        # An evaluation may take longer than anybody waits for a cell.
        how = ["--as=html", "--no-evaluation", "--out=/dev/stdout"]
        pages[record.words] = ask_arena(["replay", "export", *record.words, *how]).decode()
    return pages[record.words]


def _record(game: Any) -> Record:
    if isinstance(game, Record):
        return game
    if isinstance(game, str) and game.lstrip().startswith("{"):
        lines = game.strip().splitlines()
        if len(lines) > 1:
            folder = Folder()
            path = folder.path / "game.jsonl"
            path.write_text(game.strip() + "\n", encoding="utf-8")
            return Record((str(path),), folder)
        game = json.loads(game)
    if isinstance(game, (str, os.PathLike)):
        return Record((os.fspath(game),))
    found = game.get("record") if isinstance(game, Mapping) else getattr(game, "record", None)
    if isinstance(found, Record):
        return found
    if isinstance(found, str):
        return Record((found,))
    raise TypeError(
        f"{str(game)[:80]} has no record: expected a game of a result, the path or the text of "
        "a record, or an event `game` of a run that keeps records"
    )


def _in_notebook() -> bool:
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    return shell is not None and hasattr(shell, "kernel")
