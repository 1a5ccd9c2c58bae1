//! The features of a hand of 13 tiles for the network: a list of rows of its first layer.
//!
//! For each kind of winning hand there is one row for how many tiles are lacking and how many
//! unseen tiles bring it nearer, both together. Suits are sorted, so that hands that differ only in
//! the names of their suits look the same.

mod wide;

pub use wide::{AHEAD, WIDE_ROWS};
use wide::{AheadFeatures, RISKY};

use crate::{
    shapes::{LARGEST, PARTS, RanksShapeId, Shapes, TerminalId, shapes},
    tile::{KINDS, RANKS, Ranks, SUITS, Tile, Tiles},
    value::faan,
};

/// The classes of a number of unseen tiles.
const CLASSES: usize = 32;
/// The distances that are told apart; the last one stands for all above.
const DISTANCES: usize = 8;
/// The discards of a seat in a round.
const TURNS: usize = 41;
/// The same where two of them are not told apart.
const PAIRS_OF_TURNS: usize = TURNS.div_ceil(2);
const GOAL: usize = DISTANCES * CLASSES;

/// The kinds of winning hands, each with the suits that it is looked for in.
const GOALS: usize = 13;
const TIMED: usize = 7;

const READY: usize = GOALS * GOAL;
const SIZES: usize = READY + 64 * 11;
const ROOTS_OF_TWO: usize = SIZES + 14 * 14;
const TURN: usize = ROOTS_OF_TWO + KINDS_HELD;
const TIMES: usize = TURN + TURNS;
const ROOTS: usize = TIMES + TIMED * DISTANCES * TURNS;
const SINGLES: usize = ROOTS + KINDS_HELD * PHASES;
const PAIRS: usize = SINGLES + 10 * 28;
const THREES: usize = PAIRS + 8 * 15;
const UNSEEN: usize = THREES + 5 * 5;
const SIZE: usize = UNSEEN + 37 * PHASES;

/// The numbers of fours, threes and pairs that are told apart.
const KINDS_HELD: usize = 4 * 5 * 7;
/// The parts of a round.
const PHASES: usize = 14;

/// Number of rows of the first layer of a network against a passive opponent.
pub const PASSIVE_ROWS: usize = SIZE + 14 * PHASES;
/// The rows for turns that a network against a racing opponent does without, so that both fit into the
/// arcade's memory: its rounds are shorter. All rows behind them come earlier by so many.
const SAVED: usize = TIMED * DISTANCES * (TURNS - PAIRS_OF_TURNS);
/// Number of rows of the first layer of a network against a racing opponent: those but for the
/// saved ones, and more.
pub const RACING_ROWS: usize = THIRD + 3_usize.pow(WINDOW);
/// The first of the rows that only a network against a racing opponent has.
pub const PRESSED: usize = PASSIVE_ROWS - SAVED;
const SAFE: usize = PRESSED + DISTANCES * PRESSURES;
const HOLDS: usize = SAFE + 14 * PRESSURES;
const SHAPES: usize = HOLDS + SUITS * 14 * HELD;
const WINDOWS: usize = SHAPES + SUITS * SHAPE_IDS;
const THIRD: usize = WINDOWS + 4_usize.pow(WINDOW);
/// The ranks of a suit, from either end, that are seen together.
const WINDOW: u32 = 5;
/// More than there are shapes of a suit.
const SHAPE_IDS: usize = 160;
/// The classes of the chance that the other seat wins with the next tile.
const PRESSURES: usize = PRESSURE.len() + 1;
const PRESSURE: [f32; 11] = [
    0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.14,
];

/// The classes of the share of a suit's unseen tiles that the other seat holds.
const HELD: usize = HELD_BY.len() + 1;
const HELD_BY: [f32; 7] = [0.02, 0.06, 0.1, 0.15, 0.2, 0.26, 0.34];
/// A tile with which the other seat wins with a smaller chance is safe.
const RISK: f32 = 0.015;

