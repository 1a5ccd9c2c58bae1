//! The settings of an operator: `kubernetes.toml`.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use k8s_openapi::api::core::v1::Toleration;
use referee_core::expected_words;
use serde::Deserialize;

use crate::quota;

/// The most bytes of the file.
pub const LARGEST_SETTINGS: u64 = 1024 * 1024;

/// The settings by which an operator has the pods of games made. Everything has a default.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The namespace that Jobs and pods are made in.
    pub namespace: String,
    /// The name that tells the objects of this arena from those of others in the namespace.
    pub instance: String,
    /// The address at which pods reach the arena.
    pub arena: String,
    /// The image of `referee`.
    pub referee_image: String,
    /// The rule by which images are pulled: `Always`, `IfNotPresent` or `Never`.
    pub image_pull_policy: PullPolicy,
    /// True if bots' images are asked for by their digest. Without it a node may have another image
    /// of that name: only for clusters whose nodes are given images by hand.
    pub pinned: bool,
    /// Most Jobs that a tournament has at once.
    pub max_jobs: usize,
    /// Most pods that a Job has at once.
    pub pods_per_job: u32,
    /// Most referees with bots in pods of their own that wait for nodes or for their bots at once,
    /// while few games are played. Where nodes are added as pods wait for them: as many as are to be
    /// seen.
    pub pending_referees: u32,
    /// The time that a chunk should take, in seconds, where the tournament does not say its games.
    pub chunk_seconds: u32,
    /// The `LocalQueue` of Kueue that Jobs wait in.
    pub queue: Option<String>,
    /// The `LocalQueue` of Kueue that the pods of a game's bots wait in, as one group, where bots have
    /// pods of their own. It is another one than `queue`, of another `ClusterQueue`: referees that have
    /// been let in would keep out the bots that they wait for.
    pub bot_queue: Option<String>,
    /// The service account of the pods of games; it needs no rights.
    pub service_account: String,
    /// The containers that packed bots play in.
    pub host: HostImage,
    /// The containers that entries of contests are built in.
    pub builder: Builder,
    /// The share of a referee.
    pub referee: Share,
    /// The share of a bot.
    pub bot: Share,
    /// What single bots get, by their names in tournaments.
    pub bots: BTreeMap<String, OneBot>,
    /// The rules for the nodes of pods.
    pub pods: Placing,
}

/// The image of the containers that packed bots play in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostImage {
    /// An image that waits for a bot with `referee host`.
    pub image: String,
    /// The labels of what bots find in it, such as `python3`.
    pub provides: BTreeSet<String>,
}

/// The containers that entries of contests are built and checked in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Builder {
    /// An image that waits for sources with `arena-serve builder`.
    pub image: String,
    /// As in [`Share`].
    pub cpu: String,
    /// As in [`Share`]. A build that needs more is at fault.
    pub memory: String,
    /// As in [`Share`]: sources, what is built of them, and that once more as a bot.
    pub storage: String,
}

/// The rule by which images are pulled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum PullPolicy {
    /// For every pod.
    Always,
    /// On nodes that do not have them.
    #[default]
    IfNotPresent,
    /// Never: nodes have them.
    Never,
}

/// The share of a container, and no more: requests are limits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Cores, as in `1` or `500m`. Whole ones can be a container's own.
    pub cpu: String,
    /// Memory, as in `256Mi`.
    pub memory: String,
    /// Room on the node's disk, as in `64Mi`.
    #[serde(default = "little")]
    pub storage: String,
}

/// What one bot gets besides, or in place of, what every bot gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OneBot {
    /// As in [`Share`].
    pub cpu: Option<String>,
    /// As in [`Share`]. Where a tournament limits memory, that holds.
    pub memory: Option<String>,
    /// As in [`Share`].
    pub storage: Option<String>,
    /// Further resources, as in `"nvidia.com/gpu" = "1"`.
    pub resources: BTreeMap<String, String>,
    /// Labels that its node must have besides, where it has a pod of its own.
    pub node_selector: BTreeMap<String, String>,
    /// The runtime class of its pod, where it has one of its own.
    pub runtime_class: Option<String>,
}

/// The rules for the nodes of pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placing {
    /// Labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints of nodes that do not matter.
    pub tolerations: Vec<Toleration>,
    /// The priority class.
    pub priority_class: Option<String>,
    /// The runtime class, as of gVisor or Kata Containers.
    pub runtime_class: Option<String>,
    /// The names of Secrets that images are pulled with.
    pub image_pull_secrets: Vec<String>,
}

fn little() -> String {
    "64Mi".to_owned()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            namespace: "bot-arena".to_owned(),
            instance: "bot-arena".to_owned(),
            arena: "https://arena:50060".to_owned(),
            referee_image: concat!("localhost/bot-arena/referee:", env!("CARGO_PKG_VERSION"))
                .to_owned(),
            image_pull_policy: PullPolicy::default(),
            pinned: true,
            max_jobs: 50,
            pods_per_job: 4,
            pending_referees: 1,
            chunk_seconds: 90,
            queue: None,
            bot_queue: None,
            service_account: "games".to_owned(),
            host: HostImage::default(),
            builder: Builder::default(),
            referee: Share {
                cpu: "1".to_owned(),
                memory: "256Mi".to_owned(),
                storage: little(),
            },
            bot: Share {
                cpu: "1".to_owned(),
                memory: "512Mi".to_owned(),
                storage: little(),
            },
            bots: BTreeMap::new(),
            pods: Placing::default(),
        }
    }
}

impl Default for HostImage {
    fn default() -> Self {
        let image = concat!("localhost/bot-arena/host:", env!("CARGO_PKG_VERSION"));
        Self {
            image: image.to_owned(),
            provides: ["bash", "node", "perl", "python3", "sh"]
                .map(str::to_owned)
                .into(),
        }
    }
}

