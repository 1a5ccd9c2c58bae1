//! Runs a simulation to its end: does what people ask for, and proves what came of it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use arena_dispatch::{Replays, WorkerAccess};
use arena_simulation::{Beside, Simulation, SimulationFailure, SimulationOptions, Trace};
use arena_store::{
    Counter, GameFilter, GameRow, Store, TournamentId, TournamentState, Wish, WorkerRow,
};
use arena_tournament::{Results as _, StoredResults, verify};
use referee_net::Token;

use crate::{
    archive,
    arena::Arena,
    player::Player,
    scenario::{Act, FAULTS, Scenario, SimulatedWorker},
    seeds::Counts,
    table::Table,
    trouble::{self, Trouble},
    watch::Watch,
};

/// Longest time until the end of everything after the last incident.
const RECOVERY: Duration = Duration::from_secs(150);
/// Longest time that an arena may take to do what a person asks for, where calls of its store are
/// slow.
const HEARS_AFTER: Duration = Duration::from_secs(20);
/// A quarter of all tournaments is proved from its records, beside those that were cancelled.
const PROVED_ONE_IN: u64 = 4;

/// A simulation that has ended well.
pub(crate) struct Ended {
    pub(crate) trace: Trace,
    pub(crate) counts: Counts,
    /// The workers that the arena has refused.
    pub(crate) refused: BTreeSet<String>,
    /// The workers that people have revoked.
    pub(crate) revoked: BTreeSet<String>,
}

/// The people around an arena, who can look into its store.
struct People<'a> {
    scenario: &'a Scenario,
    expected: Option<&'a [Table]>,
    beside: &'a Beside,
    store: Store,
    ids: Vec<TournamentId>,
    watch: Watch,
    acts: VecDeque<(Duration, Act)>,
    /// When each tournament was cancelled.
    cancelled: BTreeMap<usize, Duration>,
    /// Since when each tournament is to be paused.
    paused: BTreeMap<usize, Duration>,
}

impl Scenario {
    /// Runs it, and looks whether each tournament came out as where nothing goes wrong.
    pub(crate) fn check(&self, beside: &Beside) -> Result<Ended, SimulationFailure> {
        let tournaments = self.tournaments.iter();
        let expected: Vec<Table> = tournaments.map(|one| one.reference()).collect();
        self.run(beside, Some(&expected))
    }

    /// Runs it to its end.
    pub(crate) fn run(
        &self,
        beside: &Beside,
        expected: Option<&[Table]>,
    ) -> Result<Ended, SimulationFailure> {
        let (store, ids) = beside.call(prepared(self.clone()));
        let options = SimulationOptions {
            faults: self.faults.clone(),
            limit: FAULTS + RECOVERY,
            test: "a_tournament_ends",
            tick: self.tick,
            ..SimulationOptions::default()
        };
        let mut simulation = Simulation::new(self.seed, options);
        let trace = simulation.trace();
        trace.tell("simulation", format_args!("{self:?}"));
        let watch = Watch::new(trace, self, &ids);
        store.set_faults(trouble::statements(self.storage, watch.clone()));
        self.add_hosts(&mut simulation, beside, &store, &watch);
        let mut people = People {
            scenario: self,
            expected,
            beside,
            store,
            ids,
            watch: watch.clone(),
            acts: self.acts.iter().cloned().collect(),
            cancelled: BTreeMap::new(),
            paused: BTreeMap::new(),
        };
        let trace = simulation.run(|now| people.step(now))?;
        Ok(Ended {
            trace,
            counts: watch.counts(),
            refused: watch.refused(),
            revoked: watch.revoked(),
        })
    }

