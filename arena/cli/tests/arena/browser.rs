//! The web page in a real browser: Chromium without a screen, driven through chromedriver.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use fantoccini::{Client, Locator, elements::Element, error::CmdError};
use serde_json::{Value, json};

use crate::{driver::Driver, proxies::Nginx, site::Site, vocabulary::*};

/// No page takes nearly as long; it only shows a hang.
pub(crate) const FAR_TOO_LONG: Duration = Duration::from_secs(90);
/// More moves than a game has.
const MOST_MOVES: usize = 400;

/// A browser that looks at a page. It ends with this.
pub(crate) struct Browser {
    _driver: Driver,
    pub(crate) client: Client,
    at: String,
}

impl Browser {
    /// A new one, which looks at this page and speaks this language.
    pub(crate) async fn new(at: &str, language: &str) -> Self {
        let (driver, client) = Driver::start(language).await;
        Self {
            _driver: driver,
            client,
            at: at.to_owned(),
        }
    }

    pub(crate) async fn open(&self, path: &str) {
        self.client
            .goto(&format!("{}{path}", self.at))
            .await
            .unwrap();
    }

    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// The text of the first element that a selector finds; empty where there is none.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let script = format!(
            "const at = document.querySelector({}); return at ? at.textContent.trim() : ''",
            json!(selector)
        );
        self.run(&script)
            .await
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub(crate) async fn count(&self, selector: &str) -> u64 {
        let script = format!(
            "return document.querySelectorAll({}).length",
            json!(selector)
        );
        self.run(&script).await.as_u64().unwrap()
    }

    pub(crate) async fn click(&self, selector: &str) {
        self.act_on(selector, async |found| found.click().await)
            .await;
    }

    /// Types into an element.
    pub(crate) async fn keys(&self, selector: &str, keys: &str) {
        self.act_on(selector, async |found| found.send_keys(keys).await)
            .await;
    }

    /// Does something with an element. A live page may have put another one in its place meanwhile.
    async fn act_on(&self, selector: &str, act: impl AsyncFn(Element) -> Result<(), CmdError>) {
        let began = Instant::now();
        loop {
            let found = self.client.find(Locator::Css(selector)).await;
            let found = found.unwrap_or_else(|error| panic!("{selector}: {error}"));
            match act(found).await {
                Ok(()) => return,
                Err(error) if error.to_string().contains("stale element") => {
                    assert!(began.elapsed() < FAR_TOO_LONG, "{selector}: {error}");
                }
                Err(error) => panic!("{selector}: {error}"),
            }
        }
    }

    pub(crate) async fn path(&self) -> String {
        let url = self.client.current_url().await.unwrap();
        let query = url
            .query()
            .map_or_else(String::new, |query| format!("?{query}"));
        format!("{}{query}", url.path())
    }

    /// Waits until a script says true.
    pub(crate) async fn until(&self, what: &str, script: &str) {
        let began = Instant::now();
        loop {
            // The page may just be another one.
            let said = self.client.execute(script, Vec::new()).await;
            if matches!(said, Ok(Value::Bool(true))) {
                return;
            }
            if began.elapsed() > FAR_TOO_LONG {
                let source = self.client.source().await.unwrap_or_default();
                panic!("never: {what}: {said:?}\n{source}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn set(&self, name: &str, value: &str) {
        let script = format!(
            "const at = document.querySelector('form.settings [name=' + {} + ']'); at.value = {};
             return at.value",
            json!(json!(name).to_string()),
            json!(value)
        );
        assert_eq!(self.run(&script).await, json!(value), "{name}");
    }

    /// Begins a game with these settings, and waits until somebody is asked.
    pub(crate) async fn begin(&self, game: &str, settings: &[(&str, &str)]) {
        self.open(&format!("/play?game={game}")).await;
        for (name, value) in settings {
            self.set(name, value).await;
        }
        self.click("form.settings button[type=submit]").await;
        self.until("the game begins", ASKED_OR_OVER).await;
    }

    async fn is_over(&self) -> bool {
        self.count("#state a[href^='people/']").await > 0
    }

    /// The move that a bot would play.
    pub(crate) async fn hint(&self) -> String {
        self.run("document.getElementById('message').textContent = ''")
            .await;
        self.click("form[action$='/hint'] button").await;
        self.until(
            "a hint",
            "return document.getElementById('message').textContent !== ''",
        )
        .await;
        let said = self.text("#message").await;
        let (_, spoken) = said
            .split_once(" would play ")
            .unwrap_or_else(|| panic!("{said}"));
        match spoken.strip_prefix("column ") {
            Some(column) => {
                let cell = format!("#board [data-move$=', {column})']");
                let script = format!("return document.querySelector(\"{cell}\").dataset.move");
                self.run(&script).await.as_str().unwrap().to_owned()
            }
            None => spoken.to_owned(),
        }
    }

    /// Types a move, and waits until somebody is asked again.
    pub(crate) async fn play(&self, notation: &str) {
        let before = self.version().await;
        let typed = self.client.find(Locator::Id("written")).await.unwrap();
        typed.clear().await.unwrap();
        typed
            .send_keys(&format!("{notation}{ENTER}"))
            .await
            .unwrap();
        self.wait_for_turn_after(&before).await;
    }

    /// Goes by keys alone to the cell of a move, and plays it.
    async fn play_by_keys(&self, notation: &str) {
        let before = self.version().await;
        let is_there = format!(
            "return document.activeElement?.dataset.move === {}",
            json!(notation)
        );
        for _ in 0..200 {
            if self.run(&is_there).await == json!(true) {
                let cell = self.client.active_element().await.unwrap();
                cell.send_keys(&ENTER.to_string()).await.unwrap();
                return self.wait_for_turn_after(&before).await;
            }
            let now = self.client.active_element().await.unwrap();
            now.send_keys(&TAB.to_string()).await.unwrap();
        }
        panic!("no key leads to {notation}");
    }

    /// Clicks on the board.
    async fn click_move(&self, notation: &str) {
        let before = self.version().await;
        let script = format!(
            "const cell = [...document.querySelectorAll('#board [data-move]')]
                 .find((one) => one.dataset.move === {});
             cell.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}));",
            json!(notation)
        );
        self.run(&script).await;
        self.wait_for_turn_after(&before).await;
    }

    pub(crate) async fn version(&self) -> String {
        self.run(
            "const at = document.querySelector('#move [name=version]'); return at ? at.value : ''",
        )
        .await
        .as_str()
        .unwrap()
        .to_owned()
    }

    async fn wait_for_turn_after(&self, version: &str) {
        let script = format!(
            "const at = document.querySelector('#move [name=version]');
             return (at !== null && at.value !== {}) ||
                 document.querySelector(\"#state a[href^='people/']\") !== null",
            json!(version)
        );
        self.until("the next turn", &script).await;
    }

    /// The faults that axe-core finds on this page.
    async fn accessibility(&self) -> Vec<String> {
        let axe = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(AXE));
        let axe = axe.expect("axe-core is installed: npm ci in arena/web/checks");
        self.client.execute(&axe, Vec::new()).await.unwrap();
        let script = "const done = arguments[arguments.length - 1];
            axe.run(document).then((found) => done(found.violations.map((one) =>
                one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' | '))),
                (error) => done([String(error)]))";
        let found = self.client.execute_async(script, Vec::new()).await.unwrap();
        serde_json::from_value(found).unwrap()
    }

    async fn prefer(&self, name: &str, value: &str) {
        let script = format!(
            "const at = document.querySelector('.preferences [name={name}]'); at.value = '{value}';
             at.dispatchEvent(new Event('change'));"
        );
        self.run(&script).await;
    }

    pub(crate) async fn screenshot(&self, name: &str) {
        // For people: SCREENSHOTS=FOLDER keeps them.
        if let Ok(folder) = std::env::var("SCREENSHOTS") {
            let png = self.client.screenshot().await.unwrap();
            fs::create_dir_all(&folder).unwrap();
            fs::write(Path::new(&folder).join(name), png).unwrap();
        }
    }
}

