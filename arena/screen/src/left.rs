//! A game that was left before it was over, in a file with which it goes on. The file holds what
//! nobody may see while the game goes on, so its owner alone can read it.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use arena_play::{GivenAnswer, SeatPlayer, Seating};
use referee_bots::{Entry, OutputOptions, read_input_text, write_output};
use referee_cli::{bots::schemes, usage};
use referee_core::{Limits, Seed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most bytes of a file: more than any game has.
const MOST_BYTES: u64 = 16 << 20;

/// A game with the answers so far: none where it has not begun.
pub(super) struct GameSoFar {
    pub(super) seating: Seating,
    pub(super) answers: Vec<Vec<GivenAnswer>>,
    /// The file that it is saved in.
    pub(super) file: PathBuf,
    /// True if it comes from this file.
    is_of_file: bool,
}

/// Content of the file.
#[derive(Serialize, Deserialize)]
struct LeftGame {
    game: String,
    setup: Value,
    seed: Seed,
    game_id: String,
    limits: Limits,
    people_are_timed: bool,
    /// In order of the seats.
    players: Vec<LeftPlayer>,
    answers: Vec<Vec<GivenAnswer>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LeftPlayer {
    Person(String),
    Bot { name: String, spec: String },
}

impl GameSoFar {
    /// A game that has not begun. Its file would be a new one in this folder.
    pub(super) fn new(seating: Seating) -> Self {
        let name = &seating.game_id;
        let mut files = (2..).map(|number| PathBuf::from(format!("{name}-{number}.json")));
        let first = PathBuf::from(format!("{name}.json"));
        let file = match first.exists() {
            true => files.find(|file| !file.exists()).unwrap_or(first),
            false => first,
        };
        Self {
            seating,
            answers: Vec::new(),
            file,
            is_of_file: false,
        }
    }

    /// Reads a game that was left.
    ///
    /// # Errors
    ///
    /// It can't be read, or is none.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = file.display();
        let text = read_input_text(file, MOST_BYTES);
        let text = text.with_context(|| format!("could not read {name}"))?;
        let Ok(left) = serde_json::from_str::<LeftGame>(&text) else {
            return usage(format!(
                "{name} is no game that `arena play` has saved; a record is shown by `arena replay \
                 show {name}`"
            ));
        };
        let schemes = schemes()?;
        let players = left.players.into_iter().map(|player| match player {
            LeftPlayer::Person(name) => Ok(SeatPlayer::Person(name)),
            LeftPlayer::Bot { name, spec } => {
                Ok(SeatPlayer::Bot(Entry::read(&spec, &schemes)?.renamed(name)))
            }
        });
        let players: anyhow::Result<Vec<_>> = players.collect();
        Ok(Self {
            seating: Seating {
                kind: arena_tournament::find_game(&left.game)?,
                setup: left.setup,
                seed: left.seed,
                game_id: left.game_id,
                limits: left.limits,
                people_are_timed: left.people_are_timed,
                players: players?,
            },
            answers: left.answers,
            file: file.to_owned(),
            is_of_file: true,
        })
    }

    /// Writes the game with the answers that there are by now.
    ///
    /// # Errors
    ///
    /// It can't be written.
    pub(super) fn save(&self, answers: &[Vec<GivenAnswer>]) -> io::Result<()> {
        let Seating {
            kind,
            setup,
            seed,
            game_id,
            limits,
            people_are_timed,
            players,
        } = &self.seating;
        let players = players.iter().map(|player| match player {
            SeatPlayer::Person(name) => LeftPlayer::Person(name.clone()),
            SeatPlayer::Bot(entry) => LeftPlayer::Bot {
                name: entry.name.clone(),
                spec: entry.spec.clone(),
            },
        });
        let left = LeftGame {
            game: referee_games::game_name(kind.info().name),
            setup: setup.clone(),
            seed: *seed,
            game_id: game_id.clone(),
            limits: *limits,
            people_are_timed: *people_are_timed,
            players: players.collect(),
            answers: answers.to_vec(),
        };
        let options = OutputOptions {
            overwrites: self.is_of_file,
            is_private: true,
            waits: false,
        };
        write_output(&self.file, &serde_json::to_vec(&left)?, options)
    }
}
