//! The arena that pods work for: a real dispatcher with results in memory, which can be stopped
//! and opened again from its results.

use std::{collections::BTreeMap, sync::Arc};

use arena_kubernetes::{PodTournament, TournamentSource, WantedTournaments};
use arena_ladder::{ScheduleShape, Sprt};
use arena_tournament::{
    Definition, DispatchOptions, Dispatcher, Isolation, MemoryResults, Plan, Results as _, Silent,
    Snapshot,
};
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use referee_bots::{Entry, Schemes, Unpinned, image_scheme};
use referee_container::Containers;
use referee_core::Root;
use referee_sandbox::Reexec;
use referee_worker::{
    Abilities, Summary,
    lease::{GameKey, GameReport, GiveBack, LeaseId, LeaseReply, LeaseRequest, ReportReply, Scope},
};

use crate::world::Defect;

/// The name of its tournament.
const NAME: &str = "cup";

/// The tournament that is played.
#[derive(Clone, Debug)]
pub(crate) struct Cup {
    pub(crate) seed: u64,
    pub(crate) bots: usize,
    pub(crate) deals: u64,
    /// Number of games of a chunk.
    pub(crate) games: u64,
    pub(crate) shape: ScheduleShape,
    pub(crate) sprt: bool,
    pub(crate) isolation: Isolation,
}

/// The arena.
pub(crate) struct Arena {
    pub(crate) cup: Cup,
    plan: Arc<Plan>,
    results: MemoryResults,
    dispatcher: Mutex<Option<Arc<Dispatcher<MemoryResults>>>>,
    /// Most matches that it offers at once.
    most: usize,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The tournaments that it has offered; none where they may have changed.
    offered: Option<Vec<PodTournament>>,
    troubles: Vec<String>,
    accepted: u64,
    away: Away,
}

/// Reason why it is not known what is to be played, if it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Away {
    #[default]
    No,
    /// Nothing is known.
    Unknown,
    /// The tournament can't be played just now.
    Elsewhere,
}

impl Cup {
    pub(crate) fn image(bot: usize) -> String {
        format!("registry.example.com/bots/bot-{bot}:1")
    }

    fn plan(&self) -> Plan {
        let containers = Containers::new(Reexec::this_program(["x"])).expect("containers");
        let schemes = Schemes::with(vec![image_scheme(Arc::new(containers), Unpinned::Refuse)]);
        let entries = (0..self.bots).map(|bot| {
            let image = Self::image(bot);
            let text = format!(
                "bot-{bot:03}=image:{image}@sha256:{:064x} go '$(X)'",
                bot + 1
            );
            Entry::read(&text, &schemes).expect("a bot")
        });
        let definition = Definition {
            shape: self.shape.clone(),
            deals: self.deals,
            sprt: self.sprt.then_some(Sprt {
                elo0: 0.0,
                elo1: 300.0,
                alpha: 0.05,
                beta: 0.05,
                model: arena_ladder::sprt::Model::Logistic,
            }),
            filler: "exec:filler".to_owned(),
            ..Definition::round_robin("connect_four", vec![serde_json::Value::Null])
        };
        let mut root = [7; 32];
        root[..8].copy_from_slice(&self.seed.to_le_bytes());
        Plan::new(definition, entries.collect(), Root::new(root), &schemes).expect("a plan")
    }

    /// The summary of a game: it depends on nothing else.
    fn summary(&self, game: GameKey) -> Summary {
        let mut chance = crate::chance::Chance::new(
            self.seed ^ (game.group << 8) ^ u64::from(game.seating) ^ 0x0005_eed0_9a3e_0000,
        );
        let places = match chance.below(5) {
            0 => vec![1, 1],
            1 | 2 => vec![1, 2],
            _ => vec![2, 1],
        };
        Summary {
            places,
            scores: vec![0, 0],
            reason: "made up".to_owned(),
            fouls: Vec::new(),
            plies: 0,
            thought_us: vec![0, 0],
            thinking: vec![BTreeMap::new(); 2],
            excused: vec![0; 2],
            course: 0,
            play_hash: String::new(),
        }
    }

