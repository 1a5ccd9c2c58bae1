//! The public part of a round, which everybody sees, and how plays, passes and forfeits
//! change it. The rules and every seat's view change it by the same functions.

use referee_core::Seat;
use serde::{Deserialize, Serialize};

use super::{
    card::{Cards, Order},
    combination::Combination,
};

/// Number of seats.
pub const SEATS: u8 = 4;

/// The scoring of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// The round ends when one seat is left; the places give 3, 2, 1 and 0 points.
    #[default]
    Places,
    /// The round ends when one seat is out; the others pay it for the cards that they
    /// hold.
    Payout,
}

/// The options of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Its scoring.
    pub scoring: Scoring,
    /// True if a four of a kind reverses the order.
    pub reversal: bool,
}

/// The move of a seat that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// It plays these cards.
    Play(Cards),
    /// It passes.
    Pass,
}

/// The state of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatStanding {
    /// It is in play.
    InPlay,
    /// It has played its last card and has this place.
    Out(u8),
    /// It has forfeited and has this place.
    Forfeited(u8),
}

/// The play to beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trick {
    /// The seat that played it.
    pub by: Seat,
    /// The combination.
    pub play: Combination,
}

/// Everything that everybody sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    /// The options of this game.
    pub rules: Rules,
    /// The order of the ranks now.
    pub order: Order,
    /// Number of cards that each seat holds.
    pub cards_left: [u8; SEATS as usize],
    /// The cards that each seat has played.
    pub played: [Cards; SEATS as usize],
    /// The state of each seat.
    pub standing: [SeatStanding; SEATS as usize],
    /// The play to beat; `None` if the seat leads.
    pub trick: Option<Trick>,
    /// The seat whose turn it is. `None` before the first play, when only the holder of
    /// ♣3 knows, and when the round is over.
    pub turn: Option<Seat>,
    /// The last play, pass or forfeit, and its seat.
    pub last: Option<(Seat, Move)>,
}

impl Public {
    /// Before the first play.
    #[must_use]
    pub const fn beginning(rules: Rules, cards_left: [u8; SEATS as usize]) -> Self {
        Self {
            rules,
            order: Order::Normal,
            cards_left,
            played: [Cards::NONE; SEATS as usize],
            standing: [SeatStanding::InPlay; SEATS as usize],
            trick: None,
            turn: None,
            last: None,
        }
    }

    /// All cards that have been played.
    #[must_use]
    pub fn all_played(&self) -> Cards {
        self.played
            .iter()
            .fold(Cards::NONE, |all, &cards| all | cards)
    }

    /// True if this seat is still in play.
    #[must_use]
    pub fn in_play(&self, seat: Seat) -> bool {
        self.standing[seat.index()] == SeatStanding::InPlay
    }

    /// True if the round is over: one seat is left, or with payout one is out.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.count(|standing| matches!(standing, SeatStanding::InPlay)) <= 1
            || self.rules.scoring == Scoring::Payout && self.seats_out() > 0
    }

    /// The place that the seat has, once it has one.
    #[must_use]
    pub const fn place(&self, seat: Seat) -> Option<u8> {
        match self.standing[seat.index()] {
            SeatStanding::InPlay => None,
            SeatStanding::Out(place) | SeatStanding::Forfeited(place) => Some(place),
        }
    }

    /// A seat that is in play takes its turn. A play is a combination and the
    /// seat holds its cards.
    pub(super) fn take(&mut self, seat: Seat, did: Move) {
        if let Move::Play(cards) = did {
            self.put(seat, cards);
        }
        self.last = Some((seat, did));
        self.turn = self.next(seat);
    }

    fn put(&mut self, seat: Seat, cards: Cards) {
        let own = seat.index();
        self.played[own] |= cards;
        self.cards_left[own] = self.cards_left[own].saturating_sub(cards.len());
        if self.cards_left[own] == 0 {
            self.standing[own] = SeatStanding::Out(self.seats_out() + 1);
        }
        if let Some(play) = Combination::of(cards) {
            self.trick = Some(Trick { by: seat, play });
            if play.reverses() && self.rules.reversal {
                self.order = self.order.turned();
            }
        }
    }

    /// A seat leaves the game by a foul; gives its place. Where it was to
    /// answer, that counts as a pass.
    pub(super) fn forfeit(&mut self, seat: Seat) -> u8 {
        if let Some(place) = self.place(seat) {
            return place;
        }
        let gone = self.count(|standing| matches!(standing, SeatStanding::Forfeited(_)));
        // A seat does not win by leaving as the last one.
        let place = if gone + 1 == SEATS {
            SEATS
        } else {
            SEATS - gone
        };
        self.standing[seat.index()] = SeatStanding::Forfeited(place);
        if self.turn == Some(seat) {
            self.turn = self.next(seat);
        }
        place
    }

    /// The turn passes to the next seat in play. The trick ends when it comes back to
    /// the seat that played last: that seat leads, or the next in play if it is out.
    fn next(&mut self, after: Seat) -> Option<Seat> {
        if self.is_over() {
            return None;
        }
        let mut seat = after;
        for _ in 0..SEATS {
            seat = following(seat);
            if self.trick.is_some_and(|trick| trick.by == seat) {
                self.trick = None;
            }
            if self.in_play(seat) {
                return Some(seat);
            }
        }
        None
    }

    fn seats_out(&self) -> u8 {
        self.count(|standing| matches!(standing, SeatStanding::Out(_)))
    }

    fn count(&self, which: impl Fn(SeatStanding) -> bool) -> u8 {
        self.standing
            .iter()
            .filter(|standing| which(**standing))
            .count() as u8
    }
}

/// The seat to the left.
pub(super) const fn following(seat: Seat) -> Seat {
    Seat::new((seat.index() as u8 + 1) % SEATS)
}
