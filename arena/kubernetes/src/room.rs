//! The room for games whose bots have pods of their own. A referee that exists without its bots
//! takes room from the bots of others: on nodes, and in quotas. If all referees existed at once,
//! they could take all of it, and nothing would ever be played. So few exist that lack their bots,
//! and more as bots find room.

use std::collections::{BTreeMap, BTreeSet};

use arena_tournament::Isolation;

use crate::{
    Settings, WantedTournaments,
    objects::game_needs,
    observed::{ObservedCluster, Of, Role, SeenJob, SeenPod},
    quota::{self, Amounts, SeenQuota},
    tournament::GameSize,
};

/// For each so many referees that have their bots, one more may be without.
const WITH_BOTS_FOR_ONE_WITHOUT: usize = 4;
/// Longest time for which referees may run and find no room for their bots before some of them give
/// way to the bots of others, in seconds: nodes that are added take a while.
pub(crate) const STARVED: i64 = 120;
/// The time after which more than one referee may be without its bots again, in seconds.
const CRAMPED: i64 = 600;
/// A number that was set is there, also where it is not seen yet, for so long.
const UNSEEN: i64 = 30;

/// The memory of the room from one time to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoomMemory {
    /// The quotas, with what has been taken of them since they were looked at.
    quotas: Vec<SeenQuota>,
    look: u64,
    /// Most games that have been seen to have room at once.
    fitted: usize,
    /// The time until which one referee alone may be without its bots, where there are few others.
    cramped_until: i64,
    /// The times since which referees run and lack bots.
    lacking: BTreeMap<String, i64>,
    /// The parallelism of Jobs as it was last set, and when.
    scaled: BTreeMap<String, (i32, i64)>,
}

/// The room at one time.
pub(crate) struct Room<'a> {
    memory: &'a mut RoomMemory,
    /// Number of referees that may be added.
    free: usize,
    /// Number of games that have all their pods.
    pub(crate) playing: usize,
    now: i64,
}

/// What became of a wish for another referee.
pub(crate) enum Place {
    Taken,
    /// Others have to find room first.
    Later,
    /// This quota leaves no room.
    Full(String),
}

/// A Job that is to have fewer pods at once.
pub(crate) struct Shrunk<'a> {
    pub(crate) job: &'a SeenJob,
    pub(crate) parallelism: i32,
}

/// A match whose bots have pods of their own.
struct Apart {
    bots: usize,
    needs: Amounts,
}

impl<'a> Room<'a> {
    /// The room now, and the Jobs that have to give way: their referees can't get their bots.
    /// `unseen` are the matches whose Jobs have been made and are not seen yet.
    pub(crate) fn new<'b>(
        settings: &Settings,
        wanted: &WantedTournaments,
        observed: &'b ObservedCluster,
        unseen: &[(String, u32)],
        memory: &'a mut RoomMemory,
        now: i64,
    ) -> (Self, Vec<Shrunk<'b>>) {
        let apart = matches_apart(settings, wanted);
        memory.see(observed, now);
        let mut placed: BTreeMap<&str, usize> = BTreeMap::new();
        for pod in observed.pods.iter().filter(|pod| pod.placed) {
            if let Role::Bot { referee, .. } = &pod.role {
                *placed.entry(referee).or_default() += 1;
            }
        }
        let mut referees: BTreeMap<&Of, usize> = BTreeMap::new();
        let mut lacking: Vec<&SeenPod> = Vec::new();
        let mut playing = 0;
        for pod in observed.pods.iter().filter(|pod| !pod.is_over()) {
            let of = apart.get(&(pod.of.key.clone(), pod.of.matchup));
            let (Role::Referee, Some(of)) = (&pod.role, of) else {
                continue;
            };
            *referees.entry(&pod.of).or_default() += 1;
            if placed.get(&*pod.name).copied().unwrap_or(0) >= of.bots {
                playing += 1;
            } else if pod.ip.is_some() {
                lacking.push(pod);
            }
        }
        // Those that exist, and those that their Jobs are about to make.
        let mut promised = 0;
        let mut promised_needs = Amounts::new();
        let mut promise = |key: &str, matchup: u32, number: usize| {
            let Some(of) = apart.get(&(key.to_owned(), matchup)) else {
                return;
            };
            promised += number;
            for _ in 0..number {
                quota::add(&mut promised_needs, &of.needs);
            }
        };
        let jobs = observed.jobs.iter();
        let jobs: Vec<&SeenJob> = jobs
            .filter(|job| apart.contains_key(&(job.of.key.clone(), job.of.matchup)))
            .collect();
        for job in &jobs {
            let there = referees.get(&job.of).copied().unwrap_or(0);
            let is_stopped = job.suspended && settings.queue.is_none();
            let wants = match job.ended.is_some() || job.leaving || is_stopped {
                true => 0,
                false => memory.parallelism(job).min(job.completions - job.succeeded),
            };
            let wants = usize::try_from(wants).unwrap_or(0);
            promise(&job.of.key, job.of.matchup, wants.max(there));
        }
        for (key, matchup) in unseen {
            promise(key, *matchup, 1);
        }
        if memory.look != observed.limits.look {
            memory.look = observed.limits.look;
            memory.quotas.clone_from(&observed.limits.quotas);
            // What those that lack bots still need. What they have is counted twice; but for that
            // they would take it from each other.
            if promised > playing {
                for quota in &mut memory.quotas {
                    quota.take(&share_of(&promised_needs, promised - playing, promised));
                }
            }
        }
        memory.fitted = memory.fitted.max(playing);
        let by_share = (playing / WITH_BOTS_FOR_ONE_WITHOUT).max(1);
        let (shrunk, starved) = memory.shrink(&jobs, &lacking, by_share, playing, now);
        let most = match now < memory.cramped_until {
            true => by_share,
            false => by_share.max(settings.pending_referees as usize),
        };
        // One that may never get its bots, as where no node fits them, keeps nobody else waiting.
        let by_turn = most.saturating_sub(promised.saturating_sub(playing + starved));
        let room = Self {
            free: by_turn.max(memory.fitted.saturating_sub(promised)),
            memory,
            playing,
            now,
        };
        (room, shrunk)
    }

    /// Takes the room of a game.
    pub(crate) fn take(&mut self, needs: &Amounts) -> Place {
        let quotas = &mut self.memory.quotas;
        let full = quotas.iter().find_map(|quota| {
            let shortage = quota.shortage(needs)?;
            Some(quota::named(&quota.name, &shortage))
        });
        if let Some(full) = full {
            return Place::Full(full);
        }
        if self.free == 0 {
            return Place::Later;
        }
        self.free -= 1;
        for quota in quotas {
            quota.take(needs);
        }
        Place::Taken
    }

    /// The parallelism of a Job, as far as it is known.
    pub(crate) fn parallelism(&self, job: &SeenJob) -> i32 {
        self.memory.parallelism(job)
    }

    /// The parallelism of a Job is set.
    pub(crate) fn scale(&mut self, job: &str, parallelism: i32) {
        let scaled = (parallelism, self.now);
        self.memory.scaled.insert(job.to_owned(), scaled);
    }
}