/// The keys, as WebDriver has them.
const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

const AXE: &str = "../web/checks/node_modules/axe-core/axe.min.js";
const ASKED_OR_OVER: &str = "return document.querySelector('#move') !== null ||
    document.querySelector(\"#state a[href^='people/']\") !== null";

pub(crate) fn on_runtime<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// An arena with a page, which is at this address.
pub(crate) fn arena_with_page(more: &str) -> (Site, String) {
    let mut site = Site::new();
    let port = free_address().port();
    site.serve(&format!("--page 127.0.0.1:{port} {more}"));
    wait_until_or(
        "the page is served",
        || site.log(),
        || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok(),
    );
    (site, format!("http://127.0.0.1:{port}"))
}

pub(crate) fn get(url: &str) -> (u32, String) {
    let output = Command::new("curl")
        .args(["-s", "-w", "\n%{http_code}", url])
        .output()
        .expect("curl is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), body.to_owned())
}

/// Plays with hints until the game is won, and begins again where it is not.
async fn win(browser: &Browser, game: &str, against: &str) {
    for _ in 0..12 {
        browser
            .begin(
                game,
                &[("against", against), ("name", "eva"), ("seat", "0")],
            )
            .await;
        for number in 0..MOST_MOVES {
            if browser.is_over().await {
                break;
            }
            let notation = browser.hint().await;
            // All is played by keys, and one game by clicks in between.
            match game {
                "connect_four" => browser.play_by_keys(&notation).await,
                "othello" if number % 2 == 1 => browser.click_move(&notation).await,
                _ => browser.play(&notation).await,
            }
        }
        if browser.text("#state .result").await == "You won" {
            return;
        }
    }
    panic!("eva never won {game}");
}

/// A game that is over is seen as each seat knew it, on the page that is there already.
async fn switch_sights(browser: &Browser) {
    let faces = "return document.querySelectorAll('#board [data-says]').length";
    browser
        .until(
            "the positions are there",
            "window.kept = true; return !document.getElementById('scrubber').hidden",
        )
        .await;
    browser.click("[data-step=first]").await;
    let all = browser.run(faces).await.as_u64();
    browser.click("[data-sight='0']").await;
    browser
        .until(
            "it is seen by the first seat",
            "return window.kept && document.querySelector('[data-sight][aria-current]').dataset.sight === '0'
                && location.search === '?ply=0&seat=0'",
        )
        .await;
    let own = browser.run(faces).await.as_u64();
    assert!(own < all, "{own:?} of {all:?} are open");
    browser.click("[data-sight='']").await;
    browser
        .until("all hands are open", "return location.search === '?ply=0'")
        .await;
    assert_eq!(browser.run(faces).await.as_u64(), all);
}

/// The strongest bot's moves are drawn on the position for which they were asked, and on no other one.
async fn ask_for_the_best_line(browser: &Browser) {
    let is_ready = "return !document.getElementById('scrubber').hidden";
    browser.until("the positions are there", is_ready).await;
    browser.click("[data-step=first]").await;
    browser.click("[data-asks=line]").await;
    browser
        .until(
            "the line is there",
            "return document.querySelector('#line') !== null &&
                !document.getElementById('scrubber').hidden",
        )
        .await;
    let drawn = "return document.querySelectorAll('#board #p-line text').length";
    let listed = "return document.querySelector('#line').hidden ? 0 :
        document.querySelectorAll('#line li').length";
    let both = || async { (browser.run(drawn).await, browser.run(listed).await) };
    assert_eq!(both().await, (json!(6), json!(6)));
    browser.screenshot("line.png").await;
    browser.click("[data-step=on]").await;
    assert_eq!(both().await, (json!(0), json!(0)));
    browser.click("[data-step=back]").await;
    assert_eq!(both().await, (json!(6), json!(6)));
}

#[test]
fn a_person_wins_a_game_of_each_kind_through_nginx() {
    let (site, at) = arena_with_page("--concurrency 0");
    let nginx = Nginx::start(&format!("listen LISTEN; location / {{ proxy_pass {at}; }}"));
    let at = format!("http://127.0.0.1:{}", nginx.port);
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        for (game, against) in [
            ("connect_four", "house:random"),
            ("othello", "house:random"),
            ("mahjong", "house:simple"),
            ("big_two", "house:random"),
        ] {
            win(&browser, game, against).await;
            browser.screenshot(&format!("won-{game}.png")).await;
            // It can be looked at like any other, and its record proves it.
            browser.click("#state a[href^='people/']").await;
            browser
                .until(
                    "the game is there",
                    "return document.querySelector('#viewer') !== null",
                )
                .await;
            assert!(browser.text(".result").await.starts_with("eva won"));
            let link = browser.path().await.split('?').next().unwrap().to_owned();
            let (status, record) = get(&format!("{at}{link}/record"));
            assert_eq!(status, 200);
            let file = site.arena.path("game.jsonl");
            fs::write(&file, record).unwrap();
            let said = site.run("replay verify game.jsonl");
            assert!(said.contains("proved"), "{said}");
            match game {
                "connect_four" => ask_for_the_best_line(&browser).await,
                "mahjong" | "big_two" => switch_sights(&browser).await,
                _ => {}
            }
        }
        // All of them are in the list of what this browser has played.
        browser.open("/play").await;
        assert!(browser.count("a[href^='people/']").await >= 4);
    });
}