/// True if this row of a network against a racing opponent says which turn it is, or how near the
/// other seat is to a win.
#[must_use]
pub fn is_of_the_race(row: u16) -> bool {
    let row = usize::from(row);
    (TURN..TIMES).contains(&row) || (PRESSED..SAFE).contains(&row)
}

/// The other seat's distance to a win and its likely hand, for the features of a hand.
#[derive(Clone, Debug)]
pub struct Threat {
    /// The class of the chance that it wins with the next tile.
    pressure: u8,
    /// By suit: all ranks that are safe.
    safe: [Ranks; SUITS],
    /// By suit: the class of the share of its unseen tiles that the other seat holds.
    held: [u8; SUITS],
    /// By suit and rank: the class of the chance that the other seat wins with such a tile.
    risks: [[u8; RANKS]; SUITS],
}

impl Threat {
    /// By the chance that it wins with the next tile, and by kind: the chance that it wins with such
    /// a tile, and the share of the unseen ones that it holds.
    pub(crate) fn new(
        self_draw: f32,
        danger: &[f32; KINDS],
        held: &[f32; KINDS],
        unseen: &Tiles,
    ) -> Self {
        let class = |bounds: &[f32], chance: f32| {
            bounds.iter().filter(|&&bound| chance > bound).count() as u8
        };
        Self {
            risks: std::array::from_fn(|suit| {
                std::array::from_fn(|rank| class(&RISKY, danger[suit * RANKS + rank]))
            }),
            pressure: class(&PRESSURE, self_draw),
            safe: [0, 1, 2].map(|suit| {
                let safe = (0..RANKS).filter(|rank| danger[suit * RANKS + rank] < RISK);
                Ranks(safe.fold(0, |all, rank| all | 7 << (3 * rank)))
            }),
            held: [0, 1, 2].map(|suit| {
                let (mut sum, mut tiles) = (0.0, 0.0);
                for rank in 0..RANKS {
                    let left = f32::from(unseen.suits[suit].of(rank));
                    sum += left * held[suit * RANKS + rank];
                    tiles += left;
                }
                class(&HELD_BY, if tiles > 0.0 { sum / tiles } else { 0.0 })
            }),
        }
    }
}

/// Number of rows of a hand at most.
pub const ACTIVE: usize =
    GOALS + 4 + TIMED + 11 + 3 * SUITS + PARTS * SUITS + 2 * SUITS + 2 * SUITS * RANKS;

/// The rows of a hand.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    rows: [u16; ACTIVE],
    len: usize,
}

impl std::ops::Deref for Rows {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.rows[..self.len]
    }
}

/// By the number of tiles, up to 108: its class.
const CLASS: [u8; 128] = {
    let last = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 31, 34, 37, 40, 44, 48,
        52, 57, 62, 68, 75, 82,
    ];
    let mut classes = [CLASSES as u8 - 1; 128];
    let mut tiles = 0;
    while tiles < 128 {
        let mut class = 0;
        while class < last.len() {
            if tiles <= last[class] {
                classes[tiles] = class as u8;
                break;
            }
            class += 1;
        }
        tiles += 1;
    }
    classes
};

/// The weights by which a seat gets unseen tiles of each kind more likely than by their number
/// alone, in units of 1 / [`CERTAIN`].
#[derive(Clone, Debug)]
pub struct Chances {
    /// By its own draws.
    pub draws: [u8; KINDS],
    /// By its own draws or the other seat's discards, when it is ready.
    pub waits: [u8; KINDS],
}

/// The weight of a tile that is as likely as any other.
pub const CERTAIN: u8 = 8;

impl Chances {
    /// All unseen tiles are equally likely.
    pub const EQUAL: Self = Self {
        draws: [CERTAIN; KINDS],
        waits: [CERTAIN; KINDS],
    };
}

