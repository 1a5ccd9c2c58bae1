//! The part of a cluster that an arena asks: an API server that runs the pods that it is given on a
//! [`Node`], and plays the Job controller. Watches are refused as expired, so that whoever watches
//! lists again.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{Scope, sleep},
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::node::{Node, Pod, uid};

/// The time at which everything was made.
const MADE: &str = "2026-01-01T00:00:00Z";

/// An object of the cluster, and what runs of it.
struct Held<'n> {
    object: Value,
    pod: Option<Arc<Pod<'n>>>,
}

/// The API server of a cluster of one node.
pub(crate) struct ClusterApi<'n> {
    node: &'n Node,
    listener: TcpListener,
    pods: Mutex<BTreeMap<String, Held<'n>>>,
    jobs: Mutex<BTreeMap<String, Value>>,
    ends: AtomicBool,
    /// Names of all pods that there were.
    pub(crate) seen: Mutex<Vec<String>>,
}

impl<'n> ClusterApi<'n> {
    /// One that listens there.
    pub(crate) fn new(node: &'n Node, listener: TcpListener) -> Self {
        Self {
            node,
            listener,
            pods: Mutex::default(),
            jobs: Mutex::default(),
            ends: AtomicBool::new(false),
            seen: Mutex::default(),
        }
    }

