//! A teacher: plays rounds by a network that does not change, and says what hands are worth.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tenpai::{
    MahjongEngine, Situation, ThinkingLimit, Tile, Tiles, divided,
    features::{RACING_ROWS, Rows, Suits},
    network::{RacingNetwork, WideNetwork},
    opponent::Racer,
};

use crate::{
    network::Net,
    round::{End, Player, Round, wall},
    stage::{Kind, Stage, Targets},
    sums::Sums,
};

/// Plays rounds by a network that does not change, and values hands by it and all draws that may follow.
pub(crate) struct Teacher<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) engine: MahjongEngine,
    pub(crate) network: Kind,
    pub(crate) weights: Vec<f32>,
}

/// A hand after a discard.
pub(crate) struct Lesson {
    pub(crate) rows: Rows,
    /// Its worth, in points.
    pub(crate) target: f32,
}

/// Discards that are worth so many points less than the best one are not valued.
const NEAR: f32 = 8.0;
/// In how many of the turns discards are valued.
const VALUED: f64 = 0.5;

impl Teacher<'_> {
    /// The worth of a hand with these rows by its network, in points.
    pub(crate) fn value(&self, rows: &[u16]) -> f32 {
        match self.network {
            Kind::Wide => self
                .net::<{ WideNetwork::FIRST }, { WideNetwork::SECOND }>()
                .value(rows),
            _ => {
                // What only a wide network sees comes last.
                let seen = rows.partition_point(|&row| usize::from(row) < RACING_ROWS);
                let net = self.net::<{ RacingNetwork::FIRST }, { RacingNetwork::SECOND }>();
                net.value(&rows[..seen])
            }
        }
    }

    const fn net<const FIRST: usize, const SECOND: usize>(&self) -> Net<'_, FIRST, SECOND> {
        Net(self.weights.as_slice(), self.network)
    }

    /// The lessons of so many rounds, beginning with this one.
    pub(crate) fn rounds(
        &self,
        first: u64,
        count: u64,
        threads: usize,
        sums: &mut Sums,
    ) -> Vec<Lesson> {
        let never = || false;
        let rounds = divided(threads, count as usize, never, |at| {
            self.round(first + at as u64)
        });
        let mut all = Vec::new();
        for (end, lessons) in rounds {
            sums.add(f64::from(end.score), end.left);
            all.extend(lessons);
        }
        all
    }

    /// The end of a round, and its lessons.
    fn round(&self, number: u64) -> (End, Vec<Lesson>) {
        let mut rng = ChaCha8Rng::seed_from_u64(!self.stage.seed);
        rng.set_stream(number);
        let mut player = Teaching {
            teacher: self,
            rng,
            last: None,
            lessons: Vec::new(),
        };
        let begins = number.is_multiple_of(2);
        let tiles = wall(self.stage.seed, number);
        let end = Round::deal(tiles, begins, true, Some(0.0)).play(begins, &mut player);
        (end, player.lessons)
    }
}

/// A teacher in a round.
struct Teaching<'a> {
    teacher: &'a Teacher<'a>,
    rng: ChaCha8Rng,
    /// The hand and the view after the last discard.
    last: Option<Kept>,
    lessons: Vec<Lesson>,
}

/// The hand and the view of a seat when it has discarded.
struct Kept {
    hand: Tiles,
    unseen: Tiles,
    left: u8,
    racer: Racer,
}

impl Kept {
    /// As this network sees it.
    fn rows(&self, network: Kind) -> Rows {
        let suits = Suits::of(&self.hand, &self.unseen, &self.racer.chances);
        network.rows(&suits, self.left, Some(&self.racer.threat))
    }
}

impl Teaching<'_> {
    /// Values a hand by all draws that may follow, as if the other seat were as near to a win then.
    fn values(&mut self, kept: &Kept) {
        let engine = &self.teacher.engine;
        let Kept {
            hand,
            unseen,
            left,
            racer,
        } = kept;
        let ahead = left.checked_sub(1).map_or(0.0, |left| {
            let wait = engine.before_draw(hand, unseen, left, racer);
            engine.through_other(hand, unseen, left, racer, wait)
        });
        self.teach(kept, ahead);
    }

    /// Keeps what this hand is worth.
    fn teach(&mut self, kept: &Kept, target: f32) {
        self.lessons.push(Lesson {
            rows: kept.rows(self.teacher.stage.network),
            target,
        });
    }

    /// Values what was kept last by all draws that may follow now, when the other seat has discarded.
    fn looks_back(&mut self, situation: &Situation) {
        let Some(kept) = self.last.take() else {
            return;
        };
        let engine = &self.teacher.engine;
        let (mut unseen, mut left) = (situation.unseen(), situation.left);
        let mut drawn = situation.hand.kinds();
        if let Some(drawn) = drawn.find(|&it| situation.hand.count(it) > kept.hand.count(it)) {
            (unseen, left) = (unseen.with(drawn), left + 1);
        }
        let racer = engine.racer(&situation.own_river, &situation.other_river, &unseen);
        let wait = engine.before_draw(&kept.hand, &unseen, left, &racer);
        let before = kept.left.saturating_sub(1);
        let ahead = engine.through_other(&kept.hand, &kept.unseen, before, &kept.racer, wait);
        self.teach(&kept, ahead);
    }
}

impl Player for Teaching<'_> {
    fn discard(&mut self, situation: &Situation) -> Tile {
        self.looks_back(situation);
        let Teacher { stage, engine, .. } = self.teacher;
        let unseen = situation.unseen();
        let racer = engine.racer(&situation.own_river, &situation.other_river, &unseen);
        let kept = |tile| Kept {
            hand: situation.hand.without(tile),
            unseen,
            left: situation.left,
            racer: racer.clone(),
        };
        let valued = engine.discards(situation, &AT_ONCE);
        let mut chosen = 0;
        if self.rng.random::<f64>() < stage.explore {
            chosen = self.rng.random_range(0..valued.len().min(3));
        }
        let chosen = valued[chosen].tile;
        match stage.targets {
            Targets::Discards(_) if self.rng.random::<f64>() < VALUED => {
                let bound = valued[0].value - NEAR;
                for one in valued.iter().filter(|one| one.value >= bound) {
                    self.values(&kept(one.tile));
                }
            }
            Targets::Draws(_) => self.last = Some(kept(chosen)),
            _ => {}
        }
        chosen
    }

    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool {
        self.looks_back(situation);
        let engine = &self.teacher.engine;
        engine.wins(situation, tile, self_draw, &AT_ONCE)
    }
}

/// The networks alone decide.
const AT_ONCE: ThinkingLimit<'static> = ThinkingLimit::hands(1);
