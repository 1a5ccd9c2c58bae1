//! Ways to play that are known: models of the other seats, and of our own in playouts.

use crate::{
    cards::CardSet,
    plays::{CombinationShape, ToBeat, Variants, plays},
    round::BigTwoRound,
    score::{HandScore, score},
    worth::{MoveWeights, SeatSight},
};

/// The question to a seat, with all that it needs to decide by a style.
#[derive(Clone, Copy, Debug)]
pub struct PlayQuestion {
    /// Its hand.
    pub hand: CardSet,
    /// The cards that it has not seen.
    pub unseen: CardSet,
    /// The requirements on its play; none for a lead.
    pub to_beat: Option<ToBeat>,
    /// True if the order is reversed.
    pub reversed: bool,
    /// True if four of a kind reverse the order.
    pub reversal: bool,
    /// True if the play must contain ♣3.
    pub must_open: bool,
}

impl PlayQuestion {
    /// The score of the hand that is left after a play, judged in the order that then holds.
    #[must_use]
    pub fn left(&self, cards: CardSet) -> HandScore {
        let turns = self.reversal && CombinationShape::of(cards) == CombinationShape::Four;
        score(self.hand - cards, self.unseen, self.reversed != turns)
    }

    /// Replaces `found` by the plays that are legal, in the order of plays.
    pub fn plays(&self, variants: Variants, found: &mut Vec<CardSet>) {
        plays(self.hand, self.to_beat, self.reversed, variants, found);
        if self.must_open {
            found.retain(|cards| cards.contains_all(CardSet::THREE_OF_CLUBS));
        }
    }
}

/// The question that a seat is asked in a deal.
pub(crate) fn question(round: &BigTwoRound) -> PlayQuestion {
    PlayQuestion {
        hand: round.hand(),
        unseen: round.unseen(),
        to_beat: round.table.to_beat(),
        reversed: round.table.reversed,
        reversal: round.table.options.reversal,
        must_open: round.must_open(),
    }
}

/// A way to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The lowest play of all, as `ai1`.
    Lowest,
    /// The play that leaves the lowest score, as `ai2`.
    LeastOutranked,
    /// As `ai3`: also counts the cards that are threatened.
    LowerInEither,
    /// The move of the most worth, by the weights of `worth.rs`.
    MostWorth,
}

impl Style {
    /// All styles.
    pub const ALL: [Self; 4] = [
        Self::LeastOutranked,
        Self::LowerInEither,
        Self::Lowest,
        Self::MostWorth,
    ];

    /// The cards that it plays, none for a pass. `room` is overwritten.
    #[must_use]
    pub fn choose(
        self,
        seen: &SeatSight,
        weights: &MoveWeights,
        room: &mut Vec<CardSet>,
    ) -> CardSet {
        let question = &seen.question;
        if self == Self::MostWorth {
            return weights.choose(seen, room);
        }
        question.plays(Variants::FirstJoker, room);
        if room.len() <= 1 {
            return room.first().copied().unwrap_or(CardSet::NONE);
        }
        match self {
            Self::Lowest | Self::MostWorth => room[0],
            Self::LeastOutranked => {
                let mut best = (CardSet::NONE, u32::MAX);
                for &cards in &*room {
                    let sum = question.left(cards).sum;
                    if sum < best.1 {
                        best = (cards, sum);
                    }
                }
                best.0
            }
            Self::LowerInEither => {
                let mut best = (room[0], question.left(room[0]));
                for &cards in &room[1..] {
                    let left = question.left(cards);
                    if left.sum < best.1.sum || left.threatened < best.1.threatened {
                        best = (cards, left);
                    }
                }
                best.0
            }
        }
    }
}
