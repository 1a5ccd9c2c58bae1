//! The value of a winning hand: its faan.

use serde::{Deserialize, Serialize};

use super::{
    hand::{Hand, LARGEST},
    shapes::table,
    target::Complete,
};

/// The rule on a missing suit: whether a winning hand must do without one of the suits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingSuit {
    /// A winning hand must lack a suit.
    #[default]
    Required,
    /// A winning hand may hold all three suits.
    Free,
}

/// The value of a hand of 14 tiles, if it wins: that of the highest row of the table
/// that applies to some reading, doubled for every root (four of a kind).
#[must_use]
#[inline]
pub fn faan(hand: &Hand, missing_suit: MissingSuit) -> Option<u32> {
    let suits = hand.suits();
    let used = suits.iter().filter(|suit| !suit.is_empty()).count();
    if hand.len() != usize::from(LARGEST) || used == 3 && missing_suit == MissingSuit::Required {
        return None;
    }
    let table = table();
    let [c, b, d] = suits.map(|suit| table.shape(table.id(suit)).complete);
    let complete = c.and(b).and(d);
    let flush = used == 1;
    let seven_pairs = suits.iter().all(|suit| suit.odd() == 0);
    let roots: u32 = suits.iter().map(|suit| suit.fours()).sum();
    highest_row(flush, seven_pairs, complete).map(|value| value << roots)
}

/// The highest row of the table that applies to tiles of one suit or of several, which are seven
/// pairs or are not, with these properties.
#[inline]
pub(super) fn highest_row(flush: bool, seven_pairs: bool, complete: Complete) -> Option<u32> {
    let value = if flush && (seven_pairs || complete.has(Complete::TERMINALS)) {
        16
    } else if flush && complete.has(Complete::TRIPLETS) || complete.has(Complete::TWO_FIVE_EIGHT) {
        8
    } else if seven_pairs
        || complete.has(Complete::TERMINALS)
        || flush && complete.has(Complete::MELDS)
    {
        4
    } else if complete.has(Complete::TRIPLETS) {
        2
    } else if complete.has(Complete::MELDS) {
        1
    } else {
        return None;
    };
    Some(value)
}