#[test]
fn slips_are_told_and_moves_are_taken_back_in_the_browser() {
    let (_site, at) = arena_with_page("--concurrency 0");
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        browser
            .begin("othello", &[("against", "house:random"), ("name", "eva")])
            .await;
        browser.keys("#written", "z9").await;
        browser.click("#move button[type=submit]").await;
        browser
            .until(
                "a slip",
                "return document.getElementById('message').textContent !== ''",
            )
            .await;
        let said = browser.text("#message").await;
        assert!(said.contains("\"z9\" is no legal move"), "{said}");
        assert_eq!(browser.count("#moves li").await, 0);
        browser.play("d3").await;
        let version = browser.version().await;
        let played = browser.count("#moves li").await;
        assert!(played >= 2, "{played}");
        browser.click("form[action$='/back'] button").await;
        browser.wait_for_turn_after(&version).await;
        browser
            .until(
                "the move is gone",
                "return document.querySelectorAll('#moves li').length === 0",
            )
            .await;
        // Two tabs look at one seat: what was not seen is not moved from.
        let path = browser.path().await;
        let old = browser.version().await;
        browser.play("f5").await;
        let script = format!(
            "const done = arguments[arguments.length - 1];
             fetch('{path}/move', {{ method: 'POST', headers: {{ Accept: 'application/json' }},
                 body: new URLSearchParams({{ move: 'c4', seat: '0', version: '{old}' }}) }})
                 .then((answer) => done(answer.status))"
        );
        let status = browser
            .client
            .execute_async(&script, Vec::new())
            .await
            .unwrap();
        assert_eq!(status, json!(409));
        // Nobody else moves there.
        let (status, _) = get(&format!("{at}{path}"));
        assert_eq!(status, 200);
        let output = Command::new("curl")
            .args([
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-d",
                "move=c4&seat=0",
            ])
            .arg(format!("{at}{path}/move"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "403");
    });
}

