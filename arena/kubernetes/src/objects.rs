//! The objects that are made for a match: a Job, and the pods of bots where each has one of its
//! own. They depend on their arguments alone.

use std::collections::{BTreeMap, BTreeSet};

use arena_tournament::Isolation;
use k8s_openapi::{
    api::{
        batch::v1::{
            Job, JobSpec, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement,
            PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule,
        },
        core::v1::{
            Affinity, Capabilities, Container, ContainerPort, EmptyDirVolumeSource, EnvVar,
            EnvVarSource, LocalObjectReference, ObjectFieldSelector, Pod, PodAffinity,
            PodAffinityTerm, PodSecurityContext, PodSpec, PodTemplateSpec, ResourceFieldSelector,
            ResourceRequirements, SeccompProfile, SecretVolumeSource, SecurityContext, Volume,
            VolumeMount, WeightedPodAffinityTerm,
        },
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference},
    },
};

use crate::{
    PodMatch, PodTournament, Settings,
    names::{
        self, BOT, BOTS, BOTS_SERVICE, BUILDER, ENTRY, ENTRY_NAME, PLACE, PURPOSE, QUEUE, REFEREE,
        ROLE, TOURNAMENT_NAME,
    },
    quota::{self, Amounts},
    settings::Share,
    tournament::{PodBot, PodProgram},
};

/// The user of our programs.
const OUR_USER: i64 = 10_001;
/// The user of the bot in the first place; the next ones follow.
const FIRST_BOT_USER: i64 = 10_100;
/// The port at which a gate is reached.
const GATE_PORT: i32 = 50_051;
/// So many pods of an index may fail by our fault or the machine's.
const RETRIES: i32 = 3;
/// The most indexes of a Job.
const MOST_INDEXES: u64 = 100_000;
/// The exit code of `referee work` where trying again is of no use.
const REFUSED: i32 = 2;
/// The time for which a Job that has ended is kept for its logs, in seconds. Nothing is counted
/// from it.
const KEPT: i32 = 3600;
/// No pod lives for longer, whatever hangs, in seconds.
const LONGEST: i64 = 6 * 3600;
/// No build with its check takes as long, in seconds.
const LONGEST_BUILD: i64 = 1800;
/// The label of Kueue with the name of a group of pods, and its annotations with their number and on
/// whether one that failed is made again.
const GROUP: &str = "kueue.x-k8s.io/pod-group-name";
const GROUP_COUNT: &str = "kueue.x-k8s.io/pod-group-total-count";
const RETRIABLE: &str = "kueue.x-k8s.io/retriable-in-group";
/// The time that a pod has to end when it is told to, in seconds: longer than the 10 s that games
/// have.
const GRACE: i64 = 30;
/// The folder in which a bot finds its socket's folder.
const BOT_SOCKETS: &str = "/run/bot";
/// The folder of the keys.
const TLS: &str = "/tls";
/// The Secret with the keys of gates.
const GATE_TLS: &str = "gate-tls";

/// A pod of a referee that plays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefereePod {
    /// Its name.
    pub name: String,
    /// Its number in the cluster.
    pub uid: String,
    /// Its address.
    pub ip: String,
    /// Its Job.
    pub job: String,
    /// Its index in the Job.
    pub index: String,
    /// The number of that Job among the Jobs of its match.
    pub generation: u32,
}

/// The Job of a match.
#[must_use]
pub fn job(settings: &Settings, tournament: &PodTournament, of: &PodMatch, generation: u32) -> Job {
    let mut labels = names::labels(settings, &tournament.key, of.number, generation);
    let mut pod_labels = labels.clone();
    pod_labels.insert(ROLE.to_owned(), REFEREE.to_owned());
    if let Some(queue) = &settings.queue {
        labels.insert(QUEUE.to_owned(), queue.clone());
    }
    let chunks = i32::try_from(of.chunks.clamp(1, MOST_INDEXES)).unwrap_or(i32::MAX);
    let at_once = match tournament.isolation {
        // It is raised as the bots of its referees find room.
        Isolation::Pod => 1,
        _ => i32::try_from(settings.pods_per_job).unwrap_or(i32::MAX),
    };
    let annotations = annotations(tournament, of);
    Job {
        metadata: ObjectMeta {
            name: Some(names::job(&tournament.key, of.number, generation)),
            namespace: Some(settings.namespace.clone()),
            labels: Some(labels),
            annotations: Some(annotations.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(JobSpec {
            completion_mode: Some("Indexed".to_owned()),
            completions: Some(chunks),
            parallelism: Some(at_once.min(chunks)),
            backoff_limit_per_index: Some(RETRIES),
            pod_failure_policy: Some(failure_policy()),
            pod_replacement_policy: Some("Failed".to_owned()),
            // Kueue lets it go.
            suspend: Some(settings.queue.is_some()),
            ttl_seconds_after_finished: Some(KEPT),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(pod_labels),
                    annotations: Some(annotations),
                    ..ObjectMeta::default()
                }),
                spec: Some(referee_pod(settings, tournament, of)),
            },
            ..JobSpec::default()
        }),
        status: None,
    }
}

