//! What a contest shows to whom, in a table of every address, and how people log in and hand in.

use std::time::{Duration, Instant};

use arena_contest::{
    ContestRules, EntryDetails, EntryOutcome, Fault, PlayedGame, Standing, Viewer, read_roster,
};
use arena_events::exam::ExamVerdict;
use arena_store::{
    By, Contest, ContestRunKind, FinishedGame, NewContestRun, NewEntrant, NewEntry, Place, Store,
    TournamentState,
};
use arena_tournament::Definition;
use axum::{
    body::{Body, Bytes},
    http::{
        Request, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, ORIGIN, SET_COOKIE, WWW_AUTHENTICATE},
    },
};
use futures_util::StreamExt as _;
use referee_core::Root;

use super::attempts::MOST;
use crate::{
    standing::KeptReading,
    tests::{
        Browser, Page, addresses, is_name_or_notation, latin_words, played, resolved, stored, text,
        without_english,
    },
};

const BY: By<'static> = By {
    who: "test",
    at_unix_ms: 0,
};
const HOUR: i64 = 3_600_000;
/// Those who are of the contest, in this order; then one of another contest, and one whose token was
/// taken away.
const PEOPLE: &str = "name,pseudonym,id,role\nOlga Orr,,90001,organiser\nGus Gale,,90002,guest\n\
    Ann Lee,otter,90003,contestant\nBea Ray,heron,90004,contestant\nRex Roe,raven,90005,contestant\n";

/// A page with two contests, and those who call.
struct Contested {
    page: Page,
    contest: Contest,
    nobody: Browser,
    organiser: Browser,
    guest: Browser,
    ann: Browser,
    bea: Browser,
    other: Browser,
    revoked: Browser,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Open,
    Frozen,
    Published,
}

/// Rules whose deadline is to come, and whose board was frozen an hour ago or will be.
fn rules(shown: Shown, now: i64) -> ContestRules {
    let text = "title = \"春\"\ngame = \"connect-four\"\nopens = 2027-03-01T00:00:00\n\
        closes = 2027-03-02T00:00:00\n[exam]\ngroups = 2\n[league]\n[final]\n[limits]\n\
        upload_kb = 64\n";
    let mut rules = ContestRules::parse(text, "spring").unwrap().1;
    rules.opens_unix_ms = now - 5 * HOUR;
    rules.closes_unix_ms = now + HOUR;
    rules.freezes_unix_ms = Some(match shown {
        Shown::Open => now + HOUR / 2,
        Shown::Frozen | Shown::Published => now - HOUR,
    });
    rules
}

async fn people(store: &Store, contest: &Contest) -> Vec<Browser> {
    let roster = read_roster(PEOPLE).unwrap();
    let people: Vec<_> = roster.iter().map(|one| one.person.clone()).collect();
    store.add_people(contest.id, &people, BY).await.unwrap();
    let tokens = roster.iter().map(|one| one.token.reveal().to_owned());
    let browsers = tokens.map(|token| Browser {
        token: Some(token),
        ..Browser::at("192.0.2.1")
    });
    browsers.collect()
}

/// An entry of the contestant with this number, that is judged.
async fn judged(
    store: &Store,
    contest: &Contest,
    contestant: u64,
    at: i64,
    (outcome, details): (EntryOutcome, EntryDetails),
    score: Option<i64>,
) {
    let new = NewEntry {
        person: contestant + 2,
        contestant,
        part: 1,
        file: "bot.zip",
        bytes: b"x",
        hash: "00",
        received_unix_ms: at,
    };
    let place = Place {
        official: true,
        counted: true,
    };
    let entry = store.hand_in(contest.id, &new, |_, _| Ok::<_, ()>(place));
    let entry = entry.await.unwrap().unwrap();
    let taken = store.take_entry(contest.id, entry.number, 0).await;
    let taken = taken.unwrap().unwrap();
    let told = serde_json::to_value(outcome).unwrap();
    let details = serde_json::to_value(details).unwrap();
    let ended = store.end_entry(contest.id, &taken, &told, Some(&details), score);
    assert!(ended.await.unwrap());
}