    /// Number of matches of a round robin of these bots.
    pub(crate) const fn pairings(&self) -> usize {
        self.bots * (self.bots - 1) / 2
    }
}

impl Arena {
    /// An arena that offers so many matches at once.
    pub(crate) fn new(cup: Cup, most: usize) -> Self {
        let arena = Self {
            plan: Arc::new(cup.plan()),
            cup,
            results: MemoryResults::new(),
            dispatcher: Mutex::default(),
            most,
            known: Mutex::default(),
        };
        arena.open();
        arena
    }

    /// It is there, and goes on from its results.
    pub(crate) fn open(&self) {
        let opened = Dispatcher::open(
            self.plan.clone(),
            self.results.clone(),
            DispatchOptions::default(),
            Arc::new(Silent),
            Arc::default(),
        );
        let opened = now(opened).expect("a dispatcher");
        *self.dispatcher.lock() = Some(Arc::new(opened));
        self.known.lock().offered = None;
    }

    /// Sets whether its store answers.
    pub(crate) fn set_away(&self, away: Away) {
        self.known.lock().away = away;
    }

    /// It is gone.
    pub(crate) fn close(&self) {
        *self.dispatcher.lock() = None;
        self.known.lock().offered = None;
    }

    /// The key that the tournament has in names and labels.
    pub(crate) fn key(&self) -> String {
        arena_kubernetes::names::key(&self.plan.root.commitment(), NAME)
    }

    pub(crate) fn is_up(&self) -> bool {
        self.dispatcher().is_some()
    }

    fn dispatcher(&self) -> Option<Arc<Dispatcher<MemoryResults>>> {
        self.dispatcher.lock().clone()
    }

    pub(crate) fn lease(
        &self,
        worker: &str,
        matchup: Option<u32>,
        games: u64,
    ) -> Option<LeaseReply> {
        let request = LeaseRequest {
            worker: worker.to_owned(),
            session: None,
            can: Arc::new(Abilities::Local),
            games,
            scope: Some(Scope {
                tournament: NAME.to_owned(),
                matchup,
            }),
        };
        let dispatcher = self.dispatcher()?;
        Some(now(dispatcher.try_lease(&request, None)).expect("a lease"))
    }

    /// Renews a lease: true if it is kept, none while the arena is down.
    pub(crate) fn renew(&self, lease: LeaseId) -> Option<bool> {
        let dispatcher = self.dispatcher()?;
        Some(now(dispatcher.renew_for(None, lease)).expect("renewed"))
    }

