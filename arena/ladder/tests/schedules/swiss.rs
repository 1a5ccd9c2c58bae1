//! Swiss, its pairings against all that there are.

use std::collections::{BTreeMap, BTreeSet};

use arena_ladder::schedule::{Match, Participant, Round, TieBreak};
use arena_ladder::{
    Entrant, Field, Group, GroupScore, HalfPoints, ScheduleError, ScheduleShape, schedule,
};

use crate::vocabulary::{
    Chance, Ended, failed_by, field, made, played_in_order, random_score, seeded_score,
};

fn swiss(rounds: u32) -> ScheduleShape {
    ScheduleShape::Swiss {
        rounds: Some(rounds),
    }
}

fn entrants(one: &Match) -> Vec<Entrant> {
    let entrant = |player: &Participant| match player {
        Participant::Entrant(entrant) => Some(*entrant),
        _ => None,
    };
    one.players.iter().filter_map(entrant).collect()
}

/// The sums over the rounds so far, counted anew from what a reader sees.
#[derive(Default)]
struct Told {
    points: BTreeMap<Entrant, u64>,
    byes: BTreeMap<Entrant, u64>,
    met: BTreeMap<(Entrant, Entrant), u64>,
}

impl Told {
    fn tell(&mut self, round: &Round) {
        for one in &round.matches {
            let players = entrants(one);
            for (i, &a) in players.iter().enumerate() {
                let had = match one.points[i].cmp(&one.points[1 - i]) {
                    _ if players.len() == 1 => 2,
                    std::cmp::Ordering::Greater => 2,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Less => 0,
                };
                *self.points.entry(a).or_default() += had;
            }
            match players[..] {
                [a] => *self.byes.entry(a).or_default() += 1,
                [a, b] => *self.met.entry((a.min(b), a.max(b))).or_default() += 1,
                _ => panic!("a match of two: {one:?}"),
            }
        }
    }

    /// The cost of a pairing by the rules of the page: second byes, rematches, the place of the bye
    /// from the last, squares of differences, distance from the fold.
    fn cost(&self, pairs: &[(Entrant, Option<Entrant>)]) -> [u64; 5] {
        let points = |one: &Entrant| self.points.get(one).copied().unwrap_or(0);
        let mut order: Vec<Entrant> = pairs
            .iter()
            .flat_map(|(a, b)| [Some(*a), *b])
            .flatten()
            .collect();
        order.sort_by_key(|one| (std::cmp::Reverse(points(one)), *one));
        let at = |one: &Entrant| order.iter().position(|other| other == one).unwrap_or(0) as u64;
        let mut cost = [0; 5];
        for (a, b) in pairs {
            let Some(b) = b else {
                cost[0] += self.byes.get(a).copied().unwrap_or(0).pow(2);
                cost[2] += order.len() as u64 - 1 - at(a);
                continue;
            };
            let met = self.met.get(&(*a.min(b), *a.max(b))).copied().unwrap_or(0);
            cost[1] += met.pow(2);
            cost[3] += points(a).abs_diff(points(b)).pow(2);
            let half = if points(a) == points(b) {
                order.iter().filter(|one| points(one) == points(a)).count() as u64 / 2
            } else {
                0
            };
            cost[4] += at(a).abs_diff(at(b)).abs_diff(half);
        }
        cost
    }
}

/// Every pairing, where the number is odd with every bye.
fn pairings(left: &[Entrant]) -> Vec<Vec<(Entrant, Option<Entrant>)>> {
    let Some((&first, rest)) = left.split_first() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for at in 0..rest.len() {
        let mut others = rest.to_vec();
        let second = others.remove(at);
        for mut pairing in pairings(&others) {
            pairing.push((first, Some(second)));
            all.push(pairing);
        }
    }
    if left.len() % 2 == 1 {
        for mut pairing in pairings(rest) {
            pairing.push((first, None));
            all.push(pairing);
        }
    }
    all
}

