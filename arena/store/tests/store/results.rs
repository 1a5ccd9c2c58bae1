//! Reading what was stored.

use std::collections::{BTreeMap, BTreeSet};

use arena_ladder::{Entrant, MatchId};
use arena_store::{DistinctGames, GameFilter};

use crate::vocabulary::{Home, game, games, late, no_start, on_both, tournament};

on_both!(
    scores_come_by_pages_in_order_of_their_numbers,
    tallies_are_the_groups_counted,
    the_first_foul_is_the_lowest_whatever_came_first,
    games_are_found_by_match_entrant_and_foul,
    games_that_went_the_same_way_are_one,
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

async fn tallies_are_the_groups_counted(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store.report(id, games(0..400)).await.unwrap();
    store.report(id, vec![game(500, 0)]).await.unwrap();
    // More ranges than go into one condition; some meet, some overlap, some are
    // empty, some reach beyond what the database can count.
    let many: Vec<_> = (0..130).map(|at| at * 3..at * 3 + 2).collect();
    for without in [
        vec![],
        vec![100..150, 150..200],
        vec![0..10, 5..20, 20..30, 399..u64::MAX, 7..7],
        many,
        vec![0..1, 1..u64::MAX],
    ] {
        let mut expected: BTreeMap<_, u64> = BTreeMap::new();
        for group in (0..400).filter(|group| !without.iter().any(|range| range.contains(group))) {
            let [a, b] = [game(group, 0), game(group, 1)];
            let places = vec![a.row.places.clone(), vec![b.row.places[1], b.row.places[0]]];
            // Between two, the margin is twice the winner's score in these games.
            let first = 2 * i64::from(a.row.scores[0] + b.row.scores[1]);
            *expected.entry((places, vec![first, -first])).or_default() += 1;
        }
        let found = store.group_counts(id, &without).await.unwrap();
        for tally in &found {
            assert_eq!(tally.lineup, game(0, 0).row.lineup);
        }
        let found: BTreeMap<_, _> = found
            .into_iter()
            .map(|tally| ((tally.places, tally.margins), tally.groups))
            .collect();
        assert_eq!(found, expected, "{without:?}");
    }
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

async fn games_that_went_the_same_way_are_one(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut all = games(0..60);
    all[0].row.course = u64::MAX;
    all[1].row.course = u64::MAX - 1;
    // Three games without a move, two of which begin the same.
    for (game, course) in all[2..5].iter_mut().zip([7, 7, 8]) {
        (game.row.plies, game.row.course) = (0, course);
    }
    let courses: BTreeSet<_> = all.iter().map(|game| game.row.course).collect();
    assert!(courses.len() < all.len());
    let moved = || all.iter().filter(|game| game.row.plies > 0);
    let moved_courses: BTreeSet<_> = moved().map(|game| game.row.course).collect();
    let expected = DistinctGames {
        of_all: courses.len() as u64,
        with_moves: moved().count() as u64,
        of_those_with_moves: moved_courses.len() as u64,
    };
    store.report(id, all).await.unwrap();
    assert_eq!(store.distinct_games(id).await.unwrap(), expected);
    let rows = store.games(id, &GameFilter::default(), 1).await.unwrap();
    assert_eq!(rows[0].course, u64::MAX);
}
