//! Sums that are kept and summed on are those over all results: stored games of every shape, in any order.

use std::collections::BTreeSet;

use arena_ladder::{Entrant, Group, ScheduleShape, SetAsideRule, Sprt};
use arena_store::{
    ChunkKey, Counter, FinishedGame, GameEnding, GameRow, NewEntrant, NewTournament, Store,
    TournamentId, pack_for_store,
};
use proptest::prelude::*;
use referee_core::{Foul, Seat, SeatFoul};

use super::*;
use crate::{Snapshot, StoredResults};

fn course(course: u64) -> Course {
    Course {
        course,
        has_moves: course > 0,
    }
}

fn distinct(totals: DistinctGames) -> [u64; 3] {
    [totals.of_all, totals.with_moves, totals.of_those_with_moves]
}

#[test]
fn a_game_that_went_the_same_way_is_counted_once_wherever_it_is_kept() {
    let mut sums = DistinctGames::default();
    let mut courses = Courses::default();
    let mut kept: Vec<Vec<u64>> = Vec::new();
    let mut seen = HashSet::new();
    let mut written = 0;
    for step in 0..500_u64 {
        for at in 0..20 {
            // Two in three are new.
            let number = (step * 20 + at) * 2 / 3;
            let is_new = courses.add(number);
            assert_eq!(is_new, seen.insert(number), "{number}");
            sums.add(course(number), is_new);
        }
        if step % 3 == 0 {
            let same = courses.seal();
            kept.truncate(same);
            kept.extend_from_slice(&courses.parts[same..]);
            written += courses.parts[same..].iter().map(Vec::len).sum::<usize>();
            assert!(kept.is_sorted_by(|one, next| one.len() >= 2 * next.len()));
            assert!(kept.iter().all(|part| part.is_sorted()));
            courses = Courses::kept(kept.clone());
        }
    }
    let different = seen.len() as u64;
    assert_eq!(distinct(sums), [different, 10_000 - 2, different - 1]);
    // Each was written about as often as the number of parts doubles.
    assert!(written < 10 * seen.len(), "{written}");
    // Nothing new changes nothing.
    let parts = courses.parts.len();
    assert_eq!(Courses::kept(courses.parts).seal(), parts);
}

#[test]
fn parts_grow_with_the_numbers_of_groups() {
    let count = |first: u8| {
        let lineup = [0, 1].map(|number| Some(Entrant::new(number)));
        GroupCount::new(lineup.to_vec(), vec![vec![first, 3 - first]], &[1, -1], 1)
    };
    let mut parts = PartCounts::default();
    for number in (0..1000).rev() {
        parts.add(number, count(1 + (number % 2) as u8));
    }
    assert_eq!((parts.length.get(), parts.parts.len()), (32, 32));
    let groups = |counts: &GroupCounts| counts.iter().map(|count| count.groups).sum::<u64>();
    assert!(parts.iter().take(31).all(|part| groups(part) == 32));
    assert_eq!(parts.iter().last().map(groups), Some(1000 - 31 * 32));
    let all = parts.all();
    assert_eq!(
        all.iter().map(|count| count.groups).collect::<Vec<_>>(),
        [500, 500]
    );
    let text = serde_json::to_string(&parts).unwrap();
    assert_eq!(serde_json::from_str::<PartCounts>(&text).unwrap(), parts);
}

/// A small generator: what comes depends on the seed alone.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

/// A tournament whose games are played by reporting them in any order.
struct Played {
    store: Store,
    id: TournamentId,
    definition: Definition,
    names: Vec<String>,
    root: Root,
    games: Vec<GameRow>,
}

impl Played {
    async fn new(definition: Definition, entrants: usize) -> Self {
        let names: Vec<String> = (0..entrants)
            .map(|number| format!("bot-{number}"))
            .collect();
        let entrants = names.iter().map(|name| NewEntrant {
            name: name.clone(),
            version: "1".to_owned(),
            spec: "exec:bot".to_owned(),
            owner: None,
            identity: None,
        });
        let root = Root::new([7; 32]);
        let new = NewTournament {
            name: "t".to_owned(),
            game: definition.game.clone(),
            rules_version: definition.kind().unwrap().info().rules_version,
            definition: serde_json::to_value(&definition).unwrap(),
            root: Root::new([7; 32]),
            reproduction: false,
            entrants: entrants.collect(),
            created_unix_ms: 0,
        };
        let store = Store::open_in_memory().await.unwrap();
        Self {
            id: store.create(&new).await.unwrap().id,
            store,
            definition,
            names,
            root,
            games: Vec::new(),
        }
    }

    fn results(&self) -> StoredResults {
        StoredResults::of(&self.store, self.id)
    }

