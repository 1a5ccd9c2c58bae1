//! The engine beside the rules of the referee.

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_games::mahjong::{
    Goal, Hand as RefereeHand, MissingSuit, Tile as RefereeTile, faan as referee_faan, parse,
};
use tenpai::{
    Shanten, Tile, Tiles, faan,
    features::{Chances, Suits},
};

fn here(tile: RefereeTile) -> Tile {
    Tile::new(tile.index()).expect("both have the same tiles")
}

fn both(tiles: &[RefereeTile]) -> (Tiles, RefereeHand) {
    let hand = tiles.iter().copied().map(here).collect();
    (hand, RefereeHand::of(tiles).expect("a hand"))
}

/// So many tiles of a few suits and ranks, so that many hands win.
fn tiles(count: usize, rng: &mut impl Rng) -> Vec<RefereeTile> {
    let suits = rng.random_range(1..=3);
    let ranks = rng.random_range(4..=9);
    let mut all: Vec<RefereeTile> = RefereeTile::all()
        .filter(|tile| tile.index() / 9 < suits && tile.index() % 9 < ranks)
        .flat_map(|tile| [tile; 4])
        .collect();
    for at in (1..all.len()).rev() {
        all.swap(at, rng.random_range(0..=at));
    }
    all.truncate(count);
    all
}

/// Four melds and a pair, or seven pairs, of tiles that exist.
fn winning(rng: &mut impl Rng) -> Vec<RefereeTile> {
    let all: Vec<RefereeTile> = RefereeTile::all().collect();
    let suits = rng.random_range(1..=3);
    loop {
        let mut tile = |ranks: usize| {
            let suit = rng.random_range(0..suits);
            9 * suit + rng.random_range(0..ranks)
        };
        let mut places = Vec::new();
        if tile(9) % 3 == 0 {
            for _ in 0..7 {
                let at = tile(9);
                places.extend([at, at]);
            }
        } else {
            for _ in 0..4 {
                if tile(2) % 2 == 0 {
                    let at = tile(9);
                    places.extend([at, at, at]);
                } else {
                    let at = tile(7);
                    places.extend([at, at + 1, at + 2]);
                }
            }
            let at = tile(9);
            places.extend([at, at]);
        }
        let tiles: Vec<RefereeTile> = places.into_iter().map(|at| all[at]).collect();
        if RefereeHand::of(&tiles).is_some() {
            return tiles;
        }
    }
}

#[test]
fn hands_are_worth_what_the_referee_pays() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut wins = 0;
    for round in 0..60_000 {
        let tiles = if round % 2 == 0 {
            tiles(14, &mut rng)
        } else {
            winning(&mut rng)
        };
        let (hand, referee) = both(&tiles);
        for (rule, three_suits) in [(MissingSuit::Required, false), (MissingSuit::Free, true)] {
            let expected = referee_faan(&referee, rule);
            assert_eq!(faan(&hand, three_suits), expected, "{referee}");
            wins += u32::from(expected.is_some());
        }
    }
    assert!(wins > 30_000, "{wins}");
}

#[test]
fn the_examples_of_the_rules_have_their_values() {
    for (text, value) in [
        ("11112345678999c", Some(8)),
        ("111222333444c55c", Some(8)),
        ("112233c445566d77c", Some(4)),
        ("112233445566c77c", Some(16)),
        ("11112233445566c", Some(32)),
        ("11112222333344c", Some(128)),
        ("12378999911123c", Some(64)),
        ("222555888c222d55d", Some(8)),
        ("111222333c444d55d", Some(2)),
        ("123c789c123d789d11c", Some(4)),
        ("123c789c123d789d55c", Some(1)),
        ("123c789c123d789b11c", None),
    ] {
        let (hand, _) = both(&parse(text).unwrap());
        assert_eq!(faan(&hand, false), value, "{text}");
    }
}

#[test]
fn hands_are_as_far_from_winning_as_the_referee_counts() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let goal = Goal::new(MissingSuit::Required);
    for _ in 0..20_000 {
        let (hand, referee) = both(&tiles(13, &mut rng));
        let unseen = (0..27).fold(Tiles::FULL, |unseen, index| {
            let tile = Tile::new(index).unwrap();
            (0..hand.count(tile)).fold(unseen, |unseen, _| unseen.without(tile))
        });
        let suits = Suits::of(&hand, &unseen, &Chances::EQUAL);
        assert_eq!(suits.shanten(), goal.distance(&referee), "{referee}");
    }
}

/// The tile that `shanten` discards of a hand of 14 tiles, by the distances of the referee.
fn discard_of_shanten(hand: &RefereeHand, unseen: &Tiles) -> RefereeTile {
    let goal = Goal::new(MissingSuit::Required);
    let after = |tile| hand.without(tile);
    let distances = hand.kinds().map(|tile| goal.distance(&after(tile)));
    let least = distances.min().expect("a hand has tiles");
    let copies = |tile| {
        let accepted = goal.accepts(&after(tile));
        let copies = accepted.iter().map(|tile| unseen.count(here(tile)));
        copies.map(u32::from).sum::<u32>()
    };
    hand.kinds()
        .filter(|&tile| goal.distance(&after(tile)) == least)
        .max_by_key(|&tile| (copies(tile), tile))
        .expect("a hand has tiles")
}

#[test]
fn a_racing_seat_discards_as_shanten_does_by_the_distances_of_the_referee() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..2_000 {
        let mut wall: Vec<RefereeTile> = RefereeTile::all().flat_map(|tile| [tile; 4]).collect();
        for at in (1..wall.len()).rev() {
            wall.swap(at, rng.random_range(0..=at));
        }
        let dealt = wall.split_off(wall.len() - 13);
        let mut hand = RefereeHand::of(&dealt).expect("a hand");
        let dealt: Vec<Tile> = dealt.into_iter().map(here).collect();
        let mut seat = Shanten::new(&dealt);
        let mut unseen = dealt.into_iter().fold(Tiles::FULL, Tiles::without);
        while wall.len() > 1
            && let (Some(drawn), Some(seen)) = (wall.pop(), wall.pop())
        {
            let with = hand.with(drawn);
            let wins = referee_faan(&with, MissingSuit::Required);
            assert_eq!(seat.wins(here(drawn)), wins);
            if wins.is_some() {
                break;
            }
            unseen = unseen.without(here(drawn));
            let expected = discard_of_shanten(&with, &unseen);
            assert_eq!(seat.discard(here(drawn)), here(expected), "{with}");
            hand = with.without(expected);
            seat.sees(here(seen));
            unseen = unseen.without(here(seen));
        }
    }
}
