//! A machine of a cluster: does what a pod says, on the engine of the tests. Nothing of a pod is
//! passed over: a field that is unknown here is refused.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{engine::Engine, vocabulary::*};

/// No pod of these tests takes as long.
const LONG: Duration = Duration::from_secs(600);
/// The image of the container that holds a pod's network.
const PAUSE: &str = "pause";

/// The text of a Secret or a ConfigMap, by key.
pub(crate) type Texts = BTreeMap<String, Vec<u8>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PodSpec {
    containers: Vec<Container>,
    #[serde(default)]
    init_containers: Vec<Container>,
    #[serde(default)]
    volumes: Vec<Volume>,
    security_context: PodSecurity,
    termination_grace_period_seconds: u32,
    hostname: Option<String>,
    subdomain: Option<String>,
    restart_policy: Option<RestartPolicy>,
    enable_service_links: bool,
    // Of the API, which there is none of.
    #[serde(rename = "automountServiceAccountToken")]
    _token: bool,
    #[serde(rename = "serviceAccountName")]
    _account: String,
    // Of who places pods and counts their time.
    #[serde(rename = "activeDeadlineSeconds")]
    _deadline: Option<u32>,
    #[serde(rename = "affinity")]
    _affinity: Option<Value>,
    #[serde(rename = "topologySpreadConstraints")]
    _spread: Option<Value>,
    #[serde(rename = "schedulingGates")]
    _gates: Option<Value>,
    #[serde(rename = "tolerations")]
    _tolerations: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum RestartPolicy {
    Always,
    Never,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodSecurity {
    run_as_non_root: bool,
    run_as_user: Option<u32>,
    run_as_group: Option<u32>,
    fs_group: Option<u32>,
    seccomp_profile: Seccomp,
    // All volumes are new, so they are always changed.
    #[serde(rename = "fsGroupChangePolicy")]
    _when: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum Seccomp {
    /// Docker's own unless it is told otherwise.
    RuntimeDefault,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Container {
    name: String,
    image: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Variable>,
    #[serde(default)]
    volume_mounts: Vec<Mount>,
    security_context: ContainerSecurity,
    resources: Resources,
    startup_probe: Option<Probe>,
    readiness_probe: Option<Probe>,
    // Nothing here hangs.
    #[serde(rename = "livenessProbe")]
    _liveness: Option<Probe>,
    restart_policy: Option<RestartPolicy>,
    // Every image is here.
    #[serde(rename = "imagePullPolicy")]
    _pull: String,
    #[serde(default)]
    ports: Vec<Port>,
    #[serde(rename = "terminationMessagePolicy")]
    _message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Variable {
    name: String,
    value: Option<String>,
    value_from: Option<Source>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Source {
    #[serde(rename = "fieldRef", rename_all = "camelCase")]
    Field { field_path: String },
    #[serde(rename = "secretKeyRef")]
    SecretKey { name: String, key: String },
    #[serde(rename = "resourceFieldRef")]
    ResourceField { resource: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Mount {
    name: String,
    mount_path: String,
    #[serde(default)]
    read_only: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ContainerSecurity {
    allow_privilege_escalation: bool,
    capabilities: Capabilities,
    read_only_root_filesystem: bool,
    run_as_user: Option<u32>,
    run_as_group: Option<u32>,
    run_as_non_root: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Capabilities {
    drop: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resources {
    limits: BTreeMap<String, String>,
    requests: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Port {
    container_port: u16,
    name: Option<String>,
}

/// A question whether a container has started or is ready. Here it is asked often, and for long.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Probe {
    exec: Option<Exec>,
    http_get: Option<HttpGet>,
    grpc: Option<Grpc>,
    #[serde(rename = "periodSeconds")]
    _period: u32,
    #[serde(rename = "timeoutSeconds")]
    _timeout: Option<u32>,
    #[serde(rename = "failureThreshold")]
    _failures: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exec {
    command: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpGet {
    path: String,
    /// The name of a port.
    port: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grpc {
    port: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Volume {
    name: String,
    empty_dir: Option<EmptyDir>,
    secret: Option<Secret>,
    config_map: Option<ConfigMap>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EmptyDir {
    size_limit: String,
    medium: Option<Medium>,
}

#[derive(Deserialize)]
enum Medium {
    Memory,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Secret {
    secret_name: String,
    default_mode: u32,
    /// The keys that become files, and the names of these; without it all keys, by their own.
    items: Option<Vec<Item>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    key: String,
    path: String,
}

impl Secret {
    fn files(&self, texts: &Texts) -> Texts {
        let Some(items) = &self.items else {
            return texts.clone();
        };
        let files = items.iter();
        let files = files.map(|item| (item.path.clone(), texts[&item.key].clone()));
        files.collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConfigMap {
    name: String,
    #[serde(default)]
    optional: bool,
}

/// A machine with a network of its own, that nobody else has; all of it is gone when this is
/// dropped, after its pods.
pub(crate) struct Node {
    engine: &'static Engine,
    network: String,
    folder: tempfile::TempDir,
    pub(crate) secrets: BTreeMap<String, Texts>,
    pub(crate) config_maps: BTreeMap<String, Texts>,
}

/// A pod that has been started.
pub(crate) struct Pod<'a> {
    node: &'a Node,
    name: String,
    spec: PodSpec,
}

impl Node {
    /// With the images of this engine.
    pub(crate) fn new(engine: &'static Engine, name: &str) -> Self {
        engine.import(PAUSE, Path::new("/bin/sleep"), "ENTRYPOINT [\"/bot\"]");
        let network = format!("{name}-{}", std::process::id());
        // Nobody here has anything to look for outside.
        engine.run(&["network", "create", "--internal", &network]);
        Self {
            engine,
            network,
            folder: tempfile::tempdir().unwrap(),
            secrets: BTreeMap::new(),
            config_maps: BTreeMap::new(),
        }
    }

    /// A listener that its pods reach.
    pub(crate) fn listen(&self) -> TcpListener {
        self.engine.listen(&self.network)
    }

    /// Starts a pod, which others find by these names. Its containers run when this returns, and
    /// are ready if they say when they are.
    pub(crate) fn start(&self, name: &str, aliases: &[String], spec: &Value) -> Pod<'_> {
        let spec: PodSpec = serde_json::from_value(spec.clone()).unwrap();
        assert!(!spec.enable_service_links);
        let pod = Pod {
            node: self,
            name: name.to_owned(),
            spec,
        };
        pod.begin(aliases);
        pod
    }
}

/// The number of an object of this name in the cluster.
pub(crate) fn uid(name: &str) -> String {
    format!("uid-of-{name}")
}

impl Drop for Node {
    fn drop(&mut self) {
        self.engine.command(&["network", "rm", &self.network]);
    }
}

impl Pod<'_> {
    fn begin(&self, aliases: &[String]) {
        let spec = &self.spec;
        let mut words = vec!["run".to_owned(), "--detach".to_owned()];
        words.push(format!("--name={}", self.called(PAUSE)));
        let host = spec.hostname.as_ref().unwrap_or(&self.name);
        words.push(format!("--hostname={host}"));
        words.push(format!("--network={}", self.node.network));
        for alias in aliases {
            words.push(format!("--network-alias={alias}"));
        }
        if let Some(subdomain) = &spec.subdomain {
            let name = format!("{host}.{subdomain}.bot-arena.svc");
            words.push(format!("--network-alias={name}"));
        }
        words.extend([PAUSE, "infinity"].map(str::to_owned));
        self.docker(&words);
        for volume in &spec.volumes {
            self.prepare(volume);
        }
        for container in &spec.init_containers {
            // The ones that run beside the others. There is nothing else here to be done first.
            assert!(container.restart_policy == Some(RestartPolicy::Always));
            self.run(container, true);
        }
        for container in &spec.containers {
            assert!(container.restart_policy.is_none());
            self.run(container, spec.restart_policy != Some(RestartPolicy::Never));
        }
        for container in &spec.containers {
            let probes = [&container.startup_probe, &container.readiness_probe];
            for probe in probes.into_iter().flatten() {
                let succeeds = || self.succeeds(container, probe);
                wait_until_or(&container.name, || self.log(), succeeds);
            }
        }
    }

    /// Asks once, as the kubelet does.
    fn succeeds(&self, container: &Container, probe: &Probe) -> bool {
        match (&probe.exec, &probe.http_get, &probe.grpc) {
            (Some(exec), None, None) => {
                let name = self.called(&container.name);
                let mut words = vec!["exec", &name];
                words.extend(exec.command.iter().map(|word| &**word));
                self.node.engine.command(&words).status.success()
            }
            (None, Some(get), None) => {
                let port = |port: &&Port| port.name.as_ref() == Some(&get.port);
                let port = container.ports.iter().find(port).unwrap().container_port;
                let url = format!("http://{}:{port}{}", self.address(), get.path);
                // It has a page of text only where it succeeds.
                !self.node.engine.fetch(&url).is_empty()
            }
            (None, None, Some(grpc)) => {
                let url = format!("http://{}:{}", self.address(), grpc.port);
                self.node.engine.is_serving(&url)
            }
            _ => panic!("{}: a probe asks in one way", container.name),
        }
    }

    fn docker(&self, words: &[String]) -> String {
        let words: Vec<_> = words.iter().map(|word| &**word).collect();
        self.node.engine.run(&words)
    }

    /// Name of a container of it.
    pub(crate) fn called(&self, container: &str) -> String {
        format!("{}-{}-{container}", self.node.network, self.name)
    }

    fn folder(&self) -> PathBuf {
        self.node.folder.path().join(&self.name)
    }

    fn volume(&self, name: &str) -> PathBuf {
        self.folder().join("volumes").join(name)
    }

    /// Makes a volume as the kubelet does: it is everybody's, or the group's.
    fn prepare(&self, volume: &Volume) {
        let path = self.volume(&volume.name);
        let group = self.spec.security_context.fs_group;
        let set = |path: &Path, mode: u32| {
            chown(path, Some(0), Some(group.unwrap_or(0))).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        fs::create_dir_all(&path).unwrap();
        set(&path, if group.is_some() { 0o2777 } else { 0o777 });
        let (texts, mode) = match (&volume.empty_dir, &volume.secret, &volume.config_map) {
            (Some(_), None, None) => return,
            (None, Some(secret), None) => {
                let texts = &self.node.secrets[&secret.secret_name];
                (Some(secret.files(texts)), secret.default_mode)
            }
            (None, None, Some(map)) => {
                let texts = self.node.config_maps.get(&map.name);
                assert!(texts.is_some() || map.optional, "no {}", map.name);
                (texts.cloned(), 0o644)
            }
            _ => panic!("{} is no volume that there is", volume.name),
        };
        // Each file is a link to one in a folder that is a link, which is replaced as a whole.
        let data = path.join("..2026_01_01");
        fs::create_dir(&data).unwrap();
        set(&data, if group.is_some() { 0o2755 } else { 0o755 });
        symlink("..2026_01_01", path.join("..data")).unwrap();
        for (key, text) in texts.into_iter().flatten() {
            let file = data.join(&key);
            fs::write(&file, text).unwrap();
            set(&file, mode | if group.is_some() { 0o440 } else { 0 });
            symlink(Path::new("..data").join(&key), path.join(&key)).unwrap();
        }
    }

    fn run(&self, container: &Container, restarted: bool) {
        let (of_pod, own) = (&self.spec.security_context, &container.security_context);
        let Seccomp::RuntimeDefault = of_pod.seccomp_profile;
        let user = own.run_as_user.or(of_pod.run_as_user).unwrap();
        let group = own.run_as_group.or(of_pod.run_as_group).unwrap();
        assert!(own.run_as_non_root.unwrap_or(of_pod.run_as_non_root) && user != 0);
        let mut words = vec!["run".to_owned(), "--detach".to_owned()];
        words.push(format!("--name={}", self.called(&container.name)));
        words.push(format!("--network=container:{}", self.called(PAUSE)));
        words.push(format!("--user={user}:{group}"));
        if let Some(group) = of_pod.fs_group {
            words.push(format!("--group-add={group}"));
        }
        if own.read_only_root_filesystem {
            words.push("--read-only".to_owned());
        }
        if !own.allow_privilege_escalation {
            words.push("--security-opt=no-new-privileges".to_owned());
        }
        for capability in &own.capabilities.drop {
            words.push(format!("--cap-drop={capability}"));
        }
        assert_eq!(container.resources.limits, container.resources.requests);
        for (resource, amount) in &container.resources.limits {
            match &**resource {
                "cpu" => words.push(format!("--cpus={}", cores(amount))),
                "memory" => {
                    let amount = bytes(amount);
                    words.push(format!("--memory={amount}"));
                    words.push(format!("--memory-swap={amount}"));
                }
                // A kubelet looks from time to time, and evicts who has more.
                "ephemeral-storage" => {}
                _ => panic!("{resource} is unknown"),
            }
        }
        words.push(format!(
            "--restart={}",
            if restarted { "always" } else { "no" }
        ));
        for mount in &container.volume_mounts {
            words.push(self.mount(mount));
        }
        let message = self.message(&container.name);
        fs::write(&message, "").unwrap();
        fs::set_permissions(&message, fs::Permissions::from_mode(0o666)).unwrap();
        words.push(format!(
            "--volume={}:/dev/termination-log",
            message.display()
        ));
        let mut known = BTreeMap::new();
        for variable in &container.env {
            let value = self.value(container, variable);
            words.push(format!("--env={}={value}", variable.name));
            known.insert(format!("$({})", variable.name), value);
        }
        words.push(container.image.clone());
        for argument in &container.args {
            let argument = known.iter().fold(argument.clone(), |text, (name, value)| {
                text.replace(name, value)
            });
            words.push(argument);
        }
        self.docker(&words);
    }

    fn mount(&self, mount: &Mount) -> String {
        let volume = (self.spec.volumes.iter()).find(|volume| volume.name == mount.name);
        let in_memory = volume.and_then(|volume| volume.empty_dir.as_ref());
        if let Some(EmptyDir {
            size_limit,
            medium: Some(Medium::Memory),
        }) = in_memory
        {
            let size = bytes(size_limit);
            return format!(
                "--mount=type=tmpfs,destination={},tmpfs-mode=1777,tmpfs-size={size}",
                mount.mount_path
            );
        }
        // A claim is a folder like others here.
        let path = self.volume(&mount.name);
        if volume.is_none() {
            fs::create_dir_all(&path).unwrap();
            chown(&path, Some(0), self.spec.security_context.fs_group).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o2777)).unwrap();
        }
        let how = if mount.read_only { "ro" } else { "rw" };
        format!("--volume={}:{}:{how}", path.display(), mount.mount_path)
    }

    fn value(&self, container: &Container, variable: &Variable) -> String {
        match (&variable.value, &variable.value_from) {
            (Some(value), None) => value.clone(),
            (None, Some(Source::Field { field_path })) => match &**field_path {
                "metadata.name" => self.name.clone(),
                "metadata.uid" => uid(&self.name),
                "status.podIP" => self.address(),
                _ => panic!("{field_path} is no field that is known here"),
            },
            (None, Some(Source::SecretKey { name, key })) => {
                String::from_utf8(self.node.secrets[name][key].clone()).unwrap()
            }
            (None, Some(Source::ResourceField { resource })) => {
                assert_eq!(resource, "limits.memory");
                bytes(&container.resources.limits["memory"]).to_string()
            }
            _ => panic!("{} has no value that is known here", variable.name),
        }
    }

    /// File in which a container writes why it has ended.
    fn message(&self, container: &str) -> PathBuf {
        self.folder().join(format!("{container}.message"))
    }

    /// The container that all others are there for.
    fn main(&self) -> &str {
        &self.spec.containers[0].name
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let all = self
            .spec
            .init_containers
            .iter()
            .chain(&self.spec.containers);
        all.map(|container| &*container.name)
    }

    /// The engine's description of a container.
    pub(crate) fn inspect(&self, container: &str) -> Value {
        let name = self.called(container);
        let said = self.node.engine.run(&["container", "inspect", &name]);
        let said: Value = serde_json::from_str(&said).unwrap();
        said[0].clone()
    }

    /// Its address in the network.
    pub(crate) fn address(&self) -> String {
        let address = &self.inspect(PAUSE)["NetworkSettings"]["Networks"][&self.node.network];
        address["IPAddress"].as_str().unwrap().to_owned()
    }

    /// The first process of a container.
    pub(crate) fn process(&self, container: &str) -> i32 {
        let id = self.inspect(container)["State"]["Pid"].as_i64().unwrap();
        assert!(id > 0, "{container} does not run\n{}", self.log());
        id as i32
    }

    /// Sends a signal to a container's first process, past the engine.
    pub(crate) fn signal(&self, container: &str, signal: Signal) {
        kill(Pid::from_raw(self.process(container)), signal).unwrap();
    }

    pub(crate) fn has_said(&self, container: &str, text: &str) -> bool {
        let name = self.called(container);
        let said = self.node.engine.command(&["logs", &name]);
        out(&said).contains(text) || err(&said).contains(text)
    }

    /// Ends all of it at once.
    pub(crate) fn kill(&self) {
        let mut words = vec!["kill".to_owned()];
        words.extend(self.names().map(|name| self.called(name)));
        let words: Vec<_> = words.iter().map(|word| &**word).collect();
        // Some may have ended.
        self.node.engine.command(&words);
    }

    /// Waits until its main container has ended, and gives its exit code.
    pub(crate) fn wait(&self) -> i64 {
        let begun = Instant::now();
        loop {
            let state = self.inspect(self.main())["State"].clone();
            if state["Running"] == false {
                return state["ExitCode"].as_i64().unwrap();
            }
            assert!(
                begun.elapsed() < LONG,
                "{} goes on\n{}",
                self.name,
                self.log()
            );
            sleep(Duration::from_millis(100));
        }
    }

    /// Asks those that run to end, and says how each has ended.
    pub(crate) fn end(self) -> Vec<(String, i64)> {
        let grace = format!("-t={}", self.spec.termination_grace_period_seconds);
        let mut words = vec!["stop".to_owned(), grace];
        words.extend(self.names().map(|name| self.called(name)));
        self.docker(&words);
        let codes = self.names().map(|container| {
            let code = self.inspect(container)["State"]["ExitCode"].as_i64();
            (container.to_owned(), code.unwrap())
        });
        codes.collect()
    }

    /// Runs a program in a container.
    pub(crate) fn within(&self, container: &str, words: &[&str]) -> std::process::Output {
        let name = self.called(container);
        let mut all = vec!["exec", &name];
        all.extend(words);
        self.node.engine.command(&all)
    }

    /// Its latest output.
    pub(crate) fn log(&self) -> String {
        let mut log = String::new();
        for container in self.names() {
            let name = self.called(container);
            let said = self.node.engine.command(&["logs", "--tail=15", &name]);
            let message = fs::read_to_string(self.message(container)).unwrap_or_default();
            log += &format!("== {name}\n{}{}{message}\n", out(&said), err(&said));
        }
        log
    }
}

impl Drop for Pod<'_> {
    fn drop(&mut self) {
        let mut words = vec!["rm".to_owned(), "--force".to_owned()];
        words.extend(self.names().map(|name| self.called(name)));
        words.push(self.called(PAUSE));
        let words: Vec<_> = words.iter().map(|word| &**word).collect();
        self.node.engine.command(&words);
        // Another one may have the same name.
        let _ = fs::remove_dir_all(self.folder());
    }
}

/// `1`, or `250m`.
fn cores(amount: &str) -> f64 {
    match amount.strip_suffix('m') {
        Some(thousandths) => thousandths.parse::<f64>().unwrap() / 1000.0,
        None => amount.parse().unwrap(),
    }
}

/// `64Mi`, or `1Gi`.
fn bytes(amount: &str) -> u64 {
    let (number, unit) = amount.split_at(amount.len() - 2);
    let number: u64 = number.parse().unwrap();
    match unit {
        "Mi" => number << 20,
        "Gi" => number << 30,
        _ => panic!("{amount} is no size that is known here"),
    }
}
