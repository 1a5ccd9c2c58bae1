//! Jobs and pods as the cluster keeps them, and as its API tells them.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use k8s_openapi::{
    api::{
        batch::v1::{Job as TypedJob, JobSpec},
        core::v1::{Container, Pod as TypedPod, PodSpec},
    },
    jiff::Timestamp,
};

/// The time at which a simulation begins, in seconds since 1970.
pub(crate) const BEGIN: i64 = 1_800_000_000;
/// The namespace that everything is in.
pub(crate) const NAMESPACE: &str = "bot-arena";

/// Milliseconds since the beginning of the simulation.
pub(crate) type Moment = u64;

/// The kinds of objects that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Job,
    Pod,
}

/// The metadata that all objects have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    pub(crate) name: String,
    pub(crate) uid: u64,
    pub(crate) revision: u64,
    pub(crate) created: Moment,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    /// The time at which it is to be gone, where it is being deleted.
    pub(crate) deleted: Option<Moment>,
    pub(crate) owner: Option<Owner>,
}

/// The owner of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) uid: u64,
}

/// A container as its pod wants it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) image: String,
    pub(crate) is_init: bool,
    /// It goes on beside the others.
    pub(crate) is_sidecar: bool,
}

/// The template that pods are made from.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) containers: Vec<Wanted>,
    /// The match that a referee is told to play.
    pub(crate) matchup: Option<u32>,
    pub(crate) games: u64,
    /// The places whose bots have pods of their own.
    pub(crate) dials: Vec<usize>,
    pub(crate) restarts: bool,
    /// What all its containers may use of cores, and the one that may use most, in thousandths.
    pub(crate) cpu: (u64, u64),
}

/// The state of an index of a Job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) done: bool,
    pub(crate) failed: bool,
    pub(crate) failures: u32,
    pub(crate) not_before: Moment,
    pub(crate) pod: Option<String>,
    /// The Job controller itself has deleted the pod: it does not count.
    pub(crate) released: bool,
    /// A pod that failed, and is kept until its replacement is there.
    pub(crate) kept: Option<String>,
}

/// The reason for which a Job that is being deleted is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finalizer {
    /// Its pods have to go first.
    Foreground,
    /// Somebody's, who needs so long.
    Until(Moment),
}

/// A Job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) meta: Meta,
    pub(crate) spec: JobSpec,
    pub(crate) template: Arc<Template>,
    pub(crate) suspend: bool,
    /// True if somebody else than the arena's apply has set that.
    pub(crate) suspend_is_others: bool,
    pub(crate) parallelism: i32,
    pub(crate) parallelism_is_others: bool,
    /// The time before which no pod is made, after one could not be, and how often that was.
    pub(crate) makes_again: (Moment, u32),
    /// The time at which its queue lets it go.
    pub(crate) admitted: Option<Moment>,
    pub(crate) finalizer: Option<Finalizer>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) active: u32,
    pub(crate) failed: u32,
    pub(crate) pods: Vec<String>,
    /// Complete or not, when, and why.
    pub(crate) ended: Option<(bool, Moment, String)>,
    pub(crate) dirty: bool,
}

/// The state of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Waiting(&'static str, String),
    Running,
    Ended(i32, String),
}

/// A container.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) doing: Doing,
    pub(crate) restarts: u32,
}

/// The stage of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No node has it.
    New,
    /// Its images are pulled.
    Placed,
    /// Some of its containers can't start.
    Stuck,
    Up,
    Ended {
        well: bool,
    },
}

/// A pod.
#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) meta: Meta,
    pub(crate) template: Arc<Template>,
    /// The job controller has not counted it.
    pub(crate) finalizer: bool,
    pub(crate) stage: Stage,
    /// The time at which it goes on.
    pub(crate) at: Moment,
    pub(crate) node: Option<usize>,
    pub(crate) ip: Option<String>,
    pub(crate) unschedulable: bool,
    pub(crate) disrupted: bool,
    pub(crate) containers: Vec<Status>,
    /// The time at which it reacts to being told to end.
    pub(crate) reacts: Option<Moment>,
    pub(crate) ended: Option<Moment>,
    pub(crate) exit_code: i32,
    pub(crate) dirty: bool,
}

