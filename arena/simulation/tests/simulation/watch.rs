//! Conditions that must hold at every moment of a simulation, and the knowledge of it beside the
//! arena: it sees each state, lease and report at the moment at which it is written, every byte
//! that goes down to a worker, and every reply to a report.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_proto::arena::v1 as proto;
use arena_simulation::Trace;
use arena_store::{ChunkKey, GameRow, Reported, TournamentId, TournamentState};
use parking_lot::Mutex;
use referee_worker::lease::{ChunkId, SessionId};

use crate::{
    defect::Defect,
    scenario::{Forgery, Scenario},
    secrets::{LONGEST, Secrets},
    seeds::Counts,
};

/// Longest time that an arena may take to hear that a worker has been revoked, where calls of its
/// store are slow.
const REVOKED_AFTER: Duration = Duration::from_secs(20);

/// Watches one simulation. All clones are the same.
#[derive(Clone)]
pub(crate) struct Watch {
    trace: Trace,
    pub(crate) defect: Defect,
    /// True if the store may do something that nobody hears of.
    loses_answers: bool,
    /// True while people use the store, for whom nothing fails.
    spared: Arc<AtomicBool>,
    secrets: Arc<Secrets>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    now: Duration,
    /// By the number of the tournament.
    runs: BTreeMap<u64, Run>,
    /// The deals of which each worker has been given a game, by tournament.
    deals: BTreeMap<String, BTreeSet<(usize, u64)>>,
    sessions: BTreeMap<SessionId, String>,
    refused: BTreeSet<String>,
    /// The workers that play no game.
    liars: BTreeSet<String>,
    revoked: BTreeMap<String, Duration>,
    /// The last bytes of each connection.
    tails: BTreeMap<(SessionId, u64), Vec<u8>>,
    counts: Counts,
    broken: Option<String>,
}

/// Knowledge of a tournament.
struct Run {
    name: String,
    /// Its place among the tournaments of the simulation.
    number: usize,
    has_secrets: bool,
    state: TournamentState,
    /// The newest attempt at each chunk.
    attempts: BTreeMap<ChunkId, u32>,
    /// The games that count, and who played them.
    accepted: BTreeMap<(u64, u32), String>,
}

impl Watch {
    pub(crate) fn new(trace: Trace, scenario: &Scenario, ids: &[TournamentId]) -> Self {
        let tournaments = &scenario.tournaments;
        let secrets = tournaments.iter().map(|one| (one.game, one.root()));
        let runs = ids.iter().zip(tournaments).enumerate();
        let runs = runs.map(|(number, (id, tournament))| {
            let kind = referee_games::game(tournament.game).expect("a game");
            let run = Run {
                name: tournament.name.clone(),
                number,
                has_secrets: kind.has_secrets(),
                state: TournamentState::Created,
                attempts: BTreeMap::new(),
                accepted: BTreeMap::new(),
            };
            (id.number(), run)
        });
        let workers = scenario.workers.iter();
        let liars = workers.filter(|worker| worker.forgery == Some(Forgery::Everything));
        let seen = Seen {
            runs: runs.collect(),
            liars: liars.map(|worker| worker.name.clone()).collect(),
            ..Seen::default()
        };
        Self {
            trace,
            defect: scenario.defect,
            loses_answers: scenario.storage.statement.is_some(),
            spared: Arc::default(),
            secrets: Arc::new(Secrets::new(secrets)),
            seen: Arc::new(Mutex::new(seen)),
        }
    }

    /// No statement fails until what this gives is dropped.
    pub(crate) fn spare(&self) -> Spared {
        self.spared.store(true, Ordering::Relaxed);
        Spared(self.spared.clone())
    }

    pub(crate) fn is_spared(&self) -> bool {
        self.spared.load(Ordering::Relaxed)
    }

    /// The first condition that has been broken, if any has.
    pub(crate) fn broken(&self) -> Option<String> {
        self.seen.lock().broken.clone()
    }

    /// True if every tournament has ended for good.
    pub(crate) fn is_over(&self) -> bool {
        self.seen
            .lock()
            .runs
            .values()
            .all(|run| run.state.is_final())
    }

    pub(crate) fn state_of(&self, id: TournamentId) -> TournamentState {
        self.seen.lock().runs[&id.number()].state
    }

    /// The workers that played the games of a tournament that count.
    pub(crate) fn accepted(&self, id: TournamentId) -> BTreeMap<(u64, u32), String> {
        self.seen.lock().runs[&id.number()].accepted.clone()
    }

    /// The workers that the arena does not let in any more.
    pub(crate) fn refused(&self) -> BTreeSet<String> {
        self.seen.lock().refused.clone()
    }

    pub(crate) fn revoked(&self) -> BTreeSet<String> {
        self.seen.lock().revoked.keys().cloned().collect()
    }

    /// Number of times that each thing has happened.
    pub(crate) fn counts(&self) -> Counts {
        self.seen.lock().counts.clone()
    }

    pub(crate) fn now(&self) -> Duration {
        self.seen.lock().now
    }

    pub(crate) fn set_now(&self, now: Duration) {
        self.seen.lock().now = now;
    }

