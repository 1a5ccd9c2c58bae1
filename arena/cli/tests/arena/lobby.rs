//! Bots behind a router: they dial in and play by the lobby of an arena.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{sleep, spawn},
    time::Duration,
};

use crate::{site::Site, vocabulary::*};

/// A site whose arena takes bots with these names in.
fn site(names: &[&str]) -> Site {
    let site = Site::without_walls();
    for name in names {
        site.run(&format!("lobby add {name}"));
    }
    site
}

/// A bot that joins the arena at this address with the token of this name.
fn joining(site: &Site, url: &str, name: &str, bot: &str) -> Command {
    let mut command = site.command_of(&villain_program(), bot);
    command
        .env("BOT_JOIN", url)
        .env("BOT_TOKEN_FILE", site.arena.path(&format!("{name}.token")))
        .env("BOT_CA", site.arena.path("tls/ca.pem"));
    command
}

/// Starts a bot, and gives its number among the site's processes.
fn join(site: &mut Site, name: &str, bot: &str) -> usize {
    let command = joining(site, &site.url(), name, bot);
    let child = site.launch(command);
    site.keep(&villain_program(), bot.to_owned(), child)
}

fn attends(site: &Site, name: &str) -> bool {
    let list = site.run("lobby");
    list.lines()
        .any(|line| line.split_whitespace().next() == Some(name))
}

fn wait_for(site: &Site, name: &str) {
    wait_until_or("it attends", || site.log(), || attends(site, name));
}

/// The games of a tournament as text, in which fouls have names.
fn games(site: &Site, cup: &str) -> Vec<String> {
    let export = site.run(&format!("tournament export {cup}"));
    let games = of_type(&events(&export), "game").into_iter();
    games.map(|game| game.to_string()).collect()
}

fn hung_up(games: &[String]) -> usize {
    games.iter().filter(|game| game.contains("hung_up")).count()
}

/// A way to the arena that can be cut: what is open ends, and nothing further is let through.
struct Way {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Way {
    fn to(url: &str) -> Self {
        let arena = url.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let way = Self {
            address: listener.local_addr().unwrap(),
            is_cut: Arc::default(),
            open: Arc::default(),
        };
        let (is_cut, open) = (way.is_cut.clone(), way.open.clone());
        spawn(move || {
            for bot in listener.incoming() {
                let bot = bot.unwrap();
                let Ok(arena) = TcpStream::connect(&arena) else {
                    continue;
                };
                let mut open = open.lock().unwrap();
                if is_cut.load(Ordering::Relaxed) {
                    continue;
                }
                for (from, to) in [(&bot, &arena), (&arena, &bot)] {
                    carry(from.try_clone().unwrap(), to.try_clone().unwrap());
                }
                open.extend([bot, arena]);
            }
        });
        way
    }

