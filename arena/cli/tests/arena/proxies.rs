//! The page where something stands between it and the browser: nginx as Debian has it, and proxies
//! that hold back what streams, cut off who is silent, and can't reach the arena; and where many
//! windows look.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use fantoccini::wd::WindowHandle;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    browser::{Browser, FAR_TOO_LONG, arena_with_page, get, on_runtime},
    vocabulary::*,
};

/// A process of nginx, which is killed when this is dropped.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) port: u16,
    _folder: TempDir,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Nginx {
    /// A server that listens on a port of its own, with this configuration; `LISTEN` in it is where
    /// it listens, and `FOLDER` is a folder with a key and its certificate.
    pub(crate) fn start(server: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_str().unwrap();
        let port = free_address().port();
        let line = format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
             -days 2 -keyout {at}/key.pem -out {at}/certificate.pem"
        );
        let made = Command::new("openssl").args(line.split(' ')).output();
        assert!(made.expect("openssl is installed").status.success());
        let server = server
            .replace("LISTEN", &format!("127.0.0.1:{port}"))
            .replace("FOLDER", at);
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = kinds.map(|kind| format!("{kind}_temp_path {at}/{kind};"));
        let configuration = format!(
            "daemon off; master_process off; pid {at}/pid; error_log error.log;
             events {{ }}
             http {{ access_log off; {} server {{ {server} }} }}\n",
            temporary.join(" ")
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, configuration).unwrap();
        // Debian has it where only root looks.
        let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin";
        let child = Command::new("nginx")
            .env("PATH", path)
            .args(["-e", "stderr", "-p", at, "-c"])
            .arg(&file)
            .stdin(Stdio::null())
            .spawn();
        let nginx = Self {
            child: child.expect("nginx is installed (Debian: nginx-light)"),
            port,
            _folder: folder,
        };
        wait_until("nginx listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        nginx
    }
}

/// The manner in which a proxy treats an answer.
#[derive(Clone, Copy)]
enum Manner {
    /// It passes it on.
    Passes,
    /// It passes a stream on when it has all of it.
    HoldsBack,
    /// It ends a connection on which nothing has come for so long.
    CutsOff(Duration),
}

/// The traffic that a proxy has seen.
#[derive(Default)]
struct Seen {
    /// Streams that were asked for, and those that are open.
    streams: AtomicUsize,
    open: AtomicUsize,
    /// Questions for what is new.
    questions: AtomicUsize,
    /// Parts of streams that were passed on, and connections that were cut off.
    parts: AtomicUsize,
    cut: AtomicUsize,
}

