//! The built-in bots, each a mode of one binary. [`HOUSE`] is the only list of them.

pub mod ai1;
pub mod ai2;
pub mod ai3;
pub mod ai4;
mod clock;
mod edge;
pub mod ladder;
mod margin;
mod ponder;
mod random;
mod shanten;
mod simple;
mod spec;
mod straightforward;
mod tenpai;
pub mod uct;
pub mod weights;
pub mod zugzwang;

use std::process::ExitCode;

use referee_core::GameInfo;

pub use bot_kit::{Bot, LocalPlayer};
pub use spec::{LEVELS, Parameters, SpecError, closest};

/// A built-in bot.
pub struct HouseBot {
    /// Its name, as in `house:NAME`.
    pub name: &'static str,
    /// A sentence about its play.
    pub summary: &'static str,
    /// The games that it plays.
    pub games: PlayedGames,
    /// Its parameters: `house:NAME?parameter=value&…`.
    pub parameters: &'static [Parameter],
    /// The quick forms in which it plays demo games: `NAME?parameter=value` or
    /// `AS=NAME?parameter=value`.
    pub shows: &'static [&'static str],
    build: fn(&Parameters) -> Result<Bot, SpecError>,
}

/// The games that a bot plays.
#[derive(Clone, Copy)]
pub enum PlayedGames {
    /// All games.
    All,
    /// These, by their names.
    These(&'static [&'static str]),
}

impl PlayedGames {
    /// True if this one is among them.
    #[must_use]
    pub fn include(self, game: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.contains(&game),
        }
    }

    /// Their names, as text.
    #[must_use]
    pub fn names(self) -> String {
        match self {
            Self::All => "every game".to_owned(),
            Self::These(names) => names.join(", ").replace('_', "-"),
        }
    }
}

/// A parameter of a bot.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub standard: &'static str,
    /// A short description.
    pub summary: &'static str,
}

/// Every built-in bot. A new one is a file and a line here.
pub static HOUSE: &[HouseBot] = &[
    random::BOT,
    uct::BOT,
    ladder::BOT,
    zugzwang::BOT,
    ai1::BOT,
    ai2::BOT,
    ai3::BOT,
    ai4::BOT,
    weights::BOT,
    edge::BOT,
    simple::BOT,
    straightforward::BOT,
    shanten::BOT,
    tenpai::BOT,
];

/// Reads `NAME?parameter=value&…`.
///
/// # Errors
///
/// [`SpecError`] lists what exists instead.
pub fn bot(spec: &str) -> Result<Bot, SpecError> {
    let (house, parameters) = Parameters::read(spec, HOUSE)?;
    (house.build)(&parameters)
}

/// The bot that `NAME?parameter=value&…` names, whatever its parameters.
#[must_use]
pub fn named(spec: &str) -> Option<&'static HouseBot> {
    let name = spec.split('?').next()?;
    HOUSE.iter().find(|bot| bot.name == name)
}

/// A bot that answers within microseconds and can be resumed: one process plays any
/// number of games.
fn quick(name: &str) -> Bot {
    Bot::new(name, env!("CARGO_PKG_VERSION"))
        .max_games(10_000)
        .can_resume()
        .quick()
}

/// The built-in bots that a person may choose from, the weakest first. Each answers within the
/// usual limit, and so soon that a person need not wait long.
const STRENGTHS: &[(&str, &[&str])] = &[
    (
        "connect_four",
        &[
            "random",
            "ladder?level=10",
            "ladder?level=25",
            "ladder?level=50",
            "uct?time=200ms",
            "uct",
            "zugzwang?time=500ms",
        ],
    ),
    (
        "othello",
        &[
            "random",
            "weights?plies=1",
            "weights?plies=3",
            "weights?plies=5",
            "weights?plies=7",
            "edge?level=8",
            "edge?level=10",
            "edge?time=500ms",
        ],
    ),
    (
        "mahjong",
        &[
            "simple",
            "straightforward",
            "tenpai?level=4",
            "tenpai?level=7",
            "shanten",
            "tenpai",
        ],
    ),
    (
        "big_two",
        &["random", "ai1", "ai2", "ai3", "ai4?time=500ms"],
    ),
];

