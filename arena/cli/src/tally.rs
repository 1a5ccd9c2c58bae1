//! What a run's games add up to.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{Hash as _, Hasher as _},
    path::PathBuf,
    time::Duration,
};

use hdrhistogram::Histogram;
use referee_core::{Event, FoulKind, Record, Seat, Verdict};
use serde::Serialize;

use crate::run::Pairing;

/// One game that was played.
#[derive(Clone, Debug)]
pub(crate) struct GameResult {
    pub(crate) pairing: Pairing,
    pub(crate) verdict: Verdict,
    /// What each seat thought in all.
    pub(crate) thought: Vec<Duration>,
    /// How many moves were made.
    pub(crate) plies: usize,
    pub(crate) play_hash: String,
    /// The same for games with the same deal and the same moves.
    pub(crate) course: u64,
    pub(crate) record: Option<PathBuf>,
}

/// How one bot did.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) bot: usize,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
    /// A win is 1, a draw is shared.
    pub(crate) points: f64,
    /// How often it committed which foul.
    pub(crate) fouls: BTreeMap<FoulKind, u32>,
    /// The first foul, its game and its evidence.
    pub(crate) first_foul: Option<(String, String)>,
    /// Thinking times of its answers, in microseconds.
    thinking: Histogram<u64>,
}

/// Three figures of a bot's thinking times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Thinking {
    pub(crate) median_us: u64,
    pub(crate) p99_us: u64,
    pub(crate) max_us: u64,
}

/// How all bots of a run did.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    standings: Vec<Standing>,
    games: u32,
    distinct: BTreeSet<u64>,
    voided: u32,
}

impl GameResult {
    pub(crate) fn new(pairing: &Pairing, record: &Record) -> Self {
        Self {
            pairing: pairing.clone(),
            verdict: record.result.verdict.clone(),
            thought: record
                .result
                .thought_us
                .as_slice()
                .iter()
                .map(|&us| Duration::from_micros(us))
                .collect(),
            plies: moves(record).count(),
            play_hash: record.play_hash(),
            course: course(record),
            record: None,
        }
    }
}

/// Every move that stood: who, which, and how long it took.
fn moves(record: &Record) -> impl Iterator<Item = (Seat, &str, Duration)> {
    record.events.iter().filter_map(|event| match event {
        Event::Answered {
            seat,
            notation: Some(notation),
            thought,
            ..
        } => Some((*seat, notation.as_str(), *thought)),
        _ => None,
    })
}

fn course(record: &Record) -> u64 {
    let mut hash = std::hash::DefaultHasher::new();
    record.header.seed.bytes().hash(&mut hash);
    for (seat, notation, _) in moves(record) {
        (seat, notation).hash(&mut hash);
    }
    hash.finish()
}

impl Tally {
    pub(crate) fn new(bots: usize) -> Self {
        Self {
            standings: (0..bots).map(Standing::new).collect(),
            games: 0,
            distinct: BTreeSet::new(),
            voided: 0,
        }
    }

    /// Adds a game.
    pub(crate) fn add(&mut self, result: &GameResult, record: &Record, voided: u32) {
        self.games += 1;
        self.voided += voided;
        self.distinct.insert(result.course);
        for (seat, _, thought) in moves(record) {
            let bot = result.pairing.bots[seat.index()];
            // Up to an hour, the histogram's range.
            self.standings[bot]
                .thinking
                .saturating_record(thought.as_micros() as u64);
        }
        let Verdict::Finished { outcome, fouls } = &result.verdict else {
            return;
        };
        let best = outcome.places.as_slice().iter().min().copied().unwrap_or(1);
        let first: Vec<bool> = outcome
            .places
            .as_slice()
            .iter()
            .map(|&place| place == best && best == 1)
            .collect();
        let shared = first.iter().filter(|first| **first).count();
        for (&bot, first) in result.pairing.bots.iter().zip(&first) {
            let standing = &mut self.standings[bot];
            match (first, shared) {
                (false, _) => standing.losses += 1,
                (true, 1) => {
                    standing.wins += 1;
                    standing.points += 1.0;
                }
                (true, _) => {
                    standing.draws += 1;
                    standing.points += 1.0 / shared as f64;
                }
            }
        }
        for foul in fouls {
            let standing = &mut self.standings[result.pairing.bots[foul.seat.index()]];
            *standing.fouls.entry(foul.foul.kind()).or_default() += 1;
            standing
                .first_foul
                .get_or_insert_with(|| (result.pairing.id(), foul.foul.to_string()));
        }
    }

    /// The bots, best first; by name of place in the run among equals.
    pub(crate) fn ranked(&self) -> Vec<&Standing> {
        let mut ranked: Vec<_> = self.standings.iter().collect();
        ranked.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.bot.cmp(&b.bot)));
        ranked
    }

    pub(crate) const fn games(&self) -> u32 {
        self.games
    }

    /// Whether some bot never got as far as playing.
    pub(crate) fn never_started(&self) -> Vec<&Standing> {
        self.standings
            .iter()
            .filter(|standing| {
                let starts: u32 = standing
                    .fouls
                    .iter()
                    .filter(|(kind, _)| kind.is_start())
                    .map(|(_, count)| count)
                    .sum();
                standing.games() > 0 && starts == standing.games()
            })
            .collect()
    }

    /// What a reader of the table should know besides.
    pub(crate) fn warnings(&self, names: &[String]) -> Vec<String> {
        let mut warnings = Vec::new();
        for standing in &self.standings {
            if let Some((game, evidence)) = &standing.first_foul {
                let count: u32 = standing.fouls.values().sum();
                warnings.push(format!(
                    "{} committed {}, the first in {game}: {evidence}",
                    names[standing.bot],
                    plural(count, "foul")
                ));
            }
        }
        let distinct = self.distinct.len() as u32;
        // Half of them are to be expected: a bot that moves as its seed says does
        // the same from either side.
        if self.games >= 4 && 2 * distinct < self.games {
            warnings.push(format!(
                "the sample is {}, but only {distinct} distinct: these bots repeat themselves",
                plural(self.games, "game")
            ));
        }
        if self.voided > 0 {
            warnings.push(format!(
                "the referee was late: {} had to be played again",
                plural(self.voided, "game")
            ));
        }
        warnings
    }
}

impl Standing {
    fn new(bot: usize) -> Self {
        Self {
            bot,
            wins: 0,
            draws: 0,
            losses: 0,
            points: 0.0,
            fouls: BTreeMap::new(),
            first_foul: None,
            thinking: Histogram::new_with_bounds(1, 3_600_000_000, 2)
                .expect("one hour in microseconds with two digits is a range"),
        }
    }

    pub(crate) const fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points by game, from 0 to 1; 0 before the first.
    pub(crate) fn score(&self) -> f64 {
        if self.games() == 0 {
            0.0
        } else {
            self.points / f64::from(self.games())
        }
    }

    /// None before the first answer.
    pub(crate) fn thinking(&self) -> Option<Thinking> {
        (!self.thinking.is_empty()).then(|| Thinking {
            median_us: self.thinking.value_at_quantile(0.5),
            p99_us: self.thinking.value_at_quantile(0.99),
            max_us: self.thinking.max(),
        })
    }
}

/// `1 game`, `2 games`.
pub(crate) fn plural(count: u32, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}
