//! `arena exam`: how good is one bot, in points.

mod cases;
mod graded;
mod scores;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use arena_events::{
    Event,
    exam::{ExamGameEvent, ExamRank, ExamVerdict},
};
use arena_store::GameRow;
use arena_tournament::{EndedGame, events};
use clap::{Args, Subcommand};
use referee_core::{FoulKind, Seat};

use self::scores::Scores;
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
#[derive(Clone)]
struct Answer {
    /// The part of the exam that it belongs to.
    part: String,
    opponent: String,
    /// Where the examined bot sat.
    seat: Seat,
    mark: Mark,
    /// What it brought, in the exam's unit.
    points: i64,
    game: EndedGame,
}

impl Answer {
    /// A game of the examined bot, which is the first of the lineup.
    fn new(part: String, points: impl Fn(&GameRow, Seat, Mark) -> i64, game: &EndedGame) -> Self {
        let row = &game.row;
        let seat = row.order.iter().take_while(|place| **place != 0).count();
        let others = game.players.iter().enumerate();
        let mut others = others.filter(|(other, _)| *other != seat);
        let opponent = others.next().map_or("", |(_, name)| name);
        let seat = Seat::new(seat as u8);
        let mark = Mark::of(row, seat);
        Self {
            part,
            opponent: opponent.to_owned(),
            seat,
            mark,
            points: points(row, seat, mark),
            game: game.clone(),
        }
    }

    fn event(&self) -> Event {
        let row = &self.game.row;
        let foul = row.fouls.iter().find(|foul| foul.seat == self.seat);
        let record = self.game.record.as_ref();
        Event::ExamGame(ExamGameEvent {
            part: self.part.clone(),
            opponent: self.opponent.clone(),
            seat: self.seat.index() as u8,
            verdict: self.mark.verdict(),
            marks: self.points,
            reason: (!row.places.is_empty()).then(|| row.reason.clone()),
            foul: foul.map(|foul| events::evidence(&foul.foul)),
            plies: row.plies.into(),
            thought_us: row.thought_us[self.seat.index()],
            play_hash: row.play_hash.clone(),
            record: record.map(|record| record.display().to_string()),
        })
    }

    /// Its row in the table.
    fn row(&self) -> [String; 7] {
        let seat = match self.seat.index() {
            0 => "first",
            _ => "second",
        };
        [
            self.opponent.clone(),
            seat.to_owned(),
            self.mark.words().to_owned(),
            self.points.to_string(),
            self.game.row.plies.to_string(),
            report::time(self.game.row.thought_us[self.seat.index()]),
            match self.game.record {
                Some(_) => self.game.game_id.clone(),
                None => String::new(),
            },
        ]
    }
}

/// The games of a run as they end, kept and told.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<Answer>>>);

impl Answers {
    /// Takes a game, and says what it is for programs.
    fn add(&self, answer: Answer) -> Event {
        let event = answer.event();
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(answer);
        event
    }

    /// All of them, in order of the games.
    fn take(&self) -> Vec<Answer> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answers = std::mem::take(&mut *answers);
        answers.sort_by_key(|answer| (answer.game.row.group, answer.game.row.seating));
        answers
    }
}

/// The scoreboard, for programs.
fn scoreboard(scores: &Scores, exam: &str) -> Vec<ExamRank> {
    let ranks = scores.ranked(exam).into_iter();
    ranks
        .map(|rank| ExamRank {
            rank: rank.rank as u64,
            bot: rank.name,
            marks: rank.points,
            parts: rank.parts as u64,
        })
        .collect()
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
    fn of(game: &GameRow, seat: Seat) -> Self {
        let Some(place) = game.places.get(seat.index()) else {
            return Self::Void;
        };
        if let Some(foul) = game.fouls.iter().find(|foul| foul.seat == seat) {
            return Self::Foul(foul.foul.kind());
        }
        let best = game.places.iter().filter(|place| **place == 1).count();
        match (place, best) {
            (1, 1) => Self::Win,
            (1, _) => Self::Draw,
            _ => Self::Loss,
        }
    }

    /// For programs.
    const fn verdict(self) -> ExamVerdict {
        match self {
            Self::Win => ExamVerdict::Win,
            Self::Draw => ExamVerdict::Draw,
            Self::Loss => ExamVerdict::Loss,
            Self::Void => ExamVerdict::SystemError,
            Self::Foul(kind) => match kind {
                FoulKind::Illegal => ExamVerdict::IllegalMove,
                FoulKind::Late => ExamVerdict::TimeLimitExceeded,
                FoulKind::MemoryExceeded => ExamVerdict::MemoryLimitExceeded,
                FoulKind::Oversized => ExamVerdict::OutputLimitExceeded,
                _ => ExamVerdict::RuntimeError,
            },
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
    use arena_ladder::MatchId;
    use referee_core::{Foul, SeatFoul};

    use super::*;

    #[test]
    fn every_game_gets_a_word() {
        let seat = Seat::new(1);
        let game = |places: &[u8], foul: Option<Foul>| GameRow {
            group: 0,
            seating: 0,
            games_in_group: 1,
            matchup: MatchId(0),
            lineup: vec![None, None],
            order: vec![0, 1],
            places: places.to_vec(),
            scores: vec![0, 0],
            reason: "it is over".to_owned(),
            fouls: foul
                .into_iter()
                .map(|foul| SeatFoul { seat, foul })
                .collect(),
            plies: 0,
            thought_us: vec![0, 0],
            course: 0,
            play_hash: String::new(),
            voided: 0,
            finished_unix_ms: 0,
            counters: Vec::new(),
        };
        let late = Foul::Late {
            limit: std::time::Duration::from_secs(3),
        };
        for (game, expected) in [
            (game(&[2, 1], None), "win"),
            (game(&[1, 1], None), "draw"),
            (game(&[1, 2], None), "loss"),
            (game(&[1, 2], Some(Foul::HungUp)), "runtime error"),
            (game(&[1, 2], Some(late)), "time limit exceeded"),
            (game(&[], None), "system error"),
        ] {
            assert_eq!(Mark::of(&game, seat).words(), expected);
        }
    }
}