#[test]
fn a_game_goes_on_after_the_arena_was_started_again() {
    let (mut site, at) = arena_with_page("--concurrency 0");
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        browser
            .begin("othello", &[("against", "house:random"), ("name", "eva")])
            .await;
        browser.play("d3").await;
        let moves = browser.text("#moves").await;
        let version = browser.version().await;
        site.restart(0);
        // The page finds it again by itself, and is asked anew.
        browser
            .until(
                "the page is connected again",
                "return document.getElementById('lost').hidden",
            )
            .await;
        let began = Instant::now();
        loop {
            browser.client.refresh().await.unwrap();
            if browser.count("#move").await > 0 {
                break;
            }
            assert!(began.elapsed() < FAR_TOO_LONG, "{version}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(browser.text("#moves").await, moves);
        let hint = browser.hint().await;
        browser.play(&hint).await;
        assert_ne!(browser.text("#moves").await, moves);
    });
}

/// Every card or tile that a text names where it can be seen or clicked.
fn named(source: &str) -> Vec<String> {
    let mut names: Vec<String> = ["data-says=\"", "data-move=\"", "<title>"]
        .iter()
        .flat_map(|before| source.split(before).skip(1))
        .filter_map(|rest| rest.split(['"', '<']).next().map(str::to_owned))
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn hidden_hands_are_nowhere_until_the_deal_is_over() {
    let (_site, at) = arena_with_page("--concurrency 0");
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        for (game, against) in [("big_two", "house:random"), ("mahjong", "house:simple")] {
            browser
                .begin(
                    game,
                    &[("against", against), ("name", "eva"), ("seat", "0")],
                )
                .await;
            let path = browser.path().await;
            let id = path.trim_start_matches("/play/").to_owned();
            // The page, as it came, and as it is now.
            let cookie = browser
                .client
                .get_named_cookie("arena-browser")
                .await
                .unwrap();
            let fetch = |path: String| {
                let output = Command::new("curl")
                    .args(["-s", "-m", "3", "-b"])
                    .arg(format!("arena-browser={}", cookie.value()))
                    .arg(format!("{at}{path}"))
                    .output()
                    .unwrap();
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            let events = fetch(format!("{path}/events"))
                .replace("\\\"", "\"")
                .replace("\\u003c", "<");
            let sources = [
                fetch(path.clone()),
                browser.client.source().await.unwrap(),
                events,
            ];
            let own: Vec<String> = serde_json::from_value(
                browser.run("return [...document.querySelectorAll('#board [data-says]')].map((one) => one.dataset.says)").await,
            ).unwrap();
            assert!((13..=14).contains(&own.len()), "{own:?}");
            let legal: Vec<String> = serde_json::from_value(
                browser.run("return [...document.querySelectorAll('.legal-moves button')].map((one) => one.value)").await,
            ).unwrap();
            for (at, source) in sources.iter().enumerate() {
                assert!(source.len() > 1000, "{at}: {source}");
                for name in named(source) {
                    let is_own = own.contains(&name)
                        || legal.contains(&name)
                        || name.contains("Bot Arena")
                        || name.contains("eva");
                    assert!(is_own, "{game}, source {at}: {name}");
                }
            }
            // Neither the record nor the game can be had, by whatever way.
            for path in [
                format!("/people/{id}"),
                format!("/people/{id}/record"),
                format!("/people/{id}/frames"),
                format!("/people/{id}/picture"),
            ] {
                assert_eq!(get(&format!("{at}{path}")).0, 404, "{path}");
            }
            // Others see no hand at all.
            let (_, stranger) = get(&format!("{at}{path}"));
            assert!(!stranger.contains("data-says"), "{stranger}");
            assert!(stranger.contains("Only those who play see the table."));
            browser.screenshot(&format!("hand-{game}.png")).await;
        }
    });
}

