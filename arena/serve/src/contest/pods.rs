//! Entries of contests on a Kubernetes cluster: each is built in a pod of its own, which then hosts what
//! was built, so that it is checked there. No program of a contestant runs in the arena's pod.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::Context as _;
use arena_build::FaultKind;
use arena_contest::{BuildFailure, BuildJob, BuiltEntry, CheckJob, EntryFinding, Fault};
use arena_kubernetes::{ArenaPod, Settings, builder_pod, gate_address, list_all, names};
use arena_proto::arena::v1::{
    BotSources, BuildBotReply, BuildBotRequest, BuiltBot, bot_builder_client::BotBuilderClient,
    build_bot_reply, build_bot_request,
};
use arena_terminal::beside::{PodArgs, ServeArgs};
use k8s_openapi::api::core::v1::{ContainerState, Pod};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use parking_lot::Mutex;
use referee::{Address, BotDial, BotPresence, HostedBot, Probe, parts};
use referee_bots::{
    BotAddress, LaunchOptions, PackedSpec,
    archive::{MOST_PACKED_BYTES, hash_archive},
};
use referee_cli::{Hidden, random_bytes, usage};
use referee_core::{Limits, printable, printable_lines, shorten};
use referee_worker::Stop;
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout},
};
use tonic::Status;

use super::Checker;

/// Longest time until a pod that was asked for can be reached: its image may have to be fetched, and
/// a node may have to be added for it.
const THERE_WITHIN: Duration = Duration::from_mins(5);
/// Longest time of a build, on its way and back too.
const BUILT_WITHIN: Duration = Duration::from_mins(4);
/// Longest time until the cluster knows what became of a container that ended.
const KNOWN_WITHIN: Duration = Duration::from_secs(15);
/// Longest time until the host of a bot listens where its builder did.
const HOSTS_WITHIN: Duration = Duration::from_secs(20);
/// Time between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Most bytes of a log that are kept, and most characters of a fault's words.
const LONGEST_LOG: usize = 64 << 10;
const LONGEST_WORDS: usize = 1000;
/// The kinds of bots that come of sources.
const BUILT: [&str; 3] = ["exec:", "stdio:", "strategy:"];

/// The pods in which entries are built and checked, one at a time.
pub(super) struct EntryPods {
    pods: Api<Pod>,
    settings: Settings,
    arena: ArenaPod,
    dial: BotDial,
    runtime: Handle,
    /// The pod of the entry that was built last, by the hash of its archive.
    built: Mutex<Option<(String, EntryPod)>>,
}

/// A pod that is removed when this is dropped.
struct EntryPod {
    name: String,
    address: Address,
    pods: Api<Pod>,
    runtime: Handle,
}

impl Drop for EntryPod {
    fn drop(&mut self) {
        let (pods, name) = (self.pods.clone(), self.name.clone());
        self.runtime.spawn(async move {
            if let Err(error) = pods.delete(&name, &DeleteParams::default()).await {
                tracing::warn!(pod = name, %error, "could not remove the pod of an entry");
            }
        });
    }
}

impl EntryPods {
    pub(super) fn new(
        client: Client,
        settings: Settings,
        args: &ServeArgs,
    ) -> anyhow::Result<Self> {
        let PodArgs { name, uid, ip } = &args.pod;
        let (Some(name), Some(uid), Some(ip)) = (name.clone(), uid.clone(), ip.clone()) else {
            return usage(
                "--contest with --kubernetes: expected the name, the number and the address of the arena's \
                 pod in POD_NAME, POD_UID and POD_IP, as deploy/kubernetes/components/contest has them",
            );
        };
        let dial = args.launch.dial()?;
        if dial.tls.is_none() {
            return usage(
                "--contest with --kubernetes: expected the certificates for the gates of pods: --bots-ca, \
                 --bots-cert and --bots-key (ARENA_BOTS_CA, …), as deploy/kubernetes/components/contest has \
                 them",
            );
        }
        let pods: Api<Pod> = Api::namespaced(client, &settings.namespace);
        let runtime = Handle::current();
        let (purpose, entry) = (names::PURPOSE, names::ENTRY);
        let selector = format!("{},{purpose}={entry}", names::selector(&settings));
        runtime.spawn(remove_old(pods.clone(), selector, uid.clone()));
        Ok(Self {
            pods,
            settings,
            arena: ArenaPod { name, uid, ip },
            dial,
            runtime,
            built: Mutex::default(),
        })
    }

