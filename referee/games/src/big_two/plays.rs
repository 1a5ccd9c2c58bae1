//! Every play that a hand has, in the order of plays: kind (single, pair,
//! three, four, straight flush), length, key, fewest jokers, and then the cards
//! with the lowest indices. Every distinct set of cards is a play of its own.

use super::{
    card::{Card, Cards, DECK, JOKER_STRENGTH, Order, Rank, Suit},
    combination::{Combination, CombinationKind, LONGEST, key},
};

/// Enough for nearly every hand.
const ROOM: usize = 128;

/// Every play that beats `to_beat`, or every lead if that is `None`. The pass is not
/// included, and ♣3 has no special role here.
#[must_use]
pub fn plays(hand: Cards, to_beat: Option<Combination>, order: Order) -> Vec<Cards> {
    let mut found = Vec::with_capacity(ROOM);
    match to_beat {
        None => {
            for size in 1..=4 {
                of_a_kind(hand, size, 0, order, &mut found);
            }
            straight_flushes(hand, 0, 0, order, &mut found);
        }
        Some(to_beat) => {
            let least = to_beat.key(order) + 1;
            let length = to_beat.length();
            match to_beat.kind() {
                CombinationKind::StraightFlush => {
                    straight_flushes(hand, length, least, order, &mut found);
                }
                _ => of_a_kind(hand, length, least, order, &mut found),
            }
        }
    }
    found
}

/// The ways to choose one to four suits as bits, those with the lowest suits
/// first.
const SUITS: [&[u8]; 5] = [
    &[],
    &[0b0001, 0b0010, 0b0100, 0b1000],
    &[0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100],
    &[0b0111, 0b1011, 0b1101, 0b1110],
    &[0b1111],
];

/// `size` cards of a rank whose key is at least `least`.
fn of_a_kind(hand: Cards, size: u8, least: u8, order: Order, found: &mut Vec<Cards>) {
    let jokers = hand.jokers();
    for rank in order.ranks().skip(least.into()) {
        let suits = hand.suits_of(rank);
        if suits.count_ones() as u8 + jokers.len() < size || suits == 0 {
            continue;
        }
        for count in 0..=jokers.len().min(size - 1) {
            for &chosen in SUITS[usize::from(size - count)] {
                if chosen & !suits == 0 {
                    let naturals = Cards::of_rank(rank).bits() & u64::from(chosen) << shift(rank);
                    some_jokers(jokers, count, |some| {
                        found.push(Cards::from_bits(naturals) | some);
                    });
                }
            }
        }
    }
    if size <= 2 && least <= JOKER_STRENGTH {
        some_jokers(jokers, size, |some| found.push(some));
    }
}

/// The position of the first bit of a rank.
fn shift(rank: Rank) -> u8 {
    Card::new(rank, Suit::Clubs).index()
}

/// The ways to choose this many of the jokers.
fn some_jokers(jokers: Cards, count: u8, mut choose: impl FnMut(Cards)) {
    match count {
        0 => choose(Cards::NONE),
        1 => jokers.iter().for_each(|joker| choose(joker.into())),
        2 if jokers.len() == 2 => choose(jokers),
        _ => {}
    }
}

/// Straight flushes of this length, or of any where it is 0, whose key is at
/// least `least`.
fn straight_flushes(hand: Cards, length: u8, least: u8, order: Order, found: &mut Vec<Cards>) {
    let mut search = PlaySearch {
        jokers: hand.jokers(),
        length,
        least,
        order,
        ranked: Vec::new(),
    };
    for suit in Suit::ALL {
        let faces = hand.faces_of(suit);
        let mut firsts = faces;
        while firsts != 0 {
            let first = firsts.trailing_zeros();
            firsts &= firsts - 1;
            search.extend(suit, card(suit, first), faces & !(1 << first), first, 0);
        }
    }
    search.ranked.sort_unstable();
    found.extend(search.ranked.into_iter().map(unranked));
}

struct PlaySearch {
    jokers: Cards,
    length: u8,
    least: u8,
    order: Order,
    ranked: Vec<u64>,
}

impl PlaySearch {
    /// Adds each of `faces` above `last` that the jokers can bridge to, and
    /// then more. `gaps` jokers are needed for what is chosen so far.
    fn extend(&mut self, suit: Suit, chosen: Cards, faces: u16, last: u32, gaps: u32) {
        let bridged = u32::from(self.jokers.len()) - gaps;
        let mut next = faces >> (last + 1) & ((1 << (bridged + 1)) - 1);
        while next != 0 {
            let gap = next.trailing_zeros();
            next &= next - 1;
            let face = last + 1 + gap;
            let (chosen, gaps) = (chosen | card(suit, face), gaps + gap);
            self.add(chosen, gaps as u8);
            self.extend(suit, chosen, faces, face, gaps);
        }
    }

    /// Two natural cards or more, with as many jokers as they need and with
    /// more.
    fn add(&mut self, naturals: Cards, gaps: u8) {
        let key = key(naturals, self.order);
        if key < self.least {
            return;
        }
        for count in gaps..=self.jokers.len() {
            let length = naturals.len() + count;
            let wanted = self.length == 0 || self.length == length;
            if wanted && (3..=LONGEST).contains(&length) {
                some_jokers(self.jokers, count, |some| {
                    self.ranked
                        .push(ranked(length, key, count, naturals | some));
                });
            }
        }
    }
}

/// The card of this suit whose face is this many above the ace.
const fn card(suit: Suit, face: u32) -> Cards {
    Cards::from_bits(1 << Card::new(Rank::from_face(face as u8 + 1), suit).index())
}

/// A straight flush as a number by which they are in the order of plays: the
/// cards are turned round, so that low indices weigh most, and inverted, so that
/// having them comes first.
const fn ranked(length: u8, key: u8, jokers: u8, cards: Cards) -> u64 {
    let first = (length as u64) << 60 | (key as u64) << 56 | (jokers as u64) << DECK;
    first | Cards::DECK.bits() ^ turned_round(cards.bits())
}

const fn unranked(ranked: u64) -> Cards {
    Cards::from_bits(turned_round(
        Cards::DECK.bits() & (ranked ^ Cards::DECK.bits()),
    ))
}

const fn turned_round(bits: u64) -> u64 {
    bits.reverse_bits() >> (64 - DECK)
}
