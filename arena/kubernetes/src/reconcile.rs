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
const TOLD_AFTER: i64 = 60;
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
    /// Let the pod of a referee be given a node.
    Admit(String),
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
    /// The times at which referees were admitted; it may not have been seen.
    admitted: BTreeMap<String, i64>,
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
            done.actions.extend(stopped(job));
        }
    }
    for pod in &observed.pods {
        if is_left_over(pod, observed) {
            done.actions.push(Action::RemovePod(pod.name.clone()));
        }
    }
    memory.held.retain(|(key, _), _| keys.contains(&**key));
    memory.failed.retain(|(key, _), _| keys.contains(&**key));
    for tournament in &wanted.tournaments {
        let outcome = SeenTournament::new(at, tournament).reconcile(memory);
        done.actions.extend(outcome.actions);
        let troubles = told(outcome.troubles);
        done.troubles.insert(tournament.key.clone(), troubles);
    }
    done.actions.extend(admit(at, wanted, memory));
    done
}

/// Lets referees be given nodes whose bots have pods of their own. If all of them were at once, they
/// could fill the nodes and leave no room for their bots. So at most one in four of those that have
/// their bots may be without, or one alone: when the others end, there is room for its bots.
fn admit(
    at: SeenCluster<'_>,
    wanted: &WantedTournaments,
    memory: &mut ReconcileMemory,
) -> Vec<Action> {
    const WITH_BOTS_FOR_ONE_WITHOUT: usize = 4;
    let apart = wanted.tournaments.iter();
    let apart = apart.filter(|one| one.isolation == Isolation::Pod);
    let needed: BTreeMap<(&str, u32), usize> = apart
        .flat_map(|one| {
            one.matches.iter().map(|of| {
                let bots = of.bots.iter().filter(|bot| bot.image.is_some());
                ((&*one.key, of.number), bots.count())
            })
        })
        .collect();
    let mut placed: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in at.observed.pods.iter().filter(|pod| pod.placed) {
        if let Role::Bot { referee, .. } = &pod.role {
            *placed.entry(referee).or_default() += 1;
        }
    }
    let (mut with_bots, mut without, mut waiting) = (0, 0, Vec::new());
    for pod in at.observed.pods.iter().filter(|pod| !pod.is_over()) {
        let bots = needed.get(&(&*pod.of.key, pod.of.matchup));
        let (Role::Referee, Some(&bots)) = (&pod.role, bots) else {
            continue;
        };
        if pod.gated && !memory.admitted.contains_key(&pod.name) {
            waiting.push(pod);
        } else if placed.get(&*pod.name).is_some_and(|there| *there >= bots) || bots == 0 {
            with_bots += 1;
        } else {
            without += 1;
        }
    }
    waiting.sort_by_key(|pod| (&pod.of.key, pod.of.matchup, pod.since, &pod.name));
    let most = (with_bots / WITH_BOTS_FOR_ONE_WITHOUT).max(1);
    let admitted = waiting.into_iter().take(most.saturating_sub(without));
    let admitted = admitted.map(|pod| {
        memory.admitted.insert(pod.name.clone(), at.now);
        Action::Admit(pod.name.clone())
    });
    admitted.collect()
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

    fn reconcile(&self, memory: &mut ReconcileMemory) -> ReconciledTournament {
        let key = &self.tournament.key;
        memory.hold(self);
        (memory.failed).retain(|(of, number), _| of != key || self.open.contains_key(number));
        let held = self.held_matches(memory);
        let mut outcome = ReconciledTournament {
            actions: self.stop_jobs(&held),
            troubles: self.bot_troubles(memory),
        };
        self.make_jobs(&held, memory, &mut outcome);
        outcome.troubles.extend(self.pod_troubles());
        if self.tournament.isolation == Isolation::Pod {
            outcome.actions.extend(self.make_bot_pods(memory));
        }
        outcome
    }

    /// True if the image of a bot has to have a digest, and has none.
    fn lacks_digest(&self, bot: &PodBot) -> bool {
        let image = bot.image.as_ref();
        image.is_some_and(|image| image.lacks_digest(self.at.settings))
    }

    /// The numbers of the matches that have a bot which can't be started.
    fn held_matches(&self, memory: &ReconcileMemory) -> BTreeSet<u32> {
        let is_held = |bot: &PodBot| {
            self.lacks_digest(bot) || memory.is_held(&self.tournament.key, &bot.name, self.at.now)
        };
        (self.open.values())
            .filter(|of| of.bots.iter().any(is_held))
            .map(|of| of.number)
            .collect()
    }

    /// Reasons why bots can't be started.
    fn bot_troubles(&self, memory: &ReconcileMemory) -> Vec<String> {
        let bots = self.open.values().flat_map(|of| &of.bots);
        let lacking = bots.filter(|bot| self.lacks_digest(bot)).map(|bot| {
            format!(
                "{} has an image without a digest: expected image:NAME@sha256:DIGEST, or pinned = \
                 false in the settings of the arena",
                bot.name
            )
        });
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
        unneeded.filter_map(|job| stopped(job)).collect()
    }

    /// Makes the Jobs of matches that have none, as far as there is room.
    fn make_jobs(
        &self,
        held: &BTreeSet<u32>,
        memory: &mut ReconcileMemory,
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
    fn pod_troubles(&self) -> Vec<String> {
        let now = self.at.now;
        let waiting = self.jobs.iter();
        let waiting = waiting.filter_map(|job| waits_for_pods(job, &self.pods, now));
        let mut troubles: Vec<String> = waiting.collect();
        for pod in &self.pods {
            if let Some(why) = &pod.unschedulable
                && now >= pod.since + TOLD_AFTER
            {
                troubles.push(format!("no node takes the pod {}: {why}", pod.name));
            }
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

    /// Makes the pods of the bots that play with a referee, where they are not there.
    fn make_bot_pods(&self, memory: &mut ReconcileMemory) -> Vec<Action> {
        let mut actions = Vec::new();
        for pod in &self.pods {
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
/// goes.
fn stopped(job: &SeenJob) -> Option<Action> {
    if job.leaving {
        return None;
    }
    if job.ended.is_some() || (job.suspended && job.active == 0) {
        return Some(Action::Remove(job.name.clone()));
    }
    (!job.suspended).then(|| Action::Suspend(job.name.clone()))
}

/// Reason why there are no pods, where there should be.
fn waits_for_pods(job: &SeenJob, pods: &[&SeenPod], now: i64) -> Option<String> {
    let has_some = job.active > 0 || pods.iter().any(|pod| pod.of == job.of);
    let should = job.ended.is_none() && !job.leaving && now >= job.since + TOLD_AFTER;
    if has_some || !should || job.succeeded >= job.completions {
        return None;
    }
    Some(match job.suspended {
        true => format!("the Job {} is suspended, or waits in its queue", job.name),
        false => format!(
            "the Job {0} has no pods; the quota of the namespace may be used up: `kubectl describe \
             job {0}` says why",
            job.name
        ),
    })
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
        self.admitted
            .retain(|name, since| there.contains(&**name) && now < *since + UNSEEN);
    }

    fn unseen_jobs<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let begins = format!("bot-arena-{key}-m");
        let names = self.unseen.keys().map(|name| &**name);
        // A pod's name goes on after that of its Job.
        names.filter(move |name| name.starts_with(&begins) && name.matches('-').count() == 4)
    }

    /// An object could not be made: it is tried again.
    pub fn forget(&mut self, name: &str) {
        self.unseen.remove(name);
        self.admitted.remove(name);
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
    use crate::{JobEnd, PodImage};

    const NOW: i64 = 1_000_000;

    fn bot(name: &str) -> PodBot {
        let image = PodImage {
            name: "x".to_owned(),
            digest: Some(format!("sha256:{}", "0a".repeat(32))),
            arguments: Vec::new(),
        };
        PodBot {
            name: name.to_owned(),
            image: Some(image),
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
            gated: false,
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
            &ObservedCluster { jobs, pods },
            memory,
            now,
        )
    }

    fn words(reconciled: &Reconciled) -> Vec<String> {
        let actions = reconciled.actions.iter().map(|action| match action {
            Action::Apply(_) => format!("make {}", action.name()),
            Action::ApplyPod(_) => format!("make {}", action.name()),
            Action::Suspend(name) => format!("suspend {name}"),
            Action::Admit(name) => format!("admit {name}"),
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

    #[test]
    fn referees_take_turns_so_that_their_bots_find_room() {
        let mut wanted = wanted(9);
        wanted.tournaments[0].isolation = Isolation::Pod;
        let referee = |matchup: u32, gated: bool| SeenPod {
            stuck: vec![],
            phase: PodPhase::Running,
            gated,
            ..stuck(matchup)
        };
        let bots = |matchup: u32, placed: usize| {
            let referee = referee(matchup, false).name;
            let bots = (0..2).map(move |place| SeenPod {
                name: names::bot_pod(&referee, place),
                role: Role::Bot {
                    place,
                    referee: referee.clone(),
                },
                placed: place < placed,
                ..self::stuck(matchup)
            });
            bots.map(|bot| SeenPod {
                stuck: vec![],
                ..bot
            })
        };
        let jobs: Vec<SeenJob> = (0..9).map(|matchup| seen(matchup, 1)).collect();
        let admitted = |pods: Vec<SeenPod>, memory: &mut ReconcileMemory| {
            let found = at(50, &wanted, jobs.clone(), pods, memory, NOW);
            let admitted = found.actions.iter();
            admitted
                .filter(|action| matches!(action, Action::Admit(_)))
                .count()
        };
        let waiting = |from: u32| (from..9).map(|matchup| referee(matchup, true));
        let mut memory = ReconcileMemory::default();
        // One alone, and no other before its bots have nodes.
        assert_eq!(admitted(waiting(0).collect(), &mut memory), 1);
        assert_eq!(admitted(waiting(0).collect(), &mut memory), 0);
        let first = || [referee(0, false)].into_iter();
        let begun = first().chain(bots(0, 1)).chain(waiting(1)).collect();
        assert_eq!(admitted(begun, &mut ReconcileMemory::default()), 0);
        let played = first().chain(bots(0, 2)).chain(waiting(1)).collect();
        assert_eq!(admitted(played, &mut ReconcileMemory::default()), 1);
    }
}