    /// Builds an entry in a pod of its own, which stays for its check. Blocks until then.
    pub(super) fn build(
        &self,
        job: &BuildJob,
        ends: &AtomicBool,
    ) -> Result<BuiltEntry, BuildFailure> {
        // The last one is not needed any more.
        *self.built.lock() = None;
        let told = async {
            while !ends.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(100)).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                built = self.build_in_pod(job) => built,
                () = told => Err(BuildFailure::Ours("it was told to end".to_owned())),
            }
        })
    }

    async fn build_in_pod(&self, job: &BuildJob) -> Result<BuiltEntry, BuildFailure> {
        let pod = self.start(&job.entry).await.map_err(BuildFailure::Ours)?;
        let built = match timeout(BUILT_WITHIN, self.ask(&pod, job)).await {
            Ok(Ok(built)) => built?,
            Ok(Err(status)) => return Err(self.why(&pod, &status).await),
            Err(_) => {
                let why = format!("the pod {} has no reply after {BUILT_WITHIN:?}", pod.name);
                return Err(BuildFailure::Ours(why));
            }
        };
        *self.built.lock() = Some((built.hash.clone(), pod));
        Ok(built)
    }

    /// Makes the pod of an entry and waits until its builder answers.
    async fn start(&self, entry: &str) -> Result<EntryPod, String> {
        let random: [u8; 8] = random_bytes().map_err(|error| error.to_string())?;
        let name = names::entry_pod(u64::from_be_bytes(random));
        let address = gate_address(&self.settings, &name);
        let address: Address = address
            .parse()
            .map_err(|error| format!("{address}: {error}"))?;
        let deadline = Instant::now() + THERE_WITHIN;
        let pod = builder_pod(&self.settings, &self.arena, &name, entry);
        // Other pods may have all that the namespace may have.
        while let Err(error) = self.pods.create(&PostParams::default(), &pod).await {
            // The answer to an earlier request was lost: nobody else has this name.
            if matches!(&error, kube::Error::Api(status) if status.code == 409) {
                break;
            }
            if is_for_good(&error) || Instant::now() >= deadline {
                return Err(format!("could not make the pod {name}: {error}"));
            }
            tracing::info!(pod = name, entry, %error, "the pod of an entry is tried again");
            sleep(LOOK).await;
        }
        let pod = EntryPod {
            name,
            address,
            pods: self.pods.clone(),
            runtime: self.runtime.clone(),
        };
        tracing::info!(pod = pod.name, entry, "an entry is built");
        match self.dial.presence_by(&pod.address, deadline).await {
            BotPresence::Answering => Ok(pod),
            BotPresence::Absent(why) | BotPresence::Silent(why) => {
                let seen = self.pods.get(&pod.name).await;
                let waits = seen.ok().and_then(|seen| waits_for(&seen)).unwrap_or(why);
                let name = &pod.name;
                Err(format!(
                    "the builder in the pod {name} does not answer after {THERE_WITHIN:?}: {waits}"
                ))
            }
        }
    }

    /// Sends sources, and takes what comes of them.
    async fn ask(
        &self,
        pod: &EntryPod,
        job: &BuildJob,
    ) -> Result<Result<BuiltEntry, BuildFailure>, Status> {
        let probe = Probe::connect(&pod.address, &self.dial, HOSTS_WITHIN).await;
        let probe = probe.map_err(|error| Status::unavailable(error.to_string()))?;
        let mut client = BotBuilderClient::new(probe.channel());
        let sources = tokio_stream::iter(requests(job));
        let mut replies = client.build_bot(sources).await?.into_inner();
        let first = replies.message().await?.and_then(|reply| reply.message);
        let bot = match first {
            Some(build_bot_reply::Message::Bot(bot)) => bot,
            Some(build_bot_reply::Message::Fault(fault)) => {
                return Ok(Err(BuildFailure::Theirs {
                    fault: Fault {
                        verdict: shorten(&printable(&fault.verdict), LONGEST_WORDS),
                        words: shorten(&printable(&fault.words), LONGEST_WORDS),
                    },
                    log: log_of(&fault.log),
                }));
            }
            _ => return Err(Status::internal("expected a bot or a fault")),
        };
        let mut packed = Vec::new();
        while let Some(BuildBotReply { message }) = replies.message().await? {
            let Some(build_bot_reply::Message::Part(part)) = message else {
                return Err(Status::internal("expected a part of an archive"));
            };
            if (packed.len() + part.len()) as u64 > MOST_PACKED_BYTES {
                return Err(Status::internal("the archive is too large"));
            }
            packed.extend_from_slice(&part);
        }
        Ok(self.taken(&bot, packed))
    }

    /// A bot as a builder has handed it out. It is looked at as if the builder were the contestant's.
    fn taken(&self, bot: &BuiltBot, packed: Vec<u8>) -> Result<BuiltEntry, BuildFailure> {
        let ours = |why: String| BuildFailure::Ours(format!("what the builder has sent: {why}"));
        let spec = bot.spec.parse::<PackedSpec>();
        let spec = spec.map_err(|error| ours(error.to_string()))?;
        let (hash, size) = hash_archive(&packed).map_err(|error| ours(error.to_string()))?;
        if hash != spec.hash {
            return Err(ours(format!("an archive {hash} for {spec}")));
        }
        if !BUILT.iter().any(|kind| spec.inner.starts_with(kind)) {
            return Err(ours(format!("{spec} does not come of sources")));
        }
        let log = log_of(&bot.log);
        let lacks = |label: &&String| !self.settings.host.has(label);
        if let Some(label) = spec.needs.iter().find(lacks) {
            let words =
                format!("the bot needs {label} to be started, and this arena's pods have none");
            return Err(theirs(FaultKind::NoProgram, words, log));
        }
        Ok(BuiltEntry {
            hash: hash.to_string(),
            size,
            packed,
            spec: spec.to_string(),
            log,
        })
    }

    /// Why a builder has not answered: what the cluster says of its pod, or else the call's error.
    async fn why(&self, pod: &EntryPod, status: &Status) -> BuildFailure {
        let ours = format!("the builder in the pod {}: {status}", pod.name);
        if status.code() == tonic::Code::Internal {
            return BuildFailure::Ours(ours);
        }
        let deadline = Instant::now() + KNOWN_WITHIN;
        loop {
            let seen = self.pods.get(&pod.name).await;
            if let Some(end) = seen.ok().and_then(|seen| BuilderEnd::of(&seen)) {
                return self.fault_of(&end, &ours);
            }
            if Instant::now() >= deadline {
                return BuildFailure::Ours(ours);
            }
            sleep(LOOK).await;
        }
    }

    fn fault_of(&self, end: &BuilderEnd, ours: &str) -> BuildFailure {
        let builder = &self.settings.builder;
        let (kind, words) = match end {
            BuilderEnd::Memory => {
                let most = &builder.memory;
                let words = format!("the build needs more than {most} of memory");
                (FaultKind::MemoryLimit, words)
            }
            BuilderEnd::Storage => {
                let most = &builder.storage;
                let words = format!("the build writes more than {most}");
                (FaultKind::OutputLimit, words)
            }
            BuilderEnd::Other(why) => return BuildFailure::Ours(format!("{ours}: {why}")),
        };
        theirs(kind, words, String::new())
    }

    /// Checks what was built, in the pod that has built it.
    pub(super) async fn check(
        &self,
        checker: &Checker,
        job: CheckJob,
        stop: &Stop,
    ) -> anyhow::Result<Vec<EntryFinding>> {
        let built = self.built.lock().take();
        let (_, pod) = built
            .filter(|(hash, _)| *hash == job.hash)
            .context("the pod that has built it is gone")?;
        let hosted = HostedBot {
            spec: job.spec.clone(),
            archive: job.packed.clone().into(),
        };
        let address = &pod.address;
        let deadline = Instant::now() + HOSTS_WITHIN;
        let found = self.dial.presence_by(address, deadline).await;
        anyhow::ensure!(
            found == BotPresence::Answering,
            "the pod {} waits for no bot: {found:?}",
            pod.name
        );
        let starts_within = Limits::default().start;
        self.dial.hand_over(address, hosted, starts_within).await?;
        let at = BotAddress {
            address: address.clone(),
            user: None,
        };
        let launch = LaunchOptions {
            addresses: [(job.name.clone(), at)].into(),
            dial: self.dial.clone(),
            ..LaunchOptions::new(Hidden::supervisor()?)
        };
        let context = launch.open(std::env::current_dir()?)?;
        checker.check(&context, &job, stop).await
    }
}