impl RoomMemory {
    fn see(&mut self, observed: &ObservedCluster, now: i64) {
        let jobs: BTreeMap<&str, i32> = (observed.jobs.iter())
            .map(|job| (&*job.name, job.parallelism))
            .collect();
        self.scaled.retain(|name, (set, since)| {
            let seen = jobs.get(&**name);
            seen.is_some_and(|seen| seen != set) && now < *since + UNSEEN
        });
    }

    fn parallelism(&self, job: &SeenJob) -> i32 {
        let set = self.scaled.get(&job.name);
        set.map_or(job.parallelism, |(set, _)| *set)
    }

    /// A number could not be set.
    pub(crate) fn forget(&mut self, job: &str) {
        self.scaled.remove(job);
    }

    /// The Jobs of half of the referees that have lacked bots for long, where these are too many:
    /// the others get the room. Those that were made last give way. Gives the number of those that
    /// have lacked bots for long and stay, too.
    fn shrink<'b>(
        &mut self,
        jobs: &[&'b SeenJob],
        lacking: &[&SeenPod],
        most: usize,
        playing: usize,
        now: i64,
    ) -> (Vec<Shrunk<'b>>, usize) {
        let names: BTreeSet<&str> = lacking.iter().map(|pod| &*pod.name).collect();
        self.lacking.retain(|name, _| names.contains(&**name));
        for name in names {
            self.lacking.entry(name.to_owned()).or_insert(now);
        }
        let is_starved = |pod: &&&SeenPod| {
            let since = self.lacking.get(&pod.name);
            since.is_some_and(|since| now >= *since + STARVED)
        };
        let mut starved: Vec<&&SeenPod> = lacking.iter().filter(is_starved).collect();
        if starved.len() <= most {
            return (Vec::new(), starved.len());
        }
        starved.sort_by_key(|pod| std::cmp::Reverse((pod.since, &pod.name)));
        starved.truncate((starved.len() - most).div_ceil(2));
        self.lacking.clear();
        self.fitted = playing;
        self.cramped_until = now + CRAMPED;
        let mut fewer: BTreeMap<&Of, i32> = BTreeMap::new();
        for pod in starved {
            *fewer.entry(&pod.of).or_default() += 1;
        }
        let live = jobs
            .iter()
            .filter(|job| job.ended.is_none() && !job.leaving);
        let shrunk = live.filter_map(|job| {
            // What remains to be played may be less than it may have.
            let now = self.parallelism(job).min(job.completions - job.succeeded);
            let parallelism = (now - fewer.get(&job.of)?).max(0);
            Some(Shrunk { job, parallelism })
        });
        (shrunk.collect(), 0)
    }
}

/// The matches whose bots have pods of their own, by tournament and number.
fn matches_apart(
    settings: &Settings,
    wanted: &WantedTournaments,
) -> BTreeMap<(String, u32), Apart> {
    let tournaments = wanted.tournaments.iter();
    let apart = tournaments.filter(|one| one.isolation == Isolation::Pod);
    let matches = apart.flat_map(|tournament| {
        let mut known: BTreeMap<GameSize, Amounts> = BTreeMap::new();
        tournament.matches.iter().map(move |of| {
            let bots = of.containers();
            let needs = known.entry(of.size(settings));
            let needs = needs.or_insert_with(|| game_needs(settings, tournament, of));
            let apart = Apart {
                bots,
                needs: needs.clone(),
            };
            ((tournament.key.clone(), of.number), apart)
        })
    });
    matches.collect()
}

/// The share of `part` among `whole` of amounts.
fn share_of(amounts: &Amounts, part: usize, whole: usize) -> Amounts {
    let (part, whole) = (part as i128, whole.max(1) as i128);
    let share = |amount: &i128| amount * part / whole;
    (amounts.iter())
        .map(|(name, amount)| (name.clone(), share(amount)))
        .collect()
}
