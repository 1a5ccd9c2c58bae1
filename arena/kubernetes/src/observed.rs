//! The objects of the cluster, as far as they matter: Jobs and pods as they are listed, reduced.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{ContainerStatus, Event, Pod, PodStatus, ResourceQuota},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use crate::{
    SeenQuota, Settings,
    names::{self, BOT, GENERATION, MATCH, PLACE, ROLE, TOURNAMENT, TOURNAMENT_NAME},
    quota,
};

/// The cluster as it is observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedCluster {
    /// The Jobs.
    pub jobs: Vec<SeenJob>,
    /// The pods.
    pub pods: Vec<SeenPod>,
    /// The limits of the namespace.
    pub limits: SeenLimits,
}

/// The limits of the namespace, as they were when they were last looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLimits {
    /// The number of that look; 0 if nobody has looked.
    pub look: u64,
    /// The quotas that count the pods of games.
    pub quotas: Vec<SeenQuota>,
    /// The last reason for which the pods of a Job could not be made, by the Job's name, and when
    /// that was, in seconds since 1970.
    pub refusals: BTreeMap<String, (i64, String)>,
}

/// The match that an object is of, with its tournament and its Job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Of {
    /// The tournament.
    pub key: String,
    /// The match.
    pub matchup: u32,
    /// The number of its Job among those of the match.
    pub generation: u32,
}

/// A Job.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenJob {
    /// Its name.
    pub name: String,
    /// Its match.
    pub of: Of,
    /// The name of the tournament.
    pub tournament: String,
    /// The time at which it was made, in seconds since 1970.
    pub since: i64,
    /// True if it is suspended.
    pub suspended: bool,
    /// True if it is being removed.
    pub leaving: bool,
    /// Its end, if it has ended.
    pub ended: Option<JobEnd>,
    /// Number of its pods that run or are about to.
    pub active: i32,
    /// Number of its indexes that are done.
    pub succeeded: i32,
    /// Number of its indexes.
    pub completions: i32,
    /// Most pods that it has at once.
    pub parallelism: i32,
}

/// The end of a Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnd {
    /// True if all its indexes are done.
    pub complete: bool,
    /// The time of the end, in seconds since 1970.
    pub at: i64,
    /// The reason, where it failed.
    pub why: String,
}

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenPod {
    /// Its name.
    pub name: String,
    /// Its number in the cluster.
    pub uid: String,
    /// Its match.
    pub of: Of,
    /// The role of the pod: a referee's or a bot's.
    pub role: Role,
    /// The time at which it was made, in seconds since 1970.
    pub since: i64,
    /// True if it is being removed.
    pub leaving: bool,
    /// The phase of its life.
    pub phase: PodPhase,
    /// Its address.
    pub ip: Option<String>,
    /// The Job and the index that it is of.
    pub job: Option<(String, String)>,
    /// True if a node has been found for it.
    pub placed: bool,
    /// Reason why no node takes it, where that is so.
    pub unschedulable: Option<String>,
    /// Containers that can't start: their name, and why.
    pub stuck: Vec<(String, String)>,
    /// Containers that run or have run.
    pub ran: Vec<String>,
    /// The last message of the referee, with its exit code, where it failed.
    pub said: Option<String>,
}

/// The role of a pod: whose pod it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A referee's, with bots beside it perhaps.
    Referee,
    /// That of the bot in this place, which plays with the referee in the pod of this name.
    Bot {
        /// The place in the lineup.
        place: usize,
        /// The name of the referee's pod.
        referee: String,
    },
}

/// The phase of the life of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodPhase {
    /// It has not begun.
    Pending,
    /// It runs.
    Running,
    /// It has ended well.
    Succeeded,
    /// It has failed, or nobody knows.
    Failed,
}

