//! A hand that wins as its melds and its pair, for whoever looks at it.

use super::{hand::Hand, target::Complete, tile::Tile, value::highest_row};

/// The tiles of a hand that wins as melds and a pair, or as seven pairs: the reading with the
/// highest value. None if the hand does not win.
pub(super) fn groups(hand: &Hand) -> Vec<Vec<Tile>> {
    let suits = hand.suits();
    let flush = suits.iter().filter(|suit| !suit.is_empty()).count() == 1;
    let mut readings = Vec::new();
    split(*hand, &mut Vec::new(), &mut readings);
    let mut best = (None, Vec::new());
    for groups in readings {
        let ranks = |group: &Vec<Tile>| group.iter().map(|tile| tile.rank()).collect::<Vec<_>>();
        let complete = groups.iter().fold(Complete::ALL, |all, group| {
            all.and(Complete::of_group(&ranks(group)))
        });
        let value = highest_row(flush, false, complete);
        if value > best.0 {
            best = (value, groups);
        }
    }
    let is_seven_pairs = hand.len() == 14 && suits.iter().all(|suit| suit.odd() == 0);
    if is_seven_pairs && highest_row(flush, true, Complete::NOTHING) > best.0 {
        let tiles: Vec<Tile> = hand.tiles().collect();
        return tiles.chunks(2).map(<[Tile]>::to_vec).collect();
    }
    best.1
}

/// Adds every way to take all tiles as melds and one pair to those groups that have been taken.
fn split(rest: Hand, taken: &mut Vec<Vec<Tile>>, readings: &mut Vec<Vec<Vec<Tile>>>) {
    let Some(first) = rest.kinds().next() else {
        let mut groups = taken.clone();
        groups.sort_by_key(|group| group.len() == 2);
        readings.push(groups);
        return;
    };
    let in_a_row = (0..3).map_while(|more| Tile::new(first.suit(), first.rank() + more));
    let has_pair = taken.iter().any(|group| group.len() == 2);
    for group in [vec![first; 3], in_a_row.collect(), vec![first; 2]] {
        let fits = group.len() == 3 || group == [first; 2] && !has_pair;
        let without = group.iter().try_fold(rest, |rest, &tile| {
            rest.contains(tile).then(|| rest.without(tile))
        });
        if let Some(without) = without.filter(|_| fits) {
            taken.push(group);
            split(without, taken, readings);
            taken.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{parse, value::MissingSuit},
        *,
    };

    fn read(tiles: &str) -> String {
        let hand = Hand::of(&parse(tiles).unwrap()).unwrap();
        let groups = groups(&hand);
        let all: Vec<Tile> = groups.concat();
        if hand.len() == 14 && super::super::faan(&hand, MissingSuit::Free).is_some() {
            assert_eq!(Hand::of(&all), Some(hand));
        }
        let groups: Vec<String> = groups.iter().map(|one| super::super::print(one)).collect();
        groups.join(" ")
    }

    #[test]
    fn a_hand_is_read_as_what_gives_its_value() {
        for (tiles, groups) in [
            ("123456c23455567b", "123c 456c 234b 567b 55b"),
            // Triplets are worth more than sequences.
            ("111222333c44455b", "111c 222c 333c 444b 55b"),
            // With a terminal in every group sequences are worth more.
            ("111222333789c99b", "123c 123c 123c 789c 99b"),
            ("1133557799c2244b", "11c 33c 55c 77c 99c 22b 44b"),
            // Seven pairs are worth more than four melds.
            ("112233c44556677b", "11c 22c 33c 44b 55b 66b 77b"),
            ("123456c2345567b6d", ""),
        ] {
            assert_eq!(read(tiles), groups, "{tiles}");
        }
    }
}
