//! Reports: a game counts once, whoever reports it and however often.

use arena_ladder::{Entrant, Faults, HalfPoints};
use arena_store::{
    Counter, EVERY_GROUP, FinishedGame, GameEnding, Reported, Store, StoreError, TournamentId,
    TournamentState,
};

use crate::vocabulary::{Home, game, games, late, new_tournament, no_start, on_both, tournament};

on_both!(
    a_game_counts_once_however_often_it_is_reported,
    a_game_that_many_report_at_once_counts_once,
    a_group_whose_games_end_at_the_same_moment_is_complete,
    a_group_is_scored_when_its_last_game_is_there,
    a_place_that_a_house_bot_fills_is_nobodys,
    a_game_that_contradicts_itself_is_refused_and_so_is_its_batch,
    a_group_whose_games_disagree_is_refused,
    a_batch_larger_than_a_statement_is_stored,
    nothing_of_a_withheld_game_is_told_before_its_group_is_complete,
    what_is_still_withheld_is_told_when_the_tournament_is_over,
);

async fn a_game_counts_once_however_often_it_is_reported(home: &Home) {
    use Reported::{Accepted, Duplicate};
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let twice = vec![game(4, 1), game(4, 1), game(3, 0)];
    let reported = store.report(id, twice).await.unwrap();
    assert_eq!(reported, [Accepted, Duplicate, Accepted]);
    let mut other = game(4, 1);
    other.row.reason = "something else".to_owned();
    let reported = store.report(id, vec![game(4, 0), other]).await.unwrap();
    assert_eq!(reported, [Accepted, Duplicate]);
    assert_eq!(
        store.report(id, vec![game(4, 0)]).await.unwrap(),
        [Duplicate]
    );
    assert_eq!(store.report(id, Vec::new()).await.unwrap(), []);

    let rows = store.games(id, &Default::default(), 10).await.unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2].reason, "all bids are made");
    let counters = store.counters(id).await.unwrap();
    let expected = [
        (None, Counter::Ended(GameEnding::Rules), 3),
        (Some(Entrant::new(0)), Counter::Thinking(12), 15),
        (
            Some(Entrant::new(1)),
            Counter::Other("moves".to_owned()),
            15,
        ),
    ];
    assert_eq!(counters, expected);
    assert_eq!(
        store.incomplete_groups(id).await.unwrap(),
        [(3, vec![0])].into()
    );
    assert_eq!(
        store.record(id, 4, 1).await.unwrap().as_deref(),
        Some("the record of 4.1\n")
    );
    assert_eq!(store.record(id, 5, 1).await.unwrap(), None);
}

async fn a_game_that_many_report_at_once_counts_once(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut reports = tokio::task::JoinSet::new();
    for reporter in 0..12 {
        // Some through connections of their own, as other processes would.
        let store = match reporter % 3 {
            0 => home.open().await,
            _ => store.clone(),
        };
        reports.spawn(async move {
            let mut accepted = 0;
            for group in 0..20 {
                let reported = store.report(id, games([group])).await.unwrap();
                accepted += reported
                    .iter()
                    .filter(|&&reported| reported == Reported::Accepted)
                    .count();
            }
            accepted
        });
    }
    let accepted: usize = reports.join_all().await.into_iter().sum();
    assert_eq!(accepted, 40);
    assert_eq!(store.counters(id).await.unwrap()[0].2, 40);
    assert_eq!(store.scores(id, None, 100).await.unwrap().len(), 20);
}

async fn a_group_whose_games_end_at_the_same_moment_is_complete(home: &Home) {
    let one = home.open().await;
    let two = home.open().await;
    let id = tournament(&one, 2).await.id;
    // Without counters: where both count the same thing, they wait for each other
    // there, and the lock that is tried here would not be needed.
    let game = |group, seating| {
        let mut game = game(group, seating);
        game.row.counters.clear();
        game
    };
    for group in 0..40 {
        let (a, b) = tokio::join!(
            one.report(id, vec![game(group, 0)]),
            two.report(id, vec![game(group, 1)])
        );
        assert_eq!(a.unwrap(), [Reported::Accepted]);
        assert_eq!(b.unwrap(), [Reported::Accepted]);
    }
    assert_eq!(one.scores(id, None, 100).await.unwrap().len(), 40);
    assert_eq!(two.incomplete_groups(id).await.unwrap(), [].into());
}

/// A game of a group of four seats, played by a lineup that is turned.
fn table(seating: u32, places: [u8; 4], scores: [i32; 4]) -> FinishedGame {
    let mut game = game(9, seating);
    game.row.games_in_group = 4;
    game.row.lineup = [3, 1, 0, 2].map(|number| Some(Entrant::new(number))).into();
    game.row.order = (0..4).map(|seat| (seat + seating as usize) % 4).collect();
    game.row.places = places.into();
    game.row.scores = scores.into();
    game.row.thought_us = vec![1, 2, 3, 4];
    game
}

