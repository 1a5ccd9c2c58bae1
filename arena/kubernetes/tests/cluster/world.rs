//! The cluster: its objects, what its API does with them, and who watches. Its own behaviour is in
//! `job_controller.rs` and `kubelet.rs`. It moves on when it is told what time it is.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt, io,
};

use bytes::Bytes;
use k8s_openapi::api::{batch::v1::Job as TypedJob, core::v1::Pod as TypedPod};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    chance::Chance,
    objects::{Finalizer, Job, Kind, Meta, Moment, NAMESPACE, Pod, Template, time},
    referee::Play,
};

/// So many events are kept for watches that begin at an earlier revision.
const HISTORY: usize = 4000;

/// Number of times that each thing has happened.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// The size and the behaviour of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Number of pods that each node has room for.
    pub(crate) nodes: Vec<u32>,
    /// The ResourceQuota of the namespace.
    pub(crate) quota: Option<Quota>,
    /// The most that a LimitRange lets a container use of cores, in thousandths.
    pub(crate) most_cpu: Option<u64>,
    /// Nobody may list quotas and events.
    pub(crate) hides_limits: bool,
    /// Adds nodes.
    pub(crate) autoscaler: Option<Autoscaler>,
    /// Longest time that containers take to start.
    pub(crate) slowest_start: Moment,
    /// The time that a chunk takes, at least and at most.
    pub(crate) play: (Moment, Moment),
    /// Rates of a pod's failures of each kind, in 1,000.
    pub(crate) rates: Rates,
    /// A match whose pods are refused for good.
    pub(crate) refused: Option<u32>,
    /// Most objects that a list gives at once, whatever was asked for.
    pub(crate) page: usize,
    /// The defect that it has on purpose.
    pub(crate) defect: Defect,
}

/// A ResourceQuota called `games`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) pods: u64,
    /// The most that all pods may use of cores, in thousandths.
    pub(crate) cpu: u64,
    /// Number of pods that others have.
    pub(crate) others: u64,
}

impl Quota {
    /// A quota of this many pods, and of nothing else.
    pub(crate) const fn of_pods(pods: u64) -> Self {
        Self {
            pods,
            cpu: u32::MAX as u64,
            others: 0,
        }
    }
}

/// Adds nodes where pods have found none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Autoscaler {
    /// Number of pods that a node has room for.
    pub(crate) room: u32,
    /// The most nodes.
    pub(crate) most: usize,
    /// The time that a node takes.
    pub(crate) takes: Moment,
}

/// Rates of pods' failures of each kind, in 1,000.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) crash: u64,
    pub(crate) refused: u64,
    pub(crate) tempfail: u64,
    pub(crate) late: u64,
    pub(crate) long: u64,
    pub(crate) oom: u64,
}

/// A defect on purpose, to show that the checks can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Defect {
    #[default]
    None,
    /// Whoever makes a Job makes two.
    AppliesTwice,
    /// The arena has a Job more than it may.
    OneJobMore,
    /// Pods report another result.
    AltersResults,
    /// Pods that are deleted stay.
    KeepsPods,
    /// No answer ever comes to who makes something.
    LosesEveryAnswer,
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) room: u32,
    pub(crate) used: u32,
    /// Since when nobody has heard of it.
    pub(crate) gone: Option<Moment>,
}

impl Node {
    pub(crate) const fn new(room: u32) -> Self {
        Self {
            room,
            used: 0,
            gone: None,
        }
    }
}

struct Event {
    kind: Kind,
    revision: u64,
    line: Bytes,
    labels: BTreeMap<String, String>,
}

/// The reason for which nothing is made in a namespace that is being deleted.
const TERMINATING: &str = "is forbidden: unable to create new content in namespace bot-arena \
                           because it is being terminated";

/// The data that a watch is sent.
pub(crate) type Sent = Result<Bytes, io::Error>;

struct Watcher {
    kind: Kind,
    selector: Vec<(String, String)>,
    bookmarks: bool,
    until: Moment,
    stalled: Moment,
    backlog: Vec<Bytes>,
    to: mpsc::UnboundedSender<Sent>,
}

/// An answer of the API: the status code and a body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: String,
}

