//! Bots that run as services and are away: nothing answers at their addresses, and their games
//! wait. A game that waits has not been begun, so that its bots have been told nothing of it.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use arena_ladder::{Entrant, Lineup};
use referee_core::FoulKind;
use referee_worker::lease::ChunkId;

use super::state::Chunk;

/// The pause before a bot that is away is tried again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// The bots that run as services, and which of them are away.
#[derive(Debug)]
pub(crate) struct Services {
    /// Longest time that each may be away in a run, all its absences together.
    limit: Duration,
    bots: BTreeMap<Entrant, ServiceBot>,
}

/// A bot that runs as a service.
#[derive(Debug, Default)]
struct ServiceBot {
    /// True if it has played a game. One that has never answered is not waited for.
    has_answered: bool,
    /// How long its absences have taken that are over.
    spent: Duration,
    away: Option<Absence>,
    /// No chunk of it is leased before, so that one that can be reached now and then, or from some
    /// workers only, does not keep the others busy.
    not_before: Option<Instant>,
    pause: Duration,
}

/// The time for which a bot is away.
#[derive(Debug)]
struct Absence {
    since: Instant,
    why: String,
    /// The chunk with which it is tried, and since when.
    trial: Option<(ChunkId, Instant)>,
}

impl Absence {
    fn is_tried_with(&self, chunk: ChunkId) -> bool {
        self.trial.is_some_and(|(trial, _)| trial == chunk)
    }
}

/// A bot that is away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwayBot {
    /// The entrant.
    pub entrant: Entrant,
    /// What was found at its address, in words.
    pub why: String,
    /// For how long it has been away.
    pub since: Duration,
    /// After how long its games are played without it.
    pub left: Duration,
}

/// What is to become of a game in which nothing answered at the address of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The game counts: the bot has never answered, or has been away for too long.
    Counts,
    /// The game is played later; the bot has gone away just now.
    Gone,
    /// The game is played later.
    Still,
}

impl Services {
    /// These bots; none of them has played.
    pub(crate) fn new(limit: Duration, services: impl IntoIterator<Item = Entrant>) -> Self {
        let bot = || ServiceBot {
            pause: FIRST_PAUSE,
            ..ServiceBot::default()
        };
        let bots = services.into_iter().map(|entrant| (entrant, bot()));
        Self {
            limit,
            bots: bots.collect(),
        }
    }

    /// True if no bot runs as a service.
    pub(crate) fn is_empty(&self) -> bool {
        self.bots.is_empty()
    }

    /// Takes down that nothing answered at the address of a bot, for a game of this chunk.
    pub(crate) fn absent(
        &mut self,
        entrant: Entrant,
        why: &str,
        chunk: ChunkId,
        now: Instant,
    ) -> Absent {
        let limit = self.limit;
        let Some(bot) = self.bots.get_mut(&entrant) else {
            return Absent::Counts;
        };
        if !bot.has_answered || bot.left(limit, now).is_zero() {
            return Absent::Counts;
        }
        // What an earlier chunk says is no news.
        let away = bot.away.as_ref();
        let is_news = away.is_none_or(|away| away.is_tried_with(chunk));
        if is_news {
            let was_long_ago = |at: Instant| now.saturating_duration_since(at) > LONGEST_PAUSE;
            if bot.not_before.is_none_or(was_long_ago) {
                bot.pause = FIRST_PAUSE;
            }
            bot.not_before = Some(now + bot.pause);
            bot.pause = (2 * bot.pause).min(LONGEST_PAUSE);
        }
        match &mut bot.away {
            Some(away) => {
                if is_news {
                    away.trial = None;
                }
                Absent::Still
            }
            None => {
                bot.away = Some(Absence {
                    since: now,
                    why: why.to_owned(),
                    trial: None,
                });
                Absent::Gone
            }
        }
    }

    /// Takes down that a bot has answered. Says for how long it was away, if it was.
    pub(crate) fn answered(&mut self, entrant: Entrant, now: Instant) -> Option<Duration> {
        let limit = self.limit;
        let bot = self.bots.get_mut(&entrant)?;
        bot.has_answered = true;
        let left = bot.left(limit, now);
        let away = bot.away.take()?;
        bot.spent = limit - left;
        Some(now.saturating_duration_since(away.since))
    }