    pub(crate) fn count(&self, what: &'static str) {
        *self.seen.lock().counts.entry(what).or_default() += 1;
    }

    pub(crate) fn tell(&self, who: &str, what: &str) {
        self.trace.tell(who, what);
    }

    /// A process of a worker begins.
    pub(crate) fn begins(&self, worker: &str, session: SessionId) {
        self.trace.tell(worker, format_args!("begins as {session}"));
        self.seen.lock().sessions.insert(session, worker.to_owned());
        self.count("begun");
    }

    pub(crate) fn refuses(&self, worker: &str, why: &str) {
        self.trace.tell(worker, why);
        self.seen.lock().refused.insert(worker.to_owned());
    }

    pub(crate) fn revokes(&self, worker: &str) {
        let mut seen = self.seen.lock();
        let now = seen.now;
        seen.revoked.insert(worker.to_owned(), now);
    }

    /// Says what is broken. What was first is kept.
    pub(crate) fn breaks(&self, what: String) {
        self.trace.tell("watch", &what);
        self.seen.lock().broken.get_or_insert(what);
    }

    /// The state of a tournament has been written.
    pub(crate) fn state(&self, id: TournamentId, to: TournamentState) {
        let name = {
            let mut seen = self.seen.lock();
            let run = seen.runs.get_mut(&id.number()).expect("a tournament");
            run.state = to;
            run.name.clone()
        };
        self.trace
            .tell("store", format_args!("{name} is {}", to.word()));
    }

    /// A lease has been written.
    pub(crate) fn leased(&self, id: TournamentId, chunk: ChunkId, attempt: u32, worker: &str) {
        let what = format!(
            "{} of {id} leased to {worker}, attempt {attempt}",
            named(&chunk)
        );
        self.trace.tell("store", what);
        let mut seen = self.seen.lock();
        let run = seen.runs.get_mut(&id.number()).expect("a tournament");
        run.attempts.insert(chunk, attempt);
        if attempt > 1 {
            *seen.counts.entry("leased again").or_default() += 1;
        }
    }

    /// A report has been written, or not.
    pub(crate) fn reported(
        &self,
        id: TournamentId,
        row: &GameRow,
        chunk: &ChunkKey,
        attempt: u32,
        reported: Reported,
    ) {
        let worker = row.worker.clone().unwrap_or_default();
        let chunk = ChunkId {
            matchup: chunk.matchup.0,
            first_group: chunk.first_group,
            groups: chunk.groups,
            seating: chunk.seating,
        };
        let what = format!(
            "game {}.{} of {} of {id}, attempt {attempt}, by {worker}: {reported:?}",
            row.group,
            row.seating,
            named(&chunk)
        );
        self.trace.tell("store", &what);
        self.count(match reported {
            Reported::Accepted => "accepted",
            Reported::Duplicate => "duplicate",
            Reported::Stale => "stale",
        });
        let mut seen = self.seen.lock();
        let reported = match reported {
            Reported::Duplicate if self.loses_answers && !seen.is_known(id, row) => {
                Reported::Accepted
            }
            reported => reported,
        };
        let wrong = seen.wrong_report(id, row, &chunk, attempt, reported);
        drop(seen);
        if let Some(wrong) = wrong {
            self.breaks(format!("{wrong}: {what}"));
        }
    }

    /// A worker's process is about to be told of a lease.
    pub(crate) fn gives(&self, session: &[u8], lease: &proto::Lease) {
        let Some(worker) = self.worker(session) else {
            return;
        };
        let wrong = {
            let mut seen = self.seen.lock();
            let run = lease.id.as_ref().and_then(|id| seen.runs.get(&id.run));
            let Some(run) = run else {
                return;
            };
            let (number, asks_for_moves) = (run.number, lease.live && run.has_secrets);
            let keys = lease.games.iter().filter_map(|game| game.key.as_ref());
            let deals = keys.map(|key| (number, key.group));
            seen.deals.entry(worker.clone()).or_default().extend(deals);
            match (asks_for_moves, seen.is_revoked(&worker)) {
                (true, _) => Some("public moves are asked for in a game with secrets"),
                (_, true) => Some("a worker that was revoked is given work"),
                _ => None,
            }
        };
        if let Some(wrong) = wrong {
            self.breaks(format!("{wrong}: {worker}"));
        }
    }

    /// A worker's process is about to be told what became of its games.
    pub(crate) fn answers(&self, games: &[Option<(u64, (u64, u32))>], replies: &[proto::Reported]) {
        for (game, reply) in games.iter().zip(replies) {
            // Whoever has lost a lease is told so before anything is written.
            if matches!(reply, proto::Reported::Stale | proto::Reported::NotHeld) {
                self.count("stale");
            }
            let (Some((run, key)), proto::Reported::Accepted | proto::Reported::Duplicate) =
                (game, reply)
            else {
                continue;
            };
            let is_stored = {
                let seen = self.seen.lock();
                let run = seen.runs.get(run);
                run.is_some_and(|run| run.accepted.contains_key(key))
            };
            if !is_stored {
                let (group, seating) = key;
                self.breaks(format!(
                    "game {group}.{seating} is confirmed, and is not stored"
                ));
            }
        }
    }

