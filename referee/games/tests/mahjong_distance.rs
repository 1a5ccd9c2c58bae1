//! The distance of a hand against the crate `xiangting`, which others wrote,
//! and the tiles that lower it against trying every one.

use std::thread;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use referee_games::mahjong::{COPIES, Goal, Hand, MissingSuit, Tile, TileSet, faan, parse};
use xiangting::{PlayerCount, calculate_necessary_tiles};

const MELDS: Goal = Goal {
    missing_suit: MissingSuit::Free,
    seven_pairs: false,
};

fn hand(text: &str) -> Hand {
    Hand::of(&parse(text).expect("notation")).expect("tiles that exist")
}

#[test]
fn worked_distances() {
    let [free, two_suits] = [MissingSuit::Free, MissingSuit::Required].map(Goal::new);
    for (text, any, two) in [
        ("122367c1478b1389d", 3, 3),
        // Four melds want a pair, which lacks both its tiles once the third
        // suit is given up; the shorthand says 0.
        ("123456c789c123b5d", 0, 1),
        ("1111222233334c", 0, 0),
        // Six pairs and a single; within two suits melds are nearer.
        ("1111c2222b33334d", 0, 4),
        ("11112222333344c", -1, -1),
        ("1122c3344b556677d", -1, 3),
        ("", 13, 13),
    ] {
        let hand = hand(text);
        assert_eq!(
            (free.distance(&hand), two_suits.distance(&hand)),
            (any, two),
            "{text}"
        );
    }
}

#[test]
fn four_alike_are_two_pairs() {
    let goal = Goal::new(MissingSuit::Required);
    let ready = hand("1111c3333c5577d9d");
    assert_eq!(goal.distance(&ready), 0);
    assert_eq!(
        goal.accepts(&ready),
        parse("9d").unwrap().into_iter().collect()
    );
    assert!(
        Goal {
            seven_pairs: false,
            ..goal
        }
        .distance(&ready)
            > 0
    );
}

#[test]
fn a_fifth_tile_is_never_waited_for() {
    // Four melds lack a pair to 9, of which the hand holds all that there are.
    let hand = hand("9999c123b456b789b");
    assert!(!MELDS.accepts(&hand).contains(parse("9c").unwrap()[0]));
    assert!(!MELDS.accepts(&hand).is_empty());
}

/// Thirteen or fourteen tiles, of all suits or mostly of one, so that near and
/// complete hands come as well.
fn any(rng: &mut StdRng) -> Hand {
    let kinds = [9, 13, 18, 27, 27][rng.random_range(0..5)];
    let from = 9 * rng.random_range(0..=(27 - kinds) / 9);
    let mut wall: Vec<Tile> = (0..COPIES)
        .flat_map(|_| Tile::all().skip(from).take(kinds))
        .collect();
    let tiles = rng.random_range(13..=14);
    let (drawn, _) = wall.partial_shuffle(rng, tiles);
    Hand::of(drawn).expect("tiles that exist")
}

/// Number of tiles that seven pairs lack where all must be different, as `xiangting` has it.
fn lacks_distinct_pairs(hand: &Hand) -> i8 {
    let pairs = hand.kinds().filter(|&tile| hand.count(tile) >= 2).count();
    let kinds = hand.kinds().count();
    (7 - pairs + 7_usize.saturating_sub(kinds)) as i8
}

const HANDS: u64 = 1_000_000;
const THREADS: u64 = 2;

#[test]
fn a_million_hands_agree_with_another_program() {
    let threads: Vec<_> = (0..THREADS)
        .map(|seed| thread::spawn(move || agrees(seed, HANDS / THREADS)))
        .collect();
    let mut by_distance = [0_u32; 8];
    for thread in threads {
        let some = thread.join().unwrap();
        by_distance
            .iter_mut()
            .zip(some)
            .for_each(|(sum, some)| *sum += some);
    }
    // From complete to as far as there is.
    assert!(
        by_distance[..7].iter().all(|&hit| hit >= 100),
        "{by_distance:?}"
    );
}

fn agrees(seed: u64, rounds: u64) -> [u32; 8] {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut by_distance = [0; 8];
    for round in 0..rounds {
        let hand = any(&mut rng);
        let mut counts = [0; 34];
        for tile in hand.tiles() {
            counts[tile.index()] += 1;
        }
        let (theirs, necessary) =
            calculate_necessary_tiles(&counts, PlayerCount::Four).expect("a hand");
        let melds = MELDS.distance(&hand) + 1;
        let pairs = lacks_distinct_pairs(&hand);
        let context = || format!("{hand}, seed {seed}, round {round}");
        assert_eq!(melds.min(pairs), theirs as i8, "{}", context());
        by_distance[melds as usize] += 1;
        // Where they count pairs too, or thirteen orphans, other tiles help.
        if melds < pairs && melds < 7 && hand.len() == 13 {
            let expected: TileSet = Tile::all()
                .filter(|tile| necessary >> tile.index() & 1 == 1)
                .collect();
            assert_eq!(MELDS.accepts(&hand), expected, "{}", context());
        }
    }
    by_distance
}

#[test]
fn seven_pairs_and_two_suits_are_the_least_of_what_they_allow() {
    let mut rng = StdRng::seed_from_u64(3);
    for round in 0..100_000 {
        let hand = any(&mut rng);
        let free = Goal::new(MissingSuit::Free).distance(&hand);
        let pairs: u8 = hand.kinds().map(|tile| hand.count(tile) / 2).sum();
        assert_eq!(
            free,
            MELDS.distance(&hand).min(6 - pairs as i8),
            "{hand}, round {round}"
        );
        // Without the tiles of a suit the hand is as far, or farther, and the
        // tiles of the two others can be had without any of the third.
        let two = Goal::new(MissingSuit::Required).distance(&hand);
        assert!(two >= free, "{hand}, round {round}");
        let mut suits: Vec<_> = hand.kinds().map(Tile::suit).collect();
        suits.dedup();
        if suits.len() < 3 {
            assert!(two == free || two == free + 1, "{hand}, round {round}");
        }
    }
}

#[test]
fn what_a_hand_accepts_is_what_lowers_its_distance() {
    let mut rng = StdRng::seed_from_u64(4);
    let mut ready = 0;
    for round in 0..40_000 {
        let hand = any(&mut rng);
        if hand.len() == 14 {
            continue;
        }
        for missing_suit in [MissingSuit::Free, MissingSuit::Required] {
            let goal = Goal::new(missing_suit);
            let before = goal.distance(&hand);
            let room = || Tile::all().filter(|&tile| hand.has_room(tile));
            let lower: TileSet = room()
                .filter(|&tile| goal.distance(&hand.with(tile)) < before)
                .collect();
            assert_eq!(goal.accepts(&hand), lower, "{hand}, round {round}");
            let winning: TileSet = room()
                .filter(|&tile| faan(&hand.with(tile), missing_suit).is_some())
                .collect();
            assert_eq!(before == 0, !winning.is_empty(), "{hand}, round {round}");
            if before == 0 {
                assert_eq!(lower, winning, "{hand}, round {round}");
                ready += 1;
            }
        }
    }
    assert!(ready > 1000, "{ready}");
}