/// How a builder's container has ended that should not have.
#[derive(Debug, PartialEq, Eq)]
enum BuilderEnd {
    /// It took more memory than it may have.
    Memory,
    /// It wrote more than it may.
    Storage,
    /// In another way.
    Other(String),
}

impl BuilderEnd {
    /// As the cluster tells it; none as long as it knows of no end.
    fn of(pod: &Pod) -> Option<Self> {
        let status = pod.status.as_ref()?;
        if let Some(reason) = &status.reason {
            let message = status.message.as_deref().unwrap_or_default();
            // "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.",
            // "Usage of EmptyDir volume "scratch-0" exceeds the limit "1Gi"."
            let is_storage = reason == "Evicted" && message.contains(" exceeds the ");
            return Some(match is_storage {
                true => Self::Storage,
                false => Self::Other(format!("{reason}: {message}")),
            });
        }
        let containers = status.container_statuses.iter().flatten();
        let builder = containers
            .into_iter()
            .find(|one| one.name == names::BUILDER)?;
        let ended = |state: &Option<ContainerState>| state.as_ref()?.terminated.clone();
        let ended = ended(&builder.state).or_else(|| ended(&builder.last_state))?;
        let reason = ended.reason.unwrap_or_default();
        Some(match &*reason {
            "OOMKilled" => Self::Memory,
            _ => Self::Other(format!("{reason}, exit code {}", ended.exit_code)),
        })
    }
}