/// The pod of the bot in this place that plays with this referee; none for a built-in bot.
#[must_use]
pub fn bot_pod(
    settings: &Settings,
    tournament: &PodTournament,
    of: &PodMatch,
    place: usize,
    referee: &RefereePod,
) -> Option<Pod> {
    let bot = of.bots.get(place)?;
    if !bot.has_container() {
        return None;
    }
    let name = names::bot_pod(&referee.name, place);
    let mut labels = names::labels(settings, &tournament.key, of.number, referee.generation);
    labels.insert(ROLE.to_owned(), BOT.to_owned());
    labels.insert(PLACE.to_owned(), place.to_string());
    let mut annotations = annotations(tournament, of);
    if let Some(queue) = &settings.bot_queue {
        // Kueue lets all bots of a game in, or none.
        labels.insert(QUEUE.to_owned(), queue.clone());
        labels.insert(GROUP.to_owned(), referee.name.clone());
        annotations.insert(GROUP_COUNT.to_owned(), of.containers().to_string());
        // Without this a group whose pods are removed keeps its place, and its pods their finalizer.
        annotations.insert(RETRIABLE.to_owned(), "false".to_owned());
    }
    let near = PodAffinityTerm {
        label_selector: Some(LabelSelector {
            match_labels: Some(BTreeMap::from([
                (
                    "batch.kubernetes.io/job-name".to_owned(),
                    referee.job.clone(),
                ),
                (
                    "batch.kubernetes.io/job-completion-index".to_owned(),
                    referee.index.clone(),
                ),
            ])),
            ..LabelSelector::default()
        }),
        topology_key: "kubernetes.io/hostname".to_owned(),
        ..PodAffinityTerm::default()
    };
    let guarded = Guarded {
        name: &name,
        place,
        container: bot_container(settings, tournament, bot, place, None),
        storage: &settings.share_of(&bot.name).storage,
        from: &referee.ip,
    };
    Some(Pod {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            namespace: Some(settings.namespace.clone()),
            labels: Some(labels),
            annotations: Some(annotations),
            // It goes when its referee goes, also while no arena runs.
            owner_references: Some(vec![OwnerReference {
                // Kueue does not count what belongs to what it has counted.
                controller: Some(settings.bot_queue.is_none()),
                ..owned_by(&referee.name, &referee.uid)
            }]),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            affinity: Some(Affinity {
                // Where there is room. If it were required, referees could fill the nodes.
                pod_affinity: Some(PodAffinity {
                    preferred_during_scheduling_ignored_during_execution: Some(vec![
                        WeightedPodAffinityTerm {
                            pod_affinity_term: near,
                            weight: 100,
                        },
                    ]),
                    ..PodAffinity::default()
                }),
                ..Affinity::default()
            }),
            ..guarded.within(settings, pod_of_bot(settings, bot))
        }),
        status: None,
    })
}

/// A container in a pod of its own, behind a gate.
struct Guarded<'a> {
    /// The name of the pod.
    name: &'a str,
    /// The place whose user and volumes it has.
    place: usize,
    container: Container,
    /// How much it may write.
    storage: &'a str,
    /// The only address that is let in.
    from: &'a str,
}

impl Guarded<'_> {
    /// The specification of its pod, which has this besides.
    fn within(self, settings: &Settings, pod: PodSpec) -> PodSpec {
        let mut volumes = bot_volumes(self.place, self.storage).to_vec();
        volumes.push(secret(GATE_TLS));
        PodSpec {
            hostname: Some(self.name.to_owned()),
            subdomain: Some(BOTS_SERVICE.to_owned()),
            restart_policy: Some("Always".to_owned()),
            containers: vec![self.container, gate(settings, self.place, self.from)],
            volumes: Some(volumes),
            ..pod
        }
    }
}