/// A round of the league or a final in which Ann's first entry has met Bea's, and what each has printed.
async fn met(store: &Store, contest: &Contest, kind: ContestRunKind, part: u32, at: i64) {
    let definition = Definition {
        deals: 1,
        filler: "exec:true".to_owned(),
        ..Definition::round_robin("othello", vec![serde_json::Value::Null])
    };
    let entrants = ["entry-1", "entry-3"].map(|name| NewEntrant::new(name, "exec:true"));
    let name = format!("{}.{}.{part}", contest.name, kind.word());
    let tournament = definition.tournament(&name, entrants.into(), Root::new([7; 32]), at);
    let run = NewContestRun {
        kind,
        part,
        priority: 0,
        tournament: tournament.unwrap(),
    };
    let begun = store.begin_contest_run(contest.id, &run, &[]).await;
    let tournament = begun.unwrap().unwrap();
    let games = [0, 1].map(|seating| {
        let mut logs = ["ANN", "BEA"].map(|who| format!("{who}-{}-{part}\n", kind.word()));
        if seating == 1 {
            logs.reverse();
        }
        FinishedGame {
            logs: logs.into(),
            ..stored(seating, &played(None))
        }
    });
    store.report(tournament, games.into()).await.unwrap();
    let over = store.set_state(tournament, TournamentState::Over, at);
    over.await.unwrap();
    let result = serde_json::json!({ "shares": [] });
    store.set_run_result(tournament, &result).await.unwrap();
}

fn game(foul: Option<&str>, points: i64) -> PlayedGame {
    PlayedGame {
        tournament: "cup".to_owned(),
        group: 0,
        seating: u32::from(foul.is_some()),
        part: 1,
        opponent: "ladder-1".to_owned(),
        seat: 0,
        verdict: match foul {
            Some(_) => ExamVerdict::RuntimeError,
            None => ExamVerdict::Win,
        },
        points,
        plies: 60,
        foul: foul.map(str::to_owned),
    }
}

impl Contested {
    async fn new(shown: Shown) -> Self {
        let page = Page::with_games().await;
        let store = &page.site.store;
        let now = page.site.contests().unwrap().clock.unix_ms();
        let rules = rules(shown, now);
        let contest = Standing::create(store, "spring", &rules, BY).await.unwrap();
        let other = ContestRules {
            title: "秋".to_owned(),
            ..rules.clone()
        };
        let other = Standing::create(store, "autumn", &other, BY).await.unwrap();
        let all = people(store, &contest).await;
        let others = people(store, &other).await;
        store.set_token(contest.id, 5, None, BY).await.unwrap();
        let outcome = |log: &str, games: Vec<PlayedGame>| {
            let log = log.to_owned();
            let details = EntryDetails {
                log,
                games,
                ..EntryDetails::default()
            };
            (EntryOutcome::default(), details)
        };
        // Ann before and after the board is frozen, Bea before.
        let first = outcome("ANN-LOG-1", vec![game(None, 3031)]);
        judged(store, &contest, 1, now - 3 * HOUR, first, Some(3031)).await;
        let second = outcome("ANN-LOG-2", vec![game(Some("ANN-FOUL-2"), 7077)]);
        judged(store, &contest, 1, now - HOUR / 2, second, Some(7077)).await;
        let mut third = outcome("BEA-LOG", Vec::new());
        third.0.fault = Some(Fault {
            verdict: "Compile Error".to_owned(),
            words: "BEA-FAULT".to_owned(),
        });
        judged(store, &contest, 2, now - 2 * HOUR, third, None).await;
        for (kind, part, at) in [
            (ContestRunKind::League, 1, now - 2 * HOUR),
            (ContestRunKind::League, 2, now - HOUR / 2),
            (ContestRunKind::Final, 1, now - HOUR / 3),
        ] {
            met(store, &contest, kind, part, at).await;
        }
        if shown == Shown::Published {
            store.publish_contest(contest.id, BY).await.unwrap();
        }
        let [organiser, guest, ann, bea, revoked] = all.try_into().unwrap();
        Self {
            nobody: Browser::at("192.0.2.1"),
            other: others[2].clone(),
            page,
            contest,
            organiser,
            guest,
            ann,
            bea,
            revoked,
        }
    }

    /// Asks, and where something is followed for what it is now.
    async fn get(&self, who: &Browser, path: &str) -> (StatusCode, String) {
        let mut request = Request::get(path);
        if path.ends_with("/events") {
            request = request.header("accept", "application/json");
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = self.page.send(who, request).await;
        (answer.status(), text(answer).await)
    }

    async fn hand_in(&self, who: &Browser, path: &str, body: Body) -> (StatusCode, String) {
        let request = Request::post(path).body(body).unwrap();
        let answer = self.page.send(who, request).await;
        (answer.status(), text(answer).await)
    }
}

/// The table of docs/security.md: the addresses, and how nobody, a guest, the contestant whose entry it
/// is, another one, an organiser, a contestant of another contest, and one whose token was taken away
/// are answered, before the contest is published and after that.
fn matrix() -> Vec<(&'static str, Vec<[u16; 2]>)> {
    let text = include_str!("../../../../docs/security.md");
    let (_, section) = text.split_once("\n## Contests\n").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `/"));
    let rows = rows.flat_map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let addresses = cells.next().unwrap().split('`').skip(1).step_by(2);
        let answers = cells.map(|cell| {
            let (before, after) = cell.split_once('/').unwrap_or((cell, cell));
            [before, after].map(|status| status.parse().unwrap())
        });
        let answers: Vec<[u16; 2]> = answers.collect();
        addresses.map(move |address| (address, answers.clone()))
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 20, "{rows:?}");
    rows
}

