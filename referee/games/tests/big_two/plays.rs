//! Every play of a hand against the slow reading: all subsets of the hand, one
//! after another, and every way to read their jokers.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use referee_games::big_two::{Cards, Combination, Order, plays};

use crate::paper::{NORMAL, Paper, REVERSED, Reading, deck, ours, readings};

/// All subsets that are combinations, in the order of plays.
fn slow(hand: &[Paper], order: &str) -> Vec<(Reading, Cards)> {
    let deck = deck();
    let mut found = Vec::new();
    for subset in 1_u32..1 << hand.len() {
        let cards: Vec<Paper> = (0..hand.len())
            .filter(|i| subset >> i & 1 == 1)
            .map(|i| hand[i])
            .collect();
        let read = readings(&cards, order);
        assert!(read.len() <= 1, "{cards:?} can be {read:?}");
        if let Some(reading) = read.first() {
            let mut indices: Vec<usize> = cards
                .iter()
                .map(|card| {
                    deck.iter()
                        .position(|other| other == card)
                        .expect("of the deck")
                })
                .collect();
            indices.sort_unstable();
            found.push((*reading, indices, ours(&cards)));
        }
    }
    found.sort_by(|(a, x, _), (b, y, _)| (a, x).cmp(&(b, y)));
    found
        .into_iter()
        .map(|(reading, _, cards)| (reading, cards))
        .collect()
}

/// A hand that is rich in jokers, in fours or in runs of a suit.
fn hand(deck: &[Paper], size: usize, taste: u32, rng: &mut StdRng) -> Vec<Paper> {
    let mut deck = deck.to_vec();
    deck.shuffle(rng);
    let suit = ['C', 'D', 'H', 'S'][rng.random_range(0..4)];
    let ranks: Vec<&str> = (0..3)
        .filter_map(|_| NORMAL.split(' ').nth(rng.random_range(0..13)))
        .collect();
    let jokers = rng.random_range(0..=2);
    let mut seen = 0;
    deck.sort_by_cached_key(|(rank, of)| {
        let wanted = match (taste, of) {
            (_, None) => {
                seen += 1;
                seen <= jokers
            }
            (0, _) => false,
            (1, _) => ranks.contains(rank),
            (_, of) => *of == Some(suit),
        };
        !wanted
    });
    deck.truncate(size);
    deck
}

#[test]
fn plays_are_all_subsets_that_the_page_allows_in_the_order_of_plays() {
    let deck = deck();
    let mut rng = StdRng::seed_from_u64(2);
    let mut counted: BTreeMap<(usize, usize, usize), u32> = BTreeMap::new();
    let mut answers = [0_u32; 5];
    let mut nothing = 0;
    for round in 0..1200 {
        let size = [6, 8, 9, 10, 11, 12][round as usize % 6];
        let hand = hand(&deck, size, round % 3, &mut rng);
        let other = self::hand(&deck, 8, rng.random_range(0..3), &mut rng);
        for (order, names) in [(Order::Normal, NORMAL), (Order::Reversed, REVERSED)] {
            let all = slow(&hand, names);
            for ((kind, length, _, jokers), _) in &all {
                *counted.entry((*kind, *length, *jokers)).or_default() += 1;
            }
            let leads: Vec<Cards> = all.iter().map(|(_, cards)| *cards).collect();
            assert_eq!(plays(ours(&hand), None, order), leads, "{hand:?}");
            for (reading, cards) in &all {
                let combination = Combination::of(*cards).unwrap();
                assert_eq!(combination.kind() as usize, reading.0, "{cards}");
                assert_eq!(usize::from(combination.length()), reading.1, "{cards}");
                assert_eq!(usize::from(combination.key(order)), reading.2, "{cards}");
                assert_eq!(combination.reverses(), reading.0 == 3, "{cards}");
            }
            for ((kind, length, key, _), cards) in slow(&other, names) {
                let to_beat = Combination::of(cards).unwrap();
                let expected: Vec<Cards> = all
                    .iter()
                    .filter(|(own, _)| own.0 == kind && own.1 == length && own.2 > key)
                    .map(|(_, cards)| *cards)
                    .collect();
                answers[kind] += expected.len() as u32;
                nothing += u32::from(expected.is_empty());
                assert!(
                    expected
                        .iter()
                        .all(|own| Combination::of(*own).unwrap().beats(to_beat, order))
                );
                assert_eq!(
                    plays(ours(&hand), Some(to_beat), order),
                    expected,
                    "{hand:?} upon {cards}"
                );
            }
        }
    }
    for (kind, lengths) in [(0, 1..=1), (1, 2..=2), (2, 3..=3), (3, 4..=4), (4, 3..=12)] {
        for length in lengths {
            for jokers in 0..=2 {
                let impossible = jokers > length || (kind == 4 && length - jokers < 2);
                if kind == 0 && jokers == 2 || impossible {
                    continue;
                }
                let n = counted.get(&(kind, length, jokers)).copied().unwrap_or(0);
                assert!(
                    n > 20,
                    "{n} of kind {kind}, length {length}, {jokers} jokers"
                );
            }
        }
    }
    assert!(answers.iter().all(|n| *n > 1000), "{answers:?}");
    assert!(nothing > 1000, "{nothing}");
}

