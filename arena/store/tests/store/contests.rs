//! Contests: no entry is lost, judged twice or charged twice, and nobody sees what is not told.

use arena_store::{
    By, Contest, ContestRunKind, Entry, EntryState, FinishedGame, LOGGED_ROUNDS, NewArchive,
    NewContest, NewContestRun, NewEntrant, NewEntry, NewPerson, Place, Role, Store, StoreError,
    TournamentState, Wish,
};
use referee_core::{Root, Seat};
use serde_json::json;

use crate::vocabulary::{Home, game, new_tournament, on_both};

on_both!(
    two_at_once_take_one_place,
    an_entry_is_judged_by_one_attempt,
    what_is_judged_anew_changes_nothing_until_it_is_applied,
    an_exam_begins_with_all_of_its_tournaments_or_none,
    a_round_begins_once,
    those_of_a_team_are_one_contestant,
    a_new_token_ends_what_the_old_one_began,
    a_person_is_forgotten_and_the_results_stay,
    logs_go_with_the_person_and_when_there_are_newer_rounds,
);

const BY: By<'_> = By {
    who: "the teacher",
    at_unix_ms: 5,
};

async fn contest(store: &Store) -> Contest {
    let new = NewContest {
        name: "spring".to_owned(),
        definition: json!({ "title": "Spring" }),
        root: Root::new([1; 32]),
        final_root: Root::new([2; 32]),
        created_unix_ms: 1,
    };
    store.create_contest(&new, BY.who).await.unwrap()
}

fn person(name: &str, team: Option<&str>) -> NewPerson {
    NewPerson {
        role: Role::Contestant,
        name: name.to_owned(),
        pseudonym: Some(team.unwrap_or(name).to_lowercase()),
        external_id: Some(format!("2027-{name}")),
        section: None,
        team: team.map(str::to_owned),
        token_hash: format!("hash of {name}"),
    }
}

/// A contest of Ann.
async fn of_ann(store: &Store) -> Contest {
    let contest = contest(store).await;
    let added = store
        .add_people(contest.id, &[person("Ann", None)], BY)
        .await;
    assert_eq!(added.unwrap(), [1]);
    contest
}

async fn hand_in(store: &Store, contest: &Contest, most: usize) -> Result<Entry, &'static str> {
    let new = NewEntry {
        person: 1,
        contestant: 1,
        part: 1,
        file: "bot.cpp",
        bytes: b"int main() {}",
        hash: "abc",
        received_unix_ms: 7,
    };
    let place = Place {
        official: true,
        counted: true,
    };
    let decide = |_: &_, before: &[Entry]| {
        let counted = before.iter().filter(|entry| entry.place.counted).count();
        if counted < most {
            Ok(place)
        } else {
            Err("no more")
        }
    };
    store.hand_in(contest.id, &new, decide).await.unwrap()
}

async fn two_at_once_take_one_place(home: &Home) {
    let store = home.open().await;
    let contest = of_ann(&store).await;
    let (one, other) = (home.open().await, home.open().await);
    let mut taken = 0;
    for most in 1..=8 {
        let both = tokio::join!(
            hand_in(&one, &contest, most),
            hand_in(&other, &contest, most)
        );
        let both = [both.0, both.1];
        assert_eq!(both.iter().filter(|one| one.is_ok()).count(), 1, "{both:?}");
        taken += 1;
        assert_eq!(store.entries(contest.id).await.unwrap().len(), taken);
    }
    // The place of one that could not be built is free again, once.
    let first = store.entry(contest.id, 1).await.unwrap();
    let first = store
        .take_entry(contest.id, 1, first.attempt)
        .await
        .unwrap()
        .unwrap();
    for ends in [true, false] {
        let ended = store
            .end_entry(contest.id, &first, &json!({}), None, None)
            .await;
        assert_eq!(ended.unwrap(), ends);
    }
    assert_eq!(
        store.entry(contest.id, 1).await.unwrap().state,
        EntryState::Failed
    );
    assert!(hand_in(&store, &contest, 8).await.is_ok());
    assert_eq!(hand_in(&store, &contest, 8).await, Err("no more"));
    let upload = store.upload(contest.id, 9).await.unwrap();
    assert_eq!(upload.as_deref(), Some(&b"int main() {}"[..]));
}

