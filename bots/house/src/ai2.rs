//! `ai2`: Big Two, by what a play leaves in the hand. A card scores the share of
//! the unseen cards that outrank it, less where it can be part of more than a
//! single; the play that leaves the lowest sum is taken. It never passes when
//! it can play.

use bot_kit::{Bot, Thinker, Turn};
use referee_games::big_two::{BigTwo, Cards, Combination, Move, Order, Rank, Suit, View};

use crate::{HouseBot, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "ai2",
    summary: "leaves the hand that is least outranked, counting what can be combined",
    games: PlayedGames::These(&["big_two"]),
    parameters: &[],
    shows: &["ai2"],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    Ok(crate::quick(BOT.name).thinks::<BigTwo, _>(|_| LeastOutranked))
}

struct LeastOutranked;

impl Thinker<BigTwo> for LeastOutranked {
    fn answer(&mut self, turn: &Turn<'_, BigTwo>) -> Move {
        least_outranked(turn.view(), &turn.legal())
    }
}

/// The play that leaves the lowest score; the first of equals.
#[must_use]
pub fn least_outranked(view: &View, legal: &[Move]) -> Move {
    HandScorer::of(view)
        .each(legal)
        .min_by_key(|(_, left)| left.score())
        .map_or(Move::Pass, |(did, _)| did)
}

/// Judges hands by the cards that one has not seen, in either order.
pub(crate) struct HandScorer<'a> {
    view: &'a View,
    normal: Outranked,
    reversed: Outranked,
}

impl<'a> HandScorer<'a> {
    pub(crate) fn of(view: &'a View) -> Self {
        let unseen = view.unseen();
        Self {
            view,
            normal: Outranked::new(unseen, Order::Normal),
            reversed: Outranked::new(unseen, Order::Reversed),
        }
    }

    /// The score of the hand that each play leaves, judged in the order that it leaves.
    pub(crate) fn each(&self, legal: &[Move]) -> impl Iterator<Item = (Move, RemainingHandScore)> {
        legal.iter().filter_map(|&did| match did {
            Move::Play(cards) => Some((did, self.left(cards))),
            Move::Pass => None,
        })
    }

    fn left(&self, cards: Cards) -> RemainingHandScore {
        let public = &self.view.public;
        let reverses =
            public.rules.reversal && Combination::of(cards).is_some_and(Combination::reverses);
        let order = if reverses {
            public.order.turned()
        } else {
            public.order
        };
        let outranked = match order {
            Order::Normal => &self.normal,
            Order::Reversed => &self.reversed,
        };
        outranked.judge(self.view.hand - cards)
    }
}

/// A whole card's score in units, so that all scores are whole numbers and
/// equals are equal: halves, thirds, quarters and 2/7 of it are whole, and all
/// their products (1/2 1/3 1/4 2/7 = 2/168).
const WHOLE: u32 = 168;

/// Number of unseen cards that outrank each rank.
pub(crate) struct Outranked {
    by: [u32; 13],
    unseen: u32,
}

/// A hand that is left, in units of 1 / ([`WHOLE`] × unseen cards).
pub(crate) struct RemainingHandScore {
    sum: u32,
    threatened: u32,
}

impl RemainingHandScore {
    /// The sum of its cards' scores.
    pub(crate) const fn score(&self) -> u32 {
        self.sum
    }

    /// Number of its cards that score above 0.06.
    pub(crate) const fn threatened(&self) -> u32 {
        self.threatened
    }
}

impl Outranked {
    pub(crate) fn new(unseen: Cards, order: Order) -> Self {
        let mut by = [0; 13];
        let mut above = u32::from(unseen.jokers().len());
        let ranks: Vec<Rank> = order.ranks().collect();
        for &rank in ranks.iter().rev() {
            by[index(rank)] = above;
            above += u32::from((unseen & Cards::of_rank(rank)).len());
        }
        Self {
            by,
            unseen: unseen.len().into(),
        }
    }

