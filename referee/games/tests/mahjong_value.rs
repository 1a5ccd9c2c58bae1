//! The value of a hand against the rules page's examples and against a slow
//! reading of its table.

use std::thread;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use referee_games::mahjong::{Hand, MissingSuit, Tile, faan, parse};

fn hand(text: &str) -> Hand {
    Hand::of(&parse(text).expect("notation")).expect("tiles that exist")
}

/// (hand, faan), as the rules page works them out.
const WORKED: [(&str, u32); 13] = [
    ("11112345678999c", 8),
    ("111222333444c55c", 8),
    ("112233c445566d77c", 4),
    ("112233445566c77c", 16),
    ("11112233445566c", 32),
    ("11112222333344c", 128),
    ("12378999911123c", 64),
    ("222555888c222d55d", 8),
    ("111222333c444d55d", 2),
    ("123c789c123d789d11c", 4),
    ("123c789c123d789d55c", 1),
    // Four alike are two pairs, and a root.
    ("1111c2233c4455d66d", 8),
    // One root of a basic hand.
    ("1111c23c456c789c55d", 2),
];

#[test]
fn worked_hands_have_the_value_of_the_rules_page() {
    for (text, expected) in WORKED {
        assert_eq!(
            faan(&hand(text), MissingSuit::Required),
            Some(expected),
            "{text}"
        );
        assert_eq!(
            faan(&hand(text), MissingSuit::Free),
            Some(expected),
            "{text}"
        );
    }
}

#[test]
fn a_hand_of_three_suits_wins_only_where_none_must_be_missing() {
    for (text, expected) in [
        ("123c456b789d444c22c", 1),
        ("1122c3344b5566d77d", 4),
        ("222c555b888d222d55c", 8),
        ("111c999b789d789c99d", 4),
    ] {
        assert_eq!(faan(&hand(text), MissingSuit::Required), None, "{text}");
        assert_eq!(
            faan(&hand(text), MissingSuit::Free),
            Some(expected),
            "{text}"
        );
    }
}

#[test]
fn what_is_no_winning_hand_has_no_value() {
    for text in [
        "",
        "1112345678999c",
        "11122233344455c",
        "112233c445566d78c",
        "12c33c111222333d4c",
    ] {
        let complete = text == "11122233344455c";
        assert_eq!(
            faan(&hand(text), MissingSuit::Free).is_some(),
            complete,
            "{text}"
        );
    }
}

/// One way to read a hand: pairs, triplets and sequences, as lists of tiles.
type Reading = Vec<Vec<Tile>>;

