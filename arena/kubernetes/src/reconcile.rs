//! The actions that are needed so that the cluster plays what is to be played. They are worked out
//! anew each time from what should be and what is there, so that it does not matter what was
//! missed, or done twice, or when it was begun.

use std::collections::{BTreeMap, BTreeSet};

use arena_tournament::Isolation;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use referee_core::printable;

use crate::{
    PodBot, PodMatch, PodTournament, Settings, WantedTournaments, names,
    objects::{self, RefereePod},
    observed::{ObservedCluster, Of, PodPhase, Role, SeenJob, SeenPod},
    quota::{self, Amounts},
    room::{Place, Room, RoomMemory, Shrunk},
    tournament::GameSize,
};

/// The pause after a Job that failed, in seconds; it doubles with each.
const FIRST_PAUSE: i64 = 60;
const LONGEST_PAUSE: i64 = 16 * 60;
/// The pause after a Job that ended and left something to be played.
const SHORT_PAUSE: i64 = 5;
/// Longest time for which a container may be unable to start before its bot is held back: a
/// registry may have been away for a moment.
const PATIENCE: i64 = 20;
/// Longest time for which a pod may wait for a node, or a Job for a pod, before this is told.
const TOLD_AFTER: i64 = 20;
/// An object that was made is there, also where it is not seen yet, for so long.
const UNSEEN: i64 = 30;
/// The most troubles that are told of a tournament, and the most letters of one.
const MOST_TROUBLES: usize = 5;
const LONGEST_TROUBLE: usize = 300;

/// A change to be made in the cluster. Each may be done twice, and may fail: it is worked out
/// again.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Make a Job.
    Apply(Box<Job>),
    /// Have the pods of a Job stopped.
    Suspend(String),
    /// Remove a Job, and its pods.
    Remove(String),
    /// Let a Job have so many pods at once.
    Scale {
        /// Its name.
        job: String,
        /// The number.
        parallelism: i32,
    },
    /// Make the pod of a bot.
    ApplyPod(Box<Pod>),
    /// Remove a pod.
    RemovePod(String),
}

/// The actions that are to be done, and the troubles that stand in the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reconciled {
    /// To be done, in this order.
    pub actions: Vec<Action>,
    /// The troubles that each tournament waits for, by key, in words.
    pub troubles: BTreeMap<String, Vec<String>>,
}

/// The memory from one time to the next. Where it is lost, it is found out again.
#[derive(Clone, Debug, Default)]
pub struct ReconcileMemory {
    /// Bots that can't be started, by tournament and name.
    held: BTreeMap<(String, String), HeldBot>,
    /// Matches whose last Job failed, by tournament and number: it may have been removed to make
    /// room for others.
    failed: BTreeMap<(String, u32), Failed>,
    /// The times at which objects were made that have not been seen.
    unseen: BTreeMap<String, i64>,
    /// The reasons for which pods could not be made, by their names, and when that was.
    refused: BTreeMap<String, (String, i64)>,
    /// The room for games whose bots have pods of their own.
    room: RoomMemory,
}

/// A match whose last Job failed.
#[derive(Clone, Debug)]
struct Failed {
    generation: u32,
    /// The time from which there may be another one.
    until: i64,
    trouble: String,
}

/// A bot that can't be started.
#[derive(Clone, Debug)]
struct HeldBot {
    since: i64,
    until: i64,
    pause: i64,
    why: String,
}

/// The state of a cluster when the actions are worked out.
#[derive(Clone, Copy)]
struct SeenCluster<'a> {
    settings: &'a Settings,
    observed: &'a ObservedCluster,
    /// In seconds since 1970.
    now: i64,
}

/// A tournament that is to be played, and what is there of it.
struct SeenTournament<'a> {
    at: SeenCluster<'a>,
    tournament: &'a PodTournament,
    /// Its matches, by number.
    open: BTreeMap<u32, &'a PodMatch>,
    jobs: Vec<&'a SeenJob>,
    pods: Vec<&'a SeenPod>,
}

/// The actions that are to be done for one tournament, and the troubles that stand in the way.
struct ReconciledTournament {
    actions: Vec<Action>,
    troubles: Vec<String>,
}

/// Works out what to do. `now` is in seconds since 1970.
pub fn reconcile(
    settings: &Settings,
    wanted: &WantedTournaments,
    observed: &ObservedCluster,
    memory: &mut ReconcileMemory,
    now: i64,
) -> Reconciled {
    memory.see(observed, now);
    let at = SeenCluster {
        settings,
        observed,
        now,
    };
    let mut done = Reconciled::default();
    let keys: BTreeSet<&str> = (wanted.tournaments.iter()).map(|one| &*one.key).collect();
    // Nobody wants these to be played: they are over, paused, cancelled or forgotten.
    for job in &observed.jobs {
        if !keys.contains(&*job.of.key) && !wanted.others.contains(&job.tournament) {
            done.actions.extend(stopped(job, settings.queue.is_some()));
        }
    }
    for pod in &observed.pods {
        if is_left_over(pod, observed) {
            done.actions.push(Action::RemovePod(pod.name.clone()));
        }
    }
    memory.held.retain(|(key, _), _| keys.contains(&**key));
    memory.failed.retain(|(key, _), _| keys.contains(&**key));
    let unseen = memory.unseen_matches(&keys);
    // It is used with the rest of the memory, and put back.
    let mut known = std::mem::take(&mut memory.room);
    let (mut room, shrunk) = Room::new(settings, wanted, observed, &unseen, &mut known, now);
    for Shrunk { job, parallelism } in shrunk {
        // A queue takes a Job with another number for another Job.
        done.actions.push(match settings.queue {
            Some(_) => Action::Remove(job.name.clone()),
            None => {
                room.scale(&job.name, parallelism);
                Action::Scale {
                    job: job.name.clone(),
                    parallelism,
                }
            }
        });
    }
    for tournament in &wanted.tournaments {
        let outcome = SeenTournament::new(at, tournament).reconcile(memory, &mut room);
        done.actions.extend(outcome.actions);
        let troubles = told(outcome.troubles);
        done.troubles.insert(tournament.key.clone(), troubles);
    }
    memory.room = known;
    done
}