#[tokio::test]
async fn every_address_shows_to_everybody_what_they_may_see_and_nothing_else() {
    for shown in [Shown::Open, Shown::Frozen, Shown::Published] {
        let contested = Contested::new(shown).await;
        let who = [
            ("nobody", &contested.nobody),
            ("guest", &contested.guest),
            ("ann", &contested.ann),
            ("bea", &contested.bea),
            ("organiser", &contested.organiser),
            ("other", &contested.other),
            ("revoked", &contested.revoked),
        ];
        let root = contested.contest.final_root.reveal();
        let secret = contested.contest.root.reveal();
        let mut seen = Vec::new();
        for (at, (path, answers)) in matrix().into_iter().enumerate() {
            assert_eq!(answers.len(), who.len(), "{path}");
            for ((name, browser), [before, after]) in who.iter().zip(answers) {
                let mut browser = (*browser).clone();
                if *name == "revoked" {
                    // Who tries too many tokens from one address has to wait.
                    browser.peer = format!("198.51.100.{at}");
                }
                let expected = match shown {
                    Shown::Published => after,
                    Shown::Open | Shown::Frozen => before,
                };
                let (status, body) = contested.get(&browser, path).await;
                assert_eq!(status.as_u16(), expected, "{shown:?} {name} {path}: {body}");
                let is_in = |what: &str| {
                    assert!(
                        status == StatusCode::OK || !body.contains(what),
                        "{path}: {body}"
                    );
                    body.contains(what)
                };
                // Of whom each text may be told, in which state.
                let organiser = *name == "organiser";
                let (ann, bea) = (organiser || *name == "ann", organiser || *name == "bea");
                let is_published = shown == Shown::Published;
                let is_theirs = !["nobody", "other", "revoked"].contains(name);
                let all = is_theirs || is_published;
                for (what, may) in [
                    ("Ann Lee", ann),
                    ("Bea Ray", bea),
                    ("90003", organiser),
                    ("otter", all),
                    ("ANN-LOG-1", ann),
                    ("ANN-LOG-2", ann),
                    ("ANN-FOUL-2", organiser || (ann && shown != Shown::Frozen)),
                    ("SAID-0-0", ann),
                    ("SAID-1-0", organiser || (ann && shown != Shown::Frozen)),
                    ("SAID-0-1", false),
                    ("SAID-1-1", false),
                    ("ANN-league-1", ann),
                    ("ANN-final-1", organiser || (ann && is_published)),
                    ("BEA-league-1", bea),
                    ("BEA-final-1", bea && (organiser || is_published)),
                    ("entry-3", false),
                    ("BEA-LOG", bea),
                    ("BEA-FAULT", bea),
                    ("7077", organiser || (all && shown != Shown::Frozen)),
                    ("3031", all),
                    ("春", all),
                    ("秋", ["other", "revoked"].contains(name)),
                    (&root, is_published),
                    (&secret, false),
                ] {
                    assert!(
                        !is_in(what) || may,
                        "{shown:?} {name} {path} has {what}: {body}"
                    );
                    if body.contains(what) {
                        seen.push(format!("{name} {what}"));
                    }
                }
            }
        }
        // What may be seen is there, or the table above would show nothing.
        for (what, is) in [
            ("ann Ann Lee", true),
            ("ann ANN-LOG-2", true),
            ("ann ANN-FOUL-2", shown != Shown::Frozen),
            ("ann SAID-0-0", true),
            ("ann ANN-league-1", true),
            ("ann ANN-final-1", shown == Shown::Published),
            ("organiser ANN-final-1", true),
            ("organiser ANN-league-1", true),
            ("bea ANN-league-1", false),
            ("bea BEA-FAULT", true),
            ("bea 7077", shown != Shown::Frozen),
            ("guest 3031", shown == Shown::Frozen),
            ("guest otter", true),
            ("nobody otter", shown == Shown::Published),
            ("organiser Bea Ray", true),
            ("organiser 90003", true),
            ("organiser 7077", true),
        ] {
            assert_eq!(seen.iter().any(|one| one == what), is, "{shown:?}: {what}");
        }
    }
}

