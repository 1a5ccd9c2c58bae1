//! Time of one scoring and of one distance, on one core, beside the crate
//! `xiangting`, which counts the same distance for another set of tiles.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{hint::black_box, time::Instant};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use referee_games::mahjong::{COPIES, Goal, Hand, MissingSuit, TILES, Tile, faan, prepare};
use xiangting::{PlayerCount, calculate_necessary_tiles, calculate_replacement_number};

const HANDS: usize = 100_000;
const TURNS: usize = 8;

fn main() {
    let begun = Instant::now();
    prepare();
    println!(
        "\nMahjong, one core (the table is built in {:.0?})\n",
        begun.elapsed()
    );
    println!("| ns each, over {HANDS} hands | random | met in play |");
    println!("| --- | ---: | ---: |");
    let mut rng = StdRng::seed_from_u64(1);
    let random = [random(&mut rng, 13), random(&mut rng, 14)];
    let met = played(&mut rng);
    let sets = [&random, &met];

    let [free, two_suits] = [MissingSuit::Free, MissingSuit::Required].map(Goal::new);
    let melds = Goal {
        seven_pairs: false,
        ..free
    };
    row(
        "score of 14 tiles",
        sets.map(|[_, full]| {
            time(full, |hand| {
                faan(hand, MissingSuit::Free).unwrap_or_default()
            })
        }),
    );
    row(
        "distance, two suits and seven pairs",
        sets.map(|[hands, _]| time(hands, |hand| two_suits.distance(hand) as u32)),
    );
    let ours = sets.map(|[hands, _]| time(hands, |hand| free.distance(hand) as u32));
    row("distance, any suits and seven pairs", ours);
    row(
        "distance, any suits, melds alone",
        sets.map(|[hands, _]| time(hands, |hand| melds.distance(hand) as u32)),
    );
    let theirs = sets.map(|[hands, _]| {
        let hands: Vec<_> = hands.iter().map(counts).collect();
        time(&hands, |hand| {
            calculate_replacement_number(hand, PlayerCount::Four).map_or(0, u32::from)
        })
    });
    row("distance by xiangting", theirs);
    ratio(ours, theirs);
    let ours = sets.map(|[hands, _]| time(hands, |hand| free.accepts(hand).len() as u32));
    row("tiles that lower it, any suits", ours);
    row(
        "tiles that lower it, two suits",
        sets.map(|[hands, _]| time(hands, |hand| two_suits.accepts(hand).len() as u32)),
    );
    let theirs = sets.map(|[hands, _]| {
        let hands: Vec<_> = hands.iter().map(counts).collect();
        time(&hands, |hand| {
            calculate_necessary_tiles(hand, PlayerCount::Four)
                .map_or(0, |(_, tiles)| tiles.count_ones())
        })
    });
    row("tiles that lower it by xiangting", theirs);
    ratio(ours, theirs);
}

fn row(what: &str, [random, met]: [f64; 2]) {
    println!("| {what} | {random:.1} | {met:.1} |");
}

fn ratio(ours: [f64; 2], theirs: [f64; 2]) {
    let [random, met] = [0, 1].map(|set| theirs[set] / ours[set]);
    println!("| xiangting's time is ours times | {random:.2} | {met:.2} |");
}

/// The least of several rounds, in nanoseconds a hand.
fn time<T>(hands: &[T], mut what: impl FnMut(&T) -> u32) -> f64 {
    (0..7)
        .map(|_| {
            let begun = Instant::now();
            let mut sum = 0_u32;
            for hand in hands {
                sum = sum.wrapping_add(what(black_box(hand)));
            }
            black_box(sum);
            begun.elapsed().as_secs_f64() * 1e9 / hands.len() as f64
        })
        .fold(f64::INFINITY, f64::min)
}

fn wall(rng: &mut StdRng) -> Vec<Tile> {
    let mut wall: Vec<Tile> = (0..COPIES).flat_map(|_| Tile::all()).collect();
    assert_eq!(wall.len(), TILES);
    wall.shuffle(rng);
    wall
}

fn random(rng: &mut StdRng, tiles: usize) -> Vec<Hand> {
    (0..HANDS)
        .map(|_| Hand::of(&wall(rng)[..tiles]).expect("tiles that exist"))
        .collect()
}

/// Hands of 13 and of 14 tiles on the way of a seat that discards the tile
/// without which it is nearest.
fn played(rng: &mut StdRng) -> [Vec<Hand>; 2] {
    let goal = Goal::new(MissingSuit::Required);
    let mut hands = [Vec::new(), Vec::new()];
    while hands[0].len() < HANDS {
        let wall = wall(rng);
        let mut hand = Hand::of(&wall[..13]).expect("tiles that exist");
        for &tile in &wall[13..13 + 2 * TURNS] {
            hand.add(tile);
            hands[1].push(hand);
            if goal.distance(&hand) < 0 {
                break;
            }
            let kinds: Vec<Tile> = hand.kinds().collect();
            let skip = rng.random_range(0..kinds.len());
            let worst = (0..kinds.len())
                .map(|at| kinds[(at + skip) % kinds.len()])
                .min_by_key(|&tile| goal.distance(&hand.without(tile)))
                .expect("a hand has tiles");
            hand.remove(worst);
            hands[0].push(hand);
        }
    }
    hands
}

fn counts(hand: &Hand) -> [u8; 34] {
    let mut counts = [0; 34];
    for tile in hand.tiles() {
        counts[tile.index()] += 1;
    }
    counts
}
