//! Tests of the objects that are made for a match: whose files, users and addresses a bot has, and
//! whose it has not.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use arena_kubernetes::{
    PodBot, PodImage, PodMatch, PodProgram, PodTournament, RefereePod, Settings, StatusMap,
    bot_pod, game_needs, job, names, probe_pod,
};
use arena_tournament::Isolation;
use k8s_openapi::api::core::v1::{Container, PodSpec};

fn tournament(isolation: Isolation, seats: usize) -> PodTournament {
    let bot = |place: usize| PodBot {
        name: format!("bot.{place}"),
        // The last one is built in.
        program: match place + 1 == seats {
            true => PodProgram::BuiltIn,
            false => PodProgram::Image(PodImage {
                name: format!("registry.example.com/team/bot:{place}"),
                digest: Some(format!("sha256:{}", "ab".repeat(32))),
                arguments: vec!["--say".to_owned(), "$(POD_NAME)".to_owned()],
            }),
        },
    };
    PodTournament {
        key: "0123456789".to_owned(),
        name: "spring".to_owned(),
        isolation,
        games: 32,
        memory_mib: None,
        matches: vec![PodMatch {
            number: 7,
            bots: (0..seats).map(bot).collect(),
            chunks: 12,
        }],
    }
}

fn referee() -> RefereePod {
    RefereePod {
        name: "bot-arena-0123456789-m7-g1-3-abcde".to_owned(),
        uid: "u".to_owned(),
        ip: "10.0.0.7".to_owned(),
        job: "bot-arena-0123456789-m7-g1".to_owned(),
        index: "3".to_owned(),
        generation: 1,
    }
}

fn pods(isolation: Isolation, seats: usize) -> Vec<PodSpec> {
    let settings = Settings::default();
    let tournament = tournament(isolation, seats);
    let of = &tournament.matches[0];
    let job = job(&settings, &tournament, of, 1);
    let mut pods = vec![job.spec.unwrap().template.spec.unwrap()];
    if isolation == Isolation::Pod {
        let bots =
            (0..seats).filter_map(|place| bot_pod(&settings, &tournament, of, place, &referee()));
        pods.extend(bots.map(|pod| pod.spec.unwrap()));
    }
    pods
}

fn containers(pod: &PodSpec) -> impl Iterator<Item = &Container> {
    pod.init_containers.iter().flatten().chain(&pod.containers)
}

fn volumes(container: &Container) -> BTreeSet<&str> {
    let mounts = container.volume_mounts.iter().flatten();
    mounts.map(|mount| &*mount.name).collect()
}

fn arguments(container: &Container) -> Vec<&str> {
    container
        .args
        .iter()
        .flatten()
        .map(String::as_str)
        .collect()
}

#[test]
fn a_bot_has_a_user_of_its_own_and_no_file_of_anybody_else() {
    for isolation in [Isolation::Shared, Isolation::Pod] {
        for pod in pods(isolation, 4) {
            let secrets: BTreeSet<&str> = (pod.volumes.iter().flatten())
                .filter(|volume| volume.secret.is_some())
                .map(|volume| &*volume.name)
                .collect();
            let mut users = BTreeSet::new();
            for container in containers(&pod) {
                let Some(place) = names::place_of(&container.name) else {
                    continue;
                };
                let user = container.security_context.as_ref().unwrap().run_as_user;
                assert_eq!(user, Some(10_100 + place as i64));
                assert!(users.insert(user), "two bots have one user");
                let seen = volumes(container);
                assert!(seen.is_disjoint(&secrets), "{seen:?}");
                let own = [format!("scratch-{place}"), format!("sockets-{place}")];
                assert_eq!(seen.into_iter().collect::<Vec<_>>(), own);
            }
            assert_eq!(pod.automount_service_account_token, Some(false));
            assert_eq!(pod.enable_service_links, Some(false));
        }
    }
}

#[test]
fn a_packed_bot_plays_in_a_container_of_hosts_that_is_told_nothing_of_it() {
    let mut settings = Settings::default();
    for isolation in [Isolation::Shared, Isolation::Pod] {
        let mut tournament = tournament(isolation, 2);
        tournament.matches[0].bots[0].program = PodProgram::Packed {
            needs: vec!["linux-x86_64".to_owned(), "python3".to_owned()],
        };
        let of = &tournament.matches[0];
        assert_eq!(of.bots[0].obstacle(&settings), None);
        let job = job(&settings, &tournament, of, 1);
        let referee_pod = job.spec.unwrap().template.spec.unwrap();
        let said = arguments(&referee_pod.containers[0]);
        assert!(said.contains(&"--provides=python3"), "{said:?}");
        assert!(said.iter().any(|word| word.starts_with("--bot-at=bot.0=")));
        let pod = match isolation {
            Isolation::Pod => bot_pod(&settings, &tournament, of, 0, &referee())
                .and_then(|pod| pod.spec)
                .unwrap(),
            _ => referee_pod,
        };
        let bot = containers(&pod).find(|one| one.name == "bot-0").unwrap();
        assert_eq!(bot.image.as_deref(), Some(&*settings.host.image));
        assert_eq!(bot.args, None);
    }
    settings.host.provides.clear();
    let mut bot = tournament(Isolation::Pod, 2).matches[0].bots[0].clone();
    bot.program = PodProgram::Packed {
        needs: vec!["python3".to_owned()],
    };
    let obstacle = bot.obstacle(&settings).unwrap();
    assert!(obstacle.starts_with("bot.0 needs python3, which the image of hosts"));
}