    /// The file by which clients find one that listens there.
    pub(crate) fn kubeconfig(listener: &TcpListener) -> String {
        let server = format!("http://{}", listener.local_addr().unwrap());
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": "test",
                // There is no TLS here, but without an authority clients begin nothing.
                "cluster": {"server": server, "certificate-authority": "/tls/ca.crt"},
            }],
            "users": [{"name": "test", "user": {}}],
            "contexts": [{
                "name": "test",
                "context": {"cluster": "test", "user": "test", "namespace": "bot-arena"},
            }],
            "current-context": "test",
        })
        .to_string()
    }

    /// Serves until [`end`](Self::end).
    pub(crate) fn serve<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>) {
        self.listener.set_nonblocking(true).unwrap();
        while !self.ends.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).unwrap();
                    scope.spawn(move || self.answer(scope, stream));
                }
                Err(_) => sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Removes what is left, and takes no more connections.
    pub(crate) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        self.jobs.lock().clear();
        let names: Vec<String> = self.pods.lock().keys().cloned().collect();
        for name in names {
            self.remove_pod(&name);
        }
    }

    /// The names of the pods with this label that there are.
    pub(crate) fn pods_with(&self, label: &str) -> Vec<String> {
        let pods = self.pods.lock();
        let with = pods
            .iter()
            .filter(|(_, held)| !held.object["metadata"]["labels"][label].is_null());
        with.map(|(name, _)| name.clone()).collect()
    }

    /// Answers the requests of a connection, one after another.
    fn answer<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>, stream: TcpStream) {
        let mut writing = stream.try_clone().unwrap();
        let mut reading = BufReader::new(stream);
        loop {
            let mut line = String::new();
            if reading.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let mut words = line.split_whitespace();
            let (method, target) = (words.next().unwrap(), words.next().unwrap());
            let mut length = 0;
            loop {
                let mut header = String::new();
                if reading.read_line(&mut header).unwrap_or(0) == 0 || header == "\r\n" {
                    break;
                }
                let header = header.to_lowercase();
                if let Some(value) = header.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reading.read_exact(&mut body).unwrap();
            let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
            let (status, reply) = self.reply(scope, method, target, &body);
            let reply = reply.to_string();
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                reply.len()
            );
            let sent = writing.write_all((head + &reply).as_bytes());
            if sent.is_err() {
                return;
            }
        }
    }

    fn reply<'s, 'e>(
        &'e self,
        scope: &'s Scope<'s, 'e>,
        method: &str,
        target: &str,
        body: &Value,
    ) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if query.contains("watch=") {
            return failure(410, "too old");
        }
        let (_, of) = path
            .split_once("/namespaces/bot-arena/")
            .unwrap_or(("", path));
        let (kind, name) = of.split_once('/').unwrap_or((of, ""));
        let name = match name {
            "" => body["metadata"]["name"].as_str().unwrap_or_default(),
            name => name,
        };
        match (method, kind) {
            ("GET", "pods") if name.is_empty() => {
                let pods = self.pods.lock();
                list(pods.values().map(|held| held.object.clone()))
            }
            ("GET", "jobs") if name.is_empty() => list(self.jobs.lock().values().cloned()),
            ("GET", "pods") => match self.pods.lock().get(name) {
                Some(held) => (200, held.object.clone()),
                None => failure(404, name),
            },
            ("GET", "resourcequotas" | "events") => list([]),
            ("POST" | "PATCH", "pods") => {
                let made = self.make_pod(scope, name, body.clone());
                (200, made)
            }
            ("PATCH", "jobs") => {
                let mut jobs = self.jobs.lock();
                let Some(job) = jobs.get_mut(name) else {
                    drop(jobs);
                    return match body["kind"] == "Job" {
                        true => (200, self.make_job(scope, name, body.clone())),
                        false => failure(404, name),
                    };
                };
                // How many pods at once, and whether it is suspended.
                for key in ["parallelism", "suspend"] {
                    if !body["spec"][key].is_null() {
                        job["spec"][key] = body["spec"][key].clone();
                    }
                }
                (200, job.clone())
            }
            ("DELETE", "pods") => {
                self.remove_pod(name);
                success()
            }
            ("DELETE", "jobs") => {
                self.jobs.lock().remove(name);
                self.remove_owned_by(&uid(name));
                success()
            }
            _ => panic!("{method} {target} is not known here"),
        }
    }

    /// Keeps a pod, and starts it beside other things.
    fn make_pod<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>, name: &str, pod: Value) -> Value {
        let object = self.keep_pod(name, pod);
        let (name, spec) = (name.to_owned(), object["spec"].clone());
        scope.spawn(move || self.run_pod(&name, &spec));
        object
    }

    fn keep_pod(&self, name: &str, mut pod: Value) -> Value {
        pod["metadata"]["uid"] = json!(uid(name));
        pod["metadata"]["creationTimestamp"] = json!(MADE);
        pod["status"] = json!({"phase": "Pending"});
        let held = Held {
            object: pod.clone(),
            pod: None,
        };
        self.seen.lock().push(name.to_owned());
        self.pods.lock().insert(name.to_owned(), held);
        pod
    }

    /// Starts a pod; none if it was removed meanwhile.
    fn run_pod(&self, name: &str, spec: &Value) -> Option<Arc<Pod<'n>>> {
        let pod = Arc::new(self.node.start(name, &[], spec));
        let mut pods = self.pods.lock();
        let held = pods.get_mut(name)?;
        held.object["status"] = json!({"phase": "Running", "podIP": pod.address()});
        held.object["spec"]["nodeName"] = json!("node");
        held.pod = Some(pod.clone());
        Some(pod)
    }

    fn remove_pod(&self, name: &str) {
        let removed = self.pods.lock().remove(name);
        if let Some(pod) = removed.and_then(|held| held.pod) {
            pod.kill();
        }
        self.remove_owned_by(&uid(name));
    }

    fn remove_owned_by(&self, owner: &str) {
        let is_owned = |held: &Held<'_>| {
            let owners = held.object["metadata"]["ownerReferences"].as_array();
            owners.into_iter().flatten().any(|one| one["uid"] == owner)
        };
        let pods = self.pods.lock();
        let owned = pods.iter().filter(|(_, held)| is_owned(held));
        let owned: Vec<String> = owned.map(|(name, _)| name.clone()).collect();
        drop(pods);
        for name in owned {
            self.remove_pod(&name);
        }
    }

    /// Keeps a Job, and runs its pods one after another.
    fn make_job<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>, name: &str, mut job: Value) -> Value {
        job["metadata"]["uid"] = json!(uid(name));
        job["metadata"]["creationTimestamp"] = json!(MADE);
        job["status"] = json!({"active": 1});
        self.jobs.lock().insert(name.to_owned(), job.clone());
        let (name, made) = (name.to_owned(), job.clone());
        scope.spawn(move || self.run_job(&name, &made));
        job
    }

    fn run_job(&self, name: &str, job: &Value) {
        let template = &job["spec"]["template"];
        let completions = job["spec"]["completions"].as_u64().unwrap();
        let retries = job["spec"]["backoffLimitPerIndex"].as_u64().unwrap();
        for index in 0..completions {
            let done = (0..=retries).any(|attempt| {
                let is_wanted = |job: &Value| job["spec"]["suspend"] != true;
                if !self.jobs.lock().get(name).is_some_and(is_wanted) {
                    return false;
                }
                let pod = format!("{name}-{index}-{attempt:05}");
                let mut object = json!({
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": template["metadata"],
                    "spec": template["spec"],
                });
                let metadata = &mut object["metadata"];
                metadata["name"] = json!(pod);
                metadata["namespace"] = json!("bot-arena");
                metadata["labels"]["batch.kubernetes.io/job-name"] = json!(name);
                metadata["labels"]["batch.kubernetes.io/job-completion-index"] =
                    json!(index.to_string());
                metadata["ownerReferences"] = json!([{
                    "apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid(name),
                }]);
                let object = self.keep_pod(&pod, object);
                let Some(running) = self.run_pod(&pod, &object["spec"]) else {
                    return false;
                };
                let code = running.wait();
                if let Some(held) = self.pods.lock().get_mut(&pod) {
                    let phase = if code == 0 { "Succeeded" } else { "Failed" };
                    held.object["status"]["phase"] = json!(phase);
                }
                code == 0
            });
            if let (true, Some(job)) = (done, self.jobs.lock().get_mut(name)) {
                job["status"]["succeeded"] = json!(index + 1);
            }
        }
        if let Some(job) = self.jobs.lock().get_mut(name) {
            job["status"]["active"] = json!(0);
            job["status"]["conditions"] = json!([{
                "type": "Complete", "status": "True", "lastTransitionTime": MADE,
            }]);
        }
    }
}

fn list(items: impl IntoIterator<Item = Value>) -> (u16, Value) {
    let items: Vec<Value> = items.into_iter().collect();
    let list = json!({
        "kind": "List",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "1"},
        "items": items,
    });
    (200, list)
}

fn success() -> (u16, Value) {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Success"});
    (200, status)
}

fn failure(code: u16, message: &str) -> (u16, Value) {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": "",
        "message": message,
    });
    (code, status)
}