    /// True if a game of a tournament may be told of: in a game with secrets all seatings of its
    /// deal must be over.
    pub(crate) fn may_be_told(&self, name: &str, row: &GameRow) -> bool {
        let seen = self.seen.lock();
        let Some(run) = seen.runs.values().find(|run| run.name == name) else {
            return false;
        };
        let of_group = run.accepted.range((row.group, 0)..=(row.group, u32::MAX));
        let needed = if run.has_secrets {
            row.games_in_group
        } else {
            1
        };
        of_group.count() >= needed as usize && run.accepted.contains_key(&(row.group, row.seating))
    }

    /// Bytes have come to a worker. None of them may be a secret.
    pub(crate) fn heard(&self, worker: &str, session: SessionId, connection: u64, new: &[u8]) {
        let at = (session, connection);
        let mut bytes = self.seen.lock().tails.remove(&at).unwrap_or_default();
        bytes.extend_from_slice(new);
        for (found, (tournament, deal)) in self.secrets.within(&bytes) {
            let known = deal.is_some_and(|deal| {
                let seen = self.seen.lock();
                let deals = seen.deals.get(worker);
                deals.is_some_and(|deals| deals.contains(&(tournament, deal)))
            });
            if !known {
                let what = deal.map_or_else(
                    || "the root".to_owned(),
                    |deal| format!("the seed of deal {deal}, of which it has no game,"),
                );
                self.breaks(format!("{what} came to {worker}, at byte {found}"));
            }
        }
        let keep = bytes.len().saturating_sub(LONGEST - 1);
        bytes.drain(..keep);
        self.seen.lock().tails.insert(at, bytes);
    }

    /// Adds to a lease what its defect says.
    pub(crate) fn spoil(&self, lease: &mut proto::Lease) {
        let run = lease.id.as_ref().map_or(0, |id| id.run);
        let number = self.seen.lock().runs.get(&run).map_or(0, |run| run.number);
        let secret = match self.defect {
            Defect::TellsRoot => hex::encode(self.secrets.root(number)),
            Defect::TellsSeeds => {
                let keys = lease.games.iter().filter_map(|game| game.key.as_ref());
                let last = keys.map(|key| key.group).max().unwrap_or_default();
                hex::encode(self.secrets.seed(number, last + 100))
            }
            Defect::AsksForMoves => {
                lease.live = true;
                return;
            }
            _ => return,
        };
        lease.bots[0].spec.push_str(&secret);
    }

    fn worker(&self, session: &[u8]) -> Option<String> {
        let session = SessionId(session.try_into().ok()?);
        self.seen.lock().sessions.get(&session).cloned()
    }
}

/// Ends the time in which no statement fails.
pub(crate) struct Spared(Arc<AtomicBool>);

impl Drop for Spared {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Seen {
    /// True if a game is known to count.
    fn is_known(&self, id: TournamentId, row: &GameRow) -> bool {
        let run = &self.runs[&id.number()];
        run.accepted.contains_key(&(row.group, row.seating))
    }

    /// Fault of the answer to a report.
    fn wrong_report(
        &mut self,
        id: TournamentId,
        row: &GameRow,
        chunk: &ChunkId,
        attempt: u32,
        reported: Reported,
    ) -> Option<String> {
        let worker = row.worker.clone().unwrap_or_default();
        let is_revoked = self.is_revoked(&worker);
        let is_liar = self.liars.contains(&worker);
        let run = self.runs.get_mut(&id.number()).expect("a tournament");
        let newest = run.attempts.get(chunk).copied().unwrap_or_default();
        let key = (row.group, row.seating);
        match reported {
            Reported::Stale => None,
            _ if attempt < newest => Some(format!(
                "a stale report was taken, although there is attempt {newest}"
            )),
            Reported::Duplicate if !run.accepted.contains_key(&key) => {
                Some("a game that is not stored is called a duplicate".to_owned())
            }
            Reported::Duplicate => None,
            Reported::Accepted if run.state != TournamentState::Running => Some(format!(
                "a game was taken of a tournament that is {}",
                run.state.word()
            )),
            Reported::Accepted if is_liar => {
                Some("a game of a worker that plays none was taken".to_owned())
            }
            Reported::Accepted if is_revoked => {
                Some("a game of a worker that was revoked was taken".to_owned())
            }
            Reported::Accepted => {
                let before = run.accepted.insert(key, worker);
                before.map(|before| format!("a game of {before} was taken twice"))
            }
        }
    }

    /// True if a worker was revoked so long ago that the arena must know it.
    fn is_revoked(&self, worker: &str) -> bool {
        let revoked = self.revoked.get(worker);
        revoked.is_some_and(|since| self.now > *since + REVOKED_AFTER)
    }
}

fn named(chunk: &ChunkId) -> String {
    let (first, groups) = (chunk.first_group, chunk.groups);
    match chunk.seating {
        Some(seating) => format!("chunk {first}+{groups}.{seating}"),
        None => format!("chunk {first}+{groups}"),
    }
}
