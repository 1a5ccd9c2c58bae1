//! The engine: which tile to discard, and whether to win.

use std::time::Duration;

use crate::{
    features::{Chances, Suits},
    opponent::{Racer, passive},
    playout::{COMPARED, Passive},
    situation::Situation,
    tile::{KINDS, Tile, Tiles},
    value::{PAY, faan},
    weights::{Last, NetworkWeights},
};

/// A discard and what the hand without it is worth, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valued {
    /// The discard.
    pub tile: Tile,
    /// The expected score of the rest of the round, less that of the other seat.
    pub value: f32,
}

/// A win, or going on without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WinOrWait {
    /// The points of the win.
    pub score: f32,
    /// The expected score of the rest of the round without it, less that of the other seat.
    pub wait: f32,
}

/// The limit of the engine's thinking.
pub struct ThinkingLimit<'a> {
    hands: u64,
    playouts: u64,
    threads: usize,
    clock: Option<(Duration, &'a TimeSource<'a>)>,
}

/// A function that says how much time has passed.
type TimeSource<'a> = dyn Fn() -> Duration + Sync + 'a;

impl<'a> ThinkingLimit<'a> {
    /// None.
    const ENDLESS: Self = Self::hands(u64::MAX);

    /// At most about so many hands are evaluated; the discards themselves always are.
    #[must_use]
    pub const fn hands(hands: u64) -> Self {
        Self {
            hands,
            playouts: 0,
            threads: 1,
            clock: None,
        }
    }

    /// And about so many playouts, with some 300 hands of the other seat, where good discards are near each
    /// other and the other seat most likely races. They end with what the network expects, so the engine
    /// should have [`NetworkWeights::wide`].
    #[must_use]
    pub const fn and_playouts(mut self, playouts: u64) -> Self {
        self.playouts = playouts;
        self
    }

    /// Playouts are made by so many threads; the answer is the same.
    #[must_use]
    pub const fn and_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Until the clock shows this time.
    #[must_use]
    pub fn clock(time: Duration, clock: &'a TimeSource<'a>) -> Self {
        Self::ENDLESS.until(time, clock)
    }

    /// The same, but no longer than until the clock shows this time.
    #[must_use]
    pub fn until(self, time: Duration, clock: &'a TimeSource<'a>) -> Self {
        Self {
            clock: Some((time, clock)),
            ..self
        }
    }

    fn is_over(&self, work: u64) -> bool {
        work >= self.hands || self.is_late()
    }

    /// True if its clock says to stop.
    pub(crate) fn is_late(&self) -> bool {
        self.clock.is_some_and(|(time, clock)| clock() >= time)
    }

    /// The most playouts.
    pub(crate) const fn playouts(&self) -> u64 {
        self.playouts
    }

    /// Number of threads that make them.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }
}

/// A part of the engine that can be left out, to measure what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum MahjongIdea {
    /// The look-ahead over draws: the networks alone decide.
    Ahead,
    /// Declining a win where waiting is worth more.
    Waiting,
    /// That the other seat may win with a discard.
    Danger,
    /// That the other seat's discards say which tiles are likely to come.
    Chances,
}

/// An engine with its weights.
#[derive(Clone)]
pub struct MahjongEngine {
    weights: NetworkWeights,
    without: Vec<MahjongIdea>,
}

/// The time is over.
struct Over;

/// One answer: what is known of the opponent, and the work so far.
struct DiscardSearch<'a, 'b> {
    weights: &'a NetworkWeights,
    /// The chance that the other seat is passive.
    passive: f32,
    racer: Racer,
    /// By kind: how much likelier than any other unseen tile one is drawn.
    draws: [f32; KINDS],
    /// The same of the other seat's discards.
    discards: [f32; KINDS],
    looks_ahead: bool,
    limit: &'a ThinkingLimit<'b>,
    three_suits: bool,
    work: u64,
    /// The hand that the wide network valued last.
    last: Last,
}