impl Template {
    pub(crate) fn of(labels: BTreeMap<String, String>, spec: &PodSpec) -> Self {
        let wanted = |container: &Container, is_init: bool| Wanted {
            name: container.name.clone(),
            image: container.image.clone().unwrap_or_default(),
            is_init,
            is_sidecar: is_init && container.restart_policy.as_deref() == Some("Always"),
        };
        let init = spec.init_containers.iter().flatten();
        let containers = init.map(|container| wanted(container, true));
        let containers = containers.chain(spec.containers.iter().map(|one| wanted(one, false)));
        let arguments = spec
            .containers
            .iter()
            .flat_map(|one| one.args.iter().flatten());
        let arguments: Vec<&str> = arguments.map(String::as_str).collect();
        let value = |name: &str| {
            let mut values = arguments.iter().filter_map(|one| one.strip_prefix(name));
            values.next()
        };
        Self {
            labels,
            containers: containers.collect(),
            matchup: value("--match=").and_then(|number| number.parse().ok()),
            games: value("--games=")
                .and_then(|games| games.parse().ok())
                .unwrap_or(1),
            dials: arguments.iter().filter_map(|one| dialled(one)).collect(),
            restarts: spec.restart_policy.as_deref() != Some("Never"),
            cpu: cpu(spec),
        }
    }
}

/// What all containers of a pod may use of cores, and the one that may use most, in thousandths.
fn cpu(spec: &PodSpec) -> (u64, u64) {
    let containers = spec
        .init_containers
        .iter()
        .flatten()
        .chain(&spec.containers);
    let limits = containers.filter_map(|one| {
        let limits = one.resources.as_ref()?.limits.as_ref()?;
        let cpu = &limits.get("cpu")?.0;
        match cpu.strip_suffix('m') {
            Some(thousandths) => thousandths.parse().ok(),
            None => cpu.parse::<u64>().ok().map(|cores| 1000 * cores),
        }
    });
    limits.fold((0, 0), |(sum, most), one| (sum + one, most.max(one)))
}

/// The place of the bot that `--bot-at=NAME=grpcs://POD-bPLACE.bots.…` means.
fn dialled(argument: &str) -> Option<usize> {
    let (_, address) = argument
        .strip_prefix("--bot-at=")?
        .split_once("=grpcs://")?;
    let host = address.split_once('.')?.0;
    host.rsplit_once("-b")?.1.parse().ok()
}

impl Job {
    pub(crate) fn is_live(&self) -> bool {
        self.meta.deleted.is_none() && self.ended.is_none()
    }

    pub(crate) fn new(meta: Meta, typed: TypedJob) -> Option<Self> {
        let spec = typed.spec?;
        let labels = spec.template.metadata.as_ref()?.labels.clone()?;
        let template = Template::of(labels, spec.template.spec.as_ref()?);
        let completions = usize::try_from(spec.completions?).ok()?;
        Some(Self {
            meta,
            template: Arc::new(template),
            suspend: spec.suspend.unwrap_or_default(),
            suspend_is_others: false,
            parallelism: spec.parallelism.unwrap_or(1),
            parallelism_is_others: false,
            makes_again: (0, 0),
            admitted: None,
            finalizer: None,
            indexes: vec![Index::default(); completions],
            active: 0,
            failed: 0,
            pods: Vec::new(),
            ended: None,
            dirty: true,
            spec,
        })
    }

