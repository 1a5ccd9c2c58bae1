//! What is to be played, as far as pods are made for it.

use std::collections::BTreeSet;

use arena_tournament::{Isolation, OpenMatch};
use referee_bots::{Reach, image_label};
use referee_worker::lease::LeasedBot;

use crate::{Settings, names};

/// What is to be played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The tournaments, the first ones before the others where there is a choice.
    pub tournaments: Vec<Tournament>,
    /// The names of tournaments that are to be played and can't be just now, as when another arena
    /// has them or the store is away. What has been made for them is left alone.
    pub others: BTreeSet<String>,
}

/// A tournament that is to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tournament {
    /// What it is called in names and labels.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// What is between its bots.
    pub isolation: Isolation,
    /// How many games a chunk has.
    pub games: u64,
    /// How much memory a bot's process may add after its start, in MiB.
    pub memory_mib: Option<u64>,
    /// Its first matches that can be played, in order.
    pub matches: Vec<Match>,
}

/// A match that can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its number in the schedule.
    pub number: u32,
    /// Who plays, in order of the lineup.
    pub bots: Vec<Bot>,
    /// In how many chunks it is leased, about.
    pub chunks: u64,
}

/// A bot of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    /// What it is called in its games.
    pub name: String,
    /// Its image; none for a built-in bot, which referees bring with them.
    pub image: Option<Image>,
}

/// An image, and what its program is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Without the digest.
    pub name: String,
    /// `sha256:` and 64 digits.
    pub digest: Option<String>,
    /// The arguments.
    pub arguments: Vec<String>,
}

impl Tournament {
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
            matches: matches.iter().map(Match::of).collect(),
        }
    }
}

impl Match {
    fn of(open: &OpenMatch) -> Self {
        Self {
            number: open.matchup,
            bots: open.bots.iter().map(Bot::of).collect(),
            chunks: open.chunks,
        }
    }
}

impl Bot {
    fn of(bot: &LeasedBot) -> Self {
        let image = match bot.entry.launcher().reach() {
            Reach::Container {
                container,
                arguments,
            } => Some(Image {
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

impl Image {
    /// How a node is asked for it.
    #[must_use]
    pub fn reference(&self, settings: &Settings) -> String {
        match &self.digest {
            Some(digest) if settings.pinned => format!("{}@{digest}", self.name),
            _ => self.name.clone(),
        }
    }

    /// What a worker provides that has it.
    #[must_use]
    pub fn label(&self) -> String {
        image_label(&self.name, self.digest.as_deref())
    }

    /// Whether it is not said which image it is, and has to be.
    #[must_use]
    pub const fn lacks_digest(&self, settings: &Settings) -> bool {
        settings.pinned && self.digest.is_none()
    }
}