/// Reasons for which a container waits and will not start by itself soon.
const STUCK: &[&str] = &[
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

impl ObservedCluster {
    /// Reduces what is listed. What has not our labels is left out.
    pub fn of<'a>(
        jobs: impl IntoIterator<Item = &'a Job>,
        pods: impl IntoIterator<Item = &'a Pod>,
    ) -> Self {
        let mut jobs: Vec<SeenJob> = jobs.into_iter().filter_map(SeenJob::of).collect();
        let mut pods: Vec<SeenPod> = pods.into_iter().filter_map(SeenPod::of).collect();
        // So that the same is done and told, whatever order they come in.
        jobs.sort_by(|one, other| (&one.of, &one.name).cmp(&(&other.of, &other.name)));
        pods.sort_by(|one, other| (&one.of, &one.name).cmp(&(&other.of, &other.name)));
        Self {
            jobs,
            pods,
            limits: SeenLimits::default(),
        }
    }

    /// The reason for which a pod of this Job could not be made, as words that follow its name, if
    /// none has been made since.
    #[must_use]
    pub fn refusal(&self, job: &SeenJob) -> Option<String> {
        let (at, why) = self.limits.refusals.get(&job.name)?;
        let mut pods = self.pods.iter().filter(|pod| pod.of == job.of);
        let is_passed = pods.any(|pod| pod.role == Role::Referee && pod.since > *at);
        let goes_on = job.ended.is_none() && !job.leaving && !job.suspended;
        (goes_on && !is_passed && job.active == 0 && job.parallelism > 0)
            .then(|| quota::refusal(why))
    }
}

impl SeenLimits {
    /// Reduces what is listed.
    #[must_use]
    pub fn of(
        look: u64,
        settings: &Settings,
        quotas: &[ResourceQuota],
        mut events: Vec<Event>,
    ) -> Self {
        let time = |event: &Event| {
            let last = event.last_timestamp.as_ref().map(|time| time.0);
            let last = last.or_else(|| event.event_time.as_ref().map(|time| time.0));
            last.map_or(0, |time| time.as_second())
        };
        events.sort_by_key(time);
        let refusals = events.into_iter().filter_map(|event| {
            let at = time(&event);
            let of = event.involved_object;
            let is_refusal = of.kind.as_deref() == Some("Job")
                && event.reason.as_deref() == Some(quota::FAILED_CREATE);
            is_refusal.then_some((of.name?, (at, event.message?)))
        });
        Self {
            look,
            quotas: (quotas.iter())
                .filter_map(|quota| SeenQuota::of(quota, settings))
                .collect(),
            // Of several the last one.
            refusals: refusals.collect(),
        }
    }
}

impl Of {
    fn read(labels: &BTreeMap<String, String>) -> Option<Self> {
        Some(Self {
            key: labels.get(TOURNAMENT)?.clone(),
            matchup: labels.get(MATCH)?.parse().ok()?,
            generation: labels.get(GENERATION)?.parse().ok()?,
        })
    }
}

impl SeenJob {
    fn of(job: &Job) -> Option<Self> {
        let spec = job.spec.as_ref()?;
        let status = job.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_ref());
        let ended = conditions.into_iter().flatten().find(|condition| {
            condition.status == "True" && ["Complete", "Failed"].contains(&&*condition.type_)
        });
        Some(Self {
            name: job.metadata.name.clone()?,
            of: Of::read(job.metadata.labels.as_ref()?)?,
            tournament: (job.metadata.annotations.as_ref())
                .and_then(|annotations| annotations.get(TOURNAMENT_NAME).cloned())
                .unwrap_or_default(),
            since: made(&job.metadata),
            suspended: spec.suspend.unwrap_or_default(),
            leaving: job.metadata.deletion_timestamp.is_some(),
            ended: ended.map(|condition| JobEnd {
                complete: condition.type_ == "Complete",
                at: (condition.last_transition_time.as_ref())
                    .map_or_else(|| made(&job.metadata), |time| time.0.as_second()),
                why: condition.message.clone().unwrap_or_default(),
            }),
            active: status.and_then(|status| status.active).unwrap_or_default(),
            succeeded: status
                .and_then(|status| status.succeeded)
                .unwrap_or_default(),
            completions: spec.completions.unwrap_or_default(),
            parallelism: spec.parallelism.unwrap_or(1),
        })
    }
}

