//! The removal of everything that has been made for games, as before a namespace is deleted: there
//! no pod can be made any more, and the Job controller would keep each pod that failed until it is
//! replaced.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PropagationPolicy},
    core::ObjectMeta,
};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::{ControllerError, ObservedCluster, SeenJob, Settings, names};

/// Number of objects that a cluster is asked for at once.
const PAGE: u32 = 500;
/// Time between two looks at what is left.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// The objects of games that have been removed, and those that are left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of Jobs.
    pub jobs: usize,
    /// Number of pods.
    pub pods: usize,
    /// The Jobs and pods that are still there, with what keeps them.
    pub left: Vec<String>,
}

/// Removes the Jobs and pods of one tournament, or of all, and waits until they are gone. Jobs are
/// suspended first, so that referees can give back what they have.
///
/// # Errors
///
/// The cluster can't be reached, or we may not do there what we must.
pub async fn remove_all(
    client: &Client,
    settings: &Settings,
    tournament: Option<&str>,
    within: Duration,
) -> Result<Removed, ControllerError> {
    let begin = Instant::now();
    let jobs: Api<Job> = Api::namespaced(client.clone(), &settings.namespace);
    let pods: Api<Pod> = Api::namespaced(client.clone(), &settings.namespace);
    let mut seen = (BTreeSet::new(), BTreeSet::new());
    loop {
        let pass = async {
            let found = look(&jobs, &pods, settings, tournament).await?;
            // Pods that do not end hold nothing up for long.
            remove(&jobs, &pods, &found, begin.elapsed() > within / 3).await?;
            Ok::<_, kube::Error>(found)
        };
        let found = match pass.await {
            Ok(found) => Some(found),
            Err(error) if begin.elapsed() < within && is_passing(&error) => None,
            Err(error) => {
                return Err(ControllerError::Cluster {
                    what: "could not remove the Jobs and pods of games",
                    error,
                });
            }
        };
        if let Some((jobs, pods)) = found {
            let name = |meta: &ObjectMeta| meta.name.clone().unwrap_or_default();
            seen.0.extend(jobs.iter().map(|job| name(&job.metadata)));
            seen.1.extend(pods.iter().map(|pod| name(&pod.metadata)));
            if (jobs.is_empty() && pods.is_empty()) || begin.elapsed() >= within {
                let jobs = jobs.iter().map(|job| left("Job", &job.metadata));
                let pods = pods.iter().map(|pod| left("pod", &pod.metadata));
                return Ok(Removed {
                    jobs: seen.0.len() - jobs.len(),
                    pods: seen.1.len() - pods.len(),
                    left: jobs.chain(pods).collect(),
                });
            }
        }
        tokio::time::sleep(LOOKS_EVERY).await;
    }
}

/// Everything of a kind that a selector selects.
///
/// # Errors
///
/// The cluster does not answer, or refuses.
pub async fn list_all<K>(api: &Api<K>, selector: &str) -> Result<Vec<K>, kube::Error>
where
    K: Clone + std::fmt::Debug + DeserializeOwned,
{
    let mut found = Vec::new();
    let mut page = ListParams::default().labels(selector).limit(PAGE);
    loop {
        let list = api.list(&page).await?;
        found.extend(list.items);
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(found),
        }
    }
}

/// The name of the tournament that an object is of.
#[must_use]
pub fn tournament_of(meta: &ObjectMeta) -> Option<&str> {
    let annotations = meta.annotations.as_ref()?;
    annotations.get(names::TOURNAMENT_NAME).map(String::as_str)
}

async fn look(
    jobs: &Api<Job>,
    pods: &Api<Pod>,
    settings: &Settings,
    tournament: Option<&str>,
) -> Result<(Vec<Job>, Vec<Pod>), kube::Error> {
    let selector = names::selector(settings);
    let is_meant =
        |meta: &ObjectMeta| tournament.is_none_or(|name| tournament_of(meta) == Some(name));
    let mut found = (
        list_all(jobs, &selector).await?,
        list_all(pods, &selector).await?,
    );
    found.0.retain(|job| is_meant(&job.metadata));
    found.1.retain(|pod| is_meant(&pod.metadata));
    Ok(found)
}

/// Does what can be done now: suspends Jobs, removes those that have no pods that run, and removes
/// the pods of Jobs that are gone.
async fn remove(
    jobs: &Api<Job>,
    pods: &Api<Pod>,
    (found_jobs, found_pods): &(Vec<Job>, Vec<Pod>),
    at_once: bool,
) -> Result<(), kube::Error> {
    let background = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Background),
        ..DeleteParams::default()
    };
    let seen = ObservedCluster::of(found_jobs, found_pods);
    // A queue lets a Job that it has let in go on.
    let labels = found_jobs
        .iter()
        .filter_map(|job| job.metadata.labels.as_ref());
    let at_once = at_once
        || labels
            .into_iter()
            .any(|labels| labels.contains_key(names::QUEUE));
    for SeenJob {
        name,
        suspended,
        active,
        ended,
        leaving,
        ..
    } in &seen.jobs
    {
        if *leaving {
            continue;
        }
        if at_once || ended.is_some() || (*suspended && *active == 0) {
            gone_is_fine(jobs.delete(name, &background).await.map(drop))?;
        } else if !suspended {
            set(jobs, name, serde_json::json!({ "suspend": true })).await?;
        }
    }
    for pod in found_pods {
        let Some(name) = &pod.metadata.name else {
            continue;
        };
        let of = ObservedCluster::of([], [pod]).pods.pop().map(|pod| pod.of);
        let has_job = seen.jobs.iter().any(|job| Some(&job.of) == of.as_ref());
        if pod.metadata.deletion_timestamp.is_none() && !has_job {
            gone_is_fine(pods.delete(name, &background).await.map(drop))?;
        }
    }
    Ok(())
}

/// Sets fields of the specification of a Job, if it is there.
pub(crate) async fn set(
    jobs: &Api<Job>,
    name: &str,
    spec: serde_json::Value,
) -> Result<(), kube::Error> {
    let patch = Patch::Merge(serde_json::json!({ "spec": spec }));
    let patched = jobs.patch(name, &PatchParams::default(), &patch).await;
    gone_is_fine(patched.map(drop))
}

/// Takes "not found" for success: an object that is not there need not be removed.
pub(crate) fn gone_is_fine(done: Result<(), kube::Error>) -> Result<(), kube::Error> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        done => done,
    }
}

/// True if the same may be answered otherwise a moment later.
fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code >= 500 || [409, 410, 429].contains(&status.code),
        kube::Error::Auth(_) => false,
        _ => true,
    }
}

/// An object that is left, with what keeps it.
fn left(kind: &str, meta: &ObjectMeta) -> String {
    let name = meta.name.as_deref().unwrap_or_default();
    match meta.finalizers.as_deref().unwrap_or_default() {
        [] => format!("{kind} {name}"),
        finalizers => format!("{kind} {name} (finalizers: {})", finalizers.join(", ")),
    }
}