#[tokio::test]
async fn games_of_rounds_are_told_of_to_those_who_have_played_them_as_the_board_is() {
    for shown in [Shown::Open, Shown::Frozen, Shown::Published] {
        let contested = Contested::new(shown).await;
        let sees = async |who: &Browser, entry: u64, game: &str| {
            let at = format!("/contest/spring/entries/{entry}/games/{game}");
            let (status, page) = contested.get(who, &at).await;
            let api = format!("/api/v1/contests/spring/entries/{entry}/games/{game}");
            for more in ["log", "explanation"] {
                let (same, told) = contested.get(who, &format!("{api}/{more}")).await;
                assert_eq!(same, status, "{shown:?} {api}/{more}: {told}");
            }
            (status == StatusCode::OK, page)
        };
        for (game, is_told) in [
            ("1.1", true),
            ("1.2", true),
            ("2.1", shown != Shown::Frozen),
            ("final.1", shown == Shown::Published),
            ("1.3", false),
            ("3.1", false),
            ("final.3", false),
            ("1.0", false),
            ("x", false),
        ] {
            let (ann, page) = sees(&contested.ann, 1, game).await;
            assert_eq!(ann, is_told, "{shown:?} {game}: {page}");
            let (bea, page) = sees(&contested.bea, 3, game).await;
            assert_eq!(bea, is_told, "{shown:?} {game}: {page}");
            assert!(!page.contains("ANN-"), "{page}");
            let exists = matches!(game, "1.1" | "1.2" | "2.1" | "final.1");
            let (organiser, page) = sees(&contested.organiser, 1, game).await;
            assert_eq!(organiser, exists, "{shown:?} {game}: {page}");
            assert!(!page.contains("BEA-"), "{page}");
            for (who, entry) in [
                (&contested.bea, 1),
                (&contested.ann, 3),
                (&contested.guest, 1),
            ] {
                assert!(!sees(who, entry, game).await.0, "{shown:?} {game}");
            }
        }
        // Pseudonyms stand for the bots, names for organisers.
        let (_, page) = sees(&contested.ann, 1, "1.2").await;
        assert!(
            page.contains("heron – otter") && page.contains("ANN-league-1"),
            "{page}"
        );
        let (_, page) = sees(&contested.organiser, 1, "1.1").await;
        assert!(page.contains("Ann Lee – Bea Ray"), "{page}");
    }
}

#[tokio::test]
async fn an_entry_lists_its_games_of_the_last_rounds() {
    let contested = Contested::new(Shown::Frozen).await;
    let store = &contested.page.site.store;
    let id = contested.contest.id;
    let now = contested.page.site.contests().unwrap().clock.unix_ms();
    let mut standing = Standing::read(store, "spring", now).await.unwrap();
    // Only one that was built has played.
    let mut entry = store.entry(id, 1).await.unwrap();
    let none = standing.rounds(store, &entry, Viewer::Organiser).await;
    assert!(
        standing
            .told_rounds(&none.unwrap(), Viewer::Organiser)
            .is_empty()
    );
    entry.spec = Some("packed:0".to_owned());
    for (viewer, expected, opponent) in [
        (
            Viewer::Organiser,
            vec!["final.1", "final.2", "2.1", "2.2", "1.1", "1.2"],
            "Bea Ray",
        ),
        (Viewer::Contestant(1), vec!["1.1", "1.2"], "heron"),
        (Viewer::Contestant(2), vec![], ""),
        (Viewer::Other, vec![], ""),
    ] {
        let rounds = standing.rounds(store, &entry, viewer).await.unwrap();
        assert!(rounds.is_newest(&standing, viewer));
        let listed = standing.told_rounds(&rounds, viewer);
        let games: Vec<&str> = listed.iter().map(|game| &*game.game).collect();
        assert_eq!(games, expected, "{viewer:?}");
        assert!(listed.iter().all(|game| game.opponents == [opponent]));
        let seats: Vec<u8> = listed.iter().map(|game| game.seat).collect();
        assert!(
            seats
                .iter()
                .enumerate()
                .all(|(at, seat)| at % 2 == usize::from(*seat))
        );
    }
    let viewer = Viewer::Contestant(1);
    let before = standing.rounds(store, &entry, viewer).await.unwrap();
    standing.phase = arena_contest::Phase::Published;
    assert!(!before.is_newest(&standing, viewer));
    let listed = standing.rounds(store, &entry, viewer).await.unwrap();
    assert_eq!(standing.told_rounds(&listed, viewer).len(), 6);
}

