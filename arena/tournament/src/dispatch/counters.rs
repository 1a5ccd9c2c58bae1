//! Counters beside results: of each game, and of the run.

use std::collections::BTreeMap;

use arena_ladder::{Entrant, Failure, HalfPoints};
use arena_store::{Counter, GameEnding};
use parking_lot::Mutex;
use referee_core::Seat;
use referee_worker::Summary;

use crate::workers::failure;

/// Counters that belong to no game. They are stored with the next one.
#[derive(Debug, Default)]
pub struct RunCounters(Mutex<BTreeMap<Counter, i64>>);

impl RunCounters {
    /// Adds one to a counter.
    pub fn count(&self, counter: Counter) {
        let mut counters = self.0.lock();
        *counters.entry(counter).or_insert(0) += 1;
    }

    /// Gives what has been counted, and begins anew.
    pub(super) fn take(&self) -> impl Iterator<Item = (Counter, i64)> + use<> {
        let mut counters = self.0.lock();
        std::mem::take(&mut *counters).into_iter()
    }
}

/// The counters of a game beside its result: answers by the time they took, fouls, seats, its
/// ending, and games and failures by worker. `who` gives the entrant in a seat.
pub(crate) fn game_counters(
    summary: &Summary,
    worker: Option<&str>,
    who: impl Fn(usize) -> Option<Entrant>,
) -> BTreeMap<(Option<Entrant>, Counter), i64> {
    let mut counted = BTreeMap::new();
    let mut add = |who: Option<Entrant>, counter: Counter, count: i64| {
        *counted.entry((who, counter)).or_insert(0) += count;
    };
    for (seat, buckets) in summary.thinking.iter().enumerate() {
        if let Some(entrant) = who(seat) {
            for (bucket, count) in buckets {
                add(Some(entrant), Counter::Thinking(*bucket), (*count).into());
            }
        }
    }
    for (seat, count) in summary.excused.iter().enumerate() {
        if let Some(entrant) = who(seat).filter(|_| *count > 0) {
            add(Some(entrant), Counter::Excused, (*count).into());
        }
    }
    for foul in &summary.fouls {
        let who = who(foul.seat.index());
        add(who, Counter::Foul(foul.foul.kind()), 1);
    }
    let points = HalfPoints::of_places(&summary.places);
    for (seat, points) in (0..).map(Seat::new).zip(points) {
        add(None, Counter::HalfPoints(seat), points.0.into());
        if let Some(entrant) = who(seat.index()) {
            add(Some(entrant), Counter::Seat(seat), 1);
        }
    }
    add(None, Counter::Ended(ending(summary)), 1);
    if let Some(worker) = worker {
        for entrant in (0..summary.places.len()).filter_map(&who) {
            add(Some(entrant), Counter::WorkerGames(worker.to_owned()), 1);
        }
        for foul in &summary.fouls {
            let kind = match failure(foul.foul.kind()) {
                Some(Failure::Late) => Counter::WorkerLate,
                Some(Failure::Crashed) => Counter::WorkerFailed,
                None => continue,
            };
            if let Some(entrant) = who(foul.seat.index()) {
                add(Some(entrant), kind(worker.to_owned()), 1);
            }
        }
    }
    counted
}

/// The ending of a game.
pub(crate) fn ending(summary: &Summary) -> GameEnding {
    let first = summary.places.iter().filter(|place| **place == 1).count();
    match summary.fouls.first() {
        Some(foul) => GameEnding::Foul(foul.foul.kind()),
        None if first > 1 => GameEnding::Draw,
        None => GameEnding::Rules,
    }
}
