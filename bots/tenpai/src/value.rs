//! The value of a winning hand: its faan.

use crate::{
    shapes::{reading, shapes},
    tile::Tiles,
};

/// The points that a winner is paid for a faan.
pub(crate) const PAY: u32 = 3;

/// The value of a hand of 14 tiles, if it wins.
///
/// `three_suits` says whether a hand of all three suits may win.
#[must_use]
pub fn faan(hand: &Tiles, three_suits: bool) -> Option<u32> {
    let used = hand.suits.iter().filter(|suit| suit.0 != 0).count();
    if used == 3 && !three_suits {
        return None;
    }
    let shapes = shapes();
    let complete = hand.suits.iter().fold(u8::MAX, |both, &suit| {
        both & shapes.readings(shapes.id(suit))
    });
    let seven_pairs = hand.suits.iter().all(|suit| suit.odd() == 0);
    if complete == 0 && !seven_pairs || hand.len() != 14 {
        return None;
    }
    let has = |reading| complete & reading != 0;
    let flush = used == 1;
    let value = if flush && (seven_pairs || has(reading::TERMINALS)) {
        16
    } else if flush && has(reading::TRIPLETS) || has(reading::MIDDLES) {
        8
    } else if flush || seven_pairs || has(reading::TERMINALS) {
        4
    } else if has(reading::TRIPLETS) {
        2
    } else {
        1
    };
    let roots: u32 = hand.suits.iter().map(|suit| suit.fours()).sum();
    Some(value << roots)
}
