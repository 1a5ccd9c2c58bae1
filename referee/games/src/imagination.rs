//! The beginnings that a seat may imagine of a game that goes on.

use bytes::Bytes;
use referee_core::{Dice, Event, GameKind, PastAnswer, PerSeat, Seat, Seed, Table};

use crate::Fixture;

/// A game as one seat may imagine it, whose secrets it does not know: see
/// [`GameKind::imagined`]. It has the secrets of the game itself, but gives none of them away.
#[derive(Clone)]
pub struct Imagination {
    kind: &'static dyn GameKind,
    setup: serde_json::Value,
    seed: Seed,
    seat: Seat,
    /// Seats that left before the first question.
    absent: Vec<Seat>,
    /// The answers since then; none where a seat left.
    past: Vec<(Seat, Option<Bytes>)>,
}

impl Imagination {
    pub(crate) fn new(fixture: &Fixture, events: &[Event], seat: Seat) -> Self {
        let mut absent = Vec::new();
        let mut past = Vec::new();
        let mut has_begun = PerSeat::new(fixture.players.seats(), |_| false);
        for event in events {
            match event {
                Event::Asked {
                    seat, number: 1.., ..
                } => has_begun[*seat] = true,
                Event::Answered {
                    seat,
                    answer,
                    notation: Some(_),
                    ..
                } => past.push((*seat, Some(answer.clone()))),
                Event::Fouled { seat, .. } if has_begun[*seat] => past.push((*seat, None)),
                Event::Fouled { seat, .. } => absent.push(*seat),
                _ => {}
            }
        }
        Self {
            kind: fixture.kind,
            setup: fixture.setup.clone(),
            seed: fixture.seed,
            seat,
            absent,
            past,
        }
    }

    /// The game with a new deal of what the seat has not seen. None where the seat is not asked, or
    /// where this deal does not lead to the same; another one may.
    #[must_use]
    pub fn deal(&self, dice: &mut Dice) -> Option<Box<dyn Table>> {
        let past = self.past.iter().map(|(seat, answer)| PastAnswer {
            seat: *seat,
            answer: answer.as_deref(),
        });
        let past: Vec<_> = past.collect();
        let deal = (&self.setup, &self.seed);
        let dealt = self
            .kind
            .imagined(deal, &self.absent, &past, self.seat, dice);
        dealt.ok().flatten()
    }
}