/// A hand as the networks see it, where they are asked.
struct Views {
    passive: Option<Suits>,
    racing: Option<Suits>,
}

/// Discards that are worth so many points less than the best one are looked at no further.
const MARGIN: f32 = 4.0;
/// The same after looking ahead.
const NEAR: f32 = 1.5;
/// A seat that is passive with at least this chance is not played against in playouts.
const PASSIVE: f32 = 0.5;
/// The discards that are followed at each draw of the deep look-ahead.
const FOLLOWED: usize = 2;

impl MahjongEngine {
    /// With these weights.
    #[must_use]
    pub const fn new(weights: NetworkWeights) -> Self {
        Self {
            weights,
            without: Vec::new(),
        }
    }

    /// The same engine, with these parts of it left out.
    #[must_use]
    pub fn without(self, ideas: Vec<MahjongIdea>) -> Self {
        Self {
            without: ideas,
            ..self
        }
    }

    /// The discards of a hand of 14 tiles, best first, with what the hand is worth without each.
    #[must_use]
    pub fn discards(&self, situation: &Situation, limit: &ThinkingLimit<'_>) -> Vec<Valued> {
        let unseen = situation.unseen();
        let mut search = self.search(situation, &unseen, limit);
        let mut valued = search.discards(&situation.hand, &unseen, situation.left);
        let near = near(&valued, NEAR).min(COMPARED);
        let is_possible = search.passive < PASSIVE && !situation.three_suits;
        if near > 1 && limit.playouts() > 0 && is_possible {
            let passive = search.passive;
            valued.truncate(near);
            if let Some(compared) = self.play(situation, &valued, passive, limit) {
                valued = compared;
            }
        }
        valued
    }

    /// Compares these discards by playouts, if the other seat is passive with this chance.
    fn play(
        &self,
        situation: &Situation,
        discards: &[Valued],
        chance: f32,
        limit: &ThinkingLimit<'_>,
    ) -> Option<Vec<Valued>> {
        let values = if chance > 0.0 {
            self.against_passive(situation, discards)
        } else {
            Vec::new()
        };
        let passive = Passive {
            chance,
            values: &values,
        };
        self.by_playouts(situation, discards, passive, limit)
    }

    /// The worth of these discards against a passive seat, by all draws that may follow.
    fn against_passive(&self, situation: &Situation, discards: &[Valued]) -> Vec<f32> {
        let situation = Situation {
            passive: Some(1.0),
            ..situation.clone()
        };
        let unseen = situation.unseen();
        let mut search = self.search(&situation, &unseen, &ThinkingLimit::ENDLESS);
        let mut value = |one: &Valued| {
            let hand = situation.hand.without(one.tile);
            match search.after_discard(&hand, &unseen, situation.left, 0) {
                Ok(value) => value,
                Err(Over) => unreachable!("there is no limit"),
            }
        };
        discards.iter().map(&mut value).collect()
    }

    /// The best discard by the networks alone.
    pub(crate) fn best_by_network(&self, situation: &Situation) -> Valued {
        let unseen = situation.unseen();
        let mut search = self.search(situation, &unseen, &ThinkingLimit::ENDLESS);
        search.by_network(&situation.hand, &unseen, situation.left)[0]
    }

    /// Every discard of a hand of 14 tiles, each valued by all draws that may follow; best first. It
    /// takes some 5,000 hands. That the other seat gets nearer to a win is left out at these draws, so all
    /// discards seem to be worth more than they are; so their mean is put back to what the networks say.
    /// With [`NetworkWeights::wide`] that is expected points.
    #[must_use]
    pub fn estimates(&self, situation: &Situation) -> Vec<Valued> {
        let unseen = situation.unseen();
        let mut search = self.search(situation, &unseen, &ThinkingLimit::ENDLESS);
        let (hand, left) = (&situation.hand, situation.left);
        let mut valued = search.by_network(hand, &unseen, left);
        let every = valued.len();
        let before = mean(&valued);
        let deepened = search.deepen(&mut valued, hand, &unseen, left, 0, every);
        debug_assert!(deepened.is_ok(), "there is no limit");
        let more = mean(&valued) - before;
        for one in &mut valued {
            one.value -= more;
        }
        valued
    }