    pub(crate) fn report(
        &self,
        lease: LeaseId,
        key: GameKey,
        worker: &str,
        defect: Defect,
    ) -> Result<&'static str, String> {
        let Some(dispatcher) = self.dispatcher() else {
            return Ok("not reported");
        };
        let mut summary = self.cup.summary(key);
        if defect == Defect::AltersResults && lease.attempt > 1 {
            summary.places.reverse();
        }
        let report = GameReport {
            lease,
            key,
            summary,
            record: None,
            logs: Vec::new(),
        };
        let taken = now(dispatcher.take(report, None, Some(worker)));
        let reply = taken.map_err(|error| error.to_string())?;
        Ok(match reply {
            ReportReply::Accepted => {
                let mut known = self.known.lock();
                known.accepted += 1;
                known.offered = None;
                "accepted"
            }
            ReportReply::Duplicate => "duplicate",
            ReportReply::Stale => "stale",
            ReportReply::Ended => "ended",
            ReportReply::NotHeld => "not held",
            ReportReply::Away => "away",
        })
    }

    pub(crate) fn give_back(&self, lease: LeaseId) {
        if let Some(dispatcher) = self.dispatcher() {
            let give_back = GiveBack {
                lease,
                unplayed: Vec::new(),
                memory: Vec::new(),
            };
            // Where it has been lost, there is nothing to give back.
            let _ = now(dispatcher.give_back_for(None, give_back));
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.dispatcher()
            .is_some_and(|dispatcher| dispatcher.is_over())
    }

    /// True if everything that can be played is a match of this bot.
    pub(crate) fn only_plays(&self, bot: usize) -> bool {
        let Some(dispatcher) = self.dispatcher() else {
            return false;
        };
        let name = format!("bot-{bot:03}");
        let open = dispatcher.open_matches(self.cup.games, usize::MAX);
        open.iter()
            .all(|open| open.bots.iter().any(|bot| bot.name == name))
    }

    pub(crate) fn progress(&self) -> String {
        let known = self.known.lock();
        let waits = known.troubles.join("; ");
        let accepted = known.accepted;
        drop(known);
        let progress = self.dispatcher().map(|dispatcher| dispatcher.progress());
        format!("{progress:?} groups, {accepted} games; waits: {waits}")
    }

    pub(crate) fn troubles(&self) -> Vec<String> {
        self.known.lock().troubles.clone()
    }

    /// Compares what has been played with what comes of an undisturbed run.
    pub(crate) fn prove(&self) -> Result<(), String> {
        let games = self.results.games();
        if games.len() as u64 != self.known.lock().accepted {
            return Err("a game was accepted and is not there, or the reverse".to_owned());
        }
        for row in &games {
            let key = GameKey {
                group: row.group,
                seating: row.seating,
            };
            if row.places != self.cup.summary(key).places {
                return Err(format!(
                    "game {}.{} came out otherwise",
                    row.group, row.seating
                ));
            }
        }
        let is_listed = self.cup.shape == ScheduleShape::RoundRobin {} && !self.cup.sprt;
        if is_listed {
            // Every group is played, and each game of it once.
            let groups = self.cup.pairings() as u64 * self.cup.deals;
            let scores = now(self.results.scores()).map_err(|error| error.to_string())?;
            return match (scores.len() as u64, games.len() as u64) {
                (found, _) if found != groups => Err(format!("{found} groups of {groups}")),
                (_, found) if found != 2 * groups => {
                    Err(format!("{found} games of {groups} groups"))
                }
                _ => Ok(()),
            };
        }
        let alone = Self::new(self.cup.clone(), 0);
        while let Some(LeaseReply::Work(lease)) = alone.lease("alone", None, self.cup.games) {
            for game in &lease.games {
                alone.report(lease.id, game.key, "alone", Defect::None)?;
            }
            alone.give_back(lease.id);
        }
        let (found, expected) = (self.table()?, alone.table()?);
        match found == expected {
            true => Ok(()),
            false => Err(format!(
                "the table is\n{found}\nand undisturbed\n{expected}"
            )),
        }
    }

    /// The final table.
    fn table(&self) -> Result<String, String> {
        let snapshot = now(Snapshot::of_plan(&self.results, &self.plan));
        let snapshot = snapshot.map_err(|error| error.to_string())?;
        let decisions = snapshot
            .tests
            .iter()
            .map(|test| test.map(|test| test.decision));
        Ok(format!(
            "{:?}\n{:?}\n{:?}",
            snapshot.standings,
            snapshot.ranking,
            decisions.collect::<Vec<_>>()
        ))
    }
}

impl TournamentSource for Arena {
    fn wanted(&self) -> Option<WantedTournaments> {
        let dispatcher = self.dispatcher()?;
        let mut known = self.known.lock();
        match known.away {
            Away::No => {}
            Away::Unknown => return None,
            Away::Elsewhere => {
                return Some(WantedTournaments {
                    tournaments: Vec::new(),
                    others: [NAME.to_owned()].into(),
                });
            }
        }
        let offered = known.offered.get_or_insert_with(|| {
            if dispatcher.is_over() {
                return Vec::new();
            }
            let open = dispatcher.open_matches(self.cup.games, self.most);
            vec![PodTournament::new(
                &self.plan.root.commitment(),
                NAME.to_owned(),
                self.cup.isolation,
                None,
                self.cup.games,
                &open,
            )]
        });
        Some(WantedTournaments {
            tournaments: offered.clone(),
            ..WantedTournaments::default()
        })
    }

    fn wait(&self, _: &str, troubles: &[String]) {
        let mut known = self.known.lock();
        known.troubles = troubles.to_vec();
    }
}

/// The result of a future that is ready at once, since nothing of it waits for anything.
fn now<T>(future: impl Future<Output = T>) -> T {
    future
        .now_or_never()
        .expect("results in memory are there at once")
}