    /// Reports a game with a random result. The higher its number the more often an entrant fails.
    async fn report(&mut self, group: &Group, seating: usize, chance: &mut Chance) {
        let seats = group.lineup.len();
        let orders = self.definition.seatings.of(seats, group.turn);
        let places: Vec<u8> = (0..seats).map(|_| 1 + chance.below(seats) as u8).collect();
        let failing = (0..seats).find(|seat| {
            let who = group.lineup[orders[seating][*seat]];
            who.is_some_and(|who| chance.below(20) < who.index())
        });
        let fouls = failing.map(|seat| SeatFoul {
            seat: Seat::new(seat as u8),
            foul: Foul::NoStart {
                detail: String::new(),
            },
        });
        let has_moves = chance.below(8) > 0;
        let row = GameRow {
            group: group.number,
            seating: seating as u32,
            games_in_group: orders.len() as u32,
            matchup: group.matchup,
            lineup: group.lineup.clone(),
            order: orders[seating].clone(),
            scores: places.iter().map(|place| 10 * i32::from(*place)).collect(),
            places,
            reason: String::new(),
            fouls: fouls.into_iter().collect(),
            plies: u32::from(has_moves),
            thought_us: vec![0; seats],
            course: match has_moves {
                true => 10 + chance.below(60) as u64,
                false => chance.below(3) as u64,
            },
            play_hash: "0".repeat(64),
            finished_unix_ms: 0,
            worker: None,
            counters: vec![(None, Counter::Ended(GameEnding::Rules), 1)],
        };
        let game = FinishedGame {
            row: row.clone(),
            chunk: ChunkKey {
                matchup: group.matchup,
                first_group: group.number,
                groups: 1,
                seating: None,
            },
            attempt: 0,
            record: pack_for_store("a record\n"),
            withhold: self.definition.kind().unwrap().has_secrets(),
            logs: Vec::new(),
        };
        self.store.report(self.id, vec![game]).await.unwrap();
        self.games.push(row);
    }

    /// What is summed on is what is summed anew, and what can be counted by hand.
    async fn check(&self, complete: &BTreeSet<u64>) {
        let (results, entrants) = (self.results(), self.names.len());
        let root = Some(&self.root);
        let right = Totals::are_right(&results, &self.definition, entrants, root);
        assert!(right.await.unwrap());
        let snapshot = Snapshot::of(&results, &self.definition, self.names.clone(), root);
        let snapshot = snapshot.await.unwrap();
        let has_secrets = snapshot.kind.has_secrets();
        let is_told = |game: &&GameRow| !has_secrets || complete.contains(&game.group);
        let told = || self.games.iter().filter(is_told);
        let courses: BTreeSet<u64> = told().map(|game| game.course).collect();
        let count = &snapshot.count;
        assert_eq!(count.distinct_games, courses.len() as u64);
        assert_eq!(count.stored_games, self.games.len() as u64);
        let half = (self.games.iter()).filter(|game| !complete.contains(&game.group));
        assert_eq!(count.half_games, half.count() as u64);
        assert_eq!(count.groups + count.excluded_groups, complete.len() as u64);
        let schedule = snapshot.schedule.as_ref().unwrap();
        let annulled = snapshot.set_aside.iter().filter(|aside| aside.annulled);
        let annulled: Vec<Entrant> = annulled.map(|aside| aside.entrant).collect();
        let counted = self.counted(&schedule.uncounted()).await;
        let seats = snapshot.kind.info().seats;
        let standings = arena_ladder::Standings::of(seats, entrants as u32, &counted, &annulled);
        assert_eq!(standings.pairs, snapshot.standings.pairs);
        let margins = |standings: &arena_ladder::Standings| {
            let mut rows = standings.rows.clone();
            rows.sort_by_key(|row| row.entrant);
            let row = rows
                .iter()
                .map(|row| (row.games, row.points, row.places.clone(), row.rating));
            row.collect::<Vec<_>>()
        };
        assert_eq!(margins(&standings), margins(&snapshot.standings));
        let history = snapshot.rating_history();
        assert_eq!(
            history.last().map_or(0, |last| last.groups),
            standings.groups
        );
    }

