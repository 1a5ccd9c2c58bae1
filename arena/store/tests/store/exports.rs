//! A whole tournament as text, and back into a database.

use arena_ladder::MatchId;
use arena_store::{
    Counter, FinishedGame, GameFilter, Store, StoreError, TournamentId, TournamentState,
    pack_for_store,
};
use serde_json::{Value, json};

use crate::vocabulary::{Home, game, games, late, new_tournament, no_start, on_both, tournament};

on_both!(
    what_is_exported_and_imported_is_the_same_tournament,
    an_import_may_have_another_name,
    what_the_caller_finds_wrong_with_an_import_is_told,
    before_it_is_over_an_export_tells_no_secret,
    an_import_of_a_broken_text_leaves_nothing,
    a_table_has_one_row_a_game,
);

async fn exported(store: &Store, id: TournamentId) -> String {
    let mut text = Vec::new();
    store.export(id, &mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

/// More games than are read at once, with all that can be odd about them.
fn odd_games() -> Vec<FinishedGame> {
    let mut all = games(0..150);
    all[3].row.fouls = vec![no_start(1), late(0)];
    // What can't be shown is escaped by an import.
    let said = all[3].row.fouls[0].foul.text_mut().unwrap();
    *said = "it said \"hello\"; it's ♣".to_owned();
    all[4].row.reason = "it's \"over\", said 'he' ♣".to_owned();
    all[5].row.course = u64::MAX;
    all[6].record = pack_for_store("{\"a\":\"line\"}\nand \u{7f} another\n");
    for game in &mut all[8..10] {
        game.row.lineup[1] = None;
        game.row.matchup = MatchId(7);
    }
    all.push(game(1000, 1));
    all
}

async fn what_is_exported_and_imported_is_the_same_tournament(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store.report(id, odd_games()).await.unwrap();
    store
        .set_state(id, TournamentState::Over, 99)
        .await
        .unwrap();
    let text = exported(&store, id).await;
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 303);
    assert_eq!(lines[0]["root"], "07".repeat(32));
    assert_eq!(lines[1]["record"], "the record of 0.0\n");
    assert_eq!(lines[6]["course"], "ffffffffffffffff");
    let counters = json!([[null, "ended:rules", 1], [0, "ask:12", 5], [1, "moves", 5]]);
    assert_eq!(lines[1]["counters"], counters);
    assert_eq!(lines[302]["games"], 301);

    // Into an empty database of the other kind and of the same one.
    let elsewhere = [Home::sqlite(), other(home).await];
    for to in [elsewhere[0].open().await, elsewhere[1].open().await] {
        let imported = to
            .import(&mut text.as_bytes(), None, |_| Ok(()))
            .await
            .unwrap();
        assert_eq!(exported(&to, imported.id).await, text);
        let mut read = store.tournament("a tournament").await.unwrap().unwrap();
        read.id = imported.id;
        assert_eq!(
            to.tournament("a tournament").await.unwrap(),
            Some(read.clone())
        );
        assert_eq!(imported, read);
        let there = imported.id;
        assert_eq!(
            to.group_counts(there).await.unwrap(),
            store.group_counts(id).await.unwrap()
        );
        assert_eq!(
            to.scores(there, None, 999).await.unwrap(),
            store.scores(id, None, 999).await.unwrap()
        );
        assert_eq!(
            to.counters(there).await.unwrap(),
            store.counters(id).await.unwrap()
        );
        assert_eq!(
            to.first_fouls(there).await.unwrap(),
            store.first_fouls(id).await.unwrap()
        );
        assert_eq!(
            to.incomplete_groups(there).await.unwrap(),
            store.incomplete_groups(id).await.unwrap()
        );
        let all = GameFilter::default();
        assert_eq!(
            to.games(there, &all, 999).await.unwrap(),
            store.games(id, &all, 999).await.unwrap()
        );
    }
    for home in elsewhere {
        home.clean().await;
    }
}

/// For a test on PostgreSQL a second schema, for one on SQLite a second file.
async fn other(home: &Home) -> Home {
    match home {
        Home::File(_) => Home::sqlite(),
        Home::Schema { .. } => Home::postgres().await,
    }
}

async fn an_import_may_have_another_name(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store.report(id, games(0..5)).await.unwrap();
    store
        .set_state(id, TournamentState::Over, 99)
        .await
        .unwrap();
    let text = exported(&store, id).await;
    let error = store
        .import(&mut text.as_bytes(), None, |_| Ok(()))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    let copy = store
        .import(&mut text.as_bytes(), Some("a copy"), |_| Ok(()))
        .await
        .unwrap();
    assert_eq!(copy.name, "a copy");
    let renamed = text.replace("\"a tournament\"", "\"a copy\"");
    assert_eq!(exported(&store, copy.id).await, renamed);
    assert_eq!(store.tournaments().await.unwrap().len(), 2);
}

async fn what_the_caller_finds_wrong_with_an_import_is_told(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut some = games(0..2);
    some[0].row.fouls = vec![no_start(1)];
    let foul = &mut some[0].row.fouls[0].foul;
    *foul.text_mut().unwrap() = "\u{1b}[2J".to_owned();
    some[1].row.reason = "\u{202e}over\n".to_owned();
    store.report(id, some).await.unwrap();
    let text = exported(&store, id).await;
    let refuse = |tournament: &arena_store::Tournament| {
        assert_eq!(tournament.name, "a copy");
        Err("no such game".to_owned())
    };
    let mut lines = text.as_bytes();
    let import = store.import(&mut lines, Some("a copy"), refuse);
    let error = import.await.unwrap_err().to_string();
    assert!(error.contains("line 1: no such game"), "{error}");
    assert_eq!(store.tournament("a copy").await.unwrap(), None);
    let mut lines = text.as_bytes();
    let import = store.import(&mut lines, Some("a copy"), |_| Ok(()));
    let there = import.await.unwrap().id;
    let all = GameFilter::default();
    let mut shown = store.games(there, &all, 9).await.unwrap();
    let foul = shown[0].fouls[0].foul.text_mut().cloned();
    assert_eq!(foul.as_deref(), Some(r"\u{1b}[2J"));
    assert_eq!(shown[1].reason, r"\u{202e}over\n");
}

async fn before_it_is_over_an_export_tells_no_secret(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut some = games(0..2);
    some.push(game(2, 1));
    store.report(id, some).await.unwrap();
    let text = exported(&store, id).await;
    assert!(!text.contains(&"07".repeat(32)), "the root");
    assert!(text.contains("the record of 1.1"));
    // The deal of this one is to be played once more.
    assert!(!text.contains("the record of 2.1"));
    let copy = store
        .import(&mut text.as_bytes(), Some("a copy"), |_| Ok(()))
        .await
        .unwrap();
    assert_eq!((copy.root, copy.state), (None, TournamentState::Stopped));
    assert_eq!(store.scores(copy.id, None, 9).await.unwrap().len(), 2);
}

async fn an_import_of_a_broken_text_leaves_nothing(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store.report(id, games(0..250)).await.unwrap();
    store
        .set_state(id, TournamentState::Over, 99)
        .await
        .unwrap();
    let text = exported(&store, id).await;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 502);
    let cut = &text[..text.len() / 2];
    let cut_at = cut.lines().count();
    let spoilt = |line: usize, what: &str, to: &str| {
        let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        assert!(lines[line - 1].contains(what), "{}", lines[line - 1]);
        lines[line - 1] = lines[line - 1].replace(what, to);
        lines.concat()
    };
    for (broken, line, why) in [
        (String::new(), 1, "expected the line of a tournament"),
        ("no JSON\n".to_owned(), 1, "expected"),
        (lines[1..].concat(), 1, "expected the line of a tournament"),
        (cut.to_owned(), cut_at, "EOF"),
        (lines[..300].concat(), 301, "ends too early"),
        (
            [&lines[..300], &lines[301..]].concat().concat(),
            501,
            "should be 500 games",
        ),
        (
            [&lines[..300], &lines[299..]].concat().concat(),
            301,
            "game 149.0 is there twice",
        ),
        (
            [&lines[..300], &lines[..]].concat().concat(),
            301,
            "a second tournament",
        ),
        (format!("{text}{}", lines[1]), 503, "something follows"),
        (
            spoilt(1, "\"version\":\"1\"", "\"version\":1"),
            1,
            "expected a text",
        ),
        (
            spoilt(1, "\"format_version\":1", "\"format_version\":2"),
            1,
            "version 2",
        ),
        (
            spoilt(1, "\"commitment\":\"", "\"commitment\":\"../../"),
            1,
            "64 hexadecimal digits",
        ),
        (
            spoilt(1, "bot-arena t", "bot-arena T"),
            1,
            "expected the format",
        ),
        (
            spoilt(1, "\"root\":\"07", "\"root\":\"08"),
            1,
            "does not match the commitment",
        ),
        (
            spoilt(420, "\"places\":[", "\"places\":[9,"),
            420,
            "for each of its 2 seats",
        ),
        (
            spoilt(421, "\"course\":\"", "\"course\":\"0"),
            421,
            "16 hexadecimal digits",
        ),
        (
            spoilt(422, "\"match\":0", "\"match\":1"),
            423,
            "disagree about match",
        ),
        (
            spoilt(423, "\"plies\":", "\"flies\":"),
            423,
            "unknown field `flies`",
        ),
        (spoilt(424, "[0,1]", "[0,2]"), 424, "can't be stored"),
        (
            spoilt(
                1,
                "\"definition\":",
                &format!("\"definition\":[{}1],\"a\":", "1,".repeat(2_000_000)),
            ),
            1,
            "at most 2000000 values",
        ),
        (
            spoilt(
                424,
                "\"plies\":",
                &format!("\"plies\":[{}1],\"a\":", "1,".repeat(10_000)),
            ),
            424,
            "at most 10000 values",
        ),
        (
            spoilt(
                424,
                "\"plies\":",
                &format!("\"plies\":{}1{},\"a\":", "[".repeat(99), "]".repeat(99)),
            ),
            424,
            "at most 16 levels",
        ),
        (
            spoilt(
                424,
                "\"plies\":",
                &format!("\"plies\":{}", " ".repeat(130 << 20)),
            ),
            424,
            "bytes of JSON",
        ),
        (
            spoilt(
                424,
                "\"record\":\"",
                &format!("\"record\":\"{}", "x".repeat(65 << 20)),
            ),
            424,
            "a record of at most 64 MiB",
        ),
        (
            spoilt(425, "\"ask:12\"", "\"ask:soon\""),
            425,
            "`ask:soon` is no counter",
        ),
    ] {
        let name = Some("a copy");
        let error = store
            .import(&mut broken.as_bytes(), name, |_| Ok(()))
            .await
            .unwrap_err();
        let StoreError::Import {
            line: at,
            why: says,
        } = &error
        else {
            panic!("{why}: {error}");
        };
        assert_eq!(*at, line as u64, "{why}: {error}");
        assert!(says.contains(why), "{why}: {error}");
        assert_eq!(store.tournament("a copy").await.unwrap(), None);
    }
    // Not even rows that nobody would find.
    let after = store.create(&new_tournament("next", 2)).await.unwrap().id;
    assert_eq!(
        store.games(after, &GameFilter::default(), 9).await.unwrap(),
        []
    );
    assert_eq!(store.counters(after).await.unwrap(), []);
    store
        .import(&mut text.as_bytes(), Some("a copy"), |_| Ok(()))
        .await
        .unwrap();
}

