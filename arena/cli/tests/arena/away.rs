//! Bots that run as services: one that goes away is waited for, one that stays away can be
//! readmitted. An arena says whether it works.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    process::Command,
};

use serde_json::Value;

use crate::{site::Site, vocabulary::*};

/// Starts a bot as a service, and gives its number among the site's processes.
fn start_service(site: &mut Site, address: SocketAddr) -> usize {
    let mut bot = Command::new(villain_program());
    bot.arg("honest")
        .env("BOT_LISTEN", format!("tcp:{address}"));
    let bot = site.launch(bot);
    let number = site.keep(&villain_program(), "honest".to_owned(), bot);
    let listens = || TcpStream::connect(address).is_ok();
    wait_until_or("the service listens", || site.log(), listens);
    number
}

/// A site with a service that runs, and with a bot whose games can be held up.
struct HeldSite {
    site: Site,
    /// The folder with a file for each game that is held up.
    hold: PathBuf,
    address: SocketAddr,
    running: usize,
}

impl HeldSite {
    fn new() -> Self {
        // Without walls, so that a bot sees the folder that holds its games up.
        let mut site = Site::without_walls();
        let hold = site.add_held("held", "honest --by-callbacks");
        let address = free_address();
        let running = start_service(&mut site, address);
        Self {
            site,
            hold,
            address,
            running,
        }
    }
}

/// The service's SPEC.
fn service(address: SocketAddr) -> String {
    format!("grpc://{address}")
}

/// Plays a part of the tournament, and stops between two games.
fn play_a_part(site: &Site) {
    site.run("tournament submit cup.toml --seed 5");
    wait_until_or(
        "games are played",
        || site.log(),
        || site.progress("cup").0 > 2,
    );
    site.run("tournament pause cup");
    site.wait_for("cup", "paused");
}

fn status(site: &Site) -> String {
    site.run("tournament status cup").replace("\n    ", " ")
}

fn fetched(address: SocketAddr, path: &str) -> String {
    let fetch = || {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    fetch().unwrap_or_default()
}

#[test]
fn a_service_that_goes_away_and_comes_back_loses_nothing() {
    let HeldSite {
        mut site,
        hold,
        address,
        running,
    } = HeldSite::new();
    let bots = [&*service(address), "held"];
    let more = "deals = 6\nlimits.move = \"10m\"";
    site.cup("cup.toml", "connect-four", more, &bots);
    site.run("tournament run cup.toml --name alone --seed 5");
    let held = hold.join("match-0000-deal-0005-game-1");
    fs::write(&held, "").unwrap();
    let [metrics, health] = [free_address(), free_address()];
    site.serve(&format!(
        "--open --concurrency 2 --metrics {metrics} --health {health}"
    ));
    play_a_part(&site);
    site.kill(running);
    site.run("tournament submit cup");
    let says = "which has been away for 1 minute (unreachable: ";
    wait_until_or(says, || status(&site), || status(&site).contains(says));
    assert!(status(&site).contains("in 10 minutes its games are played without it"));
    assert_eq!(site.state("cup"), "running");
    let figures = fetched(metrics, "/metrics");
    let figure = |is: u8| format!("arena_bot_away{{tournament=\"cup\",bot=\"a\"}} {is}");
    assert!(figures.contains(&figure(1)), "{figures}");
    // It is well: only a bot is away.
    for path in ["/healthz", "/readyz"] {
        let page = fetched(health, path);
        assert!(
            page.starts_with("HTTP/1.0 200") && page.ends_with("ok\n"),
            "{page}"
        );
    }
    fs::remove_file(held).unwrap();
    start_service(&mut site, address);
    site.wait_for("cup", "over");
    site.is_as("cup", "alone");
    let figures = fetched(metrics, "/metrics");
    assert!(figures.contains(&figure(0)), "{figures}");
    let proved = site.run("tournament verify cup");
    assert!(proved.contains("proved, "), "{proved}");
}

fn standings(site: &Site) -> Value {
    let status = site.run("tournament status cup --format json");
    of_type(&events(&status), "standings").remove(0)
}

/// True if a bot is set aside.
fn is_set_aside(site: &Site) -> bool {
    let standings = standings(site);
    !standings["set_aside"].as_array().unwrap().is_empty()
}

fn readmitting(site: &Site, bot: &str, says: &str) {
    let line = format!("tournament readmit cup {bot}");
    refused(&site.command(&line).output().unwrap(), says);
}

#[test]
fn a_service_that_stayed_away_is_readmitted_with_its_games() {
    let HeldSite {
        mut site,
        hold,
        address,
        running,
    } = HeldSite::new();
    let bots = ["held", "held", &service(address)];
    let more = "deals = 6\nset_aside = { starts = 1, away = \"0s\" }\nlimits.move = \"10m\"";
    site.cup("cup.toml", "connect-four", more, &bots);
    // A deal of the first match, which is that of b and c, and a game of the last one, of a and b.
    let games = [(0, 5, 0), (0, 5, 1), (2, 0, 0)];
    let held = games.map(|(matchup, deal, game)| {
        hold.join(format!("match-{matchup:04}-deal-{deal:04}-game-{game}"))
    });
    for file in &held {
        fs::write(file, "").unwrap();
    }
    site.serve("--open --concurrency 2");
    play_a_part(&site);
    site.kill(running);
    site.run("tournament submit cup");
    wait_until_or("it is set aside", || status(&site), || is_set_aside(&site));
    readmitting(&site, "a", "a is not set aside in cup: nothing was changed");
    readmitting(
        &site,
        "nobody",
        "cup has no bot \"nobody\"; there are a, b, c",
    );
    start_service(&mut site, address);
    let said = site.run("tournament readmit cup c");
    assert!(said.contains("that it failed stay lost"), "{said}");
    for file in held {
        fs::remove_file(file).unwrap();
    }
    site.wait_for("cup", "over");
    assert!(!is_set_aside(&site));
    // Everybody has played everything.
    let table = site.rows("cup");
    let mut rows = table.as_array().unwrap().iter();
    assert!(rows.all(|row| row["games"] == 24), "{table}");
    let proved = site.run("tournament verify cup");
    assert!(proved.contains("proved, "), "{proved}");
    readmitting(&site, "c", "its root is public");
}