#[tokio::test]
async fn a_browser_logs_in_by_a_token_and_is_out_when_the_token_is_taken_away() {
    let contested = Contested::new(Shown::Open).await;
    let page = &contested.page;
    let token = contested.ann.token.clone().unwrap();
    let mut browser = Browser::at("192.0.2.7");
    // An address is in logs and referrers.
    let at = format!("/contest/spring/login?token={token}");
    let answer = page
        .send(&browser, Request::get(&at).body(Body::empty()).unwrap())
        .await;
    assert!(!answer.headers().contains_key(SET_COOKIE));
    let log_in = async |browser: &Browser| {
        page.post(
            browser,
            "/contest/other/login",
            &format!("token=%20{token}"),
        )
        .await
    };
    let answer = log_in(&browser).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[LOCATION], "../../contest/spring");
    assert_eq!(answer.headers()[CACHE_CONTROL], "no-store");
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    let (secret, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(
        attributes,
        "Path=/; Max-Age=1209600; HttpOnly; SameSite=Strict"
    );
    assert_eq!(secret.strip_prefix("arena-login=").unwrap().len(), 64);
    browser.keep_cookie(&answer);
    let see = async |browser: &Browser| contested.get(browser, "/contest/spring/mine").await.0;
    assert_eq!(see(&browser).await, StatusCode::OK);
    // Over TLS the cookie has another name, and one that came without TLS does not count there.
    let mut over_tls = Browser::behind_proxy("203.0.113.5");
    over_tls.is_tls = true;
    let answer = log_in(&over_tls).await;
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap();
    assert!(
        cookie.starts_with("__Host-arena-login=") && cookie.ends_with("; Secure"),
        "{cookie}"
    );
    over_tls.keep_cookie(&answer);
    assert_eq!(see(&over_tls).await, StatusCode::OK);
    over_tls.cookie.clone_from(&browser.cookie);
    assert_eq!(see(&over_tls).await, StatusCode::NOT_FOUND);
    // Logging out ends this login alone.
    let mut second = Browser::at("192.0.2.8");
    second.keep_cookie(&log_in(&second).await);
    let answer = page.post(&second, "/contest/spring/logout", "").await;
    assert!(
        answer.headers()[SET_COOKIE]
            .to_str()
            .unwrap()
            .starts_with("arena-login=; Path=/; Max-Age=0")
    );
    assert_eq!(see(&second).await, StatusCode::NOT_FOUND);
    assert_eq!(see(&browser).await, StatusCode::OK);
    let id = contested.contest.id;
    page.site.store.set_token(id, 3, None, BY).await.unwrap();
    assert_eq!(see(&browser).await, StatusCode::NOT_FOUND);
    assert_eq!(see(&contested.ann).await, StatusCode::UNAUTHORIZED);
    assert_eq!(log_in(&browser).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn whom_a_proxy_has_asked_is_known_by_the_external_id() {
    let contested = Contested::new(Shown::Open).await;
    let by_proxy = |user| Browser {
        user: Some(user),
        ..Browser::behind_proxy("203.0.113.5")
    };
    let ann = by_proxy("90003");
    let (status, mine) = contested.get(&ann, "/contest/spring/mine").await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        mine.contains("Ann Lee") && !mine.contains("logout"),
        "{mine}"
    );
    // She has this id in both contests.
    let (_, listed) = contested.get(&ann, "/api/v1/contests").await;
    assert!(listed.contains("春") && listed.contains("秋"), "{listed}");
    let api = "/api/v1/contests/spring/entries?group=2&file=bot.zip";
    let (status, told) = contested.hand_in(&ann, api, Body::from("x")).await;
    assert_eq!(status, StatusCode::CREATED, "{told}");
    // A token says more than the proxy does; one that was taken away lets nobody in by the proxy either.
    let token = contested.bea.token.clone();
    let bea = Browser {
        token,
        ..ann.clone()
    };
    let (_, mine) = contested.get(&bea, "/contest/spring/mine").await;
    assert!(mine.contains("Bea Ray"), "{mine}");
    let direct = Browser {
        user: Some("90003"),
        ..Browser::at("203.0.113.5")
    };
    for (nobody, refused) in [
        (direct, StatusCode::UNAUTHORIZED),
        (by_proxy("x"), StatusCode::UNAUTHORIZED),
        // He is still in the other contest.
        (by_proxy("90005"), StatusCode::NOT_FOUND),
    ] {
        let (status, _) = contested.get(&nobody, "/contest/spring/mine").await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let (status, _) = contested.hand_in(&nobody, api, Body::from("x")).await;
        assert_eq!(status, refused);
    }
    let store = &contested.page.site.store;
    let id = contested.contest.id;
    store.set_token(id, 3, None, BY).await.unwrap();
    let (status, _) = contested.get(&ann, "/contest/spring/mine").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn whoever_follows_hears_nothing_more_when_the_token_is_taken_away() {
    let contested = Contested::new(Shown::Open).await;
    let request = Request::get("/contest/spring/mine/events")
        .body(Body::empty())
        .unwrap();
    let answer = contested.page.send(&contested.ann, request).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let mut events = answer.into_body().into_data_stream();
    let first = events.next().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("3031"));
    let store = &contested.page.site.store;
    store
        .set_token(contested.contest.id, 3, None, BY)
        .await
        .unwrap();
    let mut rest = String::new();
    while let Some(Ok(more)) = events.next().await {
        rest += &String::from_utf8_lossy(&more);
    }
    assert!(
        rest.contains("\"last\":true") && !rest.contains("3031"),
        "{rest}"
    );
}

#[tokio::test]
async fn while_a_contest_is_read_others_have_it_as_it_was_and_what_is_handed_in_is_there_at_once() {
    let contested = Contested::new(Shown::Open).await;
    let site = &contested.page.site;
    let (contests, store) = (site.contests().unwrap(), &site.store);
    let contest = &contested.contest;
    // What took long is kept for long.
    let began = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
    let read = async || {
        let now = contests.clock.unix_ms();
        let standing = Standing::of(store, contest.clone(), now).await.unwrap();
        Some(KeptReading::since(began, standing))
    };
    let slot = contests.slot(contest.id);
    *slot.kept.lock() = read().await;
    let reading = slot.reading.lock().await;
    let seen = contested.get(&contested.ann, "/contest/spring/mine");
    let seen = tokio::time::timeout(Duration::from_secs(60), seen).await;
    assert_eq!(seen.expect("it waits for nobody").0, StatusCode::OK);
    // It is stored after the reading began, and told of before that has ended.
    let without = read().await;
    let heard = |viewer| contests.heard(contest.id, viewer);
    let own = heard(Viewer::Contestant(1));
    let others = [heard(Viewer::Contestant(2)), heard(Viewer::Organiser)];
    let end_reading = async {
        while store.entries(contest.id).await.unwrap().len() == 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        *slot.kept.lock() = without;
        drop(reading);
    };
    let api = "/api/v1/contests/spring/entries?group=2&file=bot.zip";
    let handed_in = contested.hand_in(&contested.ann, api, Body::from("x"));
    let ((status, told), ()) = tokio::join!(handed_in, end_reading);
    assert_eq!(status, StatusCode::CREATED, "{told}");
    let entry = "/contest/spring/entries/4";
    let (status, _) = contested.get(&contested.ann, entry).await;
    assert_eq!(status, StatusCode::OK);
    assert!(own.has_changed().unwrap());
    assert!(others.iter().all(|one| !one.has_changed().unwrap()));
}

#[tokio::test]
async fn wrong_tokens_are_told_nothing_and_after_many_their_client_waits() {
    let contested = Contested::new(Shown::Published).await;
    let page = &contested.page;
    let known = contested.ann.token.clone().unwrap();
    let revoked = contested.revoked.token.clone().unwrap();
    let almost = known.replace(
        &known[10..12],
        if &known[10..12] == "00" { "11" } else { "00" },
    );
    let mut told = Vec::new();
    for token in ["", "arena_00", "x", &revoked, &almost] {
        let form = format!("token={token}");
        let answer = page
            .post(&contested.nobody, "/contest/spring/login", &form)
            .await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
        assert!(answer.headers().contains_key(WWW_AUTHENTICATE));
        told.push(text(answer).await);
    }
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
    let wrong = &contested.revoked;
    for _ in 5..MOST {
        let (status, _) = contested.get(wrong, "/api/v1/contests").await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    let (status, _) = contested.get(wrong, "/api/v1/contests").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    // Others who have the same address are let in.
    let (status, _) = contested.get(&contested.ann, "/api/v1/contests").await;
    assert_eq!(status, StatusCode::OK);
}

/// A form with a file, as browsers send it.
fn form(group: &str, file: &str, bytes: &str) -> Request<Body> {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file}\"\r\n\
         Content-Type: application/zip\r\n\r\n{bytes}\r\n--b\r\nContent-Disposition: form-data; \
         name=\"group\"\r\n\r\n{group}\r\n--b--\r\n"
    );
    Request::post("/contest/spring/mine")
        .header(CONTENT_TYPE, "multipart/form-data; boundary=b")
        .body(Body::from(body))
        .unwrap()
}