async fn an_entry_is_judged_by_one_attempt(home: &Home) {
    let store = home.open().await;
    let contest = of_ann(&store).await;
    let id = contest.id;
    let entry = hand_in(&store, &contest, 1).await.unwrap();
    let first = store
        .take_entry(id, 1, entry.attempt)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((first.state, first.attempt), (EntryState::Building, 1));
    assert_eq!(store.take_entry(id, 1, entry.attempt).await.unwrap(), None);
    // Whoever comes after one that died takes it up, and the dead one is not heard any more.
    let second = store.take_entry(id, 1, 1).await.unwrap().unwrap();
    let outcome = json!({ "by": "first" });
    assert!(
        !store
            .begin_exam(id, &first, "packed:1", &outcome, &json!({}), &[])
            .await
            .unwrap()
    );
    assert!(
        !store
            .end_entry(id, &first, &outcome, None, Some(10))
            .await
            .unwrap()
    );
    assert!(
        store
            .begin_exam(id, &second, "packed:2", &json!({}), &json!({}), &[])
            .await
            .unwrap()
    );
    assert_eq!(store.take_entry(id, 1, 2).await.unwrap(), None);
    let open = store.open_entries(id).await.unwrap();
    assert_eq!(open[0].state, EntryState::Playing);
    assert!(
        store
            .end_entry(id, &second, &json!({ "by": "second" }), None, Some(55))
            .await
            .unwrap()
    );
    let judged = store.entry(id, 1).await.unwrap();
    assert_eq!((judged.state, judged.score), (EntryState::Judged, Some(55)));
    assert_eq!(judged.outcome, Some(json!({ "by": "second" })));
    assert_eq!(judged.spec.as_deref(), Some("packed:2"));
    assert!(judged.place.counted);
    assert_eq!(store.open_entries(id).await.unwrap(), []);
}

async fn what_is_judged_anew_changes_nothing_until_it_is_applied(home: &Home) {
    let store = home.open().await;
    let contest = of_ann(&store).await;
    let id = contest.id;
    for score in [Some(55), None] {
        let entry = hand_in(&store, &contest, 3).await.unwrap();
        let entry = store
            .take_entry(id, entry.number, 0)
            .await
            .unwrap()
            .unwrap();
        assert!(
            store
                .end_entry(id, &entry, &json!({}), None, score)
                .await
                .unwrap()
        );
    }
    for (apply, scores) in [(false, [Some(55), None]), (true, [Some(70), Some(10)])] {
        assert_eq!(store.begin_trials(id, &[1, 2, 9], 8, BY).await.unwrap(), 2);
        // There is one already.
        assert_eq!(store.begin_trials(id, &[1], 8, BY).await.unwrap(), 0);
        assert_eq!(store.settle_trials(id, true, BY).await.unwrap(), 0);
        for (trial, score) in store.open_entries(id).await.unwrap().iter().zip([70, 10]) {
            let upload = store.upload(id, trial.number).await.unwrap();
            assert_eq!(upload.as_deref(), Some(&b"int main() {}"[..]));
            let trial = store
                .take_entry(id, trial.number, 0)
                .await
                .unwrap()
                .unwrap();
            assert!(
                store
                    .end_entry(id, &trial, &json!({}), None, Some(score))
                    .await
                    .unwrap()
            );
        }
        let trials = store.trials(id).await.unwrap();
        let of: Vec<_> = trials
            .iter()
            .map(|trial| (trial.trial_of, trial.score))
            .collect();
        assert_eq!(of, [(Some(1), Some(70)), (Some(2), Some(10))]);
        let before: Vec<_> = store.entries(id).await.unwrap();
        assert_eq!(
            before.iter().map(|one| one.score).collect::<Vec<_>>(),
            [Some(55), None]
        );
        assert_eq!(store.settle_trials(id, apply, BY).await.unwrap(), 2);
        let after: Vec<_> = store.entries(id).await.unwrap();
        assert_eq!(
            after.iter().map(|one| one.score).collect::<Vec<_>>(),
            scores
        );
        assert!(
            after
                .iter()
                .all(|one| one.place.counted == one.score.is_some())
        );
        assert_eq!(store.trials(id).await.unwrap(), []);
    }
    let log = store.contest_log(id).await.unwrap();
    let said: Vec<_> = log.iter().map(|line| &*line.what).collect();
    let expected = [
        "created",
        "added 1 person",
        "2 entries are judged anew",
        "2 entries are judged anew",
        "entry 1 has 70 points, as it was judged anew",
        "entry 2 has 10 points, as it was judged anew",
    ];
    assert_eq!(said, expected);
}

