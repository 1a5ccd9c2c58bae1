"""The Helm chart: it is made of the base and the components, and gives the same objects."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import chart
from chart import CHART, LABELS, key_of
from check import Object, check_all, containers, objects, pod_template
from render import HERE, helm, render_all

RENDERED = render_all()
OFF: Object = {"services": {"enabled": False}}
ON = {"enabled": True}
TRIAL, PRODUCTION = CHART / "values-trial.yaml", CHART / "values-production.yaml"
# The values that are to give what Kustomize gives.
SAME: dict[str, tuple[Object, list[Path]]] = {
    "component-services": ({}, []),
    "component-postgres": (OFF, []),
    "component-external": (OFF | {"postgres": {"enabled": False}}, []),
    "component-limits": (OFF | {"limits": ON}, []),
    "component-monitoring": (OFF | {"monitoring": ON}, []),
    "component-contest": (OFF | {"contest": ON}, []),
    "component-declared": (OFF | {"declared": ON}, []),
    "component-page": (OFF | {"page": ON}, []),
    "component-gateway": (OFF | {"page": ON | {"gateway": ON}}, []),
    "component-cert-manager": (OFF | {"certManager": ON}, []),
    "component-openshift": (OFF | {"postgres": {"enabled": False}, "openshift": True}, []),
    "component-keda": ({"keda": ON}, []),
    "component-hpa": ({"hpa": ON}, []),
    "overlay-trial": ({}, [TRIAL]),
    "overlay-production": ({}, [PRODUCTION]),
}
# For the administrator of the cluster: Kueue's queues are not in the chart.
NOT_IN_THE_CHART = {"overlay-kueue"}


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([helm(), *words], capture_output=True, text=True)


def helm_template(values: Object, files: list[Path] | None = None, *options: str) -> str:
    """What the chart gives with these values, and with these files of values."""
    words: list[str | Path] = ["template", "lab", CHART, "--namespace", "bot-arena"]
    for file in files or []:
        words += ["--values", file]
    # JSON of each top-level value.
    for key, value in values.items():
        words += ["--set-json", f"{key}={json.dumps(value)}"]
    done = run(*words, *options)
    assert not done.returncode, done.stderr
    return done.stdout


def plain(thing: Object) -> Object:
    """An object without what tells the two ways apart."""
    thing = json.loads(json.dumps(thing))
    kind, thing["metadata"]["name"] = key_of(thing)
    for label in LABELS:
        thing["metadata"].get("labels", {}).pop(label, None)
    if not thing["metadata"].get("labels"):
        thing["metadata"].pop("labels", None)
    if kind == "ConfigMap" and "kubernetes.toml" in thing.get("data", {}):
        thing["data"] = settings(thing["data"]["kubernetes.toml"])
    template = pod_template(thing)
    if template is None:
        return thing
    # Kustomize gives the ConfigMap another name after a change, the chart an annotation to the pod.
    template["metadata"].pop("annotations", None)
    for volume in template["spec"].get("volumes", []):
        if volume["name"] == "settings":
            volume["configMap"]["name"] = "arena-kubernetes"
    for container in containers(template["spec"]):
        for listed in ("env", "ports"):
            container.get(listed, []).sort(key=lambda item: item["name"])
        for variable in container.get("env", []):
            if variable["name"] == "REFEREE_BOTS":
                variable["value"] = sorted(variable["value"].split(","))
    return thing


def settings(text: str) -> Object:
    """What a kubernetes.toml says, but for the defaults."""
    return changed(tomllib.loads(text), known())


def changed(said: Object, usual: Object) -> Object:
    """What of it is not the default."""
    found = {}
    for key, value in said.items():
        if isinstance(value, dict):
            value = changed(value, usual.get(key, {}))
        if value not in ({}, usual.get(key)):
            found[key] = value
    return found


def known() -> Object:
    """The lines of kubernetes.toml, as the base explains them."""
    text = (HERE / "base/kubernetes.toml").read_text()
    lines = re.findall(r"^# (\[[\w.]+\]|\w+ = .*)$", text, re.MULTILINE)
    return tomllib.loads("\n".join(lines))


def test_what_is_generated_is_up_to_date() -> None:
    assert chart.generated() == chart.files(), "run `cargo xtask manifests --chart`"


def test_helm_finds_nothing_wrong() -> None:
    done = run("lint", "--strict", "--quiet", CHART)
    assert not done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", SAME)
def test_it_gives_what_kustomize_gives(name: str) -> None:
    values, files = SAME[name]
    options = []
    if name == "overlay-trial":
        for file in (HERE / "tournaments").glob("*.toml"):
            options += ["--set-file", f"tournaments.{file.stem}\\.toml={file}"]
    theirs = [plain(thing) for thing in objects(RENDERED[name]) if thing["kind"] != "Namespace"]
    made = objects(helm_template(values, files, *options))
    assert check_all(made) == []
    ours = {key_of(thing): plain(thing) for thing in made}
    assert ours == {key_of(thing): thing for thing in theirs}


def test_everything_that_kustomize_gives_is_compared() -> None:
    assert SAME.keys() | NOT_IN_THE_CHART == RENDERED.keys()


EVERYTHING: Object = {
    "image": {
        "registry": "registry.example.com:5000",
        "repository": "lab/bots",
        "tag": "1.2.3",
        "digests": {"arena": "sha256:" + "0" * 64},
    },
    "imagePullSecrets": [{"name": "registry"}],
    "openshift": True,
    "arena": {"nodeSelector": {"pool": "arena"}, "priorityClassName": "high"},
    "apiServer": {"cidrs": ["192.0.2.1/32"], "ports": [6443]},
    "games": {"max_jobs": 7, "queue": 'a"b', "pods": {"node_selector": {"pool": "games"}}},
    "tournaments": {"one.toml": "[schedule]\n"},
    "store": {"secret": "database", "cidrs": ["192.0.2.7/32", "2001:db8::/32"], "port": 6432},
    "postgres": {"enabled": False},
    "services": {"bots": {"mine": {"image": "lab/mine:1", "args": ["--deep"]}, "rust": None}},
    "keda": ON,
    "limits": ON | {"priorityClass": False},
    "monitoring": ON | {"labels": {"release": "prometheus"}},
    "page": ON | {"host": "arena.test", "gateway": ON},
    "certManager": ON,
    "contest": ON,
    "declared": ON,
}


def test_values_are_found_where_they_belong() -> None:
    things = objects(helm_template(EVERYTHING, None, "--namespace", "lab"))
    assert check_all(things) == []
    assert {thing["metadata"].get("namespace") for thing in things} == {"lab"}
    text = json.dumps(things)
    for word in chart.USERS:
        assert word not in text
    assert "PriorityClass" not in {thing["kind"] for thing in things}
    images = {
        container["image"]
        for thing in things
        if (template := pod_template(thing))
        for container in containers(template["spec"])
    }
    assert images == {
        f"registry.example.com:5000/lab/bots/arena@sha256:{'0' * 64}",
        *(
            f"registry.example.com:5000/lab/bots/{name}:1.2.3"
            for name in ("referee", "sample-cpp", "sample-python", "sample-node")
        ),
        "lab/mine:1",
    }
    by_key = {key_of(thing): thing for thing in things}
    toml = tomllib.loads(by_key["ConfigMap", "arena-kubernetes"]["data"]["kubernetes.toml"])
    assert toml == {
        "namespace": "lab",
        "referee_image": "registry.example.com:5000/lab/bots/referee:1.2.3",
        "host": {"image": "registry.example.com:5000/lab/bots/host:1.2.3"},
        "builder": {"image": "registry.example.com:5000/lab/bots/builder:1.2.3"},
        "image_pull_policy": "IfNotPresent",
        "max_jobs": 7,
        "queue": 'a"b',
        "pods": {"node_selector": {"pool": "games"}},
    }
    assert by_key["NetworkPolicy", "arena-store"]["spec"]["egress"] == [
        {
            "to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}, {"ipBlock": {"cidr": "2001:db8::/32"}}],
            "ports": [{"protocol": "TCP", "port": 6432}],
        }
    ]
    for kind in ("ServiceMonitor", "PrometheusRule"):
        assert by_key[kind, "arena"]["metadata"]["labels"]["release"] == "prometheus"
    assert by_key["HTTPRoute", "arena"]["spec"]["hostnames"] == ["arena.test"]
    assert by_key["Certificate", "gate-tls"]["spec"]["dnsNames"] == ["*.bots.lab.svc"]
    (mine,) = containers(by_key["Deployment", "mine"]["spec"]["template"]["spec"])
    assert mine["args"] == ["--deep"]
    (referee,) = containers(by_key["Deployment", "referee"]["spec"]["template"]["spec"])
    env = {each["name"]: each.get("value") for each in referee["env"]}
    assert env["REFEREE_BOTS"] == "cpp:50051,mine:50051,node:50051,python:50051"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"aren": {}}, "additional properties 'aren'"),
        ({"games": {"namespace": "lab"}}, "additional properties 'namespace'"),
        ({"games": {"max_jobs": "ten"}}, "got string, want integer"),
        # It would be every address.
        ({"store": {"cidrs": []}}, "minItems"),
        ({"services": {"bots": {"me": {}}}}, "'oneOf' failed"),
        ({"services": {"bots": {"arena": {"sample": "rust"}}}}, "propert"),
        ({"keda": ON, "hpa": ON}, "expected one of them"),
        ({"keda": ON, "services": {"enabled": False}}, "expected services.enabled: true"),
        ({"openshift": True}, "expected postgres.enabled: false"),
    ],
)
def test_wrong_values_are_refused(values: Object, said: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(said)):
        helm_template(values)


def test_every_value_is_in_the_schema_and_has_a_default() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    def paths(node: Object, path: str = "") -> set[str]:
        if "properties" not in node:
            return {path}
        assert node["additionalProperties"] is False, path
        found = node["properties"].items()
        return {leaf for key, value in found for leaf in paths(value, f"{path}.{key}")}

    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    games = {path for path in paths(schema) if path.startswith(".games.")}
    assert {re.sub(r"(.games.\w+)\..*", r"\1", path) for path in games} == {
        f".games.{key}" for key in known() if key != "namespace"
    }
    for path in paths(schema) - games:
        place: Any = defaults
        for step in path.split(".")[1:]:
            assert step in place, f"{path} has no default"
            place = place[step]


def test_the_chart_is_of_this_version() -> None:
    with (HERE.parent.parent / "Cargo.toml").open("rb") as file:
        version = tomllib.load(file)["workspace"]["package"]["version"]
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert about["version"] == about["appVersion"] == version
    assert f"\n#### {version}\n" in (CHART / "README.md").read_text()
