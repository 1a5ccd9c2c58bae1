//! Reading what was stored.

use arena_ladder::{Entrant, GroupCount, GroupCounts, MatchId};
use arena_store::{BegunGame, CompleteGroup, Course, GameFilter, NewTotals};

use crate::vocabulary::{Home, game, games, late, new_tournament, no_start, on_both, tournament};

on_both!(
    scores_come_by_pages_in_order_of_their_numbers,
    groups_that_came_out_the_same_are_counted,
    groups_come_in_the_order_in_which_they_were_completed,
    the_first_foul_is_the_lowest_whatever_came_first,
    games_are_found_by_match_entrant_and_foul,
    games_are_known_by_their_course,
    sums_are_kept_until_others_replace_them,
    groups_of_an_arena_that_does_not_number_them_come_last,
);

async fn scores_come_by_pages_in_order_of_their_numbers(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut shuffled = games(0..23);
    shuffled.sort_by_key(|game| game.row.course);
    for few in shuffled.chunks(5) {
        store.report(id, few.to_vec()).await.unwrap();
    }
    store.report(id, vec![game(30, 1)]).await.unwrap();
    let all = store.scores(id, None, 100).await.unwrap();
    let numbers: Vec<_> = all.iter().map(|group| group.score.number).collect();
    assert_eq!(numbers, (0..23).collect::<Vec<_>>());
    let mut pages = Vec::new();
    loop {
        let after = pages
            .last()
            .map(|group: &arena_store::ScoredGroup| group.score.number);
        let page = store.scores(id, after, 4).await.unwrap();
        if page.is_empty() {
            break;
        }
        pages.extend(page);
    }
    assert_eq!(pages, all);
}

async fn groups_that_came_out_the_same_are_counted(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store.report(id, games(0..400)).await.unwrap();
    store.report(id, vec![game(500, 0)]).await.unwrap();
    let counted = |numbers: Vec<u64>| -> GroupCounts {
        let counts = numbers.into_iter().map(|group| {
            let [a, b] = [game(group, 0), game(group, 1)];
            let places = vec![a.row.places.clone(), vec![b.row.places[1], b.row.places[0]]];
            // Between two, the margin is twice the winner's score in these games.
            let first = 2 * i64::from(a.row.scores[0] + b.row.scores[1]);
            GroupCount::new(a.row.lineup, places, &[first, -first], 1)
        });
        counts.collect()
    };
    let all: Vec<GroupCount> = counted((0..400).collect()).iter().collect();
    assert!(all.len() < 400);
    assert_eq!(store.group_counts(id).await.unwrap(), all);
    // More ranges than go into one statement; some meet, some overlap, some are
    // empty, some reach beyond what the database can count.
    let many: Vec<_> = (0..1300).map(|at| at * 3..at * 3 + 2).collect();
    for within in [
        vec![],
        vec![100..150, 150..200],
        vec![0..10, 5..20, 20..30, 399..u64::MAX, 7..7],
        many,
        vec![0..1, 1..u64::MAX],
    ] {
        let lies = |group: &u64| within.iter().any(|range| range.contains(group));
        let expected: Vec<u64> = (0..400).filter(lies).collect();
        let found = store.complete_groups_within(id, &within).await.unwrap();
        let numbers: Vec<_> = found
            .iter()
            .map(|group| group.scored.score.number)
            .collect();
        assert_eq!(numbers, expected, "{within:?}");
        let counts: GroupCounts = found.iter().map(CompleteGroup::count).collect();
        assert_eq!(counts, counted(expected), "{within:?}");
    }
}