/// A suit of a hand and its unseen tiles, and all that follows from them alone.
#[derive(Clone, Copy, Debug)]
pub struct SuitFeatures {
    ranks: Ranks,
    /// Unseen tiles, and those below too, in units of 1 / [`CERTAIN`], by their chances.
    unseen: [u16; RANKS],
    /// The same if the hand is ready.
    waits: [u16; RANKS],
    id: RanksShapeId,
    /// With one tile more of a rank.
    more: [RanksShapeId; RANKS],
    terminal: TerminalId,
    /// With one more of ranks 1, 2, 3, 7, 8, 9.
    more_terminal: [TerminalId; 6],
    size: u8,
    pairs: u8,
    singles: u8,
    /// Unseen tiles of ranks that are held an odd or even number of times.
    unseen_of_odd: u16,
    unseen_of_even: u16,
    /// Number of ranks that are held 0, 1, 2, and 3 times or more.
    held: [u8; 4],
    /// The unseen tiles of those.
    unseen_of: [u16; 4],
    fours: u8,
    /// A bit for each rank that is held an odd number of times.
    odd: Kinds,
    /// The place at which the suit's bits begin among those of all kinds.
    shift: u32,
}

const TERMINAL_RANKS: [usize; 6] = [0, 1, 2, 6, 7, 8];

impl SuitFeatures {
    fn new(shapes: &Shapes, at: usize, ranks: Ranks, unseen: Ranks, chances: &Chances) -> Self {
        let id = shapes.id(ranks);
        let terminal = shapes.terminals().id(ranks);
        let mut suit = Self {
            ranks,
            unseen: [0; RANKS],
            waits: [0; RANKS],
            id,
            more: [id; RANKS],
            terminal,
            more_terminal: [terminal; 6],
            size: 0,
            pairs: 0,
            singles: 0,
            unseen_of_odd: 0,
            unseen_of_even: 0,
            held: [0; 4],
            unseen_of: [0; 4],
            fours: 0,
            odd: 0,
            shift: 9 * at as u32,
        };
        let has_room = ranks.size() < LARGEST;
        for rank in 0..RANKS {
            let held = ranks.of(rank);
            let left = unseen.of(rank);
            let kind = at * RANKS + rank;
            let count = u16::from(left);
            suit.waits[rank] = count * u16::from(chances.waits[kind]);
            if left > 0 && has_room {
                suit.more[rank] = shapes.id(ranks.with(rank));
            }
            let left = count * u16::from(chances.draws[kind]);
            suit.unseen[rank] = left;
            suit.size += held;
            suit.pairs += held / 2;
            suit.singles += held % 2;
            if held % 2 == 1 {
                suit.unseen_of_odd += left;
                suit.odd |= 1 << rank;
            } else {
                suit.unseen_of_even += left;
            }
            suit.held[usize::from(held.min(3))] += 1;
            suit.unseen_of[usize::from(held.min(3))] += left;
            suit.fours += held / 4;
        }
        for (at, rank) in TERMINAL_RANKS.into_iter().enumerate() {
            if suit.unseen[rank] > 0 {
                suit.more_terminal[at] = shapes.terminals().id(ranks.with(rank));
            }
        }
        suit
    }
}

/// The suits of a hand of 13 tiles.
#[derive(Clone, Copy, Debug)]
pub struct Suits {
    each: [SuitFeatures; SUITS],
    /// The features that only a wide network sees.
    ahead: Option<AheadFeatures>,
}

impl Suits {
    /// Those of this hand, where these tiles are unseen.
    #[must_use]
    pub fn of(hand: &Tiles, unseen: &Tiles, chances: &Chances) -> Self {
        let shapes = shapes();
        let suit =
            |suit| SuitFeatures::new(shapes, suit, hand.suits[suit], unseen.suits[suit], chances);
        Self {
            each: [0, 1, 2].map(suit),
            ahead: None,
        }
    }

