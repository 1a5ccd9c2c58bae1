//! `arena replay`: steps through records, proves them, explains them, and puts them
//! to other bots. One file a verb.

mod explain;
mod house;
mod rerun;
mod search;
mod show;
mod verify;

use clap::Subcommand;
use referee_core::{Record, Verdict};

use crate::End;

#[derive(Subcommand)]
pub(crate) enum Replay {
    /// Show a game: its moves, its times, its board
    Show(show::Show),
    /// Play records again and compare: exit code 1 if one is not what it says
    Verify(verify::Verify),
    /// Say which move turned a game, as far as playing on from each can tell
    Explain(explain::Explain),
    /// Put a seat of a game to another bot: what would it have played?
    Rerun(rerun::Rerun),
}

impl Replay {
    pub(crate) fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Show(show) => show.run(),
            Self::Verify(verify) => verify.run(),
            Self::Explain(explain) => explain.run(),
            Self::Rerun(rerun) => super::on_runtime(rerun.run()),
        }
    }
}

/// How a game ended.
fn in_words(record: &Record) -> String {
    match &record.result.verdict {
        Verdict::Void { reason } => format!("void: {reason}"),
        Verdict::Finished { outcome, fouls } => {
            let players = &record.header.players;
            let first: Vec<_> = outcome
                .places
                .iter()
                .filter(|(_, place)| **place == 1)
                .map(|(seat, _)| players[seat].as_str())
                .collect();
            let won = match &first[..] {
                [] => "nobody won".to_owned(),
                [winner] => format!("{winner} won"),
                _ => "a draw".to_owned(),
            };
            let mut text = format!("{won}: {}", outcome.reason);
            for foul in fouls {
                text += &format!("; {}: {}", players[foul.seat], foul.foul);
            }
            text
        }
    }
}