/// The pod to which another one belongs, and with which it goes.
fn owned_by(pod: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        name: pod.to_owned(),
        uid: uid.to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(false),
    }
}

/// The container of a bot's pod that lets in whoever has this address and a certificate.
fn gate(settings: &Settings, place: usize, from: &str) -> Container {
    Container {
        name: "gate".to_owned(),
        args: Some(words(&[
            "gate",
            &format!("--listen=0.0.0.0:{GATE_PORT}"),
            &format!("--to=unix:{}", socket(BOT_SOCKETS)),
            &format!("--from={from}"),
        ])),
        env: Some(vec![
            variable("ARENA_TLS_CERT", &format!("{TLS}/tls.crt")),
            variable("ARENA_TLS_KEY", &format!("{TLS}/tls.key")),
            variable("ARENA_TLS_CLIENT_CA", &format!("{TLS}/ca.crt")),
        ]),
        ports: Some(vec![ContainerPort {
            container_port: GATE_PORT,
            ..ContainerPort::default()
        }]),
        volume_mounts: Some(vec![
            mount(&sockets(place), BOT_SOCKETS),
            secret_mount(GATE_TLS),
        ]),
        // The bot's user, who may connect to its socket, in the group that may read the key. The
        // bot sees neither its files nor its process.
        security_context: Some(SecurityContext {
            run_as_group: Some(OUR_USER),
            ..restricted(bot_user(place))
        }),
        ..ours(settings, &little("250m", "64Mi"))
    }
}

/// The pod of the arena itself, to which pods belong that it makes for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArenaPod {
    /// Its name.
    pub name: String,
    /// Its number in the cluster.
    pub uid: String,
    /// Its address.
    pub ip: String,
}

/// A pod that builds an entry of a contest and then hosts what was built, for the arena alone.
#[must_use]
pub fn builder_pod(settings: &Settings, arena: &ArenaPod, name: &str, entry: &str) -> Pod {
    let place = 0;
    let share = settings.builder.share();
    let mut labels = names::ours(settings);
    labels.insert(ROLE.to_owned(), BOT.to_owned());
    labels.insert(PURPOSE.to_owned(), ENTRY.to_owned());
    let guarded = Guarded {
        name,
        place,
        container: Container {
            name: BUILDER.to_owned(),
            image: Some(settings.builder.image.clone()),
            resources: Some(resources(&share)),
            ..container_of_bot(settings, place)
        },
        storage: &share.storage,
        from: &arena.ip,
    };
    Pod {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(settings.namespace.clone()),
            labels: Some(labels),
            annotations: Some(BTreeMap::from([(ENTRY_NAME.to_owned(), entry.to_owned())])),
            // It goes when the arena goes.
            owner_references: Some(vec![owned_by(&arena.name, &arena.uid)]),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            active_deadline_seconds: Some(LONGEST_BUILD),
            // Nothing in it is worth a wait.
            termination_grace_period_seconds: Some(1),
            ..guarded.within(settings, pod(settings))
        }),
        status: None,
    }
}

/// The address of the gate of a pod of this name, for the arena and for referees.
#[must_use]
pub fn gate_address(settings: &Settings, pod: &str) -> String {
    format!(
        "grpcs://{pod}.{BOTS_SERVICE}.{}.svc:{GATE_PORT}",
        settings.namespace
    )
}

/// The part of the specification that the pod of a bot has.
fn pod_of_bot(settings: &Settings, bot: &PodBot) -> PodSpec {
    let every = pod(settings);
    let Some(one) = settings.bots.get(&bot.name) else {
        return every;
    };
    let mut node_selector = every.node_selector.unwrap_or_default();
    node_selector.extend(one.node_selector.clone());
    PodSpec {
        node_selector: (!node_selector.is_empty()).then_some(node_selector),
        runtime_class_name: one.runtime_class.clone().or(every.runtime_class_name),
        ..every
    }
}

/// A pod that looks whether it can connect to an address, for which the network has the rules of this
/// role's pods.
#[must_use]
pub fn probe_pod(settings: &Settings, role: &str, name: &str, address: &str) -> Pod {
    let mut labels = names::ours(settings);
    labels.insert(ROLE.to_owned(), role.to_owned());
    Pod {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(settings.namespace.clone()),
            labels: Some(labels),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            restart_policy: Some("Never".to_owned()),
            containers: vec![Container {
                name: "probe".to_owned(),
                args: Some(words(&["reach", address, "--after=5"])),
                ..ours(settings, &little("50m", "32Mi"))
            }],
            ..pod(settings)
        }),
        status: None,
    }
}

