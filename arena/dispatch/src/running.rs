//! A tournament that is being played: its dispatcher, the right to play it, and what it waits
//! for.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use arena_store::{QueuedTournament, StoreError, TournamentId};
use arena_tournament::{Dispatcher, Isolation, RunStall};
use parking_lot::Mutex;
use referee_worker::{Abilities, Need, lease::SessionId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Storage;

/// The thing that is waited for where nobody makes pods.
const NO_PODS: &str = "an arena that makes pods for it (`arena serve --kubernetes`)";

/// The most needs of a tournament that are told.
const MOST_NEEDS: usize = 5;

/// A tournament that is being played.
pub(crate) struct RunningTournament<S: Storage> {
    pub(crate) id: TournamentId,
    pub(crate) name: String,
    pub(crate) dispatcher: Dispatcher<S::Results>,
    claim: tokio::sync::Mutex<Option<S::Claim>>,
    priority: AtomicI64,
    /// When its time is up.
    ends: Option<Instant>,
    /// Cancelled when it is no longer played.
    ended: CancellationToken,
    /// The thing that it waits for, as it was written last; none where that is not known.
    waits: Mutex<Option<Option<String>>>,
    /// The thing that the pods wait for that are made for it.
    pods_wait: Mutex<Option<String>>,
}

impl<S: Storage> RunningTournament<S> {
    pub(crate) fn new(
        queued: &QueuedTournament,
        dispatcher: Dispatcher<S::Results>,
        claim: S::Claim,
    ) -> Self {
        let time = dispatcher.plan().definition.time;
        Self {
            id: queued.id,
            name: queued.name.clone(),
            dispatcher,
            claim: tokio::sync::Mutex::new(Some(claim)),
            priority: AtomicI64::new(queued.priority),
            ends: time.map(|time| Instant::now() + time),
            ended: CancellationToken::new(),
            waits: Mutex::new(Some(None)),
            pods_wait: Mutex::new(Some(NO_PODS.to_owned())),
        }
    }

    pub(crate) fn priority(&self) -> i64 {
        self.priority.load(Ordering::Relaxed)
    }

    pub(crate) fn set_priority(&self, to: i64) {
        self.priority.store(to, Ordering::Relaxed);
    }

    /// True if the time that it may take is up.
    pub(crate) fn is_late(&self) -> bool {
        self.ends.is_some_and(|ends| Instant::now() >= ends)
    }

    /// Tells whoever plays it that it is no longer played.
    pub(crate) fn set_ended(&self) {
        self.ended.cancel();
    }

    /// Waits until it is no longer played.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Claims it again where the claim was lost with the database's server.
    ///
    /// # Errors
    ///
    /// Another arena was quicker; the store fails.
    pub(crate) async fn keep_claim(&self, storage: &S) -> Result<(), StoreError> {
        let mut claim = self.claim.lock().await;
        if let Some(held) = claim.as_mut()
            && storage.holds(held).await
        {
            return Ok(());
        }
        *claim = None;
        *claim = Some(storage.claim(self.id).await?);
        Ok(())
    }

    /// Gives the claim back.
    pub(crate) async fn release(&self, storage: &S) {
        if let Some(claim) = self.claim.lock().await.take() {
            storage.release(claim).await;
        }
    }

    /// True if it is played by pods that are made for it.
    pub(crate) fn has_pods(&self) -> bool {
        let kubernetes = self.dispatcher.plan().definition.kubernetes;
        kubernetes.is_some_and(|on| on.isolation != Isolation::Services)
    }

    /// Takes down what its pods wait for.
    pub(crate) fn set_pods_wait(&self, waits: Option<String>) {
        *self.pods_wait.lock() = waits;
    }

    /// Takes down what it waits for. False where that was known.
    pub(crate) fn set_waits(&self, waits: &Option<String>) -> bool {
        let mut written = self.waits.lock();
        written.replace(waits.clone()).as_ref() != Some(waits)
    }

    /// Notes that the thing that it waits for could not be written.
    pub(crate) fn forget_waits(&self) {
        *self.waits.lock() = None;
    }

    /// The thing that it waits for, where nobody who works can play it, where nobody who works can
    /// play it, or whoever plays what is left of it has reported nothing for long: in words. `name`
    /// gives the name of a session's worker.
    pub(crate) fn waits(
        &self,
        able: &[Arc<Abilities>],
        plays_here: bool,
        name: impl Fn(SessionId) -> Option<String>,
    ) -> Option<String> {
        let needed = self.needed(able, plays_here).or_else(|| self.away());
        needed.or_else(|| self.dispatcher.stall().map(|stall| in_words(&stall, name)))
    }

    /// The bots that are away, in words that change once a minute.
    fn away(&self) -> Option<String> {
        let plan = self.dispatcher.plan();
        let away = self.dispatcher.away().into_iter().take(MOST_NEEDS);
        let words: Vec<String> = away
            .map(|away| {
                format!(
                    "{}, which has been away for {} ({}); in {} its games are played without it",
                    plan.name(away.entrant),
                    minutes(away.since),
                    away.why,
                    minutes(away.left)
                )
            })
            .collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    fn needed(&self, able: &[Arc<Abilities>], plays_here: bool) -> Option<String> {
        if self.has_pods() {
            return self.pods_wait.lock().clone();
        }
        if able.is_empty() && !plays_here {
            return Some("a worker: none has joined".to_owned());
        }
        let can = |needs: &BTreeSet<Need>| {
            let all = |worker: &Abilities| needs.iter().all(|need| worker.has(need));
            plays_here || able.iter().any(|worker| all(worker))
        };
        let stuck = self.dispatcher.waiting().into_iter();
        let stuck = stuck.filter(|waiting| !can(&waiting.needs));
        let lacking = stuck.flat_map(|waiting| {
            let nobody = |need: &Need| !able.iter().any(|worker| worker.has(need));
            let lacking: Vec<Need> = waiting
                .needs
                .iter()
                .filter(|need| nobody(need))
                .cloned()
                .collect();
            match lacking.is_empty() {
                // Each of them is somewhere, but not all in one place.
                true => waiting.needs.into_iter().collect(),
                false => lacking,
            }
        });
        let lacking: BTreeSet<Need> = lacking.collect();
        let words: Vec<String> = lacking
            .iter()
            .take(MOST_NEEDS)
            .map(ToString::to_string)
            .collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// A length of time in minutes.
fn minutes(time: Duration) -> String {
    match time.as_secs().div_ceil(60) {
        0 | 1 => "1 minute".to_owned(),
        many => format!("{many} minutes"),
    }
}

/// The thing that a run waits for that has given out all of its work. It changes once a minute.
fn in_words(stall: &RunStall, name: impl Fn(SessionId) -> Option<String>) -> String {
    let who = name(stall.session).unwrap_or_else(|| format!("session {}", stall.session));
    let games = match stall.games {
        1 => "1 game".to_owned(),
        many => format!("{many} games"),
    };
    format!(
        "{who}, which has {games} and has reported none for {}; in {} others are given what it has \
         not reported",
        minutes(stall.silent),
        minutes(stall.left)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tournament_that_waits_for_a_worker_names_it_and_says_how_long() {
        let stall = RunStall {
            session: SessionId([1; 16]),
            games: 3,
            silent: Duration::from_secs(241),
            left: Duration::from_secs(59),
        };
        let words = in_words(&stall, |_| Some("lab-1".to_owned()));
        assert_eq!(
            words,
            "lab-1, which has 3 games and has reported none for 5 minutes; in 1 minute others are \
             given what it has not reported"
        );
        let words = in_words(&RunStall { games: 1, ..stall }, |_| None);
        assert!(
            words.starts_with("session 01010101, which has 1 game and"),
            "{words}"
        );
    }
}
