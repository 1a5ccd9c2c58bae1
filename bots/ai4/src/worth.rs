//! The worth of a play or a pass at first sight: a linear function of what it leaves and of what
//! everybody knows. Its weights are learned from rounds (`examples/ai4-train.rs`).

use crate::{
    cards::CardSet,
    plays::{CombinationShape, Variants},
    round::{BigTwoRound, PublicRound, SEATS},
    score::HandScore,
    style::PlayQuestion,
    style::question,
};

/// Number of features of a move.
pub const FEATURES: usize = 40;
/// Leads, plays that beat something, passes.
pub const MODES: usize = 3;
/// By the number of cards that are left, 0 to 14.
pub const SIZES: usize = 15;

/// The features of a move.
pub type MoveFeatures = [f32; FEATURES];

/// The weights of the features: for each mode and number of cards left.
#[derive(Clone, Debug)]
pub struct MoveWeights(pub Box<[[MoveFeatures; SIZES]; MODES]>);

impl MoveWeights {
    /// Weights that know nothing.
    #[must_use]
    pub fn zero() -> Self {
        Self(Box::new([[[0.0; FEATURES]; SIZES]; MODES]))
    }

    /// Those that come with the crate.
    ///
    /// # Panics
    ///
    /// If the file that was built in is not what it should be.
    #[must_use]
    pub fn embedded() -> Self {
        Self::from_bytes(include_bytes!("../weights.bin")).expect("weights of this shape")
    }

    /// Reads weights: little-endian numbers of 32 bits. None where they are not so many.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != 4 * MODES * SIZES * FEATURES {
            return None;
        }
        let mut numbers = bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let mut found = Self::zero();
        for weight in found.0.iter_mut().flatten().flatten() {
            *weight = numbers.next()?;
        }
        Some(found)
    }

    /// The inverse of [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.0.iter().flatten().flatten();
        numbers.flat_map(|weight| weight.to_le_bytes()).collect()
    }

    /// The weights for a move: `cards` are none for a pass.
    #[must_use]
    pub fn of(&self, question: &PlayQuestion, cards: CardSet) -> &MoveFeatures {
        let (mode, size) = place(question, cards);
        &self.0[mode][size]
    }

    /// The worth of a move in points.
    #[must_use]
    pub fn worth(&self, seen: &SeatSight, cards: CardSet) -> f32 {
        dot(self.of(&seen.question, cards), &seen.features(cards))
    }

    /// The same for a play that leaves a hand of this score.
    pub(crate) fn worth_of(&self, seen: &SeatSight, cards: CardSet, left: HandScore) -> f32 {
        dot(
            self.of(&seen.question, cards),
            &seen.features_of(cards, left),
        )
    }

    /// The move of the most worth. `room` is overwritten.
    #[must_use]
    pub fn choose(&self, seen: &SeatSight, room: &mut Vec<CardSet>) -> CardSet {
        seen.question.plays(Variants::FirstJoker, room);
        if room.is_empty() {
            return CardSet::NONE;
        }
        if seen.question.to_beat.is_some() {
            room.push(CardSet::NONE);
        }
        let mut best = (room[0], f32::MIN);
        if room.len() > 1 {
            for &cards in &*room {
                let worth = self.worth(seen, cards);
                if worth > best.1 {
                    best = (cards, worth);
                }
            }
        }
        best.0
    }
}

/// The place of the weights of a move: its mode and the number of cards left.
#[must_use]
pub fn place(question: &PlayQuestion, cards: CardSet) -> (usize, usize) {
    let mode = match (cards.is_empty(), question.to_beat) {
        (true, _) => 2,
        (false, Some(_)) => 1,
        (false, None) => 0,
    };
    let left = (question.hand - cards).len() as usize;
    (mode, left.min(SIZES - 1))
}

fn dot(one: &MoveFeatures, other: &MoveFeatures) -> f32 {
    let mut sums = [0.0; 8];
    for (a, b) in one.chunks_exact(8).zip(other.chunks_exact(8)) {
        for index in 0..8 {
            sums[index] += a[index] * b[index];
        }
    }
    sums.iter().sum()
}

/// The round as a seat sees it when it is asked.
#[derive(Clone, Copy, Debug)]
pub struct SeatSight {
    /// The question.
    pub question: PlayQuestion,
    /// Number of cards that each of the seats after it holds, in order; 0 for those not in play.
    others: [u32; 3],
    /// Number of cards that the seat holds that has played last.
    holder: u32,
    /// Number of seats that are out.
    out: u8,
    /// The number of unseen cards of each rank, four bits each.
    counts: u64,
}

const EVERY: u64 = 0x1_1111_1111_1111;

impl SeatSight {
    /// The round as the seat whose turn it is sees it.
    #[must_use]
    pub fn of(round: &BigTwoRound) -> Self {
        Self::new(question(round), &round.table, round.hands.map(CardSet::len))
    }