impl<'a> SeenTournament<'a> {
    fn new(at: SeenCluster<'a>, tournament: &'a PodTournament) -> Self {
        let key = &tournament.key;
        Self {
            at,
            tournament,
            open: (tournament.matches.iter())
                .map(|of| (of.number, of))
                .collect(),
            jobs: of_tournament(&at.observed.jobs, key, |job| &job.of),
            pods: of_tournament(&at.observed.pods, key, |pod| &pod.of),
        }
    }

    fn reconcile(&self, memory: &mut ReconcileMemory, room: &mut Room<'_>) -> ReconciledTournament {
        let key = &self.tournament.key;
        memory.hold(self);
        (memory.failed).retain(|(of, number), _| of != key || self.open.contains_key(number));
        let mut held = self.held_matches(memory);
        let mut outcome = ReconciledTournament {
            actions: self.stop_jobs(&held),
            troubles: self.bot_troubles(memory),
        };
        let needs = self.needs();
        outcome.troubles.extend(self.too_large(&needs, &mut held));
        if self.tournament.isolation == Isolation::Pod {
            self.raise_jobs(&held, &needs, room, &mut outcome);
        }
        self.make_jobs(&held, &needs, memory, room, &mut outcome);
        outcome.troubles.extend(self.pod_troubles(memory));
        if self.tournament.isolation == Isolation::Pod {
            outcome.actions.extend(self.make_bot_pods(memory));
        }
        outcome
    }

    /// The numbers of the matches that have a bot which can't be started.
    fn held_matches(&self, memory: &ReconcileMemory) -> BTreeSet<u32> {
        let is_held = |bot: &PodBot| {
            bot.obstacle(self.at.settings).is_some()
                || memory.is_held(&self.tournament.key, &bot.name, self.at.now)
        };
        (self.open.values())
            .filter(|of| of.bots.iter().any(is_held))
            .map(|of| of.number)
            .collect()
    }

    /// Reasons why bots can't be started.
    fn bot_troubles(&self, memory: &ReconcileMemory) -> Vec<String> {
        let bots = self.open.values().flat_map(|of| &of.bots);
        let lacking = bots.filter_map(|bot| bot.obstacle(self.at.settings));
        let held = memory.held_of(&self.tournament.key);
        let held = held.map(|((_, bot), held)| format!("{bot} can't be started: {}", held.why));
        lacking.chain(held).collect()
    }

    /// Stops the Jobs that are not to go on.
    fn stop_jobs(&self, held: &BTreeSet<u32>) -> Vec<Action> {
        let is_needed = |job: &SeenJob| {
            // One that was stopped and is wanted again, or by somebody else, would never go on.
            let is_stopped = job.suspended && self.at.settings.queue.is_none();
            let of = self.open.get(&job.of.matchup);
            of.is_some_and(|of| job.ended.is_some() || !(is_stopped || held.contains(&of.number)))
        };
        let unneeded = self.jobs.iter().filter(|job| !is_needed(job));
        unneeded
            .filter_map(|job| stopped(job, self.at.settings.queue.is_some()))
            .collect()
    }

    /// The amounts that games need.
    fn needs(&self) -> BTreeMap<GameSize, Amounts> {
        let mut needs = BTreeMap::new();
        for of in &self.tournament.matches {
            needs
                .entry(of.size(self.at.settings))
                .or_insert_with(|| objects::game_needs(self.at.settings, self.tournament, of));
        }
        needs
    }

    /// Holds matches back that need more for one game than a quota allows, and says so.
    fn too_large(
        &self,
        needs: &BTreeMap<GameSize, Amounts>,
        held: &mut BTreeSet<u32>,
    ) -> Vec<String> {
        let mut troubles = Vec::new();
        for quota in &self.at.observed.limits.quotas {
            for (size, needs) in needs {
                let Some(impossible) = quota.impossible(needs) else {
                    continue;
                };
                let too_large = self.tournament.matches.iter();
                let too_large = too_large.filter(|of| of.size(self.at.settings) == *size);
                held.extend(too_large.map(|of| of.number));
                troubles.push(format!(
                    "the ResourceQuota {} is too small for a game, which is a referee and bots \
                     ({} of them have containers): {impossible}; make it larger, or [referee], \
                     [bot] and [bots] smaller in the settings of the arena",
                    quota.name, size.containers
                ));
            }
        }
        troubles
    }

    /// Lets Jobs have more pods at once, the first matches first, as far as there is room.
    fn raise_jobs(
        &self,
        held: &BTreeSet<u32>,
        needs: &BTreeMap<GameSize, Amounts>,
        room: &mut Room<'_>,
        outcome: &mut ReconciledTournament,
    ) {
        // A queue takes a Job with another number for another Job.
        if self.at.settings.queue.is_some() {
            return;
        }
        let most = i32::try_from(self.at.settings.pods_per_job).unwrap_or(i32::MAX);
        for job in &self.jobs {
            let goes_on = job.ended.is_none() && !job.leaving && !job.suspended;
            let of = self.open.get(&job.of.matchup);
            let Some(of) = of.filter(|of| goes_on && !held.contains(&of.number)) else {
                continue;
            };
            let before = room.parallelism(job);
            let most = most.min(job.completions - job.succeeded);
            let mut parallelism = before;
            while parallelism < most
                && let Some(needs) = needs.get(&of.size(self.at.settings))
            {
                match room.take(needs) {
                    Place::Taken => parallelism += 1,
                    Place::Later => break,
                    Place::Full(why) => {
                        outcome.troubles.push(full(room, &why));
                        break;
                    }
                }
            }
            if parallelism > before {
                room.scale(&job.name, parallelism);
                outcome.actions.push(Action::Scale {
                    job: job.name.clone(),
                    parallelism,
                });
            }
        }
    }