fn theirs(kind: FaultKind, words: String, log: String) -> BuildFailure {
    let verdict = kind.to_string();
    BuildFailure::Theirs {
        fault: Fault { verdict, words },
        log,
    }
}

fn log_of(log: &str) -> String {
    let mut end = log.len().min(LONGEST_LOG);
    while !log.is_char_boundary(end) {
        end -= 1;
    }
    printable_lines(&log[..end])
}

/// True if the same would be answered a moment later too.
fn is_for_good(error: &kube::Error) -> bool {
    // 403: a quota, whose pods may end.
    matches!(error, kube::Error::Api(status) if (400..500).contains(&status.code)
        && ![403, 408, 429].contains(&status.code))
}

/// What a pod waits for that does not run.
fn waits_for(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let containers = status.container_statuses.iter().flatten();
    let states = containers.filter_map(|one| one.state.as_ref()?.waiting.as_ref()?.reason.clone());
    let waiting: Vec<String> = states.collect();
    if !waiting.is_empty() {
        return Some(waiting.join(", "));
    }
    let conditions = status.conditions.iter().flatten();
    let mut failed = conditions.filter(|one| one.type_ == "PodScheduled" && one.status != "True");
    failed.next()?.message.clone()
}

/// An entry as a builder is told of it.
fn requests(job: &BuildJob) -> impl Iterator<Item = BuildBotRequest> + Send + 'static {
    let sources = BotSources {
        file: job.file.clone(),
        game: job.game.clone(),
        most_bytes: job.upload,
    };
    std::iter::once(build_bot_request::Message::Sources(sources))
        .chain(parts(job.bytes.clone().into()).map(build_bot_request::Message::Part))
        .map(|message| BuildBotRequest {
            message: Some(message),
        })
}

/// Removes the pods that this arena had before it was started again in its pod.
async fn remove_old(pods: Api<Pod>, selector: String, uid: String) {
    let found = match list_all(&pods, &selector).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "could not list the pods of entries");
            return;
        }
    };
    for pod in found {
        let mut owners = pod.metadata.owner_references.iter().flatten();
        if let (true, Some(name)) = (owners.any(|owner| owner.uid == uid), &pod.metadata.name) {
            let _ = pods.delete(name, &DeleteParams::default()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(status: &serde_json::Value) -> Pod {
        serde_json::from_value(serde_json::json!({ "metadata": {}, "status": status })).unwrap()
    }

    #[test]
    fn what_the_cluster_says_of_a_builder_names_the_fault() {
        let container = |name: &str, reason: &str| {
            let ended = serde_json::json!({"terminated": {"exitCode": 137, "reason": reason}});
            let running = serde_json::json!({"running": {}});
            serde_json::json!({
                "name": name, "state": running, "lastState": ended, "ready": true,
                "restartCount": 1, "image": "x", "imageID": "x",
            })
        };
        let statuses = |one| pod(&serde_json::json!({ "containerStatuses": [one] }));
        let evicted = |message: &str| {
            pod(&serde_json::json!({"phase": "Failed", "reason": "Evicted", "message": message}))
        };
        // The messages are those of the kubelet (pkg/kubelet/eviction/eviction_manager.go).
        let volume = "Usage of EmptyDir volume \"scratch-0\" exceeds the limit \"1Gi\". ";
        let pressure = "The node was low on resource: memory. ";
        for (pod, expected) in [
            (
                statuses(container("builder", "OOMKilled")),
                Some(BuilderEnd::Memory),
            ),
            (
                statuses(container("builder", "Error")),
                Some(BuilderEnd::Other("Error, exit code 137".to_owned())),
            ),
            (statuses(container("gate", "OOMKilled")), None),
            (evicted(volume), Some(BuilderEnd::Storage)),
            (
                evicted(pressure),
                Some(BuilderEnd::Other(format!("Evicted: {pressure}"))),
            ),
            (pod(&serde_json::json!({"phase": "Running"})), None),
        ] {
            assert_eq!(BuilderEnd::of(&pod), expected);
        }
    }
}
