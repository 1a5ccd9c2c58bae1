//! The schedules that the tests play: their scores follow from a group's number, and are told in an
//! order that chance decides.

use std::collections::{BTreeMap, BTreeSet};

use arena_ladder::schedule::{
    MatchStage, Participant, Ranked, Remark, Round, Schedule, SetAside, SetAsideRule,
};
use arena_ladder::{
    Entrant, Faults, Field, Group, GroupScore, HalfPoints, Lineup, MatchId, ScheduleShape,
    Seatings, schedule,
};

/// Chance that repeats itself: SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, many: usize) -> usize {
        (self.next() % many as u64) as usize
    }
}

pub(crate) fn field(entrants: u32, seats: u8, deals: u64) -> Field {
    Field {
        entrants,
        seats,
        seatings: Seatings::Rotations,
        deals,
        sprt: None,
        set_aside: SetAsideRule::default(),
        readmitted: Default::default(),
        chance: [7; 32],
    }
}

/// A score of a group in which every game ended at random.
pub(crate) fn random_score(group: &Group, field: &Field, chance: &mut Chance) -> GroupScore {
    let seats = group.lineup.len();
    let games = field.seatings.games(seats);
    let mut score = GroupScore::new(group.number, seats);
    for _ in 0..games {
        let places = if seats == 2 {
            [vec![1, 2], vec![2, 1], vec![1, 1]][chance.below(3)].clone()
        } else {
            let mut places = vec![1, 2, 3, 4];
            for last in (1..seats).rev() {
                places.swap(last, chance.below(last + 1));
            }
            places
        };
        let scores: Vec<i32> = places.iter().map(|&place| 2 - i32::from(place)).collect();
        let order: Vec<usize> = (0..seats).collect();
        score.add_game(&group.lineup, &order, &places, &scores, &[]);
    }
    score
}

/// The same, but the lower number of two wins everything, and so on.
pub(crate) fn seeded_score(group: &Group, field: &Field) -> GroupScore {
    let seats = group.lineup.len();
    let games = field.seatings.games(seats) as u32;
    let strength = |one: &Option<Entrant>| one.map_or(usize::MAX, Entrant::index);
    let behind = |one: &Option<Entrant>| {
        let weaker = group
            .lineup
            .iter()
            .filter(|other| one.is_some() && other.is_some() && strength(other) > strength(one));
        weaker.count() as u32
    };
    GroupScore {
        number: group.number,
        games,
        points: (group
            .lineup
            .iter()
            .map(|one| HalfPoints(2 * games * behind(one))))
        .collect(),
        margins: (group.lineup.iter().map(|one| i64::from(behind(one)))).collect(),
        faults: vec![Faults::default(); seats],
    }
}

/// Makes these fail the group: they have nothing, the others share it.
pub(crate) fn failed_by(
    score: &mut GroupScore,
    lineup: &Lineup,
    failing: &[Entrant],
    starts: bool,
) {
    for (i, one) in lineup.iter().enumerate() {
        if one.is_some_and(|one| failing.contains(&one)) {
            let lost = std::mem::take(&mut score.points[i]);
            score.margins[i] = -10;
            if starts {
                score.faults[i].starts = score.games;
            } else {
                score.faults[i].fouls = score.games;
            }
            let heir = lineup
                .iter()
                .position(|one| !one.is_some_and(|one| failing.contains(&one)));
            if let Some(heir) = heir {
                score.points[heir].0 += lost.0;
            }
        }
    }
}

/// Everything that a schedule has come to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) counted: BTreeMap<u64, Group>,
    pub(crate) scores: BTreeMap<u64, GroupScore>,
    pub(crate) rounds: Vec<Round>,
    pub(crate) ranking: Option<Vec<Ranked>>,
    pub(crate) set_aside: Vec<SetAside>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) planned: Option<u64>,
}

pub(crate) fn made(field: &Field, shape: &ScheduleShape) -> Box<dyn Schedule> {
    schedule(field, shape).unwrap_or_else(|error| panic!("{field:?} {shape:?}: {error}"))
}

