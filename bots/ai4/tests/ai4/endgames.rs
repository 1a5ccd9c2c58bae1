//! Exact ends of rounds beside a plain search through every line of the rules crate's moves.

use crate::common::{cards, fours, random_round, round, set};
use ai4::{BigTwoRound, CardSet, Endgame};
use referee_games::big_two::{Cards, Combination, Order, Setup, plays};

/// True if the seat whose turn it is can be out before the other, by trying every legal move.
fn wins(round: &BigTwoRound, seat: usize) -> bool {
    if round.table.is_over() {
        return round.hands[seat].is_empty();
    }
    let own = round.table.turn == seat;
    let any = legal(round).into_iter().any(|cards| {
        let mut next = *round;
        next.take(cards);
        wins(&next, seat) == own
    });
    any == own
}

fn legal(round: &BigTwoRound) -> Vec<CardSet> {
    let hand = Cards::from_bits(round.hand().bits());
    let order = if round.table.reversed {
        Order::Reversed
    } else {
        Order::Normal
    };
    let top = round
        .table
        .top
        .map(|top| Cards::from_bits(top.cards.bits()));
    let to_beat = top.and_then(Combination::of);
    let mut found: Vec<CardSet> = plays(hand, to_beat, order).into_iter().map(set).collect();
    if to_beat.is_some() {
        found.push(CardSet::NONE);
    }
    found
}

#[test]
fn winning_moves_are_those_of_a_plain_search() {
    let (mut won, mut lost) = (0, 0);
    for seed in 0..400 {
        let setup = if seed % 2 == 0 {
            fours(seed)
        } else {
            Setup::default()
        };
        random_round(&setup, seed, |state, seat, _, _| {
            let round = round(state, seat);
            let cards = round.hands.iter().map(|hand| hand.len()).sum::<u32>();
            if round.table.in_play.count_ones() != 2 || cards > 9 {
                return;
            }
            let found = Endgame::new(u64::MAX, None).winning_move(&round);
            match found.expect("enough positions") {
                Some(cards) => {
                    let mut next = round;
                    next.take(cards);
                    assert!(wins(&next, seat), "{round:?}");
                    won += 1;
                }
                None => {
                    assert!(!wins(&round, seat), "{round:?}");
                    lost += 1;
                }
            }
        });
    }
    assert!(won > 100 && lost > 100, "{won} {lost}");
}

#[test]
fn a_search_without_enough_positions_says_nothing() {
    let mut asked = 0;
    for seed in 0..20 {
        random_round(&Setup::default(), seed, |state, seat, legal, _| {
            let round = round(state, seat);
            if round.table.in_play.count_ones() != 2 {
                return;
            }
            let out_at_once = legal.iter().any(|&did| cards(did) == round.hand());
            let found = Endgame::new(0, None).winning_move(&round);
            assert_eq!(found, out_at_once.then_some(Some(round.hand())));
            asked += u32::from(found.is_none());
        });
    }
    assert!(asked > 20, "{asked}");
}