async fn a_group_is_scored_when_its_last_game_is_there(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 4).await.id;
    let mut third = table(2, [4, 1, 2, 3], [-9, 7, 2, 0]);
    third.row.fouls = vec![late(0)];
    let mut last = table(3, [3, 3, 1, 1], [0, 0, 5, 5]);
    last.row.fouls = vec![no_start(1), late(0)];
    let reported = vec![
        table(1, [2, 2, 1, 4], [1, 1, 8, -2]),
        last,
        table(0, [1, 2, 3, 4], [3, 2, 1, 0]),
    ];
    store.report(id, reported).await.unwrap();
    assert_eq!(store.scores(id, None, 9).await.unwrap(), []);
    assert_eq!(
        store.incomplete_groups(id).await.unwrap(),
        [(9, vec![0, 1, 3])].into()
    );
    store.report(id, vec![third]).await.unwrap();

    let scores = store.scores(id, None, 9).await.unwrap();
    assert_eq!(scores.len(), 1);
    let score = &scores[0].score;
    assert_eq!((score.number, score.games), (9, 4));
    // By hand. Seating s puts place p of the lineup on seat (p - s) mod 4:
    //            p0   p1   p2   p3
    // places  0:  1    2    3    4      half points  6  4  2  0
    //         1:  4    2    2    1                   0  3  3  6
    //         2:  2    3    4    1                   4  2  0  6
    //         3:  3    1    1    3                   1  5  5  1
    // scores  0:  3    2    1    0      sum  6
    //         1: -2    1    1    8      sum  8
    //         2:  2    0   -9    7      sum  0
    //         3:  0    5    5    0      sum 10
    // margin = 4 * own - sum
    assert_eq!(score.points, [11, 14, 10, 13].map(HalfPoints));
    assert_eq!(score.margins, [12 - 24, 32 - 24, -8 - 24, 60 - 24]);
    let faults = |starts, fouls| Faults { starts, fouls };
    // Seat 0 of seating 2 is place 2; seats 0 and 1 of seating 3 are 3 and 0.
    assert_eq!(
        score.faults,
        [faults(1, 0), faults(0, 0), faults(0, 1), faults(0, 1)]
    );
    let group_counts = store.group_counts(id).await.unwrap();
    assert_eq!(
        group_counts[0].places,
        [[1, 2, 3, 4], [4, 2, 2, 1], [2, 3, 4, 1], [3, 1, 1, 3]]
    );
    assert_eq!(group_counts[0].lineup, scores[0].lineup);
}

async fn a_place_that_a_house_bot_fills_is_nobodys(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 4).await.id;
    let mut game = table(0, [4, 1, 2, 3], [0, 3, 2, 1]);
    game.row.games_in_group = 1;
    game.row.lineup = vec![None, Some(Entrant::new(2)), None, Some(Entrant::new(0))];
    game.row.fouls = vec![late(0), late(3)];
    store.report(id, vec![game.clone()]).await.unwrap();
    let rows = store.games(id, &Default::default(), 9).await.unwrap();
    assert_eq!(rows[0].lineup, game.row.lineup);
    assert_eq!(rows[0].fouls, game.row.fouls);
    let scores = store.scores(id, None, 9).await.unwrap();
    assert_eq!(scores[0].lineup, game.row.lineup);
    let fouls = store.first_fouls(id).await.unwrap();
    let who: Vec<_> = fouls.iter().map(|foul| foul.entrant.index()).collect();
    assert_eq!(who, [0]);
}

async fn a_game_that_contradicts_itself_is_refused_and_so_is_its_batch(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    type Spoil = fn(&mut FinishedGame);
    let spoils: [Spoil; 12] = [
        |game| game.row.order = vec![0, 0],
        |game| game.row.order = vec![0],
        |game| game.row.lineup.truncate(1),
        |game| game.row.lineup[1] = Some(Entrant::new(2)),
        |game| game.row.counters[0].0 = Some(Entrant::new(9)),
        |game| game.row.places = vec![0, 1],
        |game| game.row.places = vec![1, 3],
        |game| game.row.scores = vec![1],
        |game| game.row.thought_us = Vec::new(),
        |game| game.row.seating = 2,
        |game| game.row.fouls = vec![late(2)],
        |game| game.row.group = u64::MAX,
    ];
    for spoil in spoils {
        let mut bad = game(1, 0);
        spoil(&mut bad);
        let error = store.report(id, vec![game(0, 0), bad.clone()]).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, StoreError::BadGame { .. }),
            "{bad:?}: {error}"
        );
    }
    assert_eq!(store.incomplete_groups(id).await.unwrap(), [].into());
    assert_eq!(store.counters(id).await.unwrap(), []);
}