    /// Makes the Jobs of matches that have none, as far as there is room.
    fn make_jobs(
        &self,
        held: &BTreeSet<u32>,
        needs: &BTreeMap<GameSize, Amounts>,
        memory: &mut ReconcileMemory,
        room: &mut Room<'_>,
        outcome: &mut ReconciledTournament,
    ) {
        let key = &self.tournament.key;
        let mut existing: BTreeSet<String> = memory.unseen_jobs(key).map(str::to_owned).collect();
        existing.extend(self.jobs.iter().map(|job| job.name.clone()));
        let mut last: BTreeMap<u32, &SeenJob> = BTreeMap::new();
        for job in &self.jobs {
            let before = last.entry(job.of.matchup).or_insert(job);
            if before.of.generation < job.of.generation {
                *before = job;
            }
        }
        // Logs of Jobs that have ended are kept as long as nothing else needs their room.
        let mut removable: Vec<&&SeenJob> = (self.jobs.iter())
            .filter(|job| job.ended.is_some() && !job.leaving)
            .filter(|job| self.open.contains_key(&job.of.matchup))
            .collect();
        removable.sort_by_key(|job| job.ended.as_ref().map(|ended| ended.at));
        let mut removable = removable.into_iter();
        for of in &self.tournament.matches {
            if held.contains(&of.number) {
                continue;
            }
            let last = last.get(&of.number).copied();
            let generation = self.next_generation(of, last, memory, &mut outcome.troubles);
            let Some(generation) = generation else {
                continue;
            };
            let name = names::job(key, of.number, generation);
            if existing.contains(&name) {
                continue;
            }
            // The room of a Job that is removed is free when it is gone.
            if existing.len() >= self.at.settings.max_jobs {
                match removable.next() {
                    Some(job) => outcome.actions.push(Action::Remove(job.name.clone())),
                    None => break,
                }
                continue;
            }
            if self.tournament.isolation == Isolation::Pod
                && let Some(needs) = needs.get(&of.size(self.at.settings))
            {
                match room.take(needs) {
                    Place::Taken => {}
                    Place::Later => continue,
                    Place::Full(why) => {
                        outcome.troubles.push(full(room, &why));
                        continue;
                    }
                }
            }
            existing.insert(name.clone());
            memory.unseen.insert(name, self.at.now);
            let job = objects::job(self.at.settings, self.tournament, of, generation);
            outcome.actions.push(Action::Apply(Box::new(job)));
        }
    }

    /// The generation of the Job that a match gets now, where it gets one.
    fn next_generation(
        &self,
        of: &PodMatch,
        last: Option<&SeenJob>,
        memory: &mut ReconcileMemory,
        troubles: &mut Vec<String>,
    ) -> Option<u32> {
        let now = self.at.now;
        let id = (self.tournament.key.clone(), of.number);
        let mut generation = 1;
        if let Some(job) = last {
            generation = job.of.generation + 1;
            let ended = job.ended.as_ref()?;
            if ended.complete {
                memory.failed.remove(&id);
                if now < ended.at + SHORT_PAUSE {
                    return None;
                }
            } else {
                let failed = Failed {
                    generation: job.of.generation,
                    until: ended.at + pause_after(job.of.generation),
                    trouble: failure(of, job, &ended.why, &self.pods),
                };
                memory.failed.insert(id.clone(), failed);
            }
        }
        let Some(failed) = memory.failed.get(&id) else {
            return Some(generation);
        };
        troubles.push(failed.trouble.clone());
        (now >= failed.until).then(|| generation.max(failed.generation + 1))
    }

    /// The troubles that Jobs and pods wait for.
    fn pod_troubles(&self, memory: &ReconcileMemory) -> Vec<String> {
        let now = self.at.now;
        let waiting = self.jobs.iter();
        let mut troubles: Vec<String> = waiting
            .filter_map(|job| {
                let refusal = self.at.observed.refusal(job);
                let refusal = refusal.map(|why| format!("a pod of the Job {} {why}", job.name));
                refusal.or_else(|| waits_for_pods(job, &self.pods, now))
            })
            .collect();
        troubles.extend(memory.refusals_of(&self.tournament.key));
        let mut unplaced: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for pod in &self.pods {
            if let Some(why) = &pod.unschedulable
                && now >= pod.since + TOLD_AFTER
            {
                unplaced.entry(why).or_default().push(&pod.name);
            }
        }
        troubles.extend(unplaced.into_iter().map(|(why, pods)| match &pods[..] {
            [pod] => format!("no node takes the pod {pod}: {why}"),
            pods => format!(
                "no node takes {} pods, {} among them: {why}",
                pods.len(),
                pods[0]
            ),
        }));
        for pod in &self.pods {
            if let Some(said) = fails_again(pod, &self.pods, &self.jobs) {
                troubles.push(format!(
                    "the referee {} failed and is started again: {said}",
                    pod.name
                ));
            }
            for (container, why) in &pod.stuck {
                // Those of bots are told by their bots' names.
                if names::place_of(container).is_none() {
                    troubles.push(format!(
                        "the container {container} of the pod {} can't start: {why}",
                        pod.name
                    ));
                }
            }
        }
        troubles
    }

