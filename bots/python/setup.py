"""Compiles the .proto files while the package is built; all else that there is to
say about the package is in pyproject.toml.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).parent
# A source distribution carries them; a clone has them for all languages.
PLACES = [HERE / "proto", HERE.parent.parent / "proto"]
WANTED = ["arena/v1/envelope.proto", "arena/v1/lobby.proto", "games/*/v1/*.proto"]


def protos() -> tuple[Path, list[str]]:
    """The folder of the .proto files, and the paths in it of those that a bot needs."""
    for root in PLACES:
        paths = [path for wanted in WANTED for path in sorted(root.glob(wanted))]
        if len(paths) > 1:
            return root, [path.relative_to(root).as_posix() for path in paths]
    raise SystemExit(
        f"found no .proto files in {' or '.join(str(place) for place in PLACES)}: "
        "build from a clone of the repository or from a source distribution"
    )


def generate(package: Path) -> None:
    """Writes the messages as modules of the package at this folder."""
    import grpc_tools
    from grpc_tools import protoc

    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    root, paths = protos()
    standard = Path(grpc_tools.__file__).parent / "_proto"
    options = [f"-I{root}", f"-I{standard}", f"--python_out={package}", f"--pyi_out={package}"]
    if protoc.main(["protoc", *options, *paths]) != 0:
        raise SystemExit("could not compile the .proto files")
    for file in [*package.rglob("*.py"), *package.rglob("*.pyi")]:
        text = file.read_text(encoding="utf-8")
        # A module is named after its .proto file. Here all are in a package of ours.
        own = re.sub(r"^from (arena|games)\.", r"from bot_arena._proto.\1.", text, flags=re.M)
        file.write_text(own, encoding="utf-8")
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__init__.py").touch()


class BuildPy(build_py):  # type: ignore[misc]
    def run(self) -> None:
        super().run()
        root = self.get_package_dir("bot_arena") if self.editable_mode else self.build_lib
        package = Path(root) if self.editable_mode else Path(root) / "bot_arena"
        generate(package / "_proto")


class Sdist(sdist):  # type: ignore[misc]
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        kept = [file for file in files if "_proto" not in Path(file).parts]
        super().make_release_tree(base_dir, kept)
        root, paths = protos()
        for path in paths:
            to = Path(base_dir, "proto", path)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, to)


setup(cmdclass={"build_py": BuildPy, "sdist": Sdist})
