//! Finished games in text formats that other programs read. Those of every game are here; those of
//! one game are in the folder of that game.

use crate::{Game, Record, State, Verdict, pgn};

/// A text format for finished games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFormat {
    /// Its name, as people type it and as its files end: `pgn`.
    pub name: &'static str,
    /// What a game is in it, and who reads it: a phrase for help.
    pub about: &'static str,
}

/// A format, and how a game is written in it.
pub struct FormatWriter<G: Game> {
    /// The format.
    pub format: GameFormat,
    /// The text of one game, with a line break at its end.
    ///
    /// # Errors
    ///
    /// [`NotWritable`] says what of the game the format can't say.
    pub write: fn(&GameToWrite<'_, G>) -> Result<String, NotWritable>,
}

/// A finished game that is to be written.
pub struct GameToWrite<'a, G: Game> {
    /// Its set-up.
    pub setup: &'a G::Setup,
    /// The game before its first question.
    pub dealt: &'a State<G>,
    /// Its record.
    pub record: &'a Record,
    /// Of what it was a game.
    pub occasion: &'a Occasion,
}

/// What a record does not say of its game: of what it was a part, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occasion {
    /// The name of the tournament, or of the folder of the match.
    pub event: Option<String>,
    /// When it was played, in UTC, as in `2026-01-31T23:59:59Z`.
    pub time: Option<String>,
}

/// What of a game a format can't say, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotWritable(pub String);

/// The formats of a game: first those of every game.
pub(crate) fn writers<G: Game>() -> Vec<&'static FormatWriter<G>> {
    let of_every_game: &'static [FormatWriter<G>] = const {
        &[
            FormatWriter {
                format: GameFormat {
                    name: "pgn",
                    about: "Tags and moves as in Portable Game Notation, in every game",
                },
                write: pgn::write::<G>,
            },
            FormatWriter {
                format: GameFormat {
                    name: "moves",
                    about: "One line a game in the notation of the game, below a line that says \
                            which game it is",
                },
                write: moves::<G>,
            },
        ]
    };
    of_every_game.iter().chain(G::FORMATS).collect()
}

/// Writes a line that begins with `#` and says which game it is, and its transcript.
fn moves<G: Game>(game: &GameToWrite<'_, G>) -> Result<String, NotWritable> {
    let header = &game.record.header;
    let notations: Vec<&str> = game
        .record
        .moves()
        .map(|(_, notation, _)| notation)
        .collect();
    let ending = match &game.record.result.verdict {
        Verdict::Finished { outcome, .. } => &outcome.reason,
        Verdict::Void { reason } => reason,
    };
    Ok(format!(
        "# {}: {}, {ending}\n{}\n",
        header.game_id,
        header.players.as_slice().join(" - "),
        G::transcript(game.setup, &game.dealt.public, &notations)
    ))
}