    /// From a question, the table and how many cards each seat holds.
    #[must_use]
    pub fn new(question: PlayQuestion, table: &PublicRound, left: [u32; SEATS]) -> Self {
        let others = [1, 2, 3].map(|after| {
            let seat = (table.turn + after) % SEATS;
            if table.in_play >> seat & 1 == 1 {
                left[seat]
            } else {
                0
            }
        });
        let bits = question.unseen.naturals().bits();
        let twos = (bits & 0x5_5555_5555_5555) + (bits >> 1 & 0x5_5555_5555_5555);
        let counts = (twos & 0x3_3333_3333_3333) + (twos >> 2 & 0x3_3333_3333_3333);
        Self {
            question,
            others,
            holder: table.top.map_or(0, |top| left[top.by]),
            out: table.out,
            counts,
        }
    }

    /// Number of ranks of the unseen cards that make so many of a kind above this key.
    fn ranks_above(&self, size: u32, key: u8, reversed: bool) -> u32 {
        let jokers = self.question.unseen.jokers().len();
        let naturals = u64::from(size.saturating_sub(jokers).max(1));
        let enough = (self.counts + (8 - naturals) * EVERY) >> 3 & EVERY;
        let above = if key >= 12 {
            0
        } else if reversed {
            enough & ((1 << (4 * (12 - key))) - 1)
        } else {
            enough >> (4 * (key + 1))
        };
        above.count_ones() + u32::from(key < 13 && size <= jokers)
    }

    /// The features of a move.
    #[must_use]
    pub fn features(&self, cards: CardSet) -> MoveFeatures {
        self.features_of(cards, self.question.left(cards))
    }

    fn features_of(&self, cards: CardSet, judged: HandScore) -> MoveFeatures {
        let question = &self.question;
        let hand = question.hand - cards;
        let shape = CombinationShape::of(cards);
        let passes = cards.is_empty();
        let turns = question.reversal && !passes && shape == CombinationShape::Four;
        let reversed = question.reversed != turns;
        let unseen = question.unseen;
        let total = unseen.len().max(1) as f32;
        let jokers = hand.jokers().len();
        let mut f = [0.0; FEATURES];
        f[0] = 1.0;
        f[1] = judged.sum as f32 / (168.0 * total);
        f[2] = judged.threatened as f32;
        f[4] = jokers as f32;
        let mut lowest = [0; 2];
        let mut ranks = hand.ranks();
        f[3] = ranks.count_ones() as f32;
        while ranks != 0 {
            let rank = ranks.trailing_zeros() as u8 / 4;
            ranks &= ranks - 1;
            let count = hand.suits_of(rank).count_ones();
            let above = unseen.above(rank, reversed);
            match above {
                0 => f[5] += count as f32,
                1..=2 => f[6] += count as f32,
                3..=6 => f[7] += count as f32,
                _ => {}
            }
            match count {
                2 => f[8] += 1.0,
                3 => f[9] += 1.0,
                4 => f[10] += 1.0,
                _ => {}
            }
            if above > 2 {
                f[14] += 1.0;
            }
            if above > lowest[0] {
                lowest = [above, lowest[0]];
            } else if above > lowest[1] {
                lowest[1] = above;
            }
            if count + jokers >= 4 {
                f[35] = 1.0;
            }
        }
        f[11] = hand.in_runs(jokers).len() as f32;
        f[12] = lowest[0] as f32 / total;
        f[13] = lowest[1] as f32 / total;
        let least = self.others.into_iter().filter(|&left| left > 0).min();
        match least {
            Some(1) => f[15] = 1.0,
            Some(2) => f[16] = 1.0,
            Some(3) => f[17] = 1.0,
            _ => {}
        }
        let next = self.others.into_iter().find(|&left| left > 0).unwrap_or(0);
        f[18] = f32::from(u8::from(next == 1));
        f[19] = f32::from(u8::from(next == 2));
        f[20] = self.others.iter().sum::<u32>() as f32 / 40.0;
        f[29] = f32::from(u8::from(self.out == 1));
        f[30] = f32::from(u8::from(self.out == 2));
        f[36] = unseen.jokers().len() as f32;
        if passes {
            f[31] = f32::from(u8::from(self.holder == 1));
            f[32] = f32::from(u8::from(self.holder == 2));
            if let Some(to_beat) = question.to_beat {
                let above = match to_beat.shape {
                    CombinationShape::Run => 0,
                    _ => self.ranks_above(to_beat.length, to_beat.key, reversed),
                };
                f[33] = above as f32 / 10.0;
                f[34] = f32::from(u8::from(above == 0));
            }
        } else {
            f[21] = cards.len() as f32 / 4.0;
            f[37] = cards.jokers().len() as f32;
            let above = match shape {
                CombinationShape::Single if cards.naturals().is_empty() => 0,
                CombinationShape::Run => 1,
                _ => self.ranks_above(cards.len(), cards.key(reversed), reversed),
            };
            f[22] = above as f32 / 10.0;
            f[23] = f32::from(u8::from(above == 0));
            f[28] = f32::from(u8::from(above <= 2));
            match shape {
                CombinationShape::Single => {}
                CombinationShape::Pair => f[24] = 1.0,
                CombinationShape::Three => f[25] = 1.0,
                CombinationShape::Four => f[26] = 1.0,
                CombinationShape::Run => f[27] = 1.0,
            }
            // The others that can answer a single with one card left.
            f[38] = f32::from(u8::from(shape == CombinationShape::Single)) * f[15];
        }
        f
    }
}
