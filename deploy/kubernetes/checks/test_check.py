"""The checker finds each fault that it is there for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from check import Object, check, check_all, main, versions

GOOD: Object = yaml.safe_load("""
apiVersion: v1
kind: Pod
metadata:
  name: bot-arena-0123456789-m1-g1-0-abcde
  namespace: bot-arena
  labels: {bot-arena/role: referee}
spec:
  restartPolicy: Never
  serviceAccountName: games
  automountServiceAccountToken: false
  enableServiceLinks: false
  activeDeadlineSeconds: 3600
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    seccompProfile: {type: RuntimeDefault}
  initContainers:
    - name: bot-0
      image: bot
      restartPolicy: Always
      resources: &resources
        requests: {cpu: "1", memory: 512Mi, ephemeral-storage: 64Mi}
        limits: {cpu: "1", memory: 512Mi, ephemeral-storage: 64Mi}
      securityContext:
        runAsUser: 10100
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts: [{name: socket-0, mountPath: /run/bot}]
    - name: bot-1
      image: bot
      restartPolicy: Always
      resources: *resources
      securityContext:
        runAsUser: 10101
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts: [{name: socket-1, mountPath: /run/bot}]
  containers:
    - name: referee
      image: localhost/bot-arena/referee:0.1.0
      resources: *resources
      ports: [{name: grpc, containerPort: 50050}]
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: socket-0, mountPath: /run/bots/0}
        - {name: socket-1, mountPath: /run/bots/1}
        - {name: tls, mountPath: /tls}
  volumes:
    - {name: socket-0, emptyDir: {sizeLimit: 1Mi}}
    - {name: socket-1, emptyDir: {sizeLimit: 1Mi}}
    - {name: tls, secret: {secretName: referee-tls}}