#[test]
fn the_referee_of_a_shared_pod_finds_each_bot_at_its_socket() {
    let pods = pods(Isolation::Shared, 3);
    let [pod] = &pods[..] else {
        panic!("one pod plays")
    };
    let names: Vec<&str> = containers(pod).map(|one| &*one.name).collect();
    assert_eq!(names, ["socket-0", "bot-0", "socket-1", "bot-1", "referee"]);
    for bot in pod.init_containers.iter().flatten() {
        // They go on beside the referee, and end with it.
        assert_eq!(bot.restart_policy.as_deref(), Some("Always"));
    }
    let referee = &pod.containers[0];
    let said = arguments(referee);
    for expected in [
        "--tournament=spring",
        "--match=7",
        "--chunks=1",
        "--games=32",
        "--bot-at=bot.0=unix:/run/bots/0/bot.sock,uid=10100",
        "--bot-at=bot.1=unix:/run/bots/1/bot.sock,uid=10101",
    ] {
        assert!(said.contains(&expected), "{expected}: {said:?}");
    }
    // The third one is built in.
    assert!(!said.iter().any(|word| word.contains("bot.2")));
    let image = said.iter().find(|word| word.starts_with("--provides="));
    let digits = "ab".repeat(16);
    assert_eq!(*image.unwrap(), format!("--provides=image-{digits}"));
    let sockets = volumes(referee);
    assert!(sockets.contains("sockets-0") && sockets.contains("sockets-1"));
    // What looks like a variable is an argument.
    let bot = &pod.init_containers.as_ref().unwrap()[1];
    assert_eq!(arguments(bot), ["--say", "$$(POD_NAME)"]);
}

#[test]
fn a_bot_in_a_pod_of_its_own_is_reached_through_its_gate() {
    let pods = pods(Isolation::Pod, 3);
    let [referee, bots @ ..] = &pods[..] else {
        panic!("a referee comes first")
    };
    assert_eq!(bots.len(), 2);
    let said = arguments(&referee.containers[0]);
    let address = "--bot-at=bot.1=grpcs://$(POD_NAME)-b1.bots.bot-arena.svc:50051";
    assert!(said.contains(&address), "{said:?}");
    assert_eq!(referee.init_containers, None);
    let pod = &bots[1];
    assert_eq!(
        pod.hostname.as_deref(),
        Some("bot-arena-0123456789-m7-g1-3-abcde-b1")
    );
    assert_eq!(pod.subdomain.as_deref(), Some("bots"));
    let gate = pod
        .containers
        .iter()
        .find(|one| one.name == "gate")
        .unwrap();
    assert_eq!(
        arguments(gate),
        [
            "gate",
            "--listen=0.0.0.0:50051",
            "--to=unix:/run/bot/bot.sock",
            "--from=10.0.0.7"
        ]
    );
}

#[test]
fn a_job_begins_with_one_referee_where_bots_have_pods_of_their_own() {
    let settings = Settings::default();
    for (isolation, pods) in [(Isolation::Pod, 1), (Isolation::Shared, 4)] {
        let tournament = tournament(isolation, 2);
        let job = job(&settings, &tournament, &tournament.matches[0], 1);
        let spec = job.spec.unwrap();
        assert_eq!(spec.parallelism, Some(pods));
        // Whoever adds nodes sees every pod that waits.
        assert_eq!(spec.template.spec.unwrap().scheduling_gates, None);
    }
}

#[test]
fn a_probe_is_a_pod_as_those_of_its_role() {
    let probe = probe_pod(&Settings::default(), names::BOT, "p", "192.0.2.1:50060");
    let labels = probe.metadata.labels.unwrap();
    assert_eq!(labels[names::ROLE], "bot");
    assert_eq!(labels["app.kubernetes.io/managed-by"], "bot-arena");
    assert_eq!(
        labels["app.kubernetes.io/version"],
        env!("CARGO_PKG_VERSION")
    );
    let pod = probe.spec.unwrap();
    let said = arguments(&pod.containers[0]);
    assert_eq!(said, ["reach", "192.0.2.1:50060", "--after=5"]);
    // Nothing of it is secret.
    assert_eq!(pod.volumes, None);
}