/// A proxy of the test's own, as long as this is there.
struct Proxy {
    at: String,
    seen: Arc<Seen>,
    stop: CancellationToken,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Proxy {
    /// One before the page at this address.
    fn start(page: &str, manner: Manner) -> Self {
        let to: SocketAddr = page.trim_start_matches("http://").parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        let (seen, stop) = (Arc::<Seen>::default(), CancellationToken::new());
        let (kept, stopped) = (seen.clone(), stop.clone());
        // The test's own runtime waits for programs now and then.
        std::thread::spawn(move || {
            on_runtime(async move {
                let listener = net::TcpListener::from_std(listener).unwrap();
                let accepts = async {
                    loop {
                        let (client, _) = listener.accept().await.unwrap();
                        let seen = kept.clone();
                        tokio::spawn(async move { pass(client, to, manner, &seen).await });
                    }
                };
                tokio::select! {
                    () = accepts => {}
                    () = stopped.cancelled() => {}
                }
            });
        });
        Self { at, seen, stop }
    }

    fn count(&self, of: impl Fn(&Seen) -> &AtomicUsize) -> usize {
        of(&self.seen).load(Ordering::SeqCst)
    }
}

/// Passes one request and its answer on. Nothing remains when either end has closed.
async fn pass(
    mut client: net::TcpStream,
    to: SocketAddr,
    manner: Manner,
    seen: &Seen,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if client.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let (request, rest) = head.split_once("\r\n")?;
    let is_events = request.contains("/events ");
    let is_stream = is_events && rest.contains("text/event-stream");
    let rest: Vec<&str> = (rest.split("\r\n"))
        .filter(|line| !line.to_ascii_lowercase().starts_with("connection:"))
        .collect();
    let mut server = net::TcpStream::connect(to).await.ok()?;
    let asked = format!("{request}\r\nConnection: close\r\n{}", rest.join("\r\n"));
    server.write_all(asked.as_bytes()).await.ok()?;
    if is_stream {
        seen.streams.fetch_add(1, Ordering::SeqCst);
        seen.open.fetch_add(1, Ordering::SeqCst);
    } else if is_events {
        seen.questions.fetch_add(1, Ordering::SeqCst);
    }
    let patience = match manner {
        Manner::CutsOff(silent) => silent,
        Manner::Passes | Manner::HoldsBack => FAR_TOO_LONG * 10,
    };
    let mut held = Vec::new();
    let passing = async {
        loop {
            let (mut more, mut answer) = (Vec::new(), Vec::new());
            let read = async {
                tokio::select! {
                    read = client.read_buf(&mut more) => read,
                    read = server.read_buf(&mut answer) => read,
                }
            };
            let Ok(read) = timeout(patience, read).await else {
                seen.cut.fetch_add(1, Ordering::SeqCst);
                return None;
            };
            if read.ok()? == 0 {
                return client.write_all(&held).await.ok();
            }
            server.write_all(&more).await.ok()?;
            if is_stream && matches!(manner, Manner::HoldsBack) {
                held.append(&mut answer);
                continue;
            }
            client.write_all(&answer).await.ok()?;
            seen.parts
                .fetch_add(usize::from(is_stream), Ordering::SeqCst);
        }
    };
    let passed = passing.await;
    seen.open
        .fetch_sub(usize::from(is_stream), Ordering::SeqCst);
    passed
}

/// True in a browser that has asked for nothing new for a while, so that it reads a stream.
const READS_A_STREAM: &str = "
    const asked = performance.getEntriesByType('resource');
    const last = asked.findLast((one) => one.name.endsWith('/events'));
    return performance.now() - (last?.responseEnd ?? 0) > 10000";

/// Begins a game against a bot, and makes the first move in it.
async fn begin_and_move(browser: &Browser) {
    let settings = [("against", "house:random"), ("name", "eva"), ("seat", "0")];
    browser.begin("othello", &settings).await;
    browser.play("d3").await;
    assert!(browser.count("#moves li").await >= 2);
}

#[test]
fn moves_arrive_at_once_through_stock_nginx() {
    let (_site, at) = arena_with_page("--concurrency 0");
    let stock = |more: &str| {
        Nginx::start(&format!(
            "listen LISTEN; location / {{ proxy_pass {at}; {more} }}"
        ))
    };
    let nginx = stock("");
    // Nothing has changed, so that what comes is less than any buffer holds.
    let arrives = |port: u16, patience: Duration| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(patience)).unwrap();
        let asked = "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n";
        stream.write_all(asked.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines();
        lines.any(|line| line.is_ok_and(|line| line.starts_with("data:")))
    };
    assert!(arrives(nginx.port, FAR_TOO_LONG));
    on_runtime(async {
        let browser = Browser::new(&format!("http://127.0.0.1:{}", nginx.port), "en").await;
        begin_and_move(&browser).await;
        browser.until("it reads a stream", READS_A_STREAM).await;
        let hint = browser.hint().await;
        browser.play(&hint).await;
        browser.screenshot("nginx.png").await;
    });
}