    /// True if it is best to win with this hand of 14 tiles, of which the last one was drawn or
    /// discarded by the other one.
    #[must_use]
    pub fn wins(
        &self,
        situation: &Situation,
        tile: Tile,
        self_draw: bool,
        limit: &ThinkingLimit<'_>,
    ) -> bool {
        let choice = self.win_or_wait(situation, tile, self_draw, limit);
        // Nothing can be gained any more after the last tile.
        let takes_all = situation.left == 0 || self.without.contains(&MahjongIdea::Waiting);
        choice.is_some_and(|choice| takes_all || choice.score >= choice.wait)
    }

    /// The score of this win, and the worth of the hand without it; none if it is no win.
    #[must_use]
    pub fn win_or_wait(
        &self,
        situation: &Situation,
        tile: Tile,
        self_draw: bool,
        limit: &ThinkingLimit<'_>,
    ) -> Option<WinOrWait> {
        let unseen = situation.unseen();
        let mut search = self.search(situation, &unseen, limit);
        let hand = if self_draw {
            situation.hand
        } else {
            situation.hand.with(tile)
        };
        let left = situation.left;
        let score = search.score(&hand, left)?;
        let wait = if left == 0 {
            0.0
        } else if self_draw {
            let valued = search.discards(&hand, &unseen, left);
            valued.first().map_or(0.0, |best| best.value)
        } else {
            let before = &situation.hand;
            match search.before_draw(before, &unseen, left, 0) {
                Ok(value) => value,
                Err(Over) => {
                    let views = search.views(before, &unseen);
                    search.value(&views, left.saturating_sub(1))
                }
            }
        };
        Some(WinOrWait { score, wait })
    }

    /// The other seat as these rivers show it, if it races, to the seat with the first one, which has not seen
    /// these tiles.
    #[must_use]
    pub fn racer(&self, own: &[Tile], other: &[Tile], unseen: &Tiles) -> Racer {
        Racer::of(&self.weights.habits, own, other, unseen)
    }

    /// The worth of a hand of 13 tiles before an own draw from a wall of so many tiles, against
    /// this racing seat: the mean over all draws. It takes some 400 hands.
    #[must_use]
    pub fn before_draw(&self, hand: &Tiles, unseen: &Tiles, left: u8, racer: &Racer) -> f32 {
        let mut search = self.racing(racer);
        match search.before_draw(hand, unseen, left, 0) {
            Ok(value) => value,
            Err(Over) => unreachable!("there is no limit"),
        }
    }

    /// The worth of a hand of 13 tiles when this racing seat has drawn and left so many tiles, if
    /// it is worth so much before the own draw that follows.
    #[must_use]
    pub fn through_other(
        &self,
        hand: &Tiles,
        unseen: &Tiles,
        left: u8,
        racer: &Racer,
        wait: f32,
    ) -> f32 {
        self.racing(racer).through_other(hand, unseen, left, wait)
    }

    fn racing(&self, racer: &Racer) -> DiscardSearch<'_, '_> {
        DiscardSearch {
            weights: &self.weights,
            passive: 0.0,
            draws: racer.draws,
            discards: racer.discards,
            racer: racer.clone(),
            looks_ahead: true,
            limit: &ThinkingLimit::ENDLESS,
            three_suits: false,
            work: 0,
            last: Last::default(),
        }
    }

