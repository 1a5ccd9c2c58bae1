//! The referee of a pod: it waits for its bots, leases a chunk from the real dispatcher, makes up
//! its results, and reports them.

use referee_worker::lease::{GameKey, Lease, LeaseId, LeaseReply};

use crate::{
    arena::Arena,
    objects::{Moment, Pod, Stage},
    world::World,
};

/// Longest time that a referee waits for its bots, in milliseconds.
const BOTS_WITHIN: Moment = 300_000;
/// Time after which it asks again.
const ASKS_EVERY: Moment = 4000;
/// Time after which it renews its lease.
const RENEWS_EVERY: Moment = 20_000;

/// The state of a referee.
#[derive(Debug)]
pub(crate) enum Play {
    /// Its bots are not there yet.
    Waits { since: Moment },
    /// It has no work yet.
    Asks { next: Moment },
    /// It plays.
    Plays {
        lease: LeaseId,
        games: Vec<GameKey>,
        until: Moment,
        renews: Moment,
        fate: Fate,
    },
}

/// The fate of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Well,
    /// It dies in the middle, after some reports.
    Crash,
    /// Nothing of its lease is renewed, and its reports come late.
    Late,
    /// It ends, to be tried again.
    TempFail,
    /// It ends, never to be tried again.
    Refused,
}

impl Play {
    pub(crate) fn give_back(self, arena: &Arena) {
        if let Self::Plays { lease, .. } = self {
            arena.give_back(lease);
        }
    }
}

impl World {
    /// One step of a referee whose pod runs.
    pub(crate) fn step_referee(&mut self, pod: &mut Pod, arena: &Arena) {
        let play = self.plays.remove(&pod.meta.name);
        let play = play.unwrap_or(Play::Waits { since: self.now });
        let next = match play {
            Play::Waits { since } => self.waits(pod, since),
            _ if !self.has_its_bots(pod) => {
                self.count("bots lost while playing");
                play.give_back(arena);
                self.end(pod, 75, "a bot is not there any more");
                None
            }
            Play::Asks { next } if self.now < next => Some(play),
            Play::Asks { .. } => self.asks(pod, arena),
            Play::Plays {
                lease,
                games,
                until,
                renews,
                fate,
            } => self.plays(pod, arena, lease, games, (until, renews), fate),
        };
        if let Some(next) = next {
            self.plays.insert(pod.meta.name.clone(), next);
        }
    }

    fn has_its_bots(&self, pod: &Pod) -> bool {
        pod.template.dials.iter().all(|place| {
            let bot = self.pods.get(&format!("{}-b{place}", pod.meta.name));
            bot.is_some_and(|bot| {
                let owner = bot.meta.owner.as_ref().map(|owner| owner.uid);
                let is_up = bot.stage == Stage::Up && bot.meta.deleted.is_none();
                let runs = bot.node.is_some_and(|node| self.nodes[node].gone.is_none());
                is_up && runs && owner == Some(pod.meta.uid)
            })
        })
    }

    fn waits(&mut self, pod: &mut Pod, since: Moment) -> Option<Play> {
        if self.has_its_bots(pod) {
            return Some(Play::Asks { next: self.now });
        }
        if self.now < since + BOTS_WITHIN {
            return Some(Play::Waits { since });
        }
        self.count("bots not there in time");
        self.end(pod, 75, "the pod of a bot is not there");
        None
    }

    fn asks(&mut self, pod: &mut Pod, arena: &Arena) -> Option<Play> {
        let again = Some(Play::Asks {
            next: self.now + ASKS_EVERY,
        });
        let template = pod.template.clone();
        let reply = arena.lease(&pod.meta.name, template.matchup, template.games);
        let lease: Box<Lease> = match reply {
            // The arena is down, or there is nothing now.
            None | Some(LeaseReply::Wait) => return again,
            Some(LeaseReply::Over) => {
                self.end(pod, 0, "");
                return None;
            }
            Some(LeaseReply::Work(lease)) => lease,
        };
        self.count("leases");
        if lease.id.attempt > 1 {
            self.count("leased again");
        }
        let rates = self.shape.rates;
        let fates = [
            (rates.crash, Fate::Crash),
            (rates.late, Fate::Late),
            (rates.tempfail, Fate::TempFail),
            (rates.refused, Fate::Refused),
        ];
        let fate = fates
            .into_iter()
            .find(|(rate, _)| self.chance.permille(*rate));
        let fate = match template.matchup {
            matchup if matchup == self.shape.refused => Fate::Refused,
            _ => fate.map_or(Fate::Well, |(_, fate)| fate),
        };
        let (least, most) = self.shape.play;
        let long = match fate {
            Fate::Late => self.chance.between(65_000, 120_000),
            _ if self.chance.permille(rates.long) => self.chance.between(30_000, 90_000),
            _ => self.chance.between(least, most),
        };
        if self.chance.permille(rates.oom) {
            self.count("OOM");
            for status in &mut pod.containers {
                status.restarts += 1;
            }
            pod.dirty = true;
        }
        self.tell(format_args!(
            "{} leases {:?}: {fate:?}",
            pod.meta.name, lease.id
        ));
        Some(Play::Plays {
            lease: lease.id,
            games: lease.games.iter().map(|game| game.key).collect(),
            until: self.now + long,
            renews: self.now + RENEWS_EVERY,
            fate,
        })
    }

    fn plays(
        &mut self,
        pod: &mut Pod,
        arena: &Arena,
        lease: LeaseId,
        games: Vec<GameKey>,
        (until, mut renews): (Moment, Moment),
        fate: Fate,
    ) -> Option<Play> {
        if self.now >= renews && self.now < until && fate != Fate::Late {
            renews = self.now + RENEWS_EVERY;
            if arena.renew(lease) == Some(false) {
                self.count("lease lost");
                self.end(pod, 75, "the lease is lost");
                return None;
            }
        }
        let goes_on = |games| Play::Plays {
            lease,
            games,
            until,
            renews,
            fate,
        };
        if self.now < until {
            return Some(goes_on(games));
        }
        if !arena.is_up() {
            // It keeps its results, and hands them over.
            self.count("reports wait for the arena");
            return Some(goes_on(games));
        }
        let reported = match fate {
            Fate::Crash | Fate::TempFail => games.len() / 2,
            Fate::Refused => 0,
            Fate::Well | Fate::Late => games.len(),
        };
        // Where the answer does not come in time a game is reported once more.
        let again = if self.chance.permille(30) {
            games.first()
        } else {
            None
        };
        for game in games[..reported].iter().chain(again) {
            match arena.report(lease, *game, &pod.meta.name, self.shape.defect) {
                Ok(word) => self.count(word),
                Err(why) => self.breaks(why),
            }
        }
        match fate {
            Fate::Well | Fate::Late => {
                arena.give_back(lease);
                self.end(pod, 0, "");
            }
            Fate::Crash => {
                self.count("pods crashed");
                self.end(pod, 137, "");
            }
            Fate::TempFail => {
                arena.give_back(lease);
                self.end(pod, 75, "could not reach a bot");
            }
            Fate::Refused => {
                arena.give_back(lease);
                self.count("pods refused");
                self.end(pod, 2, "the arena refuses this worker");
            }
        }
        None
    }
}