/// The bots that a person may choose from, as `NAME?parameter=value&…`, the weakest first.
#[must_use]
pub fn strengths(game: &GameInfo) -> &'static [&'static str] {
    let known = STRENGTHS.iter().find(|(name, _)| *name == game.name);
    known.map_or(&["random"], |(_, specs)| specs)
}

/// The opponent of a person who has named nobody: `NAME?parameter=value&…`.
#[must_use]
pub fn best(game: &GameInfo) -> &'static str {
    strengths(game).last().unwrap_or(&"random")
}

/// The bots whose estimates judge the moves of a game: enough positions to be right, with fixed
/// work, so that the same game is judged the same again.
const ANALYSTS: &[(&str, &str)] = &[
    ("big_two", "ai4?playouts=400"),
    ("connect_four", "zugzwang?nodes=200000"),
    ("mahjong", "tenpai"),
    ("othello", "edge?nodes=200000"),
];

/// The bot whose estimates judge the moves of a game, as `NAME?parameter=value&…`; none where no
/// bot has estimates.
#[must_use]
pub fn analyst(game: &GameInfo) -> Option<&'static str> {
    let known = ANALYSTS.iter().find(|(name, _)| *name == game.name);
    known.map(|(_, spec)| *spec)
}

/// The bots of a demo game, as `AS=house:NAME?parameter=value`, one for each seat or
/// more.
#[must_use]
pub fn show(game: &GameInfo) -> Vec<String> {
    let mut specs: Vec<String> = HOUSE
        .iter()
        .filter(|bot| bot.games.include(game.name))
        .flat_map(|bot| bot.shows)
        .map(|show| {
            let bare = show.split('?').next().unwrap_or(show);
            match show.split_once('=') {
                Some((name, spec)) if bare.contains('=') => format!("{name}=house:{spec}"),
                _ => format!("{bare}=house:{show}"),
            }
        })
        .collect();
    for number in specs.len()..game.seats.into() {
        specs.push(format!("random-{number}=house:random"));
    }
    specs
}

/// Every bot with its parameters, as text.
#[must_use]
pub fn catalogue() -> String {
    let mut text = String::new();
    for bot in HOUSE {
        text += &format!(
            "  {:<16} {} ({})\n",
            bot.name,
            bot.summary,
            bot.games.names()
        );
        for it in bot.parameters {
            text += &format!(
                "    {}: {} (default: {})\n",
                it.name, it.summary, it.standard
            );
        }
    }
    text
}

/// Runs a bot until it is asked to stop.
#[must_use]
#[expect(clippy::print_stderr, reason = "it is the whole program of a bot")]
pub fn main(spec: &str) -> ExitCode {
    match bot(spec) {
        Ok(bot) => bot.main(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use referee_games::GAMES;

    use super::*;

    #[test]
    fn every_game_can_be_shown() {
        for kind in &GAMES {
            let info = kind.info();
            let specs = show(info);
            assert!(specs.len() >= info.seats.into(), "{specs:?}");
            for spec in specs {
                let (name, spec) = spec.split_once("=house:").unwrap();
                assert!(!name.contains('='), "{name}");
                assert!(bot(spec).is_ok(), "{spec}");
                assert!(named(spec).unwrap().games.include(info.name), "{spec}");
            }
        }
    }

    #[test]
    fn every_game_has_a_best_bot() {
        for kind in &GAMES {
            let info = kind.info();
            let spec = best(info);
            assert_ne!(spec, "random", "{}", info.name);
            assert!(bot(spec).is_ok(), "{spec}");
            assert!(named(spec).unwrap().games.include(info.name), "{spec}");
        }
    }

    #[test]
    fn bots_play_games_that_there_are() {
        for house in HOUSE {
            if let PlayedGames::These(games) = house.games {
                for game in games {
                    assert!(referee_games::game(game).is_some(), "{game}");
                }
            }
        }
    }
}
