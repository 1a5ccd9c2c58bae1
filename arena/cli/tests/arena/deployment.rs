//! The deployment of deploy/compose, by Compose or by its script, on the engine of the tests.

use std::{
    collections::BTreeSet,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use crate::{engine::Engine, images::images, remote::Remote, vocabulary::*};

/// The bots of a deployment, which are also its networks of bots.
pub(crate) const BOTS: [&str; 4] = ["rust", "cpp", "python", "node"];

const ABSENT: &str = "Compose is not installed, and the deployment is tested with it. Install it \
    (Debian: apt-get install docker-compose)";

/// A deployment that nobody else has; all of it is gone when this is dropped.
pub(crate) struct Deployment {
    engine: &'static Engine,
    /// Beginning of the names of its containers, networks and volumes.
    project: String,
    /// Which of the images it has.
    pub(crate) version: &'static str,
    folder: tempfile::TempDir,
}

impl Deployment {
    pub(crate) fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Self {
            engine: images(),
            project: format!("deployed-{}-{number}", std::process::id()),
            version: "latest",
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Runs Compose.
    pub(crate) fn compose(&self, words: &[&str]) -> String {
        let plugin = Command::new("docker").args(["compose", "version"]).output();
        let mut compose = if plugin.is_ok_and(|said| said.status.success()) {
            let mut docker = Command::new("docker");
            docker.arg("compose");
            docker
        } else {
            Command::new("docker-compose")
        };
        let said = self
            .settle(&mut compose)
            .args(words)
            .stdin(Stdio::null())
            .output();
        done(&said.expect(ABSENT))
    }

    /// Runs the script.
    pub(crate) fn script(&self, words: &[&str]) -> String {
        done(&self.script_with(words, Stdio::null()))
    }

    fn script_with(&self, words: &[&str], input: Stdio) -> Output {
        let mut script = Command::new(folder().join("run.sh"));
        self.settle(&mut script);
        script.args(words).stdin(input).output().unwrap()
    }

    /// Sets the values that its files are told from outside.
    fn settle<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(folder())
            .env("DOCKER_HOST", self.engine.host())
            .env("COMPOSE_PROJECT_NAME", &self.project)
            .env("BOT_ARENA_VERSION", self.version)
            // The engine chooses one that is free.
            .env("PAGE_PORT", "")
            .env("PROMETHEUS_PORT", "")
            .env("GRAFANA_PORT", "")
    }

    pub(crate) fn docker(&self, words: &[&str]) -> String {
        self.engine.run(words)
    }

    /// Text of a page that this machine is asked for.
    pub(crate) fn fetch(&self, url: &str) -> String {
        self.engine.fetch(url)
    }

    /// Name of a container, network or volume of it.
    pub(crate) fn name(&self, of: &str) -> String {
        format!("{}-{of}", self.project)
    }

    /// Text without the names that differ from deployment to deployment.
    pub(crate) fn anonymous(&self, text: &str) -> String {
        text.replace(&self.project, "deployed")
    }

    /// Its containers, without what names begin with.
    pub(crate) fn containers(&self) -> Vec<String> {
        let begins = self.name("");
        let names = self.engine.containers(&begins);
        let mut names: Vec<_> = names
            .iter()
            .map(|name| name[begins.len()..].to_owned())
            .collect();
        names.sort();
        names
    }

    /// The engine's description of a container.
    pub(crate) fn inspect(&self, container: &str) -> Value {
        let said = self.docker(&["container", "inspect", &self.name(container)]);
        let said: Value = serde_json::from_str(&said).unwrap();
        said[0].clone()
    }

    /// Settings of a container, in one way of writing them.
    pub(crate) fn made(&self, container: &str) -> Value {
        let inspected = self.inspect(container);
        let (config, host) = (&inspected["Config"], &inspected["HostConfig"]);
        let sorted = |list: &Value| {
            let mut words: Vec<_> = list
                .as_array()
                .into_iter()
                .flatten()
                .map(|word| word.as_str().unwrap().trim_start_matches("CAP_").to_owned())
                .collect();
            words.sort();
            words
        };
        let mut mounts: Vec<_> = inspected["Mounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|mount| {
                let name = mount.get("Name").unwrap_or(&mount["Source"]);
                format!("{name} {} {}", mount["Destination"], mount["RW"])
            })
            .collect();
        mounts.sort();
        let networks = inspected["NetworkSettings"]["Networks"]
            .as_object()
            .unwrap();
        let networks: BTreeSet<_> = networks
            .iter()
            .map(|(name, network)| {
                (
                    name,
                    sorted(&network["Aliases"]).contains(&container.to_owned()),
                )
            })
            .collect();
        let words = |key: &str| config[key].as_array().cloned().unwrap_or_default();
        let same =
            |of: &Value, keys: &[&str]| keys.iter().map(|key| of[*key].clone()).collect::<Vec<_>>();
        let runs = [words("Entrypoint"), words("Cmd")].concat();
        let made = json!({
            "runs": runs,
            "environment": sorted(&config["Env"]),
            "config": same(config, &["User", "StopTimeout", "StopSignal", "Healthcheck", "WorkingDir"]),
            // The name of its version may differ.
            "image": inspected["Image"],
            "host": same(host, &[
                "ReadonlyRootfs", "RestartPolicy", "LogConfig", "Tmpfs", "Memory", "MemorySwap",
                "PidsLimit", "NanoCpus", "ShmSize", "SecurityOpt", "Privileged", "PortBindings",
            ]),
            "more": [sorted(&host["CapAdd"]), sorted(&host["CapDrop"]), sorted(&host["Dns"])],
            "mounts": mounts,
            "networks": networks,
        });
        serde_json::from_str(&self.anonymous(&made.to_string())).unwrap()
    }

    /// Runs a program in a container.
    pub(crate) fn within(&self, container: &str, words: &[&str]) -> Output {
        let name = self.name(container);
        let mut all = vec!["exec", &name];
        all.extend(words);
        self.engine.command(&all)
    }

    /// Queues a tournament of these bots with a root that is known.
    pub(crate) fn submit(&self, name: &str, game: &str, deals: u32, bots: &[&str]) {
        // A table must not depend on how busy the machine is.
        let mut text = format!(
            "game = \"{game}\"\nshape = \"round-robin\"\ndeals = {deals}\n[limits]\n\
             move = \"10m\"\nstart = \"10m\"\n"
        );
        for bot in bots {
            let spec = json!(format!("grpc://{bot}:50051"));
            text += &format!("[[bots]]\nname = \"{bot}\"\nbot = {spec}\n");
        }
        let file = self.folder.path().join("cup.toml");
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        self.script(&["submit", file, "--name", name, "--seed", "deployed"]);
    }

    /// Kills a container's first process, as the kernel does where memory is short; so it is
    /// started again.
    pub(crate) fn kill(&self, container: &str) {
        let process = self.inspect(container)["State"]["Pid"].as_i64().unwrap();
        kill(Pid::from_raw(process as i32), Signal::SIGKILL).unwrap();
    }

    /// Writes all tournaments into a file.
    pub(crate) fn backup(&self) -> PathBuf {
        let file = self.folder.path().join("backup");
        let said = self.script_with(&["backup"], Stdio::null());
        assert!(said.status.success(), "{}", err(&said));
        std::fs::write(&file, said.stdout).unwrap();
        file
    }

    pub(crate) fn restore(&self, file: &Path) {
        done(&self.script_with(&["restore"], File::open(file).unwrap().into()));
    }
}

impl Remote for Deployment {
    fn arena(&self, line: &str) -> String {
        let words = format!("arena {line}");
        let words: Vec<_> = words.split(' ').collect();
        let said = self.within("arena", &words);
        assert!(
            said.status.success(),
            "{line}: {}{}",
            err(&said),
            self.log()
        );
        out(&said)
    }

    fn log(&self) -> String {
        let mut log = String::new();
        for container in self.containers() {
            let said = self
                .engine
                .command(&["logs", "--tail", "15", &self.name(&container)]);
            log += &format!("== {container}\n{}{}", out(&said), err(&said));
        }
        log
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        // Both tools give the same names. Nothing needs to end in order.
        for container in self.containers() {
            let name = self.name(&container);
            self.engine.command(&["rm", "--force", &name]);
        }
        self.script_with(&["down", "--volumes"], Stdio::null());
    }
}

/// Folder of its files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/compose")
}

/// The text of a file of it.
pub(crate) fn file(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}