async fn a_group_whose_games_disagree_is_refused(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 3).await.id;
    store.report(id, vec![game(0, 0)]).await.unwrap();
    let mut other = game(0, 1);
    other.row.lineup = vec![Some(Entrant::new(2)), Some(Entrant::new(1))];
    let error = store.report(id, vec![game(1, 0), other]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "game 0.1 can't be stored: the games of its group disagree about match, lineup or number"
    );
    assert_eq!(
        store.incomplete_groups(id).await.unwrap(),
        [(0, vec![0])].into()
    );
}

async fn a_batch_larger_than_a_statement_is_stored(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    // 501 groups of 2 games: the last of a statement is parted from its other.
    let mut many = games(0..501);
    many.rotate_left(1);
    let reported = store.report(id, many).await.unwrap();
    assert_eq!(reported, [Reported::Accepted; 1002]);
    assert_eq!(store.scores(id, None, 1000).await.unwrap().len(), 501);
    assert_eq!(store.counters(id).await.unwrap()[0].2, 1002);
}

/// A game of a deal with secrets, with a foul.
fn secret(group: u64, seating: u32) -> FinishedGame {
    let mut game = game(group, seating);
    game.withhold = true;
    game.row.fouls = vec![late(0)];
    game
}

/// All that a store tells of the games of a tournament, but for how many there are.
async fn told(store: &Store, id: TournamentId) -> String {
    let mut text = Vec::new();
    store.csv(id, &mut text).await.unwrap();
    store.export(id, &mut text).await.unwrap();
    let rows = store.games(id, &Default::default(), 99).await.unwrap();
    let mut told = String::from_utf8(text).unwrap();
    told += &format!("{rows:?}");
    told += &format!("{:?}", store.counters(id).await.unwrap());
    let begun = store.begun_games(id, &[EVERY_GROUP]).await.unwrap();
    let begun = begun.iter().filter_map(|game| game.course);
    told += &format!("{:?}", begun.collect::<Vec<_>>());
    told += &format!("{:?}", store.group_counts(id).await.unwrap());
    told += &format!("{:?}", store.first_fouls(id).await.unwrap());
    told += &format!("{:?}", store.record(id, 1, 0).await.unwrap());
    told
}

async fn nothing_of_a_withheld_game_is_told_before_its_group_is_complete(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store.report(id, games(3..4)).await.unwrap();
    let before = told(&store, id).await;
    let half = vec![secret(1, 0), secret(2, 1)];
    assert_eq!(
        store.report(id, half.clone()).await.unwrap(),
        [Reported::Accepted; 2]
    );
    assert_eq!(told(&store, id).await, before);
    // Whoever goes on with the tournament knows what is there.
    assert_eq!(
        store.incomplete_groups(id).await.unwrap(),
        [(1, vec![0]), (2, vec![1])].into()
    );
    assert_eq!(
        store.report(id, half).await.unwrap(),
        [Reported::Duplicate; 2]
    );

    store.report(id, vec![secret(1, 1)]).await.unwrap();
    let rows = store.games(id, &Default::default(), 99).await.unwrap();
    let keys: Vec<_> = rows.iter().map(|row| (row.group, row.seating)).collect();
    assert_eq!(keys, [(1, 0), (1, 1), (3, 0), (3, 1)]);
    assert_eq!(store.counters(id).await.unwrap()[0].2, 4);
    let fouls = store.first_fouls(id).await.unwrap();
    let keys: Vec<_> = fouls
        .iter()
        .map(|foul| (foul.group, foul.seating))
        .collect();
    assert_eq!(keys, [(1, 0), (1, 1)]);
    assert!(store.record(id, 1, 0).await.unwrap().is_some());
    assert_eq!(store.record(id, 2, 1).await.unwrap(), None);
}

async fn what_is_still_withheld_is_told_when_the_tournament_is_over(home: &Home) {
    let store = home.open().await;
    let [secrets, public] = [true, false].map(|withhold| {
        let games = [secret(1, 0), secret(1, 1), secret(2, 1)];
        games.map(|game| FinishedGame { withhold, ..game }).to_vec()
    });
    let id = tournament(&store, 2).await.id;
    let other = store.create(&new_tournament("other", 2)).await.unwrap().id;
    store.report(id, secrets).await.unwrap();
    store.report(other, public).await.unwrap();
    for id in [id, other] {
        let over = store.set_state(id, TournamentState::Over, 5);
        over.await.unwrap();
    }
    assert_eq!(
        store.counters(id).await.unwrap(),
        store.counters(other).await.unwrap()
    );
    assert_eq!(
        store.first_fouls(id).await.unwrap(),
        store.first_fouls(other).await.unwrap()
    );
    assert_eq!(
        store.games(id, &Default::default(), 9).await.unwrap(),
        store.games(other, &Default::default(), 9).await.unwrap()
    );
    store.remove(id).await.unwrap();
}
