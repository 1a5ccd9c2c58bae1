//! The outcome of a round for each seat when it is over.

use referee_core::{Outcome, PerSeat, Seat, State};

use super::{
    card::{Cards, Rank},
    ending::Ending,
    round::{Public, SEATS, Scoring, SeatStanding},
    rules::BigTwo,
};

/// The outcome, if the round is over.
///
/// A seat that has forfeited keeps the place that it took then, also with payout. If
/// all four have forfeited, all are last.
pub(super) fn outcome(state: &State<BigTwo>) -> Option<Outcome<Ending>> {
    let public = &state.public;
    if !public.is_over() {
        return None;
    }
    let Some(winner) = best(public) else {
        return Some(Outcome {
            places: PerSeat::new(SEATS, |_| SEATS),
            scores: PerSeat::new(SEATS, |_| 0),
            reason: Ending::AllForfeited,
        });
    };
    let (places, scores) = match public.rules.scoring {
        Scoring::Places => by_places(public),
        Scoring::Payout => by_payout(public, winner, &state.private),
    };
    let reason = match public.standing[winner.index()] {
        SeatStanding::Out(_) if public.rules.scoring == Scoring::Payout => Ending::Out(winner),
        _ => Ending::OneLeft,
    };
    Some(Outcome {
        places,
        scores,
        reason,
    })
}

/// The seat that went out first, or the only seat that is left.
fn best(public: &Public) -> Option<Seat> {
    let first = |seat: &Seat| public.standing[seat.index()] == SeatStanding::Out(1);
    Seat::all(SEATS)
        .find(first)
        .or_else(|| Seat::all(SEATS).find(|&seat| public.in_play(seat)))
}

/// The seat that is left takes the remaining place.
fn by_places(public: &Public) -> (PerSeat<u8>, PerSeat<i32>) {
    let taken: u8 = Seat::all(SEATS).filter_map(|seat| public.place(seat)).sum();
    let left = (1..=SEATS).sum::<u8>() - taken;
    let places = PerSeat::new(SEATS, |seat| public.place(seat).unwrap_or(left));
    let scores = PerSeat::new(SEATS, |seat| i32::from(SEATS - places[seat]));
    (places, scores)
}

/// The others pay the winner. A seat that pays less has a better place; seats that pay
/// the same share a place.
fn by_payout(public: &Public, winner: Seat, hands: &PerSeat<Cards>) -> (PerSeat<u8>, PerSeat<i32>) {
    let pays = |seat: Seat| {
        if seat == winner {
            0
        } else {
            payment(hands[seat])
        }
    };
    let scores = PerSeat::new(SEATS, |seat| {
        if seat == winner {
            Seat::all(SEATS).map(pays).sum()
        } else {
            -pays(seat)
        }
    });
    let places = PerSeat::new(SEATS, |seat| {
        public.place(seat).unwrap_or_else(|| {
            let better = |&other: &Seat| public.in_play(other) && pays(other) < pays(seat);
            let before = Seat::all(SEATS).filter(better).count() as u8;
            1 + before + u8::from(seat != winner && !public.in_play(winner))
        })
    });
    (places, scores)
}

/// The number of cards, doubled for each joker and for each two.
pub(super) fn payment(hand: Cards) -> i32 {
    let doubled = (hand & Cards::of_rank(Rank::TWO)).len() + hand.jokers().len();
    i32::from(hand.len()) << doubled
}