#[test]
fn memory_is_what_a_bot_may_add_and_what_it_begins_with() {
    let mut tournament = tournament(Isolation::Shared, 2);
    tournament.memory_mib = Some(100);
    let job = job(&Settings::default(), &tournament, &tournament.matches[0], 1);
    let pod = job.spec.unwrap().template.spec.unwrap();
    let bot = containers(&pod).find(|one| one.name == "bot-0").unwrap();
    let limits = bot.resources.as_ref().unwrap().limits.as_ref().unwrap();
    assert_eq!(limits["memory"].0, "356Mi");
    // The same is told to the bot, in bytes.
    let told = bot.env.iter().flatten();
    let told = told
        .clone()
        .find(|told| told.name == "BOT_MEMORY_LIMIT")
        .unwrap();
    let field = told
        .value_from
        .as_ref()
        .unwrap()
        .resource_field_ref
        .as_ref();
    assert_eq!(field.unwrap().resource, "limits.memory");
}

#[test]
fn an_operators_settings_are_in_every_object() {
    let settings = Settings::parse(
        r#"
        queue = "games"
        pinned = false
        image_pull_policy = "Never"
        [pods]
        node_selector = { pool = "games" }
        tolerations = [{ key = "games", operator = "Exists" }]
        priority_class = "low"
        runtime_class = "gvisor"
        image_pull_secrets = ["registry"]
        "#,
    )
    .unwrap();
    let tournament = tournament(Isolation::Pod, 2);
    let of = &tournament.matches[0];
    let job = job(&settings, &tournament, of, 1);
    assert_eq!(
        job.metadata.labels.as_ref().unwrap()["kueue.x-k8s.io/queue-name"],
        "games"
    );
    let spec = job.spec.unwrap();
    assert_eq!(spec.suspend, Some(true));
    let bot = bot_pod(&settings, &tournament, of, 0, &referee()).unwrap();
    for pod in [spec.template.spec.unwrap(), bot.spec.unwrap()] {
        assert_eq!(pod.node_selector.as_ref().unwrap()["pool"], "games");
        assert_eq!(pod.tolerations.as_ref().unwrap().len(), 1);
        assert_eq!(pod.priority_class_name.as_deref(), Some("low"));
        assert_eq!(pod.runtime_class_name.as_deref(), Some("gvisor"));
        assert_eq!(pod.image_pull_secrets.as_ref().unwrap()[0].name, "registry");
        for container in containers(&pod) {
            assert_eq!(container.image_pull_policy.as_deref(), Some("Never"));
            let image = container.image.as_ref().unwrap();
            assert!(!image.contains('@'), "{image}");
        }
    }
}

#[test]
fn bots_of_a_game_wait_in_a_queue_as_one_group() {
    let settings = Settings {
        bot_queue: Some("bots".to_owned()),
        ..Settings::default()
    };
    let tournament = tournament(Isolation::Pod, 3);
    let of = &tournament.matches[0];
    for (settings, is_queued) in [(&settings, true), (&Settings::default(), false)] {
        let pods = (0..3).filter_map(|place| bot_pod(settings, &tournament, of, place, &referee()));
        let pods: Vec<_> = pods.map(|pod| pod.metadata).collect();
        // The third one is built in.
        assert_eq!(pods.len(), 2);
        for pod in pods {
            let of_kueue = |all: Option<BTreeMap<String, String>>| {
                let all = all.unwrap().into_iter();
                all.filter(|(key, _)| key.starts_with("kueue.x-k8s.io/"))
                    .collect::<Vec<_>>()
            };
            let (labels, annotations) = (of_kueue(pod.labels), of_kueue(pod.annotations));
            let word = |key: &str, value: &str| (format!("kueue.x-k8s.io/{key}"), value.to_owned());
            let expected = match is_queued {
                true => (
                    vec![
                        word("pod-group-name", &referee().name),
                        word("queue-name", "bots"),
                    ],
                    vec![
                        word("pod-group-total-count", "2"),
                        word("retriable-in-group", "false"),
                    ],
                ),
                false => (Vec::new(), Vec::new()),
            };
            assert_eq!((labels, annotations), expected);
            // Kueue looks for a controller that it has counted.
            let owner = &pod.owner_references.unwrap()[0];
            assert_eq!(owner.controller, Some(!is_queued));
            assert_eq!(owner.uid, referee().uid);
        }
    }
}

