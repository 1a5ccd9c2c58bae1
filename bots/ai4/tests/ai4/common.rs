//! Rounds by the rules crate, with random moves.

use ai4::{BigTwoRound, CardSet, PublicRound, RoundOptions, ScoringRule, Top};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::{Dice, Game as _, Outcome, Seed, State, Step};
use referee_games::big_two::{BigTwo, Card, Cards, Ending, Move, Order, Question, Setup};

pub(crate) fn set(cards: Cards) -> CardSet {
    CardSet::from_bits(cards.bits())
}

pub(crate) fn cards(did: Move) -> CardSet {
    match did {
        Move::Play(cards) => set(cards),
        Move::Pass => CardSet::NONE,
    }
}

/// The round that a state of the rules crate is in, before the seat `turn` answers.
pub(crate) fn round(state: &State<BigTwo>, turn: usize) -> BigTwoRound {
    let public = &state.public;
    let mut table = PublicRound::new(
        RoundOptions {
            scores: match public.rules.scoring {
                referee_games::big_two::Scoring::Places => ScoringRule::Places,
                referee_games::big_two::Scoring::Payout => ScoringRule::Payout,
            },
            reversal: public.rules.reversal,
        },
        turn,
    );
    table.reversed = public.order == Order::Reversed;
    table.top = public.trick.map(|trick| Top {
        by: trick.by.index(),
        cards: set(trick.play.cards()),
    });
    for (seat, _) in state.private.iter() {
        if let Some(place) = public.place(seat) {
            table.places[seat.index()] = place;
            table.in_play &= !(1 << seat.index());
            table.out += 1;
        }
    }
    let hands = [0, 1, 2, 3].map(|seat| set(state.private[referee_core::Seat::new(seat)]));
    BigTwoRound { table, hands }
}

/// Hands in which most ranks are with one seat, so that four of a kind are frequent.
pub(crate) fn fours(seed: u64) -> Setup {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut deck: Vec<Card> = Card::all().collect();
    for _ in 0..5 {
        let (a, b) = (rng.random_range(0..54), rng.random_range(0..54));
        deck.swap(a, b);
    }
    let mut hands = [Cards::NONE; 4];
    let turn = rng.random_range(0..4);
    for (i, card) in deck.into_iter().enumerate() {
        let seat = if i < 48 { i / 4 % 4 } else { i % 4 };
        hands[(seat + turn) % 4].insert(card);
    }
    Setup {
        hands: Some(hands),
        ..Setup::default()
    }
}

/// Plays a round with random moves, which play rather than pass; `each` sees every question.
pub(crate) fn random_round(
    setup: &Setup,
    seed: u64,
    mut each: impl FnMut(&State<BigTwo>, usize, &[Move], Move),
) -> (State<BigTwo>, Outcome<Ending>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = [3; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut state = BigTwo::deal(setup, &mut Dice::new(&Seed::new(bytes)));
    loop {
        match BigTwo::step(&mut state) {
            Step::Tell(..) => {}
            Step::Over(outcome) => return (state, outcome),
            Step::Ask(asked) => {
                let seat = asked[0].0;
                let legal = BigTwo::legal(&state.observe(seat), Question::Play);
                let plays = legal.len() - usize::from(legal.last() == Some(&Move::Pass));
                let did = if plays > 0 && rng.random_range(0..4) > 0 {
                    legal[rng.random_range(0..plays)]
                } else {
                    legal[rng.random_range(0..legal.len())]
                };
                each(&state, seat.index(), &legal, did);
                BigTwo::resolve(&mut state, &[(seat, did)]);
            }
        }
    }
}
