//! Content of a simulation: its tournaments and workers, requests of people, and faults. A seed
//! decides all of it.

use std::time::Duration;

use arena_simulation::FaultTable;
use arena_store::FaultMoment;

use crate::{chance::Chance, defect::Defect, tournament::SimulatedTournament};

/// When the last incident ends.
pub(crate) const FAULTS: Duration = Duration::from_secs(30);

/// All that a seed decides.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    pub(crate) tournaments: Vec<SimulatedTournament>,
    pub(crate) workers: Vec<SimulatedWorker>,
    /// Requests of people, in order of time.
    pub(crate) acts: Vec<(Duration, Act)>,
    pub(crate) faults: FaultTable,
    pub(crate) storage: StorageFaults,
    /// True if every worker needs a token.
    pub(crate) needs_tokens: bool,
    /// True if public moves are told.
    pub(crate) live: bool,
    /// True if every game is replayed before it counts; else some are.
    pub(crate) replays_all: bool,
    /// Duration of a step of the simulation. A shorter one takes longer in real time, also where
    /// nothing happens.
    pub(crate) tick: Duration,
    pub(crate) defect: Defect,
}

/// A worker's machine.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedWorker {
    pub(crate) name: String,
    pub(crate) games_at_once: usize,
    pub(crate) joins_after: Duration,
    /// Time that it works before it leaves and joins again, where it does.
    pub(crate) leaves: Option<(Duration, Leave)>,
    pub(crate) forgery: Option<Forgery>,
}

/// Way in which a worker stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// It finishes the games that it is playing.
    Finish,
    /// It cuts them off, and gives them back.
    CutOff,
}

/// Way in which a worker cheats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forgery {
    /// Its records say another result.
    Result,
    /// It plays with another seed.
    Seed,
    /// It plays nothing, and forges every field of every message.
    Everything,
}

/// A person's request. Tournaments are named by their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Pause(usize),
    Resume(usize),
    Cancel(usize),
    Revoke(String),
}

/// Faults of the store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StorageFaults {
    /// A call may take seconds.
    pub(crate) is_slow: bool,
    /// A call may fail, as on a full disk; before it was done, or after that.
    pub(crate) fails: bool,
    /// The bytes of an archive may be wrong.
    pub(crate) spoils_archives: bool,
    /// The disk is full from one time until another.
    pub(crate) full: Option<(Duration, Duration)>,
    /// One statement fails: that before which there are so many.
    pub(crate) statement: Option<(u64, FaultMoment)>,
}

impl Scenario {
    /// The one of this seed.
    pub(crate) fn of(seed: u64) -> Self {
        let chance = &mut Chance::new(seed ^ 0x5eed);
        let count = match chance.one_in(3) {
            true => 2 + chance.below(2),
            false => 1,
        };
        let tournaments: Vec<_> = (0..count)
            .map(|number| SimulatedTournament::draw(chance, number, count > 1))
            .collect();
        let needs_tokens = chance.one_in(3);
        let workers = draw_workers(chance);
        let mut acts = draw_acts(chance, tournaments.len());
        let honest = workers.iter().filter(|worker| worker.forgery.is_none());
        if needs_tokens && honest.count() > 2 {
            acts.push((chance.seconds(2, 15), Act::Revoke(workers[0].name.clone())));
        }
        acts.sort_by_key(|(when, _)| *when);
        Self {
            seed,
            tournaments,
            workers,
            acts,
            faults: FaultTable::everything(FAULTS),
            storage: StorageFaults {
                is_slow: chance.one_in(4),
                fails: chance.one_in(4),
                spoils_archives: chance.one_in(2),
                full: chance.one_in(4).then(|| {
                    let begin = chance.seconds(0, 15);
                    (begin, begin + chance.seconds(1, 14))
                }),
                statement: None,
            },
            needs_tokens,
            live: chance.one_in(3),
            replays_all: chance.one_in(2),
            tick: Duration::from_millis(if chance.one_in(8) { 5 } else { 20 }),
            defect: Defect::None,
        }
    }
}

impl Scenario {
    /// A small tournament of which nothing goes wrong but a statement of the store.
    pub(crate) fn of_statement(statement: Option<(u64, FaultMoment)>) -> Self {
        let worker = |number| SimulatedWorker {
            name: format!("worker-{number}"),
            games_at_once: 2,
            joins_after: Duration::ZERO,
            leaves: None,
            forgery: None,
        };
        Self {
            seed: 1,
            tournaments: vec![SimulatedTournament::smallest()],
            workers: (0..2).map(worker).collect(),
            acts: Vec::new(),
            faults: FaultTable::none(),
            storage: StorageFaults {
                statement,
                ..StorageFaults::default()
            },
            needs_tokens: false,
            live: false,
            replays_all: false,
            tick: Duration::from_millis(20),
            defect: Defect::None,
        }
    }
}

fn draw_workers(chance: &mut Chance) -> Vec<SimulatedWorker> {
    let honest = 2 + chance.below(3);
    let mut workers: Vec<SimulatedWorker> = (0..honest)
        .map(|number| SimulatedWorker {
            name: format!("worker-{number}"),
            games_at_once: 1 + chance.below(3) as usize,
            joins_after: Duration::from_millis(chance.below(3) * chance.below(8000)),
            leaves: chance.one_in(3).then(|| {
                let leave = match chance.one_in(2) {
                    true => Leave::Finish,
                    false => Leave::CutOff,
                };
                (chance.seconds(2, 22), leave)
            }),
            forgery: None,
        })
        .collect();
    if chance.one_in(3) {
        workers.push(SimulatedWorker {
            name: format!("forger-{honest}"),
            games_at_once: 1,
            joins_after: Duration::from_millis(chance.below(5000)),
            leaves: None,
            forgery: Some(match chance.below(3) {
                0 => Forgery::Result,
                1 => Forgery::Seed,
                _ => Forgery::Everything,
            }),
        });
    }
    workers
}

/// Requests of people to tournaments: the last of several is often paused or cancelled, and one
/// alone now and then.
fn draw_acts(chance: &mut Chance, tournaments: usize) -> Vec<(Duration, Act)> {
    let which = tournaments - 1;
    let most = if tournaments > 1 { 3 } else { 12 };
    match chance.below(most) {
        0 => {
            let pause = chance.seconds(1, 12);
            let resume = match chance.one_in(2) {
                true => pause + chance.seconds(0, 10),
                // Long after everything has recovered, so that it must have been stopped.
                false => FAULTS + Duration::from_secs(15),
            };
            vec![(pause, Act::Pause(which)), (resume, Act::Resume(which))]
        }
        1 => vec![(chance.seconds(2, 20), Act::Cancel(which))],
        _ => Vec::new(),
    }
}
