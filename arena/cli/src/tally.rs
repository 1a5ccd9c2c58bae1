//! What a run's games add up to.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use arena_ladder::HalfPoints;
use hdrhistogram::Histogram;
use referee_core::{Event, FoulKind, GameInfo, Record, Seat, Verdict};
use referee_games::game;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

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
    /// The same for games that began in the same way and had the same moves.
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
    /// How often it took each place; a place that is shared is each one's.
    pub(crate) places: Vec<u32>,
    /// One for each seat that it came out before; what lies between seats that
    /// share a place is shared.
    pub(crate) points: f64,
    /// By how much its score was above the mean of the others', by deal: the sum
    /// and the number of games.
    margins: BTreeMap<u64, (f64, u32)>,
    /// All its scores.
    score_sum: i64,
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

/// A mean over deals, and how far it may be off (95 %).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Margin {
    pub(crate) mean: f64,
    /// None where there are too few deals to say.
    pub(crate) error: Option<f64>,
    pub(crate) deals: usize,
}

/// Below this an error bar would say more than is known.
const FEWEST_DEALS: usize = 10;
/// The normal distribution's quantile for a two-sided interval of 95 %.
const Z95: f64 = 1.959_963_984_540_054;

/// How all bots of a run did.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    seats: u8,
    purse: i32,
    standings: Vec<Standing>,
    /// Whether the scores say more than who won.
    scored: bool,
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
pub(crate) fn moves(record: &Record) -> impl Iterator<Item = (Seat, &str, Duration)> {
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

/// A number that is the same for games that began in the same way and had the
/// same moves: the first 8 bytes of a SHA-256. Deals with secrets differ by their
/// seeds, others by what everybody is told at the beginning.
pub(crate) fn course(record: &Record) -> u64 {
    let header = &record.header;
    let mut began = Vec::new();
    match game(&header.game).map(|kind| (kind, kind.deal(&header.setup, &header.seed))) {
        Some((kind, Ok(table))) if !kind.has_secrets() => {
            table.write_start(Seat::new(0), &mut began);
        }
        _ => began.extend(header.seed.bytes()),
    }
    let mut hash = Sha256::new().chain_update(began);
    for (seat, notation, _) in moves(record) {
        hash.update([seat.index() as u8]);
        hash.update(notation);
        hash.update([0]);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_le_bytes(first)
}

impl Tally {
    pub(crate) fn new(bots: usize, game: &GameInfo) -> Self {
        let seats = game.seats;
        Self {
            seats,
            purse: game.purse,
            standings: (0..bots).map(|bot| Standing::new(bot, seats)).collect(),
            scored: false,
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
        let places = outcome.places.as_slice();
        let first = places.iter().filter(|&&place| place == 1).count();
        let points = HalfPoints::of_places(places);
        for ((&bot, &place), points) in result.pairing.bots.iter().zip(places).zip(points) {
            let standing = &mut self.standings[bot];
            match (place, first) {
                (1, 1) => standing.wins += 1,
                (1, _) => standing.draws += 1,
                _ => standing.losses += 1,
            }
            if let Some(count) = standing.places.get_mut(usize::from(place).wrapping_sub(1)) {
                *count += 1;
            }
            standing.points += points.points();
        }
        self.add_margins(result, outcome.scores.as_slice(), !fouls.is_empty());
        for foul in fouls {
            let standing = &mut self.standings[result.pairing.bots[foul.seat.index()]];
            *standing.fouls.entry(foul.foul.kind()).or_default() += 1;
            standing
                .first_foul
                .get_or_insert_with(|| (record.header.game_id.clone(), foul.foul.to_string()));
        }
    }

    /// A game that ended by a foul counts here only if the rules credit it.
    fn add_margins(&mut self, result: &GameResult, scores: &[i32], foul: bool) {
        self.scored |= self.seats == 2 && scores.iter().any(|score| score.abs() > 1);
        self.scored |= self.seats > 2 && scores.iter().any(|score| *score < 0);
        if foul && scores.iter().all(|&score| score.abs() <= 1) {
            return;
        }
        for (&bot, &score) in result.pairing.bots.iter().zip(scores) {
            self.standings[bot].score_sum += i64::from(score);
        }
        let all: f64 = scores.iter().copied().map(f64::from).sum();
        for (&bot, &score) in result.pairing.bots.iter().zip(scores) {
            let score = f64::from(score);
            let others = (all - score) / (scores.len() as f64 - 1.0).max(1.0);
            let margin = self.standings[bot].margins.entry(result.pairing.group);
            let (sum, games) = margin.or_default();
            *sum += score - others;
            *games += 1;
        }
    }

    /// What a bot has after all games, where scores are payments.
    pub(crate) fn purse(&self, standing: &Standing) -> Option<i64> {
        let pays = self.scored && self.purse != 0;
        pays.then_some(i64::from(self.purse) + standing.score_sum)
    }

    /// How many seats the game has.
    pub(crate) const fn seats(&self) -> u8 {
        self.seats
    }

    /// How this bot of the run did.
    pub(crate) fn of(&self, bot: usize) -> &Standing {
        &self.standings[bot]
    }

    /// Whether the scores say more than who came out where.
    pub(crate) const fn is_scored(&self) -> bool {
        self.scored
    }

    /// The bots, best first; by name of place in the run among equals.
    pub(crate) fn ranked(&self) -> Vec<&Standing> {
        let mut ranked: Vec<_> = self.standings.iter().collect();
        // Where scores are payments, what counts is what a bot has in the end.
        ranked.sort_by(|a, b| {
            let purses = self.purse(b).cmp(&self.purse(a));
            let scores = b.score().total_cmp(&a.score());
            purses.then(scores).then(a.bot.cmp(&b.bot))
        });
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
    fn new(bot: usize, seats: u8) -> Self {
        Self {
            places: vec![0; seats.into()],
            margins: BTreeMap::new(),
            score_sum: 0,
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
            let most = self.places.len().saturating_sub(1).max(1);
            self.points / most as f64 / f64::from(self.games())
        }
    }

    /// None before the first game.
    pub(crate) fn mean_place(&self) -> Option<f64> {
        let games: u32 = self.places.iter().sum();
        let sum: f64 = (1..)
            .zip(&self.places)
            .map(|(place, count)| f64::from(place) * f64::from(*count))
            .sum();
        (games > 0).then(|| sum / f64::from(games))
    }

    /// By how much its score was above the mean of the others', a game.
    pub(crate) fn margin(&self) -> Option<Margin> {
        let deals = self.margins.len();
        if deals == 0 {
            return None;
        }
        // Games of one deal are no independent sample: their mean is one.
        let means: Vec<f64> = self
            .margins
            .values()
            .map(|(sum, games)| sum / f64::from(*games))
            .collect();
        let mean = means.iter().sum::<f64>() / deals as f64;
        let error = (deals >= FEWEST_DEALS).then(|| {
            let squares: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
            let variance = squares / (deals as f64 - 1.0);
            Z95 * (variance / deals as f64).sqrt()
        });
        Some(Margin { mean, error, deals })
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