fn run(name: &str, part: u32, kind: ContestRunKind) -> NewContestRun {
    NewContestRun {
        kind,
        part,
        priority: 10,
        tournament: new_tournament(name, 2),
    }
}

async fn an_exam_begins_with_all_of_its_tournaments_or_none(home: &Home) {
    let store = home.open().await;
    let contest = of_ann(&store).await;
    let id = contest.id;
    store.create(&new_tournament("cup", 2)).await.unwrap();
    hand_in(&store, &contest, 1).await.unwrap();
    let entry = store.take_entry(id, 1, 0).await.unwrap().unwrap();
    let exam = ContestRunKind::Exam;
    // The second name is taken.
    let runs = [run("spring.e1.1.1", 1, exam), run("cup", 2, exam)];
    let error = store
        .begin_exam(id, &entry, "packed:1", &json!({}), &json!({}), &runs)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(
        store.entry(id, 1).await.unwrap().state,
        EntryState::Building
    );
    assert_eq!(store.contest_runs(id).await.unwrap(), []);
    let runs = [run("spring.e1.1.1", 1, exam), run("spring.e1.1.2", 2, exam)];
    assert!(
        store
            .begin_exam(id, &entry, "packed:1", &json!({}), &json!({}), &runs)
            .await
            .unwrap()
    );
    let begun = store.runs_of_entry(id, 1).await.unwrap();
    let parts: Vec<_> = begun
        .iter()
        .map(|run| (run.part, run.entry, run.kind))
        .collect();
    assert_eq!(parts, [(1, Some(1), exam), (2, Some(1), exam)]);
    // They are played, and in no list.
    let queue = store.queue().await.unwrap();
    let queued: Vec<_> = queue
        .iter()
        .map(|one| (&*one.name, one.wish, one.contest))
        .collect();
    let of = Some(id);
    assert_eq!(
        queued,
        [
            ("spring.e1.1.1", Wish::Play, of),
            ("spring.e1.1.2", Wish::Play, of)
        ]
    );
    let listed = store.tournaments().await.unwrap();
    assert_eq!(
        listed.iter().map(|one| &*one.name).collect::<Vec<_>>(),
        ["cup"]
    );
    let one = store.tournament("spring.e1.1.1").await.unwrap().unwrap();
    assert_eq!(one.contest, of);
    assert_eq!(
        store.tournament("cup").await.unwrap().unwrap().contest,
        None
    );
}

async fn a_round_begins_once(home: &Home) {
    let store = home.open().await;
    let id = contest(&store).await.id;
    let league = ContestRunKind::League;
    for (round, begins) in [(1, true), (1, false), (2, true)] {
        let name = format!("spring.league.{round}.{begins}");
        let begun = store
            .begin_contest_run(id, &run(&name, round, league), &[])
            .await
            .unwrap();
        assert_eq!(begun.is_some(), begins);
    }
    assert_eq!(store.contest_runs(id).await.unwrap().len(), 2);
}

