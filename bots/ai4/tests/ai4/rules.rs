//! Moves, turns and points beside those of the rules crate, in random rounds.

use crate::common::{cards, fours, random_round, round, set};
use ai4::{CardSet, CombinationShape, PlayQuestion, Variants};
use referee_games::big_two::{Combination, CombinationKind, Move, Scoring, Setup};

fn setups(seed: u64) -> Setup {
    match seed % 4 {
        0 => fours(seed),
        1 => Setup {
            scoring: Scoring::Payout,
            ..Setup::default()
        },
        2 => Setup {
            reversal: false,
            ..fours(seed)
        },
        _ => Setup::default(),
    }
}

#[test]
fn plays_are_those_of_the_rules_in_their_order() {
    let mut found = Vec::new();
    let mut questions = 0;
    let mut runs = 0;
    for seed in 0..600 {
        random_round(&setups(seed), seed, |state, seat, legal, _| {
            let round = round(state, seat);
            let question = PlayQuestion {
                hand: round.hand(),
                unseen: round.unseen(),
                to_beat: round.table.to_beat(),
                reversed: round.table.reversed,
                reversal: round.table.options.reversal,
                must_open: round.must_open(),
            };
            question.plays(Variants::All, &mut found);
            let expected: Vec<CardSet> = legal
                .iter()
                .filter(|did| **did != Move::Pass)
                .map(|&did| cards(did))
                .collect();
            assert_eq!(found, expected, "{:?}", state.public);
            for &did in legal {
                if let Move::Play(cards) = did {
                    let combination = Combination::of(cards).unwrap();
                    let shape = match combination.kind() {
                        CombinationKind::Single => CombinationShape::Single,
                        CombinationKind::Pair => CombinationShape::Pair,
                        CombinationKind::Three => CombinationShape::Three,
                        CombinationKind::Four => CombinationShape::Four,
                        CombinationKind::StraightFlush => CombinationShape::Run,
                    };
                    let own = set(cards);
                    assert_eq!(CombinationShape::of(own), shape);
                    assert_eq!(
                        own.key(question.reversed),
                        combination.key(state.public.order)
                    );
                    runs += u32::from(shape == CombinationShape::Run);
                }
            }
            questions += 1;
        });
    }
    assert!(questions > 10_000 && runs > 1_000, "{questions} {runs}");
}

#[test]
fn a_round_goes_on_and_ends_as_by_the_rules() {
    for seed in 0..600 {
        let mut own = None;
        let (state, outcome) = random_round(&setups(seed), seed, |state, seat, _, did| {
            let now = round(state, seat);
            let own = own.get_or_insert(now);
            assert_eq!(*own, now);
            own.take(cards(did));
        });
        let own = own.unwrap();
        assert!(own.table.is_over());
        for (seat, points) in outcome.scores.iter() {
            assert_eq!(own.points(seat.index()), *points, "{state:?}");
        }
        // Seats that share a place share what it and the next ones are worth.
        for (seat, place) in outcome.places.iter() {
            let alike = outcome.places.iter().filter(|(_, one)| *one == place);
            let alike = alike.count() as f64;
            let share = (4.0 - f64::from(*place) - (alike - 1.0) / 2.0) / 3.0;
            let found = own.shares()[seat.index()];
            assert!((found - share).abs() < 1e-12, "{:?}", outcome.places);
        }
    }
}