#[test]
fn no_other_pairing_of_a_round_is_better() {
    for seed in 0..40 {
        for entrants_here in 2..=9 {
            let rounds = entrants_here - 1 + entrants_here % 2;
            let field = field(entrants_here, 2, 1 + seed % 3);
            let ended = played_in_order(&field, &swiss(rounds), &|group| {
                random_score(group, &field, &mut Chance(seed * 1000 + group.number))
            });
            let everybody: Vec<_> = Entrant::all(entrants_here).collect();
            let all = pairings(&everybody);
            let mut told = Told::default();
            let mut rematches = 0;
            for round in &ended.rounds {
                let pairs: Vec<_> = (round.matches.iter().map(entrants))
                    .map(|players| (players[0], players.get(1).copied()))
                    .collect();
                let cost = told.cost(&pairs);
                let best = all.iter().map(|pairing| told.cost(pairing)).min();
                assert_eq!(Some(cost), best, "{entrants_here} {}", round.name);
                rematches += pairs
                    .iter()
                    .filter(|(a, b)| {
                        b.is_some_and(|b| told.met.contains_key(&(*a.min(&b), *a.max(&b))))
                    })
                    .count();
                told.tell(round);
            }
            assert_eq!(ended.remarks.len(), rematches, "{:?}", ended.remarks);
            assert!(told.byes.values().all(|&byes| byes == 1), "nobody has two");
            check_ranking(&ended, &told, &field);
        }
    }
}

/// Points, Buchholz and Sonneborn-Berger, counted anew from the rounds.
fn check_ranking(ended: &Ended, told: &Told, field: &Field) {
    let ranking = ended.ranking.as_ref().expect("a swiss ranks");
    assert_eq!(ranking.len(), field.entrants as usize);
    let points = |one: Entrant| told.points.get(&one).copied().unwrap_or(0) as f64 / 2.0;
    let mut keys = Vec::new();
    for ranked in ranking {
        let me = ranked.entrant;
        let (mut buchholz, mut berger, mut games) = (0.0, 0.0, HalfPoints(0));
        for one in ended.rounds.iter().flat_map(|round| &round.matches) {
            let players = entrants(one);
            let Some(at) = players.iter().position(|&other| other == me) else {
                continue;
            };
            let Some(&other) = players.get(1 - at) else {
                buchholz += points(me);
                berger += points(me);
                games.0 += 4 * field.deals as u32;
                continue;
            };
            let (mine, theirs) = (one.points[at], one.points[1 - at]);
            buchholz += points(other);
            berger += points(other)
                * match mine.cmp(&theirs) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
            games.0 += mine.0;
        }
        assert_eq!(ranked.points, points(me));
        let ties = vec![
            (TieBreak::Buchholz, buchholz),
            (TieBreak::SonnebornBerger, berger),
            (TieBreak::GamePoints, games.points()),
        ];
        assert_eq!(ranked.ties, ties);
        keys.push((
            ranked.points,
            buchholz,
            berger,
            games.points(),
            -(me.index() as f64),
        ));
    }
    assert!(keys.windows(2).all(|pair| pair[0] > pair[1]), "{keys:?}");
}

#[test]
fn a_swiss_has_exactly_its_groups() {
    for entrants in 2..=12_u32 {
        for (seats, tables) in [(2, entrants / 2), (4, entrants.div_ceil(4))] {
            for rounds in 1..entrants {
                let field = field(entrants, seats, 3);
                let fresh = made(&field, &swiss(rounds));
                assert_eq!(fresh.planned(), Some(u64::from(rounds * tables * 3)));
                let ended =
                    played_in_order(&field, &swiss(rounds), &|group| seeded_score(group, &field));
                assert_eq!(ended.counted.len() as u32, rounds * tables * 3);
                let before = fresh.rounds();
                assert_eq!(before.len(), ended.rounds.len());
                for (before, after) in before.iter().zip(&ended.rounds) {
                    assert_eq!(
                        (&before.name, before.matches.len()),
                        (&after.name, after.matches.len())
                    );
                    for (before, after) in before.matches.iter().zip(&after.matches) {
                        assert_eq!((before.id, before.most), (after.id, after.most));
                        let fillers = |one: &Match| {
                            let players = one.players.iter();
                            players.filter(|&one| *one == Participant::Filler).count()
                        };
                        assert_eq!(fillers(before), fillers(after));
                    }
                }
                assert_eq!(
                    before[0].matches[0].players,
                    ended.rounds[0].matches[0].players
                );
            }
        }
    }
}

