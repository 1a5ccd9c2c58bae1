"""Checks objects of Kubernetes: the files of kustomizations, and of `arena kubernetes render`.

    check.py FOLDER…

Each file `*.yaml` of the folders is what one command applies. Prints what is wrong, a line each.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

Object = dict[str, Any]

# How many of the newest minor versions of Kubernetes, of those that kubernetes-validate knows.
VERSIONS = 3
# Whose types are not Kubernetes' own. Nothing checks their fields here.
CUSTOM = {
    ("cert-manager.io/v1", "Certificate"),
    ("cert-manager.io/v1", "Issuer"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("keda.sh/v1alpha1", "ScaledObject"),
    ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
    ("kueue.x-k8s.io/v1beta2", "LocalQueue"),
    ("kueue.x-k8s.io/v1beta2", "ResourceFlavor"),
    ("monitoring.coreos.com/v1", "PrometheusRule"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
}
RESOURCES = ("cpu", "memory", "ephemeral-storage")
ROLE = "bot-arena/role"
# Containers of our own programs in the pods of games. All others are bots.
OURS = re.compile(r"referee|gate|sockets?(-\d+)?")
# Whom our own programs run as in pods of games.
OUR_USER = 10001

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
# Whose names become names of hosts or values of labels.
SHORT_NAMES = {"Namespace", "Pod", "Job", "Service", "StatefulSet", "Deployment"}

# https://kubernetes.io/docs/concepts/security/pod-security-standards/
SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
}
SELINUX_TYPES = {
    None,
    "",
    "container_t",
    "container_init_t",
    "container_kvm_t",
    "container_engine_t",
}
VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def objects(text: str) -> list[Object]:
    """The objects of a file, and of the lists in it."""
    found: list[Object] = []
    for document in yaml.safe_load_all(text):
        if document is None:
            continue
        found += document["items"] if document["kind"] == "List" else [document]
    return found


def name_of(thing: Object) -> str:
    return f"{thing['kind']} {thing['metadata'].get('name', '?')}"


def pod_template(thing: Object) -> Object | None:
    """The metadata and spec of the pods that an object stands for."""
    match thing["kind"]:
        case "Pod":
            return thing
        case "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job":
            template: Object = thing["spec"]["template"]
            return template
        case "CronJob":
            nested: Object = thing["spec"]["jobTemplate"]["spec"]["template"]
            return nested
        case _:
            return None


def containers(spec: Object) -> list[Object]:
    kinds = ("initContainers", "containers", "ephemeralContainers")
    return [container for kind in kinds for container in spec.get(kind) or []]


def labels(thing: Object) -> dict[str, str]:
    return thing.get("metadata", {}).get("labels") or {}


def is_arena(template: Object) -> bool:
    name, component = "app.kubernetes.io/name", "app.kubernetes.io/component"
    has = labels(template)
    return has.get(name) == "bot-arena" and has.get(component) == "arena"


def versions() -> list[str]:
    """The newest ones. Each is listed once for each way to check."""
    known: list[str] = list(dict.fromkeys(kubernetes_validate.utils.all_versions()))
    return known[-VERSIONS:]


def schema(thing: Object) -> list[str]:
    """What the API of Kubernetes does not know, or wants and has not got."""
    if (thing["apiVersion"], thing["kind"]) in CUSTOM:
        return []
    return list(schema_of_text(json.dumps(thing, sort_keys=True)))


@cache
def schema_of_text(text: str) -> tuple[str, ...]:
    """The same; many objects are in several files."""
    return tuple(schema_in_all_versions(json.loads(text)))


def schema_in_all_versions(thing: Object) -> Iterator[str]:
    for version in versions():
        try:
            kubernetes_validate.validate(thing, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            where = ".".join(str(step) for step in error.path)
            yield f"Kubernetes {version}: {where}: {error.message}"
        except kubernetes_validate.SchemaNotFoundError as error:
            yield f"Kubernetes {version}: {error.message}"


def names(thing: Object) -> Iterator[str]:
    """Names and labels that the API server refuses."""
    metadata = thing["metadata"]
    if "name" not in metadata:
        yield "it has no name"
    name = metadata.get("name", "x")
    short = thing["kind"] in SHORT_NAMES
    if short and (len(name) > 63 or not LABEL.fullmatch(name)):
        yield "its name is no DNS label of at most 63 characters"
    # A Role may be called otherwise, and ours are not.
    if len(name) > 253 or not SUBDOMAIN.fullmatch(name):
        yield "its name is no DNS subdomain"
    for holder in (thing, pod_template(thing) or {}):
        for key, value in labels(holder).items():
            if not VALUE.fullmatch(value):
                yield f"the value of its label {key} is refused"
    if thing["kind"] == "Job" and thing["spec"].get("completionMode") == "Indexed":
        # The host name of a pod is the Job's with the index.
        if len(f"{name}-{thing['spec']['completions'] - 1}") > 63:
            yield "the names of its pods are too long"
    template = pod_template(thing)
    if template is None:
        return
    claims = thing["spec"].get("volumeClaimTemplates") or []
    volumes = {volume["name"] for volume in template["spec"].get("volumes") or []}
    volumes |= {claim["metadata"]["name"] for claim in claims}
    called = Counter(container["name"] for container in containers(template["spec"]))
    for name, times in called.items():
        if times > 1:
            yield f"{times} containers are called {name}"
    for container in containers(template["spec"]):
        for port in container.get("ports") or []:
            port_name = port.get("name", "x")
            if len(port_name) > 15 or not LABEL.fullmatch(port_name):
                yield f"a port can't be called {port_name}"
        for mount in container.get("volumeMounts") or []:
            if mount["name"] not in volumes:
                yield f"{container['name']}: there is no volume {mount['name']}"


def pod_security(spec: Object, metadata: Object) -> Iterator[str]:
    """The Pod Security Standard `restricted`, with those of `baseline`, control by control.

    The exceptions for Windows, and for pods with a user namespace, are not made.
    """
    pod = spec.get("securityContext") or {}
    every = [("the pod", pod)]
    every += [(c["name"], c.get("securityContext") or {}) for c in containers(spec)]

    if (spec.get("os") or {}).get("name", "linux") != "linux":
        yield "it is not for Linux"
    # Host namespaces.
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(key):
            yield f"{key} is set"
    # Volume types, host paths among them.
    for volume in spec.get("volumes") or []:
        for kind in volume.keys() - {"name"} - VOLUMES:
            yield f"the volume {volume['name']} is of the kind {kind}"
    # AppArmor, the old way.
    for key, value in (metadata.get("annotations") or {}).items():
        if key.startswith("container.apparmor.security.beta.kubernetes.io/") and not (
            value == "runtime/default" or value.startswith("localhost/")
        ):
            yield f"AppArmor is {value}"
    # Sysctls.
    for sysctl in pod.get("sysctls") or []:
        if sysctl["name"] not in SAFE_SYSCTLS:
            yield f"the sysctl {sysctl['name']} is set"
    for who, context in every:
        # Host processes.
        if (context.get("windowsOptions") or {}).get("hostProcess"):
            yield f"{who}: it is a process of the host"
        # AppArmor.
        armor = (context.get("appArmorProfile") or {}).get("type", "RuntimeDefault")
        if armor not in ("RuntimeDefault", "Localhost"):
            yield f"{who}: AppArmor is {armor}"
        # SELinux.
        selinux = context.get("seLinuxOptions") or {}
        if selinux.get("type") not in SELINUX_TYPES or selinux.get("user") or selinux.get("role"):
            yield f"{who}: it sets options of SELinux"
        # Seccomp.
        seccomp = (context.get("seccompProfile") or {}).get("type", "RuntimeDefault")
        if seccomp not in ("RuntimeDefault", "Localhost"):
            yield f"{who}: seccomp is {seccomp}"
        # Running as non-root.
        if context.get("runAsNonRoot") is False:
            yield f"{who}: it may run as root"
        if context.get("runAsUser") == 0:
            yield f"{who}: it runs as root"
    for who, context in every[1:]:
        # Privileged containers.
        if context.get("privileged"):
            yield f"{who}: it is privileged"
        # Privilege escalation.
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{who}: allowPrivilegeEscalation is not false"
        # Running as non-root.
        if not context.get("runAsNonRoot", pod.get("runAsNonRoot")):
            yield f"{who}: runAsNonRoot is not set"
        # Seccomp.
        if "seccompProfile" not in context and "seccompProfile" not in pod:
            yield f"{who}: it has no seccomp profile"
        # Capabilities.
        capabilities = context.get("capabilities") or {}
        if "ALL" not in (capabilities.get("drop") or []):
            yield f"{who}: it does not drop all capabilities"
        if set(capabilities.get("add") or []) - {"NET_BIND_SERVICE"}:
            yield f"{who}: it adds capabilities"
        # The /proc mount type.
        if context.get("procMount", "Default") != "Default":
            yield f"{who}: procMount is not Default"
    for container in containers(spec):
        who = container["name"]
        # Host ports.
        if any(port.get("hostPort") for port in container.get("ports") or []):
            yield f"{who}: it takes a port of the host"
        # Hosts in probes and hooks.
        hooks = [container.get(probe) or {} for probe in PROBES]
        hooks += (container.get("lifecycle") or {}).values()
        for hook in hooks:
            for way in ("httpGet", "tcpSocket"):
                if isinstance(hook, dict) and (hook.get(way) or {}).get("host"):
                    yield f"{who}: a probe or hook names a host"


def own_rules(template: Object) -> Iterator[str]:
    """What we want of every pod beyond the standard."""
    spec = template["spec"]
    if spec.get("enableServiceLinks") is not False:
        yield "enableServiceLinks is not false"
    if "serviceAccountName" not in spec:
        yield "it has no service account of its own"
    elif (spec["serviceAccountName"] == "arena") != is_arena(template):
        yield "the service account arena is for the arena alone"
    if spec.get("automountServiceAccountToken") is not is_arena(template):
        yield "automountServiceAccountToken must be true for the arena, and false for all others"
    for volume in spec.get("volumes") or []:
        for source in (volume.get("projected") or {}).get("sources") or []:
            if "serviceAccountToken" in source:
                yield f"the volume {volume['name']} has a token"
    for container in containers(spec):
        who = container["name"]
        if not (container.get("securityContext") or {}).get("readOnlyRootFilesystem"):
            yield f"{who}: its root can be written to"
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        if limits != requests:
            yield f"{who}: its requests are not its limits"
        for kind in RESOURCES:
            if kind not in limits:
                yield f"{who}: it has no limit of {kind}"


def bots_rules(template: Object) -> Iterator[str]:
    """What holds for pods of games: referees, and bots above all."""
    spec = template["spec"]
    if ROLE not in labels(template):
        return
    secrets = {v["name"] for v in spec.get("volumes") or [] if "secret" in v}
    secrets |= {
        volume["name"]
        for volume in spec.get("volumes") or []
        for source in (volume.get("projected") or {}).get("sources") or []
        if "secret" in source
    }
    user = (spec.get("securityContext") or {}).get("runAsUser")
    users: list[Any] = []
    volumes: list[str] = []
    for container in containers(spec):
        who = container["name"]
        runs_as = (container.get("securityContext") or {}).get("runAsUser", user)
        if OURS.fullmatch(who):
            continue
        users.append(runs_as)
        mounts = [mount["name"] for mount in container.get("volumeMounts") or []]
        volumes += set(mounts)
        # Where the cluster chooses the user, one pod has one bot, and nothing of ours.
        is_alone = len(containers(spec)) == 1
        if runs_as == OUR_USER or (runs_as is None and not is_alone):
            yield f"{who}: it runs as {runs_as}, as our programs do"
        if secrets.intersection(mounts):
            yield f"{who}: a Secret is mounted"
        env = container.get("env") or []
        if any("secretKeyRef" in (variable.get("valueFrom") or {}) for variable in env):
            yield f"{who}: a variable is of a Secret"
        if any("secretRef" in source for source in container.get("envFrom") or []):
            yield f"{who}: variables are of a Secret"
    if len(set(users)) < len(users):
        yield "two bots run as the same user"
    if len(set(volumes)) < len(volumes):
        yield "two bots have the same volume"


def of_one_chunk(thing: Object) -> Iterator[str]:
    """Pods of games that nobody starts again do not stay for ever, and start at once."""
    template = pod_template(thing)
    if thing["kind"] not in ("Pod", "Job") or template is None or ROLE not in labels(template):
        return
    if "activeDeadlineSeconds" not in template["spec"]:
        yield "its pods have no activeDeadlineSeconds"
    for container in containers(template["spec"]):
        # The referee asks; a probe would cost each pod some seconds.
        if any(probe in container for probe in PROBES):
            yield f"{container['name']}: it has a probe"


def check(thing: Object) -> Iterator[str]:
    """All that is wrong with an object by itself."""
    wrong = schema(thing)
    yield from wrong
    # The other checks need the shape.
    if wrong:
        return
    yield from names(thing)
    template = pod_template(thing)
    if template is not None:
        yield from pod_security(template["spec"], template.get("metadata") or {})
        yield from own_rules(template)
        yield from bots_rules(template)
        yield from of_one_chunk(thing)


def check_all(things: Iterable[Object]) -> list[str]:
    """All that is wrong with objects that are applied together."""
    things = list(things)
    keys = Counter(
        (t["apiVersion"], t["kind"], t["metadata"].get("namespace"), t["metadata"].get("name"))
        for t in things
    )
    found = [
        f"{kind} {name}: it is there {n} times" for (_, kind, _, name), n in keys.items() if n > 1
    ]
    return found + [f"{name_of(thing)}: {wrong}" for thing in things for wrong in check(thing)]


def main(folders: list[str]) -> int:
    files = sorted(file for folder in folders for file in Path(folder).rglob("*.yaml"))
    found, checked, skipped = 0, 0, set()
    for file in files:
        things = objects(file.read_text())
        for wrong in check_all(things):
            print(f"{file}: {wrong}", file=sys.stderr)
            found += 1
        custom = {
            thing["kind"] for thing in things if (thing["apiVersion"], thing["kind"]) in CUSTOM
        }
        skipped |= custom
        checked += len(things)
    if not checked:
        print("there is nothing to check", file=sys.stderr)
        return 2
    print(f"{checked} objects in {len(files)} files, for Kubernetes {', '.join(versions())}")
    if skipped:
        print(f"no schema for {', '.join(sorted(skipped))}: their fields are not checked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