#[tokio::test]
async fn people_hand_in_by_the_form_and_programs_by_the_api() {
    let contested = Contested::new(Shown::Open).await;
    let page = &contested.page;
    let large = "x".repeat(40_000);
    let answer = page.send(&contested.bea, form("2", "bot.py", &large)).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[LOCATION], "../../contest/spring/entries/4");
    let id = contested.contest.id;
    let entry = page.site.store.entry(id, 4).await.unwrap();
    assert_eq!((entry.part, &*entry.file), (2, "bot.py"));
    let sent = page.site.store.upload(id, 4).await.unwrap().unwrap();
    assert_eq!(sent, large.as_bytes());
    // One a minute, however it comes.
    let at = "/api/v1/contests/spring/entries?group=1&file=a%20b.zip";
    let (status, told) = contested.hand_in(&contested.bea, at, Body::from("x")).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(told.contains("one entry in"), "{told}");
    let (status, told) = contested
        .hand_in(&contested.ann, at, Body::from(large))
        .await;
    assert_eq!(status, StatusCode::CREATED, "{told}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["entry"], 5);
    assert_eq!(told["file"], "a b.zip");
    assert_eq!(
        (&told["state"], &told["ahead"]),
        (&"received".into(), &1.into())
    );
    // The form says what is wrong.
    for (form, why) in [
        (form("3", "bot.py", "x"), "a group from 1 to 2"),
        (form("x", "bot.py", "x"), "expected a number"),
        (form("1", "", ""), "expected a file"),
        (form("1", "a/b", "x"), "the name of a file"),
    ] {
        let answer = page.send(&contested.bea, form).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let told = text(answer).await;
        assert!(told.contains(why), "{why}: {told}");
    }
    let (status, _) = contested
        .hand_in(&contested.bea, at, Body::from("x".repeat(70_000)))
        .await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let (status, _) = contested
        .hand_in(&contested.bea, at, Body::from("x".repeat(5 << 20)))
        .await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn only_contestants_hand_in_and_nothing_of_others_is_read() {
    let contested = Contested::new(Shown::Open).await;
    for path in [
        "/contest/spring/mine",
        "/api/v1/contests/spring/entries?group=1&file=bot.zip",
    ] {
        for who in [&contested.nobody, &contested.revoked] {
            let some: Result<Bytes, std::io::Error> = Ok(Bytes::from_static(b"x"));
            let endless = futures_util::stream::repeat_with(move || {
                Ok::<_, std::io::Error>(some.as_ref().unwrap().clone())
            });
            let (status, _) = contested
                .hand_in(who, path, Body::from_stream(endless))
                .await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
        }
    }
    let api = "/api/v1/contests/spring/entries?group=1&file=bot.zip";
    for (who, expected) in [
        (&contested.guest, StatusCode::FORBIDDEN),
        (&contested.organiser, StatusCode::FORBIDDEN),
        (&contested.other, StatusCode::NOT_FOUND),
    ] {
        assert_eq!(
            contested
                .page
                .send(who, form("1", "bot.zip", "x"))
                .await
                .status(),
            expected
        );
        assert_eq!(
            contested.hand_in(who, api, Body::from("x")).await.0,
            expected
        );
    }
    // A page of another site hands nothing in, and logs nobody in.
    for mut request in [
        form("1", "bot.zip", "x"),
        Request::post("/contest/spring/login")
            .body(Body::empty())
            .unwrap(),
    ] {
        request
            .headers_mut()
            .insert(ORIGIN, "http://evil.example".parse().unwrap());
        let answer = contested.page.send(&contested.bea, request).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    }
    // One person sends one entry at a time.
    let slow = form("1", "bot.zip", "x").map(|_| {
        Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>())
    });
    let waiting = contested.page.send(&contested.bea, slow);
    let second = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        contested
            .hand_in(&contested.bea, api, Body::from("x"))
            .await
            .0
    };
    tokio::select! {
        answer = waiting => panic!("{}", answer.status()),
        status = second => assert_eq!(status, StatusCode::TOO_MANY_REQUESTS),
    }
    let entries = contested
        .page
        .site
        .store
        .entries(contested.contest.id)
        .await
        .unwrap();
    assert_eq!(entries.len(), 3);
}