/// The script that goes to all that a page has links to, below the path where the page is, and gives
/// what is not there.
const BROKEN_LINKS: &str = "
    const done = arguments[arguments.length - 1];
    const links = [...document.querySelectorAll('[href]:not(.skip)')];
    const all = links.map((one) => one.href?.baseVal ?? one.href);
    const own = [...new Set(all.map((to) => to.split(/[?#]/)[0]))];
    Promise.all(own.map(async (to) => {
        const url = new URL(to, document.baseURI);
        if (!url.href.startsWith(location.origin + '/arena/')) return `outside: ${url}`;
        const answer = await fetch(url);
        return answer.ok ? null : `${answer.status}: ${url}`;
    })).then((all) => done(all.filter((one) => one !== null)), (error) => done([String(error)]));";

#[test]
fn below_a_path_over_http_2_and_with_gzip_every_link_form_and_stream_works() {
    let (site, at) = arena_with_page("--concurrency 2");
    let nginx = Nginx::start(&format!(
        "listen LISTEN ssl http2;
         ssl_certificate FOLDER/certificate.pem; ssl_certificate_key FOLDER/key.pem;
         gzip on; gzip_types *; gzip_proxied any; gzip_min_length 1;
         location /arena/ {{ proxy_pass {at}/; }}
         location / {{ return 404; }}"
    ));
    let bots = ["house:random", "house:random", "house:random"];
    site.cup("cup.toml", "othello", "deals = 2", &bots);
    site.run("tournament submit cup.toml");
    site.wait_for("cup", "over");
    let below = format!("https://127.0.0.1:{}/arena", nginx.port);
    on_runtime(async {
        let browser = Browser::new(&below, "en").await;
        let pages = [
            "/",
            "/tournaments",
            "/t/cup",
            "/t/cup/bots/a",
            "/t/cup/games",
            "/t/cup/games/0.0",
            "/t/cup/games/0.0?ply=5",
            "/play",
            "/play?game=mahjong",
            "/rules/big_two",
            "/api/v1/",
            "/there/is/none",
        ];
        for page in pages {
            browser.open(page).await;
            let broken = browser.client.execute_async(BROKEN_LINKS, Vec::new()).await;
            assert_eq!(broken.unwrap(), json!([]), "{page}");
            let is_styled = "return getComputedStyle(document.querySelector('.spoken')).position";
            assert_eq!(browser.run(is_styled).await, json!("absolute"), "{page}");
        }
        let protocol = "return performance.getEntriesByType('navigation')[0].nextHopProtocol";
        assert_eq!(browser.run(protocol).await, json!("h2"));
        // A setting leads back to where it was made.
        browser.open("/api/v1/").await;
        let script = "const at = document.querySelector('.preferences [name=theme]');
            at.value = 'dark'; at.dispatchEvent(new Event('change'));";
        browser.run(script).await;
        let dark = "return document.documentElement.dataset.theme === 'dark'";
        browser.until("the theme", dark).await;
        assert_eq!(browser.path().await, "/arena/api/v1/");
        // So does the way to the content.
        browser.open("/t/cup/games/0.0?ply=5").await;
        let steps = "return !document.getElementById('scrubber').hidden";
        browser.until("the frames are there", steps).await;
        let skips = "document.querySelector('#viewer [data-step=last]').click();
            document.querySelector('a.skip').click();
            return document.activeElement.id";
        assert_eq!(browser.run(skips).await, json!("main"));
        let moved = "return location.pathname === '/arena/t/cup/games/0.0' &&
            location.search === `?ply=${document.getElementById('viewer').dataset.plies}`";
        browser.until("the address is the position's", moved).await;
        // A game is begun, played with a stream, and looked at when it is over.
        begin_and_move(&browser).await;
        browser.until("it reads a stream", READS_A_STREAM).await;
        let hint = browser.hint().await;
        browser.play(&hint).await;
        browser.screenshot("below-a-path.png").await;
        browser.run("window.confirm = () => true").await;
        browser.click("form[action$='/resign'] button").await;
        let over = "return document.querySelector(\"#state a[href^='people/']\") !== null";
        browser.until("the game is over", over).await;
        browser.click("#state a[href^='people/']").await;
        browser.until("the frames are there", steps).await;
        assert!(browser.path().await.starts_with("/arena/people/"));
        // Whoever is invited is told the address that the browser has.
        let settings = [("against", "invite"), ("name", "eva")];
        browser.begin("connect_four", &settings).await;
        let path = browser.path().await;
        let told = browser.text("#address").await;
        assert_eq!(told, format!("https://127.0.0.1:{}{path}", nginx.port));
        browser.screenshot("invitation.png").await;
    });
}

#[test]
fn where_a_proxy_holds_streams_back_moves_arrive_all_the_same() {
    let (_site, at) = arena_with_page("--concurrency 0");
    let proxy = Proxy::start(&at, Manner::HoldsBack);
    let ignores = Nginx::start(&format!(
        "listen LISTEN; location / {{ proxy_pass {at}; proxy_ignore_headers X-Accel-Buffering; }}"
    ));
    on_runtime(async {
        for at in [&proxy.at, &format!("http://127.0.0.1:{}", ignores.port)] {
            let browser = Browser::new(at, "en").await;
            begin_and_move(&browser).await;
            let hint = browser.hint().await;
            browser.play(&hint).await;
            let is_found = "return document.getElementById('lost').hidden";
            browser.until("nothing is lost", is_found).await;
        }
    });
    assert!(proxy.count(|seen| &seen.questions) > 0);
    // It tries for a stream now and then, and not all the time.
    assert!(proxy.count(|seen| &seen.streams) < proxy.count(|seen| &seen.questions));
}

#[test]
fn a_proxy_that_cuts_off_who_is_silent_cuts_off_no_stream() {
    let (_site, at) = arena_with_page("--concurrency 0");
    let silent = Duration::from_secs(40);
    let proxy = Proxy::start(&at, Manner::CutsOff(silent));
    on_runtime(async {
        let browser = Browser::new(&proxy.at, "en").await;
        let settings = [("against", "invite"), ("name", "eva")];
        browser.begin("othello", &settings).await;
        let begun =
            "return document.getElementById('state').textContent.includes('It is your turn')";
        browser.until("the game waits for eva", begun).await;
        // Nobody moves. What comes from now on shows only that a stream lives, which is the same one
        // for longer than the proxy bears.
        let lives = async {
            loop {
                let streams = proxy.count(|seen| &seen.streams);
                let (parts, began) = (proxy.count(|seen| &seen.parts), Instant::now());
                while proxy.count(|seen| &seen.streams) == streams {
                    let is_long = began.elapsed() > silent + Duration::from_secs(5);
                    if is_long && proxy.count(|seen| &seen.parts) >= parts + 2 {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        };
        let signs = timeout(FAR_TOO_LONG * 3, lives).await;
        signs.expect("signs of life");
    });
    assert_eq!(proxy.count(|seen| &seen.cut), 0);
}

async fn switch_to(browser: &Browser, window: WindowHandle) {
    let switched = browser.client.switch_to_window(window).await;
    switched.unwrap();
}

#[test]
fn seven_windows_that_can_be_seen_follow_one_game_and_a_hidden_one_keeps_no_stream() {
    let (_site, at) = arena_with_page("--concurrency 0");
    let proxy = Proxy::start(&at, Manner::Passes);
    let shows = |moves: u64| {
        format!(
            "return document.querySelectorAll('#moves li').length >= {moves} &&
                 document.getElementById('lost').hidden"
        )
    };
    on_runtime(async {
        let browser = Browser::new(&proxy.at, "en").await;
        begin_and_move(&browser).await;
        let path = browser.path().await;
        let mut windows = vec![browser.client.window().await.unwrap()];
        for number in 1..7 {
            let window = browser.client.new_window(false).await.unwrap();
            switch_to(&browser, window.handle).await;
            let opened = timeout(FAR_TOO_LONG, browser.open(&path)).await;
            assert!(opened.is_ok(), "window {number} hangs");
            windows.push(browser.client.window().await.unwrap());
        }
        for window in &windows {
            switch_to(&browser, window.clone()).await;
            browser.run(&hides(false)).await;
            browser.until("it shows the game", &shows(2)).await;
        }
        let hint = browser.hint().await;
        browser.play(&hint).await;
        for window in &windows {
            switch_to(&browser, window.clone()).await;
            browser.until("it shows the move", &shows(4)).await;
        }
        // Two connections are left for what the windows do.
        assert!((1..=4).contains(&proxy.count(|seen| &seen.open)));
        // Those that are closed leave their places to others.
        let last = windows.pop().unwrap();
        for window in windows {
            switch_to(&browser, window).await;
            browser.client.close_window().await.unwrap();
        }
        switch_to(&browser, last).await;
        browser.until("it reads a stream", READS_A_STREAM).await;
        let one_left = wait_for_streams(&proxy, 1).await;
        assert!(one_left, "{}", proxy.count(|seen| &seen.open));
        browser.run(&hides(true)).await;
        assert!(wait_for_streams(&proxy, 0).await);
        browser.run(&hides(false)).await;
        assert!(wait_for_streams(&proxy, 1).await);
    });
}

/// The script that has a page believe that it is hidden, or that it can be seen. Without a screen a
/// browser does not say it as it does with one.
fn hides(is_hidden: bool) -> String {
    format!(
        "Object.defineProperty(document, 'hidden', {{ configurable: true, get: () => {is_hidden} }});
         document.dispatchEvent(new Event('visibilitychange'));"
    )
}

async fn wait_for_streams(proxy: &Proxy, open: usize) -> bool {
    let waits = async {
        while proxy.count(|seen| &seen.open) != open {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(FAR_TOO_LONG, waits).await.is_ok()
}

#[test]
fn after_the_proxy_could_not_reach_the_arena_the_page_comes_again() {
    let (mut site, at) = arena_with_page("--concurrency 0");
    let nginx = Nginx::start(&format!("listen LISTEN; location / {{ proxy_pass {at}; }}"));
    let through = format!("http://127.0.0.1:{}", nginx.port);
    on_runtime(async {
        let browser = Browser::new(&through, "en").await;
        begin_and_move(&browser).await;
        // It is the same page until the end.
        browser.run("window.isTheSame = true").await;
        site.kill(0);
        let is_lost = "return !document.getElementById('lost').hidden";
        browser
            .until("it is told that the connection is lost", is_lost)
            .await;
        assert_eq!(get(&format!("{through}/")).0, 502);
        // What is done meanwhile is not done, and that is told.
        browser.click("form[action$='/hint'] button").await;
        let told =
            "return document.getElementById('message').textContent.startsWith('That did not work')";
        browser.until("a failure is told", told).await;
        browser.screenshot("lost.png").await;
        site.restart(0);
        let is_found = "return document.getElementById('lost').hidden && window.isTheSame";
        browser.until("it has come again", is_found).await;
        let version = browser.version().await;
        let hint = browser.hint().await;
        browser.play(&hint).await;
        assert_ne!(browser.version().await, version);
        browser.until("it reads a stream", READS_A_STREAM).await;
        assert_eq!(browser.run("return window.isTheSame").await, json!(true));
    });
}

#[test]
fn a_browser_that_refuses_addresses_shows_the_right_move() {
    let (site, at) = arena_with_page("--concurrency 2");
    let bots = ["house:random", "house:random"];
    site.cup("cup.toml", "othello", "deals = 1", &bots);
    site.run("tournament submit cup.toml");
    site.wait_for("cup", "over");
    on_runtime(async {
        let browser = Browser::new(&at, "en").await;
        let game = "/t/cup/games/0.0";
        let steps = "return !document.getElementById('scrubber').hidden";
        let state = "return [
            document.querySelector('#board svg').innerHTML,
            document.getElementById('ply').textContent,
            document.getElementById('scrubber').value,
            document.getElementById('position').textContent,
            [...document.querySelectorAll('#moves a')].findIndex((one) => one.ariaCurrent === 'step'),
            document.querySelector('[data-of-position=picture]').href,
        ]";
        browser.open(&format!("{game}?ply=7")).await;
        browser.until("the frames are there", steps).await;
        let expected = browser.run(state).await;
        browser.open(&format!("{game}?ply=0")).await;
        browser.until("the frames are there", steps).await;
        // As browsers refuse it that allow so many in a while.
        let refuses = "
            const replace = history.replaceState.bind(history);
            window.allowed = 0;
            window.asked = 0;
            history.replaceState = (...all) => {
                window.asked += 1;
                if (window.asked > window.allowed) throw new DOMException('too often', 'SecurityError');
                replace(...all);
            };
            const scrubber = document.getElementById('scrubber');
            for (let turn = 0; turn < 300; turn++) {
                scrubber.value = String(turn % 10);
                scrubber.dispatchEvent(new Event('input'));
            }
            scrubber.value = '7';
            scrubber.dispatchEvent(new Event('input'));
            return window.asked";
        let asked = browser.run(refuses).await;
        assert_eq!(asked, json!(0), "each of 300 positions");
        assert_eq!(browser.run(state).await, expected);
        let refused = "return window.asked > 0";
        browser
            .until("the browser has refused an address", refused)
            .await;
        assert_eq!(browser.run(state).await, expected);
        browser.screenshot("refused.png").await;
        // It is changed when it may be.
        browser.run("window.allowed = 1000").await;
        let changed = "return location.search === '?ply=7'";
        browser
            .until("the address is the position's", changed)
            .await;
        let asked: Value = browser.run("return window.asked").await;
        assert!(asked.as_u64().unwrap() < 10, "{asked}");
    });
}