async fn a_table_has_one_row_a_game(home: &Home) {
    let store = home.open().await;
    let mut new = new_tournament("a tournament", 2);
    new.entrants[1].name = "so-called \"bot\", the".to_owned();
    let id = store.create(&new).await.unwrap().id;
    let table = async || {
        let mut text = Vec::new();
        store.csv(id, &mut text).await.unwrap();
        String::from_utf8(text).unwrap()
    };
    let head = "group,seating,games_in_group,match,bot_1,place_1,score_1,foul_1,thought_us_1,excused_1,\
        bot_2,place_2,score_2,foul_2,thought_us_2,excused_2,\
        reason,plies,course,play_hash,finished_unix_ms\n";
    assert_eq!(
        table().await,
        "group,seating,games_in_group,match,reason,plies,course,play_hash,finished_unix_ms\n"
    );
    let mut first = game(0, 1);
    first.row.places = vec![1, 2];
    first.row.scores = vec![3, -3];
    first.row.fouls = vec![late(1)];
    first.row.thought_us = vec![5, 6];
    first.row.reason = "two\nlines".to_owned();
    (first.row.plies, first.row.course) = (12, 255);
    let who = first.row.lineup[first.row.order[1]];
    first.row.counters = vec![(who, Counter::Excused, 3)];
    first.row.play_hash = "abc".to_owned();
    store.report(id, vec![first]).await.unwrap();
    assert_eq!(
        table().await,
        format!(
            "{head}0,1,2,0,\"so-called \"\"bot\"\", the\",1,3,,5,0,bot0,2,-3,late,6,3,\
             \"two\nlines\",12,00000000000000ff,abc,1700000000000\n"
        )
    );
    // A foul ended it before anything was counted: two zeros would be read as a draw.
    let mut forfeited = game(0, 0);
    forfeited.row.places = vec![2, 1];
    forfeited.row.scores = vec![0, 0];
    forfeited.row.fouls = vec![late(0)];
    // Without a foul they are one.
    let mut drawn = game(1001, 0);
    drawn.row.places = vec![1, 1];
    drawn.row.scores = vec![0, 0];
    drawn.row.fouls = Vec::new();
    store.report(id, vec![forfeited, drawn]).await.unwrap();
    let csv = table().await;
    let places_and_scores = |key: &str| -> Vec<String> {
        let line = csv.lines().find(|line| line.starts_with(key)).unwrap();
        // Commas in names are quoted.
        let line = line.replace("\"so-called \"\"bot\"\", the\"", "bot");
        let cells: Vec<&str> = line.split(',').collect();
        [5, 6, 11, 12].map(|at| cells[at].to_owned()).into()
    };
    assert_eq!(places_and_scores("0,0,2,"), ["2", "", "1", ""]);
    assert_eq!(places_and_scores("1001,0,2,"), ["1", "0", "1", "0"]);
    store.report(id, games(1..1001)).await.unwrap();
    // One game is on two lines.
    assert_eq!(table().await.lines().count(), 1 + 2 + 2 + 2000);
}
