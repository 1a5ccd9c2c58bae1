//! Prints hands of Mahjong, one a line, with what the rules say of them: value and distance
//! where a missing suit is required, and both where it is not. Always the same hands, many of
//! each kind that wins, and many that nearly do. Other implementations of the rules are held
//! against it.

#![allow(clippy::disallowed_methods, reason = "a program")]

use std::io::{self, BufWriter, Write as _};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use referee_games::mahjong::{Goal, Hand, MahjongSuit, MissingSuit, Tile, faan};

/// Number of hands of each sort.
const EACH: usize = 2000;
/// The parts that melds are made of: the lowest ranks of sequences, and the ranks of triplets.
type Melds = (&'static [u8], &'static [u8]);
const ANY: Melds = (&[1, 2, 3, 4, 5, 6, 7], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
const TRIPLETS: Melds = (&[], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
const TERMINALS: Melds = (&[1, 7], &[1, 9]);
const TWO_FIVE_EIGHT: Melds = (&[], &[2, 5, 8]);

fn main() -> io::Result<()> {
    let mut rng = StdRng::seed_from_u64(1);
    let mut out = BufWriter::new(io::stdout().lock());
    for suits in 1..=3 {
        for melds in [ANY, TRIPLETS, TERMINALS, TWO_FIVE_EIGHT] {
            // One suit has three triplets of 2, 5 and 8, and not four.
            if melds == TWO_FIVE_EIGHT && suits == 1 {
                continue;
            }
            for _ in 0..EACH {
                let hand = until(|| complete(&mut rng, suits, melds));
                both(&mut out, &mut rng, hand)?;
            }
        }
        for _ in 0..EACH {
            let hand = until(|| seven_pairs(&mut rng, suits));
            both(&mut out, &mut rng, hand)?;
        }
        for size in [13, 14] {
            for _ in 0..EACH {
                let hand = until(|| at_random(&mut rng, suits, size));
                line(&mut out, &hand)?;
            }
        }
    }
    out.flush()
}

/// The hand, and what is left of it when some of its tiles are exchanged.
fn both(out: &mut impl io::Write, rng: &mut StdRng, hand: Hand) -> io::Result<()> {
    line(out, &hand)?;
    let mut tiles: Vec<Tile> = hand.tiles().collect();
    tiles.swap_remove(rng.random_range(0..tiles.len()));
    let mut less = until(|| Hand::of(&tiles));
    for _ in 0..rng.random_range(0..4) {
        let held: Vec<Tile> = less.tiles().collect();
        less = less.without(*held.choose(rng).expect("a hand has tiles"));
        let tile = until(|| Some(tile(rng, 3)).filter(|&tile| less.has_room(tile)));
        less.add(tile);
    }
    line(out, &less)
}

fn line(out: &mut impl io::Write, hand: &Hand) -> io::Result<()> {
    write!(out, "{hand}")?;
    for missing_suit in [MissingSuit::Required, MissingSuit::Free] {
        let value = faan(hand, missing_suit).unwrap_or(0);
        write!(out, " {value} {}", Goal::new(missing_suit).distance(hand))?;
    }
    writeln!(out)
}

/// Tries until there is something.
fn until<T>(mut make: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(made) = make() {
            return made;
        }
    }
}

fn of(rng: &mut StdRng, suits: usize, rank: u8) -> Tile {
    let suit = MahjongSuit::ALL[rng.random_range(0..suits)];
    Tile::new(suit, rank).expect("ranks are 1 to 9")
}

fn tile(rng: &mut StdRng, suits: usize) -> Tile {
    let rank = rng.random_range(1..=9);
    of(rng, suits, rank)
}

/// Four melds and a pair, unless a kind would have a fifth tile.
fn complete(rng: &mut StdRng, suits: usize, (lows, alike): Melds) -> Option<Hand> {
    let mut tiles = Vec::new();
    for _ in 0..4 {
        let sequence = !lows.is_empty() && rng.random_range(0..3) > 0;
        let rank = *(if sequence { lows } else { alike }).choose(rng)?;
        let first = of(rng, suits, rank);
        let step = u8::from(sequence);
        for i in 0..3 {
            tiles.push(Tile::new(first.suit(), rank + i * step)?);
        }
    }
    let rank = *alike.choose(rng)?;
    let pair = of(rng, suits, rank);
    tiles.extend([pair, pair]);
    Hand::of(&tiles)
}

fn seven_pairs(rng: &mut StdRng, suits: usize) -> Option<Hand> {
    let pairs = (0..7).map(|_| tile(rng, suits));
    let tiles: Vec<Tile> = pairs.flat_map(|tile| [tile, tile]).collect();
    Hand::of(&tiles)
}

fn at_random(rng: &mut StdRng, suits: usize, size: usize) -> Option<Hand> {
    let tiles: Vec<Tile> = (0..size).map(|_| tile(rng, suits)).collect();
    Hand::of(&tiles)
}
