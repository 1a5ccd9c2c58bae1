"""What is packaged: everything, and nothing that other packages could stumble over."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULES = ["__init__", "big_two", "bot", "connect_four", "game", "mahjong", "othello"]
MODULES += ["server", "session"]
GAMES = ["big_two", "connect_four", "mahjong", "othello"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source distribution, and a wheel that was built from it."""
    clone = tmp_path_factory.mktemp("clone")
    leave = shutil.ignore_patterns("_proto", "__pycache__", "build", "dist", "*.egg-info")
    shutil.copytree(ROOT / "proto", clone / "proto")
    package = clone / "bots" / "python"
    shutil.copytree(ROOT / "bots" / "python", package, ignore=leave)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", clone / "out", package],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return clone / "out"


def test_a_source_distribution_has_the_protos(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert "proto/arena/v1/envelope.proto" in names
    for game in GAMES:
        assert f"proto/games/{game}/v1/{game}.proto" in names
    assert [name for name in names if "_pb2" in name] == []


def test_a_wheel_is_complete_and_has_one_name(built: Path, tmp_path: Path) -> None:
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path)
    tops = {name.partition("/")[0] for name in names}
    assert sorted(top for top in tops if not top.endswith(".dist-info")) == ["bot_arena"]
    wanted = {f"bot_arena/{module}.py" for module in MODULES} | {"bot_arena/py.typed"}
    for game in GAMES:
        for ending in ("py", "pyi"):
            wanted.add(f"bot_arena/_proto/games/{game}/v1/{game}_pb2.{ending}")
    assert wanted - names == set()
    # It is what is in the wheel that is imported, and nothing from here.
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import bot_arena; "
        f"assert bot_arena.__file__.startswith({str(tmp_path)!r}), bot_arena.__file__; "
        "assert 'arena' not in sys.modules and 'games' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