    fn add_hosts(
        &self,
        simulation: &mut Simulation<'_>,
        beside: &Beside,
        store: &Store,
        watch: &Watch,
    ) {
        let trouble = Trouble::new(self.storage, watch.clone(), simulation.draw_seed());
        let arena = Arena {
            store: store.clone(),
            beside: beside.clone(),
            clock: simulation.clock("arena"),
            seed: simulation.draw_seed(),
            watch: watch.clone(),
            trouble,
            access: match self.needs_tokens {
                true => WorkerAccess::Known,
                false => WorkerAccess::Open,
            },
            live: self.live,
            replays: match self.replays_all {
                true => Replays::All,
                false => Replays::OneIn(4),
            },
        };
        simulation.host("arena", move |network| arena.clone().serve(network));
        for worker in &self.workers {
            let player = Player {
                worker: worker.clone(),
                token: self.needs_tokens.then(|| token(worker)),
                seed: simulation.draw_seed(),
                watch: watch.clone(),
                processes: Arc::default(),
                archives: Arc::default(),
            };
            simulation.host(&worker.name, move |network| player.clone().work(network));
            simulation.link("arena", &worker.name);
        }
    }
}

/// A store with everything that people have put into it before.
async fn prepared(scenario: Scenario) -> (Store, Vec<TournamentId>) {
    let store = Store::open_in_memory().await.expect("a store");
    let mut ids = Vec::new();
    for tournament in &scenario.tournaments {
        ids.push(tournament.store(&store).await);
        if tournament.is_packed {
            let added = store.add_archive(&archive::new(), archive::bytes()).await;
            added.expect("an archive");
        }
    }
    for worker in scenario.workers.iter().filter(|_| scenario.needs_tokens) {
        let row = WorkerRow {
            name: worker.name.clone(),
            token_hash: Some(token(worker).hash().to_string()),
            created_unix_ms: 0,
            expires_unix_ms: None,
            revoked: false,
            shut_out: None,
        };
        store.add_worker(&row).await.expect("a worker");
    }
    (store, ids)
}

/// The token of a worker.
fn token(worker: &SimulatedWorker) -> Token {
    let digits = hex::encode(&worker.name);
    format!("arena_{digits:0>64}").parse().expect("a token")
}

impl People<'_> {
    /// Their actions and checks after each step; true when everything is over and proved.
    fn step(&mut self, now: Duration) -> Result<bool, String> {
        self.watch.set_now(now);
        if let Some(broken) = self.watch.broken() {
            return Err(broken);
        }
        while let Some((_, act)) = self.acts.pop_front_if(|(when, _)| *when <= now) {
            self.act(now, &act)?;
        }
        self.look(now)?;
        if !self.watch.is_over() {
            return Ok(false);
        }
        for number in 0..self.ids.len() {
            self.prove(number)
                .map_err(|why| format!("{}: {why}", self.scenario.tournaments[number].name))?;
        }
        Ok(true)
    }

    /// Uses the store, which fails nobody who looks.
    fn call<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _spared = self.watch.spare();
        self.beside.call(future)
    }

    fn act(&mut self, now: Duration, act: &Act) -> Result<(), String> {
        self.watch.tell("people", &format!("{act:?}"));
        match act {
            Act::Pause(number) => {
                self.paused.insert(*number, now);
                self.watch.count("paused");
                self.wish(*number, Wish::Pause);
            }
            Act::Resume(number) => {
                let since = self.paused.remove(number).unwrap_or(now);
                let state = self.watch.state_of(self.ids[*number]);
                if now > since + HEARS_AFTER
                    && now > FAULTS + Duration::from_secs(10)
                    && state == TournamentState::Running
                {
                    return Err(format!("tournament {number} is not paused"));
                }
                self.wish(*number, Wish::Play);
            }
            Act::Cancel(number) => {
                if !self.watch.state_of(self.ids[*number]).is_final() {
                    self.cancelled.insert(*number, now);
                    self.wish(*number, Wish::Cancel);
                }
            }
            Act::Revoke(worker) => {
                let (store, name) = (self.store.clone(), worker.clone());
                let revoke = async move { store.revoke_worker(&name, true).await };
                self.call(revoke).expect("it is revoked");
                self.watch.revokes(worker);
            }
        }
        Ok(())
    }

    fn wish(&self, number: usize, wish: Wish) {
        let (store, id) = (self.store.clone(), self.ids[number]);
        let wish = async move { store.set_wish(id, Some(wish)).await };
        self.call(wish).expect("a wish");
    }

    /// Checks that each request is fulfilled some time after everything has recovered.
    fn look(&self, now: Duration) -> Result<(), String> {
        let late = |since: &Duration| now > (*since).max(FAULTS) + HEARS_AFTER;
        let state = |number: &usize| self.watch.state_of(self.ids[*number]);
        for (number, since) in &self.cancelled {
            if late(since) && !state(number).is_final() {
                return Err(format!("tournament {number} is not cancelled"));
            }
        }
        for (number, since) in &self.paused {
            if late(since) && state(number) == TournamentState::Running {
                return Err(format!("tournament {number} is not paused"));
            }
        }
        Ok(())
    }

    /// Proves what is stored of a tournament that has ended.
    fn prove(&self, number: usize) -> Result<(), String> {
        let (tournament, id) = (&self.scenario.tournaments[number], self.ids[number]);
        let stored = self.call(stored(self.store.clone(), id));
        let is_cancelled = self.watch.state_of(id) == TournamentState::Cancelled;
        if is_cancelled && !self.cancelled.contains_key(&number) {
            return Err("it is cancelled, and nobody asked for it".to_owned());
        }
        let accepted = self.watch.accepted(id);
        if stored.games.len() != accepted.len() {
            let (games, taken) = (stored.games.len(), accepted.len());
            return Err(format!("{games} games are stored, {taken} were taken"));
        }
        for row in &stored.games {
            let worker = row.worker.as_deref().unwrap_or_default();
            if !worker.starts_with("worker-")
                || accepted.get(&(row.group, row.seating)).map(|it| &**it) != Some(worker)
            {
                let (group, seating) = (row.group, row.seating);
                return Err(format!("game {group}.{seating} counts for {worker:?}"));
            }
        }
        add_up(&stored)?;
        let table = Table::new(&stored.games, stored.groups)?;
        if let Some(planned) = tournament.planned()
            && !is_cancelled
            && planned != table.len() as u64
        {
            let found = table.len();
            return Err(format!(
                "the schedule has {planned} games, {found} are stored"
            ));
        }
        if let Some(expected) = self.expected {
            table.compare(&expected[number], is_cancelled)?;
        }
        if is_cancelled || self.scenario.seed.is_multiple_of(PROVED_ONE_IN) {
            self.watch
                .count(if is_cancelled { "cancelled" } else { "proved" });
            let name = tournament.name.clone();
            self.call(proved(self.store.clone(), name))?;
        }
        Ok(())
    }
}

