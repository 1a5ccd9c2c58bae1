//! `arena exam`: how good is one bot, in points.

mod cases;
mod graded;
mod scores;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use referee_core::{FoulKind, Seat, Verdict};
use serde_json::{Value, json};

use super::Format;
use crate::{End, report, tally::GameResult};

/// One bot against graded opponents.
#[derive(Subcommand)]
pub(crate) enum Exam {
    /// Five groups of ten games against the graded strategies of the ladder
    ConnectFour(graded::Graded),
    /// Cases of eight fixed rounds against `simple`, each with a minimum score
    Mahjong(cases::Cases),
}

impl Exam {
    /// Holds it.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::ConnectFour(exam) => exam.run().await,
            Self::Mahjong(exam) => exam.run().await,
        }
    }
}

/// What all exams are asked.
#[derive(Args)]
struct Paper {
    /// Whose skill is examined: SPEC or NAME=SPEC.
    #[arg(long, value_name = "SPEC")]
    bot: String,
    /// Keeps every contestant's best in this file and shows the scoreboard.
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// One game of an exam.
struct Answer {
    /// The part of the exam that it belongs to.
    part: String,
    opponent: String,
    /// Where the examined bot sat.
    seat: Seat,
    verdict: Verdict,
    /// What it brought, in the exam's unit.
    points: i64,
    plies: usize,
    thought_us: u64,
    play_hash: String,
    record: Option<PathBuf>,
}

impl Answer {
    /// A game in which the examined bot sat here.
    fn new(part: String, opponent: &str, seat: Seat, points: i64, game: &GameResult) -> Self {
        Self {
            part,
            opponent: opponent.to_owned(),
            seat,
            verdict: game.verdict.clone(),
            points,
            plies: game.plies,
            thought_us: game.thought[seat.index()].as_micros() as u64,
            play_hash: game.play_hash.clone(),
            record: game.record.clone(),
        }
    }

    /// What a contestant gets back for a game.
    fn words(&self) -> &'static str {
        Mark::of(&self.verdict, self.seat).words()
    }

    fn event(&self) -> Value {
        json!({
            "type": "exam_game",
            "part": self.part,
            "opponent": self.opponent,
            "seat": self.seat,
            "verdict": self.words(),
            "points": self.points,
            "reason": self.verdict.outcome().map(|outcome| &outcome.reason),
            "foul": self.verdict.foul(self.seat),
            "plies": self.plies,
            "thought_us": self.thought_us,
            "play_hash": self.play_hash,
            "record": self.record,
        })
    }

    /// Its row in the table.
    fn row(&self) -> [String; 7] {
        let record = self.record.as_ref().and_then(|record| record.file_name());
        [
            self.opponent.clone(),
            if self.seat == Seat::new(0) {
                "first"
            } else {
                "second"
            }
            .to_owned(),
            self.words().to_owned(),
            self.points.to_string(),
            self.plies.to_string(),
            report::time(self.thought_us),
            record.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        ]
    }
}

const HEADER: [&str; 7] = [
    "opponent", "seat", "verdict", "points", "moves", "time", "record",
];

/// How a game ended for the bot that is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Win,
    Draw,
    Loss,
    Foul(FoulKind),
    /// Ours: it counts for nothing.
    Void,
}

impl Mark {
    fn of(verdict: &Verdict, seat: Seat) -> Self {
        let Some(outcome) = verdict.outcome() else {
            return Self::Void;
        };
        if let Some(foul) = verdict.foul(seat) {
            return Self::Foul(foul.kind());
        }
        let places = &outcome.places;
        let best = places.iter().filter(|(_, place)| **place == 1).count();
        match (places[seat], best) {
            (1, 1) => Self::Win,
            (1, _) => Self::Draw,
            _ => Self::Loss,
        }
    }

    /// As the rules page of the exam names it.
    const fn words(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Draw => "draw",
            Self::Loss => "loss",
            Self::Foul(kind) => kind.contest_words(),
            Self::Void => "system error",
        }
    }
}

#[cfg(test)]
mod tests {
    use referee_core::{Foul, Outcome, SeatFoul};

    use super::*;

    #[test]
    fn every_game_gets_a_word() {
        let seat = Seat::new(1);
        let finished = |places: Vec<u8>, foul: Option<Foul>| Verdict::Finished {
            outcome: Outcome {
                places: places.into(),
                scores: vec![0, 0].into(),
                reason: "it is over".to_owned(),
            },
            fouls: foul
                .into_iter()
                .map(|foul| SeatFoul { seat, foul })
                .collect(),
        };
        let late = Foul::Late {
            limit: std::time::Duration::from_secs(3),
        };
        for (verdict, expected) in [
            (finished(vec![2, 1], None), "win"),
            (finished(vec![1, 1], None), "draw"),
            (finished(vec![1, 2], None), "loss"),
            (finished(vec![1, 2], Some(Foul::HungUp)), "runtime error"),
            (finished(vec![1, 2], Some(late)), "time limit exceeded"),
        ] {
            assert_eq!(Mark::of(&verdict, seat).words(), expected);
        }
        let void = Verdict::Void {
            reason: "ours".to_owned(),
        };
        assert_eq!(Mark::of(&void, seat).words(), "system error");
    }
}