/// An entry of a contestant that has been built and has started.
async fn valid(store: &Store, contest: &Contest, contestant: u64) {
    let new = NewEntry {
        person: contestant + 2,
        contestant,
        part: 0,
        file: "bot.zip",
        bytes: b"x",
        hash: "00",
        received_unix_ms: 0,
    };
    let place = Place {
        official: true,
        counted: true,
    };
    let entry = store.hand_in(contest.id, &new, |_, _| Ok::<_, ()>(place));
    let number = entry.await.unwrap().unwrap().number;
    let taken = store
        .take_entry(contest.id, number, 0)
        .await
        .unwrap()
        .unwrap();
    let nothing = serde_json::json!({});
    let begun = store.begin_exam(contest.id, &taken, "packed:0", &nothing, &nothing, &[]);
    assert!(begun.await.unwrap());
    let taken = store.entry(contest.id, number).await.unwrap();
    let ended = store.end_entry(contest.id, &taken, &nothing, None, Some(0));
    assert!(ended.await.unwrap());
}

#[tokio::test]
async fn contestants_challenge_each_other_and_nobody_else_does() {
    let contested = Contested::new(Shown::Open).await;
    let store = &contested.page.site.store;
    let id = contested.contest.id;
    let post = async |who: &Browser, path: &str| {
        let (status, body) = contested.hand_in(who, path, Body::empty()).await;
        (status.as_u16(), body)
    };
    let api = "/api/v1/contests/spring/challenges";
    let (status, body) = post(&contested.ann, &format!("{api}?opponent=2")).await;
    assert!(status == 422 && body.contains("no ladder"), "{body}");
    let mut definition = contested.contest.definition.clone();
    definition["league"] = serde_json::json!({
        "deals": 2, "every": { "secs": 600, "nanos": 0 },
        "ladder": { "games_a_day": null, "challenges_a_day": 3 },
    });
    store
        .change_contest(id, &definition, "a ladder", BY)
        .await
        .unwrap();
    let to = |opponent: &str| format!("{api}?opponent={opponent}");
    for (who, expected) in [
        (&contested.nobody, 404),
        (&contested.guest, 403),
        (&contested.organiser, 403),
        (&contested.other, 404),
        (&contested.revoked, 401),
    ] {
        assert_eq!(post(who, &to("1")).await.0, expected);
        let page = contested
            .page
            .post(who, "/contest/spring/challenges", "opponent=1");
        assert_eq!(page.await.status().as_u16(), expected);
    }
    let (status, body) = post(&contested.ann, &to("2")).await;
    assert!(status == 422 && body.contains("no valid entry"), "{body}");
    for contestant in [1, 2] {
        valid(store, &contested.contest, contestant).await;
    }
    // They are known here a moment later.
    contested.page.site.contests().unwrap().read_again(id).await;
    for (opponent, why) in [
        ("x", "expected the number"),
        ("1", "another"),
        ("9", "expected"),
    ] {
        let (status, body) = post(&contested.ann, &to(opponent)).await;
        assert!(status == 422 && body.contains(why), "{body}");
    }
    assert_eq!(post(&contested.ann, &to("heron")).await.0, 201);
    let (status, body) = post(&contested.ann, &to("2")).await;
    assert!(status == 422 && body.contains("already"), "{body}");
    // Both see it, and whose it is not does not.
    for (who, seen) in [
        (&contested.ann, true),
        (&contested.bea, true),
        (&contested.organiser, true),
        (&contested.guest, false),
    ] {
        let (_, body) = contested.get(who, api).await;
        assert_eq!(body.contains("\"opponent\":2"), seen, "{body}");
    }
    let (_, page) = contested.get(&contested.bea, "/contest/spring").await;
    assert!(page.contains("otter</span> has challenged you"), "{page}");
    let asked = contested
        .page
        .post(&contested.bea, "/contest/spring/challenges", "opponent=1");
    assert_eq!(asked.await.status(), StatusCode::SEE_OTHER);
    let open = store.open_challenges(id).await.unwrap();
    let open: Vec<_> = open
        .iter()
        .map(|one| (one.contestant, one.opponent))
        .collect();
    assert_eq!(open, [(1, 2), (2, 1)]);
}

