//! `arena exam`: how good is one bot, in points.

mod cases;
mod graded;
mod scores;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use referee_core::{Seat, Verdict};
use serde_json::{Value, json};

use super::Format;
use crate::{End, report};

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
    /// What a contestant gets back for a game.
    fn words(&self) -> &'static str {
        words(&self.verdict, self.seat)
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

/// Win, draw, loss, or what the bot did wrong, as the rules page of the exam
/// names it.
fn words(verdict: &Verdict, seat: Seat) -> &'static str {
    match verdict {
        Verdict::Void { .. } => "system error",
        Verdict::Finished { outcome, .. } => {
            if let Some(foul) = verdict.foul(seat) {
                return foul.kind().contest_words();
            }
            let places = &outcome.places;
            let best = places.iter().filter(|(_, place)| **place == 1).count();
            match (places[seat], best) {
                (1, 1) => "win",
                (1, _) => "draw",
                _ => "loss",
            }
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
            assert_eq!(words(&verdict, seat), expected);
        }
        let void = Verdict::Void {
            reason: "ours".to_owned(),
        };
        assert_eq!(words(&void, seat), "system error");
    }
}
