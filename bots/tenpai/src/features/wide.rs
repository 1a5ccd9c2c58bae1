//! The features of a hand that only the wide network sees: parts of a hand that a suit may be, what
//! is seen further ahead, and each rank with its neighbours.

use super::{
    CERTAIN, CLASS, CLASSES, GOAL, GoalDistance, RACING_ROWS, Rows, SuitFeatures, Suits, Threat,
    distance, tiles,
};
use crate::{
    shapes::{LARGEST, PARTS, RanksShapeId, Shapes, shapes},
    tile::{COPIES, RANKS, SUITS},
};

/// The first of the rows that only a wide network has.
const PARTLY: usize = RACING_ROWS;
/// The first of those for what is seen further ahead; the ones for each rank are behind them.
pub const AHEAD: usize = PARTLY + SUITS * PARTS * LACKING * AMOUNTS;
const AHEAD_OF_ONE: usize = AHEAD + SUITS * GOAL;
const RISKS: usize = AHEAD_OF_ONE + SUITS * GOAL;
const NEIGHBOURS: usize = RISKS + SUITS * RANKS * COUNTS * RISK_CLASSES;
/// Number of rows of the first layer of a wide network: those, and more.
pub const WIDE_ROWS: usize = NEIGHBOURS + SUITS * RANKS * NEAR * COUNTS * COUNTS;
/// A rank is held, and unseen, 0 to 4 times.
const COUNTS: usize = COPIES as usize + 1;
/// Number of ways to hold the two ranks on either side of a rank, each of them or not.
const NEAR: usize = 16;
/// The classes of the chance that the other seat wins with a tile.
const RISK_CLASSES: usize = RISKY.len() + 1;
pub(super) const RISKY: [f32; 5] = [0.005, 0.015, 0.03, 0.06, 0.1];
/// The numbers of tiles that a part of a hand lacks that are told apart; the last one stands for all above.
const LACKING: usize = 5;
/// The classes of the unseen tiles that bring a part of a hand nearer.
const AMOUNTS: usize = 16;
/// By the number of those tiles: its class.
const AMOUNT: [u8; 25] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 10, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 14,
];

impl SuitFeatures {
    /// The unseen tiles of a rank when one of another rank, or of the same, was drawn.
    fn left(&self, rank: usize, drawn: usize) -> u32 {
        let seen = if rank == drawn { u16::from(CERTAIN) } else { 0 };
        u32::from(self.unseen[rank].saturating_sub(seen))
    }
}

impl Suits {
    /// The same, ready for [`wide_rows`](Self::wide_rows) without several tiles.
    #[must_use]
    pub fn wide(self) -> Self {
        Self {
            ahead: Some(AheadFeatures::of(&self.each)),
            ..self
        }
    }

    /// Those of [`rows`](Self::rows), and behind them what only a wide network sees: of each suit, what it
    /// lacks for each part that it may be of a hand, and how many unseen tiles bring it nearer; of each
    /// two suits and of each suit, how many do so again after one of those; of each rank, how many tiles are
    /// held and how many are unseen, which of its neighbours are held, and whether the other seat wins with it.
    #[must_use]
    pub fn wide_rows(&self, left: u8, threat: &Threat) -> Rows {
        let order = self.order();
        let mut rows = self.rows_in(order, left, Some(threat));
        let shapes = shapes();
        let suits = order.map(|at| &self.each[at]);
        for (place, suit) in suits.iter().enumerate() {
            let lacking = shapes.parts(suit.id);
            let mut unseen = [0; PARTS];
            for rank in 0..RANKS {
                let more = shapes.parts(suit.more[rank]);
                for part in 0..PARTS {
                    unseen[part] += suit.unseen[rank] * u16::from(more[part] < lacking[part]);
                }
            }
            for part in 0..PARTS {
                let amount = AMOUNT
                    .get(tiles(unseen[part]))
                    .map_or(AMOUNTS - 1, |&class| usize::from(class));
                let lacking = usize::from(lacking[part]).min(LACKING - 1);
                let row = ((place * PARTS + part) * LACKING + lacking) * AMOUNTS + amount;
                rows.push(PARTLY + row);
            }
        }
        let AheadFeatures { pairs, ones, .. } =
            self.ahead.unwrap_or_else(|| AheadFeatures::of(&self.each));
        let [first, second, third] = order;
        let mut pairs = [third, second, first].map(|without| pairs[without]);
        pairs.sort_by_key(|further| further.nearer.order());
        for (place, further) in pairs.into_iter().enumerate() {
            rows.push(AHEAD + place * GOAL + further.row());
        }
        for (place, at) in order.into_iter().enumerate() {
            rows.push(AHEAD_OF_ONE + place * GOAL + ones[at].row());
        }
        for (place, suit) in suits.iter().enumerate() {
            let held = (0..RANKS).filter(|&rank| suit.ranks.of(rank) > 0);
            let held = held.fold(0_u32, |all, rank| all | 1 << (rank + 2));
            for (rank, &risk) in threat.risks[order[place]].iter().enumerate() {
                let count = usize::from(suit.ranks.of(rank));
                let at = place * RANKS + rank;
                rows.push(RISKS + (at * COUNTS + count) * RISK_CLASSES + usize::from(risk));
                // The two ranks below it and the two above it.
                let around = held >> rank;
                let near = (around & 0b11 | around >> 1 & 0b1100) as usize;
                let unseen = tiles(suit.unseen[rank]).min(COUNTS - 1);
                rows.push(NEIGHBOURS + ((at * NEAR + near) * COUNTS + count) * COUNTS + unseen);
            }
        }
        rows
    }
}