    /// Makes the pods of the bots that play with a referee, where they are not there. A referee that
    /// lacks few comes before one that lacks many: if each got some, nobody might get all.
    fn make_bot_pods(&self, memory: &mut ReconcileMemory) -> Vec<Action> {
        let mut there: BTreeMap<&str, usize> = BTreeMap::new();
        for pod in &self.pods {
            if let Role::Bot { referee, .. } = &pod.role {
                *there.entry(referee).or_default() += 1;
            }
        }
        let mut pods = self.pods.clone();
        pods.sort_by_key(|pod| {
            let bots = there.get(&*pod.name).copied().unwrap_or(0);
            (std::cmp::Reverse(bots), pod.since)
        });
        let mut actions = Vec::new();
        for pod in pods {
            let Some(of) = self.open.get(&pod.of.matchup) else {
                continue;
            };
            let (Role::Referee, Some(ip), Some((job, index)), false) =
                (&pod.role, &pod.ip, &pod.job, pod.is_over())
            else {
                continue;
            };
            let referee = RefereePod {
                name: pod.name.clone(),
                uid: pod.uid.clone(),
                ip: ip.clone(),
                job: job.clone(),
                index: index.clone(),
                generation: pod.of.generation,
            };
            for place in 0..of.bots.len() {
                let name = names::bot_pod(&pod.name, place);
                let is_there = self.at.observed.pods.iter().any(|pod| pod.name == name);
                if is_there || memory.unseen.contains_key(&name) {
                    continue;
                }
                let (settings, tournament) = (self.at.settings, self.tournament);
                if let Some(pod) = objects::bot_pod(settings, tournament, of, place, &referee) {
                    memory.unseen.insert(name, self.at.now);
                    actions.push(Action::ApplyPod(Box::new(pod)));
                }
            }
        }
        actions
    }
}

/// True if a bot's pod is there and its referee's is not.
fn is_left_over(pod: &SeenPod, observed: &ObservedCluster) -> bool {
    let Role::Bot { referee, .. } = &pod.role else {
        return false;
    };
    let plays = |other: &SeenPod| other.name == *referee && !other.is_over();
    !pod.leaving && !observed.pods.iter().any(plays)
}

/// Stops a Job that nobody needs: its pods first, which can give back what they have, and then it
/// goes. One that a queue has let in goes at once, since the queue would let it go on.
fn stopped(job: &SeenJob, has_queue: bool) -> Option<Action> {
    if job.leaving {
        return None;
    }
    if has_queue || job.ended.is_some() || (job.suspended && job.active == 0) {
        return Some(Action::Remove(job.name.clone()));
    }
    (!job.suspended).then(|| Action::Suspend(job.name.clone()))
}

/// Reason why there are no pods, where there should be.
fn waits_for_pods(job: &SeenJob, pods: &[&SeenPod], now: i64) -> Option<String> {
    let has_some = job.active > 0 || pods.iter().any(|pod| pod.of == job.of);
    let should = job.ended.is_none() && !job.leaving && now >= job.since + TOLD_AFTER;
    let wants = job.succeeded < job.completions && job.parallelism > 0;
    if has_some || !should || !wants {
        return None;
    }
    let name = &job.name;
    Some(match job.suspended {
        true => format!("the Job {name} is suspended, or waits in its queue"),
        false => format!("the Job {name} has no pods: `kubectl describe job {name}` says why"),
    })
}

/// The sentence for games that a quota leaves no room for.
fn full(room: &Room<'_>, why: &str) -> String {
    match room.playing {
        0 => format!("its games wait for {why}"),
        1 => format!("1 game is played; more wait for {why}"),
        playing => format!("{playing} games are played at once; more wait for {why}"),
    }
}

/// The last message of a referee that failed, where no later one of its index has done well. Of a
/// Job that has ended, all of it is told.
fn fails_again<'a>(pod: &'a SeenPod, pods: &[&SeenPod], jobs: &[&SeenJob]) -> Option<&'a str> {
    let said = pod.said.as_deref()?;
    let is_played = jobs
        .iter()
        .any(|job| job.of == pod.of && job.ended.is_none());
    let follows = |other: &&&SeenPod| other.job == pod.job && other.since >= pod.since;
    let is_mended = (pods.iter().filter(follows)).any(|other| other.phase == PodPhase::Succeeded);
    (is_played && !is_mended).then_some(said)
}

/// The message about a Job that failed.
fn failure(of: &PodMatch, job: &SeenJob, why: &str, pods: &[&SeenPod]) -> String {
    let bots: Vec<&str> = of.bots.iter().map(|bot| &*bot.name).collect();
    let said = pods
        .iter()
        .filter(|pod| pod.of == job.of)
        .find_map(|pod| pod.said.as_deref());
    format!(
        "match {} ({}) is tried again, since its Job {} failed: {}",
        of.number,
        bots.join(", "),
        job.name,
        said.unwrap_or(why)
    )
}

fn pause_after(generation: u32) -> i64 {
    let doublings = generation.saturating_sub(1).min(8);
    (FIRST_PAUSE << doublings).min(LONGEST_PAUSE)
}

fn of_tournament<'a, T>(all: &'a [T], key: &str, of: impl Fn(&T) -> &Of) -> Vec<&'a T> {
    all.iter().filter(|one| of(one).key == key).collect()
}

/// Troubles in words that a terminal can be shown, each once.
fn told(troubles: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut told: Vec<String> = troubles
        .into_iter()
        .map(|trouble| {
            let trouble = printable(&trouble);
            let mut short: String = trouble.chars().take(LONGEST_TROUBLE).collect();
            if short.len() < trouble.len() {
                short.push('…');
            }
            short
        })
        .filter(|trouble| seen.insert(trouble.clone()))
        .collect();
    if told.len() > MOST_TROUBLES {
        let more = told.len() - MOST_TROUBLES;
        told.truncate(MOST_TROUBLES);
        told.push(format!("and {more} more"));
    }
    told
}