/// A tournament of some games that last a while.
fn long_cup(site: &Site, name: &str, deals: u32) {
    let more = format!("deals = {deals}");
    site.cup(
        &format!("{name}.toml"),
        "othello",
        &more,
        &["house:weights?plies=4", "house:random"],
    );
    site.run(&format!("tournament submit {name}.toml"));
}

#[test]
fn a_live_game_moves_and_a_replay_is_stepped_through_by_keys() {
    let (site, at) = arena_with_page("--concurrency 1");
    long_cup(&site, "spring", 400);
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        browser.open("/").await;
        browser
            .until(
                "a live game is on the front page",
                "return document.querySelector('.boards svg') !== null",
            )
            .await;
        browser.screenshot("front.png").await;
        browser
            .until(
                "a live game moves",
                "
            const now = document.querySelector('.boards').innerHTML;
            if (window.seen === undefined) window.seen = now;
            return window.seen !== now;",
            )
            .await;
        browser.open("/t/spring").await;
        browser
            .until(
                "games are counted",
                "return document.querySelectorAll('.standings tbody tr').length === 2 &&
                !document.querySelector('#about').textContent.includes(' 0 games')",
            )
            .await;
        // A finished game, by its first cell.
        browser.open("/t/spring/games").await;
        browser
            .until(
                "a game is over",
                "
            if (document.querySelector('tbody a') === null) { location.reload(); return false; }
            return true;",
            )
            .await;
        site.run("tournament cancel spring");
        site.wait_for("spring", "cancelled");
        browser.open("/t/spring/games").await;
        browser.click("tbody a").await;
        browser
            .until(
                "the frames are there",
                "return !document.getElementById('scrubber').hidden",
            )
            .await;
        let plies: usize = browser
            .run("return Number(document.getElementById('viewer').dataset.plies)")
            .await
            .as_u64()
            .unwrap() as usize;
        assert!(plies > 10, "{plies}");
        let press = |key: &'static str| {
            let script = format!(
                "document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
            );
            let browser = &browser;
            async move { browser.run(&script).await }
        };
        let board = || async {
            browser
                .run("return document.querySelector('#board svg').innerHTML")
                .await
        };
        let last = board().await;
        press("ArrowLeft").await;
        assert_eq!(
            browser.text("#ply").await,
            format!("{} / {plies}", plies - 1)
        );
        assert_ne!(board().await, last);
        press("Home").await;
        assert_eq!(browser.text("#ply").await, format!("0 / {plies}"));
        let address = "return location.search === '?ply=0'";
        browser
            .until("the address is the position's", address)
            .await;
        press("ArrowRight").await;
        let first = board().await;
        press("End").await;
        assert_eq!(board().await, last);
        // A permalink shows the same without the script.
        browser
            .open(&format!(
                "{}?ply=1",
                browser.path().await.split('?').next().unwrap()
            ))
            .await;
        browser
            .until(
                "the frames are there",
                "return !document.getElementById('scrubber').hidden",
            )
            .await;
        assert_eq!(browser.text("#ply").await, format!("1 / {plies}"));
        assert_eq!(board().await, first);
        browser.screenshot("game.png").await;
        // How it stood move by move, and where in that the board is.
        browser.click("a[href$='#evaluation']").await;
        browser
            .until(
                "the graph is there",
                "return document.querySelector('#evaluation path.line') !== null &&
                    !document.getElementById('scrubber').hidden",
            )
            .await;
        let cursor = "return document.querySelector('#evaluation .cursor').getAttribute('x1')";
        let first = browser.run(cursor).await;
        press("End").await;
        assert_ne!(browser.run(cursor).await, first);
        let address = "return location.search.includes('evaluation=yes')";
        browser
            .until("the address has the evaluation", address)
            .await;
        browser
            .run("document.getElementById('evaluation').scrollIntoView()")
            .await;
        browser.screenshot("evaluation.png").await;
    });
}

