//! The judge, with builds that the test says and a clock that it sets. What is played is ended by the
//! test, without a game.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests as well")]

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use arena_contest::{
    BuildFailure, BuildJob, BuildSources, BuiltEntry, ChallengeRefusal, CheckJob, Checking,
    ContestRules, EntryFinding, Fault, Judge, Standing, Viewer, hand_in,
};
use arena_store::{
    By, Challenge, ContestRun, ContestRunKind, DetailsOf, Entry, EntryState, NewPerson, Role,
    Store, TournamentState,
};
use arena_tournament::{WallClock, unix_ms};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

const BY: By<'_> = By {
    who: "the teacher",
    at_unix_ms: 0,
};

/// A contest of three people, and one who judges it at a time that the test sets.
struct Hall {
    store: Store,
    opens: i64,
    now: Arc<Mutex<i64>>,
    stop: CancellationToken,
    judging: Option<tokio::task::JoinHandle<()>>,
}

impl Hall {
    async fn new(more: &str, build: Arc<BuildSources>) -> Self {
        let text = format!(
            "game = \"connect-four\"\nopens = 2027-03-01T00:00:00\ncloses = 2027-03-02T00:00:00\n{more}"
        );
        let (_, rules) = ContestRules::parse(&text, "spring").unwrap();
        let store = Store::open_in_memory().await.unwrap();
        let contest = Standing::create(&store, "spring", &rules, BY)
            .await
            .unwrap();
        let people = ["Ann", "Bo", "Cy"].map(|name| NewPerson {
            role: Role::Contestant,
            name: name.to_owned(),
            pseudonym: Some(name.to_lowercase()),
            external_id: None,
            section: None,
            team: None,
            token_hash: name.to_owned(),
        });
        store.add_people(contest.id, &people, BY).await.unwrap();
        let now = Arc::new(Mutex::new(rules.opens_unix_ms));
        let read = now.clone();
        let clock = WallClock::new(move || {
            SystemTime::UNIX_EPOCH + Duration::from_millis(read.lock().cast_unsigned())
        });
        assert_eq!(unix_ms(clock.now()), rules.opens_unix_ms);
        let judge = Judge::new(store.clone(), build, PathBuf::from("/"), clock)
            .waiting(Duration::from_millis(10))
            .checking(Arc::new(checked));
        let stop = CancellationToken::new();
        let until = stop.clone();
        let judging = tokio::spawn(async move { judge.run(&until).await });
        Self {
            store,
            opens: rules.opens_unix_ms,
            now,
            stop,
            judging: Some(judging),
        }
    }

    fn set_hour(&self, hour: i64) {
        *self.now.lock() = self.opens + hour * 3_600_000;
    }

    async fn standing(&self) -> Standing {
        let now = *self.now.lock();
        Standing::read(&self.store, "spring", now).await.unwrap()
    }

    async fn submit(&self, person: usize) -> u64 {
        self.submit_part(person, 1).await
    }

    async fn submit_part(&self, person: usize, part: u32) -> u64 {
        let standing = self.standing().await;
        let who = &standing.people[person - 1];
        let now = *self.now.lock();
        let (contest, file) = (&standing.contest, format!("{person}.py"));
        let taken = hand_in(&self.store, contest, who, part, &file, b"print()", now).await;
        taken.unwrap().unwrap().number
    }