impl ReconcileMemory {
    /// Forgets what has been seen, and what was never there.
    fn see(&mut self, observed: &ObservedCluster, now: i64) {
        let jobs = observed.jobs.iter().map(|job| &*job.name);
        let pods = observed.pods.iter().map(|pod| &*pod.name);
        let there: BTreeSet<&str> = jobs.chain(pods).collect();
        self.unseen
            .retain(|name, since| !there.contains(&**name) && now < *since + UNSEEN);
        self.refused
            .retain(|name, (_, at)| !there.contains(&**name) && now < *at + UNSEEN);
    }

    /// The matches of these tournaments whose Jobs have been made and are not seen yet.
    fn unseen_matches(&self, keys: &BTreeSet<&str>) -> Vec<(String, u32)> {
        let matches = keys.iter().flat_map(|key| {
            self.unseen_jobs(key)
                .filter_map(|name| Some(((*key).to_owned(), names::match_of_job(name)?)))
        });
        matches.collect()
    }

    /// Notes that the API server refuses to make a pod, and why; it is tried again. False where
    /// that was known.
    pub fn refuse(&mut self, name: &str, why: &str, now: i64) -> bool {
        let before = (self.refused).insert(name.to_owned(), (why.to_owned(), now));
        before.is_none_or(|(before, _)| before != why)
    }

    /// The reasons for which pods of a tournament could not be made.
    fn refusals_of(&self, key: &str) -> impl Iterator<Item = String> {
        let begins = names::jobs_of(key);
        let refused = self.refused.iter();
        refused
            .filter(move |(name, _)| name.starts_with(&begins))
            .map(|(name, (why, _))| format!("the pod {name} {}", quota::refusal(why)))
    }

