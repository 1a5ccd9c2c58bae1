//! The model that is learned of racing opponents: their hands, what they discard, and how they win.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tenpai::{
    KINDS, Shanten, Tile, Tiles,
    opponent::{READINGS, Racer, THROWS, TURNS, likelihood, turn},
    reader::{self, SuitRows, sight},
};

use crate::{
    network::{Numbers, Steps},
    reading::Pass,
};

/// The model that is learned of racing opponents.
pub(crate) struct Opponent {
    pub(crate) hand: Numbers,
    pub(crate) throws: Numbers,
    /// By turn: how often it won, and the points of that.
    pub(crate) wins: Vec<f32>,
    pub(crate) points: Vec<f32>,
    /// The sum of the logarithmic loss over all tiles of the own hands, and how many these are.
    pub(crate) loss: f64,
    pub(crate) tiles: f64,
}

impl Opponent {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut random = |outputs| {
            let mut weights = vec![0.0; reader::weights(outputs)];
            for (at, weight) in weights.iter_mut().enumerate() {
                let width = match at {
                    _ if at < reader::SECOND_ROWS => 0.1,
                    _ if at < reader::OFFSETS => 0.15,
                    _ if at < reader::LAST => 0.0,
                    _ if at < reader::LAST + reader::SECOND * outputs => 0.2,
                    _ => 0.0,
                };
                *weight = width * (2.0 * rng.random::<f32>() - 1.0);
            }
            Numbers::new(weights, Steps::Smaller)
        };
        Self {
            hand: random(READINGS),
            throws: random(THROWS),
            wins: vec![0.0; TURNS],
            points: vec![0.0; TURNS],
            loss: 0.0,
            tiles: 0.0,
        }
    }

    /// All numbers.
    pub(crate) fn lists(&mut self) -> [&mut Vec<f32>; 6] {
        let [hand, hand_squares] = self.hand.lists();
        let [throws, throw_squares] = self.throws.lists();
        let (wins, points) = (&mut self.wins, &mut self.points);
        [hand, hand_squares, throws, throw_squares, wins, points]
    }

    pub(crate) const fn set_rate(&mut self, rate: f32) {
        self.hand.rate = rate;
        self.throws.rate = rate;
    }

    /// By turn: the points of its win.
    pub(crate) fn losses(&self) -> Vec<f32> {
        let sums = self.points.iter().zip(&self.wins);
        sums.map(|(points, wins)| (points + 50.0) / (wins + 1.0))
            .collect()
    }

    /// The own seat's view of the other one in its turn.
    pub(crate) fn look(&self, own: &[Tile], other: &[Tile], unseen: &Tiles) -> Look {
        let suits = sight(own, other, unseen);
        let turn = turn(other.len());
        Look {
            pass: Pass::of(&self.hand.weights, &suits),
            loss: (self.points[turn] + 50.0) / (self.wins[turn] + 1.0),
            suits,
            unseen: *unseen,
        }
    }

    /// Learns what the other seat held at this look, with which tiles it won, and what it discarded
    /// then, if it did not win.
    pub(crate) fn learn_hand(
        &mut self,
        look: &Look,
        own: &Tiles,
        other: &Shanten,
        discard: Option<Tile>,
    ) {
        let outputs = &look.pass.outputs;
        let likely = look.likelihood();
        let total = look.unseen.len() as f32;
        let chance = |output: f32| 1.0 / (1.0 + (-output).exp());
        let mut slopes = [[0.0; READINGS]; 3];
        for tile in Tile::all() {
            let (suit, rank, at) = (tile.index() / 9, tile.index() % 9, tile.index());
            let left = f32::from(look.unseen.count(tile));
            if own.count(tile) + look.unseen.count(tile) == 0 {
                continue;
            }
            let wins = f32::from(u8::from(other.wins(tile).is_some()));
            slopes[suit][rank] = chance(outputs[suit][rank]) - wins;
            if own.count(tile) > 0 {
                self.loss -= f64::from((1.0 - slopes[suit][rank].abs()).max(1e-6).ln());
                self.tiles += 1.0;
            }
            let held = f32::from(other.hand.count(tile));
            slopes[suit][9 + rank] = left * chance(outputs[suit][9 + rank]) - held;
            if let Some(discard) = discard {
                let thrown = f32::from(u8::from(tile == discard));
                slopes[suit][18 + rank] = likely[at] * left / total - thrown;
            }
        }
        look.pass.learn(&mut self.hand, &look.suits, &slopes);
    }

    /// Learns what the other seat discarded after these rivers.
    pub(crate) fn learn_throw(&mut self, own: &[Tile], other: &[Tile], discard: Tile) {
        let hidden = own.iter().chain(other).copied();
        let hidden = hidden.fold(Tiles::FULL, Tiles::without);
        let suits = sight(own, other, &hidden);
        let pass = Pass::<THROWS>::of(&self.throws.weights, &suits);
        let likely = likelihood(&pass.outputs, &hidden);
        let total = hidden.len() as f32;
        let mut slopes = [[0.0; THROWS]; 3];
        for tile in hidden.kinds() {
            let left = f32::from(hidden.count(tile));
            let thrown = f32::from(u8::from(tile == discard));
            slopes[tile.index() / 9][tile.index() % 9] =
                likely[tile.index()] * left / total - thrown;
        }
        pass.learn(&mut self.throws, &suits, &slopes);
    }
}

/// The other seat as the own one sees it in its turn.
pub(crate) struct Look {
    suits: [SuitRows; 3],
    pass: Pass<READINGS>,
    loss: f32,
    unseen: Tiles,
}

impl Look {
    pub(crate) fn racer(&self) -> Racer {
        Racer::read(&self.pass.outputs, self.loss, &self.unseen)
    }

    fn likelihood(&self) -> [f32; KINDS] {
        let throws = self.pass.outputs.each_ref();
        let throws = throws.map(|suit| std::array::from_fn(|rank| suit[18 + rank]));
        likelihood(&throws, &self.unseen)
    }
}