impl SeenPod {
    fn of(pod: &Pod) -> Option<Self> {
        let name = pod.metadata.name.clone()?;
        let labels = pod.metadata.labels.as_ref()?;
        let nothing = PodStatus::default();
        let status = pod.status.as_ref().unwrap_or(&nothing);
        let role = match &**labels.get(ROLE)? {
            names::REFEREE => Role::Referee,
            BOT => {
                let place = labels.get(PLACE)?.parse().ok()?;
                let referee = name.strip_suffix(&names::bot_pod("", place))?.to_owned();
                Role::Bot { place, referee }
            }
            _ => return None,
        };
        let job = labels.get("batch.kubernetes.io/job-name").cloned();
        let index = labels
            .get("batch.kubernetes.io/job-completion-index")
            .cloned();
        let unschedulable = status.conditions.iter().flatten().find(|condition| {
            condition.type_ == "PodScheduled"
                && condition.status == "False"
                && condition.reason.as_deref() == Some("Unschedulable")
        });
        let containers = status.init_container_statuses.iter().flatten();
        let containers: Vec<&ContainerStatus> = containers
            .chain(status.container_statuses.iter().flatten())
            .collect();
        Some(Self {
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            of: Of::read(labels)?,
            role,
            since: made(&pod.metadata),
            leaving: pod.metadata.deletion_timestamp.is_some(),
            phase: match status.phase.as_deref() {
                None | Some("Pending") => PodPhase::Pending,
                Some("Running") => PodPhase::Running,
                Some("Succeeded") => PodPhase::Succeeded,
                Some(_) => PodPhase::Failed,
            },
            ip: status.pod_ip.clone().filter(|ip| !ip.is_empty()),
            job: job.zip(index),
            placed: (pod.spec.as_ref()).is_some_and(|spec| spec.node_name.is_some()),
            unschedulable: unschedulable.map(|condition| {
                let why = condition.message.clone();
                why.unwrap_or_else(|| "no node has room for it".to_owned())
            }),
            stuck: containers.iter().copied().filter_map(stuck).collect(),
            ran: (containers.iter())
                .filter(|container| has_run(container))
                .map(|container| container.name.clone())
                .collect(),
            said: containers.iter().copied().find_map(said),
            name,
        })
    }

    /// True if nodes that it may run on have no room for it now.
    #[must_use]
    pub fn waits_for_room(&self) -> bool {
        let why = self.unschedulable.as_deref().unwrap_or_default();
        why.contains("Insufficient ") || why.contains("Too many pods")
    }

    /// True if it has ended, or is about to.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.leaving || matches!(self.phase, PodPhase::Succeeded | PodPhase::Failed)
    }
}

fn made(metadata: &ObjectMeta) -> i64 {
    let made = metadata.creation_timestamp.as_ref();
    made.map_or(0, |time| time.0.as_second())
}

/// The name of a container that can't start, and the reason.
fn stuck(container: &ContainerStatus) -> Option<(String, String)> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.as_deref()?;
    if !STUCK.contains(&reason) {
        return None;
    }
    let why = match &waiting.message {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    };
    Some((container.name.clone(), why))
}

fn has_run(container: &ContainerStatus) -> bool {
    let has_begun = |state: Option<&k8s_openapi::api::core::v1::ContainerState>| {
        state.is_some_and(|state| state.running.is_some() || state.terminated.is_some())
    };
    has_begun(container.state.as_ref()) || has_begun(container.last_state.as_ref())
}

/// The last message of the referee, with its exit code, where it failed.
fn said(container: &ContainerStatus) -> Option<String> {
    if container.name != names::REFEREE {
        return None;
    }
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    (ended.exit_code != 0).then(|| {
        let said = ended.message.clone().unwrap_or_default();
        format!("exit code {}: {}", ended.exit_code, said.trim())
    })
}