/// The features that look further ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct AheadFeatures {
    more: [TwoMore; SUITS],
    /// Of each two suits: of all but the one with this number.
    pairs: [Further; SUITS],
    /// Of each suit alone.
    ones: [Further; SUITS],
}

impl AheadFeatures {
    fn of(suits: &[SuitFeatures; SUITS]) -> Self {
        let shapes = shapes();
        let more = suits.each_ref().map(|suit| TwoMore::of(shapes, suit));
        let at = |suit: usize| (&suits[suit], &more[suit]);
        Self {
            pairs: [[1, 2], [0, 2], [0, 1]]
                .map(|[one, other]| Further::of_two(shapes, at(one), at(other))),
            ones: [0, 1, 2].map(|suit| Further::of_one(shapes, at(suit))),
            more,
        }
    }

    /// Follows a change of one of these suits.
    pub(super) fn change(&mut self, suits: &[SuitFeatures; SUITS], changed: usize) {
        let shapes = shapes();
        self.more[changed] = TwoMore::of(shapes, &suits[changed]);
        let at = |suit: usize| (&suits[suit], &self.more[suit]);
        self.ones[changed] = Further::of_one(shapes, at(changed));
        for beside in (0..SUITS).filter(|&beside| beside != changed) {
            let without = SUITS - changed - beside;
            self.pairs[without] = Further::of_two(shapes, at(changed), at(beside));
        }
    }
}

/// A suit with two more of its unseen tiles, by their ranks; with fewer where there are not so many, or where
/// it would be too large.
#[derive(Clone, Copy, Debug)]
struct TwoMore([[RanksShapeId; RANKS]; RANKS]);

impl TwoMore {
    fn of(shapes: &Shapes, suit: &SuitFeatures) -> Self {
        let mut ids = suit.more.map(|id| [id; RANKS]);
        if suit.ranks.size() + 2 > LARGEST {
            return Self(ids);
        }
        let two = (0..RANKS).flat_map(|one| (one..RANKS).map(move |other| (one, other)));
        for (one, other) in two.filter(|&(one, other)| suit.unseen[one].min(suit.unseen[other]) > 0)
        {
            let ranks = suit.ranks.with(one);
            if ranks.of(other) < COPIES {
                let id = shapes.id(ranks.with(other));
                ids[one][other] = id;
                ids[other][one] = id;
            }
        }
        Self(ids)
    }
}

/// The distance of a hand, and how many unseen tiles bring it nearer again after one that does.
#[derive(Clone, Copy, Debug)]
struct Further {
    nearer: GoalDistance,
    /// Each times the number of the first ones that they come after.
    after: u32,
}