/// The cluster.
pub(crate) struct World {
    pub(crate) shape: Shape,
    pub(crate) chance: Chance,
    pub(crate) now: Moment,
    revision: u64,
    uids: u64,
    pub(crate) jobs: BTreeMap<String, Job>,
    pub(crate) pods: BTreeMap<String, Pod>,
    /// The pods of referees that play, by name.
    pub(crate) plays: BTreeMap<String, Play>,
    pub(crate) nodes: Vec<Node>,
    /// When nodes are added, and how many.
    pub(crate) nodes_at: Option<(Moment, u32)>,
    /// The last reason for which the pods of a Job could not be made, and when, by the Job's name.
    pub(crate) failures: BTreeMap<String, (String, Moment)>,
    /// The namespace is being deleted.
    pub(crate) terminating: bool,
    pub(crate) bad_images: BTreeSet<String>,
    history: VecDeque<Event>,
    /// Events up to here are forgotten.
    compacted: u64,
    watchers: Vec<Watcher>,
    pub(crate) counts: Counts,
    /// The rule that is broken, if one is.
    pub(crate) broken: Option<String>,
    trace: Option<Vec<String>>,
    next_bookmark: Moment,
    /// The Jobs that were made for each match.
    pub(crate) made: BTreeMap<String, u32>,
}