#[test]
fn the_rounds_of_a_swiss_find_one_winner() {
    for (entrants, seats, rounds) in [
        (2, 2, 1),
        (3, 2, 2),
        (8, 2, 3),
        (9, 2, 4),
        (2, 4, 1),
        (4, 4, 1),
        (5, 4, 2),
        (64, 4, 3),
    ] {
        let fresh = made(
            &field(entrants, seats, 1),
            &ScheduleShape::Swiss { rounds: None },
        );
        assert_eq!(fresh.rounds().len(), rounds, "{entrants} of {seats}");
    }
    let field = field(16, 2, 1);
    let shape = ScheduleShape::Swiss { rounds: None };
    let ended = played_in_order(&field, &shape, &|group| seeded_score(group, &field));
    let ranking = ended.ranking.unwrap();
    assert_eq!((ranking[0].entrant.index(), ranking[0].points), (0, 4.0));
    assert!(ranking[1].points < 4.0);
}

#[test]
fn two_hundred_are_paired_for_as_long_as_there_are_opponents_left() {
    let field = field(31, 2, 1);
    let ended = played_in_order(&field, &swiss(31), &|group| {
        random_score(group, &field, &mut Chance(group.number))
    });
    assert_eq!(ended.rounds.len(), 31);
    let field = crate::vocabulary::field(200, 2, 1);
    let shape = swiss(12);
    let ended = played_in_order(&field, &shape, &|group| {
        random_score(group, &field, &mut Chance(group.number))
    });
    assert_eq!(ended.counted.len(), 1200);
    assert!(
        ended.remarks.is_empty(),
        "nobody meets again: {:?}",
        ended.remarks
    );
}

#[test]
fn at_tables_of_four_everybody_sits_once_a_round_and_meets_many() {
    for entrants_here in 2..=40 {
        let field = field(entrants_here, 4, 1);
        let ended = played_in_order(&field, &swiss(4), &|group| {
            random_score(group, &field, &mut Chance(group.number))
        });
        let mut met: BTreeMap<(Entrant, Entrant), u32> = BTreeMap::new();
        for round in &ended.rounds {
            let mut seated = BTreeSet::new();
            let fillers = round.matches.iter().flat_map(|one| &one.players);
            let fillers = fillers
                .filter(|player| **player == Participant::Filler)
                .count();
            assert!(fillers <= 3);
            for one in &round.matches {
                let here = entrants(one);
                assert!(here.len() > 1, "nobody sits alone: {one:?}");
                for (i, &a) in here.iter().enumerate() {
                    assert!(seated.insert(a));
                    for &b in &here[i + 1..] {
                        *met.entry((a.min(b), a.max(b))).or_default() += 1;
                    }
                }
            }
            assert_eq!(seated.len() as u32, entrants_here);
        }
        if entrants_here >= 28 {
            let again = met.values().filter(|&&times| times > 1).count();
            assert!(
                again * 20 <= met.len(),
                "{again} of {} meet again",
                met.len()
            );
        }
        let ranking = ended.ranking.unwrap();
        let sum: f64 = ranking.iter().map(|one| one.points).sum();
        let taken: f64 = (ended.scores.iter())
            .flat_map(|(number, score)| score.points.iter().zip(&ended.counted[number].lineup))
            .filter(|(_, one)| one.is_some())
            .map(|(points, _)| points.points())
            .sum();
        if entrants_here % 4 == 0 {
            assert_eq!(sum, taken, "points are game points");
        }
        // Each game brings everybody a half of three points on average.
        assert_eq!(sum, f64::from(entrants_here) * 4.0 * 4.0 * 1.5);
    }
}

#[test]
fn equals_have_as_much_at_tables_with_house_bots_as_at_others() {
    // Whoever sits with house bots would win, if beating them were worth anything.
    let field = field(5, 4, 1);
    let (mut few, mut most) = (0, 0);
    for seed in 0..400 {
        let mut field = field.clone();
        field.chance = [seed as u8; 32];
        let ended = played_in_order(&field, &swiss(3), &|group| {
            // The house bots are last in every game.
            let real = group.lineup.iter().flatten().count();
            let order = [0, 1, 2, 3];
            let mut chance = Chance(seed * 77 + group.number);
            let mut score = GroupScore::new(group.number, 4);
            for _ in 0..4 {
                let mut places = [1, 2, 3, 4];
                for last in (1..real).rev() {
                    places.swap(last, chance.below(last + 1));
                }
                score.add_game(&group.lineup, &order, &places, &[0; 4], &[]);
            }
            score
        });
        let winner = ended.ranking.as_ref().unwrap()[0].entrant;
        let mut met = [0; 5];
        for group in ended.counted.values() {
            let fillers = group.lineup.iter().filter(|one| one.is_none()).count();
            for one in group.lineup.iter().flatten() {
                met[one.index()] += fillers;
            }
        }
        most += u32::from(met.iter().max() == Some(&met[winner.index()]));
        few += u32::from(met.iter().min() == Some(&met[winner.index()]));
    }
    // What remains is that a table of two has the higher variance.
    assert!(most < 240 && few > 40, "{most} and {few} of 400");
}