impl Further {
    /// Of two suits that melds are made of.
    fn of_two(
        shapes: &Shapes,
        one: (&SuitFeatures, &TwoMore),
        other: (&SuitFeatures, &TwoMore),
    ) -> Self {
        let lacking = shapes.lacking_of_two(one.0.id, other.0.id);
        let (mut unseen, mut after) = (0, 0);
        for ((suit, twice), (beside, _)) in [(one, other), (other, one)] {
            let lacks = shapes.lacking_with(beside.id);
            for rank in 0..RANKS {
                if suit.unseen[rank] == 0 || lacks[suit.more[rank].index()] >= lacking {
                    continue;
                }
                let lacks_more = shapes.lacking_with(suit.more[rank]);
                let mut again = 0;
                for next in 0..RANKS {
                    let is_nearer = lacks[twice.0[rank][next].index()] + 1 < lacking;
                    again += suit.left(next, rank) * u32::from(is_nearer);
                    let is_nearer = lacks_more[beside.more[next].index()] + 1 < lacking;
                    again += u32::from(beside.unseen[next]) * u32::from(is_nearer);
                }
                unseen += suit.unseen[rank];
                after += u32::from(suit.unseen[rank]) * again;
            }
        }
        Self {
            nearer: GoalDistance { lacking, unseen },
            after,
        }
    }

    /// Of a suit alone.
    fn of_one(shapes: &Shapes, (suit, twice): (&SuitFeatures, &TwoMore)) -> Self {
        let lacking = shapes.lacking(suit.id);
        let (mut unseen, mut after) = (0, 0);
        for rank in 0..RANKS {
            if suit.unseen[rank] == 0 || shapes.lacking(suit.more[rank]) >= lacking {
                continue;
            }
            let again = (0..RANKS).map(|next| {
                let lacks = shapes.lacking(twice.0[rank][next]);
                suit.left(next, rank) * u32::from(lacks + 1 < lacking)
            });
            unseen += suit.unseen[rank];
            after += u32::from(suit.unseen[rank]) * again.sum::<u32>();
        }
        Self {
            nearer: GoalDistance { lacking, unseen },
            after,
        }
    }

    /// Its row: what the hand lacks, and how many tiles come after on average.
    fn row(&self) -> usize {
        let before = u32::from(self.nearer.unseen);
        let mean = match before {
            0 => 0,
            _ => (self.after + before * u32::from(CERTAIN) / 2) / (before * u32::from(CERTAIN)),
        };
        distance(self.nearer.lacking) * CLASSES + usize::from(CLASS[mean.min(127) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        features::Chances,
        tile::{Tile, Tiles, shuffle},
    };
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_hand_without_a_tile_has_the_same_rows_as_that_hand() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let threat = Threat::new(0.05, &[0.02; 27], &[0.1; 27], &Tiles::FULL);
        let mut tiles: Vec<Tile> = Tiles::FULL.tiles().collect();
        for _ in 0..200 {
            shuffle(&mut tiles, &mut rng);
            let hand: Tiles = tiles[..14].iter().copied().collect();
            let unseen: Tiles = tiles[14..].iter().copied().collect();
            let all = Suits::of(&hand, &unseen, &Chances::EQUAL).wide();
            for tile in hand.kinds() {
                let found = all.without(tile, &unseen, &Chances::EQUAL);
                let expected = Suits::of(&hand.without(tile), &unseen, &Chances::EQUAL);
                assert_eq!(
                    *found.wide_rows(60, &threat),
                    *expected.wide_rows(60, &threat)
                );
            }
        }
    }

    #[test]
    fn tiles_that_bring_a_hand_nearer_again_are_counted() {
        let lacking = |hand: &Tiles| {
            let id = |suit: usize| shapes().id(hand.suits[suit]);
            shapes().lacking_of_two(id(0), id(1))
        };
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut tiles: Vec<Tile> = Tiles::FULL.tiles().filter(|it| it.suit() < 2).collect();
        for _ in 0..100 {
            shuffle(&mut tiles, &mut rng);
            let hand: Tiles = tiles[..13].iter().copied().collect();
            let unseen: Tiles = tiles[13..50].iter().copied().collect();
            let now = lacking(&hand);
            let (mut before, mut after) = (0, 0);
            let nearer = |hand: &Tiles, lacks: u8, tile: &Tile| lacking(&hand.with(*tile)) < lacks;
            for first in unseen.tiles().filter(|tile| nearer(&hand, now, tile)) {
                before += 1;
                let (hand, unseen) = (hand.with(first), unseen.without(first));
                after += unseen
                    .tiles()
                    .filter(|tile| nearer(&hand, now - 1, tile))
                    .count();
            }
            let suits = Suits::of(&hand, &unseen, &Chances::EQUAL);
            let [_, _, pair] = AheadFeatures::of(&suits.each).pairs;
            let unit = u32::from(CERTAIN);
            assert_eq!(u32::from(pair.nearer.unseen), unit * before);
            assert_eq!(pair.after, unit * unit * after as u32);
        }
    }
}