    fn search<'a, 'b>(
        &'a self,
        situation: &Situation,
        unseen: &Tiles,
        limit: &'a ThinkingLimit<'b>,
    ) -> DiscardSearch<'a, 'b> {
        let mut racer = self.racer(&situation.own_river, &situation.other_river, unseen);
        if self.without.contains(&MahjongIdea::Danger) {
            racer.danger = [0.0; KINDS];
        }
        if self.without.contains(&MahjongIdea::Chances) {
            racer.draws = [1.0; KINDS];
            racer.discards = [1.0; KINDS];
            racer.chances = Chances::EQUAL;
        }
        let passive = passive(&self.weights.habits, situation);
        let mixed = |factor: f32| passive + (1.0 - passive) * factor;
        DiscardSearch {
            weights: &self.weights,
            passive,
            draws: racer.draws.map(mixed),
            discards: racer.discards.map(mixed),
            racer,
            looks_ahead: !self.without.contains(&MahjongIdea::Ahead),
            limit,
            three_suits: situation.three_suits,
            work: 0,
            last: Last::default(),
        }
    }
}

impl DiscardSearch<'_, '_> {
    /// The score of a hand of 14 tiles, if it wins.
    fn score(&self, hand: &Tiles, left: u8) -> Option<f32> {
        let faan = faan(hand, self.three_suits)?;
        Some((PAY * faan + u32::from(left)) as f32)
    }

    /// A hand as both networks see it.
    fn views(&self, hand: &Tiles, unseen: &Tiles) -> Views {
        let is_possible = [self.passive > 0.0, self.passive < 1.0];
        let of = |chances: &Chances| Suits::of(hand, unseen, chances);
        let racing = || self.weights.racing.prepared(of(&self.racer.chances));
        Views {
            passive: is_possible[0].then(|| of(&Chances::EQUAL)),
            racing: is_possible[1].then(racing),
        }
    }

    /// The same without a tile.
    fn without(&self, views: &Views, tile: Tile, unseen: &Tiles) -> Views {
        let of = |suits: &Option<Suits>, chances: &Chances| {
            suits.map(|suits| suits.without(tile, unseen, chances))
        };
        Views {
            passive: of(&views.passive, &Chances::EQUAL),
            racing: of(&views.racing, &self.racer.chances),
        }
    }

    /// The worth of a hand of 13 tiles by the networks.
    fn value(&mut self, views: &Views, left: u8) -> f32 {
        self.work += 1;
        let mut value = 0.0;
        if let Some(suits) = &views.passive {
            value += self.passive * self.weights.passive.value(&suits.rows(left, None));
        }
        if let Some(suits) = &views.racing {
            let racing = &self.weights.racing;
            let racing = racing.value(suits, left, &self.racer.threat, &mut self.last);
            value += (1.0 - self.passive) * racing;
        }
        value
    }

    /// The value of a discard, if the hand without it is worth so much.
    fn claimed(&self, tile: Tile, value: f32) -> f32 {
        let danger = (1.0 - self.passive) * self.racer.danger[tile.index()];
        (1.0 - danger) * value - danger * self.racer.loss
    }

    /// The discards by the networks, best first; each may be claimed.
    fn by_network(&mut self, hand: &Tiles, unseen: &Tiles, left: u8) -> Vec<Valued> {
        let all = self.views(hand, unseen);
        let mut valued: Vec<Valued> = Vec::with_capacity(14);
        for tile in hand.kinds() {
            let views = self.without(&all, tile, unseen);
            let value = self.value(&views, left);
            let value = self.claimed(tile, value);
            valued.push(Valued { tile, value });
        }
        sort(&mut valued);
        valued
    }

    /// The discards, best first: by the networks, then the good ones by all draws, then the best
    /// ones by two draws each.
    fn discards(&mut self, hand: &Tiles, unseen: &Tiles, left: u8) -> Vec<Valued> {
        let mut valued = self.by_network(hand, unseen, left);
        for (depth, margin) in [(0, MARGIN), (1, NEAR)] {
            let near = near(&valued, margin);
            let is_decided = depth > 0 && near == 1;
            if !self.looks_ahead || is_decided {
                break;
            }
            if self
                .deepen(&mut valued, hand, unseen, left, depth, near)
                .is_err()
            {
                break;
            }
        }
        valued
    }

