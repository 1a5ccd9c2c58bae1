//! Combinations, and every play of a hand in the order of plays.

use crate::cards::{CardSet, JOKER_KEY};

/// The longest straight flush.
const LONGEST: u32 = 13;

/// The kind of a combination. A straight flush is a `Run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CombinationShape {
    /// One card.
    Single,
    /// Two of a rank.
    Pair,
    /// Three of a rank.
    Three,
    /// Four of a rank; it reverses the order.
    Four,
    /// Three or more of a suit with consecutive faces.
    Run,
}

impl CombinationShape {
    /// So many of a kind, 1 to 4.
    const fn of_a_kind(size: u32) -> Self {
        match size {
            1 => Self::Single,
            2 => Self::Pair,
            3 => Self::Three,
            _ => Self::Four,
        }
    }

    /// The shape of cards that are a combination.
    #[must_use]
    pub const fn of(cards: CardSet) -> Self {
        if cards.ranks().count_ones() > 1 {
            Self::Run
        } else {
            Self::of_a_kind(cards.len())
        }
    }
}

/// The requirements on a play that must beat another one: the same shape and length, and a higher
/// key than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToBeat {
    /// The shape.
    pub shape: CombinationShape,
    /// Number of cards.
    pub length: u32,
    /// The key in the order of the moment, 0 to 13.
    pub key: u8,
}

impl ToBeat {
    /// The requirements on a play after these cards, which are a combination, in the order of the
    /// moment.
    #[must_use]
    pub const fn of(cards: CardSet, reversed: bool) -> Self {
        Self {
            shape: CombinationShape::of(cards),
            length: cards.len(),
            key: cards.key(reversed),
        }
    }
}

/// The ways to choose one to four suits as bits, those with the lowest suits first.
const SUITS: [&[u8]; 5] = [
    &[],
    &[0b0001, 0b0010, 0b0100, 0b1000],
    &[0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100],
    &[0b0111, 0b1011, 0b1101, 0b1110],
    &[0b1111],
];

/// The selection of plays that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variants {
    /// Every set of cards.
    All,
    /// The second joker is played alone only where the hand lacks the first.
    FirstJoker,
}

/// Replaces `found` by every play that beats `to_beat`, or by every lead, in the order of plays:
/// kind, length, key, fewest jokers, lowest cards. Neither the pass nor ♣3 has a special role.
pub fn plays(
    hand: CardSet,
    to_beat: Option<ToBeat>,
    reversed: bool,
    variants: Variants,
    found: &mut Vec<CardSet>,
) {
    found.clear();
    let jokers = match variants {
        Variants::All => Jokers::all(hand),
        Variants::FirstJoker => Jokers::first(hand),
    };
    match to_beat {
        None => {
            for size in 1..=4 {
                of_a_kind(hand, size, 0, reversed, jokers, found);
            }
            runs(hand, None, 0, reversed, jokers, found);
        }
        Some(ToBeat { key, .. }) if key >= JOKER_KEY => {}
        Some(ToBeat { shape, length, key }) => match shape {
            CombinationShape::Run => runs(hand, Some(length), key + 1, reversed, jokers, found),
            _ => of_a_kind(hand, length, key + 1, reversed, jokers, found),
        },
    }
}

/// The choices of jokers that a hand has.
#[derive(Clone, Copy)]
struct Jokers {
    count: u32,
    one: [CardSet; 2],
    ones: usize,
    both: CardSet,
}

impl Jokers {
    fn all(hand: CardSet) -> Self {
        let both = hand.jokers();
        let first = both.lowest();
        let ones = both.len();
        Self {
            count: ones,
            one: [first, both - first],
            ones: ones as usize,
            both,
        }
    }

    fn first(hand: CardSet) -> Self {
        let all = Self::all(hand);
        Self {
            ones: all.ones.min(1),
            ..all
        }
    }