    /// The same without a tile that the hand has.
    #[must_use]
    pub fn without(&self, tile: Tile, unseen: &Tiles, chances: &Chances) -> Self {
        let mut suits = *self;
        let at = tile.suit();
        let ranks = self.each[at].ranks.without(tile.rank());
        suits.each[at] = SuitFeatures::new(shapes(), at, ranks, unseen.suits[at], chances);
        if let Some(ahead) = &mut suits.ahead {
            ahead.change(&suits.each, at);
        }
        suits
    }

    fn hand(&self) -> Tiles {
        Tiles {
            suits: self.each.each_ref().map(|suit| suit.ranks),
        }
    }

    /// The rows of a hand, when so many tiles are left in the wall after its discard, and how near the
    /// other seat is to a win, if it ever wins.
    #[must_use]
    pub fn rows(&self, left: u8, threat: Option<&Threat>) -> Rows {
        self.rows_in(self.order(), left, threat)
    }

    /// The same, with the suits in this order.
    fn rows_in(&self, order: [usize; SUITS], left: u8, threat: Option<&Threat>) -> Rows {
        let shapes = shapes();
        let sorted = order.map(|at| &self.each[at]);
        let [first, second, third] = sorted;
        let mut pairs = [(first, second), (first, third), (second, third)]
            .map(|(one, other)| SuitPair::new(shapes, one, other));
        let turn = usize::from(left / 2).min(TURNS - 1);

        let mut rows = Rows {
            rows: [0; ACTIVE],
            len: 0,
        };
        let flush = [flush(shapes, first), flush(shapes, second)];
        let flush_pairs = [seven_pairs(&[first]), seven_pairs(&[second])];
        let flush_terminals = terminals(shapes, first);
        for goal in flush.iter().chain(&flush_pairs).chain([&flush_terminals]) {
            rows.goal(*goal);
        }
        rows.goal(triplets(&[first]));
        pairs.sort_unstable_by_key(|pair| pair.terminals.order());
        rows.goal(pairs[0].terminals);
        pairs.sort_unstable_by_key(|pair| pair.triplets.order());
        rows.goal(pairs[0].triplets);
        pairs.sort_unstable_by_key(|pair| pair.seven_pairs.order());
        rows.goal(pairs[0].seven_pairs);
        rows.goal(pairs[1].seven_pairs);
        pairs.sort_unstable_by_key(|pair| pair.melds.order());
        rows.goal(pairs[0].melds);
        rows.goal(pairs[1].melds);
        let any = self.any(&pairs);
        rows.goal(any);
        debug_assert_eq!(rows.len, GOALS);
        rows.push(self.ready(&pairs, left));
        rows.push(SIZES + 14 * usize::from(first.size.min(13)) + usize::from(second.size.min(13)));
        rows.push(ROOTS_OF_TWO + roots(&[first, second]));
        rows.push(TURN + turn);
        let least =
            |pick: fn(&SuitPair) -> GoalDistance| pairs.iter().map(|pair| pick(pair).lacking).min();
        let timed = [
            any.lacking,
            least(|pair| pair.melds).unwrap_or(0),
            least(|pair| pair.seven_pairs).unwrap_or(0),
            least(|pair| pair.terminals).unwrap_or(0),
            flush[0].lacking,
            flush_pairs[0].lacking,
            flush_terminals.lacking,
        ];
        let (turns, time, saved) = match threat {
            None => (TURNS, turn, 0),
            Some(_) => (PAIRS_OF_TURNS, turn / 2, SAVED),
        };
        for (at, lacking) in timed.into_iter().enumerate() {
            rows.push(TIMES + (at * DISTANCES + distance(lacking)) * turns + time);
        }
        // What the largest suit may become.
        let phase = turn / 3;
        let held = |count: usize| usize::from(first.held[count]);
        let unseen = |count: usize| tiles(first.unseen_of[count]);
        let threes = held(3) - usize::from(first.fours);
        rows.push(ROOTS - saved + roots(&[first]) * PHASES + phase);
        rows.push(SINGLES - saved + held(1) * 28 + unseen(1).min(27));
        rows.push(PAIRS - saved + held(2).min(7) * 15 + unseen(2).min(14));
        rows.push(THREES - saved + threes.min(4) * 5 + unseen(3).min(4));
        let all = tiles(first.unseen_of_odd + first.unseen_of_even);
        rows.push(UNSEEN - saved + all.min(36) * PHASES + phase);
        rows.push(SIZE - saved + usize::from(first.size.min(13)) * PHASES + phase);
        if let Some(threat) = threat {
            let pressure = usize::from(threat.pressure);
            rows.push(PRESSED + distance(any.lacking) * PRESSURES + pressure);
            let safe = (0..SUITS).map(|suit| self.each[suit].ranks.and(threat.safe[suit]).size());
            let safe = usize::from(safe.sum::<u8>().min(13));
            rows.push(SAFE + safe * PRESSURES + pressure);
            for (place, suit) in order.into_iter().enumerate() {
                let size = usize::from(self.each[suit].size.min(13));
                rows.push(HOLDS + (place * 14 + size) * HELD + usize::from(threat.held[suit]));
                let suit = &self.each[suit];
                rows.push(SHAPES + place * SHAPE_IDS + suit.id.index());
                let (first, copies) = if place < 2 { (WINDOWS, 4) } else { (THIRD, 3) };
                for window in windows(suit.ranks, copies) {
                    rows.push(first + window);
                }
            }
        }
        rows
    }