/// Ratings over time end with those of the table; an evaluation is as long as the game, and its
/// end is the result; everything is in the description.
fn the_api_tells_how_it_went(at: &str) {
    let api = |path: &str| -> Value {
        let (mut code, mut text) = (503, String::new());
        // Where the machine is busy, evaluations that were asked for before are not done yet.
        wait_until("there is time for what is asked for", || {
            (code, text) = get(&format!("{at}/api/v1{path}"));
            code != 503
        });
        assert_eq!(code, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    };
    let standings = api("/tournaments/three/standings");
    let ratings = api("/tournaments/three/ratings");
    let points = ratings["points"].as_array().unwrap();
    assert!(points.len() > 5, "{ratings}");
    let last = points.last().unwrap();
    assert_eq!(last["groups"], standings["counts"]["groups"]);
    for (bot, rating) in
        (ratings["bots"].as_array().unwrap().iter()).zip(last["ratings"].as_array().unwrap())
    {
        let rows = standings["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["bot"] == *bot).unwrap();
        let (told, shown) = (rating.as_f64().unwrap(), &row["elo"]["value"]);
        assert!(
            (told - shown.as_f64().unwrap()).abs() < 0.1,
            "{told}, {shown}"
        );
    }
    let game = api("/tournaments/short/games/0.0");
    let evaluation = api("/tournaments/short/games/0.0/evaluation");
    let plies = evaluation["plies"].as_array().unwrap();
    assert_eq!(plies.len() as u64, game["plies"].as_u64().unwrap() + 1);
    let places = game["places"].as_array().unwrap().iter();
    for (place, got) in places.zip(plies.last().unwrap().as_array().unwrap()) {
        let share = (4.0 - place.as_f64().unwrap()) / 3.0;
        assert!(
            (got["score"].as_f64().unwrap() - share).abs() < 1e-9,
            "{got}, {place}"
        );
    }
    let described = api("/openapi.json");
    for path in ["ratings", "games/{game}/evaluation", "standings"] {
        let path = format!("/tournaments/{{tournament}}/{path}");
        assert!(described["paths"][&path].is_object(), "{path}");
    }
}

#[test]
fn pages_are_accessible_in_both_languages_and_themes_and_on_a_phone() {
    let (site, at) = arena_with_page("--concurrency 2");
    site.cup(
        "short.toml",
        "big-two",
        "deals = 2",
        &["house:ai3", "house:ai2", "house:ai1", "house:random"],
    );
    site.run("tournament submit short.toml");
    site.wait_for("short", "over");
    site.cup(
        "three.toml",
        "othello",
        "deals = 4",
        &[
            "house:weights?plies=2",
            "house:weights?plies=1",
            "house:random",
        ],
    );
    site.run("tournament submit three.toml");
    site.wait_for("three", "over");
    site.knockout("nine.toml", "connect-four", &["house:random"; 9]);
    site.run("tournament submit nine.toml");
    site.wait_for("nine", "over");
    the_api_tells_how_it_went(&at);
    on_runtime(async {
        let browser = Browser::new(&at, "zh-CN").await;
        browser.open("/").await;
        assert_eq!(
            browser.run("return document.documentElement.lang").await,
            json!("zh")
        );
        browser.prefer("language", "en").await;
        browser
            .until("English", "return document.documentElement.lang === 'en'")
            .await;
        let pages = [
            "/",
            "/tournaments",
            "/t/short",
            "/t/three",
            "/t/three/bots/a",
            "/t/three/games",
            "/t/nine",
            "/t/nine/cross",
            "/t/nine/games?bot=a&fouls=1",
            "/t/three/games/0.0",
            "/t/three/games/0.0?ply=20&evaluation=yes&line=yes",
            "/t/short/games/0.0?ply=5&seat=1",
            "/t/short/games/0.0?evaluation=yes",
            "/play",
            "/play?game=mahjong",
            "/rules/big_two",
            "/api/v1/",
            "/there-is-none",
        ];
        for (theme, language) in [("dark", "zh"), ("light", "en")] {
            browser.open("/").await;
            browser.prefer("language", language).await;
            browser
                .until(
                    "the language",
                    &format!("return document.documentElement.lang === '{language}'"),
                )
                .await;
            browser.prefer("theme", theme).await;
            browser
                .until(
                    "the theme",
                    &format!("return document.documentElement.dataset.theme === '{theme}'"),
                )
                .await;
            for (at, page) in pages.iter().enumerate() {
                browser.open(page).await;
                let found = browser.accessibility().await;
                assert!(found.is_empty(), "{page} ({theme}, {language}): {found:#?}");
                browser.screenshot(&format!("{theme}-{at}.png")).await;
            }
            browser
                .begin("big_two", &[("against", "house:random")])
                .await;
            browser.click("form[action$='/evaluate'] button").await;
            browser
                .until(
                    "an evaluation of four players",
                    "return document.querySelectorAll('#evaluation meter').length === 4",
                )
                .await;
            let found = browser.accessibility().await;
            assert!(
                found.is_empty(),
                "a table ({theme}, {language}): {found:#?}"
            );
        }
        // A phone: nothing is wider than the screen.
        browser.client.set_window_size(500, 800).await.unwrap();
        let table = browser.path().await;
        for page in pages.into_iter().chain([&*table]) {
            browser.open(page).await;
            let script = "
                const frame = document.createElement('iframe');
                return [document.documentElement.scrollWidth, window.innerWidth];";
            let widths: Vec<u64> = serde_json::from_value(browser.run(script).await).unwrap();
            assert!(widths[0] <= widths[1], "{page}: {widths:?}");
        }
        browser.screenshot("phone-table.png").await;
        browser.open("/t/three/games/0.0?ply=9").await;
        browser.screenshot("phone-game.png").await;
    });
}

#[test]
fn standings_are_sorted_and_looked_through_by_keys() {
    let (site, at) = arena_with_page("--concurrency 2");
    site.knockout("nine.toml", "connect-four", &["house:random"; 9]);
    site.run("tournament submit nine.toml");
    site.wait_for("nine", "over");
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        browser.open("/t/nine").await;
        let names = || async {
            let script =
                "return [...document.querySelectorAll('.standings tbody tr:not([hidden]) th')]
                .map((name) => name.textContent)";
            let names = browser.run(script).await;
            serde_json::from_value::<Vec<String>>(names).unwrap()
        };
        let name = "(column) => [...document.querySelectorAll('.standings thead button')]
            .find((button) => button.textContent === column)";
        let press = |column: &'static str| {
            let script = format!("({name})('{column}').focus()");
            let browser = &browser;
            async move {
                browser.run(&script).await;
                browser.keys("button:focus", "\u{e007}").await;
                let sorts = format!("return ({name})('{column}').parentElement.ariaSort");
                browser.run(&sorts).await
            }
        };
        assert_eq!(press("bot").await, json!("ascending"));
        let sorted: Vec<String> = ('a'..='i').map(String::from).collect();
        assert_eq!(names().await, sorted);
        assert_eq!(press("bot").await, json!("descending"));
        let backwards: Vec<String> = sorted.iter().rev().cloned().collect();
        assert_eq!(names().await, backwards);
        assert_eq!(press("games").await, json!("descending"));
        let script = "return [...document.querySelectorAll('.standings tbody tr')]
            .map((row) => Number(row.cells[5].textContent))";
        let games = browser.run(script).await;
        let games: Vec<u64> = serde_json::from_value(games).unwrap();
        assert!(
            games.is_sorted_by(|a, b| a >= b) && games[0] > games[8],
            "{games:?}"
        );
        browser.keys("[data-filters]", "C").await;
        assert_eq!(names().await, ["c"]);
        browser.keys("[data-filters]", "x").await;
        assert_eq!(names().await, [""; 0]);
    });
}

