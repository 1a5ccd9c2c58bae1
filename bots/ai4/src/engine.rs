//! The engine: what it is told, what it is asked and what it answers.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::{
    belief::{Belief, Decision, Evidence},
    cards::CardSet,
    round::{Options, SEATS, Table},
    search::{Candidate, Limit, Settings, search},
};

/// An engine in one round, at one seat.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    table: Table,
    evidence: Evidence,
    belief: Belief,
    rng: ChaCha8Rng,
}

impl Engine {
    /// Before the first play. `left` is how many cards each seat was dealt; `seed` decides what
    /// the engine draws at random.
    #[must_use]
    pub fn new(
        options: Options,
        seat: usize,
        hand: CardSet,
        left: [u32; SEATS],
        seed: u64,
        settings: Settings,
    ) -> Self {
        Self {
            settings,
            table: Table::new(options, seat),
            evidence: Evidence {
                seat,
                reversal: options.reversal,
                decisions: Vec::new(),
                played: [CardSet::NONE; SEATS],
                left,
                hand,
            },
            belief: Belief::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
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
            evidence.decisions.push(Decision {
                seat,
                to_beat: self.table.to_beat(),
                reversed: self.table.reversed,
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

    /// What to play now, when it is the turn of the engine's seat: the candidates, the best first.
    pub fn search(&mut self, limit: &Limit) -> Vec<Candidate> {
        self.table.turn = self.evidence.seat;
        search(
            &self.table,
            &self.evidence,
            &mut self.belief,
            &self.settings,
            limit,
            &mut self.rng,
        )
    }
}