async fn groups_come_in_the_order_in_which_they_were_completed(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let other = store
        .create(&new_tournament("another", 2))
        .await
        .unwrap()
        .id;
    let complete = async |after, limit| {
        let groups = store.complete_groups(id, after, limit).await.unwrap();
        (groups.iter().map(|group| (group.mark.group, group.mark))).collect::<Vec<_>>()
    };
    assert_eq!(complete(None, 10).await, []);
    store
        .report(id, vec![game(3, 0), game(9, 1)])
        .await
        .unwrap();
    store.report(other, games(0..4)).await.unwrap();
    let first = [game(9, 0), game(2, 0), game(2, 1)];
    store.report(id, first.to_vec()).await.unwrap();
    let read = complete(None, 10).await;
    assert_eq!(
        read.iter().map(|(group, _)| *group).collect::<Vec<_>>(),
        [2, 9]
    );
    store.report(id, vec![game(3, 1)]).await.unwrap();
    // A game that is reported again completes nothing again.
    store
        .report(id, vec![game(3, 1), game(0, 0), game(0, 1)])
        .await
        .unwrap();
    let mut after = None;
    let mut paged = Vec::new();
    while let [(group, mark)] = complete(after, 1).await[..] {
        paged.push(group);
        after = Some(mark);
    }
    assert_eq!(paged, [2, 9, 3, 0]);
    let last = read.last().map(|(_, mark)| *mark);
    let later = complete(last, 10).await;
    assert_eq!(
        later.iter().map(|(group, _)| *group).collect::<Vec<_>>(),
        [3, 0]
    );
    let courses = store.courses(id, last, later[1].1).await.unwrap();
    let mut found: Vec<u64> = courses.iter().map(|course| course.course).collect();
    let mut expected: Vec<u64> = [(3, 0), (3, 1), (0, 0), (0, 1)]
        .map(|(group, seating)| game(group, seating).row.course)
        .to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(store.courses(id, None, later[1].1).await.unwrap().len(), 8);
}

async fn the_first_foul_is_the_lowest_whatever_came_first(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    for (group, seating, foul) in [
        (7, 1, late(0)),
        (7, 0, no_start(1)),
        (9, 0, late(1)),
        (8, 1, late(1)),
        // Seat 1 of seating 1 is entrant 0.
        (6, 1, no_start(1)),
        (6, 0, no_start(1)),
        (10, 0, late(0)),
    ] {
        let mut game = game(group, seating);
        game.row.fouls = vec![foul];
        store.report(id, vec![game]).await.unwrap();
    }
    let found: Vec<_> = (store.first_fouls(id).await.unwrap().into_iter())
        .map(|first| {
            (
                first.entrant.index(),
                first.group,
                first.seating,
                first.foul,
            )
        })
        .collect();
    assert_eq!(
        found,
        [(0, 6, 1, no_start(1).foul), (1, 6, 0, no_start(1).foul)]
    );
}

async fn games_are_found_by_match_entrant_and_foul(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 13).await.id;
    let mut all = Vec::new();
    for group in 0..30_u64 {
        for mut game in games([group]) {
            let pair = [1 + group % 3, 11 + group % 2];
            game.row.lineup = pair.map(|number| Some(Entrant::new(number as u32))).into();
            game.row.matchup = MatchId((group % 6) as u32);
            game.row.counters.clear();
            if group % 7 == 0 {
                game.row.fouls = vec![late(game.row.seating as u8)];
            }
            all.push(game);
        }
    }
    store.report(id, all.clone()).await.unwrap();
    let found = async |filter: &GameFilter| -> Vec<(u64, u32)> {
        let rows = store.games(id, filter, 1000).await.unwrap();
        rows.iter().map(|row| (row.group, row.seating)).collect()
    };
    let expected = |wanted: &dyn Fn(&arena_store::FinishedGame) -> bool| -> Vec<(u64, u32)> {
        let wanted = all.iter().filter(|game| wanted(game));
        wanted
            .map(|game| (game.row.group, game.row.seating))
            .collect()
    };
    // 1 is none of 11 and 12.
    for number in [1, 2, 11, 12, 0] {
        let entrant = Some(Entrant::new(number));
        let filter = GameFilter {
            entrant,
            ..Default::default()
        };
        let wanted = expected(&|game| game.row.lineup.contains(&entrant));
        assert_eq!(found(&filter).await, wanted, "{number}");
    }
    let filter = GameFilter {
        matchup: Some(MatchId(2)),
        after: Some((8, 0)),
        ..Default::default()
    };
    let wanted = expected(&|game| {
        game.row.matchup == MatchId(2) && (game.row.group, game.row.seating) > (8, 0)
    });
    assert_eq!(found(&filter).await, wanted);
    assert_eq!(wanted[0], (8, 1));
    let filter = GameFilter {
        only_fouls: true,
        ..Default::default()
    };
    assert_eq!(
        found(&filter).await,
        expected(&|game| !game.row.fouls.is_empty())
    );

    let rows = store.games(id, &GameFilter::default(), 1000).await.unwrap();
    let reported: Vec<_> = all.into_iter().map(|game| game.row).collect();
    assert_eq!(rows, reported);
}

