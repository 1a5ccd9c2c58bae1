//! Hands that explain discards.

use rand::{Rng, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tenpai::{
    KINDS, Shanten, Situation, Tile, Tiles,
    explain::{HandExplanation, explaining},
    shuffle,
};

fn shuffled(hand: &Tiles, rng: &mut impl Rng) -> Vec<Tile> {
    let mut tiles: Vec<Tile> = hand.tiles().collect();
    shuffle(&mut tiles, rng);
    tiles
}

/// The second seat's situation after so many discards of both and one more of the other seat, if
/// nobody has won before: it discards what it draws.
fn played(discards: usize, rng: &mut impl Rng) -> Option<Situation> {
    let mut wall = shuffled(&Tiles::FULL, rng);
    let mut seat = Shanten::new(&wall.split_off(wall.len() - 13));
    let mut situation = Situation {
        hand: wall.split_off(wall.len() - 13).into_iter().collect(),
        own_river: Vec::new(),
        other_river: Vec::new(),
        began: false,
        left: 82,
        three_suits: false,
        passive: Some(0.0),
    };
    loop {
        let (theirs, own) = (wall.pop()?, wall.pop()?);
        if seat.wins(theirs).is_some() {
            return None;
        }
        situation.other_river.push(seat.discard(theirs));
        situation.left -= 2;
        if situation.other_river.len() > discards {
            situation.hand = situation.hand.with(own);
            return Some(situation);
        }
        if seat.wins(own).is_some() {
            return None;
        }
        seat.sees(own);
        situation.own_river.push(own);
    }
}

/// By kind, how many of its tiles the other seat holds, on average.
fn held(hands: &[Tiles]) -> [f64; KINDS] {
    std::array::from_fn(|index| {
        let tile = Tile::new(index).expect("a kind");
        let copies = hands.iter().map(|hand| f64::from(hand.count(tile)));
        copies.sum::<f64>() / hands.len() as f64
    })
}

fn explanations(situation: &Situation, count: usize, changes: usize) -> Vec<HandExplanation> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    explaining(situation, count, changes, || false, &mut rng).expect("hands that explain it")
}

#[test]
fn hands_are_as_likely_as_among_all_deals_that_lead_to_the_same_discards() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let situation = played(1, &mut rng).expect("nobody has won");
    let hidden = situation.other_river.iter().copied();
    let hidden = hidden.fold(situation.unseen(), Tiles::with);
    let mut expected = Vec::new();
    while expected.len() < 1_500 {
        let mut wall = shuffled(&hidden, &mut rng);
        let mut seat = Shanten::new(&wall.split_off(wall.len() - 13));
        let mut own = situation.own_river.iter();
        let fits = situation.other_river.iter().all(|&tile| {
            let drawn = wall.pop().expect("a wall");
            let is_same = seat.wins(drawn).is_none() && seat.discard(drawn) == tile;
            let passes = own.next().is_none_or(|&tile| {
                let passes = seat.wins(tile).is_none();
                seat.sees(tile);
                passes
            });
            is_same && passes
        });
        if fits {
            expected.push(seat.hand);
        }
    }
    let expected = held(&expected);
    let found = explanations(&situation, 1_500, 40);
    let found: Vec<Tiles> = found.iter().map(|one| one.seat.hand).collect();
    for (one, other) in held(&found).into_iter().zip(expected) {
        // Some five standard errors.
        assert!((one - other).abs() < 0.12, "{one} {other}");
    }
}

#[test]
fn all_tiles_that_are_unseen_are_in_the_hand_or_not() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for discards in [0, 3, 9] {
        let situation = (0..20)
            .find_map(|_| played(discards, &mut rng))
            .expect("nobody has won");
        for one in explanations(&situation, 100, 5) {
            assert_eq!(one.seat.hand.len(), 13);
            let all = one.seat.hand.tiles().fold(one.rest, Tiles::with);
            assert_eq!(all, situation.unseen());
        }
    }
}

#[test]
fn who_is_late_finds_none() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let situation = played(2, &mut rng).expect("nobody has won");
    assert!(explaining(&situation, 100, 5, || true, &mut rng).is_none());
}
