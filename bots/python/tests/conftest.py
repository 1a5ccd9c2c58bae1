from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness import FLAVOURS, Flavour


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "arena" in getattr(item, "fixturenames", ()):
            item.add_marker("arena")


@pytest.fixture(params=FLAVOURS, ids=lambda flavour: flavour.name)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    chosen: Flavour = request.param
    return chosen


@pytest.fixture(scope="session")
def arena() -> str:
    """The program that plays the matches."""
    program = os.environ.get("ARENA", "")
    if not (program and Path(program).is_file()):
        pytest.fail(
            f'ARENA is "{program}": expected the path of the program arena, as in '
            "ARENA=target/debug/arena after `cargo build -p arena`"
        )
    return str(Path(program).resolve())
