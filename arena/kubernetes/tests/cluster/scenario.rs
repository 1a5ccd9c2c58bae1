//! The scenario that a seed decides: what is played, in which cluster, and what goes wrong when.

use arena_kubernetes::Settings;
use arena_ladder::ScheduleShape;
use arena_tournament::Isolation;

use crate::{
    api::ApiRates,
    arena::Cup,
    chance::Chance,
    objects::Moment,
    world::{Defect, Quota, Rates, Shape},
};

/// Something that happens to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Incident {
    DeleteJob { foreground: bool },
    DeletePod,
    DeletePodAtOnce,
    Preempt,
    RestartBot,
    LoseNode { back_after: Moment },
    ExpireWatches,
    BreakWatches,
    StallWatches { stalled: Moment },
    ApiDown { down: Moment },
    RestartArena { down: Moment },
    RestartController,
    Quota { pods: usize, lasts: Moment },
    StoreAway { elsewhere: bool, lasts: Moment },
}

/// A bot whose image can't be pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadImage {
    /// From when until when.
    Between(Moment, Moment),
    /// Until everything that the bot does not play is played.
    UntilOthersAreDone,
}

/// The scenario that a seed decides.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    pub(crate) cup: Cup,
    pub(crate) settings: Settings,
    pub(crate) shape: Shape,
    pub(crate) api: ApiRates,
    pub(crate) incidents: Vec<(Moment, Incident)>,
    pub(crate) bad: Option<(usize, BadImage)>,
    /// A match whose pods are refused for good until it is calm.
    pub(crate) refused: Option<u32>,
    /// The time from which nothing goes wrong any more.
    pub(crate) calm: Moment,
    /// Time between two steps of the cluster.
    pub(crate) tick: Moment,
    /// Most matches that the arena offers at once.
    pub(crate) most: usize,
}

impl Scenario {
    /// A small tournament.
    pub(crate) fn small(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let calm = chance.between(60, 180) * 1000;
        let isolation = match chance.below(2) {
            0 => Isolation::Shared,
            _ => Isolation::Pod,
        };
        let bots = match chance.below(10) {
            0 => chance.between(7, 12),
            _ => chance.between(4, 6),
        } as usize;
        let (shape, sprt) = match chance.below(8) {
            0 => (ScheduleShape::Swiss { rounds: Some(2) }, false),
            1 => (
                ScheduleShape::SingleElimination { third_place: true },
                false,
            ),
            2 => (ScheduleShape::RoundRobin {}, true),
            _ => (ScheduleShape::RoundRobin {}, false),
        };
        let is_listed = shape == ScheduleShape::RoundRobin {};
        let games = *chance.pick(&[1, 2, 4]).unwrap_or(&2);
        let settings = Settings {
            max_jobs: chance.between(2, 10) as usize,
            pods_per_job: chance.between(1, 4) as u32,
            queue: chance.permille(200).then(|| "games".to_owned()),
            ..Settings::default()
        };
        let nodes = chance.between(2, 4);
        let room = match isolation {
            Isolation::Pod => chance.between(9, 24),
            _ => chance.between(3, 10),
        };
        // Where referees fill the nodes there is no room for their bots; see `with_little_room`.
        let referees = settings.max_jobs as u64 * u64::from(settings.pods_per_job);
        let room = match isolation {
            Isolation::Pod => room.max((referees + 6).div_ceil(nodes)),
            _ => room,
        };
        let cup = Cup {
            seed,
            bots,
            deals: chance.between(2, 4),
            games,
            shape,
            sprt,
            isolation,
        };
        let rate = |chance: &mut Chance, most: u64| match chance.below(2) {
            0 => 0,
            _ => chance.below(most + 1),
        };
        let shape = Shape {
            nodes: (0..nodes).map(|_| room as u32).collect(),
            quota: None,
            most_cpu: None,
            hides_limits: false,
            autoscaler: None,
            slowest_start: chance.between(500, 6000),
            play: (500, chance.between(1000, 20_000)),
            rates: Rates {
                crash: rate(&mut chance, 150),
                refused: rate(&mut chance, 20),
                tempfail: rate(&mut chance, 100),
                late: rate(&mut chance, 60),
                long: rate(&mut chance, 60),
                oom: rate(&mut chance, 60),
            },
            refused: None,
            page: *chance.pick(&[20, 500, 500]).unwrap_or(&500),
            defect: Defect::None,
        };
        let api = ApiRates {
            too_many: rate(&mut chance, 100),
            server_error: rate(&mut chance, 100),
            conflict: rate(&mut chance, 50),
            answer_lost: rate(&mut chance, 100),
            request_lost: rate(&mut chance, 50),
            slow: rate(&mut chance, 100),
        };
        let number = chance.between(2, 14);
        let incidents = incidents(&mut chance, calm, number);
        let bad = match chance.below(4) {
            0 if is_listed => Some(BadImage::UntilOthersAreDone),
            1 => {
                let from = chance.below(calm / 2);
                Some(BadImage::Between(from, from + chance.between(5000, 60_000)))
            }
            _ => None,
        };
        let refused = (is_listed && chance.permille(200)).then(|| chance.below(6) as u32);
        let bad = bad.map(|bad| (chance.below(bots as u64) as usize, bad));
        Self {
            seed,
            cup,
            settings,
            shape,
            api,
            incidents,
            bad,
            calm,
            refused,
            tick: *chance.pick(&[500, 1000, 1000, 1000]).unwrap_or(&1000),
            most: usize::MAX,
        }
    }

