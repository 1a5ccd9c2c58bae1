//! The tournaments that are to be played, as far as pods are made for them.

use std::collections::BTreeSet;

use arena_tournament::{Isolation, OpenMatch};
use referee_bots::{Reach, image_label};
use referee_worker::lease::LeasedBot;

use crate::{Settings, names};

/// The tournaments that are to be played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedTournaments {
    /// The tournaments, the first ones before the others where there is a choice.
    pub tournaments: Vec<PodTournament>,
    /// The names of tournaments that are to be played and can't be just now, as when another arena
    /// has them or the store is away. What has been made for them is left alone.
    pub others: BTreeSet<String>,
}

/// A tournament that is to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodTournament {
    /// The key that it has in names and labels.
    pub key: String,
    /// The name that people use.
    pub name: String,
    /// The isolation of its bots from each other.
    pub isolation: Isolation,
    /// Number of games of a chunk.
    pub games: u64,
    /// Most memory that a bot's process may add after its start, in MiB.
    pub memory_mib: Option<u64>,
    /// Its first matches that can be played, in order.
    pub matches: Vec<PodMatch>,
}

/// A match that can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodMatch {
    /// Its number in the schedule.
    pub number: u32,
    /// The bots, in order of the lineup.
    pub bots: Vec<PodBot>,
    /// In how many chunks it is leased, about.
    pub chunks: u64,
}

/// All that the amounts of a game depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GameSize {
    /// Number of its bots that have containers.
    pub(crate) containers: usize,
    /// The names of the bots to which the settings give amounts of their own.
    named: Vec<String>,
}

/// A bot of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodBot {
    /// Its name in its games.
    pub name: String,
    /// Its program.
    pub program: PodProgram,
}

/// The program of a bot of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodProgram {
    /// It is built in: referees bring it with them.
    BuiltIn,
    /// It is in an image.
    Image(PodImage),
    /// It is in an archive, which its referee hands over to a container of the image of hosts.
    Packed {
        /// Labels of what it needs there.
        needs: Vec<String>,
    },
}

/// An image, and what its program is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodImage {
    /// Without the digest.
    pub name: String,
    /// `sha256:` and 64 digits.
    pub digest: Option<String>,
    /// The arguments.
    pub arguments: Vec<String>,
}

impl PodTournament {
    /// A tournament with this commitment and these open matches.
    #[must_use]
    pub fn new(
        commitment: &str,
        name: String,
        isolation: Isolation,
        memory_mib: Option<u64>,
        games: u64,
        matches: &[OpenMatch],
    ) -> Self {
        Self {
            key: names::key(commitment, &name),
            name,
            isolation,
            games,
            memory_mib,
            matches: matches.iter().map(PodMatch::of).collect(),
        }
    }
}

impl PodMatch {
    fn of(open: &OpenMatch) -> Self {
        Self {
            number: open.matchup,
            bots: open.bots.iter().map(PodBot::of).collect(),
            chunks: open.chunks,
        }
    }

    /// All that the amounts of one of its games depend on.
    pub(crate) fn size(&self, settings: &Settings) -> GameSize {
        let names = self.bots.iter().map(|bot| &bot.name);
        let named = names.filter(|name| settings.bots.contains_key(*name));
        GameSize {
            containers: self.containers(),
            named: named.cloned().collect(),
        }
    }

    /// Number of its bots that have containers.
    #[must_use]
    pub fn containers(&self) -> usize {
        self.bots.iter().filter(|bot| bot.has_container()).count()
    }
}

impl PodBot {
    fn of(bot: &LeasedBot) -> Self {
        let launcher = bot.entry.launcher();
        let program = match launcher.reach() {
            _ if launcher.archive().is_some() => PodProgram::Packed {
                needs: launcher.travels_with().unwrap_or_default(),
            },
            Reach::Container {
                container,
                arguments,
            } => PodProgram::Image(PodImage {
                name: container.image.name.clone(),
                digest: container.image.digest.clone(),
                arguments: (arguments.iter())
                    .map(|argument| argument.to_string_lossy().into_owned())
                    .collect(),
            }),
            Reach::Address(_) | Reach::Program { .. } => PodProgram::BuiltIn,
        };
        Self {
            name: bot.name.clone(),
            program,
        }
    }

    /// True if it has a container of its own.
    #[must_use]
    pub const fn has_container(&self) -> bool {
        !matches!(self.program, PodProgram::BuiltIn)
    }

    /// The reason why it can't be started with these settings, and what to do; none where it can.
    #[must_use]
    pub fn obstacle(&self, settings: &Settings) -> Option<String> {
        match &self.program {
            PodProgram::BuiltIn => None,
            PodProgram::Image(image) => image.lacks_digest(settings).then(|| {
                format!(
                    "{} has an image without a digest (image:{}): expected \
                     image:NAME@sha256:DIGEST, or pinned = false in the settings",
                    self.name, image.name
                )
            }),
            PodProgram::Packed { needs } => {
                let lacking: Vec<&str> = (needs.iter())
                    .map(|need| &**need)
                    .filter(|need| !settings.host.has(need))
                    .collect();
                (!lacking.is_empty()).then(|| {
                    format!(
                        "{} needs {}, which the image of hosts does not have: name an image that \
                         has it in the settings (host.image), and say so (host.provides)",
                        self.name,
                        lacking.join(" and ")
                    )
                })
            }
        }
    }
}

impl PodImage {
    /// The reference by which a node is asked for it.
    #[must_use]
    pub fn reference(&self, settings: &Settings) -> String {
        match &self.digest {
            Some(digest) if settings.pinned => format!("{}@{digest}", self.name),
            _ => self.name.clone(),
        }
    }

    /// The label of a worker that has it.
    #[must_use]
    pub fn label(&self) -> String {
        image_label(&self.name, self.digest.as_deref())
    }

    /// True if it has no digest, and has to have one.
    #[must_use]
    pub const fn lacks_digest(&self, settings: &Settings) -> bool {
        settings.pinned && self.digest.is_none()
    }
}