/// The amounts that a game of a match needs at once: those of its referee, and of the pods of its
/// bots.
#[must_use]
pub fn game_needs(settings: &Settings, tournament: &PodTournament, of: &PodMatch) -> Amounts {
    let mut needs = quota::needs(&referee_pod(settings, tournament, of));
    if tournament.isolation == Isolation::Pod {
        let referee = RefereePod::default();
        let bots = 0..of.bots.len();
        let bots = bots.filter_map(|place| bot_pod(settings, tournament, of, place, &referee));
        for pod in bots.filter_map(|pod| pod.spec) {
            quota::add(&mut needs, &quota::needs(&pod));
        }
    }
    needs
}

fn referee_pod(settings: &Settings, tournament: &PodTournament, of: &PodMatch) -> PodSpec {
    let containers: Vec<(usize, &PodBot)> = (of.bots.iter().enumerate())
        .filter(|(_, bot)| bot.has_container())
        .collect();
    let mut arguments = words(&[
        "work",
        &format!("--tournament={}", tournament.name),
        &format!("--match={}", of.number),
        "--chunks=1",
        &format!("--games={}", tournament.games),
        "--concurrency=1",
        // It starts no programs but built-in bots; there are no others in its image.
        "--sandbox=off",
    ]);
    let mut environment = vec![
        EnvVar {
            name: "POD_NAME".to_owned(),
            value_from: Some(EnvVarSource {
                field_ref: Some(ObjectFieldSelector {
                    api_version: None,
                    field_path: "metadata.name".to_owned(),
                }),
                ..EnvVarSource::default()
            }),
            ..EnvVar::default()
        },
        variable("ARENA_URL", &settings.arena),
        variable("ARENA_CA", &format!("{TLS}/ca.crt")),
        variable("ARENA_CERT", &format!("{TLS}/tls.crt")),
        variable("ARENA_KEY", &format!("{TLS}/tls.key")),
    ];
    let shared = tournament.isolation == Isolation::Shared;
    for (place, bot) in &containers {
        let address = match shared {
            true => format!(
                "unix:{},uid={}",
                socket(&seen_by_us(*place)),
                bot_user(*place)
            ),
            false => gate_address(settings, &names::bot_pod("$(POD_NAME)", *place)),
        };
        arguments.push(format!("--bot-at={}={address}", bot.name));
    }
    let provides: BTreeSet<String> = (containers.iter())
        .flat_map(|(_, bot)| provided(settings, bot))
        .collect();
    arguments.extend(provides.iter().map(|label| format!("--provides={label}")));
    let mut mounts = vec![mount("tmp", "/tmp"), secret_mount("referee-tls")];
    let mut volumes = vec![
        empty("tmp", &settings.referee.storage),
        secret("referee-tls"),
    ];
    let mut before = Vec::new();
    if shared && !containers.is_empty() {
        mounts.extend(
            containers
                .iter()
                .map(|(place, _)| mount(&sockets(*place), &seen_by_us(*place))),
        );
        volumes.extend(
            containers.iter().flat_map(|(place, bot)| {
                bot_volumes(*place, &settings.share_of(&bot.name).storage)
            }),
        );
        before.extend(containers.iter().flat_map(|(place, bot)| {
            [
                open_socket(settings, *place),
                bot_container(settings, tournament, bot, *place, Some("Always")),
            ]
        }));
    } else if !containers.is_empty() {
        if settings.bot_queue.is_some() {
            arguments.push(format!("--bots-within={LONGEST}s"));
        }
        environment.extend([
            variable("ARENA_BOTS_CA", &format!("{TLS}/ca.crt")),
            variable("ARENA_BOTS_CERT", &format!("{TLS}/tls.crt")),
            variable("ARENA_BOTS_KEY", &format!("{TLS}/tls.key")),
        ]);
    }
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        init_containers: (!before.is_empty()).then_some(before),
        containers: vec![Container {
            name: REFEREE.to_owned(),
            args: Some(arguments),
            env: Some(environment),
            volume_mounts: Some(mounts),
            ..ours(settings, &settings.referee)
        }],
        volumes: Some(volumes),
        ..pod(settings)
    }
}

/// Labels of what a bot finds in its container.
fn provided(settings: &Settings, bot: &PodBot) -> Vec<String> {
    match &bot.program {
        PodProgram::BuiltIn => Vec::new(),
        PodProgram::Image(image) => vec![image.label()],
        PodProgram::Packed { .. } => settings.host.provides.iter().cloned().collect(),
    }
}