    fn cut(&self) {
        let mut open = self.open.lock().unwrap();
        self.is_cut.store(true, Ordering::Relaxed);
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn heal(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// Starts a bot on a way that can be cut. It answers slowly, so that a game takes a while.
fn join_on(site: &mut Site, way: &Way, name: &str) -> usize {
    let bot = "slow --delay 150ms";
    let command = joining(site, &format!("http://{}", way.address), name, bot);
    let child = site.launch(command);
    let number = site.keep(&villain_program(), bot.to_owned(), child);
    wait_for(site, name);
    number
}

/// A tournament of a bot of the lobby.
fn rated(site: &Site, cup: &str, name: &str) {
    let more = "deals = 2\nlimits.move = \"60s\"";
    let bots = [&*format!("lobby:{name}"), "house:random"];
    site.cup(&format!("{cup}.toml"), "connect-four", more, &bots);
}

/// Submits a tournament, and comes back in the middle of a game.
fn in_a_game(site: &Site, cup: &str) {
    site.run(&format!("tournament submit {cup}.toml --seed 5"));
    let has_begun = || site.progress(cup).0 > 0;
    wait_until_or("a game is over", || site.log(), has_begun);
    sleep(Duration::from_secs(1));
}

#[test]
fn a_bot_that_is_cut_off_comes_back_and_the_table_is_right() {
    let mut site = site(&["me"]);
    site.serve("--lobby lobby.tokens --concurrency 1");
    let way = Way::to(&site.url());
    join_on(&mut site, &way, "me");
    rated(&site, "cup", "me");
    site.run("tournament submit cup.toml --name alone --seed 5");
    site.wait_for("alone", "over");
    in_a_game(&site, "cup");
    way.cut();
    wait_until_or("it is missed", || site.log(), || !attends(&site, "me"));
    assert_eq!(site.state("cup"), "running");
    way.heal();
    site.wait_for("cup", "over");
    site.is_as("cup", "alone");
    assert_eq!(hung_up(&games(&site, "cup")), 0);
}

#[test]
fn a_bot_that_is_started_again_is_caught_up() {
    let mut site = site(&["me"]);
    site.serve("--lobby lobby.tokens --concurrency 1");
    let way = Way::to(&site.url());
    let bot = join_on(&mut site, &way, "me");
    rated(&site, "cup", "me");
    site.run("tournament submit cup.toml --name alone --seed 5");
    site.wait_for("alone", "over");
    in_a_game(&site, "cup");
    site.kill(bot);
    join_on(&mut site, &way, "me");
    site.wait_for("cup", "over");
    site.is_as("cup", "alone");
}

#[test]
fn a_bot_that_does_not_come_back_to_a_game_loses_that_game_alone() {
    let mut site = site(&["me"]);
    site.serve("--lobby lobby.tokens --concurrency 1");
    let way = Way::to(&site.url());
    join_on(&mut site, &way, "me");
    rated(&site, "cup", "me");
    in_a_game(&site, "cup");
    way.cut();
    loses_one(&site, "cup");
    way.heal();
    site.wait_for("cup", "over");
    let games = games(&site, "cup");
    assert_eq!(hung_up(&games), 1, "{games:#?}");
    assert!(!games.iter().any(|game| game.contains("unreachable")));
}

/// A bot is away for so long that it has lost the game that is played; its other games wait.
fn loses_one(site: &Site, cup: &str) {
    let has_lost = || hung_up(&games(site, cup)) == 1;
    wait_until_or("it has lost a game", || site.log(), has_lost);
    let status = || site.run(&format!("tournament status {cup}"));
    let is_away = || status().contains("away for");
    wait_until_or("it is away", || site.log(), is_away);
    assert_eq!(site.state(cup), "running");
}

#[test]
fn a_bot_that_has_dialled_in_plays_a_match_and_nobody_sits_in_its_seat() {
    let mut site = site(&["me", "you"]);
    site.serve("--lobby lobby.tokens --concurrency 1");
    join(&mut site, "me", "honest");
    wait_for(&site, "me");
    let line = "match connect-four --bot lobby:me --bot house:random --deals 3";
    let played = site.run(line);
    assert!(played.contains("me"), "{played}");
    // There is no such bot, and what to do is said.
    let mut absent =
        site.command("match connect-four --bot lobby:you --bot house:random --deals 1");
    let said = err(&absent.output().unwrap());
    assert!(said.contains("BOT_JOIN"), "{said}");
    // A token attends as the name that stands beside it.
    join(&mut site, "you", "honest");
    wait_for(&site, "you");
    assert!(attends(&site, "me"));
    // One that nobody knows does not attend.
    let token = site.arena.path("stranger.token");
    fs::write(&token, format!("arena_{}\n", "0".repeat(64))).unwrap();
    let chmod = Command::new("chmod").arg("600").arg(&token).status();
    assert!(chmod.unwrap().success());
    let stranger = joining(&site, &site.url(), "stranger", "honest").output();
    let stranger = stranger.unwrap();
    assert!(!stranger.status.success());
    let said = err(&stranger);
    assert!(said.contains("this token is not known here"), "{said}");
}

#[test]
fn a_newer_process_with_the_same_token_takes_the_place_of_the_older() {
    let mut site = site(&["me"]);
    site.serve("--lobby lobby.tokens --concurrency 1");
    let older = joining(&site, &site.url(), "me", "honest")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&site, "me");
    join(&mut site, "me", "honest");
    let output = older.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = err(&output);
    assert!(
        said.contains("another process has joined with the same token"),
        "{said}"
    );
    wait_for(&site, "me");
    site.run("match connect-four --bot lobby:me --bot house:random --deals 1");
}

mod networks {
    use std::path::Path;

    use super::*;
    use crate::namespaces::{CENTRE, Network};

    #[test]
    #[ignore = "it needs root and iproute2, and takes a minute: cargo xtask soak networks"]
    fn bots_that_are_cut_off_come_back_and_the_table_is_right() {
        let names = ["cut", "lost"];
        // Its processes are on the machines of the network, and are ended first.
        let mut network = Network::new();
        let mut site = site(&names);
        site.run("certs init tls");
        site.run(&format!("certs server tls --name {CENTRE}"));
        let port = 50060;
        let url = format!("https://{CENTRE}:{port}");
        let line = format!(
            "serve --listen {CENTRE}:{port} --concurrency 1 --lobby lobby.tokens \
             --tls-cert tls/{CENTRE}.pem --tls-key tls/{CENTRE}.key"
        );
        let serve = network.on("centre", &site.command(&line));
        let child = site.launch(serve);
        site.keep(Path::new(env!("CARGO_BIN_EXE_arena")), line, child);
        for name in names {
            network.add(name);
            // It answers slowly, so that a game goes on for a while.
            let bot = joining(&site, &url, name, "slow --delay 150ms");
            let child = site.launch(network.on(name, &bot));
            site.keep(&villain_program(), name.to_owned(), child);
            wait_for(&site, name);
        }
        // Nothing begins a connection to them.
        rated(&site, "cup", "cut");
        rated(&site, "other", "lost");
        site.run("tournament submit cup.toml --name alone --seed 5");
        site.wait_for("alone", "over");
        in_a_game(&site, "cup");
        network.cut("cut");
        // Neither side is told.
        wait_until_or("it is missed", || site.log(), || !attends(&site, "cut"));
        assert_eq!(site.state("cup"), "running");
        network.heal("cut");
        site.wait_for("cup", "over");
        site.is_as("cup", "alone");
        // One that never comes back loses the game that is played, and costs no other bot one.
        in_a_game(&site, "other");
        network.cut("lost");
        loses_one(&site, "other");
        assert!(attends(&site, "cut") && !attends(&site, "lost"));
    }
}