async fn those_of_a_team_are_one_contestant(home: &Home) {
    let store = home.open().await;
    let id = contest(&store).await.id;
    let people = [
        person("Ann", Some("Red")),
        person("Bo", None),
        person("Cy", Some("Red")),
        NewPerson {
            role: Role::Organiser,
            ..person("Tess", None)
        },
    ];
    assert_eq!(
        store.add_people(id, &people, BY).await.unwrap(),
        [1, 2, 3, 4]
    );
    let late = [person("Di", Some("Red"))];
    assert_eq!(store.add_people(id, &late, BY).await.unwrap(), [5]);
    let people = store.people(id).await.unwrap();
    let of: Vec<_> = people.iter().map(|person| person.contestant).collect();
    assert_eq!(of, [Some(1), Some(2), Some(1), None, Some(1)]);
    // Whoever has no pseudonym gets one that nobody can have chosen.
    let plain = |name: &str, pseudonym: Option<&str>| NewPerson {
        pseudonym: pseudonym.map(str::to_owned),
        ..person(name, None)
    };
    let error = store
        .add_people(id, &[plain("Gil", Some("contestant 4"))], BY)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::BadName { .. }), "{error}");
    store
        .add_people(id, &[plain("Gil", None)], BY)
        .await
        .unwrap();
    let gil = store.contestants(id).await.unwrap().pop().unwrap();
    assert_eq!((gil.number, &*gil.pseudonym), (3, "contestant 3"));
    // All or nobody.
    for twice in [
        person("Bo", None),
        NewPerson {
            external_id: None,
            ..person("Bo", None)
        },
    ] {
        let error = store
            .add_people(id, &[person("Ed", None), twice], BY)
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        assert_eq!(store.people(id).await.unwrap().len(), 6);
        assert_eq!(store.contestants(id).await.unwrap().len(), 3);
    }
    store.disqualify(id, 2, Some("copied"), BY).await.unwrap();
    store.set_until(id, 1, Some(99), "noon", BY).await.unwrap();
    let contestants = store.contestants(id).await.unwrap();
    assert_eq!(contestants[1].disqualified.as_deref(), Some("copied"));
    assert_eq!(contestants[0].until_unix_ms, Some(99));
    assert!(store.set_until(id, 9, None, "", BY).await.is_err());
}

async fn a_new_token_ends_what_the_old_one_began(home: &Home) {
    let store = home.open().await;
    let id = of_ann(&store).await.id;
    let (of, ann) = store.person_of_token("hash of Ann").await.unwrap().unwrap();
    assert_eq!((of, ann.number), (id, 1));
    let log_in = async |token| store.log_in(id, 1, token, "cookie", 10, 20).await.unwrap();
    assert!(log_in("hash of Ann").await);
    let who = async |now| store.person_of_login("cookie", now).await.unwrap();
    assert_eq!(who(19).await.unwrap().1.name.as_deref(), Some("Ann"));
    assert_eq!(who(20).await, None);
    store.set_token(id, 1, Some("another"), BY).await.unwrap();
    assert_eq!(who(11).await, None);
    assert_eq!(store.person_of_token("hash of Ann").await.unwrap(), None);
    assert!(!log_in("hash of Ann").await);
    assert_eq!(who(11).await, None);
    assert!(log_in("another").await);
    store.set_token(id, 1, None, BY).await.unwrap();
    assert_eq!(who(11).await, None);
}

async fn a_person_is_forgotten_and_the_results_stay(home: &Home) {
    let store = home.open().await;
    let contest = of_ann(&store).await;
    let id = contest.id;
    hand_in(&store, &contest, 1).await.unwrap();
    let entry = store.take_entry(id, 1, 0).await.unwrap().unwrap();
    let hash = "ab".repeat(32);
    let archive = NewArchive {
        hash: hash.clone(),
        size: 3,
        packed_by: "a judge".to_owned(),
        packed_unix_ms: 1,
    };
    store.add_archive(&archive, b"bot").await.unwrap();
    let spec = format!("packed:{hash}?run=x");
    store
        .begin_exam(id, &entry, &spec, &json!({}), &json!({}), &[])
        .await
        .unwrap();
    store
        .end_entry(id, &entry, &json!({}), None, Some(70))
        .await
        .unwrap();
    store.forget_person(id, 1, BY).await.unwrap();
    let person = &store.people(id).await.unwrap()[0];
    assert_eq!(
        (&person.name, &person.external_id, &person.token_hash),
        (&None, &None, &None)
    );
    assert_eq!(
        store.contestants(id).await.unwrap()[0].pseudonym,
        "contestant 1"
    );
    assert_eq!(store.upload(id, 1).await.unwrap(), None);
    assert_eq!(store.archive_info(&hash).await.unwrap(), None);
    assert_eq!(store.begin_trials(id, &[1], 8, BY).await.unwrap(), 0);
    assert_eq!(store.entry(id, 1).await.unwrap().score, Some(70));
    assert!(store.forget_person(id, 8, BY).await.is_err());
}