#[test]
fn other_sites_can_neither_post_nor_be_this_one() {
    let (_site, at) = arena_with_page("--concurrency 0");
    let status = |arguments: &[&str], path: &str| {
        let output = Command::new("curl")
            .args(["-s", "-o", "/dev/null", "-w", "%{http_code}"])
            .args(arguments)
            .arg(format!("{at}{path}"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(status(&[], "/"), "200");
    assert_eq!(status(&["-H", "Host: evil.example"], "/"), "421");
    let form = ["-d", "game=othello&against=house:random"];
    let from = |site: &'static str| [form[0], form[1], "-H", site];
    assert_eq!(status(&from("Sec-Fetch-Site: cross-site"), "/play"), "403");
    assert_eq!(status(&from("Origin: http://evil.example"), "/play"), "403");
    assert_eq!(status(&form, "/play"), "303");
    // Nobody can name a program.
    let program = ["-d", "game=othello&against=exec:/bin/true"];
    assert_eq!(status(&program, "/play"), "400");
    for path in [
        "/t/none",
        "/t/none/games/0.0",
        "/play/x",
        "/people/../../etc",
        "/t/a/games/x.y",
    ] {
        let status = status(&["--path-as-is"], path);
        assert_eq!(status, "404", "{path}");
    }
}