    /// True if games of this lineup may be given out now.
    pub(crate) fn may_play(&self, lineup: &Lineup, now: Instant) -> bool {
        let mut bots = lineup.iter().flatten().filter_map(|who| self.bots.get(who));
        bots.all(|bot| {
            let is_tried = (bot.away.as_ref()).is_some_and(|away| away.trial.is_some());
            let is_time = bot.not_before.is_none_or(|at| at <= now);
            bot.left(self.limit, now).is_zero() || (is_time && !is_tried)
        })
    }

    /// Takes down that a chunk is leased: a bot that is away is tried with it.
    pub(crate) fn leased(&mut self, chunk: &Chunk, now: Instant) {
        for who in chunk.lineup.iter().flatten() {
            let bot = self.bots.get_mut(who);
            if let Some(away) = bot.and_then(|bot| bot.away.as_mut()) {
                away.trial = Some((chunk.id, now));
            }
        }
    }

    /// Takes down that a chunk is leased no more.
    pub(crate) fn ended(&mut self, chunk: ChunkId) {
        for bot in self.bots.values_mut() {
            if let Some(away) = &mut bot.away
                && away.is_tried_with(chunk)
            {
                away.trial = None;
            }
        }
    }

    /// True if the games of a leased chunk are not to be begun, since one of its bots is away.
    pub(crate) fn wait(&self, chunk: &Chunk, now: Instant) -> bool {
        let mut bots = chunk.lineup.iter().flatten();
        bots.any(|who| {
            let bot = self.bots.get(who);
            let is_away = |bot: &ServiceBot| {
                let away = bot.away.as_ref();
                away.is_some_and(|away| !away.is_tried_with(chunk.id))
                    && !bot.left(self.limit, now).is_zero()
            };
            bot.is_some_and(is_away)
        })
    }

    /// The time at which more may be given out than now.
    pub(crate) fn next_trial(&self, now: Instant) -> Option<Instant> {
        let waiting = self.bots.values().flat_map(|bot| {
            let ends = bot.away.as_ref().map(|_| now + bot.left(self.limit, now));
            [bot.not_before, ends]
        });
        waiting.flatten().filter(|at| *at > now).min()
    }

    /// True if chunks of this lineup wait for a bot, whatever time it is.
    pub(crate) fn is_away(&self, lineup: &Lineup) -> bool {
        let mut bots = lineup.iter().flatten().filter_map(|who| self.bots.get(who));
        bots.any(|bot| bot.away.is_some())
    }

    /// True if any bot is away.
    pub(crate) fn are_away(&self) -> bool {
        self.bots.values().any(|bot| bot.away.is_some())
    }

    /// The bots that are away and are waited for.
    pub(crate) fn away(&self, now: Instant) -> Vec<AwayBot> {
        let bots = self.bots.iter().filter_map(|(entrant, bot)| {
            let away = bot.away.as_ref()?;
            let left = bot.left(self.limit, now);
            (!left.is_zero()).then(|| AwayBot {
                entrant: *entrant,
                why: away.why.clone(),
                since: now.saturating_duration_since(away.since),
                left,
            })
        });
        bots.collect()
    }
}

impl ServiceBot {
    /// How long it may still be away. While it is tried, it may have been back since then.
    fn left(&self, limit: Duration, now: Instant) -> Duration {
        let away = self.away.as_ref().map(|away| {
            let until = away.trial.map_or(now, |(_, since)| since);
            until.saturating_duration_since(away.since)
        });
        limit.saturating_sub(self.spent + away.unwrap_or_default())
    }
}