#[test]
fn the_settings_of_the_deployment_are_settings() {
    fn look(folder: &Path, found: &mut usize) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
            } else if path
                .file_name()
                .is_some_and(|name| name == "kubernetes.toml")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let settings = Settings::parse(&text);
                assert!(settings.is_ok(), "{}: {settings:?}", path.display());
                if folder.ends_with("base") {
                    // What is commented out are the defaults; the last part has examples.
                    let (defaults, _) = text.split_once("# [pods]").unwrap();
                    let defaults: Vec<&str> = (defaults.lines())
                        .filter_map(|line| line.strip_prefix("# "))
                        .filter(|line| line.contains(" = ") || line.starts_with('['))
                        .collect();
                    let expected = Settings {
                        queue: Some("games".to_owned()),
                        bot_queue: Some("bots".to_owned()),
                        ..Settings::default()
                    };
                    assert_eq!(Settings::parse(&defaults.join("\n")), Ok(expected));
                }
                *found += 1;
            }
        }
    }
    let mut found = 0;
    let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/kubernetes");
    look(Path::new(deploy), &mut found);
    assert!(found > 0, "the deployment has settings");
}

#[test]
fn a_single_bot_gets_what_the_settings_give_it_and_its_referee_does_not() {
    let settings = Settings::parse(
        r#"
        [pods]
        node_selector = { pool = "games" }
        runtime_class = "gvisor"
        [bots."bot.0"]
        cpu = "4"
        storage = "1Gi"
        resources = { "nvidia.com/gpu" = "1" }
        node_selector = { accelerator = "l4" }
        runtime_class = "nvidia"
        "#,
    );
    let settings = settings.unwrap();
    let tournament = tournament(Isolation::Pod, 3);
    let of = &tournament.matches[0];
    let [first, second] = [0, 1].map(|place| {
        let pod = bot_pod(&settings, &tournament, of, place, &referee());
        pod.unwrap().spec.unwrap()
    });
    let amount = |pod: &PodSpec, name: &str| {
        let bot = pod.containers[0].resources.as_ref().unwrap();
        assert_eq!(bot.limits, bot.requests);
        let amount = bot.limits.as_ref().unwrap().get(name);
        amount.map(|amount| amount.0.clone())
    };
    let gpu = "nvidia.com/gpu";
    assert_eq!(amount(&first, "cpu").as_deref(), Some("4"));
    assert_eq!(amount(&first, "memory").as_deref(), Some("512Mi"));
    assert_eq!(amount(&first, "ephemeral-storage").as_deref(), Some("1Gi"));
    assert_eq!(amount(&first, gpu).as_deref(), Some("1"));
    assert_eq!(amount(&second, "cpu").as_deref(), Some("1"));
    assert_eq!(amount(&second, gpu), None);
    let nodes = |pod: &PodSpec| {
        pod.node_selector
            .clone()
            .unwrap()
            .into_keys()
            .collect::<Vec<_>>()
    };
    assert_eq!(nodes(&first), ["accelerator", "pool"]);
    assert_eq!(nodes(&second), ["pool"]);
    let runtimes = [&first, &second].map(|pod| pod.runtime_class_name.as_deref());
    assert_eq!(runtimes, [Some("nvidia"), Some("gvisor")]);
    // The gate beside it gets what gates get.
    let gate = first.containers[1].resources.as_ref().unwrap();
    assert!(!gate.limits.as_ref().unwrap().contains_key(gpu));
    let scratch = first
        .volumes
        .iter()
        .flatten()
        .find(|one| one.name == "scratch-0");
    let scratch = scratch.unwrap().empty_dir.as_ref().unwrap();
    assert_eq!(scratch.size_limit.as_ref().unwrap().0, "1Gi");
    let needs = game_needs(&settings, &tournament, of);
    assert_eq!(needs["requests.nvidia.com/gpu"], 1000);
    let referee = job(&settings, &tournament, of, 1)
        .spec
        .unwrap()
        .template
        .spec
        .unwrap();
    assert_eq!(nodes(&referee), ["pool"]);
}

#[tokio::test]
async fn what_became_of_files_is_applied_as_a_config_map() {
    let (sent, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let api = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let sent = sent.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            sent.send((parts, body.clone())).unwrap();
            let answer = kube::client::Body::from(body.to_vec());
            Ok::<_, kube::Error>(http::Response::new(answer))
        }
    });
    let settings = Settings::default();
    let map = StatusMap::new(kube::Client::new(api, "elsewhere"), &settings);
    let lines = BTreeMap::from([("spring.toml".to_owned(), "{}".to_owned())]);
    map.write(&lines).await.unwrap();
    let (request, body) = asked.recv().await.unwrap();
    assert_eq!(request.method, http::Method::PATCH);
    let path = "/api/v1/namespaces/bot-arena/configmaps/arena-tournaments";
    assert_eq!(request.uri.path(), path);
    let query = request.uri.query().unwrap();
    assert!(query.contains("fieldManager=bot-arena"), "{query}");
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["data"], serde_json::json!({ "spring.toml": "{}" }));
}
