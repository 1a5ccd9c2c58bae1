//! `arena kubernetes`: tournaments on a Kubernetes cluster. `arena serve --kubernetes` is what has
//! them played; these verbs show what it makes, what is there, and what is wrong.

mod doctor;
mod probe;
mod render;
mod status;

use std::time::Duration;

use arena_kubernetes::{
    ObservedCluster, SeenLimits, Settings, list_all, names, remove_all, tournament_of,
};
use arena_terminal::{
    beside::{ClusterArgs, ClusterCancelArgs, KubernetesCommand, LogsArgs},
    queue, report,
};
use arena_tournament::Definition;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{Api, Client, api::LogParams, core::ObjectMeta};
use referee_cli::{End, usage};
use referee_core::printable_lines;

use crate::pods;

/// Longest time that is waited for Jobs and pods to be gone: a pod is killed 30 s after it was told to
/// end.
const REMOVED_WITHIN: Duration = Duration::from_secs(90);
/// The most bytes of a container's log that are read.
const LONGEST_LOG: i64 = 1024 * 1024;

/// Runs a verb of `arena kubernetes`.
pub(crate) async fn run(command: KubernetesCommand) -> anyhow::Result<End> {
    match command {
        KubernetesCommand::Render(args) => render::render(&args).await,
        KubernetesCommand::Status(args) => status::status(&args).await,
        KubernetesCommand::Logs(args) => logs(&args).await,
        KubernetesCommand::Cancel(args) => cancel(&args).await,
        KubernetesCommand::Doctor(args) => doctor::doctor(&args).await,
        KubernetesCommand::Settings => {
            report::text(DEFAULTS)?;
            Ok(End::Done)
        }
    }
}

/// The settings, with their defaults and what they mean.
const DEFAULTS: &str = include_str!("../../../../deploy/kubernetes/base/kubernetes.toml");

/// The part of a cluster that the verbs look at.
struct Looked {
    client: Client,
    settings: Settings,
    jobs: Vec<Job>,
    pods: Vec<Pod>,
    limits: SeenLimits,
}

fn settings(args: &ClusterArgs) -> anyhow::Result<Settings> {
    pods::settings(args.settings.as_deref())
}

/// Lists what the arena has made.
async fn look(args: &ClusterArgs) -> anyhow::Result<Looked> {
    let settings = settings(args)?;
    let client = pods::client().await?;
    let selector = names::selector(&settings);
    let jobs = Api::namespaced(client.clone(), &settings.namespace);
    let jobs = cluster(list_all(&jobs, &selector).await)?;
    let pods = Api::namespaced(client.clone(), &settings.namespace);
    let pods = cluster(list_all(&pods, &selector).await)?;
    // Whoever may not read them sees the rest all the same.
    let limits = SeenLimits::look(&client, &settings, 1).await;
    Ok(Looked {
        client,
        settings,
        jobs,
        pods,
        limits: limits.unwrap_or_default(),
    })
}

fn cluster<T>(done: Result<T, impl std::fmt::Display>) -> anyhow::Result<T> {
    done.or_else(|error| usage(format!("the cluster: {error}")))
}

impl Looked {
    /// The part of it that is a tournament's.
    fn of(mut self, tournament: &str) -> Self {
        let is_its = |metadata: &ObjectMeta| tournament_of(metadata) == Some(tournament);
        self.jobs.retain(|job| is_its(&job.metadata));
        self.pods.retain(|pod| is_its(&pod.metadata));
        self
    }

    fn observed(&self) -> ObservedCluster {
        ObservedCluster {
            limits: self.limits.clone(),
            ..ObservedCluster::of(&self.jobs, &self.pods)
        }
    }

    fn pods_api(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }
}

/// The names of the bots of an object's match, in order of the lineup.
fn bots(metadata: &ObjectMeta) -> Vec<String> {
    let annotations = metadata.annotations.as_ref();
    let bots = annotations.and_then(|all| all.get(names::BOTS));
    bots.map_or_else(Vec::new, |bots| bots.lines().map(str::to_owned).collect())
}

async fn logs(args: &LogsArgs) -> anyhow::Result<End> {
    let looked = look(&args.cluster).await?.of(&args.name);
    let api = looked.pods_api();
    let mut shown = 0;
    for pod in &looked.pods {
        let Some(seen) = ObservedCluster::of([], [pod]).pods.pop() else {
            continue;
        };
        if args
            .matchup
            .is_some_and(|matchup| matchup != seen.of.matchup)
        {
            continue;
        }
        for container in containers(args, pod) {
            let wanted = LogParams {
                container: Some(container.clone()),
                tail_lines: Some(args.tail.into()),
                limit_bytes: Some(LONGEST_LOG),
                ..LogParams::default()
            };
            report::line(&format!("== {} {container}", seen.name))?;
            shown += 1;
            match api.logs(&seen.name, &wanted).await {
                // A bot writes what it likes, and this goes to a terminal.
                Ok(log) => report::text(&ended(&printable_lines(&log)))?,
                Err(error) => report::line(&format!("(no log: {error})"))?,
            }
        }
    }
    if shown == 0 {
        report::note(&format!(
            "no pod of {} is there: those of Jobs that have ended are kept for an hour at most",
            args.name
        ));
    }
    Ok(End::Done)
}

/// The containers whose logs are wanted.
fn containers(args: &LogsArgs, pod: &Pod) -> Vec<String> {
    let bots = bots(&pod.metadata);
    let spec = pod.spec.iter();
    let containers = spec.flat_map(|spec| {
        let before = spec.init_containers.iter().flatten();
        before.chain(&spec.containers)
    });
    let names = containers.map(|container| container.name.clone());
    names
        .filter(|name| match (&args.bot, names::place_of(name)) {
            (None, Some(_)) => true,
            (None, None) => name == names::REFEREE,
            (Some(bot), Some(place)) => bots.get(place) == Some(bot),
            (Some(_), None) => false,
        })
        .collect()
}

/// With an end to the last line.
fn ended(text: &str) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

async fn cancel(args: &ClusterCancelArgs) -> anyhow::Result<End> {
    match &args.name {
        Some(name) => {
            queue::cancel(&args.store, name).await?;
        }
        None => cancel_all(args).await?,
    }
    // The arena does the same when it sees it; it may not be running.
    let (settings, client) = (settings(&args.cluster)?, pods::client().await?);
    let name = args.name.as_deref();
    let removed = cluster(remove_all(&client, &settings, name, REMOVED_WITHIN).await)?;
    pods::report_removed(&removed);
    Ok(match removed.left.is_empty() {
        true => End::Done,
        false => End::No,
    })
}

/// Cancels all tournaments of a store that are played on Kubernetes.
async fn cancel_all(args: &ClusterCancelArgs) -> anyhow::Result<()> {
    let Some(store) = args.store.open_if_there().await? else {
        report::note("there is no store here: an arena that runs makes Jobs again");
        return Ok(());
    };
    let mut on_kubernetes = Vec::new();
    for queued in store.queue().await? {
        let Some(tournament) = store.tournament(&queued.name).await? else {
            continue;
        };
        // No arena of this version plays those of another one.
        if Definition::of(&tournament).is_ok_and(|definition| definition.kubernetes.is_some()) {
            on_kubernetes.push(queued.name);
        }
    }
    store.close().await;
    for name in on_kubernetes {
        queue::cancel(&args.store, &name).await?;
    }
    Ok(())
}