    /// Waits until something holds of the contest.
    async fn until(&self, holds: impl Fn(&Standing, &[ContestRun]) -> bool) -> Standing {
        for _ in 0..600 {
            let standing = self.standing().await;
            let runs = self.store.contest_runs(standing.contest.id).await.unwrap();
            if holds(&standing, &runs) {
                return standing;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{:?}", self.standing().await.entries);
    }

    /// Ends all that is played: without a game it brings nothing.
    async fn end_runs(&self) {
        let id = self.standing().await.contest.id;
        for run in self.store.contest_runs(id).await.unwrap() {
            let over = TournamentState::Over;
            self.store.set_state(run.tournament, over, 1).await.unwrap();
        }
    }

    async fn close(mut self) {
        self.stop.cancel();
        self.judging.take().unwrap().await.unwrap();
    }
}

fn built(job: &BuildJob) -> BuiltEntry {
    BuiltEntry {
        hash: format!("{:064x}", job.bytes.len()),
        size: 1,
        packed: vec![1],
        spec: format!("packed:{}", job.file),
        log: "it was easy".to_owned(),
    }
}

/// A check that finds something in each bot but Cy's, whose check can't be made.
fn checked(job: CheckJob) -> Checking {
    Box::pin(async move {
        if job.spec.contains("3.py") {
            return Err("the machine is at fault".to_owned());
        }
        assert_eq!((&*job.game, job.packed), ("connect_four", vec![1]));
        Ok(vec![EntryFinding {
            name: "slow-answer".to_owned(),
            is_fault: false,
            seen: format!("{} in /var/cache/arena/{}/files/1.py", job.name, job.hash),
            expected: "answers in time".to_owned(),
            fix: "think for less".to_owned(),
        }])
    })
}

fn all_are_built() -> Arc<BuildSources> {
    Arc::new(|job, _| Ok(built(job)))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_its_author_s_fault_gives_its_place_back_and_one_of_ours_costs_nothing() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = tries.clone();
    let build: Arc<BuildSources> = Arc::new(move |job, _| match &*job.file {
        "1.py" => Ok(built(job)),
        "2.py" => Err(BuildFailure::Theirs {
            fault: Fault {
                verdict: "Compile Error".to_owned(),
                words: "line 1".to_owned(),
            },
            log: "line 1: no".to_owned(),
        }),
        _ => {
            counted.fetch_add(1, Ordering::SeqCst);
            Err(BuildFailure::Ours("the disk is full".to_owned()))
        }
    });
    let hall = Hall::new("[limits]\ncounted = 1\nall = 1\n", build).await;
    for person in 1..=3 {
        hall.submit(person).await;
    }
    let all = |standing: &Standing, _: &[ContestRun]| {
        let states: Vec<EntryState> = standing.entries.iter().map(|one| one.state).collect();
        states == [EntryState::Playing, EntryState::Failed, EntryState::Failed]
    };
    let standing = hall.until(all).await;
    // Once, and three times more.
    assert_eq!(tries.load(Ordering::SeqCst), 4);
    let counts: Vec<bool> = standing
        .entries
        .iter()
        .map(|one| one.place.counted)
        .collect();
    assert_eq!(counts, [true, false, false]);
    let fault = |at: usize, viewer| {
        let outcome = standing.outcome(&standing.entries[at], viewer);
        outcome.and_then(|outcome| outcome.fault)
    };
    assert_eq!(
        fault(1, Viewer::Contestant(2)).unwrap().verdict,
        "Compile Error"
    );
    assert_eq!(fault(1, Viewer::Contestant(1)), None);
    let ours = fault(2, Viewer::Contestant(3)).unwrap();
    assert_eq!(ours.verdict, "System Error");
    assert!(!ours.words.contains("disk"), "{ours:?}");
    // One of all is all that there is; what failed by our fault is none of them.
    hall.set_hour(1);
    assert_eq!(hall.submit(3).await, 4);
    let standing = hall.standing().await;
    let (contest, bo) = (&standing.contest, &standing.people[1]);
    let now = *hall.now.lock();
    let refused = hand_in(&hall.store, contest, bo, 1, "2.py", b"print()", now).await;
    let refused = refused.unwrap().unwrap_err().to_string();
    assert!(refused.contains("handed in 1 entries"), "{refused}");
    hall.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_follow_each_other_and_the_final_waits_for_all_who_may_still_hand_in() {
    let more = "[league]\nevery = \"2h\"\n[final]\ndeals = 3\n";
    let hall = Hall::new(more, all_are_built()).await;
    for person in 1..=3 {
        hall.submit(person).await;
    }
    let playing = |standing: &Standing, _: &[ContestRun]| {
        standing
            .entries
            .iter()
            .all(|one| one.state == EntryState::Playing)
    };
    let standing = hall.until(playing).await;
    let id = standing.contest.id;
    hall.end_runs().await;
    let rounds = |count: usize| {
        move |_: &Standing, runs: &[ContestRun]| {
            let league = runs.iter().filter(|run| run.kind == ContestRunKind::League);
            league.count() == count
        }
    };
    hall.until(rounds(1)).await;
    // Ann is out, Bo has a newer entry, Cy has more time.
    hall.store
        .disqualify(id, 1, Some("copied"), BY)
        .await
        .unwrap();
    let late = hall.opens + 26 * 3_600_000;
    hall.store
        .set_until(id, 3, Some(late), "2:00", BY)
        .await
        .unwrap();
    hall.set_hour(3);
    assert_eq!(hall.submit(2).await, 4);
    let four = |standing: &Standing, _: &[ContestRun]| {
        standing
            .entries
            .get(3)
            .is_some_and(|one| one.state == EntryState::Playing)
    };
    hall.until(four).await;
    hall.end_runs().await;
    hall.until(rounds(2)).await;
    hall.end_runs().await;
    // The deadline is over, but not Cy's.
    hall.set_hour(25);
    assert_eq!(hall.submit(3).await, 5);
    let five = |standing: &Standing, _: &[ContestRun]| {
        standing
            .entries
            .get(4)
            .is_some_and(|one| one.state == EntryState::Playing)
    };
    let standing = hall.until(five).await;
    assert!(standing.entries[4].place.official);
    hall.set_hour(27);
    tokio::time::sleep(Duration::from_secs(3)).await;
    // An entry that is not judged yet holds it up.
    hall.until(rounds(2)).await;
    hall.end_runs().await;
    let has_final = |_: &Standing, runs: &[ContestRun]| {
        runs.iter().any(|run| run.kind == ContestRunKind::Final)
    };
    let standing = hall.until(has_final).await;
    let the_final = hall
        .store
        .tournament("spring.final.1")
        .await
        .unwrap()
        .unwrap();
    let names: Vec<&str> = the_final.entrants.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["entry-4", "entry-5"]);
    assert_eq!(
        the_final.commitment,
        standing.contest.final_root.commitment()
    );
    let league = hall
        .store
        .tournament("spring.league.2")
        .await
        .unwrap()
        .unwrap();
    assert_ne!(league.commitment, the_final.commitment);
    // Without a game it brings nothing, and that is written down.
    hall.end_runs().await;
    hall.until(|_, runs| {
        let meetings = runs.iter().filter(|run| run.entry.is_none());
        meetings.filter(|run| run.result.is_some()).count() == 3
    })
    .await;
    hall.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ladder_goes_on_from_round_to_round_with_challenges_and_quiet_hours() {
    let ladder = "[exam]\ngroups = 0\n[league]\nshape = \"ladder\"\nevery = \"1h\"\n\
        challenges_a_day = 1\nquiet = [\"02:00-05:00\"]\n";
    let hall = Hall::new(ladder, all_are_built()).await;
    let refused = |asked: Result<Challenge, ChallengeRefusal>| asked.unwrap_err().to_string();
    let challenge = async |one, other| {
        let standing = hall.standing().await;
        let now = *hall.now.lock();
        standing
            .challenge(&hall.store, one, other, now)
            .await
            .unwrap()
    };
    assert_eq!(
        refused(challenge(1, 2).await),
        "contestant 1 has no valid entry yet"
    );
    for person in 1..=3 {
        hall.submit_part(person, 0).await;
    }
    let all = |state| {
        move |standing: &Standing, _: &[ContestRun]| {
            standing.entries.len() == 3 && standing.entries.iter().all(|one| one.state == state)
        }
    };
    hall.until(all(EntryState::Playing)).await;
    hall.end_runs().await;
    hall.until(all(EntryState::Judged)).await;
    let round = |number: u32| {
        move |_: &Standing, runs: &[ContestRun]| {
            runs.iter()
                .any(|run| run.entry.is_none() && run.part == number)
        }
    };
    let tables = async |number: u32| {
        let name = format!("spring.league.{number}");
        let tournament = hall.store.tournament(&name).await.unwrap().unwrap();
        let names: Vec<_> = tournament
            .entrants
            .iter()
            .map(|one| one.name.clone())
            .collect();
        let tables = &tournament.definition["shape"]["tables"];
        let tables: Vec<Vec<usize>> = serde_json::from_value(tables.clone()).unwrap();
        let named = tables
            .iter()
            .map(|table| table.iter().map(|one| names[*one].clone()));
        let named: Vec<Vec<String>> = named.map(Iterator::collect).collect();
        (names.len(), named)
    };
    hall.until(round(1)).await;
    let (present, first) = tables(1).await;
    assert_eq!((present, first.len()), (3, 1));
    // Whoever was not met is challenged, and no more than that.
    let absent = (1..=3)
        .find(|one| !first[0].contains(&format!("entry-{one}")))
        .unwrap();
    let other = absent % 3 + 1;
    assert!(challenge(other, absent).await.is_ok());
    assert_eq!(
        refused(challenge(other, absent).await),
        format!("you meet contestant {absent} in the next round already")
    );
    let third = 6 - other - absent;
    assert_eq!(
        refused(challenge(other, third).await),
        "you have asked for 1 matches today, and no more are taken before tomorrow"
    );
    assert_eq!(
        refused(challenge(1, 1).await),
        "expected the number of another contestant"
    );
    hall.end_runs().await;
    hall.set_hour(2);
    // No round begins before the quiet hours are over, but the first is counted.
    let counted = hall
        .until(|_, runs| runs.iter().any(|run| run.result.is_some()))
        .await;
    assert_eq!(counted.challenges.len(), 1);
    let board = counted.board(Viewer::Organiser);
    assert!(board.rows.iter().all(|row| row.rating.unwrap().elo == 0.0));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(
        hall.store
            .tournament("spring.league.2")
            .await
            .unwrap()
            .is_none()
    );
    hall.set_hour(5);
    hall.until(round(2)).await;
    let mut met = tables(2).await.1;
    met[0].sort();
    let mut expected = [format!("entry-{absent}"), format!("entry-{other}")];
    expected.sort();
    assert_eq!(met, [expected]);
    assert!(hall.standing().await.challenges.is_empty());
    // A new version plays in place of the old one.
    assert_eq!(hall.submit_part(1, 0).await, 4);
    let fourth = |state| {
        move |standing: &Standing, _: &[ContestRun]| {
            standing
                .entries
                .get(3)
                .is_some_and(|one| one.state == state)
        }
    };
    hall.until(fourth(EntryState::Playing)).await;
    hall.end_runs().await;
    hall.until(fourth(EntryState::Judged)).await;
    hall.set_hour(6);
    hall.until(round(3)).await;
    let third = hall
        .store
        .tournament("spring.league.3")
        .await
        .unwrap()
        .unwrap();
    let names: Vec<&str> = third.entrants.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["entry-4", "entry-2", "entry-3"]);
    // Of all rounds only those are read that something still depends on.
    let meetings = hall.standing().await.meetings;
    let parts: Vec<u32> = meetings.iter().map(|run| run.part).collect();
    assert_eq!(parts, [2, 3]);
    hall.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_check_finds_is_told_with_the_entry_and_keeps_nobody_out() {
    let hall = Hall::new("", all_are_built()).await;
    for person in [1, 3] {
        hall.submit(person).await;
    }
    let both = |standing: &Standing, _: &[ContestRun]| {
        let plays = |one: &&Entry| one.state == EntryState::Playing;
        standing.entries.iter().filter(plays).count() == 2
    };
    hall.until(both).await;
    hall.end_runs().await;
    let judged = |standing: &Standing, _: &[ContestRun]| {
        standing.entries.iter().all(|one| one.state.is_final())
    };
    let standing = hall.until(judged).await;
    let told = standing.details(&hall.store, DetailsOf::All, Viewer::Contestant(1));
    let told = told.await.unwrap();
    // Where it lies on the machine is nobody's business.
    assert_eq!(told[&1].findings[0].seen, "entry-1 in 1.py");
    assert!(!told.contains_key(&2));
    let all = standing.details(&hall.store, DetailsOf::All, Viewer::Organiser);
    assert!(all.await.unwrap()[&2].findings.is_empty());
    hall.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_forgotten_some_days_after_the_contest_is_published() {
    let hall = Hall::new("keep_days = 2\n", all_are_built()).await;
    hall.submit(1).await;
    let is =
        |state| move |standing: &Standing, _: &[ContestRun]| standing.entries[0].state == state;
    hall.until(is(EntryState::Playing)).await;
    hall.end_runs().await;
    let judged = hall.until(is(EntryState::Judged)).await;
    let id = judged.contest.id;
    hall.set_hour(24);
    let by = By {
        who: "the teacher",
        at_unix_ms: *hall.now.lock(),
    };
    hall.store.publish_contest(id, by).await.unwrap();
    // A moment before, everybody is still there.
    hall.set_hour(24 + 47);
    let kept = hall.standing().await;
    let forgets = kept.rules.forgets_unix_ms(kept.contest.published_unix_ms);
    assert_eq!(forgets, Some(hall.opens + 72 * 3_600_000));
    hall.set_hour(24 + 48);
    let gone = |standing: &Standing, _: &[ContestRun]| {
        standing.people.iter().all(|person| person.name.is_none())
    };
    let forgotten = hall.until(gone).await;
    assert_eq!(hall.store.upload(id, 1).await.unwrap(), None);
    assert_eq!(forgotten.entries[0].score, judged.entries[0].score);
    let log = hall.store.contest_log(id).await.unwrap();
    let by_rule = log.iter().filter(|line| line.who == "keep_days");
    assert_eq!(by_rule.count(), 3);
    hall.close().await;
}
