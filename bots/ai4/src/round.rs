//! A round in progress of which all hands are known: a deal that a search tries.

use std::cmp::Ordering;

use crate::{
    cards::CardSet,
    plays::{CombinationShape, ToBeat},
};

/// Number of seats.
pub const SEATS: usize = 4;

/// The way a round is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoringRule {
    /// 3, 2, 1 and 0 points for places 1 to 4.
    #[default]
    Places,
    /// The round ends with the first seat that is out; the others pay it for their cards.
    Payout,
}

/// The options of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundOptions {
    /// The rule by which it is scored.
    pub scores: ScoringRule,
    /// True if four of a kind reverse the order.
    pub reversal: bool,
}

impl Default for RoundOptions {
    fn default() -> Self {
        Self {
            scores: ScoringRule::Places,
            reversal: true,
        }
    }
}

/// The last play, while it is to be beaten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Top {
    /// The seat that played it, 0 to 3.
    pub by: usize,
    /// Its cards.
    pub cards: CardSet,
}

/// The public part of a round in progress, apart from the cards that were played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicRound {
    /// The options.
    pub options: RoundOptions,
    /// True if the order of ranks is reversed.
    pub reversed: bool,
    /// The play to beat; none for a lead.
    pub top: Option<Top>,
    /// The seat whose turn it is, 0 to 3.
    pub turn: usize,
    /// The seats in play, one bit each.
    pub in_play: u8,
    /// The place of each seat that is out or has forfeited, 1 to 4; 0 for the others.
    pub places: [u8; SEATS],
    /// Number of seats that are out without having forfeited.
    pub out: u8,
}

impl PublicRound {
    /// Before the first play.
    #[must_use]
    pub const fn new(options: RoundOptions, opener: usize) -> Self {
        Self {
            options,
            reversed: false,
            top: None,
            turn: opener,
            in_play: 0b1111,
            places: [0; SEATS],
            out: 0,
        }
    }

    /// The requirements on the play of the seat whose turn it is; none for a lead.
    #[must_use]
    pub fn to_beat(self) -> Option<ToBeat> {
        self.top.map(|top| ToBeat::of(top.cards, self.reversed))
    }

    /// True if the round is over.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.in_play.count_ones() <= 1
            || matches!(self.options.scores, ScoringRule::Payout) && self.out > 0
    }

    /// The seat whose turn it is plays these cards, which are a combination, or passes where there
    /// are none. `left` is whether it has cards left.
    pub fn take(&mut self, cards: CardSet, left: bool) {
        let seat = self.turn;
        if !cards.is_empty() {
            self.top = Some(Top { by: seat, cards });
            if self.options.reversal && CombinationShape::of(cards) == CombinationShape::Four {
                self.reversed = !self.reversed;
            }
            if !left {
                self.out += 1;
                self.places[seat] = self.out;
                self.in_play &= !(1 << seat);
            }
        }
        self.pass_turn(seat);
    }

    /// A seat leaves the round with this place.
    pub fn forfeit(&mut self, seat: usize, place: u8) {
        self.places[seat] = place;
        self.in_play &= !(1 << seat);
        if self.turn == seat {
            self.pass_turn(seat);
        }
    }

    fn pass_turn(&mut self, after: usize) {
        if self.is_over() {
            return;
        }
        let mut seat = after;
        loop {
            seat = (seat + 1) % SEATS;
            if self.top.is_some_and(|top| top.by == seat) {
                self.top = None;
            }
            if self.in_play >> seat & 1 == 1 {
                self.turn = seat;
                return;
            }
        }
    }
}

/// A round in progress with all hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BigTwoRound {
    /// The public part: what everybody knows, apart from the cards that were played.
    pub table: PublicRound,
    /// The hands. A seat that has forfeited keeps its cards.
    pub hands: [CardSet; SEATS],
}

impl BigTwoRound {
    /// The hand of the seat whose turn it is.
    #[must_use]
    pub const fn hand(&self) -> CardSet {
        self.hands[self.table.turn]
    }

    /// The cards that the seat whose turn it is has not seen: the hands of the others.
    #[must_use]
    pub fn unseen(&self) -> CardSet {
        let [a, b, c, d] = self.hands;
        (a | b | c | d) - self.hand()
    }

    /// True if the play must contain ♣3: only before the first play is it in a hand that plays.
    #[must_use]
    pub fn must_open(&self) -> bool {
        self.hand().contains_all(CardSet::THREE_OF_CLUBS)
    }

    /// The seat whose turn it is plays these cards of its hand, or passes where there are none.
    pub fn take(&mut self, cards: CardSet) {
        let hand = &mut self.hands[self.table.turn];
        *hand -= cards;
        let left = !hand.is_empty();
        self.table.take(cards, left);
    }

    /// The points of a seat when the round is over: 3 to 0 by place, or what it is paid.
    #[must_use]
    pub fn points(&self, seat: usize) -> i32 {
        match self.table.options.scores {
            ScoringRule::Places => {
                let taken: u8 = self.table.places.iter().sum();
                let place = match self.table.places[seat] {
                    0 => 10 - taken,
                    place => place,
                };
                4 - i32::from(place)
            }
            ScoringRule::Payout if self.winner() == seat => (0..SEATS)
                .filter(|&other| other != seat)
                .map(|other| payment(self.hands[other]))
                .sum(),
            ScoringRule::Payout => -payment(self.hands[seat]),
        }
    }

    /// Each seat's share of the points for its place when the round is over: 1, 2/3, 1/3 and 0 for
    /// places 1 to 4; seats that share places share what they are worth. With payout a seat that
    /// pays less has the better place.
    #[must_use]
    pub fn shares(&self) -> [f64; SEATS] {
        let worse = [0, 1, 2, 3].map(|seat| self.behind(seat));
        worse.map(|own| {
            let counted = worse.map(|other| match other.cmp(&own) {
                Ordering::Less => 0.0,
                Ordering::Equal => 0.5,
                Ordering::Greater => 1.0,
            });
            (counted.iter().sum::<f64>() - 0.5) / (SEATS - 1) as f64
        })
    }

    /// The less, the better the place of a seat when the round is over.
    fn behind(&self, seat: usize) -> i32 {
        /// More than any payment.
        const FORFEITED: i32 = 1_000_000;
        let place = self.table.places[seat];
        match self.table.options.scores {
            ScoringRule::Places => -self.points(seat),
            ScoringRule::Payout if self.winner() == seat => -1,
            ScoringRule::Payout if place > 0 => FORFEITED + i32::from(place),
            ScoringRule::Payout => payment(self.hands[seat]),
        }
    }

    /// The first seat that is out, or else the only one in play.
    fn winner(&self) -> usize {
        let first =
            (0..SEATS).find(|&seat| self.table.places[seat] == 1 && self.hands[seat].is_empty());
        first.unwrap_or(self.table.in_play.trailing_zeros() as usize % SEATS)
    }
}

/// The number of cards, doubled for each joker and each two.
fn payment(hand: CardSet) -> i32 {
    let doubled = hand.suits_of(12).count_ones() + hand.jokers().len();
    (hand.len() as i32) << doubled
}