    /// The groups that count, each by itself.
    async fn counted(&self, uncounted: &[Range<u64>]) -> Vec<GroupCount> {
        let groups = self
            .store
            .complete_groups(self.id, None, 1_000_000)
            .await
            .unwrap();
        let counts: GroupCounts = (groups.iter())
            .filter(|group| {
                let number = group.mark.group;
                !uncounted.iter().any(|range| range.contains(&number))
            })
            .map(CompleteGroup::count)
            .collect();
        counts.iter().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sums_that_are_kept_and_summed_on_are_those_of_all_results(
        entrants in 2_u32..6,
        deals in 1_u64..6,
        game in 0..3_usize,
        seed: u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let game = ["connect_four", "mahjong", "big_two"][game];
        let sprt = Sprt {
            elo0: 0.0,
            elo1: 200.0,
            alpha: 0.2,
            beta: 0.2,
            model: Default::default(),
        };
        for (shape, sprt) in [
            (ScheduleShape::RoundRobin {}, None),
            (ScheduleShape::RoundRobin {}, Some(sprt)),
            (ScheduleShape::Gauntlet { challengers: 1 }, None),
            (ScheduleShape::Swiss { rounds: None }, None),
            (ScheduleShape::DoubleElimination {}, None),
            (ScheduleShape::Ladder { rounds: Some(4) }, None),
        ] {
            if sprt.is_some() && game == "big_two" {
                continue;
            }
            let definition = Definition {
                shape,
                deals: if sprt.is_some() { 8 * deals } else { deals },
                sprt,
                patience: SetAsideRule { starts: 2, fouls: 3 },
                ..Definition::round_robin(game, vec![serde_json::Value::Null])
            };
            drop(runtime.block_on(play(definition, entrants as usize, &mut Chance(seed))));
        }
    }
}

async fn play(definition: Definition, entrants: usize, chance: &mut Chance) -> Played {
    let mut played = Played::new(definition, entrants).await;
    let mut schedule = (played.definition)
        .schedule(entrants, crate::chance(&played.root))
        .unwrap();
    let mut in_flight: Vec<(Group, Vec<usize>)> = Vec::new();
    let mut complete = BTreeSet::new();
    loop {
        while in_flight.len() < 6
            && let Some(group) = schedule.next()
        {
            let games = played.definition.seatings.games(group.lineup.len());
            in_flight.push((group, (0..games).collect()));
        }
        if in_flight.is_empty() || schedule.is_over() && chance.below(4) == 0 {
            break;
        }
        let at = chance.below(in_flight.len());
        let (group, left) = &mut in_flight[at];
        let seating = left.swap_remove(chance.below(left.len()));
        played.report(group, seating, chance).await;
        if left.is_empty() {
            let (group, _) = in_flight.swap_remove(at);
            complete.insert(group.number);
            let score = played.results().score(group.number).await.unwrap().unwrap();
            schedule.record(&score.score).unwrap();
        }
        if chance.below(12) == 0 {
            played.check(&complete).await;
        }
    }
    played.check(&complete).await;
    played
}

#[tokio::test]
async fn wrong_sums_are_found_and_those_that_can_not_be_used_are_made_anew() {
    let definition = Definition {
        deals: 20,
        patience: SetAsideRule {
            starts: 1000,
            fouls: 1000,
        },
        ..Definition::round_robin("connect_four", vec![serde_json::Value::Null])
    };
    let played = play(definition, 2, &mut Chance(3)).await;
    let results = played.results();
    let totals = async || {
        let root = Some(&played.root);
        Totals::of(&results, &played.definition, 2, root)
            .await
            .unwrap()
    };
    let right = async || {
        let root = Some(&played.root);
        let right = Totals::are_right(&results, &played.definition, 2, root);
        right.await.unwrap()
    };
    let kept = results.kept_totals().await.unwrap().unwrap();
    let mut courses = results.kept_courses(kept.revision).await.unwrap().unwrap();
    assert_eq!(totals().await.revision, Some(kept.revision));
    let keep = async |state: &str, parts: &[Vec<u64>]| {
        let new = NewTotals {
            replaces: None,
            made_by: &kept.made_by,
            state,
            same_parts: 0,
            parts,
        };
        assert!(results.keep_totals(new).await.unwrap());
    };
    let groups = serde_json::from_str::<TotalsState>(&kept.state)
        .unwrap()
        .groups;
    let wrong = kept.state.replace(
        &format!("\"groups\":{groups},\"parts"),
        "\"groups\":7,\"parts",
    );
    assert_ne!(wrong, kept.state);
    keep(&wrong, &courses).await;
    assert!(!right().await);
    // Of another version, or no JSON at all.
    for state in ["{\"schedule\":null}", "?"] {
        keep(state, &courses).await;
        assert!(right().await);
    }
    // A course is missing, and more games follow.
    let known: BTreeSet<u64> = courses.iter().flatten().copied().collect();
    let lost = courses[0].pop();
    keep(&kept.state, &courses).await;
    let state: TotalsState = serde_json::from_str(&kept.state).unwrap();
    assert!(lost.is_some() && state.distinct.of_all == known.len() as u64);
    let mut summed = totals().await;
    assert_eq!(summed.revision, None);
    assert_eq!(summed.distinct(&results, &[]).await.unwrap(), {
        let mut anew = Totals::new(&played.definition, 2, Some(&played.root)).unwrap();
        anew.sum(&results).await.unwrap();
        anew.distinct
    });
    assert!(right().await);
}
