//! The rounds that a network learns from: a hand against a seat that discards or races.

use rand::{Rng, RngExt as _};
use tenpai::{
    Shanten, Tile, Tiles, faan,
    features::{Rows, Suits},
    opponent::turn,
    shuffle,
};

use crate::{
    network::{Net, chances},
    opponent::{Look, Opponent},
};

/// A round as the learner sees it.
pub(crate) struct Played {
    /// The own score less that of the other seat.
    pub(crate) score: f32,
    pub(crate) left: u8,
    steps: Vec<Step>,
}

struct Step {
    rows: Rows,
    /// The value of the best discard by the network.
    best: f32,
    /// True if another one was taken.
    explored: bool,
}

impl Played {
    /// The rows of each hand that was kept, and what it was worth.
    pub(crate) fn targets(self, lambda: f32) -> Vec<(Rows, f32)> {
        let mut target = self.score;
        let mut targets = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            targets.push((step.rows, target));
            target = if step.explored {
                step.best
            } else {
                lambda * target + (1.0 - lambda) * step.best
            };
        }
        targets
    }
}

/// The engine's seat: true if it is the second one.
#[derive(Clone, Copy)]
pub(crate) struct Seat(pub(crate) bool);

/// The table at which rounds are played.
pub(crate) struct Table<'a, R, const FIRST: usize, const SECOND: usize> {
    pub(crate) network: Net<'a, FIRST, SECOND>,
    pub(crate) explore: f64,
    pub(crate) rng: &'a mut R,
    pub(crate) opponent: &'a mut Opponent,
    pub(crate) reads: bool,
    pub(crate) pay: f32,
}

impl<R: Rng, const FIRST: usize, const SECOND: usize> Table<'_, R, FIRST, SECOND> {
    pub(crate) fn round(&mut self, races: bool, seat: Seat) -> Played {
        let mut tiles: Vec<Tile> = Tiles::FULL.tiles().collect();
        shuffle(&mut tiles, self.rng);
        let mut hand: Tiles = tiles.split_off(tiles.len() - 13).into_iter().collect();
        let mut unseen: Tiles = tiles.iter().copied().collect();
        let mut other = None;
        if races {
            let dealt = tiles.split_off(tiles.len() - 13);
            other = Some(Shanten::new(&dealt));
        }
        let (mut own_river, mut other_river) = (Vec::new(), Vec::new());
        let mut racer = None;
        let mut look: Option<(Look, Tiles, Shanten)> = None;
        let mut left = 82;
        let mut steps = Vec::new();
        let is_first = !seat.0;
        for own in (0..82).map(|turn| (turn % 2 == 0) == is_first) {
            left -= 1;
            let tile = tiles.pop().expect("tiles are left");
            if own {
                unseen = unseen.without(tile);
                hand = hand.with(tile);
                if let Some(other) = &other {
                    let now = self.opponent.look(&own_river, &other_river, &unseen);
                    racer = Some(now.racer());
                    look = Some((now, hand, *other));
                }
                let mut valued = self.network.discards(&hand, &unseen, left, racer.as_ref());
                if let Some(racer) = &racer {
                    for one in &mut valued {
                        let danger = racer.danger[one.tile.index()];
                        one.value = (1.0 - danger) * one.value - danger * racer.loss;
                    }
                }
                valued.sort_by(|one, other| other.value.total_cmp(&one.value));
                let top = valued[0];
                if let Some(score) = self.score(&hand, left)
                    && score >= top.value
                {
                    return Played { score, left, steps };
                }
                let mut chosen = top;
                if self.rng.random::<f64>() < self.explore {
                    chosen = valued[self.rng.random_range(0..valued.len().min(3))];
                }
                hand = hand.without(chosen.tile);
                own_river.push(chosen.tile);
                let threat = racer.as_ref().map(|it| &it.threat);
                let suits = Suits::of(&hand, &unseen, chances(racer.as_ref()));
                let step = Step {
                    rows: self.network.1.rows(&suits, left, threat),
                    best: top.value,
                    explored: chosen.tile != top.tile,
                };
                if let Some(other) = &mut other {
                    if let Some(faan) = other.wins(chosen.tile) {
                        self.read(look.take(), None);
                        let score = lost(faan, left);
                        self.lost(other_river.len(), score);
                        // What the hand would have been worth remains unknown.
                        return Played { score, left, steps };
                    }
                    other.sees(chosen.tile);
                }
                steps.push(step);
            } else {
                let discard = match &mut other {
                    None => tile,
                    Some(other) => {
                        if let Some(faan) = other.wins(tile) {
                            self.read(look.take(), None);
                            let score = lost(faan, left);
                            self.lost(other_river.len(), score);
                            return Played { score, left, steps };
                        }
                        let discard = other.discard(tile);
                        self.read(look.take(), Some(discard));
                        if self.reads {
                            let opponent = &mut self.opponent;
                            opponent.learn_throw(&own_river, &other_river, discard);
                        }
                        other_river.push(discard);
                        discard
                    }
                };
                unseen = unseen.without(discard);
                if let Some(score) = self.score(&hand.with(discard), left) {
                    let wait = if left == 0 {
                        0.0
                    } else {
                        let suits = Suits::of(&hand, &unseen, chances(racer.as_ref()));
                        let threat = racer.as_ref().map(|it| &it.threat);
                        let rows = self.network.1.rows(&suits, left - 1, threat);
                        self.network.value(&rows)
                    };
                    if score >= wait {
                        return Played { score, left, steps };
                    }
                }
            }
        }
        Played {
            score: 0.0,
            left,
            steps,
        }
    }

    fn score(&self, hand: &Tiles, left: u8) -> Option<f32> {
        Some(self.pay * faan(hand, false)? as f32 + f32::from(left))
    }

    /// Learns what there was to see at the last look.
    fn read(&mut self, look: Option<(Look, Tiles, Shanten)>, discard: Option<Tile>) {
        if self.reads
            && let Some((look, own, other)) = look
        {
            self.opponent.learn_hand(&look, &own, &other, discard);
        }
    }

    /// Learns what the other seat won after so many discards.
    fn lost(&mut self, discards: usize, score: f32) {
        let turn = turn(discards);
        self.opponent.wins[turn] += 1.0;
        self.opponent.points[turn] -= score;
    }
}

/// The score of a round that the other seat wins.
fn lost(faan: u32, left: u8) -> f32 {
    -((3 * faan + u32::from(left)) as f32)
}
