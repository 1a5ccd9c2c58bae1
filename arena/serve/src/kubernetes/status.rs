//! `arena kubernetes status`: what of a tournament is in the cluster.

use std::collections::BTreeMap;

use arena_kubernetes::{ObservedCluster, SeenJob, SeenPod};
use arena_terminal::{beside::ClusterStatusArgs, report};
use referee_cli::End;

use super::{Looked, bots, look};

pub(crate) async fn status(args: &ClusterStatusArgs) -> anyhow::Result<End> {
    let looked = look(&args.cluster).await?.of(&args.name);
    let observed = looked.observed();
    if observed.jobs.is_empty() {
        report::note(&format!(
            "{} has no Jobs in the namespace {}: it is over, paused, or not begun; `arena \
             tournament status {}` shows its results",
            args.name, looked.settings.namespace, args.name
        ));
        return Ok(End::Done);
    }
    let rows: Vec<[String; 5]> = rows(&looked, &observed);
    report::plain_table(&["match", "bots", "chunks", "pods", "state"], rows)?;
    for trouble in troubles(&looked, &observed) {
        report::warning(&trouble.words);
    }
    Ok(End::Done)
}

fn rows(looked: &Looked, observed: &ObservedCluster) -> Vec<[String; 5]> {
    let mut jobs: Vec<&SeenJob> = observed.jobs.iter().collect();
    jobs.sort_by(|one, other| one.of.cmp(&other.of));
    let names: BTreeMap<&str, Vec<String>> = (looked.jobs.iter())
        .filter_map(|job| Some((job.metadata.name.as_deref()?, bots(&job.metadata))))
        .collect();
    let row = |job: &&SeenJob| {
        let state = match &job.ended {
            _ if job.leaving => "is removed".to_owned(),
            Some(ended) if ended.complete => "done".to_owned(),
            Some(ended) => format!("failed: {}", ended.why),
            None if job.suspended => "suspended, or in its queue".to_owned(),
            None => "is played".to_owned(),
        };
        [
            job.of.matchup.to_string(),
            names
                .get(&*job.name)
                .map_or_else(String::new, |bots| bots.join(", ")),
            format!("{} of {}", job.succeeded, job.completions),
            job.active.to_string(),
            state,
        ]
    };
    jobs.iter().map(row).collect()
}

/// An obstacle to pods.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Trouble {
    pub(super) words: String,
    /// True if it passes when others end.
    pub(super) is_full: bool,
}

/// Obstacles to pods.
pub(super) fn troubles(looked: &Looked, observed: &ObservedCluster) -> Vec<Trouble> {
    let bots_of: BTreeMap<&str, Vec<String>> = (looked.pods.iter())
        .filter_map(|pod| Some((pod.metadata.name.as_deref()?, bots(&pod.metadata))))
        .collect();
    let mut troubles: Vec<Trouble> = Vec::new();
    let mut add = |is_full: bool, words: String| troubles.push(Trouble { words, is_full });
    for job in &observed.jobs {
        if let Some(why) = observed.refusal(job) {
            let is_full = why.contains("ResourceQuota");
            add(is_full, format!("a pod of the Job {} {why}", job.name));
        }
    }
    for pod in observed.pods.iter().filter(|pod| !pod.is_over()) {
        if let Some(why) = &pod.unschedulable {
            let words = format!("no node takes the pod {}: {why}", pod.name);
            add(pod.waits_for_room(), words);
        }
        for (container, why) in &pod.stuck {
            add(false, format!("{}: {why}", who(container, pod, &bots_of)));
        }
    }
    for pod in &observed.pods {
        if let Some(said) = &pod.said {
            add(false, format!("the referee of {} failed: {said}", pod.name));
        }
    }
    troubles.sort();
    troubles.dedup();
    troubles
}

/// The owner of the container, by the bot's name where it is a bot's, and its trouble.
fn who(container: &str, pod: &SeenPod, bots_of: &BTreeMap<&str, Vec<String>>) -> String {
    let bot = arena_kubernetes::names::place_of(container)
        .and_then(|place| bots_of.get(&*pod.name)?.get(place));
    match bot {
        Some(bot) => format!("{bot} can't be started"),
        None => format!("{container} of {} can't start", pod.name),
    }
}
