//! The summary of a game, read off its record, in the form that results are counted in.

use std::collections::BTreeMap;

use referee_core::{Event, Record, Seat, SeatFoul, Verdict};
use referee_games::game;
use sha2::{Digest as _, Sha256};

use crate::bucket;

/// The result of one game. Lists are by seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Places from 1; seats that share a place have the same.
    pub places: Vec<u8>,
    /// In the game's own unit.
    pub scores: Vec<i32>,
    /// The reason why it ended, as the game says it.
    pub reason: String,
    /// The fouls.
    pub fouls: Vec<SeatFoul>,
    /// Number of moves.
    pub plies: u32,
    /// The thinking time of each seat in all, in microseconds.
    pub thought_us: Vec<u64>,
    /// Number of answers of each seat by thinking time: [`bucket`] to count.
    pub thinking: Vec<BTreeMap<u32, u32>>,
    /// Number of answers of each seat that were late but for a delay of the referee.
    pub excused: Vec<u32>,
    /// The same for games that began in the same way and had the same moves.
    pub course: u64,
    /// The play hash of the record.
    pub play_hash: String,
}

impl Summary {
    /// Reads it off a record whose play hash is known.
    #[must_use]
    pub fn of(record: &Record, play_hash: String) -> Self {
        let (places, scores, reason, fouls) = match &record.result.verdict {
            Verdict::Finished { outcome, fouls } => (
                outcome.places.as_slice().to_vec(),
                outcome.scores.as_slice().to_vec(),
                outcome.reason.clone(),
                fouls.clone(),
            ),
            // A referee that plays void games again never declares one.
            Verdict::Void { reason } => (Vec::new(), Vec::new(), reason.clone(), Vec::new()),
        };
        let seats = record.header.players.as_slice().len();
        let mut thinking = vec![BTreeMap::new(); seats];
        let mut excused = vec![0; seats];
        for event in &record.events {
            if let Event::Answered {
                seat,
                excused: delay,
                ..
            } = event
                && !delay.is_zero()
            {
                excused[seat.index()] += 1;
            }
        }
        let mut plies = 0;
        for (seat, _, thought) in record.moves() {
            plies += 1;
            let bucket = bucket(thought.as_micros() as u64);
            *thinking[seat.index()].entry(bucket).or_insert(0) += 1;
        }
        Self {
            places,
            scores,
            reason,
            fouls,
            plies,
            thought_us: record.result.thought_us.as_slice().to_vec(),
            thinking,
            excused,
            course: course(record),
            play_hash,
        }
    }
}

/// A number that is the same for games that began in the same way and had the
/// same moves: the first 8 bytes, little-endian, of a SHA-256 over the beginning and,
/// for each move, the seat, the notation and a zero byte. The beginning is the seed in
/// a game with secrets, else what everybody is told when the game starts.
#[must_use]
pub fn course(record: &Record) -> u64 {
    let header = &record.header;
    let mut began = Vec::new();
    match game(&header.game).map(|kind| (kind, kind.deal(&header.setup, &header.seed))) {
        Some((kind, Ok(table))) if !kind.has_secrets() => {
            table.write_start(Seat::new(0), &mut began);
        }
        _ => began.extend(header.seed.bytes()),
    }
    let mut hash = Sha256::new().chain_update(began);
    for (seat, notation, _) in record.moves() {
        hash.update([seat.index() as u8]);
        hash.update(notation);
        hash.update([0]);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_le_bytes(first)
}