    /// Bots in pods of their own, in a cluster with room for everything where nothing goes wrong.
    pub(crate) fn undisturbed(seed: u64) -> Self {
        let mut scenario = Self::small(seed);
        scenario.cup.isolation = Isolation::Pod;
        scenario.settings.max_jobs = 6;
        scenario.settings.pods_per_job = 4;
        scenario.settings.queue = None;
        scenario.shape.nodes = vec![60; 4];
        scenario.shape.rates = Rates::default();
        scenario.api = ApiRates::default();
        scenario.incidents.clear();
        scenario.bad = None;
        scenario.refused = None;
        scenario
    }

    /// Fewer places for pods than there are referees that want to play at once.
    pub(crate) fn with_little_room(seed: u64) -> Self {
        let mut scenario = Self::undisturbed(seed);
        scenario.settings.max_jobs = 10;
        scenario.shape.nodes = vec![3; 4];
        scenario
    }

    /// A quota that six referees almost fill.
    pub(crate) fn with_a_quota(seed: u64) -> Self {
        let mut scenario = Self::undisturbed(seed);
        scenario.shape.quota = Some(match seed % 2 {
            0 => Quota::of_pods(8),
            _ => Quota {
                // A game of two bots and their gates needs 3.5 cores.
                cpu: 8000,
                ..Quota::of_pods(100)
            },
        });
        scenario
    }

    /// 200 bots, and with them 19,900 pairings.
    pub(crate) fn large(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0x001a_46e0);
        let calm = 1200 * 1000;
        let cup = Cup {
            seed,
            bots: 200,
            deals: 1,
            games: 2,
            shape: ScheduleShape::RoundRobin {},
            sprt: false,
            isolation: Isolation::Shared,
        };
        let shape = Shape {
            nodes: vec![12; 6],
            quota: None,
            most_cpu: None,
            hides_limits: false,
            autoscaler: None,
            slowest_start: 2000,
            play: (500, 3000),
            rates: Rates {
                crash: 10,
                refused: 2,
                tempfail: 10,
                late: 2,
                long: 2,
                oom: 5,
            },
            refused: None,
            page: 500,
            defect: Defect::None,
        };
        let api = ApiRates {
            too_many: 10,
            server_error: 10,
            conflict: 5,
            answer_lost: 10,
            request_lost: 5,
            slow: 10,
        };
        let incidents = incidents(&mut chance, calm, 120);
        let bot = chance.below(200) as usize;
        Self {
            seed,
            cup,
            settings: Settings::default(),
            shape,
            api,
            incidents,
            bad: Some((bot, BadImage::Between(0, 600_000))),
            calm,
            refused: Some(7),
            tick: 1000,
            most: 500,
        }
    }
}

/// So many incidents before it is calm.
fn incidents(chance: &mut Chance, calm: Moment, number: u64) -> Vec<(Moment, Incident)> {
    let mut incidents: Vec<(Moment, Incident)> = (0..number)
        .map(|_| {
            let at = chance.below(calm * 9 / 10);
            let lasts = chance.between(1000, 40_000);
            let incident = match chance.below(16) {
                0 => Incident::DeleteJob { foreground: false },
                1 => Incident::DeleteJob { foreground: true },
                2 | 3 => Incident::DeletePod,
                4 | 5 => Incident::DeletePodAtOnce,
                6 => Incident::Preempt,
                7 => Incident::RestartBot,
                8 => Incident::LoseNode { back_after: lasts },
                9 => Incident::ExpireWatches,
                10 => Incident::BreakWatches,
                11 => Incident::StallWatches { stalled: lasts / 2 },
                12 => match chance.below(2) {
                    0 => Incident::RestartController,
                    _ => Incident::RestartArena { down: lasts / 2 },
                },
                13 => Incident::ApiDown { down: lasts / 3 },
                14 => Incident::StoreAway {
                    elsewhere: chance.permille(500),
                    lasts: lasts / 2,
                },
                _ => Incident::Quota {
                    pods: chance.between(0, 12) as usize,
                    lasts,
                },
            };
            (at, incident)
        })
        .collect();
    incidents.sort_by_key(|(at, _)| *at);
    incidents
}