/// Plays a schedule to its end with at most `at_once` groups in flight; which of
/// them is over next, and whether another begins before, is by chance.
pub(crate) fn played(
    field: &Field,
    shape: &ScheduleShape,
    at_once: usize,
    order: &mut Chance,
    score: &dyn Fn(&Group) -> GroupScore,
) -> Ended {
    let mut schedule = made(field, shape);
    let mut in_flight: Vec<Group> = Vec::new();
    let mut named: BTreeMap<u64, Group> = BTreeMap::new();
    let mut scores = BTreeMap::new();
    loop {
        let begins = in_flight.len() < at_once && (in_flight.is_empty() || order.below(3) > 0);
        if begins && let Some(group) = schedule.next() {
            let before = named.insert(group.number, group.clone());
            assert_eq!(before, None, "a group is named once");
            match schedule.stage(group.matchup) {
                MatchStage::Open { lineup, groups, .. } => {
                    assert_eq!(lineup, group.lineup);
                    assert!(groups.contains(&group.number), "{group:?} in {groups:?}");
                }
                stage => panic!("{group:?} is of a match that is {stage:?}"),
            }
            in_flight.push(group);
            continue;
        }
        if in_flight.is_empty() {
            break;
        }
        let group = in_flight.swap_remove(order.below(in_flight.len()));
        let score = score(&group);
        schedule.record(&score).expect("it was named");
        if order.below(4) == 0 {
            let rounds = schedule.rounds();
            schedule.record(&score).expect("it was named");
            assert_eq!(
                schedule.rounds(),
                rounds,
                "the same score again changes nothing"
            );
        }
        scores.insert(group.number, score);
        if order.below(4) == 0 {
            check_stages(&*schedule, &scores);
        }
    }
    check_stages(&*schedule, &scores);
    assert!(
        schedule.is_over(),
        "nothing in flight, nothing to begin: {field:?} {shape:?}"
    );
    assert!(schedule.next().is_none());
    let uncounted = schedule.uncounted();
    for pair in uncounted.windows(2) {
        assert!(pair[0].end < pair[1].start, "ranges are in order and apart");
    }
    let counts = |number: &u64| !uncounted.iter().any(|range| range.contains(number));
    named.retain(|number, _| counts(number));
    scores.retain(|number, _| counts(number));
    let ended = Ended {
        counted: named,
        scores,
        rounds: schedule.rounds(),
        ranking: schedule.ranking(),
        set_aside: schedule.set_aside(),
        remarks: schedule.remarks(),
        planned: schedule.planned(),
    };
    ended.check();
    ended
}

/// The stages of matches say what their rounds say.
fn check_stages(schedule: &dyn Schedule, scores: &BTreeMap<u64, GroupScore>) {
    let rounds = schedule.rounds();
    let matches: Vec<_> = rounds.iter().flat_map(|round| &round.matches).collect();
    for one in &matches {
        let is_pending = |player: &Participant| matches!(player, Participant::Pending(_));
        match schedule.stage(one.id) {
            MatchStage::Over => assert!(one.over, "{one:?}"),
            MatchStage::Pending => {
                assert!(!one.over && one.players.iter().any(is_pending), "{one:?}");
            }
            MatchStage::Open {
                lineup,
                groups,
                left,
            } => {
                assert!(!one.over && !one.players.iter().any(is_pending), "{one:?}");
                assert_eq!(lineup.len(), one.players.len());
                assert_eq!(groups.end - groups.start, one.most);
                let scored = scores.range(groups.clone()).count() as u64;
                assert_eq!(left, groups.end - groups.start - scored, "{one:?}");
                assert!(schedule.numbers().contains(&one.id.0));
            }
        }
    }
    let numbers = schedule.numbers();
    for number in numbers.clone() {
        if let MatchStage::Open { .. } = schedule.stage(MatchId(number)) {
            assert!(matches.iter().any(|one| one.id.0 == number));
        }
    }
    assert_ne!(schedule.stage(MatchId(u32::MAX)), MatchStage::Over);
}

/// As [`played`], one group after another.
pub(crate) fn played_in_order(
    field: &Field,
    shape: &ScheduleShape,
    score: &dyn Fn(&Group) -> GroupScore,
) -> Ended {
    played(field, shape, 1, &mut Chance(0), score)
}

impl Ended {
    /// The remarks in words, with bots that are called `bot 0`, `bot 1` and so on.
    pub(crate) fn remarks_in_words(&self) -> Vec<String> {
        let names: Vec<String> = (0..100).map(|number| format!("bot {number}")).collect();
        let name = |one: Entrant| names[one.index()].as_str();
        self.remarks
            .iter()
            .map(|remark| remark.words(name))
            .collect()
    }

    /// Checks everything that must hold of a schedule that is over.
    fn check(&self) {
        assert_eq!(self.planned, Some(self.counted.len() as u64));
        let mut ids = BTreeSet::new();
        for one in self.rounds.iter().flat_map(|round| &round.matches) {
            assert!(ids.insert(one.id), "a match has one number");
            assert!(one.over, "{one:?}");
            let of_it = self
                .counted
                .values()
                .filter(|group| group.matchup == one.id);
            assert_eq!(of_it.count() as u64, one.groups, "{one:?}");
            for (i, points) in one.points.iter().enumerate() {
                let sum: HalfPoints = (self.counted.values())
                    .filter(|group| group.matchup == one.id)
                    .map(|group| self.scores[&group.number].points[i])
                    .sum();
                assert_eq!(sum, *points);
            }
        }
        for group in self.counted.values() {
            assert!(ids.contains(&group.matchup));
        }
        if let Some(ranking) = &self.ranking {
            let ranked: BTreeSet<_> = ranking.iter().map(|one| one.entrant).collect();
            assert_eq!(ranked.len(), ranking.len());
            for (i, one) in ranking.iter().enumerate() {
                assert!(one.points.is_finite() && one.ties.iter().all(|tie| tie.1.is_finite()));
                let shared = i > 0 && ranking[i - 1].place == one.place;
                assert!(shared || one.place as usize == i + 1, "{ranking:?}");
            }
        }
    }
}
