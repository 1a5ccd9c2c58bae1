//! `arena kubernetes`: tournaments on a Kubernetes cluster. `arena serve --kubernetes` is what has
//! them played; these verbs show what it makes, what is there, and what is wrong.

mod doctor;
mod render;
mod status;

use arena_kubernetes::{ObservedCluster, SeenJob, SeenPod, Settings, names};
use arena_terminal::{
    beside::{ClusterArgs, ClusterCancelArgs, KubernetesCommand, LogsArgs},
    queue, report,
};
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, LogParams, PropagationPolicy},
};
use referee_cli::{End, usage};
use referee_core::printable_lines;

use crate::pods;

/// Number of objects that a cluster is asked for at once.
const PAGE: u32 = 500;
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
}

fn settings(args: &ClusterArgs) -> anyhow::Result<Settings> {
    pods::settings(args.settings.as_deref())
}

/// Lists what the arena has made.
async fn look(args: &ClusterArgs) -> anyhow::Result<Looked> {
    let settings = settings(args)?;
    let client = pods::client().await?;
    let selector = names::selector(&settings);
    let jobs = all(
        Api::namespaced(client.clone(), &settings.namespace),
        &selector,
    )
    .await?;
    let pods = all(
        Api::namespaced(client.clone(), &settings.namespace),
        &selector,
    )
    .await?;
    Ok(Looked {
        client,
        settings,
        jobs,
        pods,
    })
}

/// Everything of a kind that a selector selects.
async fn all<K>(api: Api<K>, selector: &str) -> anyhow::Result<Vec<K>>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let mut found = Vec::new();
    let mut page = ListParams::default().labels(selector).limit(PAGE);
    loop {
        let list = match api.list(&page).await {
            Ok(list) => list,
            Err(error) => return usage(format!("the cluster: {error}")),
        };
        found.extend(list.items);
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(found),
        }
    }
}

impl Looked {
    /// The part of it that is a tournament's.
    fn of(mut self, tournament: &str) -> Self {
        let is_its = |metadata: &kube::core::ObjectMeta| {
            let annotations = metadata.annotations.as_ref();
            let name = annotations.and_then(|all| all.get(names::TOURNAMENT_NAME));
            name.is_some_and(|name| name == tournament)
        };
        self.jobs.retain(|job| is_its(&job.metadata));
        self.pods.retain(|pod| is_its(&pod.metadata));
        self
    }

    fn observed(&self) -> ObservedCluster {
        ObservedCluster::of(&self.jobs, &self.pods)
    }

    fn pods_api(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }
}

/// The names of the bots of an object's match, in order of the lineup.
fn bots(metadata: &kube::core::ObjectMeta) -> Vec<String> {
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
    let ended = queue::cancel(&args.store, &args.name).await?;
    // The arena does the same when it sees it; it may not be running.
    let looked = look(&args.cluster).await?.of(&args.name);
    let jobs: Api<Job> = Api::namespaced(looked.client.clone(), &looked.settings.namespace);
    let background = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Background),
        ..DeleteParams::default()
    };
    let ObservedCluster { jobs: seen, pods } = looked.observed();
    for SeenJob { name, .. } in &seen {
        removed(jobs.delete(name, &background).await.map(drop))?;
    }
    for SeenPod { name, .. } in &pods {
        removed(looked.pods_api().delete(name, &background).await.map(drop))?;
    }
    report::line(&format!(
        "{} and {} are removed",
        report::plural(seen.len() as u64, "Job"),
        report::plural(pods.len() as u64, "pod")
    ))?;
    Ok(ended)
}

/// Ignores the error that an object is gone: it need not be removed.
fn removed(done: Result<(), kube::Error>) -> anyhow::Result<()> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => usage(format!("the cluster: {error}")),
        Ok(()) => Ok(()),
    }
}
