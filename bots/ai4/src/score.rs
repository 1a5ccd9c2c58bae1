//! The score of a hand: how much of what others may hold outranks its cards, less where a card can
//! be part of more than a single. `docs/rules/big-two.md` defines it for the bots `ai2` and `ai3`.

use crate::cards::CardSet;

/// A whole card's score, so that all scores are whole numbers: halves, thirds, quarters and 2/7 of
/// it are, and all their products.
const WHOLE: u32 = 168;
/// By how many cards of the rank or jokers there are: 1, 1/2, 1/2 · 1/3, 1/2 · 1/3 · 1/4.
const BY_COUNT: [u32; 8] = [
    WHOLE,
    WHOLE,
    WHOLE / 2,
    WHOLE / 6,
    WHOLE / 24,
    WHOLE / 24,
    WHOLE / 24,
    0,
];

/// A hand, in units of 1 / (168 × unseen cards).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandScore {
    /// The sum of its cards' scores.
    pub sum: u32,
    /// Number of its cards that score above 0.06.
    pub threatened: u32,
}

/// Judges a hand by the cards that its seat has not seen.
#[must_use]
pub fn score(hand: CardSet, unseen: CardSet, reversed: bool) -> HandScore {
    let jokers = hand.jokers().len();
    let in_runs = hand.in_runs(jokers);
    let least = 6 * WHOLE * unseen.len();
    let mut found = HandScore {
        sum: 0,
        threatened: 0,
    };
    let mut ranks = hand.ranks();
    while ranks != 0 {
        let rank = ranks.trailing_zeros() as u8 / 4;
        ranks &= ranks - 1;
        let suits = hand.suits_of(rank);
        let above = unseen.above(rank, reversed);
        let whole = above * BY_COUNT[((suits.count_ones() + jokers) & 7) as usize];
        let part = whole * 2 / 7;
        let run_suits = suits & in_runs.suits_of(rank);
        let (alone, joined) = ((suits & !run_suits).count_ones(), run_suits.count_ones());
        found.sum += alone * whole + joined * part;
        found.threatened +=
            alone * u32::from(100 * whole > least) + joined * u32::from(100 * part > least);
    }
    found
}