#[test]
fn tables_are_of_those_with_as_many_points() {
    let field = field(16, 4, 1);
    let ended = played_in_order(&field, &swiss(2), &|group| seeded_score(group, &field));
    let second = &ended.rounds[1].matches;
    let winners: BTreeSet<_> = entrants(&second[0]).into_iter().collect();
    let first: BTreeSet<_> = (ended.rounds[0].matches.iter())
        .map(|one| {
            let best = one.points.iter().max().unwrap();
            let at = one.points.iter().position(|points| points == best).unwrap();
            entrants(one)[at]
        })
        .collect();
    assert_eq!(winners, first, "the four winners of the first round meet");
}

#[test]
fn who_fails_loses_the_match_at_hand_and_plays_no_more() {
    let bad = Entrant::new(1);
    for starts in [true, false] {
        for seats in [2, 4] {
            let field = field(5, seats, 20);
            let ended = played_in_order(&field, &swiss(3), &|group: &Group| {
                let mut score = random_score(group, &field, &mut Chance(group.number));
                failed_by(&mut score, &group.lineup, &[bad], starts);
                score
            });
            let [aside] = &ended.set_aside[..] else {
                panic!("{:?}", ended.set_aside);
            };
            assert_eq!((aside.entrant, aside.annulled), (bad, false));
            let of_it = ended
                .counted
                .values()
                .filter(|group| group.lineup.contains(&Some(bad)));
            let expected = match (seats, starts) {
                (2, true) => 3,
                (2, false) => 12,
                _ => 20,
            };
            assert_eq!(of_it.count(), expected, "{:?}", aside.why);
            let ranking = ended.ranking.unwrap();
            assert_eq!(ranking.len(), 5);
            if seats == 2 {
                let field = Field {
                    entrants: 2,
                    ..field
                };
                let drawn_but_failing = played_in_order(&field, &swiss(1), &|group: &Group| {
                    let mut score = random_score(group, &field, &mut Chance(group.number));
                    failed_by(&mut score, &group.lineup, &[bad], true);
                    score.points = vec![HalfPoints(0); 2];
                    score
                });
                let ranking = drawn_but_failing.ranking.unwrap();
                let points: Vec<_> = ranking.iter().map(|one| one.points).collect();
                assert_eq!(points, [1.0, 0.0], "a walkover is a won match");
            }
        }
    }
}

#[test]
fn a_swiss_of_none_but_failing_bots_ends() {
    for seats in [2, 4] {
        let field = field(7, seats, 4);
        let everybody: Vec<_> = Entrant::all(7).collect();
        let ended = played_in_order(&field, &swiss(6), &|group| {
            let mut score = seeded_score(group, &field);
            failed_by(&mut score, &group.lineup, &everybody, true);
            score
        });
        assert!(ended.set_aside.len() >= 6);
    }
}

#[test]
fn two_who_both_lose_everything_share_nothing() {
    let field = field(2, 2, 2);
    let ended = played_in_order(&field, &swiss(1), &|group| GroupScore {
        games: 2,
        ..GroupScore::new(group.number, 2)
    });
    let ranking = ended.ranking.unwrap();
    let points: Vec<_> = ranking.iter().map(|one| one.points).collect();
    assert_eq!(points, [0.0, 0.0]);
}

#[test]
fn more_rounds_than_opponents_are_refused() {
    for (entrants, most) in [(2, 1), (3, 3), (6, 5), (7, 7)] {
        let field = field(entrants, 2, 1);
        assert!(schedule(&field, &swiss(most)).is_ok());
        let rounds = most + 1;
        let error = ScheduleError::Rounds {
            entrants,
            rounds,
            most,
        };
        assert_eq!(schedule(&field, &swiss(rounds)).err(), Some(error));
        assert_eq!(
            schedule(&field, &swiss(0)).err(),
            Some(ScheduleError::NoRounds)
        );
    }
}