    /// The suits, the largest one first.
    fn order(&self) -> [usize; SUITS] {
        let mut order = [0, 1, 2];
        order.sort_unstable_by_key(|&at| {
            let suit: &SuitFeatures = &self.each[at];
            std::cmp::Reverse(
                32 * u32::from(suit.size) + 4 * u32::from(suit.pairs) + u32::from(suit.fours),
            )
        });
        order
    }

    /// Number of tiles that a hand of 13 tiles is from being ready, in any two suits: 0 is ready.
    #[must_use]
    pub fn shanten(&self) -> i8 {
        let [one, two, three] = &self.each;
        let pairs = [(one, two), (one, three), (two, three)];
        let pairs = pairs.map(|(one, other)| SuitPair::new(shapes(), one, other));
        self.any(&pairs).lacking as i8 - 1
    }

    /// The distance of the hand to melds or seven pairs in any two suits.
    fn any(&self, pairs: &[SuitPair; 3]) -> GoalDistance {
        let lacks = pairs.iter().flat_map(|pair| {
            [
                (pair.melds.lacking, pair.nearer),
                (pair.seven_pairs.lacking, pair.paired),
            ]
        });
        let least = lacks.clone().map(|one| one.0).min().unwrap_or(0);
        let nearest = lacks.filter(|one| one.0 == least);
        let nearer = nearest.fold(0, |all, one| all | one.1);
        let kinds = (0..SUITS * RANKS).filter(|kind| nearer >> kind & 1 == 1);
        GoalDistance {
            lacking: least,
            unseen: kinds
                .map(|kind| self.each[kind / RANKS].unseen[kind % RANKS])
                .sum(),
        }
    }

    /// The row for what a ready hand waits for: how many unseen tiles, and their mean value.
    fn ready(&self, pairs: &[SuitPair; 3], left: u8) -> usize {
        let is_ready = |pair: &SuitPair| pair.melds.lacking == 1 || pair.seven_pairs.lacking == 1;
        if !pairs.iter().any(is_ready) {
            return READY;
        }
        let hand = self.hand();
        let (mut tiles, mut value) = (0_u32, 0_u32);
        for suit in 0..SUITS {
            for rank in 0..RANKS {
                let unseen = u32::from(self.each[suit].waits[rank]);
                if unseen > 0
                    && let Some(faan) = faan(&hand.with(Tile::of(suit, rank)), false)
                {
                    tiles += unseen;
                    value += unseen * faan;
                }
            }
        }
        if tiles == 0 {
            return READY;
        }
        let mean = value as f32 / tiles as f32;
        let amount = match (tiles + u32::from(CERTAIN) / 2) / u32::from(CERTAIN) {
            0 => 1,
            amount @ 1..=4 => amount,
            5..=6 => 5,
            7..=8 => 6,
            _ => 7,
        };
        let worth = [1.01, 1.7, 2.6, 4.1, 6.0, 10.0, 18.0];
        let worth = worth.iter().filter(|&&bound| mean > bound).count();
        READY + (usize::from(left) / 8) * 64 + 8 * amount as usize + worth
    }
}