    fn unseen_jobs<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let begins = names::jobs_of(key);
        let names = self.unseen.keys().map(|name| &**name);
        // A pod's name goes on after that of its Job.
        names.filter(move |name| name.starts_with(&begins) && name.matches('-').count() == 4)
    }

    /// An object could not be made: it is tried again.
    pub fn forget(&mut self, name: &str) {
        self.unseen.remove(name);
        self.room.forget(name);
    }

    /// Holds bots back whose containers can't start, and frees those that have started.
    fn hold(&mut self, seen: &SeenTournament<'_>) {
        let now = seen.at.now;
        let of_container = |pod: &SeenPod, container: &str| {
            let place = names::place_of(container)?;
            let bot = seen.open.get(&pod.of.matchup)?.bots.get(place)?;
            Some((seen.tournament.key.clone(), bot.name.clone()))
        };
        for pod in seen.pods.iter().filter(|pod| !pod.leaving) {
            for container in &pod.ran {
                let Some(bot) = of_container(pod, container) else {
                    continue;
                };
                // Pods from before, which are kept for their logs, say nothing of now.
                let is_later = |held: &HeldBot| pod.since >= held.since;
                if self.held.get(&bot).is_some_and(is_later) {
                    self.held.remove(&bot);
                }
            }
        }
        for pod in seen.pods.iter().filter(|pod| !pod.is_over()) {
            for (container, why) in &pod.stuck {
                let Some(bot) = of_container(pod, container) else {
                    continue;
                };
                if now < pod.since + PATIENCE {
                    continue;
                }
                let held = self.held.entry(bot).or_insert(HeldBot {
                    since: now,
                    until: 0,
                    pause: FIRST_PAUSE / 2,
                    why: String::new(),
                });
                // The pods of one attempt count once.
                if now >= held.until {
                    held.pause = (held.pause * 2).min(LONGEST_PAUSE);
                    held.until = now + held.pause;
                    held.since = now;
                }
                held.why.clone_from(why);
            }
        }
    }

    fn is_held(&self, key: &str, bot: &str, now: i64) -> bool {
        let held = self.held.get(&(key.to_owned(), bot.to_owned()));
        held.is_some_and(|held| now < held.until)
    }

    fn held_of<'a>(
        &'a self,
        key: &'a str,
    ) -> impl Iterator<Item = (&'a (String, String), &'a HeldBot)> {
        let held = self.held.iter();
        held.filter(move |((of, _), _)| of == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JobEnd, PodImage, PodProgram, SeenLimits, SeenQuota, room::STARVED};

    const NOW: i64 = 1_000_000;

    fn bot(name: &str) -> PodBot {
        let image = PodImage {
            name: "x".to_owned(),
            digest: Some(format!("sha256:{}", "0a".repeat(32))),
            arguments: Vec::new(),
        };
        PodBot {
            name: name.to_owned(),
            program: PodProgram::Image(image),
        }
    }

    /// So many matches; `a` plays the first two.
    fn wanted(matches: u32) -> WantedTournaments {
        let matches = (0..matches).map(|number| PodMatch {
            number,
            bots: vec![bot(if number < 2 { "a" } else { "b" }), bot("c")],
            chunks: 3,
        });
        WantedTournaments {
            tournaments: vec![PodTournament {
                key: "k".to_owned(),
                name: "cup".to_owned(),
                isolation: Isolation::Shared,
                games: 10,
                memory_mib: None,
                matches: matches.collect(),
            }],
            ..WantedTournaments::default()
        }
    }

    fn seen(matchup: u32, generation: u32) -> SeenJob {
        SeenJob {
            name: names::job("k", matchup, generation),
            of: Of {
                key: "k".to_owned(),
                matchup,
                generation,
            },
            tournament: "cup".to_owned(),
            since: NOW,
            suspended: false,
            leaving: false,
            ended: None,
            active: 1,
            succeeded: 0,
            completions: 3,
            parallelism: 1,
        }
    }

    fn stuck(matchup: u32) -> SeenPod {
        SeenPod {
            name: format!("{}-0-x", names::job("k", matchup, 1)),
            uid: "u".to_owned(),
            of: seen(matchup, 1).of,
            role: Role::Referee,
            since: NOW - 2 * PATIENCE,
            leaving: false,
            phase: PodPhase::Pending,
            ip: None,
            job: None,
            placed: true,
            unschedulable: None,
            stuck: vec![("bot-0".to_owned(), "ErrImagePull: no\u{1b}[31m".to_owned())],
            ran: Vec::new(),
            said: None,
        }
    }

    fn settings(max_jobs: usize) -> Settings {
        Settings {
            max_jobs,
            ..Settings::default()
        }
    }

    fn at(
        max_jobs: usize,
        wanted: &WantedTournaments,
        jobs: Vec<SeenJob>,
        pods: Vec<SeenPod>,
        memory: &mut ReconcileMemory,
        now: i64,
    ) -> Reconciled {
        reconcile(
            &settings(max_jobs),
            wanted,
            &ObservedCluster {
                jobs,
                pods,
                ..ObservedCluster::default()
            },
            memory,
            now,
        )
    }

    fn words(reconciled: &Reconciled) -> Vec<String> {
        let actions = reconciled.actions.iter().map(|action| match action {
            Action::Apply(_) => format!("make {}", action.name()),
            Action::ApplyPod(_) => format!("make {}", action.name()),
            Action::Suspend(name) => format!("suspend {name}"),
            Action::Scale { job, parallelism } => format!("scale {job} to {parallelism}"),
            Action::Remove(name) | Action::RemovePod(name) => format!("remove {name}"),
        });
        actions
            .map(|words| words.replace("bot-arena-k-", ""))
            .collect()
    }

    #[test]
    fn the_first_matches_are_played_and_what_is_made_is_not_made_again() {
        let mut memory = ReconcileMemory::default();
        let first = at(2, &wanted(5), vec![], vec![], &mut memory, NOW);
        assert_eq!(words(&first), ["make m0-g1", "make m1-g1"]);
        let again = at(2, &wanted(5), vec![], vec![], &mut memory, NOW + 1);
        assert_eq!(words(&again), [""; 0]);
        // They never came to be.
        let later = at(2, &wanted(5), vec![], vec![], &mut memory, NOW + UNSEEN);
        assert_eq!(words(&later), ["make m0-g1", "make m1-g1"]);
    }

    #[test]
    fn what_nobody_wants_is_stopped_and_then_removed() {
        let none = WantedTournaments::default();
        let stopped = |job: SeenJob, wanted: &WantedTournaments| {
            let found = at(
                9,
                wanted,
                vec![job],
                vec![],
                &mut ReconcileMemory::default(),
                NOW,
            );
            words(&found)
        };
        assert_eq!(stopped(seen(0, 1), &none), ["suspend m0-g1"]);
        let suspended = SeenJob {
            suspended: true,
            ..seen(0, 1)
        };
        assert_eq!(stopped(suspended.clone(), &none), [""; 0]);
        let idle = SeenJob {
            active: 0,
            ..suspended
        };
        assert_eq!(stopped(idle.clone(), &none), ["remove m0-g1"]);
        let leaving = SeenJob {
            leaving: true,
            ..idle
        };
        assert_eq!(stopped(leaving, &none), [""; 0]);
        // Another arena has it, or the store is away.
        let elsewhere = WantedTournaments {
            others: ["cup".to_owned()].into(),
            ..WantedTournaments::default()
        };
        assert_eq!(stopped(seen(0, 1), &elsewhere), [""; 0]);
        // A match that is decided, of a tournament that goes on.
        assert_eq!(stopped(seen(7, 1), &wanted(0)), ["suspend m7-g1"]);
    }

    #[test]
    fn what_a_job_has_left_gets_another_one_and_failures_take_longer_each_time() {
        let ended = |generation: u32, complete: bool| SeenJob {
            active: 0,
            ended: Some(JobEnd {
                complete,
                at: NOW,
                why: "BackoffLimitExceeded".to_owned(),
            }),
            ..seen(0, generation)
        };
        let after = |job: &SeenJob, seconds: i64| {
            let found = at(
                9,
                &wanted(1),
                vec![job.clone()],
                vec![],
                &mut ReconcileMemory::default(),
                NOW + seconds,
            );
            (words(&found), found.troubles["k"].len())
        };
        let done = ended(1, true);
        assert_eq!(after(&done, SHORT_PAUSE - 1), (vec![], 0));
        assert_eq!(
            after(&done, SHORT_PAUSE),
            (vec!["make m0-g2".to_owned()], 0)
        );
        let failed = ended(2, false);
        assert_eq!(after(&failed, 2 * FIRST_PAUSE - 1), (vec![], 1));
        assert_eq!(after(&failed, 2 * FIRST_PAUSE).0, ["make m0-g3"]);
    }

    #[test]
    fn a_job_that_has_ended_makes_room_for_another() {
        let ended = SeenJob {
            active: 0,
            ended: Some(JobEnd {
                complete: true,
                at: NOW,
                why: String::new(),
            }),
            ..seen(0, 1)
        };
        let found = at(
            1,
            &wanted(2),
            vec![ended],
            vec![],
            &mut ReconcileMemory::default(),
            NOW + SHORT_PAUSE,
        );
        assert_eq!(words(&found), ["remove m0-g1"]);
    }

    #[test]
    fn a_bot_that_cant_be_started_holds_nobody_else_up() {
        let mut memory = ReconcileMemory::default();
        let (jobs, pods) = (vec![seen(0, 1), seen(1, 1)], vec![stuck(0)]);
        let found = at(2, &wanted(4), jobs, pods, &mut memory, NOW);
        assert_eq!(words(&found), ["suspend m0-g1", "suspend m1-g1"]);
        let [trouble] = &found.troubles["k"][..] else {
            panic!("{:?}", found.troubles)
        };
        assert!(
            trouble.starts_with("a can't be started: ErrImagePull: no"),
            "{trouble}"
        );
        assert!(!trouble.contains('\u{1b}'), "{trouble:?}");
        let found = at(2, &wanted(4), vec![], vec![], &mut memory, NOW + 1);
        assert_eq!(words(&found), ["make m2-g1", "make m3-g1"]);
        // It is tried again after a while.
        let later = NOW + FIRST_PAUSE + UNSEEN;
        let found = at(9, &wanted(2), vec![], vec![], &mut memory, later);
        assert_eq!(words(&found), ["make m0-g1", "make m1-g1"]);
        // It runs.
        let pod = SeenPod {
            stuck: vec![],
            ran: vec!["bot-0".to_owned()],
            since: later,
            ..stuck(0)
        };
        let jobs = vec![seen(0, 1), seen(1, 1)];
        let found = at(9, &wanted(2), jobs, vec![pod], &mut memory, later + 1);
        assert_eq!(found.troubles["k"], [""; 0]);
    }

    #[test]
    fn a_referee_that_fails_is_told_until_another_one_has_done_well() {
        let failed = SeenPod {
            phase: PodPhase::Failed,
            job: Some((names::job("k", 0, 1), "0".to_owned())),
            stuck: vec![],
            said: Some("exit code 75: could not connect to the bot a".to_owned()),
            ..stuck(0)
        };
        let told = |pods| {
            let mut memory = ReconcileMemory::default();
            let found = at(9, &wanted(1), vec![seen(0, 1)], pods, &mut memory, NOW);
            found.troubles["k"].join("\n")
        };
        let trouble = told(vec![failed.clone()]);
        assert!(
            trouble.ends_with("could not connect to the bot a"),
            "{trouble}"
        );
        let followed_by = |phase| SeenPod {
            name: format!("{}-0-y", names::job("k", 0, 1)),
            phase,
            said: None,
            since: NOW,
            ..failed.clone()
        };
        assert_eq!(
            told(vec![failed.clone(), followed_by(PodPhase::Running)]),
            trouble
        );
        assert_eq!(
            told(vec![failed.clone(), followed_by(PodPhase::Succeeded)]),
            ""
        );
    }

    #[test]
    fn a_bots_pod_goes_with_its_referees() {
        let referee = SeenPod {
            stuck: vec![],
            ..stuck(0)
        };
        let bot = SeenPod {
            name: names::bot_pod(&referee.name, 0),
            role: Role::Bot {
                place: 0,
                referee: referee.name.clone(),
            },
            ..referee.clone()
        };
        let with = |referee: Option<SeenPod>| {
            let pods = referee.into_iter().chain([bot.clone()]).collect();
            let found = at(
                9,
                &wanted(0),
                vec![],
                pods,
                &mut ReconcileMemory::default(),
                NOW,
            );
            found.actions.len()
        };
        assert_eq!(with(Some(referee.clone())), 0);
        assert_eq!(with(None), 1);
        let done = SeenPod {
            phase: PodPhase::Succeeded,
            ..referee
        };
        assert_eq!(with(Some(done)), 1);
    }

    /// A tournament of so many matches whose bots have pods of their own, and what is there of it.
    struct Apart {
        wanted: WantedTournaments,
        jobs: Vec<SeenJob>,
        pods: Vec<SeenPod>,
        limits: SeenLimits,
        settings: Settings,
        memory: ReconcileMemory,
    }

    impl Apart {
        fn new(matches: u32) -> Self {
            let mut wanted = wanted(matches);
            wanted.tournaments[0].isolation = Isolation::Pod;
            Self {
                wanted,
                jobs: Vec::new(),
                pods: Vec::new(),
                limits: SeenLimits::default(),
                settings: Settings::default(),
                memory: ReconcileMemory::default(),
            }
        }

        /// The referee of a match runs, and so many of its two bots have nodes.
        fn plays(&mut self, matchup: u32, bots: usize) {
            let referee = SeenPod {
                stuck: vec![],
                phase: PodPhase::Running,
                ip: Some("10.0.0.1".to_owned()),
                job: Some((names::job("k", matchup, 1), "0".to_owned())),
                ..stuck(matchup)
            };
            let bots = (0..bots).map(|place| SeenPod {
                name: names::bot_pod(&referee.name, place),
                role: Role::Bot {
                    place,
                    referee: referee.name.clone(),
                },
                ..referee.clone()
            });
            let bots: Vec<SeenPod> = bots.collect();
            self.jobs.push(seen(matchup, 1));
            self.pods.extend(bots);
            self.pods.push(referee);
        }

        /// The ResourceQuota `games` allows so many pods, of which so many are there.
        fn allows(&mut self, hard: i128, used: i128) {
            let pods = |number: i128| Amounts::from([("pods".to_owned(), 1000 * number)]);
            self.limits.look += 1;
            self.limits.quotas = vec![SeenQuota {
                name: "games".to_owned(),
                hard: pods(hard),
                used: pods(used),
            }];
        }

        /// What is done about Jobs, and the troubles.
        fn at(&mut self, now: i64) -> (Vec<String>, Vec<String>) {
            let observed = ObservedCluster {
                jobs: self.jobs.clone(),
                pods: self.pods.clone(),
                limits: self.limits.clone(),
            };
            let (settings, wanted) = (&self.settings, &self.wanted);
            let found = reconcile(settings, wanted, &observed, &mut self.memory, now);
            let actions = words(&found).into_iter();
            let of_jobs = actions.filter(|action| !action.contains("-b"));
            (of_jobs.collect(), found.troubles["k"].clone())
        }
    }
    #[test]
    fn a_referee_is_added_when_the_others_have_their_bots() {
        let mut apart = Apart::new(9);
        assert_eq!(apart.at(NOW).0, ["make m0-g1"]);
        assert_eq!(apart.at(NOW + 1).0, [""; 0]);
        apart.plays(0, 1);
        assert_eq!(apart.at(NOW + 2).0, [""; 0]);
        let mut apart = Apart::new(9);
        apart.plays(0, 2);
        assert_eq!(apart.at(NOW).0, ["scale m0-g1 to 2"]);
        // It has not been seen yet.
        assert_eq!(apart.at(NOW + 1).0, [""; 0]);
        let mut apart = Apart::new(9);
        apart.settings.pending_referees = 3;
        assert_eq!(apart.at(NOW).0, ["make m0-g1", "make m1-g1", "make m2-g1"]);
        // A queue is told of a Job once.
        let mut apart = Apart::new(9);
        apart.settings.queue = Some("games".to_owned());
        apart.plays(0, 2);
        assert_eq!(apart.at(NOW).0, ["make m1-g1"]);
    }

    #[test]
    fn as_many_games_as_have_had_room_have_it_again() {
        let mut apart = Apart::new(9);
        apart.settings.pods_per_job = 1;
        for matchup in 0..3 {
            apart.plays(matchup, 2);
        }
        assert_eq!(apart.at(NOW).0, ["make m3-g1"]);
        let mut again = Apart::new(9);
        again.settings.pods_per_job = 1;
        again.memory.room = apart.memory.room;
        assert_eq!(
            again.at(NOW + UNSEEN).0,
            ["make m0-g1", "make m1-g1", "make m2-g1"]
        );
    }

    #[test]
    fn games_wait_for_a_quota_and_it_is_said_which() {
        let mut apart = Apart::new(9);
        apart.plays(0, 2);
        apart.plays(1, 2);
        apart.allows(8, 6);
        let (actions, troubles) = apart.at(NOW);
        assert_eq!(actions, [""; 0]);
        let says = "2 games are played at once; more wait for the ResourceQuota games: pods 6 of 8";
        assert_eq!(troubles, [says]);
        apart.allows(9, 6);
        assert_eq!(apart.at(NOW + 1).0, ["scale m0-g1 to 2"]);
        // What others have is not ours.
        let mut apart = Apart::new(9);
        apart.allows(8, 6);
        let (actions, troubles) = apart.at(NOW);
        assert_eq!(actions, [""; 0]);
        assert_eq!(
            troubles,
            ["its games wait for the ResourceQuota games: pods 6 of 8"]
        );
    }

    #[test]
    fn a_quota_that_no_game_fits_into_is_told_before_anything_is_made() {
        for isolation in [Isolation::Pod, Isolation::Shared] {
            let mut apart = Apart::new(1);
            apart.wanted.tournaments[0].isolation = isolation;
            apart.allows(if isolation == Isolation::Pod { 2 } else { 0 }, 0);
            let (actions, troubles) = apart.at(NOW);
            assert_eq!(actions, [""; 0]);
            let says = "the ResourceQuota games is too small for a game";
            assert!(troubles[0].starts_with(says), "{troubles:?}");
            let says = match isolation {
                Isolation::Pod => "pods 3, and 2 are allowed",
                _ => "pods 1, and 0 are allowed",
            };
            assert!(troubles[0].contains(says), "{troubles:?}");
        }
    }

    #[test]
    fn half_of_the_referees_that_find_no_room_for_their_bots_give_way() {
        let mut apart = Apart::new(4);
        for matchup in 0..4 {
            apart.plays(matchup, 0);
        }
        assert_eq!(apart.at(NOW).0, [""; 0]);
        assert_eq!(apart.at(NOW + STARVED - 1).0, [""; 0]);
        assert_eq!(
            apart.at(NOW + STARVED).0,
            ["scale m2-g1 to 0", "scale m3-g1 to 0"]
        );
    }

    #[test]
    fn a_pod_that_is_refused_is_told_with_the_reason() {
        let mut apart = Apart::new(1);
        apart.plays(0, 1);
        let pod = names::bot_pod(&apart.pods[1].name, 1);
        let why = "pods \"x\" is forbidden: exceeded quota: games, requested: pods=1, used: \
                   pods=8, limited: pods=8";
        assert!(apart.memory.refuse(&pod, why, NOW));
        assert!(!apart.memory.refuse(&pod, why, NOW));
        let says = format!("the pod {pod} waits for the ResourceQuota games: pods 8 of 8");
        assert_eq!(apart.at(NOW).1, [says]);
        // A Job's pods are made by the cluster, which says so in an event.
        let mut apart = Apart::new(1);
        apart.jobs.push(SeenJob {
            active: 0,
            ..seen(0, 1)
        });
        let job = apart.jobs[0].name.clone();
        apart
            .limits
            .refusals
            .insert(job.clone(), (NOW, why.to_owned()));
        let says = format!("a pod of the Job {job} waits for the ResourceQuota games: pods 8 of 8");
        assert_eq!(apart.at(NOW).1, [says]);
        // One was made since.
        apart.pods.push(SeenPod {
            since: NOW + 1,
            ..stuck(0)
        });
        apart.pods[0].stuck.clear();
        assert_eq!(apart.at(NOW).1, [""; 0]);
    }
}