impl World {
    pub(crate) fn new(shape: Shape, chance: Chance, traced: bool) -> Self {
        Self {
            nodes: shape.nodes.iter().map(|room| Node::new(*room)).collect(),
            nodes_at: None,
            failures: BTreeMap::new(),
            terminating: false,
            shape,
            chance,
            now: 0,
            revision: 100,
            uids: 0,
            jobs: BTreeMap::new(),
            pods: BTreeMap::new(),
            plays: BTreeMap::new(),
            bad_images: BTreeSet::new(),
            history: VecDeque::new(),
            compacted: 0,
            watchers: Vec::new(),
            counts: Counts::new(),
            broken: None,
            trace: traced.then(Vec::new),
            next_bookmark: 0,
            made: BTreeMap::new(),
        }
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(crate) fn tell(&mut self, what: fmt::Arguments<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>9.3} {what}", self.now as f64 / 1000.0));
        }
    }

    pub(crate) fn trace(&self) -> String {
        self.trace
            .as_ref()
            .map_or_else(String::new, |trace| trace.join("\n"))
    }

    pub(crate) fn breaks(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    /// The Jobs and pods, one a line.
    pub(crate) fn what_is_there(&self) -> String {
        let jobs = self.jobs.values().map(|job| {
            let Job {
                meta,
                suspend,
                active,
                finalizer,
                ended,
                ..
            } = job;
            format!(
                "\n{}: deleted {:?}, suspended {suspend}, active {active}, {finalizer:?}, ended \
                 {ended:?}",
                meta.name, meta.deleted
            )
        });
        let pods = self.pods.values().map(|pod| {
            let deleted = pod.meta.deleted;
            format!("\n{}: {:?}, deleted {deleted:?}", pod.meta.name, pod.stage)
        });
        jobs.chain(pods.take(20)).collect()
    }

    pub(crate) const fn uid(&mut self) -> u64 {
        self.uids += 1;
        self.uids
    }

    const fn next_revision(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    /// Tells watchers what has changed, once an object.
    pub(crate) fn publish_changes(&mut self) {
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in jobs.values_mut().filter(|job| job.dirty) {
            job.dirty = false;
            let before = job.meta.revision;
            job.meta.revision = self.next_revision();
            let word = if before == 0 { "ADDED" } else { "MODIFIED" };
            self.publish(Kind::Job, word, &job.meta, &job.json());
        }
        self.jobs = jobs;
        let mut pods = std::mem::take(&mut self.pods);
        for pod in pods.values_mut().filter(|pod| pod.dirty) {
            pod.dirty = false;
            let before = pod.meta.revision;
            pod.meta.revision = self.next_revision();
            let word = if before == 0 { "ADDED" } else { "MODIFIED" };
            self.publish(Kind::Pod, word, &pod.meta, &pod.json());
        }
        self.pods = pods;
    }

    fn publish(&mut self, kind: Kind, word: &str, meta: &Meta, object: &str) {
        let line = Bytes::from(format!("{{\"type\":\"{word}\",\"object\":{object}}}\n"));
        if self.trace.is_some() {
            self.tell(format_args!(
                "{word} {kind:?} {} at {}",
                meta.name, meta.revision
            ));
        }
        let now = self.now;
        for watcher in &mut self.watchers {
            if watcher.kind == kind && selects(&watcher.selector, &meta.labels) {
                watcher.send(now, line.clone());
            }
        }
        self.history.push_back(Event {
            kind,
            revision: meta.revision,
            line,
            labels: meta.labels.clone(),
        });
        if self.history.len() > HISTORY {
            let first = self.history.pop_front();
            self.compacted = first.map_or(self.compacted, |event| event.revision);
        }
    }

    /// Publishes that an object has been removed.
    fn publish_removed(&mut self, kind: Kind, meta: &Meta, object: impl FnOnce(u64) -> String) {
        // Nobody has seen it.
        if meta.revision == 0 {
            return;
        }
        let revision = self.next_revision();
        let meta = Meta {
            revision,
            ..meta.clone()
        };
        self.publish(kind, "DELETED", &meta, &object(revision));
    }

    /// A pod is gone, and with it what it owns.
    pub(crate) fn remove_pod(&mut self, name: &str) {
        let Some(mut pod) = self.pods.remove(name) else {
            return;
        };
        self.plays.remove(name);
        if !pod.has_ended()
            && let Some(node) = pod.node
        {
            self.nodes[node].used -= 1;
        }
        let meta = pod.meta.clone();
        self.publish_removed(Kind::Pod, &meta, |revision| {
            pod.meta.revision = revision;
            pod.json()
        });
        let owned: Vec<String> = (self.pods.range(name.to_owned()..))
            .take_while(|(other, _)| other.starts_with(name))
            .filter(|(_, other)| {
                let owner = other.meta.owner.as_ref();
                owner.is_some_and(|owner| owner.uid == meta.uid)
            })
            .map(|(other, _)| other.clone())
            .collect();
        for other in owned {
            self.delete_pod(&other, 30_000);
        }
    }

    /// A pod is to go, within this time.
    pub(crate) fn delete_pod(&mut self, name: &str, grace: Moment) {
        let now = self.now;
        let Some(pod) = self.pods.get_mut(name) else {
            return;
        };
        let until = now + grace;
        if pod.meta.deleted.is_none_or(|before| until < before) {
            pod.meta.deleted = Some(until);
            pod.dirty = true;
        }
        let is_done = pod.has_ended() || pod.node.is_none() || grace == 0;
        if is_done && !pod.finalizer && self.shape.defect != Defect::KeepsPods {
            self.remove_pod(name);
        }
    }

    /// A Job is gone, and its pods follow.
    pub(crate) fn remove_job(&mut self, name: &str) {
        let Some(mut job) = self.jobs.remove(name) else {
            return;
        };
        self.failures.remove(name);
        let meta = job.meta.clone();
        for pod in &job.pods {
            if let Some(pod) = self.pods.get_mut(pod) {
                pod.finalizer = false;
            }
            self.delete_pod(pod, 30_000);
        }
        self.publish_removed(Kind::Job, &meta, |revision| {
            job.meta.revision = revision;
            job.json()
        });
    }

    /// A Job is to go.
    pub(crate) fn delete_job(&mut self, name: &str, foreground: bool) {
        let now = self.now;
        let slow = self
            .chance
            .permille(100)
            .then(|| now + self.chance.between(500, 15_000));
        let Some(job) = self.jobs.get_mut(name) else {
            return;
        };
        if job.meta.deleted.is_some() {
            return;
        }
        job.finalizer = match foreground {
            true => Some(Finalizer::Foreground),
            false => slow.map(Finalizer::Until),
        };
        if job.finalizer.is_none() {
            self.remove_job(name);
            return;
        }
        job.meta.deleted = Some(now);
        job.dirty = true;
        if foreground {
            for pod in job.pods.clone() {
                self.delete_pod(&pod, 30_000);
            }
        }
    }

    /// Takes a request that has come to the API server.
    pub(crate) fn list(
        &self,
        kind: Kind,
        selector: &[(String, String)],
        limit: usize,
        from: Option<&str>,
    ) -> Answer {
        let (revision, after) = match from.and_then(|from| from.split_once(' ')) {
            None => (self.revision, ""),
            Some((revision, after)) => {
                let revision = revision.parse().unwrap_or(0);
                if revision < self.compacted {
                    return refusal(410, "Expired", "the continue token is too old");
                }
                (revision, after)
            }
        };
        let most = limit.min(self.shape.page);
        let mut items: Vec<(&str, String)> = match kind {
            Kind::Job => (self.jobs.values())
                .filter(|job| &*job.meta.name > after && selects(selector, &job.meta.labels))
                .take(most + 1)
                .map(|job| (&*job.meta.name, job.json()))
                .collect(),
            Kind::Pod => (self.pods.values())
                .filter(|pod| &*pod.meta.name > after && selects(selector, &pod.meta.labels))
                .take(most + 1)
                .map(|pod| (&*pod.meta.name, pod.json()))
                .collect(),
        };
        let mut metadata = json!({ "resourceVersion": revision.to_string() });
        if items.len() > most {
            items.truncate(most);
            if let Some((last, _)) = items.last() {
                metadata["continue"] = Value::from(format!("{revision} {last}"));
            }
        }
        let items: Vec<String> = items.into_iter().map(|(_, item)| item).collect();
        let (kind, version) = match kind {
            Kind::Job => ("JobList", "batch/v1"),
            Kind::Pod => ("PodList", "v1"),
        };
        Answer {
            code: 200,
            body: format!(
                "{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",\"metadata\":{metadata},\
                 \"items\":[{}]}}",
                items.join(",")
            ),
        }
    }

    /// Begins a watch; or says why not.
    pub(crate) fn watch(
        &mut self,
        kind: Kind,
        selector: Vec<(String, String)>,
        from: u64,
        seconds: u64,
        bookmarks: bool,
    ) -> Result<mpsc::UnboundedReceiver<Sent>, Answer> {
        let (to, receiver) = mpsc::unbounded_channel();
        if from < self.compacted {
            self.count("410");
            // Both are seen: as an answer and as an event.
            if self.chance.permille(300) {
                return Err(refusal(410, "Expired", "too old resource version"));
            }
            let _ = to.send(Ok(expired()));
            return Ok(receiver);
        }
        let mut watcher = Watcher {
            kind,
            selector,
            bookmarks,
            until: self.now + 1000 * seconds,
            stalled: 0,
            backlog: Vec::new(),
            to,
        };
        for event in &self.history {
            if event.revision > from
                && event.kind == kind
                && selects(&watcher.selector, &event.labels)
            {
                watcher.send(self.now, event.line.clone());
            }
        }
        self.watchers.push(watcher);
        Ok(receiver)
    }

    /// Ends watches whose time is up, and tells the others which revision it is.
    pub(crate) fn tend_watches(&mut self) {
        let (now, revision) = (self.now, self.revision);
        let bookmark = now >= self.next_bookmark;
        if bookmark {
            self.next_bookmark = now + 60_000;
        }
        self.watchers.retain_mut(|watcher| {
            watcher.flush(now);
            if bookmark && watcher.bookmarks && watcher.stalled <= now {
                let (kind, version) = match watcher.kind {
                    Kind::Job => ("Job", "batch/v1"),
                    Kind::Pod => ("Pod", "v1"),
                };
                let object = json!({
                    "kind": kind, "apiVersion": version,
                    "metadata": { "resourceVersion": revision.to_string() },
                    "spec": { "template": {}, "containers": [] },
                });
                let line = json!({ "type": "BOOKMARK", "object": object });
                watcher.send(now, Bytes::from(format!("{line}\n")));
            }
            now < watcher.until && !watcher.to.is_closed()
        });
    }

    /// Forgets the history; those who watch are told so, or not even that.
    pub(crate) fn expire_watches(&mut self) {
        self.compacted = self.revision;
        self.history.clear();
        let tells = self.chance.permille(500);
        for watcher in self.watchers.drain(..) {
            if tells {
                let _ = watcher.to.send(Ok(expired()));
            }
        }
    }

    /// Watches break, in the middle of an event perhaps.
    pub(crate) fn break_watches(&mut self) {
        for watcher in self.watchers.drain(..) {
            let how = self.chance.below(3);
            if how == 0 {
                let _ = watcher
                    .to
                    .send(Ok(Bytes::from_static(b"{\"type\":\"MODIFIED\",\"obj")));
            }
            if how < 2 {
                let _ = watcher
                    .to
                    .send(Err(io::Error::from(io::ErrorKind::ConnectionReset)));
            }
        }
    }

    /// Watches tell nothing for so long.
    pub(crate) fn stall_watches(&mut self, until: Moment) {
        for watcher in &mut self.watchers {
            watcher.stalled = until;
        }
    }

    pub(crate) fn get(&self, kind: Kind, name: &str) -> Answer {
        let body = match kind {
            Kind::Job => self.jobs.get(name).map(Job::json),
            Kind::Pod => self.pods.get(name).map(Pod::json),
        };
        body.map_or_else(|| not_found(name), |body| Answer { code: 200, body })
    }

    /// Server-side apply.
    pub(crate) fn apply(&mut self, kind: Kind, name: &str, body: &[u8]) -> Answer {
        match kind {
            Kind::Job => self.apply_job(name, body),
            Kind::Pod => self.apply_pod(name, body),
        }
    }

    fn apply_job(&mut self, name: &str, body: &[u8]) -> Answer {
        let typed: TypedJob = match serde_json::from_slice(body) {
            Ok(typed) => typed,
            Err(error) => return refusal(400, "BadRequest", &error.to_string()),
        };
        if typed.metadata.name.as_deref() != Some(name) {
            return refusal(400, "BadRequest", "the name of the object is another one");
        }
        let name = name.to_owned();
        let again = format!("{name}-again");
        if self.shape.defect == Defect::AppliesTwice
            && !self.jobs.contains_key(&name)
            && !name.ends_with("-again")
        {
            let quoted = |name: &str| format!("\"{name}\"");
            let body = String::from_utf8_lossy(body).replacen(&quoted(&name), &quoted(&again), 1);
            self.apply_job(&again, body.as_bytes());
        }
        if let Some(job) = self.jobs.get_mut(&name) {
            let Some(spec) = typed.spec else {
                return refusal(422, "Invalid", "spec: required");
            };
            let is_same = spec.template == job.spec.template
                && spec.completions == job.spec.completions
                && spec.pod_failure_policy == job.spec.pod_failure_policy;
            if !is_same {
                self.count("422");
                return refusal(422, "Invalid", "spec.template: field is immutable");
            }
            let parallelism = spec.parallelism.unwrap_or(1);
            if parallelism != job.parallelism {
                if job.parallelism_is_others {
                    self.count("conflict of managers");
                    return refusal(
                        409,
                        "Conflict",
                        "conflict with \"unknown\": .spec.parallelism",
                    );
                }
                job.parallelism = parallelism;
                job.dirty = true;
            }
            let suspend = spec.suspend.unwrap_or_default();
            if suspend != job.suspend {
                if job.suspend_is_others {
                    self.count("conflict of managers");
                    return refusal(409, "Conflict", "conflict with \"unknown\": .spec.suspend");
                }
                job.suspend = suspend;
                job.dirty = true;
            }
            let body = job.json();
            self.publish_changes();
            return Answer { code: 200, body };
        }
        if self.terminating {
            return refusal(
                403,
                "Forbidden",
                &format!("jobs.batch \"{name}\" {TERMINATING}"),
            );
        }
        let mut meta = self.meta(&name, typed.metadata.labels.clone().unwrap_or_default());
        meta.annotations = typed.metadata.annotations.clone().unwrap_or_default();
        let has_queue = meta.labels.contains_key("kueue.x-k8s.io/queue-name");
        let Some(mut job) = Job::new(meta, typed) else {
            return refusal(422, "Invalid", "spec: required");
        };
        if has_queue {
            job.admitted = Some(self.now + self.chance.between(500, 8000));
        }
        self.count("Jobs made");
        let of = |label: &str| job.meta.labels.get(label).cloned().unwrap_or_default();
        let matchup = format!("{}/{}", of("bot-arena/tournament"), of("bot-arena/match"));
        *self.made.entry(matchup).or_default() += 1;
        self.jobs.insert(name.clone(), job);
        self.publish_changes();
        self.created(Kind::Job, &name)
    }

    fn apply_pod(&mut self, name: &str, body: &[u8]) -> Answer {
        let typed: TypedPod = match serde_json::from_slice(body) {
            Ok(typed) => typed,
            Err(error) => return refusal(400, "BadRequest", &error.to_string()),
        };
        if typed.metadata.name.as_deref() != Some(name) {
            return refusal(400, "BadRequest", "the name of the object is another one");
        }
        if self.pods.contains_key(name) {
            return self.get(Kind::Pod, name);
        }
        let meta = self.meta(name, typed.metadata.labels.clone().unwrap_or_default());
        let Some(pod) = Pod::applied(meta, &typed) else {
            return refusal(422, "Invalid", "spec: required");
        };
        if let Err(why) = self.admit_pod(name, &pod.template) {
            return refusal(403, "Forbidden", &why);
        }
        self.count("pods of bots made");
        self.pods.insert(name.to_owned(), pod);
        self.publish_changes();
        self.created(Kind::Pod, name)
    }

    fn created(&self, kind: Kind, name: &str) -> Answer {
        Answer {
            code: 201,
            ..self.get(kind, name)
        }
    }

    pub(crate) fn meta(&mut self, name: &str, labels: BTreeMap<String, String>) -> Meta {
        Meta {
            name: name.to_owned(),
            uid: self.uid(),
            revision: 0,
            created: self.now,
            labels,
            annotations: BTreeMap::new(),
            deleted: None,
            owner: None,
        }
    }

    /// Number of pods that the quota counts, and what they may use of cores.
    fn used(&self, quota: &Quota) -> (u64, u64) {
        let running = self.pods.values().filter(|pod| !pod.has_ended());
        running.fold((quota.others, 0), |(pods, cpu), pod| {
            (pods + 1, cpu + pod.template.cpu.0)
        })
    }

    /// The reason for which a pod may not be made, if it may not.
    pub(crate) fn admit_pod(&mut self, name: &str, template: &Template) -> Result<(), String> {
        if self.terminating {
            return Err(format!("pods \"{name}\" {TERMINATING}"));
        }
        let (cpu, largest) = template.cpu;
        if let Some(most) = self.shape.most_cpu.filter(|most| largest > *most) {
            self.count("limit of a container");
            return Err(format!(
                "pods \"{name}\" is forbidden: maximum cpu usage per Container is {most}m, but \
                 limit is {largest}m"
            ));
        }
        let Some(quota) = self.shape.quota else {
            return Ok(());
        };
        let (pods, cores) = self.used(&quota);
        if pods < quota.pods && cores + cpu <= quota.cpu {
            return Ok(());
        }
        self.count("quota reached");
        Err(format!(
            "pods \"{name}\" is forbidden: exceeded quota: games, requested: \
             limits.cpu={cpu}m,pods=1, used: limits.cpu={cores}m,pods={pods}, limited: \
             limits.cpu={}m,pods={}",
            quota.cpu, quota.pods
        ))
    }

    /// The quotas of the namespace.
    pub(crate) fn quotas(&self) -> Answer {
        if self.shape.hides_limits {
            return refusal(403, "Forbidden", "resourcequotas is forbidden");
        }
        let quotas = self.shape.quota.iter().map(|quota| {
            let (pods, cores) = self.used(quota);
            let amounts = |cores: u64, pods: u64| {
                json!({ "limits.cpu": format!("{cores}m"), "pods": pods.to_string() })
            };
            let hard = amounts(quota.cpu, quota.pods);
            json!({
                "metadata": { "name": "games" },
                "spec": { "hard": hard },
                "status": { "hard": hard, "used": amounts(cores, pods) },
            })
        });
        list("ResourceQuotaList", &quotas.collect::<Vec<_>>())
    }

    /// The events of the namespace: Jobs whose pods could not be made.
    pub(crate) fn events(&self) -> Answer {
        if self.shape.hides_limits {
            return refusal(403, "Forbidden", "events is forbidden");
        }
        let events = self.failures.iter().map(|(job, (message, at))| {
            json!({
                "metadata": { "name": format!("{job}.1") },
                "involvedObject": { "kind": "Job", "name": job },
                "reason": "FailedCreate",
                "message": message,
                "lastTimestamp": time(*at),
            })
        });
        list("EventList", &events.collect::<Vec<_>>())
    }

    /// The namespace is deleted: everything in it is, and nothing is made any more.
    pub(crate) fn delete_namespace(&mut self) {
        self.terminating = true;
        for name in self.pods.keys().cloned().collect::<Vec<_>>() {
            self.delete_pod(&name, 30_000);
        }
    }

    /// A merge patch: of whether a Job is suspended, and of how many pods it has at once.
    pub(crate) fn merge(&mut self, kind: Kind, name: &str, body: &[u8]) -> Answer {
        let patch: Value = serde_json::from_slice(body).unwrap_or_default();
        let suspend = patch.pointer("/spec/suspend").and_then(Value::as_bool);
        let parallelism = patch.pointer("/spec/parallelism").and_then(Value::as_i64);
        if suspend.is_none() && parallelism.is_none() {
            return refusal(
                400,
                "BadRequest",
                "only spec.suspend and spec.parallelism are known here",
            );
        }
        let Some(job) = self.jobs.get_mut(name).filter(|_| kind == Kind::Job) else {
            return not_found(name);
        };
        if let Some(suspend) = suspend.filter(|suspend| job.suspend != *suspend) {
            job.suspend = suspend;
            job.suspend_is_others = true;
            job.dirty = true;
            // Its queue has let it in, and lets it go on.
            if job.admitted.is_some() {
                job.admitted = Some(self.now);
            }
        }
        if let Some(parallelism) = parallelism {
            job.parallelism = i32::try_from(parallelism).unwrap_or(i32::MAX);
            job.parallelism_is_others = true;
            job.dirty = true;
        }
        let is_queued = job.admitted.is_some();
        let body = job.json();
        if is_queued && parallelism.is_some() {
            self.breaks(format!(
                "{name} has a queue, which would take it for another Job"
            ));
        }
        self.publish_changes();
        Answer { code: 200, body }
    }

    pub(crate) fn delete(&mut self, kind: Kind, name: &str, body: &[u8]) -> Answer {
        let options: Value = serde_json::from_slice(body).unwrap_or_default();
        let policy = options.get("propagationPolicy").and_then(Value::as_str);
        let exists = match kind {
            Kind::Job => self.jobs.contains_key(name),
            Kind::Pod => self.pods.contains_key(name),
        };
        if !exists {
            return not_found(name);
        }
        match kind {
            Kind::Job => self.delete_job(name, policy == Some("Foreground")),
            Kind::Pod => {
                let grace = options.get("gracePeriodSeconds").and_then(Value::as_u64);
                self.delete_pod(name, 1000 * grace.unwrap_or(30));
            }
        }
        self.publish_changes();
        let left = self.get(kind, name);
        match left.code {
            200 => left,
            _ => Answer {
                code: 200,
                body: json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                })
                .to_string(),
            },
        }
    }
}