/// The part of the specification that all pods have.
fn pod(settings: &Settings) -> PodSpec {
    let placing = &settings.pods;
    let secrets = placing.image_pull_secrets.iter();
    let secrets: Vec<_> = secrets
        .map(|name| LocalObjectReference { name: name.clone() })
        .collect();
    PodSpec {
        service_account_name: Some(settings.service_account.clone()),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        active_deadline_seconds: Some(LONGEST),
        termination_grace_period_seconds: Some(GRACE),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            fs_group: Some(OUR_USER),
            fs_group_change_policy: Some("OnRootMismatch".to_owned()),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..SeccompProfile::default()
            }),
            ..PodSecurityContext::default()
        }),
        node_selector: (!placing.node_selector.is_empty()).then(|| placing.node_selector.clone()),
        tolerations: (!placing.tolerations.is_empty()).then(|| placing.tolerations.clone()),
        priority_class_name: placing.priority_class.clone(),
        runtime_class_name: placing.runtime_class.clone(),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        ..PodSpec::default()
    }
}

/// The bot in this place.
fn bot_container(
    settings: &Settings,
    tournament: &PodTournament,
    bot: &PodBot,
    place: usize,
    restart_policy: Option<&str>,
) -> Container {
    let (image, arguments) = match &bot.program {
        PodProgram::BuiltIn => (None, &Vec::new()),
        PodProgram::Image(image) => (Some(image.reference(settings)), &image.arguments),
        // It is handed over by its referee.
        PodProgram::Packed { .. } => (Some(settings.host.image.clone()), &Vec::new()),
    };
    let mut share = settings.share_of(&bot.name);
    // What it may add comes on top of what it begins with.
    if let Some(mib) = tournament.memory_mib {
        share.memory = format!("{}Mi", mib + BEGINS_WITH);
    }
    Container {
        name: names::bot_container(place),
        image,
        args: (!arguments.is_empty()).then(|| arguments.iter().map(|one| escaped(one)).collect()),
        restart_policy: restart_policy.map(str::to_owned),
        resources: Some(resources_of(settings, bot, &share)),
        ..container_of_bot(settings, place)
    }
}

/// What every container has that is a bot, or builds one, in this place.
fn container_of_bot(settings: &Settings, place: usize) -> Container {
    Container {
        image_pull_policy: Some(settings.image_pull_policy.word().to_owned()),
        env: Some(vec![
            variable("BOT_LISTEN", &format!("unix:{}", socket(BOT_SOCKETS))),
            // What its container has in all. Runtimes see the same in their cgroup.
            EnvVar {
                name: "BOT_MEMORY_LIMIT".to_owned(),
                value: None,
                value_from: Some(EnvVarSource {
                    resource_field_ref: Some(ResourceFieldSelector {
                        resource: "limits.memory".to_owned(),
                        ..ResourceFieldSelector::default()
                    }),
                    ..EnvVarSource::default()
                }),
            },
        ]),
        volume_mounts: Some(vec![
            mount(&sockets(place), BOT_SOCKETS),
            mount(&scratch(place), "/tmp"),
        ]),
        security_context: Some(restricted(bot_user(place))),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        ..Container::default()
    }
}

/// Most memory that a bot's process has before it listens, in MiB.
const BEGINS_WITH: u64 = 256;

/// Lets the referee connect to the socket of the bot in this place, whatever the bot's umask: it is
/// the bot's user, and no other container but the referee sees the folder.
fn open_socket(settings: &Settings, place: usize) -> Container {
    Container {
        name: format!("socket-{place}"),
        args: Some(words(&["sockets", &socket(BOT_SOCKETS)])),
        restart_policy: Some("Always".to_owned()),
        volume_mounts: Some(vec![mount(&sockets(place), BOT_SOCKETS)]),
        security_context: Some(restricted(bot_user(place))),
        ..ours(settings, &little("20m", "32Mi"))
    }
}

/// The share of a container that does little.
fn little(cpu: &str, memory: &str) -> Share {
    Share {
        cpu: cpu.to_owned(),
        memory: memory.to_owned(),
        storage: "16Mi".to_owned(),
    }
}

/// The part of the specification that all containers of ours have.
fn ours(settings: &Settings, share: &Share) -> Container {
    Container {
        image: Some(settings.referee_image.clone()),
        image_pull_policy: Some(settings.image_pull_policy.word().to_owned()),
        resources: Some(resources(share)),
        security_context: Some(restricted(OUR_USER)),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        ..Container::default()
    }
}

