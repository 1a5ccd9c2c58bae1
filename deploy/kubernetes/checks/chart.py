"""Makes the templates of the Helm chart from the base and the components.

    chart.py

renders base and components by Kustomize and writes their objects into ../chart/templates, a file
for each component, with values in place of what an operator changes: `VALUES` below is the list of
these places. What is new in the base or in a component needs nothing here. What is not there any
more, and what a component changes in objects of the base in a way that is not known here, is an
error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from check import Object, containers, objects
from render import HERE, NEEDS, render_components

CHART = HERE / "chart"
NAMESPACE = "bot-arena"
# The first words of a generated template.
MARK = "{{- /* Made of "
SAMPLES = ("rust", "cpp", "python", "node")


@dataclass(frozen=True)
class Expr:
    """A value that is an expression of a template."""

    text: str


@dataclass(frozen=True)
class With:
    """The same, but the whole entry is absent where the expression is empty."""

    text: str


@dataclass(frozen=True)
class When:
    """A value whose entry is there only under a condition."""

    condition: str
    value: Any


@dataclass(frozen=True)
class Appended:
    """A list, and entries that follow under a condition."""

    items: list[Any]
    condition: str
    more: list[Any]


@dataclass(frozen=True)
class Lines:
    """Lines of a template in place of an entry, whose key says nothing."""

    lines: tuple[str, ...]


Key = tuple[str, str]
# The condition under which the objects of a component are there.
CONDITIONS = {
    "base": "",
    "cert-manager": "$.Values.certManager.enabled",
    "contest": "$.Values.contest.enabled",
    "declared": "$.Values.declared.enabled",
    "external": "not $.Values.postgres.enabled",
    "gateway": "and $.Values.page.enabled $.Values.page.gateway.enabled",
    "hpa": "$.Values.hpa.enabled",
    "keda": "$.Values.keda.enabled",
    "limits": "$.Values.limits.enabled",
    "monitoring": "$.Values.monitoring.enabled",
    "page": "$.Values.page.enabled",
    "postgres": "$.Values.postgres.enabled",
    "services": "$.Values.services.enabled",
}
# The condition of one object besides that of its component.
OBJECTS: dict[Key, str] = {
    ("Ingress", "arena"): "not $.Values.page.gateway.enabled",
    ("PriorityClass", "bot-arena-games"): "$.Values.limits.priorityClass",
}

POD = "spec.template.spec"
CONTAINER = f"{POD}.containers.0"


def placing(of: str) -> dict[str, Any]:
    """Where pods may run."""
    keys = ("nodeSelector", "tolerations", "affinity", "priorityClassName")
    return {f"{POD}.{key}": With(f"$.Values.{of}.{key}") for key in keys}


# By these some Prometheus Operators choose what they read.
MORE_LABELS = Lines(
    (
        "{{- range $key, $value := $.Values.monitoring.labels }}",
        "{{ $key | quote }}: {{ $value | quote }}",
        "{{- end }}",
    )
)

# What an operator may change, by object and path. A step `[NAME]` is the entry of a list that has
# this name.
VALUES: dict[Key, dict[str, Any]] = {
    ("ConfigMap", "arena-kubernetes"): {
        "data": {"kubernetes.toml": Expr('include "bot-arena.settings" $ | toJson')},
    },
    ("ServiceAccount", "arena"): {"imagePullSecrets": With("$.Values.imagePullSecrets")},
    ("ServiceAccount", "games"): {"imagePullSecrets": With("$.Values.imagePullSecrets")},
    ("Deployment", "arena"): {
        # A change of the settings starts the arena again.
        "spec.template.metadata.annotations": {
            "checksum/settings": Expr('include "bot-arena.settings" $ | sha256sum')
        },
        **placing("arena"),
        f"{CONTAINER}.resources": Expr("toJson $.Values.arena.resources"),
        f"{CONTAINER}.env.[ARENA_STORE].valueFrom.secretKeyRef.name": Expr("$.Values.store.secret"),
        f"{POD}.volumes.[settings].configMap.name": "arena-kubernetes",
        f"{POD}.volumes.[store].secret.secretName": Expr("$.Values.store.secret"),
    },
    ("NetworkPolicy", "arena-api-server"): {
        "spec.egress.0.to": Expr('include "bot-arena.peers" $.Values.apiServer.cidrs'),
        "spec.egress.0.ports": Expr('include "bot-arena.ports" $.Values.apiServer.ports'),
    },
    ("StatefulSet", "postgres"): {
        **placing("postgres"),
        f"{CONTAINER}.resources": Expr("toJson $.Values.postgres.resources"),
        "spec.volumeClaimTemplates.0.spec.resources.requests.storage": Expr(
            "$.Values.postgres.storage"
        ),
        "spec.volumeClaimTemplates.0.spec.storageClassName": With("$.Values.postgres.storageClass"),
    },
    ("Deployment", "referee"): {
        "spec.replicas": When(
            "not (or $.Values.keda.enabled $.Values.hpa.enabled)",
            Expr("$.Values.services.referee.replicas"),
        ),
        **placing("services.referee"),
        f"{CONTAINER}.resources": Expr("toJson $.Values.services.referee.resources"),
        f"{CONTAINER}.env.[ARENA_CONCURRENCY].value": Expr(
            "$.Values.services.referee.concurrency | quote"
        ),
        f"{CONTAINER}.env.[REFEREE_BOTS].value": Expr('include "bot-arena.bots" $ | quote'),
    },
    ("Deployment", SAMPLES[0]): {
        **placing("services.bot"),
        f"{CONTAINER}.image": Expr('include "bot-arena.bot-image" (list $ $bot)'),
        f"{CONTAINER}.args": With("$bot.args"),
        f"{CONTAINER}.resources": Expr(
            "toJson (default $.Values.services.bot.resources $bot.resources)"
        ),
    },
    ("ResourceQuota", "games"): {"spec.hard": Expr("toJson $.Values.limits.quota")},
    ("LimitRange", "bot-arena"): {
        "spec.limits.0.default": Expr("toJson $.Values.limits.containers.default"),
        "spec.limits.0.defaultRequest": Expr("toJson $.Values.limits.containers.default"),
        "spec.limits.0.max": Expr("toJson $.Values.limits.containers.max"),
    },
    ("PrometheusRule", "arena"): {"metadata.labels.more": MORE_LABELS},
    ("ServiceMonitor", "arena"): {
        "metadata.labels.more": MORE_LABELS,
        "spec.endpoints.0.interval": Expr("$.Values.monitoring.interval"),
    },
    ("ConfigMap", "bot-arena-dashboard"): {
        "data": {"dashboard.json": Expr('$.Files.Get "dashboard.json" | toJson')},
    },
    ("Ingress", "arena"): {
        "metadata.annotations": With("$.Values.page.ingress.annotations"),
        "spec.ingressClassName": Expr("$.Values.page.ingress.className"),
        "spec.tls.0.hosts": [Expr("$.Values.page.host")],
        "spec.tls.0.secretName": Expr("$.Values.page.ingress.tlsSecret"),
        "spec.rules.0.host": Expr("$.Values.page.host"),
    },
    ("HTTPRoute", "arena"): {
        "spec.parentRefs": Expr("toJson $.Values.page.gateway.parentRefs"),
        "spec.hostnames": [Expr("$.Values.page.host")],
    },
    ("ScaledObject", "referee"): {
        "spec.minReplicaCount": Expr("$.Values.keda.minReplicas"),
        "spec.maxReplicaCount": Expr("$.Values.keda.maxReplicas"),
        "spec.triggers.0.metadata.serverAddress": Expr("$.Values.keda.prometheus"),
    },
    ("HorizontalPodAutoscaler", "referee"): {
        "spec.minReplicas": Expr("$.Values.hpa.minReplicas"),
        "spec.maxReplicas": Expr("$.Values.hpa.maxReplicas"),
    },
}
# The `arena-store` of the external server; that of the bundled one names its pod.
EXTERNAL: dict[str, Any] = {
    "spec.egress.0.to": Expr('include "bot-arena.peers" $.Values.store.cidrs'),
    "spec.egress.0.ports": Expr('include "bot-arena.ports" (list $.Values.store.port)'),
}
# What the arena's container gets with the page.
PAGE_VALUES = {
    "ARENA_PAGE_NAME": Expr("$.Values.page.host"),
    "ARENA_PAGE_PROXY": Expr('join "," $.Values.page.proxies | quote'),
}
# What a component adds to lists of the arena's container.
ADDED_TO_THE_ARENA = {
    "contest": {"args", "env"},
    "declared": {"args"},
    "page": {"env", "ports"},
}
# Objects that a component changes, besides adding its own: `VALUES` and `add_to_the_arena` know how.
CHANGES = {
    "contest": {("Deployment", "arena")},
    "declared": {("Deployment", "arena")},
    "gateway": {("Ingress", "arena")},
    "hpa": {("Deployment", "referee")},
    "keda": {("Deployment", "referee")},
    "page": {("Deployment", "arena")},
}
LABELS = {
    "helm.sh/chart": Expr('include "bot-arena.chart" $'),
    "app.kubernetes.io/managed-by": Expr("$.Release.Service"),
    "app.kubernetes.io/instance": Expr("$.Release.Name"),
}
# What the component openshift leaves out, which is a value.
USERS = ("runAsUser", "runAsGroup", "fsGroup")


def key_of(thing: Object) -> Key:
    # Kustomize adds a hash to the names of generated ConfigMaps.
    name = re.sub(r"^(arena-kubernetes)-[a-z0-9]{10}$", r"\1", thing["metadata"]["name"])
    return thing["kind"], name


def by_key(text: str) -> dict[Key, Object]:
    return {key_of(thing): thing for thing in objects(text)}


def sources() -> dict[str, dict[Key, Object]]:
    """The objects of the base, and those that each component adds."""
    base = by_key(render_components(()))
    found = {"base": base}
    for name in sorted(CONDITIONS.keys() - {"base"}):
        before = by_key(render_components(NEEDS[name]))
        after = by_key(render_components((*NEEDS[name], name)))
        changed = {key for key in before if after.get(key) != before[key]}
        if changed != CHANGES.get(name, set()):
            raise SystemExit(f"components/{name} changes what chart.py does not know: {changed}")
        found[name] = {key: thing for key, thing in after.items() if key not in before}
        if name in ADDED_TO_THE_ARENA:
            before_and_after = (things["Deployment", "arena"] for things in (before, after))
            add_to_the_arena(base["Deployment", "arena"], name, *before_and_after)
    return found


def add_to_the_arena(base: Object, component: str, before: Object, after: Object) -> None:
    """Adds to the arena's container what it has with this component alone."""
    (ours,) = containers(base["spec"]["template"]["spec"])
    (without,) = containers(before["spec"]["template"]["spec"])
    (theirs,) = containers(after["spec"]["template"]["spec"])
    added = ADDED_TO_THE_ARENA[component]
    if {key for key in theirs if theirs[key] != without[key]} != added:
        raise SystemExit(f"components/{component} changes more of the arena than {added}")
    for key in sorted(added):
        more = [item for item in theirs[key] if item not in without[key]]
        for item in more:
            if isinstance(item, dict) and item["name"] in PAGE_VALUES:
                item["value"] = PAGE_VALUES[item["name"]]
        ours[key] = Appended(ours[key], CONDITIONS[component], more)