    pub(crate) fn json(&self) -> String {
        let mut text = String::with_capacity(1024);
        text.push_str("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",");
        let finalizers: &[&str] = match self.finalizer {
            None => &[],
            Some(Finalizer::Foreground) => &["foregroundDeletion"],
            Some(Finalizer::Until(_)) => &["example.com/slow"],
        };
        self.meta.write(&mut text, finalizers);
        let done = self.indexes.iter().filter(|index| index.done).count();
        let _ = write!(
            text,
            ",\"spec\":{{\"completionMode\":\"Indexed\",\"completions\":{},\"suspend\":{},\
             \"parallelism\":{},\"template\":{{}}}},\"status\":{{\"active\":{},\"succeeded\":{done},\"failed\":{}",
            self.indexes.len(),
            self.suspend,
            self.parallelism,
            self.active,
            self.failed,
        );
        if let Some((is_complete, at, why)) = &self.ended {
            let _ = write!(
                text,
                ",\"conditions\":[{{\"type\":\"{}\",\"status\":\"True\",\
                 \"lastTransitionTime\":\"{}\",\"message\":{}}}]",
                if *is_complete { "Complete" } else { "Failed" },
                time(*at),
                quoted(why),
            );
        } else if self.suspend {
            text.push_str(",\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\"}]");
        }
        text.push_str("}}");
        text
    }
}

impl Pod {
    pub(crate) fn new(meta: Meta, template: Arc<Template>, finalizer: bool) -> Self {
        let containers = template.containers.iter().map(|_| Status {
            doing: Doing::Waiting("PodInitializing", String::new()),
            restarts: 0,
        });
        Self {
            meta,
            finalizer,
            stage: Stage::New,
            at: 0,
            node: None,
            ip: None,
            unschedulable: false,
            disrupted: false,
            containers: containers.collect(),
            reacts: None,
            ended: None,
            exit_code: 0,
            dirty: true,
            template,
        }
    }

    /// A pod that is applied.
    pub(crate) fn applied(mut meta: Meta, typed: &TypedPod) -> Option<Self> {
        let owners = typed.metadata.owner_references.iter().flatten();
        meta.owner = owners.into_iter().next().map(|owner| Owner {
            kind: if owner.kind == "Job" {
                Kind::Job
            } else {
                Kind::Pod
            },
            name: owner.name.clone(),
            uid: owner
                .uid
                .strip_prefix("uid-")
                .and_then(|uid| uid.parse().ok())
                .unwrap_or(0),
        });
        let template = Template::of(meta.labels.clone(), typed.spec.as_ref()?);
        Some(Self::new(meta, Arc::new(template), false))
    }

    pub(crate) const fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. })
    }

    pub(crate) fn is_referee(&self) -> bool {
        self.template.matchup.is_some()
    }

    pub(crate) fn json(&self) -> String {
        let mut text = String::with_capacity(2048);
        text.push_str("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",");
        let finalizers: &[&str] = match self.finalizer {
            true => &["batch.kubernetes.io/job-tracking"],
            false => &[],
        };
        self.meta.write(&mut text, finalizers);
        let phase = match self.stage {
            Stage::New | Stage::Placed | Stage::Stuck => "Pending",
            Stage::Up => "Running",
            Stage::Ended { well: true } => "Succeeded",
            Stage::Ended { well: false } => "Failed",
        };
        text.push_str(",\"spec\":{\"containers\":[]");
        if let Some(node) = self.node {
            let _ = write!(text, ",\"nodeName\":\"node-{node}\"");
        }
        let _ = write!(text, "}},\"status\":{{\"phase\":\"{phase}\"");
        if let Some(ip) = &self.ip {
            let _ = write!(text, ",\"podIP\":\"{ip}\"");
        }
        text.push_str(",\"conditions\":[");
        let mut comma = "";
        if self.unschedulable {
            text.push_str(
                "{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\
                 \"message\":\"0/3 nodes are available: 3 Insufficient cpu.\"}",
            );
            comma = ",";
        } else if self.node.is_some() {
            text.push_str("{\"type\":\"PodScheduled\",\"status\":\"True\"}");
            comma = ",";
        }
        if self.disrupted {
            let _ = write!(
                text,
                "{comma}{{\"type\":\"DisruptionTarget\",\"status\":\"True\"}}"
            );
        }
        text.push(']');
        if self.node.is_some() {
            for (field, is_init) in [
                ("initContainerStatuses", true),
                ("containerStatuses", false),
            ] {
                let _ = write!(text, ",\"{field}\":[");
                let mut comma = "";
                for (wanted, status) in self.template.containers.iter().zip(&self.containers) {
                    if wanted.is_init == is_init {
                        text.push_str(comma);
                        status.write(&mut text, wanted);
                        comma = ",";
                    }
                }
                text.push(']');
            }
        }
        text.push_str("}}");
        text
    }
}