impl Rows {
    fn push(&mut self, row: usize) {
        self.rows[self.len] = row as u16;
        self.len += 1;
    }

    fn goal(&mut self, goal: GoalDistance) {
        let class = usize::from(CLASS[tiles(goal.unseen).min(127)]);
        self.push(self.len * GOAL + distance(goal.lacking) * CLASSES + class);
    }
}

/// The ranks of a suit that are seen together, from either end: how many there are of each, told apart
/// up to one less than `copies`.
fn windows(ranks: Ranks, copies: usize) -> [usize; 2] {
    let of = |rank| usize::from(ranks.of(rank)).min(copies - 1);
    let window = WINDOW as usize;
    [
        (0..window).fold(0, |all, rank| all * copies + of(rank)),
        (0..window).fold(0, |all, rank| all * copies + of(RANKS - 1 - rank)),
    ]
}

/// The number of tiles that some chances add up to.
fn tiles(chances: u16) -> usize {
    usize::from((chances + u16::from(CERTAIN) / 2) / u16::from(CERTAIN))
}

fn distance(lacking: u8) -> usize {
    usize::from(lacking.saturating_sub(1)).min(DISTANCES - 1)
}

/// The distance of a hand from a kind of winning hand, and how many unseen tiles bring it nearer.
#[derive(Clone, Copy, Debug)]
struct GoalDistance {
    lacking: u8,
    unseen: u16,
}

/// A bit for each kind of tile.
type Kinds = u32;

impl GoalDistance {
    const fn order(self) -> u32 {
        4096 * self.lacking as u32 + (4095 - self.unseen as u32)
    }
}

/// Two suits of a hand.
#[derive(Clone, Copy)]
struct SuitPair {
    melds: GoalDistance,
    /// The tiles that bring melds nearer.
    nearer: Kinds,
    seven_pairs: GoalDistance,
    /// The tiles that bring seven pairs nearer.
    paired: Kinds,
    triplets: GoalDistance,
    terminals: GoalDistance,
}

impl SuitPair {
    fn new(shapes: &Shapes, one: &SuitFeatures, other: &SuitFeatures) -> Self {
        let lacking = shapes.lacking_of_two(one.id, other.id);
        let mut unseen = 0;
        let mut bits = [0; 2];
        for rank in 0..RANKS {
            let nearer = shapes.lacking_of_two(one.more[rank], other.id) < lacking;
            unseen += one.unseen[rank] * u16::from(nearer);
            bits[0] |= Kinds::from(nearer) << rank;
            let nearer = shapes.lacking_of_two(one.id, other.more[rank]) < lacking;
            unseen += other.unseen[rank] * u16::from(nearer);
            bits[1] |= Kinds::from(nearer) << rank;
        }
        let nearer = bits[0] << one.shift | bits[1] << other.shift;
        let melds = GoalDistance { lacking, unseen };

        let table = shapes.terminals();
        let lacking = table.lacking_of_two(one.terminal, other.terminal);
        let mut unseen = 0;
        for (at, rank) in TERMINAL_RANKS.into_iter().enumerate() {
            let nearer = table.lacking_of_two(one.more_terminal[at], other.terminal) < lacking;
            unseen += one.unseen[rank] * u16::from(nearer);
            let nearer = table.lacking_of_two(one.terminal, other.more_terminal[at]) < lacking;
            unseen += other.unseen[rank] * u16::from(nearer);
        }
        let pairs = seven_pairs(&[one, other]);
        let paired = if 7 - (one.pairs + other.pairs).min(7) > one.singles + other.singles {
            0o777 << one.shift | 0o777 << other.shift
        } else {
            one.odd << one.shift | other.odd << other.shift
        };
        Self {
            melds,
            nearer,
            seven_pairs: pairs,
            paired,
            triplets: triplets(&[one, other]),
            terminals: GoalDistance { lacking, unseen },
        }
    }
}