/// True if a foul says that nothing answered at the bot's address, so that it was told nothing.
pub(crate) fn is_absence(foul: FoulKind) -> bool {
    foul == FoulKind::Unreachable
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(600);
    const WHO: Entrant = Entrant::new(1);
    const OTHER: Entrant = Entrant::new(2);

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    fn chunk(first_group: u64) -> Chunk {
        Chunk {
            id: ChunkId {
                matchup: 0,
                first_group,
                groups: 1,
                seating: None,
            },
            lineup: vec![Some(Entrant::new(0)), Some(WHO)],
            games: Vec::new(),
            since: Instant::now(),
        }
    }

    fn services() -> Services {
        let mut services = Services::new(LIMIT, [WHO, OTHER]);
        services.answered(WHO, Instant::now());
        services
    }

    #[test]
    fn only_a_service_that_has_answered_is_waited_for() {
        let mut services = services();
        let now = Instant::now();
        let program = Entrant::new(0);
        assert_eq!(
            services.absent(program, "", chunk(0).id, now),
            Absent::Counts
        );
        assert_eq!(services.absent(OTHER, "", chunk(0).id, now), Absent::Counts);
        assert_eq!(services.answered(OTHER, now), None);
        assert_eq!(services.absent(OTHER, "", chunk(0).id, now), Absent::Gone);
        assert_eq!(
            services.absent(WHO, "refused", chunk(0).id, now),
            Absent::Gone
        );
        assert_eq!(
            services.absent(WHO, "refused", chunk(0).id, now),
            Absent::Still
        );
    }

    #[test]
    fn a_bot_that_is_away_is_tried_with_one_chunk_after_growing_pauses() {
        let mut services = services();
        let mut now = Instant::now();
        let (first, second) = (chunk(0), chunk(1));
        services.leased(&first, now);
        assert_eq!(
            services.absent(WHO, "refused", chunk(0).id, now),
            Absent::Gone
        );
        assert!(services.wait(&first, now));
        for pause in [1, 2, 4, 8, 15, 15] {
            let at = services.next_trial(now).expect("it is tried again");
            assert_eq!(at - now, seconds(pause));
            assert!(!services.may_play(&first.lineup, at - seconds(1)));
            now = at;
            assert!(services.may_play(&first.lineup, now));
            services.leased(&second, now);
            assert!(!services.may_play(&first.lineup, now), "one at a time");
            assert!(!services.wait(&second, now));
            assert!(services.wait(&first, now));
            // An earlier chunk says nothing new.
            let absent = |services: &mut Services, chunk: &Chunk| {
                services.absent(WHO, "refused", chunk.id, now)
            };
            assert_eq!(absent(&mut services, &first), Absent::Still);
            assert!(!services.wait(&second, now));
            assert_eq!(absent(&mut services, &second), Absent::Still);
            assert!(services.wait(&second, now));
        }
        services.leased(&second, now);
        services.ended(second.id);
        let gone = services.away(now);
        assert_eq!(gone.len(), 1);
        assert_eq!(gone[0].since, seconds(45));
        assert_eq!(services.answered(WHO, now), Some(seconds(45)));
        assert!(services.away(now).is_empty());
        assert!(!services.wait(&first, now));
    }

    #[test]
    fn a_bot_is_away_until_it_is_tried_where_it_answers_then() {
        let mut services = services();
        let mut now = Instant::now();
        let (first, second) = (chunk(0), chunk(1));
        services.absent(WHO, "", first.id, now);
        now += seconds(30);
        services.leased(&second, now);
        // The first game with it takes long.
        now += seconds(900);
        assert_eq!(services.away(now)[0].left, seconds(570));
        services.answered(WHO, now);
        services.absent(WHO, "", second.id, now);
        assert_eq!(services.away(now)[0].left, seconds(570));
    }

    #[test]
    fn absences_add_up_and_come_to_an_end() {
        let mut services = services();
        let mut now = Instant::now();
        let first = chunk(0);
        for left in [400, 200] {
            assert_eq!(services.absent(WHO, "", chunk(0).id, now), Absent::Gone);
            now += seconds(200);
            assert_eq!(services.away(now)[0].left, seconds(left));
            assert_eq!(services.answered(WHO, now), Some(seconds(200)));
            now += seconds(5000);
        }
        assert_eq!(services.absent(WHO, "", chunk(0).id, now), Absent::Gone);
        assert_eq!(
            services.absent(WHO, "", chunk(0).id, now + seconds(199)),
            Absent::Still
        );
        now += seconds(200);
        assert_eq!(services.absent(WHO, "", chunk(0).id, now), Absent::Counts);
        assert!(services.away(now).is_empty());
        assert!(services.may_play(&first.lineup, now));
        assert!(!services.wait(&first, now));
        assert_eq!(services.answered(WHO, now), Some(seconds(200)));
        assert_eq!(services.absent(WHO, "", chunk(0).id, now), Absent::Counts);
    }
}
