"""What is packaged: everything, and nothing that other packages could stumble over."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
MODULES = ["__init__", "big_two", "bot", "connect_four", "game", "mahjong", "othello"]
MODULES += ["server", "session", "serving", "functions", "participants", "playing"]
MODULES += ["program", "progress", "records", "results", "run", "kaggle"]
MODULES += ["environment", "petting_zoo"]
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


def requirements(name: str, extras: set[str], version: str) -> list[Requirement]:
    """What a package needs with this version of Python, as far as can be told from here."""
    try:
        texts = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    there = {"python_version": version, "python_full_version": f"{version}.15"}
    return [
        needed
        for needed in map(Requirement, texts)
        if needed.marker is None
        or any(needed.marker.evaluate({**there, "extra": extra}) for extra in extras or {""})
    ]


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_whatever_tests_and_builds_need_is_pinned(version: str) -> None:
    lines = (ROOT / "bots/python/constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    pinned = {canonicalize_name(name): pin for name, pin in pins.items()}
    needed = requirements("bot-arena", {"", "test"}, version)
    seen = set()
    while needed:
        it = needed.pop()
        assert canonicalize_name(it.name) in pinned, f"constraints.txt has no {it}"
        pin = pinned[canonicalize_name(it.name)]
        assert pin in it.specifier, f"{it} is pinned to {pin}"
        if str(it) not in seen:
            seen.add(str(it))
            needed += requirements(it.name, it.extras, version)


def test_a_bot_loads_nothing_that_only_plays_games() -> None:
    code = (
        "import sys, bot_arena\n"
        "later = {'joining', 'participants', 'playing', 'program', 'records', 'results'}\n"
        "print(sorted(later & {name.removeprefix('bot_arena.') for name in sys.modules}))\n"
        "print([name for name in bot_arena.__all__ if getattr(bot_arena, name) is None])\n"
        "print(set(bot_arena.__all__) <= set(dir(bot_arena)), hasattr(bot_arena, 'nothing'))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n") == ["[]", "[]", "True False", ""]