fn flush(shapes: &Shapes, suit: &SuitFeatures) -> GoalDistance {
    let lacking = shapes.lacking(suit.id);
    let unseen = (0..RANKS)
        .filter(|&rank| shapes.lacking(suit.more[rank]) < lacking)
        .map(|rank| suit.unseen[rank])
        .sum();
    GoalDistance { lacking, unseen }
}

fn terminals(shapes: &Shapes, suit: &SuitFeatures) -> GoalDistance {
    let table = shapes.terminals();
    let lacking = table.lacking(suit.terminal);
    let unseen = TERMINAL_RANKS
        .into_iter()
        .enumerate()
        .filter(|&(at, _)| table.lacking(suit.more_terminal[at]) < lacking)
        .map(|(_, rank)| suit.unseen[rank])
        .sum();
    GoalDistance { lacking, unseen }
}

/// A pair lacks one tile where there is a single for it, otherwise two.
fn seven_pairs(suits: &[&SuitFeatures]) -> GoalDistance {
    let sum = |of: fn(&SuitFeatures) -> u8| suits.iter().map(|suit| of(suit)).sum::<u8>();
    let tiles = |of: fn(&SuitFeatures) -> u16| suits.iter().map(|suit| of(suit)).sum::<u16>();
    let pairs = sum(|suit| suit.pairs).min(7);
    let singles = sum(|suit| suit.singles);
    let missing = 7 - pairs;
    let mut unseen = tiles(|suit| suit.unseen_of_odd);
    if missing > singles {
        unseen += tiles(|suit| suit.unseen_of_even);
    }
    GoalDistance {
        lacking: missing + missing.saturating_sub(singles),
        unseen,
    }
}

fn triplets(suits: &[&SuitFeatures]) -> GoalDistance {
    let mut held = [0_u8; 4];
    let mut unseen_of = [0_u16; 4];
    for suit in suits {
        for count in 0..4 {
            held[count] += suit.held[count];
            unseen_of[count] += suit.unseen_of[count];
        }
    }
    let lacking = lacking_triplets(held);
    let mut unseen = 0;
    for count in 0..3 {
        if held[count] > 0 {
            let mut more = held;
            more[count] -= 1;
            more[count + 1] += 1;
            if lacking_triplets(more) < lacking {
                unseen += unseen_of[count];
            }
        }
    }
    GoalDistance { lacking, unseen }
}

/// Number of tiles lacking for four triplets and a pair, by how many ranks are held 0, 1, 2, and 3
/// times or more.
fn lacking_triplets(held: [u8; 4]) -> u8 {
    let mut room = 5;
    let mut lacking = 0;
    for (count, lacks) in [(3, 0), (2, 1), (1, 2), (0, 3)] {
        let taken = held[count].min(room);
        room -= taken;
        lacking += taken * lacks;
    }
    // The pair is made of the rank that is held least, and lacks one tile less than a triplet.
    lacking - u8::from(lacking > 0)
}

/// By four, three and two of a kind.
fn roots(suits: &[&SuitFeatures]) -> usize {
    let sum =
        |of: fn(&SuitFeatures) -> u8| usize::from(suits.iter().map(|suit| of(suit)).sum::<u8>());
    let fours = sum(|suit| suit.fours);
    let threes = sum(|suit| suit.held[3]) - fours;
    let pairs = sum(|suit| suit.held[2]);
    (5 * fours.min(3) + threes.min(4)) * 7 + pairs.min(6)
}