/// Everything that is stored of a tournament.
struct Stored {
    games: Vec<GameRow>,
    groups: BTreeMap<u64, arena_store::ScoredGroup>,
    counters: Vec<(Option<arena_ladder::Entrant>, Counter, i64)>,
}

async fn stored(store: Store, id: TournamentId) -> Stored {
    let games = store.games(id, &GameFilter::default(), 100_000).await;
    let results = StoredResults::of(&store, id);
    Stored {
        games: games.expect("games"),
        groups: results.scores().await.expect("scores"),
        counters: results.counters().await.expect("counters"),
    }
}

/// Checks that the counters of games agree with the games.
fn add_up(stored: &Stored) -> Result<(), String> {
    let mut ended = 0;
    let mut played: BTreeMap<String, i64> = BTreeMap::new();
    for (_, counter, count) in &stored.counters {
        match counter {
            Counter::Ended(_) => ended += count,
            Counter::WorkerGames(worker) => *played.entry(worker.clone()).or_default() += count,
            _ => {}
        }
    }
    for row in &stored.games {
        ended -= 1;
        let bots = row.lineup.iter().flatten().count() as i64;
        let worker = row.worker.clone().unwrap_or_default();
        *played.entry(worker).or_default() -= bots;
    }
    match ended == 0 && played.values().all(|left| *left == 0) {
        true => Ok(()),
        false => Err(format!(
            "the counters do not add up: {ended} games too many have ended, and workers have \
             played too many: {played:?}"
        )),
    }
}

/// Proves a tournament from its records and its root.
async fn proved(store: Store, name: String) -> Result<(), String> {
    let tournament = store.tournament(&name).await;
    let tournament = tournament.expect("a store").expect("a tournament");
    let verification = verify(&store, &tournament).await;
    let verification = verification.map_err(|error| error.to_string())?;
    match verification.faults.first() {
        None => Ok(()),
        Some(fault) => Err(format!("it is not proved: {fault:?}")),
    }
}
