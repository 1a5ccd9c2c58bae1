//! The engine: what it is told, what it is asked and what it answers.

use std::sync::Arc;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::{
    belief::{Belief, HandEvidence, SeatDecision, first_joker},
    cards::CardSet,
    round::{PublicRound, RoundOptions, SEATS},
    search::{BigTwoSearchResult, PlayoutLimit, Prospect, SearchTask, evaluate, search},
    settings::SearchSettings,
    worth::MoveWeights,
};

/// An engine in one round, at one seat.
#[derive(Clone, Debug)]
pub struct BigTwoEngine {
    settings: SearchSettings,
    table: PublicRound,
    evidence: HandEvidence,
    /// One for each thread.
    beliefs: Vec<Belief>,
    rngs: Vec<ChaCha8Rng>,
}

impl BigTwoEngine {
    /// Before the first play. `left` is how many cards each seat was dealt; `seed` decides what
    /// the engine draws at random; `weights` are what a move is worth at first sight.
    #[must_use]
    pub fn new(
        options: RoundOptions,
        seat: usize,
        hand: CardSet,
        left: [u32; SEATS],
        seed: u64,
        settings: SearchSettings,
        weights: Arc<MoveWeights>,
    ) -> Self {
        let threads = settings.threads.get();
        Self {
            settings,
            table: PublicRound::new(options, seat),
            evidence: HandEvidence {
                seat,
                decisions: Vec::new(),
                played: [CardSet::NONE; SEATS],
                left,
                hand,
            },
            beliefs: vec![Belief::new(weights, settings.without); threads],
            rngs: (0..threads as u64)
                .map(|thread| ChaCha8Rng::seed_from_u64(seed.wrapping_add(thread)))
                .collect(),
        }
    }

    /// A seat, also that of the engine, has played these cards, or passed where there are none.
    pub fn played(&mut self, seat: usize, cards: CardSet) {
        let evidence = &mut self.evidence;
        self.table.turn = seat;
        if seat == evidence.seat {
            evidence.hand -= cards;
        } else {
            let played = evidence.all_played();
            evidence.decisions.push(SeatDecision {
                seat,
                table: self.table,
                left: evidence.left,
                opens: played.is_empty() && cards.contains_all(CardSet::THREE_OF_CLUBS),
                cards,
                played,
                own: evidence.played[seat],
            });
        }
        evidence.played[seat] |= cards;
        evidence.left[seat] = evidence.left[seat].saturating_sub(cards.len());
        self.table.take(cards, evidence.left[seat] > 0);
    }

    /// A seat has forfeited and takes this place, 1 to 4.
    pub fn forfeited(&mut self, seat: usize, place: u8) {
        self.table.forfeit(seat, place);
    }

    /// The hand of the engine's seat.
    #[must_use]
    pub const fn hand(&self) -> CardSet {
        self.evidence.hand
    }

    /// Searches for the best play now, when it is the turn of the engine's seat.
    pub fn search(&mut self, limit: &PlayoutLimit) -> BigTwoSearchResult {
        self.table.turn = self.evidence.seat;
        let at = SearchTask {
            table: &self.table,
            evidence: &self.evidence,
            settings: &self.settings,
        };
        search(&at, &mut self.beliefs, limit, &mut self.rngs)
    }

    /// The same play of the engine's hand with the first joker where it has both and plays the
    /// second: jokers are alike.
    #[must_use]
    pub fn same(&self, cards: CardSet) -> CardSet {
        first_joker(cards, self.evidence.hand)
    }

    /// The expected result of the seats after each legal move of the engine's seat, when it is its
    /// turn, by so many playouts. Where a play could have either joker, the first is meant.
    pub fn evaluate(&mut self, playouts: u64) -> Vec<Prospect> {
        self.table.turn = self.evidence.seat;
        let at = SearchTask {
            table: &self.table,
            evidence: &self.evidence,
            settings: &self.settings,
        };
        evaluate(&at, &mut self.beliefs[0], playouts, &mut self.rngs[0])
    }
}