    /// Nothing outranks a joker. What a card can be part of is seen from this
    /// hand alone.
    pub(crate) fn judge(&self, hand: Cards) -> RemainingHandScore {
        let jokers = hand.jokers().len();
        let mut runs = Cards::NONE;
        for suit in Suit::ALL {
            runs |= in_straight_flush(hand, suit, jokers);
        }
        let mut left = RemainingHandScore {
            sum: 0,
            threatened: 0,
        };
        for rank in Rank::all() {
            let cards = hand & Cards::of_rank(rank);
            let by_count = match cards.len() + jokers {
                0 | 1 => WHOLE,
                2 => WHOLE / 2,
                3 => WHOLE / (2 * 3),
                _ => WHOLE / (2 * 3 * 4),
            };
            let outranked = self.by[index(rank)];
            for (cards, factor) in [(cards - runs, by_count), (cards & runs, by_count * 2 / 7)] {
                let score = outranked * factor;
                left.sum += u32::from(cards.len()) * score;
                if score * 100 > 6 * WHOLE * self.unseen {
                    left.threatened += u32::from(cards.len());
                }
            }
        }
        left
    }
}

fn index(rank: Rank) -> usize {
    Order::Normal.strength(rank).into()
}

/// The cards of a suit that can be part of a straight flush: without jokers
/// three in a row; with them another card of the suit that is no further away
/// than they bridge.
fn in_straight_flush(hand: Cards, suit: Suit, jokers: u8) -> Cards {
    let faces = u32::from(hand.faces_of(suit));
    let part = if jokers == 0 {
        let starts = faces & faces >> 1 & faces >> 2;
        starts | starts << 1 | starts << 2
    } else {
        (1..=jokers + 1).fold(0, |near, gap| near | faces << gap | faces >> gap) & faces
    };
    hand & Cards::of_faces(suit, part as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(text: &str) -> Cards {
        text.parse().expect("cards")
    }

    fn judged(hand: &str, unseen: &str, order: Order) -> RemainingHandScore {
        Outranked::new(cards(unseen), order).judge(cards(hand))
    }

    /// In units: the score times 168 times the unseen cards.
    fn score(hand: &str, unseen: &str) -> u32 {
        judged(hand, unseen, Order::Normal).score()
    }

    #[test]
    fn the_example_of_the_page() {
        // (3/3)/2 + (3/3)/2 + 2/3
        assert_eq!(score("3C 3D 5C", "4C 6C 6D"), 3 * 168 / 2 * 2 + 2 * 168);
    }

    #[test]
    fn the_factors_multiply_and_jokers_count() {
        // One unseen card, above all but jokers.
        let unseen = "JK2";
        assert_eq!(score("3C", unseen), 168);
        assert_eq!(score("3C 3D", unseen), 2 * 84);
        assert_eq!(score("3C 3D 3H", unseen), 3 * 28);
        assert_eq!(score("3C 3D 3H 3S", unseen), 4 * 7);
        assert_eq!(score("3C JK1", unseen), 84);
        assert_eq!(score("3C 4C 5C", unseen), 3 * 48);
        assert_eq!(score("3C 4C 5C 3D", unseen), 2 * 48 + 24 + 84);
        assert_eq!(score("3C 5C JK1", unseen), 2 * 24);
        assert_eq!(score("3C 6C JK1", unseen), 2 * 84);
        // Q K A is none, A 2 3 is one.
        assert_eq!(score("QC KC AC", unseen), 3 * 168);
        assert_eq!(score("AC 2C 3C", unseen), 3 * 48);
        let both = Outranked::new(Cards::NONE, Order::Normal);
        assert_eq!(both.judge(cards("3C JK1 JK2")).score(), 0);
    }

    #[test]
    fn the_reversed_order_turns_who_outranks_whom() {
        let unseen = "4C 6C 6D";
        assert_eq!(judged("5C", unseen, Order::Normal).score(), 2 * 168);
        assert_eq!(judged("5C", unseen, Order::Reversed).score(), 168);
        assert_eq!(judged("3C", unseen, Order::Reversed).score(), 0);
    }

    #[test]
    fn cards_that_score_above_six_hundredths_are_counted() {
        // 1 of 20 is 0.05, 2 of 20 are 0.1; halves of them 0.025 and 0.05.
        let unseen = "KS AC 3D 3H 3S 4D 4H 4S 5D 5H 5S 6D 6H 6S 7D 7H 7S 8D 8H 8S";
        let count = |hand| judged(hand, unseen, Order::Normal).threatened();
        assert_eq!(count("KC"), 0);
        assert_eq!(count("QC"), 1);
        assert_eq!(count("QC QD"), 0);
        assert_eq!(count("QC KC 3C"), 2);
    }
}