def put(thing: Object, path: str, value: Any) -> None:
    """Sets what is at the path. All of it must be there, but for the last step of an object."""
    place: Any = thing
    *steps, last = path.split(".")
    for step in steps:
        while isinstance(place, Appended):
            place = place.items
        if step.startswith("["):
            (place,) = [item for item in place if item["name"] == step[1:-1]]
        else:
            place = place[int(step) if isinstance(place, list) else step]
    place[last] = value


def in_namespace(value: Any) -> Any:
    """A host's name that has the namespace in it, as an expression."""
    if isinstance(value, str) and re.search(rf"\.{NAMESPACE}(\.svc|$)", value):
        text = value.replace(f".{NAMESPACE}", ".%s")
        return Expr(f'printf "{text}" $.Release.Namespace | quote')
    return value


def general(node: Any) -> Any:
    """The replacements that do not depend on the object."""
    if isinstance(node, Appended):
        return Appended(general(node.items), node.condition, general(node.more))
    if isinstance(node, list):
        return [general(in_namespace(item)) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {}
    for key, value in node.items():
        if key == "namespace" and value == NAMESPACE:
            value = Expr("$.Release.Namespace")
        elif key == "image" and isinstance(value, str):
            (name,) = re.findall(r"^localhost/bot-arena/([\w-]+):", value)
            value = Expr(f'include "bot-arena.image" (list $ "{name}")')
        elif key == "imagePullPolicy":
            value = Expr("$.Values.image.pullPolicy")
        elif key in USERS:
            value = When("not $.Values.openshift", value)
        elif isinstance(value, str):
            value = in_namespace(value)
        changed[key] = general(value)
    return changed


def with_values(component: str, thing: Object) -> Object:
    """The object with values in it."""
    key = key_of(thing)
    thing = general(thing)
    thing["metadata"]["name"] = key[1]
    thing["metadata"]["labels"] = thing["metadata"].get("labels", {}) | LABELS
    for path, value in VALUES.get(key, {}).items():
        put(thing, path, value)
    if component == "external":
        for path, value in EXTERNAL.items():
            put(thing, path, value)
    return thing


def scalar(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        text = json.dumps(value)
    else:
        text = yaml.safe_dump(value, width=10_000, allow_unicode=True).removesuffix("...\n").strip()
    # Braces that are not ours.
    return text.replace("{{", '{{ "{{" }}')


def lines_of(node: Any, pad: str) -> Iterator[str]:
    """The lines of an object or list, each behind this indentation."""
    if isinstance(node, Appended):
        yield from lines_of(node.items, pad)
        yield f"{pad}{{{{- if {node.condition} }}}}"
        yield from lines_of(node.more, pad)
        yield f"{pad}{{{{- end }}}}"
    elif isinstance(node, list):
        for item in node:
            if isinstance(item, dict):
                first, *rest = lines_of(item, f"{pad}  ")
                yield f"{pad}- {first.removeprefix(f'{pad}  ')}"
                yield from rest
            else:
                yield from entry(f"{pad}-", item, pad)
    else:
        for key, value in node.items():
            yield from entry(f"{pad}{scalar(key)}:", value, pad)


def entry(head: str, value: Any, pad: str) -> Iterator[str]:
    match value:
        case Lines(lines):
            yield from (f"{pad}{line}" for line in lines)
        case Expr(text):
            yield f"{head} {{{{ {text} }}}}"
        case With(text):
            yield f"{pad}{{{{- with {text} }}}}"
            yield f"{head} {{{{ toJson . }}}}"
            yield f"{pad}{{{{- end }}}}"
        case When(condition, inner):
            yield f"{pad}{{{{- if {condition} }}}}"
            yield from entry(head, inner, pad)
            yield f"{pad}{{{{- end }}}}"
        case Appended() | {} | [_, *_] if value:
            yield head
            yield from lines_of(value, f"{pad}  ")
        case _:
            yield f"{head} {scalar(value)}"


def guarded(lines: Iterator[str] | list[str], *conditions: str) -> list[str]:
    lines = list(lines)
    for condition in conditions:
        if condition:
            lines = [f"{{{{- if {condition} }}}}", *lines, "{{- end }}"]
    return lines


def template(component: str, things: dict[Key, Object]) -> str:
    """The text of the template of a component."""
    lines: list[str] = []
    for key, thing in things.items():
        # The release's namespace is there before it.
        if key[0] == "Namespace":
            continue
        text = ["---", *lines_of(with_values(component, thing), "")]
        lines += guarded(text, OBJECTS.get(key, ""))
    return text_of(component, guarded(lines, CONDITIONS[component]))


def text_of(component: str, lines: list[str]) -> str:
    source = "base" if component == "base" else f"components/{component}"
    header = f"{MARK}{source}, by `cargo xtask manifests --chart`. */}}}}"
    if component == "base":
        lines = ['{{- include "bot-arena.check" $ }}', *lines]
    return "".join(f"{line}\n" for line in [header, *lines])


def split_bots(services: dict[Key, Object]) -> dict[Key, Object]:
    """Takes the sample bots out of the services: one of them stands for each bot."""
    bots = {key: services.pop(key) for key in list(services) if key[1] in SAMPLES}

    def as_text(name: str) -> str:
        mine = {key[0]: thing for key, thing in bots.items() if key[1] == name}
        return json.dumps(mine, sort_keys=True).replace(name, "NAME")

    if len({as_text(name) for name in SAMPLES}) != 1:
        raise SystemExit("the sample bots differ in more than their names")
    return {key: thing for key, thing in bots.items() if key[1] == SAMPLES[0]}


def template_of_bots(bots: dict[Key, Object]) -> str:
    def named(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: named(value) for key, value in node.items()}
        if isinstance(node, list):
            return [named(item) for item in node]
        return Expr("$name | quote") if node == SAMPLES[0] else node

    lines = ["{{- range $name, $bot := $.Values.services.bots }}"]
    for bot in bots.values():
        thing = named(with_values("services", bot))
        thing["metadata"]["name"] = Expr("$name | quote")
        lines += ["---", *lines_of(thing, "")]
    lines.append("{{- end }}")
    return text_of("services", guarded(lines, CONDITIONS["services"]))


def files() -> dict[str, bytes]:
    """The generated files of the chart, by their paths in it."""
    found = sources()
    known = {key for things in found.values() for key in things}
    if unknown := VALUES.keys() - known:
        raise SystemExit(f"there is no such object any more: {unknown}")
    bots = split_bots(found["services"])
    texts = {name: template(name, things) for name, things in found.items()}
    texts["bots"] = template_of_bots(bots)
    made = {f"templates/{name}.yaml": text.encode() for name, text in texts.items()}
    made["dashboard.json"] = (HERE / "components/monitoring/dashboard.json").read_bytes()
    return made


def generated() -> dict[str, bytes]:
    """The same, as they lie there."""
    paths = [*(CHART / "templates").glob("*.yaml"), CHART / "dashboard.json"]
    found = {str(path.relative_to(CHART)): path.read_bytes() for path in paths if path.exists()}
    marked = MARK.encode()
    return {n: text for n, text in found.items() if n.endswith(".json") or text.startswith(marked)}


def main() -> None:
    for old in generated():
        (CHART / old).unlink()
    for name, content in files().items():
        (CHART / name).write_bytes(content)


if __name__ == "__main__":
    main()