    /// Values so many of the best discards by a look ahead, and leaves out the others. Nothing is changed
    /// if the time does not suffice for all of them.
    fn deepen(
        &mut self,
        valued: &mut Vec<Valued>,
        hand: &Tiles,
        unseen: &Tiles,
        left: u8,
        depth: u8,
        near: usize,
    ) -> Result<(), Over> {
        let mut deeper = Vec::with_capacity(near);
        for one in &valued[..near] {
            let value = self.after_discard(&hand.without(one.tile), unseen, left, depth)?;
            let value = self.claimed(one.tile, value);
            deeper.push(Valued { value, ..*one });
        }
        sort(&mut deeper);
        valued.truncate(near);
        *valued = deeper;
        Ok(())
    }

    /// The worth of a hand of 13 tiles when the other one draws next: the other one's discard may
    /// win, and then follows an own draw.
    fn after_discard(
        &mut self,
        hand: &Tiles,
        unseen: &Tiles,
        left: u8,
        depth: u8,
    ) -> Result<f32, Over> {
        if left == 0 {
            return Ok(0.0);
        }
        let left = left - 1;
        let wait = self.before_draw(hand, unseen, left, depth)?;
        Ok(self.through_other(hand, unseen, left, wait))
    }

    /// The worth of a hand of 13 tiles when the other one has drawn and left so many tiles, if it
    /// is worth so much before the own draw that follows: the other one may win, and its discard
    /// may.
    fn through_other(&self, hand: &Tiles, unseen: &Tiles, left: u8, wait: f32) -> f32 {
        let total = unseen.len() as f32;
        let lost = (1.0 - self.passive) * self.racer.self_draw;
        let loss = self.racer.loss;
        let mut value = 0.0;
        let mut passed = 1.0;
        for tile in unseen.kinds() {
            if let Some(score) = self.score(&hand.with(tile), left) {
                let count = f32::from(unseen.count(tile));
                let chance = count / total * self.discards[tile.index()];
                value += chance * score.max(wait);
                passed -= chance;
            }
        }
        value += passed * wait;
        (1.0 - lost) * value - lost * loss
    }

    /// The worth of a hand of 13 tiles before an own draw from a wall of so many tiles.
    fn before_draw(
        &mut self,
        hand: &Tiles,
        unseen: &Tiles,
        left: u8,
        depth: u8,
    ) -> Result<f32, Over> {
        if left == 0 {
            return Ok(0.0);
        }
        let left = left - 1;
        let total = unseen.len() as f32;
        let (mut value, mut sum) = (0.0, 0.0);
        for tile in unseen.kinds() {
            if self.limit.is_over(self.work) {
                return Err(Over);
            }
            let count = f32::from(unseen.count(tile));
            let chance = count / total * self.draws[tile.index()];
            sum += chance;
            let hand = hand.with(tile);
            let rest = unseen.without(tile);
            let score = self.score(&hand, left).unwrap_or(f32::MIN);
            let valued = self.by_network(&hand, &rest, left);
            let mut best = valued[0].value;
            if depth > 0 && score < best + MARGIN {
                best = f32::MIN;
                for one in &valued[..FOLLOWED.min(valued.len())] {
                    let hand = hand.without(one.tile);
                    let value = self.after_discard(&hand, &rest, left, depth - 1)?;
                    best = best.max(self.claimed(one.tile, value));
                }
            }
            value += chance * best.max(score);
        }
        // In the deep look-ahead a tile is seen that was unseen when the chances were estimated.
        Ok(value / sum)
    }
}

/// Number of these sorted discards that are worth at most so many points less than the best one.
fn near(valued: &[Valued], margin: f32) -> usize {
    let bound = valued[0].value - margin;
    valued.iter().filter(|one| one.value >= bound).count()
}

/// The mean worth of these discards.
fn mean(valued: &[Valued]) -> f32 {
    valued.iter().map(|one| one.value).sum::<f32>() / valued.len() as f32
}

fn sort(valued: &mut [Valued]) {
    valued.sort_by(|one, other| other.value.total_cmp(&one.value));
}
