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
    /// Number of its bots that are images.
    pub(crate) images: usize,
    /// The names of the bots to which the settings give amounts of their own.
    named: Vec<String>,
}

/// A bot of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodBot {
    /// Its name in its games.
    pub name: String,
    /// Its image; none for a built-in bot, which referees bring with them.
    pub image: Option<PodImage>,
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
            images: self.images(),
            named: named.cloned().collect(),
        }
    }

    /// Number of its bots that are images.
    #[must_use]
    pub fn images(&self) -> usize {
        let bots = self.bots.iter();
        bots.filter(|bot| bot.image.is_some()).count()
    }
}

impl PodBot {
    fn of(bot: &LeasedBot) -> Self {
        let image = match bot.entry.launcher().reach() {
            Reach::Container {
                container,
                arguments,
            } => Some(PodImage {
                name: container.image.name.clone(),
                digest: container.image.digest.clone(),
                arguments: (arguments.iter())
                    .map(|argument| argument.to_string_lossy().into_owned())
                    .collect(),
            }),
            Reach::Address(_) | Reach::Program { .. } => None,
        };
        Self {
            name: bot.name.clone(),
            image,
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