/// The security context that the Pod Security Standard `restricted` asks for, with a root that
/// can't be written.
fn restricted(user: i64) -> SecurityContext {
    SecurityContext {
        run_as_user: Some(user),
        run_as_group: Some(user),
        run_as_non_root: Some(true),
        read_only_root_filesystem: Some(true),
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities {
            add: None,
            drop: Some(words(&["ALL"])),
        }),
        ..SecurityContext::default()
    }
}

/// Requests are limits.
fn resources(share: &Share) -> ResourceRequirements {
    let amounts = BTreeMap::from([
        ("cpu".to_owned(), Quantity(share.cpu.clone())),
        ("memory".to_owned(), Quantity(share.memory.clone())),
        (
            "ephemeral-storage".to_owned(),
            Quantity(share.storage.clone()),
        ),
    ]);
    ResourceRequirements {
        claims: None,
        limits: Some(amounts.clone()),
        requests: Some(amounts),
    }
}

/// The same with what this bot gets besides.
fn resources_of(settings: &Settings, bot: &PodBot, share: &Share) -> ResourceRequirements {
    let mut all = resources(share);
    let one = settings.bots.get(&bot.name);
    for (name, amount) in one.iter().flat_map(|one| &one.resources) {
        for amounts in [&mut all.limits, &mut all.requests] {
            let amounts = amounts.get_or_insert_default();
            amounts.insert(name.clone(), Quantity(amount.clone()));
        }
    }
    all
}

/// The rules for pods that fail: a failure that is nobody's fault costs no retry, and where a
/// referee is refused no retry is of use.
fn failure_policy() -> PodFailurePolicy {
    PodFailurePolicy {
        rules: vec![
            PodFailurePolicyRule {
                action: "Ignore".to_owned(),
                on_pod_conditions: Some(vec![PodFailurePolicyOnPodConditionsPattern {
                    type_: "DisruptionTarget".to_owned(),
                    status: "True".to_owned(),
                }]),
                on_exit_codes: None,
            },
            PodFailurePolicyRule {
                action: "FailIndex".to_owned(),
                on_pod_conditions: None,
                on_exit_codes: Some(PodFailurePolicyOnExitCodesRequirement {
                    container_name: Some(REFEREE.to_owned()),
                    operator: "In".to_owned(),
                    values: vec![REFUSED],
                }),
            },
        ],
    }
}

fn annotations(tournament: &PodTournament, of: &PodMatch) -> BTreeMap<String, String> {
    let bots: Vec<&str> = of.bots.iter().map(|bot| &*bot.name).collect();
    BTreeMap::from([
        (TOURNAMENT_NAME.to_owned(), tournament.name.clone()),
        (BOTS.to_owned(), bots.join("\n")),
    ])
}

/// The volumes of the bot in this place, which may write so much.
fn bot_volumes(place: usize, storage: &str) -> [Volume; 2] {
    [
        empty(&sockets(place), "1Mi"),
        empty(&scratch(place), storage),
    ]
}

fn empty(name: &str, most: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource {
            medium: None,
            size_limit: Some(Quantity(most.to_owned())),
        }),
        ..Volume::default()
    }
}

fn secret(name: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(name.to_owned()),
            // The group of the pod may read it.
            default_mode: Some(0o440),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn secret_mount(name: &str) -> VolumeMount {
    VolumeMount {
        read_only: Some(true),
        ..mount(name, TLS)
    }
}

fn mount(name: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        ..VolumeMount::default()
    }
}

fn variable(name: &str, value: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        value_from: None,
    }
}

/// The volume of the socket of the bot in this place.
fn sockets(place: usize) -> String {
    format!("sockets-{place}")
}

/// The volume of the other files of the bot in this place.
fn scratch(place: usize) -> String {
    format!("scratch-{place}")
}

/// The folder of a bot's socket, as our containers see it.
fn seen_by_us(place: usize) -> String {
    format!("/run/bots/{place}")
}

/// The socket in such a folder.
fn socket(folder: &str) -> String {
    format!("{folder}/bot.sock")
}

fn bot_user(place: usize) -> i64 {
    FIRST_BOT_USER + place as i64
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Kubernetes puts values for `$(NAME)` in arguments; two dollars mean one.
fn escaped(argument: &str) -> String {
    argument.replace("$(", "$$(")
}