#[test]
fn cards_that_are_no_combination_are_none() {
    let deck = deck();
    let mut rng = StdRng::seed_from_u64(3);
    let mut none = 0;
    for round in 0..200 {
        let hand = hand(&deck, 10, round % 3, &mut rng);
        for subset in 0_u32..1 << 10 {
            let cards: Vec<Paper> = (0..10)
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| hand[i])
                .collect();
            let some = !readings(&cards, NORMAL).is_empty();
            assert_eq!(Combination::of(ours(&cards)).is_some(), some, "{cards:?}");
            none += u32::from(!some);
        }
    }
    assert!(none > 100_000, "{none}");
}

fn of(cards: &str) -> Option<Combination> {
    Combination::of(cards.parse().expect("cards"))
}

#[test]
fn what_the_page_says_of_combinations() {
    for none in [
        "",
        "3C 4C",
        "QS KS AS",
        "KS AS 2S",
        "3C 4D 5C",
        "3C JK1 JK2 4D",
        "3C JK1 7C",
        "JK1 JK2 2C 2D 2H",
        "3C 3D 3H 3S JK1",
        "3C 3D 4C",
        "AC 2C 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC JK1",
    ] {
        assert_eq!(of(none), None, "{none}");
    }
    for (cards, what) in [
        ("JK1", "single"),
        ("JK1 JK2", "pair"),
        ("3C JK2", "pair"),
        ("3C JK1 JK2", "three of a kind"),
        ("3C 3H JK1", "three of a kind"),
        ("3C 3H JK1 JK2", "four of a kind"),
        ("3C 4C JK1", "straight flush of 3 cards"),
        ("KC QC JK1 JK2", "straight flush of 4 cards"),
        ("AC 2C 3C", "straight flush of 3 cards"),
        ("AC JK1 3C", "straight flush of 3 cards"),
        (
            "AC 2C 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC",
            "straight flush of 13 cards",
        ),
    ] {
        assert_eq!(of(cards).unwrap().to_string(), what, "{cards}");
    }
    let with_joker = of("2D JK1 4D").unwrap();
    let rank = |order| with_joker.key_rank(order).unwrap().to_string();
    assert_eq!(
        (rank(Order::Normal), rank(Order::Reversed)),
        ("4".into(), "2".into())
    );
}

#[test]
fn what_the_page_says_of_beating() {
    for (low, high, order, beats) in [
        ("3C", "4D", Order::Normal, true),
        ("3C", "4D", Order::Reversed, false),
        ("4C", "4D", Order::Normal, false),
        ("2S", "JK1", Order::Normal, true),
        ("3S", "JK1", Order::Reversed, true),
        ("JK1", "JK2", Order::Normal, false),
        ("JK1", "2C", Order::Normal, false),
        ("KC KD", "JK1 JK2", Order::Reversed, true),
        ("KC KD", "AD JK1", Order::Normal, true),
        ("KC KD", "AD AC AS", Order::Normal, false),
        ("3C 4C 5C", "4D 5D 6D", Order::Normal, true),
        ("3C 4C 5C", "4D 5D 6D 7D", Order::Normal, false),
        // The weakest natural card counts, not where the joker puts the run.
        ("3C 4C 5C", "4D 5D JK1", Order::Normal, true),
        ("4C 5C 6C", "4D 5D JK1", Order::Normal, false),
        // A 2 3 hangs on its three, and in the reversed order on its two.
        ("AC 2C 3C", "4D 5D 6D", Order::Normal, true),
        ("AC 2C 3C", "JD QD KD", Order::Reversed, true),
        ("3C 3D 3H", "4C 5C 6C", Order::Normal, false),
    ] {
        assert_eq!(
            of(high).unwrap().beats(of(low).unwrap(), order),
            beats,
            "{high} upon {low}"
        );
    }
}