""")

# Where, what, and what is said of it.
Fault = tuple[str, object, str]
BOT = "spec.initContainers.0"
CONTEXT = "spec.containers.0.securityContext"
SECURITY: list[Fault] = [
    ("spec.os", {"name": "windows"}, "not for Linux"),
    ("spec.hostNetwork", True, "hostNetwork"),
    ("spec.hostPID", True, "hostPID"),
    ("spec.hostIPC", True, "hostIPC"),
    ("spec.volumes.0", {"name": "socket-0", "hostPath": {"path": "/"}}, "kind hostPath"),
    ("spec.volumes.0", {"name": "socket-0", "nfs": {"server": "a", "path": "/"}}, "kind nfs"),
    (
        "metadata.annotations",
        {"container.apparmor.security.beta.kubernetes.io/referee": "unconfined"},
        "AppArmor is unconfined",
    ),
    ("spec.securityContext.sysctls", [{"name": "kernel.msgmax", "value": "1"}], "sysctl"),
    ("spec.securityContext.windowsOptions", {"hostProcess": True}, "process of the host"),
    (f"{CONTEXT}.windowsOptions", {"hostProcess": True}, "process of the host"),
    (f"{CONTEXT}.appArmorProfile", {"type": "Unconfined"}, "AppArmor is Unconfined"),
    (f"{CONTEXT}.seLinuxOptions", {"type": "spc_t"}, "SELinux"),
    ("spec.securityContext.seLinuxOptions", {"user": "root"}, "SELinux"),
    (f"{CONTEXT}.seLinuxOptions", {"role": "sysadm_r"}, "SELinux"),
    (f"{CONTEXT}.seccompProfile", {"type": "Unconfined"}, "seccomp is Unconfined"),
    ("spec.securityContext.seccompProfile", {"type": "Unconfined"}, "seccomp is Unconfined"),
    ("spec.securityContext.seccompProfile", None, "no seccomp profile"),
    ("spec.securityContext.runAsNonRoot", None, "runAsNonRoot is not set"),
    ("spec.securityContext.runAsNonRoot", False, "may run as root"),
    (f"{CONTEXT}.runAsNonRoot", False, "may run as root"),
    (f"{CONTEXT}.runAsUser", 0, "runs as root"),
    ("spec.securityContext.runAsUser", 0, "runs as root"),
    (f"{CONTEXT}.privileged", True, "privileged"),
    (f"{CONTEXT}.allowPrivilegeEscalation", None, "allowPrivilegeEscalation"),
    (f"{BOT}.securityContext.allowPrivilegeEscalation", True, "allowPrivilegeEscalation"),
    (f"{CONTEXT}.capabilities", None, "does not drop"),
    (f"{CONTEXT}.capabilities.drop", ["NET_RAW"], "does not drop"),
    (f"{CONTEXT}.capabilities.add", ["SYS_PTRACE"], "adds capabilities"),
    (f"{CONTEXT}.procMount", "Unmasked", "procMount"),
    ("spec.containers.0.ports.0.hostPort", 50050, "port of the host"),
    (
        "spec.containers.0.lifecycle",
        {"preStop": {"httpGet": {"host": "10.0.0.1", "port": 80}}},
        "names a host",
    ),
    (
        "spec.containers.0.livenessProbe",
        {"tcpSocket": {"host": "10.0.0.1", "port": 80}},
        "names a host",
    ),
]
RULES: list[Fault] = [
    ("spec.nodeNames", "a", "nodeNames"),
    ("spec.containers", None, "'containers' is a required property"),
    ("metadata.name", "a" * 64, "63 characters"),
    ("metadata.name", "Arena", "DNS label"),
    ("metadata.labels.bot-arena/match", "a b", "value of its label bot-arena/match"),
    ("metadata.labels.bot-arena/match", "1" * 64, "value of its label bot-arena/match"),
    ("spec.containers.0.ports.0.name", "a-very-long-name", "a port can't be called"),
    ("spec.containers.0.volumeMounts.0.name", "socket-2", "no volume socket-2"),
    (f"{BOT}.name", "bot-1", "2 containers are called bot-1"),
    ("spec.enableServiceLinks", None, "enableServiceLinks"),
    ("spec.serviceAccountName", None, "no service account"),
    ("spec.serviceAccountName", "arena", "for the arena alone"),
    ("spec.automountServiceAccountToken", None, "automountServiceAccountToken"),
    ("spec.automountServiceAccountToken", True, "automountServiceAccountToken"),
    (
        "spec.volumes.0",
        {"name": "socket-0", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        "has a token",
    ),
    (f"{CONTEXT}.readOnlyRootFilesystem", None, "root can be written to"),
    (f"{BOT}.resources.limits.cpu", "2", "requests are not its limits"),
    (f"{BOT}.resources", None, "no limit of ephemeral-storage"),
    (f"{BOT}.startupProbe", {"tcpSocket": {"port": 50051}}, "bot-0: it has a probe"),
    ("spec.containers.0.readinessProbe", {"tcpSocket": {"port": 1}}, "referee: it has a probe"),
    (f"{BOT}.securityContext.runAsUser", None, "bot-0: it runs as 10001"),
    (f"{BOT}.securityContext.runAsUser", 10101, "two bots run as the same user"),
    (f"{BOT}.volumeMounts.0.name", "socket-1", "two bots have the same volume"),
    (f"{BOT}.volumeMounts.0.name", "tls", "bot-0: a Secret is mounted"),
    (
        "spec.volumes.0",
        {"name": "socket-0", "projected": {"sources": [{"secret": {"name": "referee-tls"}}]}},
        "bot-0: a Secret is mounted",
    ),
    (
        f"{BOT}.env",
        [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "arena-store", "key": "url"}}}],
        "bot-0: a variable is of a Secret",
    ),
    (f"{BOT}.envFrom", [{"secretRef": {"name": "arena-store"}}], "variables are of a Secret"),
    ("spec.activeDeadlineSeconds", None, "no activeDeadlineSeconds"),
]


def changed(where: str, what: object) -> Object:
    """The good pod with something else there; None removes it."""
    thing = copy.deepcopy(GOOD)
    # Keys of labels have no dots, so a path can be split at them.
    *path, last = where.split(".")
    place: object = thing
    for step in path:
        if isinstance(place, list):
            place = place[int(step)]
        elif isinstance(place, dict):
            place = place[step]
    if isinstance(place, list):
        place[int(last)] = what
    elif isinstance(place, dict) and what is None:
        del place[last]
    elif isinstance(place, dict):
        place[last] = what
    return thing


def test_a_pod_in_order_passes() -> None:
    assert list(check(GOOD)) == []


@pytest.mark.parametrize("fault", SECURITY + RULES, ids=lambda fault: f"{fault[0]}={fault[1]}"[:60])
def test_a_fault_is_found(fault: Fault) -> None:
    where, what, said = fault
    found = list(check(changed(where, what)))
    assert any(said in each for each in found), found


def in_template(kind: str, wrap: Callable[[Object], Object]) -> Object:
    template = changed("spec.hostNetwork", True)
    template["spec"].pop("activeDeadlineSeconds")
    template["spec"]["restartPolicy"] = "Never" if "Job" in kind else "Always"
    metadata = {"name": "a", "namespace": "bot-arena"}
    group = "batch/v1" if "Job" in kind else "apps/v1"
    template = {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": wrap(template)}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"])
def test_pods_are_found_in_what_makes_them(kind: str) -> None:
    def wrap(template: Object) -> Object:
        selector = {"matchLabels": template["metadata"]["labels"]}
        match kind:
            case "Job":
                return {"template": template}
            case "CronJob":
                return {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
            case "StatefulSet":
                return {"selector": selector, "template": template, "serviceName": "a"}
            case _:
                return {"selector": selector, "template": template}

    found = list(check(in_template(kind, wrap)))
    assert "hostNetwork is set" in found
    assert ("its pods have no activeDeadlineSeconds" in found) == (kind == "Job")


def test_the_pods_of_a_job_can_have_their_names() -> None:
    def job(name: str, completions: int) -> Object:
        template = in_template("Job", lambda template: {"template": template})
        template["metadata"]["name"] = name
        template["spec"] |= {"completionMode": "Indexed", "completions": completions}
        return template

    said = "the names of its pods are too long"
    assert said not in list(check(job("a" * 60, 100)))
    assert said in list(check(job("a" * 60, 101)))


def test_an_object_that_is_there_twice_is_found() -> None:
    assert check_all([GOOD, GOOD]) == [f"Pod {GOOD['metadata']['name']}: it is there 2 times"]


def test_a_kind_that_nobody_knows_is_found() -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Arena", "metadata": {"name": "a"}}
    found = list(check(thing))
    assert len(found) == len(versions()) == len(set(versions())) == 3


def test_files_are_read_and_faults_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([GOOD, None]))
    assert main([str(tmp_path)]) == 0
    assert "1 objects in 1 files" in capsys.readouterr().out
    listed = {"apiVersion": "v1", "kind": "List", "items": [changed("spec.hostPID", True)]}
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(listed))
    assert main([str(tmp_path)]) == 1
    assert "b.yaml: Pod bot-arena-0123456789-m1-g1-0-abcde: hostPID is set\n" in (
        capsys.readouterr().err
    )