impl Status {
    fn write(&self, text: &mut String, wanted: &Wanted) {
        let _ = write!(
            text,
            "{{\"name\":\"{}\",\"image\":\"{}\",\"imageID\":\"\",\"ready\":{},\
             \"restartCount\":{},\"state\":",
            wanted.name,
            wanted.image,
            self.doing == Doing::Running,
            self.restarts,
        );
        let _ = match &self.doing {
            Doing::Waiting(reason, message) if message.is_empty() => {
                write!(text, "{{\"waiting\":{{\"reason\":\"{reason}\"}}}}")
            }
            Doing::Waiting(reason, message) => write!(
                text,
                "{{\"waiting\":{{\"reason\":\"{reason}\",\"message\":{}}}}}",
                quoted(message)
            ),
            Doing::Running => write!(text, "{{\"running\":{{}}}}"),
            Doing::Ended(code, message) => write!(
                text,
                "{{\"terminated\":{{\"exitCode\":{code},\"message\":{}}}}}",
                quoted(message)
            ),
        };
        if self.restarts > 0 {
            text.push_str(
                ",\"lastState\":{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\"}}",
            );
        }
        text.push('}');
    }
}

impl Meta {
    fn write(&self, text: &mut String, finalizers: &[&str]) {
        let _ = write!(
            text,
            "\"metadata\":{{\"name\":\"{}\",\"namespace\":\"{NAMESPACE}\",\"uid\":\"uid-{}\",\
             \"resourceVersion\":\"{}\",\"creationTimestamp\":\"{}\",\"labels\":{{",
            self.name,
            self.uid,
            self.revision,
            time(self.created),
        );
        let mut comma = "";
        for (label, value) in &self.labels {
            let _ = write!(text, "{comma}\"{label}\":\"{value}\"");
            comma = ",";
        }
        text.push('}');
        if !self.annotations.is_empty() {
            text.push_str(",\"annotations\":{");
            let mut comma = "";
            for (name, value) in &self.annotations {
                let _ = write!(text, "{comma}\"{name}\":{}", quoted(value));
                comma = ",";
            }
            text.push('}');
        }
        if let Some(owner) = &self.owner {
            let (version, kind) = match owner.kind {
                Kind::Job => ("batch/v1", "Job"),
                Kind::Pod => ("v1", "Pod"),
            };
            let _ = write!(
                text,
                ",\"ownerReferences\":[{{\"apiVersion\":\"{version}\",\"kind\":\"{kind}\",\
                 \"name\":\"{}\",\"uid\":\"uid-{}\",\"controller\":true}}]",
                owner.name, owner.uid
            );
        }
        if let Some(deleted) = self.deleted {
            let _ = write!(text, ",\"deletionTimestamp\":\"{}\"", time(deleted));
        }
        if let [finalizer] = finalizers {
            let _ = write!(text, ",\"finalizers\":[\"{finalizer}\"]");
        }
        text.push('}');
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(crate) fn time(moment: Moment) -> String {
    let second = BEGIN + (moment / 1000) as i64;
    Timestamp::from_second(second).map_or_else(|_| String::new(), |time| time.to_string())
}