impl Default for Builder {
    fn default() -> Self {
        let image = concat!("localhost/bot-arena/builder:", env!("CARGO_PKG_VERSION"));
        Self {
            image: image.to_owned(),
            cpu: "1".to_owned(),
            memory: "2Gi".to_owned(),
            storage: "1Gi".to_owned(),
        }
    }
}

impl Builder {
    pub(crate) fn share(&self) -> Share {
        Share {
            cpu: self.cpu.clone(),
            memory: self.memory.clone(),
            storage: self.storage.clone(),
        }
    }
}

impl HostImage {
    /// True if bots that need this find it there. What a program was compiled for is the node's.
    #[must_use]
    pub fn has(&self, label: &str) -> bool {
        label.starts_with("linux-") || self.provides.contains(label)
    }
}

impl PullPolicy {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

impl Settings {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// What was expected, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let settings: Self =
            toml::from_str(text).map_err(|error| expected_words(&error.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// Number of games that a chunk is to have where a game takes so long, as far as that is known.
    #[must_use]
    pub fn games_in_a_chunk(&self, game: Option<Duration>) -> u64 {
        /// Few enough that slow bots have done with them in some minutes.
        const FIRST: u64 = 16;
        const MOST: u64 = 4096;
        let Some(game) = game else { return FIRST };
        let fit = f64::from(self.chunk_seconds) / game.as_secs_f64().max(1e-3);
        (fit as u64).clamp(1, MOST)
    }

    /// The share of a bot of this name.
    pub(crate) fn share_of(&self, bot: &str) -> Share {
        let every = self.bot.clone();
        let Some(one) = self.bots.get(bot) else {
            return every;
        };
        Share {
            cpu: one.cpu.clone().unwrap_or(every.cpu),
            memory: one.memory.clone().unwrap_or(every.memory),
            storage: one.storage.clone().unwrap_or(every.storage),
        }
    }

    fn check(&self) -> Result<(), String> {
        for (what, name) in [
            ("namespace", &self.namespace),
            ("instance", &self.instance),
            ("service_account", &self.service_account),
        ] {
            if !is_label(name) {
                return Err(format!(
                    "{what}: expected 1 to 63 small letters, digits and hyphens, found \"{name}\""
                ));
            }
        }
        if !(self.arena.starts_with("https://") || self.arena.starts_with("http://")) {
            return Err(format!(
                "arena: expected https://HOST:PORT, found \"{}\"",
                self.arena
            ));
        }
        for (what, number, most) in [
            ("max_jobs", self.max_jobs as u64, 1000),
            ("pods_per_job", self.pods_per_job.into(), 10_000),
            ("pending_referees", self.pending_referees.into(), 1000),
            ("chunk_seconds", self.chunk_seconds.into(), 3600),
        ] {
            if !(1..=most).contains(&number) {
                return Err(format!("{what}: expected 1 to {most}, found {number}"));
            }
        }
        if let Some(label) = self
            .host
            .provides
            .iter()
            .find(|label| !referee_bots::is_label(label))
        {
            return Err(format!(
                "host.provides: expected labels as in python3, found \"{label}\""
            ));
        }
        check_share("referee", &self.referee)?;
        check_share("bot", &self.bot)?;
        check_share("builder", &self.builder.share())?;
        for (name, one) in &self.bots {
            let what = format!("bots.{name}");
            check_share(&what, &self.share_of(name))?;
            for (resource, amount) in &one.resources {
                check_amount(&format!("{what}.resources.\"{resource}\""), amount)?;
            }
        }
        Ok(())
    }
}

fn check_share(what: &str, share: &Share) -> Result<(), String> {
    check_amount(&format!("{what}.cpu"), &share.cpu)?;
    check_amount(&format!("{what}.memory"), &share.memory)?;
    check_amount(&format!("{what}.storage"), &share.storage)
}

fn check_amount(what: &str, amount: &str) -> Result<(), String> {
    match is_quantity(amount) {
        true => Ok(()),
        false => Err(format!(
            "{what}: expected an amount as Kubernetes has it, as in 1, 500m or 256Mi, found \
             \"{amount}\""
        )),
    }
}

/// True if a text is the name of a namespace or the like (RFC 1123).
fn is_label(text: &str) -> bool {
    let is_of_it = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let at_ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.chars().all(is_of_it)
        && text.starts_with(at_ends)
        && text.ends_with(at_ends)
}

/// True if a text is an amount above nothing.
fn is_quantity(text: &str) -> bool {
    quota::thousandths(text).is_some_and(|amount| amount > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
        Settings::default().check().unwrap();
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("max_jobs = 0", "max_jobs: expected 1 to 1000, found 0"),
            ("namespace = \"A\"", "namespace: expected 1 to 63 small"),
            ("arena = \"arena\"", "arena: expected https://HOST:PORT"),
            ("[bot]\ncpu = \"1\"", "missing field `memory`"),
            (
                "[bot]\ncpu = \"one\"\nmemory = \"1Gi\"",
                "bot.cpu: expected an amount",
            ),
            (
                "[bots.deep]\nmemory = \"much\"",
                "bots.deep.memory: expected an amount",
            ),
            (
                "[bots.deep.resources]\n\"nvidia.com/gpu\" = \"one\"",
                "bots.deep.resources.\"nvidia.com/gpu\": expected an amount",
            ),
            ("[bots.deep]\ngpu = 1", "unknown field `gpu`"),
            (
                "[builder]\nmemory = \"much\"",
                "builder.memory: expected an amount",
            ),
            ("que = \"x\"", "unknown field `que`"),
            ("image_pull_policy = \"never\"", "unknown variant `never`"),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