async fn games_are_known_by_their_course(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut all = games(0..3);
    all[0].row.course = u64::MAX;
    // A game without a move.
    (all[2].row.plies, all[2].row.course) = (0, 7);
    all.push(game(5, 1));
    all.push(game(7, 0));
    store.report(id, all.clone()).await.unwrap();
    let last = store.complete_groups(id, None, 10).await.unwrap()[2].mark;
    let courses = store.courses(id, None, last).await.unwrap();
    let mut found: Vec<_> = courses
        .iter()
        .map(|one| (one.course, one.has_moves))
        .collect();
    let games = all.iter().filter(|game| game.row.group < 5);
    let mut expected: Vec<_> = games
        .map(|game| (game.row.course, game.row.plies > 0))
        .collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(found.contains(&(u64::MAX, true)) && found.contains(&(7, false)));
    let begun = store.begun_games(id, &[0..6, 8..9]).await.unwrap();
    let course = Course {
        course: game(5, 1).row.course,
        has_moves: true,
    };
    let game = BegunGame {
        group: 5,
        seating: 1,
        course: Some(course),
    };
    assert_eq!(begun, [game]);
    let rows = store.games(id, &GameFilter::default(), 1).await.unwrap();
    assert_eq!(rows[0].course, u64::MAX);
}

async fn sums_are_kept_until_others_replace_them(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    assert_eq!(store.kept_totals(id).await.unwrap(), None);
    assert_eq!(store.kept_courses(id, 1).await.unwrap(), None);
    let parts = [vec![1, 5, u64::MAX], vec![3]];
    let new = NewTotals {
        replaces: None,
        made_by: "one",
        state: "{}",
        same_parts: 0,
        parts: &parts,
    };
    assert!(store.keep_totals(id, new).await.unwrap());
    let kept = store.kept_totals(id).await.unwrap().unwrap();
    assert_eq!(
        (kept.revision, &*kept.made_by, &*kept.state),
        (1, "one", "{}")
    );
    assert_eq!(store.kept_courses(id, 1).await.unwrap().unwrap(), parts);
    // The first part stays, the second is replaced by two.
    let more = [vec![2, 3], vec![9]];
    let next = NewTotals {
        replaces: Some(1),
        made_by: "two",
        same_parts: 1,
        parts: &more,
        ..new
    };
    assert!(store.keep_totals(id, next).await.unwrap());
    // Who has summed on from the same ones comes too late.
    assert!(!store.keep_totals(id, next).await.unwrap());
    assert_eq!(store.kept_courses(id, 1).await.unwrap(), None);
    let all = [&parts[..1], &more[..]].concat();
    assert_eq!(store.kept_courses(id, 2).await.unwrap().unwrap(), all);
    let anew = NewTotals { parts: &[], ..new };
    assert!(store.keep_totals(id, anew).await.unwrap());
    assert!(store.kept_courses(id, 3).await.unwrap().unwrap().is_empty());
    store.remove(id).await.unwrap();
    assert_eq!(store.kept_totals(id).await.unwrap(), None);
    assert!(store.keep_totals(id, new).await.is_err());
}

async fn groups_of_an_arena_that_does_not_number_them_come_last(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let order = async || {
        let groups = store.complete_groups(id, None, 10).await.unwrap();
        (groups
            .iter()
            .map(|group| (group.mark.change, group.mark.group)))
        .collect::<Vec<_>>()
    };
    store.report(id, games(0..4)).await.unwrap();
    home.run("UPDATE groups SET change = -1").await;
    assert_eq!(order().await, [(-1, 0), (-1, 1), (-1, 2), (-1, 3)]);
    assert_eq!(store.kept_totals(id).await.unwrap(), None);
    assert_eq!(order().await, [(1, 0), (1, 1), (1, 2), (1, 3)]);
    store.report(id, games(6..7)).await.unwrap();
    home.run("UPDATE groups SET change = -1 WHERE number = 2")
        .await;
    let new = NewTotals {
        replaces: None,
        made_by: "one",
        state: "{}",
        same_parts: 0,
        parts: &[],
    };
    // Nobody knows whether it is among what was summed.
    assert!(!store.keep_totals(id, new).await.unwrap());
    store.report(id, games(5..6)).await.unwrap();
    assert_eq!(store.kept_totals(id).await.unwrap(), None);
    assert_eq!(
        order().await,
        [(1, 0), (1, 1), (1, 3), (2, 6), (3, 5), (4, 2)]
    );
    assert!(store.keep_totals(id, new).await.unwrap());
}