async fn logs_go_with_the_person_and_when_there_are_newer_rounds(home: &Home) {
    let store = home.open().await;
    let contest = of_ann(&store).await;
    let id = contest.id;
    let bo = store.add_people(id, &[person("Bo", None)], BY).await;
    assert_eq!(bo.unwrap(), [2]);
    hand_in(&store, &contest, 1).await.unwrap();
    let entrants = ["entry-1", "entry-2"].map(|name| NewEntrant::new(name, "packed:0"));
    let mut rounds = Vec::new();
    for number in 1..=LOGGED_ROUNDS {
        let mut round = run(&format!("league.{number}"), number, ContestRunKind::League);
        round.tournament.entrants = entrants.to_vec();
        let begun = store.begin_contest_run(id, &round, &[]).await.unwrap();
        rounds.push(begun.unwrap());
    }
    let logs = |seat: &str| ["", "x"].map(|more| format!("{seat}{more}\n")).to_vec();
    for round in [rounds[0], rounds[1]] {
        let games = [game(0, 0), game(0, 1)].map(|game| FinishedGame {
            logs: logs(&game.row.seating.to_string()),
            ..game
        });
        store.report(round, games.to_vec()).await.unwrap();
        // Of reports of a game the first one counts.
        let again = FinishedGame {
            logs: logs("again"),
            ..game(0, 0)
        };
        store.report(round, vec![again]).await.unwrap();
    }
    let log = async |round, seating, seat| {
        let log = store.game_log(round, 0, seating, Seat::new(seat)).await;
        log.unwrap().unwrap_or_default()
    };
    assert_eq!(log(rounds[0], 0, 0).await, "0\n");
    assert_eq!(log(rounds[0], 1, 1).await, "1x\n");
    assert_eq!(log(rounds[0], 2, 0).await, "");
    // Only what is counted is listed, the newest first.
    let listed = async |bot, before, most| {
        let listed = store.meetings_of_bot(id, bot, before, most).await.unwrap();
        let parts = listed.iter().map(|run| run.part);
        parts.collect::<Vec<u32>>()
    };
    assert_eq!(listed("entry-1", None, 9).await, [0_u32; 0]);
    for round in &rounds[..3] {
        store
            .set_state(*round, TournamentState::Over, 1)
            .await
            .unwrap();
        store.set_run_result(*round, &json!({})).await.unwrap();
    }
    assert_eq!(listed("entry-1", None, 9).await, [3, 2, 1]);
    assert_eq!(listed("entry-2", None, 2).await, [3, 2]);
    assert_eq!(listed("entry-3", None, 9).await, [0_u32; 0]);
    assert_eq!(listed("entry-1", Some(0), 9).await, [0_u32; 0]);
    let found = store.meeting(id, ContestRunKind::League, 2).await.unwrap();
    assert_eq!(found.unwrap().tournament, rounds[1]);
    for (kind, part) in [(ContestRunKind::League, 4), (ContestRunKind::Final, 1)] {
        assert_eq!(store.meeting(id, kind, part).await.unwrap(), None);
    }
    // One more round: the logs of the first go.
    let number = LOGGED_ROUNDS + 1;
    let mut next = run(&format!("league.{number}"), number, ContestRunKind::League);
    next.tournament.entrants = entrants.to_vec();
    store.begin_contest_run(id, &next, &[]).await.unwrap();
    assert_eq!(log(rounds[0], 0, 0).await, "");
    assert_eq!(log(rounds[1], 0, 0).await, "0\n");
    // Those of Ann's entry go, and nobody else's.
    store.forget_person(id, 1, BY).await.unwrap();
    for (seating, seat, left) in [(0, 0, ""), (0, 1, "0x\n"), (1, 0, "1\n"), (1, 1, "")] {
        assert_eq!(
            log(rounds[1], seating, seat).await,
            left,
            "{seating} {seat}"
        );
    }
    // Nor are those kept of games that end afterwards.
    let late = FinishedGame {
        logs: logs("late"),
        ..game(0, 0)
    };
    store.report(rounds[3], vec![late]).await.unwrap();
    assert_eq!(log(rounds[3], 0, 0).await, "");
    assert_eq!(log(rounds[3], 0, 1).await, "latex\n");
}