impl Watcher {
    fn send(&mut self, now: Moment, line: Bytes) {
        if now < self.stalled || !self.backlog.is_empty() {
            self.backlog.push(line);
        } else {
            let _ = self.to.send(Ok(line));
        }
    }

    fn flush(&mut self, now: Moment) {
        if now >= self.stalled {
            for line in self.backlog.drain(..) {
                let _ = self.to.send(Ok(line));
            }
        }
    }
}

/// A list of objects.
fn list(kind: &str, items: &[Value]) -> Answer {
    let list = json!({
        "kind": kind, "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": items,
    });
    Answer {
        code: 200,
        body: list.to_string(),
    }
}

fn expired() -> Bytes {
    let status = refusal(410, "Expired", "too old resource version").body;
    Bytes::from(format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n"))
}

fn not_found(name: &str) -> Answer {
    refusal(404, "NotFound", &format!("\"{name}\" not found"))
}

pub(crate) fn refusal(code: u16, reason: &str, message: &str) -> Answer {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    Answer {
        code,
        body: body.to_string(),
    }
}

/// True if these labels are selected.
fn selects(selector: &[(String, String)], labels: &BTreeMap<String, String>) -> bool {
    let is_there = |(label, value): &(String, String)| labels.get(label) == Some(value);
    selector.iter().all(is_there)
}

/// A selector of equalities, as it is written.
pub(crate) fn selector(text: &str) -> Vec<(String, String)> {
    let parts = text.split(',').filter_map(|part| part.split_once('='));
    parts
        .map(|(label, value)| (label.to_owned(), value.to_owned()))
        .collect()
}

/// The path of a kind, and what follows.
pub(crate) fn kind_of(path: &str) -> Option<(Kind, &str)> {
    let jobs = format!("/apis/batch/v1/namespaces/{NAMESPACE}/jobs");
    let pods = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    for (begins, kind) in [(jobs, Kind::Job), (pods, Kind::Pod)] {
        if let Some(rest) = path.strip_prefix(&*begins) {
            return Some((kind, rest.trim_start_matches('/')));
        }
    }
    None
}