    /// The ways to choose so many, 0 to 2, of them.
    fn choices(&self, count: u32) -> &[CardSet] {
        match count {
            0 => &[CardSet::NONE],
            1 => &self.one[..self.ones],
            2 if self.count == 2 => std::slice::from_ref(&self.both),
            _ => &[],
        }
    }
}

fn of_a_kind(
    hand: CardSet,
    size: u32,
    least: u8,
    reversed: bool,
    jokers: Jokers,
    found: &mut Vec<CardSet>,
) {
    // The ranks that are there and high enough, one bit each.
    let mut ranks = hand.ranks();
    if least > 12 {
        ranks = 0;
    } else if reversed {
        ranks &= (1 << (4 * (13 - least))) - 1;
    } else {
        ranks &= !((1 << (4 * least)) - 1);
    }
    while ranks != 0 {
        let bit = if reversed {
            63 - ranks.leading_zeros()
        } else {
            ranks.trailing_zeros()
        };
        ranks ^= 1 << bit;
        let suits = (hand.bits() >> bit) as u8 & 0b1111;
        if suits.count_ones() + jokers.count < size {
            continue;
        }
        for count in 0..=jokers.count.min(size - 1) {
            for &chosen in SUITS[(size - count) as usize] {
                if chosen & !suits == 0 {
                    let naturals = CardSet::from_bits(u64::from(chosen) << bit);
                    for &some in jokers.choices(count) {
                        found.push(naturals | some);
                    }
                }
            }
        }
    }
    if size <= 2 && least <= JOKER_KEY {
        found.extend_from_slice(jokers.choices(size));
    }
}

/// Straight flushes of this length, or of any, whose key is at least `least`.
fn runs(
    hand: CardSet,
    length: Option<u32>,
    least: u8,
    reversed: bool,
    jokers: Jokers,
    found: &mut Vec<CardSet>,
) {
    let part = hand.in_runs(jokers.count).faces();
    if part == 0 {
        return;
    }
    let mut search = Runs {
        length,
        least,
        reversed,
        jokers,
        begin: found.len(),
        found,
    };
    for suit in 0..4 {
        let faces = part >> suit & 0x1_1111_1111_1111;
        let mut firsts = faces;
        while firsts != 0 {
            let first = firsts.trailing_zeros();
            firsts &= firsts - 1;
            search.extend(suit, 1 << first, faces, first, 0);
        }
    }
    let Runs { begin, found, .. } = search;
    found[begin..].sort_unstable_by_key(|cards| {
        let order = cards.len() << 16 | u32::from(cards.key(reversed)) << 8 | cards.jokers().len();
        (order, !cards.bits().reverse_bits())
    });
}

struct Runs<'a> {
    length: Option<u32>,
    least: u8,
    reversed: bool,
    jokers: Jokers,
    begin: usize,
    found: &'a mut Vec<CardSet>,
}

impl Runs<'_> {
    /// Adds each of `faces` above `last` that the jokers can bridge to, and then more. `gaps`
    /// jokers are needed for what is chosen so far. Faces are four bits apart.
    fn extend(&mut self, suit: u32, chosen: u64, faces: u64, last: u32, gaps: u32) {
        for gap in 0..=self.jokers.count - gaps {
            let face = last + 4 + 4 * gap;
            if face < 52 && faces >> face & 1 == 1 {
                let chosen = chosen | 1 << face;
                self.add(CardSet::from_faces(chosen << suit), gaps + gap);
                self.extend(suit, chosen, faces, face, gaps + gap);
            }
        }
    }

    /// Two natural cards or more, with as many jokers as they need and with more.
    fn add(&mut self, naturals: CardSet, gaps: u32) {
        if naturals.key(self.reversed) < self.least {
            return;
        }
        for count in gaps..=self.jokers.count {
            let length = naturals.len() + count;
            if self.length.is_none_or(|wanted| wanted == length) && (3..=LONGEST).contains(&length)
            {
                for &some in self.jokers.choices(count) {
                    self.found.push(naturals | some);
                }
            }
        }
    }
}