#[tokio::test]
async fn an_arena_without_contests_has_none_of_their_addresses() {
    let page = Page::without_contests().await;
    let who = Browser::at("192.0.2.1");
    for (path, _) in matrix() {
        assert_eq!(
            page.get(&who, path).await.0,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    for path in ["/", "/api/v1/", "/api/v1/openapi.json"] {
        assert!(!page.get(&who, path).await.1.contains("contest"), "{path}");
    }
}

#[tokio::test]
async fn nothing_is_taken_after_the_contest_is_published() {
    let contested = Contested::new(Shown::Published).await;
    let answer = contested
        .page
        .send(&contested.bea, form("1", "bot.zip", "x"))
        .await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(text(answer).await.contains("the contest is over"));
}

#[tokio::test]
async fn pages_lead_to_pages_and_the_chinese_ones_are_chinese() {
    let contested = Contested::new(Shown::Open).await;
    for (who, paths) in [
        (
            &contested.ann,
            vec![
                "/contests",
                "/contest/spring",
                "/contest/spring/login",
                "/contest/spring/mine",
                "/contest/spring/entries/1",
                "/contest/spring/entries/2",
                "/contest/spring/entries/2/games/1",
                "/contest/spring/entries/1/games/1.1",
                "/contest/spring/entries/1/games/1.1/explanation",
                "/contest/none",
            ],
        ),
        (&contested.bea, vec!["/contest/spring/entries/3"]),
        (&contested.organiser, vec!["/contest/spring/admin"]),
    ] {
        let mut who = who.clone();
        who.language = Some("zh");
        for path in paths {
            let (_, shown) = contested.get(&who, path).await;
            for address in addresses(&shown) {
                // No bot evaluates in these tests.
                if address.starts_with("..") || address.contains("=yes#") {
                    continue;
                }
                let at = resolved("/", &address);
                let (status, _) = contested.get(&who, at.split('#').next().unwrap()).await;
                let is_a_page = status != StatusCode::NOT_FOUND || at.contains("/none");
                assert!(is_a_page, "{path} leads to {at}: {status}");
            }
            let mut words = latin_words(&without_english(&shown));
            let names = [
                "Ann", "Lee", "Bea", "Ray", "Olga", "Orr", "Rex", "Roe", "otter", "heron", "raven",
                "MiB", "KB",
            ];
            words.retain(|word| !is_name_or_notation(word) && !names.contains(&&**word));
            assert!(words.is_empty(), "{path}: {words:?}");
        }
    }
}