/// A row of the table: its name, its faan, and whether it applies to a reading.
type Row = (&'static str, u32, fn(&Reading) -> bool);

const TABLE: [Row; 9] = [
    ("basic", 1, is_standard),
    ("all triplets", 2, all_triplets),
    ("full flush", 4, |it| is_standard(it) && flush(it)),
    ("seven pairs", 4, seven_pairs),
    ("terminals everywhere", 4, terminals),
    ("flush, all triplets", 8, |it| flush(it) && all_triplets(it)),
    ("triplets of 2, 5, 8", 8, |it| {
        all_triplets(it)
            && it
                .iter()
                .flatten()
                .all(|tile| [2, 5, 8].contains(&tile.rank()))
    }),
    ("flush, seven pairs", 16, |it| flush(it) && seven_pairs(it)),
    ("flush, terminals", 16, |it| flush(it) && terminals(it)),
];

fn is_standard(reading: &Reading) -> bool {
    reading.len() == 5
}

fn seven_pairs(reading: &Reading) -> bool {
    reading.len() == 7
}

fn all_triplets(reading: &Reading) -> bool {
    is_standard(reading)
        && reading
            .iter()
            .all(|set| set.iter().all(|tile| *tile == set[0]))
}

fn flush(reading: &Reading) -> bool {
    reading
        .iter()
        .flatten()
        .all(|tile| tile.suit() == reading[0][0].suit())
}

fn terminals(reading: &Reading) -> bool {
    is_standard(reading)
        && reading
            .iter()
            .all(|set| set.iter().any(|tile| [1, 9].contains(&tile.rank())))
}

/// All ways to read sorted tiles: the first of them must be in some set, so
/// every set that it can be in is tried.
fn readings(tiles: &[Tile], so_far: &mut Reading, all: &mut Vec<Reading>) {
    let Some(&first) = tiles.first() else {
        let pairs = so_far.iter().filter(|set| set.len() == 2).count();
        if so_far.len() == 7 && pairs == 7 || so_far.len() == 5 && pairs == 1 {
            all.push(so_far.clone());
        }
        return;
    };
    let next = |by| Tile::new(first.suit(), first.rank() + by);
    for set in [
        Some(vec![first, first]),
        Some(vec![first, first, first]),
        next(1)
            .zip(next(2))
            .map(|(second, third)| vec![first, second, third]),
    ]
    .into_iter()
    .flatten()
    {
        let mut rest = tiles.to_vec();
        let found = set.iter().all(|tile| {
            let at = rest.iter().position(|held| held == tile);
            at.map(|at| rest.remove(at)).is_some()
        });
        if found {
            so_far.push(set);
            readings(&rest, so_far, all);
            so_far.pop();
        }
    }
}

/// The rows that give a hand its value, the number of its roots, and the value.
fn slowly(tiles: &[Tile], missing_suit: MissingSuit) -> Option<(Vec<usize>, usize, u32)> {
    let mut sorted = tiles.to_vec();
    sorted.sort();
    let mut suits: Vec<_> = sorted.iter().map(|tile| tile.suit()).collect();
    suits.dedup();
    if missing_suit == MissingSuit::Required && suits.len() == 3 {
        return None;
    }
    let mut all = Vec::new();
    readings(&sorted, &mut Vec::new(), &mut all);
    let applies: Vec<usize> = (0..TABLE.len())
        .filter(|&row| all.iter().any(TABLE[row].2))
        .collect();
    let best = applies.iter().map(|&row| TABLE[row].1).max()?;
    let roots = sorted
        .windows(4)
        .filter(|four| four.iter().all(|tile| *tile == four[0]))
        .count();
    let rows = applies
        .into_iter()
        .filter(|&row| TABLE[row].1 == best)
        .collect();
    Some((rows, roots, best * 2_u32.pow(roots as u32)))
}

#[test]
fn the_slow_scorer_reads_the_worked_hands_too() {
    for (text, expected) in WORKED {
        let found = slowly(&parse(text).unwrap(), MissingSuit::Required);
        assert_eq!(found.map(|(.., value)| value), Some(expected), "{text}");
    }
}

/// Fourteen tiles that exist: half of the time any, else melds and a pair or
/// seven pairs, of a kind that makes rare rows common, and up to two of them
/// changed.
fn fourteen(rng: &mut StdRng) -> Vec<Tile> {
    if rng.random_bool(0.5) {
        return exchange(Vec::new(), 14, rng);
    }
    loop {
        let mut suits = Tile::all().map(Tile::suit).collect::<Vec<_>>();
        suits.dedup();
        let first = *suits.choose(rng).expect("there are some");
        let second = if rng.random_bool(0.4) {
            first
        } else {
            *suits.choose(rng).expect("there are some")
        };
        let style = rng.random_range(0..5);
        let ranks: &[u8] = match style {
            0 => &[2, 5, 8],
            1 => &[1, 9],
            // Few ranks: many roots.
            2 => [&[1, 2, 3, 4][..], &[6, 7, 8, 9], &[3, 4, 5]]
                .choose(rng)
                .expect("there are some"),
            _ => &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        };
        let any = |rng: &mut StdRng| {
            let suit = if rng.random_bool(0.5) { first } else { second };
            Tile::new(suit, *ranks.choose(rng).expect("there are some")).expect("a rank")
        };
        let mut tiles = Vec::new();
        let sequences = [0.0, 0.5, 1.0][rng.random_range(0..3)];
        if rng.random_bool(0.3) {
            for _ in 0..7 {
                tiles.extend([any(rng); 2]);
            }
        } else {
            tiles.extend([any(rng); 2]);
            for _ in 0..4 {
                let tile = any(rng);
                if style > 0 && rng.random_bool(sequences) {
                    let low = match tile.rank() {
                        rank @ 1..=7 => rank,
                        _ => 7,
                    };
                    tiles.extend((low..low + 3).filter_map(|rank| Tile::new(tile.suit(), rank)));
                } else {
                    tiles.extend([tile; 3]);
                }
            }
        }
        if Hand::of(&tiles).is_some() {
            let changed = rng.random_range(0..=2);
            return exchange(tiles, changed, rng);
        }
    }
}

/// Takes this many tiles away and fills up with any that exist.
fn exchange(mut tiles: Vec<Tile>, changed: usize, rng: &mut StdRng) -> Vec<Tile> {
    for _ in 0..changed.min(tiles.len()) {
        tiles.swap_remove(rng.random_range(0..tiles.len()));
    }
    let kinds: Vec<Tile> = Tile::all().collect();
    while tiles.len() < 14 {
        let tile = *kinds.choose(rng).expect("there are some");
        if tiles.iter().filter(|held| **held == tile).count() < 4 {
            tiles.push(tile);
        }
    }
    tiles
}

const HANDS: u64 = 1_000_000;
const THREADS: u64 = 2;

#[test]
fn a_million_hands_agree_with_a_slow_reading_of_the_table() {
    let work = |seed: u64| {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut rows = [0_u32; TABLE.len()];
        let mut by_roots = [0_u32; 4];
        for round in 0..HANDS / THREADS {
            let tiles = fourteen(&mut rng);
            let missing_suit = if round % 4 == 0 {
                MissingSuit::Free
            } else {
                MissingSuit::Required
            };
            let slow = slowly(&tiles, missing_suit);
            let hand = Hand::of(&tiles).unwrap();
            assert_eq!(
                faan(&hand, missing_suit),
                slow.as_ref().map(|(.., value)| *value),
                "{hand} {missing_suit:?}, seed {seed}, round {round}"
            );
            if let Some((applied, roots, _)) = slow {
                applied.into_iter().for_each(|row| rows[row] += 1);
                by_roots[roots] += 1;
            }
        }
        (rows, by_roots)
    };
    let mut rows = [0; TABLE.len()];
    let mut by_roots = [0; 4];
    let threads: Vec<_> = (0..THREADS)
        .map(|seed| thread::spawn(move || work(seed)))
        .collect();
    for thread in threads {
        let (some, roots) = thread.join().unwrap();
        rows.iter_mut()
            .zip(some)
            .for_each(|(sum, some)| *sum += some);
        by_roots
            .iter_mut()
            .zip(roots)
            .for_each(|(sum, some)| *sum += some);
    }
    let names = TABLE.map(|(name, ..)| name);
    assert!(rows.iter().all(|&hit| hit >= 1000), "{names:?} {rows:?}");
    assert!(by_roots.iter().all(|&hit| hit >= 1000), "{by_roots:?}");
}
