//! The page in memory: what it answers to whom, without a socket.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use arena_contest::EntryExplanation;
use arena_events::replay::{BetterMove, ExpectedScore, ExplainedEvent, ExplanationEvent};
use arena_ladder::{Entrant, MatchId};
use arena_store::{ChunkKey, FinishedGame, GameRow, NewEntrant, Store, pack_for_store};
use arena_tournament::Definition;
use axum::{
    Router,
    body::{Body, Bytes},
    http::{
        Request, Response, StatusCode,
        header::{
            ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, LOCATION, RETRY_AFTER,
            SET_COOKIE,
        },
    },
};
use http_body_util::BodyExt as _;
use parking_lot::{Condvar, Mutex};
use referee_bots::LaunchOptions;
use referee_core::{
    Foul, GameKind, Limits, PerSeat, Piece, Record, Root, Seat, Seed, with_last_words,
};
use referee_games::{Fixture, GAMES as KINDS, Next, SeatReply, Sitting, answer, ready};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{Instant, pause, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{
    advice::{Advice, AdviceRequest, Adviser, NoAdvice},
    feed,
    guard::PeerAddress,
    people::{PeopleOptions, RecordBounds, SeatedPlayer},
    serve::{routes, serve_connection},
    site::{Site, SiteOptions},
};

/// Nothing of these tests takes nearly as long; it only shows a hang.
const FAR_TOO_LONG: Duration = Duration::from_secs(3600);
/// Most games that people may play at once here.
const GAMES: usize = 100;
const PROXY: &str = "10.9.9.9";

/// A page, and the folder of its games.
pub(crate) struct Page {
    pub(crate) site: Arc<Site>,
    routes: Router,
    _folder: TempDir,
}

/// A browser that asks: its address, its language and its cookie, or a program with its token.
#[derive(Clone, Debug, Default)]
pub(crate) struct Browser {
    pub(crate) peer: String,
    pub(crate) forwarded: Option<String>,
    pub(crate) cookie: Option<String>,
    pub(crate) token: Option<String>,
    /// The one whom the proxy says that it has asked.
    pub(crate) user: Option<&'static str>,
    pub(crate) is_tls: bool,
    pub(crate) language: Option<&'static str>,
}

/// One who can explain games, and nothing else.
fn nobody_knows() -> Adviser {
    Arc::new(|request| {
        let AdviceRequest::Explanation { record, seat } = request else {
            return Err(NoAdvice::Failed("nobody knows".to_owned()));
        };
        let record = Record::parse(record).unwrap();
        let of = |score| ExpectedScore { score, error: 0.0 };
        let one = ExplainedEvent {
            number: 1,
            seat: *seat,
            player: record.header.players[Seat::new(*seat)].clone(),
            notation: Some("3".to_owned()),
            expects: of(0.25),
            better: Some(BetterMove {
                notation: "4".to_owned(),
                expects: of(0.75),
            }),
        };
        Ok(Advice::Explanation(EntryExplanation {
            moves: vec![one.clone()],
            explanation: ExplanationEvent {
                turning_point: Some(one),
                difference_error: Some(0.0),
                bot: Some("house:random".to_owned()),
                playouts: None,
            },
        }))
    })
}

impl Page {
    pub(crate) async fn new() -> Self {
        Self::with(nobody_knows(), 400).await
    }

    /// One that shows no contests.
    pub(crate) async fn without_contests() -> Self {
        Self::built(nobody_knows(), 400, false).await
    }

    async fn with(adviser: Adviser, connections: usize) -> Self {
        Self::built(adviser, connections, true).await
    }

    async fn built(adviser: Adviser, connections: usize, contests: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // No bot plays in these tests.
        let supervisor = std::process::Command::new("cat");
        let context = LaunchOptions::new(supervisor)
            .open(folder.path().to_owned())
            .unwrap();
        let options = SiteOptions {
            store: Store::open_in_memory().await.unwrap(),
            hub: Arc::default(),
            people: Some(PeopleOptions {
                context,
                opponents: Vec::new(),
                folder: folder.path().join("people"),
                records: RecordBounds {
                    bytes: 1 << 20,
                    age: FAR_TOO_LONG,
                },
                grace: Duration::from_secs(600),
                most: GAMES,
            }),
            adviser,
            contests,
            names: Vec::new(),
            proxies: vec![format!("{PROXY}/32").parse().unwrap()],
            user_header: Some("x-remote-user".parse().unwrap()),
            connections,
        };
        let site = Arc::new(Site::new(options, CancellationToken::new()));
        Self {
            routes: routes(&site),
            site,
            _folder: folder,
        }
    }

    /// A tournament of which nothing was played; its name.
    async fn tournament(&self) -> &'static str {
        let definition = Definition {
            deals: 1,
            filler: "exec:true".to_owned(),
            ..Definition::round_robin("othello", vec![serde_json::Value::Null])
        };
        let entrants = ["a", "b"].map(|name| NewEntrant::new(name, "exec:true"));
        let tournament = definition.tournament("cup", entrants.into(), Root::new([7; 32]), 0);
        let tournament = tournament.unwrap();
        self.site.store.create(&tournament).await.unwrap();
        "cup"
    }

    pub(crate) async fn send(&self, who: &Browser, request: Request<Body>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        parts.headers.insert(HOST, "localhost".parse().unwrap());
        if let Some(cookie) = &who.cookie {
            parts.headers.insert(COOKIE, cookie.parse().unwrap());
        }
        if let Some(token) = &who.token {
            let bearer = format!("Bearer {token}");
            parts.headers.insert(AUTHORIZATION, bearer.parse().unwrap());
        }
        if let Some(language) = who.language {
            parts
                .headers
                .insert(ACCEPT_LANGUAGE, language.parse().unwrap());
        }
        if who.is_tls {
            let https = "https".parse().unwrap();
            parts.headers.insert("x-forwarded-proto", https);
        }
        if let Some(forwarded) = &who.forwarded {
            let forwarded = forwarded.parse().unwrap();
            parts.headers.insert("x-forwarded-for", forwarded);
        }
        if let Some(user) = who.user {
            let user = user.parse().unwrap();
            parts.headers.insert("x-remote-user", user);
        }
        parts
            .extensions
            .insert(PeerAddress(who.peer.parse().unwrap()));
        let routes = self.routes.clone();
        let answered = routes.oneshot(Request::from_parts(parts, body));
        timeout(FAR_TOO_LONG, answered).await.unwrap().unwrap()
    }

    /// With a tournament that has two games.
    pub(crate) async fn with_games() -> Self {
        let page = Self::new().await;
        let name = page.tournament().await;
        let tournament = page.site.store.tournament(name).await.unwrap().unwrap();
        let games = [stored(0, &played(None)), stored(1, &played(Some(&crash())))];
        let reported = page.site.store.report(tournament.id, games.into()).await;
        assert_eq!(reported.unwrap().len(), 2);
        page
    }

    pub(crate) async fn get(&self, who: &Browser, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = self.send(who, request).await;
        (answer.status(), text(answer).await)
    }

    pub(crate) async fn post(&self, who: &Browser, path: &str, form: &str) -> Response<Body> {
        let request = Request::post(path)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(Body::from(form.to_owned()))
            .unwrap();
        self.send(who, request).await
    }

    /// Asks for JSON, with the tag of what is known: the tag, and what is sent.
    async fn ask(&self, who: &Browser, path: &str, known: Option<&str>) -> (String, String) {
        let mut request = Request::get(path).header("accept", "application/json");
        if let Some(known) = known {
            request = request.header("if-none-match", known);
        }
        let answer = self.send(who, request.body(Body::empty()).unwrap()).await;
        let status = answer.status();
        let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
        let told = text(answer).await;
        let expected = match told.is_empty() {
            true => StatusCode::NOT_MODIFIED,
            false => StatusCode::OK,
        };
        assert_eq!(status, expected, "{path}");
        (tag, told)
    }

    /// Begins a game against people who are invited, and gives where it is.
    async fn begin(&self, who: &mut Browser, game: &str) -> Result<String, StatusCode> {
        let form = format!("game={game}&against=invite&seat=0&name=eva");
        let answer = self.post(who, "/play", &form).await;
        if answer.status() != StatusCode::SEE_OTHER {
            return Err(answer.status());
        }
        who.keep_cookie(&answer);
        Ok(resolved(
            "/play",
            answer.headers()[LOCATION].to_str().unwrap(),
        ))
    }

    /// Begins a game of two, and gives where it is.
    async fn begin_for_two(&self, who: &mut Browser, other: &mut Browser, game: &str) -> String {
        let at = self.begin(who, game).await.unwrap();
        let joined = self.post(other, &format!("{at}/join"), "").await;
        other.keep_cookie(&joined);
        at
    }

    /// Does something in a game: the answer's code, and what is told.
    async fn act(&self, who: &Browser, at: &str, act: &str, form: &str) -> (StatusCode, String) {
        let answer = self.post(who, &format!("{at}/{act}"), form).await;
        let status = answer.status();
        let told: serde_json::Value = serde_json::from_str(&text(answer).await).unwrap();
        (status, told["message"].as_str().unwrap().to_owned())
    }

    /// Looks at a page until it has this.
    async fn until(&self, who: &Browser, path: &str, has: &str) -> String {
        let began = Instant::now();
        loop {
            let (_, page) = self.get(who, path).await;
            if page.contains(has) {
                return page;
            }
            assert!(began.elapsed() < FAR_TOO_LONG, "never {has}: {page}");
            sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Browser {
    pub(crate) fn at(peer: &str) -> Self {
        Self {
            peer: peer.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn behind_proxy(address: &str) -> Self {
        Self {
            forwarded: Some(address.to_owned()),
            ..Self::at(PROXY)
        }
    }

    pub(crate) fn keep_cookie(&mut self, answer: &Response<Body>) {
        if let Some(cookie) = answer.headers().get(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap().split(';').next().unwrap();
            self.cookie = Some(cookie.to_owned());
        }
    }
}

/// The path that a browser finds at an address on a page, or in the answer to what it asked for.
pub(crate) fn resolved(asked: &str, address: &str) -> String {
    assert!(
        !address.starts_with('/') && !address.contains(':'),
        "{address}"
    );
    let path = asked.split('?').next().unwrap();
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    let mut rest = address;
    loop {
        if let Some(up) = rest.strip_prefix("../") {
            folders.pop();
            assert!(
                !folders.is_empty(),
                "{address} on {asked} leads out of the site"
            );
            rest = up;
        } else if let Some(here) = rest.strip_prefix("./") {
            rest = here;
        } else {
            return format!("{}/{rest}", folders.join("/"));
        }
    }
}

pub(crate) async fn text(answer: Response<Body>) -> String {
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn a_client_without_a_cookie_takes_its_share_of_the_games_and_others_still_play() {
    let page = Page::new().await;
    let (mut begun, mut refused) = (0, 0);
    for _ in 0..98 {
        // Each time without a cookie, and with a forged address.
        let mut villain = Browser::at("192.0.2.1");
        villain.forwarded = Some(format!("203.0.113.{begun}"));
        match page.begin(&mut villain, "othello").await {
            Ok(_) => begun += 1,
            Err(status) => {
                assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
                refused += 1;
            }
        }
    }
    assert_eq!((begun, refused), (16, 82));
    // Others have room, at addresses of their own and behind the proxy.
    for number in 0..20 {
        let mut other = Browser::behind_proxy(&format!("203.0.113.{number}"));
        page.begin(&mut other, "othello").await.unwrap();
    }
    let mut refused = Vec::new();
    for number in 0..200 {
        let mut one = Browser::at(&format!("2001:db8::{number:x}"));
        refused.extend(page.begin(&mut one, "othello").await.err());
    }
    // A network of IPv6 is one client.
    assert_eq!(refused.len(), 184);
    let villain = Browser::at("192.0.2.1");
    let answer = page
        .post(&villain, "/play", "game=othello&against=invite")
        .await;
    assert!(answer.headers().contains_key(RETRY_AFTER));
    assert!(text(answer).await.contains("were begun from your address"));
    let request = Request::post("/play")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header("accept-language", "zh")
        .body(Body::from("game=othello&against=invite"))
        .unwrap();
    let chinese = page.send(&Browser::at("192.0.2.1"), request).await;
    assert!(text(chinese).await.contains("从你的地址开始的对局已达上限"));
}

#[tokio::test]
async fn when_all_games_are_taken_the_next_client_is_told_to_come_again() {
    let page = Page::new().await;
    let mut begun = 0;
    let refused = loop {
        let mut one = Browser::at(&format!("198.51.100.{}", begun / 8));
        match page.begin(&mut one, "othello").await {
            Ok(_) => begun += 1,
            Err(status) => break status,
        }
    };
    assert_eq!((begun, refused), (GAMES, StatusCode::SERVICE_UNAVAILABLE));
}

#[tokio::test]
async fn a_body_that_is_never_whole_is_given_up_and_the_page_goes_on() {
    let page = Page::new().await;
    pause();
    let who = Browser::at("192.0.2.1");
    for path in ["/play", "/settings", "/play/x/move"] {
        let some: Result<Bytes, std::io::Error> = Ok(Bytes::from_static(b"game=oth"));
        let some = futures_util::stream::iter([some]);
        let unfinished = futures_util::StreamExt::chain(some, futures_util::stream::pending());
        let request = Request::post(path)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from_stream(unfinished))
            .unwrap();
        let began = Instant::now();
        let answer = page.send(&who, request).await;
        assert_eq!(answer.status(), StatusCode::REQUEST_TIMEOUT, "{path}");
        assert_eq!(answer.headers()["connection"], "close");
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    let long = "a=".to_owned() + &"b".repeat(100_000);
    let answer = page.post(&who, "/settings", &long).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn whoever_says_nothing_more_or_reads_nothing_loses_the_connection() {
    let page = Page::new().await;
    pause();
    let get = "GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (said, reads) in [
        ("", true),
        ("GET / HTTP/1.1\r\nHo", true),
        (
            "POST /play HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nga",
            true,
        ),
        (get, true),
        (get, false),
    ] {
        // Less room than any answer takes.
        let (mut client, server) = tokio::io::duplex(64);
        let peer = "192.0.2.1".parse().unwrap();
        let served = tokio::spawn(serve_connection(server, page.routes.clone(), peer));
        let talks = async {
            client.write_all(said.as_bytes()).await.unwrap();
            if reads {
                let mut answer = Vec::new();
                let _ = client.read_to_end(&mut answer).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        let ended = async {
            tokio::select! {
                () = async { talks.await; std::future::pending().await } => {}
                ended = served => ended.unwrap(),
            }
        };
        timeout(FAR_TOO_LONG, ended).await.expect(said);
    }
}

#[tokio::test]
async fn a_page_that_is_followed_ends_after_a_while_and_gives_its_place_back() {
    let page = Page::with(nobody_knows(), 16).await;
    pause();
    let who = Browser::at("192.0.2.1");
    // A game: what is in the store is read on other threads, for which no paused clock waits.
    let at = page.begin(&mut who.clone(), "othello").await.unwrap();
    let follow = |who: Browser| {
        let (page, path) = (&page, format!("{at}/events"));
        async move {
            let request = Request::get(path).body(Body::empty()).unwrap();
            page.send(&who, request).await
        }
    };
    // A quarter of the connections is one client's, and half of these follow.
    let first = follow(who.clone()).await;
    let second = follow(who.clone()).await;
    assert_eq!(first.status(), StatusCode::OK);
    let third = follow(who.clone()).await;
    assert_eq!(third.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(third.headers().contains_key(RETRY_AFTER));
    // Others have places of their own, until three quarters of all are taken.
    let mut others = Vec::new();
    for number in 0..20 {
        let other = follow(Browser::behind_proxy(&format!("203.0.113.{number}"))).await;
        others.push(other);
    }
    let open = others.iter().filter(|one| one.status() == StatusCode::OK);
    assert_eq!(open.count(), 10);
    let refused = others.last().unwrap().status();
    assert_eq!(refused, StatusCode::SERVICE_UNAVAILABLE);
    // Whoever only looks is answered.
    assert_eq!(page.get(&who, &at).await.0, StatusCode::OK);
    let began = Instant::now();
    let sent = timeout(FAR_TOO_LONG, text(first)).await.expect("it ends");
    assert!(sent.contains("data:"), "{sent}");
    assert!(began.elapsed() <= feed::LONGEST + Duration::from_secs(1));
    drop(second);
    drop(others);
    assert_eq!(follow(who).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_game_in_which_nothing_is_played_ends_although_its_page_is_open() {
    let page = Page::new().await;
    pause();
    let site = page.site.clone();
    tokio::spawn(async move { site.people().unwrap().look_after().await });
    // It goes on with the games that it finds when it begins: there are none yet.
    tokio::task::yield_now().await;
    let mut eva = Browser::at("192.0.2.1");
    let at = page.begin(&mut eva, "othello").await.unwrap();
    page.until(&eva, &at, "It is your turn.").await;
    // It is followed all the time.
    let table = page.site.people.as_ref().unwrap().table_at(&at).unwrap();
    let chairs = table.chairs();
    let SeatedPlayer::Person { browser: Some(own) } = &chairs[0] else {
        panic!("eva sits there");
    };
    let presence = table.present(own);
    sleep(Duration::from_secs(3600)).await;
    assert!(!table.is_over());
    sleep(Duration::from_secs(2 * 3600)).await;
    assert!(table.is_over());
    drop(presence);
}

#[tokio::test]
async fn a_move_is_taken_back_when_the_other_person_agrees() {
    let page = Page::new().await;
    let mut eva = Browser::at("192.0.2.1");
    let mut bob = Browser::at("192.0.2.2");
    let at = page.begin_for_two(&mut eva, &mut bob, "othello").await;
    page.until(&eva, &at, "It is your turn.").await;
    let (status, told) = page.act(&eva, &at, "move", "move=d3").await;
    assert_eq!((status, &*told), (StatusCode::OK, ""));
    page.until(&bob, &at, "It is your turn.").await;
    let asks = "eva asks to take back their last move.";
    // It is not eva's alone to decide, whoever is asked now.
    let (status, told) = page.act(&eva, &at, "back", "").await;
    assert_eq!(status, StatusCode::OK);
    assert!(told.contains("is asked whether you may"), "{told}");
    page.until(&bob, &at, asks).await;
    assert!(
        page.get(&eva, &at)
            .await
            .1
            .contains("You have asked to take back")
    );
    // Eva can't agree in bob's place.
    for form in ["", "seat=0", "seat=1"] {
        let answer = page.post(&eva, &format!("{at}/agree"), form).await;
        assert!(answer.status().is_client_error(), "{form}");
    }
    let (status, _) = page.act(&bob, &at, "refuse", "seat=1").await;
    assert_eq!(status, StatusCode::OK);
    let after = page.get(&bob, &at).await.1;
    assert!(
        !after.contains(asks) && after.contains("It is your turn."),
        "{after}"
    );
    let (status, _) = page.act(&bob, &at, "agree", "seat=1").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    // A request is of no use any more when the game has gone on.
    page.act(&eva, &at, "back", "").await;
    page.act(&bob, &at, "move", "move=c3").await;
    page.until(&eva, &at, "It is your turn.").await;
    let (status, _) = page.act(&bob, &at, "agree", "seat=1").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    page.act(&eva, &at, "back", "").await;
    let (status, _) = page.act(&bob, &at, "agree", "seat=1").await;
    assert_eq!(status, StatusCode::OK);
    let table = page.site.people.as_ref().unwrap().table_at(&at).unwrap();
    let moves = || table.view().seats[&Seat::new(0)].moves.len();
    let began = Instant::now();
    while moves() > 0 {
        assert!(began.elapsed() < FAR_TOO_LONG);
        tokio::task::yield_now().await;
    }
    page.until(&eva, &at, "It is your turn.").await;
}

#[tokio::test]
async fn in_a_game_with_secrets_people_take_back_nothing() {
    let page = Page::new().await;
    let mut eva = Browser::at("192.0.2.1");
    let mut bob = Browser::at("192.0.2.2");
    let at = page.begin_for_two(&mut eva, &mut bob, "mahjong").await;
    page.until(&eva, &at, "It is your turn.").await;
    let table = page.site.people.as_ref().unwrap().table_at(&at).unwrap();
    let legal = table.view().seats[&Seat::new(0)].legal[0].clone();
    page.act(&eva, &at, "move", &format!("move={legal}")).await;
    page.until(&bob, &at, "It is your turn.").await;
    let (status, told) = page.act(&eva, &at, "back", "").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(told.contains("no move is taken back"), "{told}");
    assert!(!page.get(&bob, &at).await.1.contains("asks to take back"));
}

#[tokio::test]
async fn others_watch_a_game_where_whoever_began_it_allows_it_and_no_hand_is_hidden() {
    let page = Page::new().await;
    let stranger = Browser::at("192.0.2.9");
    for (game, allowed, is_seen) in [
        ("othello", "&watched=1", true),
        ("othello", "", false),
        ("mahjong", "&watched=1", false),
    ] {
        let mut eva = Browser::at("192.0.2.1");
        let at = page
            .begin(&mut eva, &format!("{game}{allowed}"))
            .await
            .unwrap();
        page.until(&eva, &at, "It is your turn.").await;
        // Nobody who was not invited finds the free seat.
        let (_, lobby) = page.get(&stranger, "/play").await;
        assert!(!lobby.contains(&at[1..]), "{lobby}");
        page.post(&Browser::at("192.0.2.2"), &format!("{at}/join"), "")
            .await;
        let (_, lobby) = page.get(&stranger, "/play").await;
        assert_eq!(
            lobby.contains(&at[1..]),
            is_seen,
            "{game}{allowed}: {lobby}"
        );
        // Whoever plays in it has it among their own.
        let (_, own) = page.get(&eva, "/play").await;
        assert_eq!(own.matches(&at[1..]).count(), 1, "{own}");
        let (_, watched) = page.get(&stranger, &at).await;
        assert_eq!(watched.contains("data-says"), is_seen, "{game}{allowed}");
        assert_eq!(watched.contains("It is the turn of eva."), is_seen);
        let events = page.ask(&stranger, &format!("{at}/events"), None).await.1;
        for seen in [&watched, &events] {
            for none in ["data-move", "legal-moves", "name=\"move\"", "hint"] {
                assert!(!seen.contains(none), "{none}: {seen}");
            }
        }
        let refused = page.post(&stranger, &format!("{at}/move"), "move=d3").await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    }
}

#[tokio::test]
async fn whoever_has_played_finds_the_game_again_and_nobody_else_has_it_in_a_list() {
    let page = Page::new().await;
    let mut eva = Browser::at("192.0.2.1");
    let mut bob = Browser::at("192.0.2.2");
    let at = page.begin_for_two(&mut eva, &mut bob, "othello").await;
    page.until(&eva, &at, "It is your turn.").await;
    let (status, _) = page.act(&eva, &at, "resign", "").await;
    assert_eq!(status, StatusCode::OK);
    page.until(&bob, &at, "You won").await;
    let link = at.replace("/play/", "people/");
    for (who, told) in [
        (&eva, Some("You lost")),
        (&bob, Some("You won")),
        (&Browser::at("192.0.2.9"), None),
    ] {
        let (_, lobby) = page.get(who, "/play").await;
        assert_eq!(lobby.contains(&link), told.is_some(), "{lobby}");
        assert!(told.is_none_or(|told| lobby.contains(told)), "{lobby}");
    }
    let (status, _) = page.get(&bob, &format!("/{link}")).await;
    assert_eq!(status, StatusCode::OK);
}

/// Thinks until it may end.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    begun: AtomicUsize,
}

impl Gate {
    fn adviser(self: &Arc<Self>) -> Adviser {
        let gate = self.clone();
        Arc::new(move |_| {
            gate.begun.fetch_add(1, Ordering::SeqCst);
            let mut open = gate.open.lock();
            gate.opened.wait_while(&mut open, |open| !*open);
            drop(open);
            Ok(Advice::Hint {
                bot: "sage".to_owned(),
                answer: Vec::new(),
            })
        })
    }

    fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }
}

#[tokio::test]
async fn hints_and_evaluations_wait_in_one_queue_and_who_asks_for_too_many_is_told_so() {
    let gate = Arc::<Gate>::default();
    let page = Arc::new(Page::with(gate.adviser(), 400).await);
    let mut eva = Browser::at("192.0.2.1");
    let at = page.begin(&mut eva, "othello").await.unwrap();
    page.until(&eva, &at, "It is your turn.").await;
    let ask = |who: &Browser, at: &str, act: &'static str| {
        let (page, who, at) = (page.clone(), who.clone(), at.to_owned());
        tokio::spawn(async move {
            let request = Request::post(format!("{at}/{act}"))
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .header("accept", "application/json")
                .body(Body::empty())
                .unwrap();
            let answer = page.send(&who, request).await;
            let retries = answer.headers().contains_key(RETRY_AFTER);
            (answer.status(), retries, text(answer).await)
        })
    };
    // One is thought about and four wait, however many are asked for.
    let asked: Vec<_> = (0..20)
        .map(|number| ask(&eva, &at, ["hint", "evaluate"][number % 2]))
        .collect();
    let mut refused = 0;
    let (mut waiting, mut looked) = (asked, Instant::now());
    while waiting.len() > 5 {
        let (ended, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|one| one.is_finished());
        waiting = rest;
        for one in ended {
            let (status, retries, told) = one.await.unwrap();
            assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{told}");
            assert!(
                retries && told.contains("still being thought about"),
                "{told}"
            );
            refused += 1;
        }
        assert!(looked.elapsed() < FAR_TOO_LONG);
        looked = Instant::now();
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(refused, 15);
    // Another client's turn is next.
    let mut bob = Browser::behind_proxy("203.0.113.7");
    let his = page.begin(&mut bob, "othello").await.unwrap();
    page.until(&bob, &his, "It is your turn.").await;
    let hint = ask(&bob, &his, "hint");
    while gate.begun.load(Ordering::SeqCst) < 2 {
        sleep(Duration::from_millis(1)).await;
    }
    // Nobody waits for that to play.
    let (status, told) = page.act(&bob, &his, "move", "move=d3").await;
    assert_eq!((status, &*told), (StatusCode::OK, ""));
    gate.open();
    assert!(hint.await.unwrap().2.contains("There is no hint"));
    for one in waiting {
        assert_eq!(one.await.unwrap().0, StatusCode::UNPROCESSABLE_ENTITY);
    }
}

#[tokio::test]
async fn numbers_that_nothing_can_have_are_not_found_and_never_our_failure() {
    let page = Page::new().await;
    let tournament = page.tournament().await;
    let who = Browser::at("192.0.2.1");
    let numbers = [
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775808",
        "9223372036854775807",
        "4294967296",
        "-1",
        "1e9",
        "%00",
    ];
    let games = [
        format!("/t/{tournament}/games/"),
        format!("/t/{tournament}/live/"),
        format!("/api/v1/tournaments/{tournament}/games/"),
        format!("/api/v1/tournaments/{tournament}/live/"),
    ];
    for number in numbers {
        for key in [
            format!("{number}.0"),
            format!("0.{number}"),
            number.to_owned(),
        ] {
            for game in &games {
                let is_live = game.starts_with("/t") && game.ends_with("/live/");
                for more in [
                    "",
                    "/frames",
                    "/record",
                    "/picture",
                    "/evaluation",
                    "/events",
                ] {
                    let path = format!("{game}{key}{more}");
                    let (status, told) = page.get(&who, &path).await;
                    let is_live = is_live && (status.is_success() || status.is_redirection());
                    assert!(
                        status.is_client_error() || is_live,
                        "{path}: {status} {told}"
                    );
                }
            }
        }
        for path in [
            format!("/t/{tournament}/games?after={number}.0"),
            format!("/t/{tournament}/games?after=0.{number}"),
            format!("/t/{tournament}/games?match={number}"),
            format!("/t/{tournament}/games?fouls={number}"),
            format!("/t/{tournament}/games/0.0?ply={number}"),
            format!("/t/{tournament}/games/0.0?seat={number}"),
            format!("/api/v1/tournaments?offset={number}"),
            format!("/api/v1/tournaments?limit={number}"),
            format!("/api/v1/tournaments?offset={number}&limit={number}"),
            format!("/api/v1/tournaments/{tournament}/games?limit={number}"),
            format!("/api/v1/tournaments/{tournament}/games?after={number}.{number}"),
            format!("/api/v1/tournaments/{tournament}/games?match={number}&fouls={number}"),
            format!("/people/{number}?ply={number}"),
            format!("/play/{number}"),
        ] {
            let (status, told) = page.get(&who, &path).await;
            assert!(!status.is_server_error(), "{path}: {status} {told}");
        }
        let forms = [
            format!("game=othello&against=invite&seat={number}"),
            format!("game=othello&against=invite&limit_ms={number}"),
            format!("game=connect_four&against=invite&setup.columns={number}"),
            format!("game=connect_four&against=invite&setup=9x{number}"),
        ];
        for form in forms {
            let status = page.post(&who, "/play", &form).await.status();
            assert_eq!(status, StatusCode::BAD_REQUEST, "{form}");
        }
    }
}

/// A line is a whole set-up; a part that somebody has changed is so in spite of it.
#[tokio::test]
async fn a_set_up_is_a_line_or_its_parts() {
    let page = Page::new().await;
    let mut who = Browser::at("192.0.2.1");
    let untouched = "setup.rows=random&setup.columns=random&setup.forbidden=random";
    for (form, cells, has_forbidden) in [
        (format!("setup=6x7&{untouched}"), 6 * 7, false),
        (
            format!("setup=9x10,forbidden=4:4&{untouched}"),
            9 * 10,
            true,
        ),
        (
            "setup.rows=random&setup=6x7&setup.columns=8".to_owned(),
            6 * 8,
            false,
        ),
        (
            "setup.rows=5&setup.columns=4&setup=".to_owned(),
            5 * 4,
            true,
        ),
    ] {
        let form = format!("game=connect_four&against=people&{form}");
        let answer = page.post(&who, "/play", &form).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{form}");
        who.keep_cookie(&answer);
        let at = resolved("/play", answer.headers()[LOCATION].to_str().unwrap());
        let table = page.site.people.as_ref().unwrap().table_at(&at).unwrap();
        while table.view().turn.is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        let scene = table.view().seats[&Seat::new(0)].scene.clone();
        let board = &scene.areas[0].cells;
        assert_eq!(board.len(), cells, "{form}");
        let blocked = board.iter().any(|cell| cell.piece == Piece::Blocked);
        assert_eq!(blocked, has_forbidden, "{form}");
    }
    let (_, lobby) = page.get(&who, "/play?game=connect_four").await;
    assert!(lobby.contains("<code>9x9,forbidden=4:4</code>"), "{lobby}");
}

#[tokio::test]
async fn a_foul_is_shown_as_the_command_line_says_it_in_each_language() {
    let page = Page::with_games().await;
    let name = "cup";
    for (language, before) in [("en", ": "), ("zh", "：崩溃：")] {
        let who = Browser {
            language: Some(language),
            ..Browser::at("192.0.2.1")
        };
        let (status, shown) = page.get(&who, &format!("/t/{name}/games/0.1")).await;
        assert_eq!(status, StatusCode::OK, "{shown}");
        let sentence = "ZeroDivisionError: &lt;x&gt; (my_bot.py:2); crashed: exited with code 1";
        let printed = "line 2\nZeroDivisionError: &lt;x&gt;\n</pre>";
        let sentence = format!("{before}<span lang=\"en\">{sentence}</span>");
        for expected in [&*sentence, printed] {
            assert!(shown.contains(expected), "{expected} in {shown}");
        }
        // The raw messages at the end have the text of the record.
        let (said, _) = shown.split_once("<details class=\"messages\"").unwrap();
        assert!(!said.contains("its last words"), "{said}");
    }
}

#[tokio::test]
async fn after_a_setting_nobody_is_sent_to_another_site() {
    let page = Page::new().await;
    let who = Browser::at("192.0.2.1");
    for (back, to) in [
        ("/t/spring?x=1", "./t/spring?x=1"),
        ("//evil.example", "./"),
        ("/%5Cevil.example", "./"),
        ("/%09/evil.example", "./"),
        ("/%0A/evil.example", "./"),
        ("%09//evil.example", "./"),
        ("https://evil.example", "./"),
        ("", "./"),
    ] {
        let answer = page.post(&who, "/settings", &format!("back={back}")).await;
        assert_eq!(answer.headers()[LOCATION], to, "{back}");
    }
}

/// The end of a program in Python.
fn crash() -> Foul {
    let printed = [
        "  File \"/srv/me/my_bot.py\", line 2",
        "ZeroDivisionError: <x>",
    ];
    Foul::Crashed {
        detail: with_last_words("exited with code 1", &printed),
    }
}

/// A game of othello: to its end, or until the seat that is asked third commits a foul.
pub(crate) fn played(foul: Option<&Foul>) -> Record {
    played_in(referee_games::game("othello").unwrap(), foul)
}

/// The same of any game.
pub(crate) fn played_in(kind: &'static dyn GameKind, foul: Option<&Foul>) -> Record {
    let players = ["a", "b", "c", "d"].map(str::to_owned);
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: "cup-1".to_owned(),
        setup: serde_json::Value::Null,
        seed: Seed::new([0; 32]),
        players: players[..kind.info().seats as usize].to_vec().into(),
        limits: Limits::default(),
        spent: PerSeat::default(),
    })
    .unwrap();
    let mut asked = 0;
    loop {
        let questions = match sitting.advance() {
            Next::Tell(_) => continue,
            Next::Over(finished) => return finished.record,
            Next::Ask(questions) => questions,
        };
        for question in questions {
            let legal = sitting.legal(question.seat);
            asked += usize::from(question.number > 0);
            let foul = foul.filter(|_| asked == 3).cloned();
            let reply = match (foul, legal.first()) {
                (Some(foul), Some(_)) => SeatReply::Foul(foul),
                (_, Some((_, own))) => SeatReply::Answer(answer(question.number, own)),
                (_, None) => SeatReply::Answer(ready()),
            };
            sitting.hear(question.seat, reply, Duration::ZERO);
        }
    }
}

/// A game of the tournament as it is stored.
pub(crate) fn stored(seating: u32, record: &Record) -> FinishedGame {
    let verdict = &record.result.verdict;
    let outcome = verdict.outcome().unwrap();
    let fouls = Seat::all(2).filter_map(|seat| {
        let foul = verdict.foul(seat)?.clone();
        Some(referee_core::SeatFoul { seat, foul })
    });
    FinishedGame {
        row: GameRow {
            group: 0,
            seating,
            games_in_group: 2,
            matchup: MatchId(0),
            lineup: vec![Some(Entrant::new(0)), Some(Entrant::new(1))],
            order: vec![seating as usize, 1 - seating as usize],
            places: outcome.places.as_slice().to_vec(),
            scores: outcome.scores.as_slice().to_vec(),
            reason: outcome.reason.clone(),
            fouls: fouls.collect(),
            plies: 2,
            thought_us: vec![0, 0],
            course: u64::from(seating),
            play_hash: "hash".to_owned(),
            finished_unix_ms: 0,
            worker: None,
            counters: Vec::new(),
        },
        chunk: ChunkKey {
            matchup: MatchId(0),
            first_group: 0,
            groups: 1,
            seating: None,
        },
        attempt: 0,
        record: pack_for_store(&record.to_json_lines()),
        withhold: false,
        logs: [0, 1].map(|seat| format!("SAID-{seating}-{seat}\n")).into(),
    }
}

/// The words in Latin letters that a page says to people: not the names of elements, and not what
/// stands in `code`.
pub(crate) fn latin_words(page: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text += before;
        text.push(' ');
        let hidden = ["style", "script", "code", "title", "pre"];
        let name = hidden.into_iter().find(|name| {
            let after = tag.strip_prefix(name);
            after.is_some_and(|after| after.starts_with(['>', ' ']))
        });
        // What is read aloud is said too.
        let inside = tag.split_once('>').map_or(tag, |(inside, _)| inside);
        for said in [
            "aria-label=\"",
            "placeholder=\"",
            "data-confirm=\"",
            "data-failed=\"",
        ] {
            let label = inside.split_once(said).map_or("", |(_, label)| label);
            text += label.split('"').next().unwrap_or_default();
            text.push(' ');
        }
        let end = name.map_or_else(|| ">".to_owned(), |name| format!("</{name}>"));
        rest = tag.split_once(&*end).map_or("", |(_, after)| after);
    }
    text += rest;
    words_of(&text.replace("&lt;", "<").replace("&gt;", ">"))
}

fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c))
        .filter(|word| word.contains(|c: char| c.is_ascii_alphabetic()))
        .map(str::to_owned)
        .collect()
}

/// Names, and what is written in letters in every language.
const NAMES: &[&str] = &[
    "Bot", "Arena", "API", "JSON", "HTTP", "OpenAPI", "English", "UTC", "Elo", "Home", "End",
    "GROUP", "SEATING", "arena", "replay", "s", "ms", "a", "b", "cup", "cup-1", "eva", "guest-1",
    "guest-2", "guest-3", "SVG", "p99", "othello", "you", "win", "pass",
];

/// True if a word is a square, a tile, cards, or a name.
pub(crate) fn is_name_or_notation(word: &str) -> bool {
    let mut chars = word.chars();
    let is_piece = match (chars.next(), chars.next(), chars.next()) {
        (Some('a'..='h'), None, _) => true,
        (Some('a'..='h'), Some('1'..='8'), None) => true,
        (Some('1'..='9'), Some('c' | 'b' | 'd'), None) => true,
        (Some('2'..='9' | 'A' | 'J' | 'Q' | 'K' | 'T'), Some('C' | 'D' | 'H' | 'S'), None) => true,
        _ => ["10C", "10D", "10H", "10S", "JK1", "JK2"].contains(&word),
    };
    is_piece || NAMES.contains(&word) || word.starts_with("people-")
}

/// True if rules quote a word: as code, or in brackets. Variables have one letter.
fn is_quoted_in(rules: &str, word: &str) -> bool {
    let (mut depth, mut is_code) = (0_i32, false);
    let mut quoted = String::new();
    for c in rules.chars() {
        match c {
            '`' => is_code = !is_code,
            '（' | '(' | '[' | '“' => depth += 1,
            '）' | ')' | ']' | '”' => depth -= 1,
            c if is_code || depth > 0 => {
                quoted.push(c);
                continue;
            }
            _ => continue,
        }
        quoted.push(' ');
    }
    let is_formula = ["mod", "sqrt", "UCB1", "2n", "MiB", "GiB"].contains(&word);
    word.len() == 1 || is_formula || words_of(&quoted).iter().any(|one| one == word)
}

/// The texts in JSON.
fn texts(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => format!("{text} "),
        serde_json::Value::Array(all) => all.iter().map(texts).collect(),
        serde_json::Value::Object(all) => all.values().map(texts).collect(),
        _ => String::new(),
    }
}

/// The addresses on a page.
pub(crate) fn addresses(page: &str) -> Vec<String> {
    let names = [
        "href",
        "src",
        "action",
        "data-at",
        "data-frames",
        "data-events",
    ];
    let named = names.iter().flat_map(|name| {
        let after = page
            .split(&format!(" {name}=\""))
            .skip(1)
            .collect::<Vec<_>>();
        after
            .into_iter()
            .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"))
    });
    named.collect()
}

#[tokio::test]
async fn a_rematch_is_one_game_in_which_seats_are_changed() {
    let page = Page::new().await;
    let [mut eva, mut bob, other] = [1, 2, 3].map(|at| Browser::at(&format!("192.0.2.{at}")));
    let at = page.begin_for_two(&mut eva, &mut bob, "connect_four").await;
    page.until(&eva, &at, "It is your turn.").await;
    let rematch = format!("{at}/rematch");
    let too_early = page.post(&eva, &rematch, "").await;
    assert_eq!(too_early.status(), StatusCode::CONFLICT);
    page.act(&eva, &at, "resign", "").await;
    for (who, headline) in [(&eva, "You lost"), (&bob, "You won")] {
        let shown = page.until(who, &at, headline).await;
        assert!(shown.contains("See it move by move"), "{shown}");
        assert!(
            !shown.contains("/resign") && !shown.contains("/hint"),
            "{shown}"
        );
    }
    let refused = page.post(&other, &rematch, "").await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let mut next = Vec::new();
    for who in [&eva, &bob] {
        let answer = page.post(who, &rematch, "").await;
        next.push(resolved(
            &rematch,
            answer.headers()[LOCATION].to_str().unwrap(),
        ));
    }
    assert_eq!(next[0], next[1]);
    assert_ne!(next[0], at);
    // The other one begins.
    page.until(&bob, &next[0], "It is your turn.").await;
    let (_, shown) = page.get(&eva, &next[0]).await;
    assert!(shown.contains("The others think."), "{shown}");
}

#[tokio::test]
async fn every_address_on_every_page_holds_below_any_path() {
    let page = Page::with_games().await;
    let mut eva = Browser::at("192.0.2.1");
    let at = page.begin(&mut eva, "othello").await.unwrap();
    page.until(&eva, &at, "It is your turn.").await;
    let over = page.begin(&mut eva, "connect_four").await.unwrap();
    page.until(&eva, &over, "It is your turn.").await;
    page.act(&eva, &over, "resign", "").await;
    page.until(&eva, &over, "See it move by move").await;
    let mut paths: Vec<String> = [
        "/",
        "/tournaments",
        "/play",
        "/play?game=othello",
        "/rules/othello",
        "/api/v1/",
        "/t/cup",
        "/t/cup/games",
        "/t/cup/games?bot=a",
        "/t/cup/cross",
        "/t/cup/bots/a",
        "/t/cup/games/0.0?ply=1",
        "/t/none",
        "/there/is/none",
    ]
    .map(str::to_owned)
    .into();
    paths.extend([at, over.replace("/play/", "/people/")]);
    let mut checked = std::collections::BTreeSet::new();
    for path in &paths {
        let (status, shown) = page.get(&eva, path).await;
        let is_absent = path.ends_with("/none");
        assert_eq!(status == StatusCode::NOT_FOUND, is_absent, "{path}");
        let (_, base) = shown.split_once("<base href=\"").unwrap();
        let root = resolved(path, base.split('"').next().unwrap());
        assert_eq!(root, "/", "{path}");
        // What changes later has addresses, too.
        let events = addresses(&shown)
            .into_iter()
            .find(|one| one.ends_with("events"));
        let changes = match events {
            Some(events) => page.ask(&eva, &resolved("/", &events), None).await.1,
            None => String::new(),
        };
        for address in addresses(&shown)
            .into_iter()
            .chain(addresses(&changes.replace("\\\"", "\"")))
        {
            // There is nobody who evaluates.
            if address.starts_with("..") || address.contains("=yes#") {
                continue;
            }
            let to = resolved("/", &address);
            let to = to.split('#').next().unwrap().to_owned();
            if !checked.insert(to.clone()) {
                continue;
            }
            let request = Request::get(&to).body(Body::empty()).unwrap();
            let status = page.send(&eva, request).await.status();
            let is_there = status.is_success()
                || status.is_redirection()
                || status == StatusCode::METHOD_NOT_ALLOWED;
            assert!(
                is_there || to.contains("none"),
                "{address} on {path}: {status}"
            );
        }
    }
    assert!(checked.len() > 30, "{checked:?}");
    let (_, described) = page.get(&eva, "/api/v1/openapi.json").await;
    let described: serde_json::Value = serde_json::from_str(&described).unwrap();
    let server = described["servers"][0]["url"].as_str().unwrap();
    assert_eq!(resolved("/api/v1/openapi.json", server), "/api/v1");
    // A game that goes on leads to itself when it is over, from below any path.
    let request = Request::get("/t/cup/live/0.0").body(Body::empty()).unwrap();
    let answer = page.send(&eva, request).await;
    let to = answer.headers()[LOCATION].to_str().unwrap();
    assert_eq!(resolved("/t/cup/live/0.0", to), "/t/cup/games/0.0");
}

#[tokio::test]
async fn nobody_on_the_way_may_keep_hold_back_or_change_a_stream() {
    let page = Page::new().await;
    page.tournament().await;
    let mut eva = Browser::at("192.0.2.1");
    let at = page.begin(&mut eva, "othello").await.unwrap();
    for path in [
        "/events",
        "/t/cup/events",
        "/t/cup/live/0.0/events",
        &format!("{at}/events"),
    ] {
        let request = Request::get(path)
            .header("accept-encoding", "gzip, zstd")
            .header("accept", "text/event-stream")
            .body(Body::empty())
            .unwrap();
        let answer = page.send(&eva, request).await;
        let header = |name: &str| {
            answer
                .headers()
                .get(name)
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(header("content-type"), Some("text/event-stream"), "{path}");
        assert_eq!(header("x-accel-buffering"), Some("no"), "{path}");
        assert_eq!(
            header("cache-control"),
            Some("no-store, no-transform"),
            "{path}"
        );
        assert_eq!(header("content-encoding"), None, "{path}");
    }
}

#[tokio::test]
async fn a_stream_without_news_shows_that_it_lives_long_before_a_proxy_ends_it() {
    let page = Page::new().await;
    let mut eva = Browser::at("192.0.2.1");
    let at = page.begin(&mut eva, "othello").await.unwrap();
    page.until(&eva, &at, "It is your turn.").await;
    pause();
    let request = Request::get(format!("{at}/events"))
        .body(Body::empty())
        .unwrap();
    let mut body = page.send(&eva, request).await.into_body();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(300) {
        let silent = Duration::from_secs(20);
        let some = timeout(silent, body.frame()).await.expect("a sign of life");
        assert!(
            some.unwrap()
                .unwrap()
                .into_data()
                .is_ok_and(|data| !data.is_empty())
        );
    }
}

#[tokio::test]
async fn whoever_reads_no_stream_asks_for_what_is_new() {
    // One may follow there.
    let page = Page::with(nobody_knows(), 4).await;
    let mut eva = Browser::at("192.0.2.1");
    let at = page.begin(&mut eva, "othello").await.unwrap();
    page.until(&eva, &at, "It is your turn.").await;
    let events = format!("{at}/events");
    let (tag, whole) = page.ask(&eva, &events, None).await;
    let told: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert!(
        told["inner"]["board"].as_str().unwrap().contains("<svg"),
        "{told}"
    );
    assert_eq!(told["last"], false);
    // Who has it is not sent it again, also where a proxy has compressed it.
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", W/{tag}")] {
        let (again, nothing) = page.ask(&eva, &events, Some(&known)).await;
        assert_eq!((again, &*nothing), (tag.clone(), ""), "{known}");
    }
    page.act(&eva, &at, "move", "move=d3").await;
    let began = Instant::now();
    let changed = loop {
        let (now, changed) = page.ask(&eva, &events, Some(&tag)).await;
        if now != tag {
            break changed;
        }
        assert!(began.elapsed() < FAR_TOO_LONG);
        sleep(Duration::from_millis(1)).await;
    };
    assert!(changed.contains("d3"), "{changed}");
    // It is no stream, and takes no place of one.
    let stream = || Request::get(&events).body(Body::empty()).unwrap();
    let first = page.send(&eva, stream()).await;
    assert_eq!(first.status(), StatusCode::OK);
    let second = page.send(&eva, stream()).await;
    assert_eq!(second.status(), StatusCode::TOO_MANY_REQUESTS);
    page.ask(&eva, &events, None).await;
    // What is asked for again and again is made once, and is not made for long after that.
    assert_eq!(page.site.feeds.followed(), 1);
    drop(first);
    pause();
    sleep(Duration::from_secs(30)).await;
    assert_eq!(page.site.feeds.followed(), 0);
}

#[tokio::test]
async fn programs_that_have_an_answer_are_not_sent_it_again() {
    let page = Page::new().await;
    page.tournament().await;
    let who = Browser::at("192.0.2.1");
    for path in [
        "/api/v1/openapi.json",
        "/api/v1/tournaments/cup/standings",
        "/api/v1/tournaments/cup/ratings",
        "/api/v1/tournaments/cup/figures",
    ] {
        let (tag, whole) = page.ask(&who, path, None).await;
        assert!(whole.starts_with('{'), "{path}");
        for known in [tag.clone(), format!("W/{tag}")] {
            assert_eq!(
                page.ask(&who, path, Some(&known)).await,
                (tag.clone(), String::new())
            );
        }
    }
}

/// A page without what is marked as English: what a program has printed.
pub(crate) fn without_english(page: &str) -> String {
    let mut parts = page.split("<span lang=\"en\">");
    let mut left = parts.next().unwrap_or_default().to_owned();
    left.extend(parts.map(|part| part.split_once("</span>").unwrap().1));
    left
}

#[tokio::test]
async fn the_chinese_pages_have_no_latin_word_but_names_and_notation() {
    let page = Page::with_games().await;
    let mut eva = Browser::at("192.0.2.1");
    eva.language = Some("zh");
    let mut paths: Vec<String> = [
        "/",
        "/tournaments",
        "/play",
        "/api/v1/",
        "/t/cup",
        "/t/cup/games",
        "/t/cup/games?bot=a&fouls=1",
        "/t/cup/cross",
        "/t/cup/bots/a",
        "/t/cup/games/0.0",
        "/t/cup/games/0.1",
        "/t/cup/games/0.1/frames",
        "/t/none",
        "/t/cup/bots/none",
        "/none",
    ]
    .map(str::to_owned)
    .into();
    for kind in &KINDS {
        let game = kind.info().name;
        paths.push(format!("/rules/{game}"));
        paths.push(format!("/play?game={game}"));
        let at = page.begin(&mut eva, game).await.unwrap();
        for number in 1..kind.info().seats {
            let mut other = Browser::at(&format!("192.0.2.{}", 10 + number));
            let joined = page.post(&other, &format!("{at}/join"), "").await;
            other.keep_cookie(&joined);
        }
        paths.push(at.clone());
        let table = page.site.people.as_ref().unwrap().table_at(&at).unwrap();
        while table.view().turn.is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        // In Big Two the cards say who begins.
        let legal = table.view().seats[&Seat::new(0)].legal.first().cloned();
        let Some(legal) = legal else { continue };
        let (status, _) = page.act(&eva, &at, "move", "move=nothing").await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        page.act(&eva, &at, "move", &format!("move={legal}")).await;
    }
    let refused = page.post(&eva, "/play", "game=othello&setup.moves=x").await;
    let mut read = vec![("/play".to_owned(), text(refused).await)];
    for path in paths {
        read.push((path.clone(), page.get(&eva, &path).await.1));
    }
    // Whoever resigns ends a game of two.
    let at = page.begin(&mut eva, "connect_four").await.unwrap();
    let mut bob = Browser::at("192.0.2.2");
    let joined = page.post(&bob, &format!("{at}/join"), "").await;
    bob.keep_cookie(&joined);
    page.until(&eva, &at, "轮到你了。").await;
    page.act(&eva, &at, "resign", "").await;
    read.push((at.clone(), page.until(&eva, &at, "逐步回看").await));
    let finished = at.replace("/play/", "/people/");
    for path in [
        finished.clone(),
        format!("{finished}/frames"),
        format!("{finished}/picture"),
    ] {
        read.push((path.clone(), page.get(&eva, &path).await.1));
    }
    // One deal is too little for an error bar, and that is said.
    let table = read.iter().find(|(path, _)| path == "/t/cup").unwrap();
    for said in ["± ?：", "以两者的平均为零点"] {
        assert!(table.1.contains(said), "{said}: {}", table.1);
    }
    let mut wrong = Vec::new();
    for (path, page) in &read {
        let mut words = match serde_json::from_str(page) {
            Ok(json) => latin_words(&texts(&json)),
            Err(_) => latin_words(&without_english(page)),
        };
        words.retain(|word| !is_name_or_notation(word));
        if let Some(kind) = path.strip_prefix("/rules/").and_then(referee_games::game) {
            words.retain(|word| !is_quoted_in(kind.info().rules.chinese, word));
        }
        words.dedup();
        if !words.is_empty() {
            wrong.push(format!("{path}: {}", words.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
