//! A bot's process is killed on a worker: in a game that game alone is another one, between games
//! none is.

use std::{collections::BTreeMap, fs, thread};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use crate::{processes::bots_of, site::Site, vocabulary::*};

/// A group and a seating.
type Key = (u64, u64);

/// The game in which the bot is killed.
const GAME: &str = "match-0000-deal-0002-game-1";
const KEY: Key = (2, 1);

/// A tournament between a bot that travels and a built-in one. The first waits in games that a
/// file in the folder `hold` names, and plays each game in a process of its own.
struct Match {
    site: Site,
}

impl Match {
    fn new() -> Self {
        // Processes have the same numbers for bots as for us.
        let site = Site::without_walls();
        site.add_held("mortal", "honest --by-callbacks --max-games 1");
        let more = "deals = 10\nlimits.move = \"10m\"";
        site.cup(
            "cup.toml",
            "connect-four",
            more,
            &["mortal", "house:random"],
        );
        site.run("tournament run cup.toml --name alone --seed 31");
        Self { site }
    }

    /// Starts the arena and a worker, and gives the number of the worker.
    fn start(&mut self) -> usize {
        self.site.serve("--open --concurrency 0 --replay all");
        self.site.referee("--name far --concurrency 3 --logs logs")
    }

    fn submit(&self, name: &str) {
        self.site.run(&format!(
            "tournament submit cup.toml --name {name} --seed 31"
        ));
    }

    /// The process that plays a game, as its log says.
    fn player(&self) -> Option<i32> {
        let logs = fs::read_dir(self.site.arena.path("logs")).ok()?;
        let mut logs = logs.flatten().map(|log| fs::read_to_string(log.path()));
        logs.find_map(|log| {
            let log = log.ok()?;
            let waits = format!(" waits in {GAME}");
            let line = log.lines().find_map(|line| line.strip_suffix(&waits))?;
            line.rsplit(' ').next()?.parse().ok()
        })
    }

    /// All games of a tournament, without what differs each time.
    fn games(&self, name: &str) -> BTreeMap<Key, Value> {
        let export = self.site.run(&format!("tournament export {name}"));
        let games = of_type(&events(&export), "game").into_iter();
        games
            .map(|game| (key(&game), without_measures(game)))
            .collect()
    }
}

fn key(game: &Value) -> Key {
    let number = |name: &str| game[name].as_u64().unwrap();
    (number("group"), number("seating"))
}

/// A game without times, and without who played it.
fn without_measures(mut game: Value) -> Value {
    let object = game.as_object_mut().unwrap();
    for measured in ["thought_us", "finished_unix_ms", "worker"] {
        object.remove(measured);
    }
    let counters = object["counters"].as_array_mut().unwrap();
    // The rest are times: of thinking, of waiting.
    counters.retain(|counter| {
        counter[1]
            .as_str()
            .is_some_and(|name| name.starts_with("ended:"))
    });
    let record = object["record"].as_str().unwrap();
    object["record"] = json!(without_times(record));
    game
}

#[test]
fn a_bot_that_is_killed_in_a_game_loses_that_game_and_no_other() {
    let mut cup = Match::new();
    fs::write(cup.site.arena.path("hold").join(GAME), "").unwrap();
    cup.start();
    cup.submit("cup");
    let mut player = None;
    wait_until_or(
        "the bot is asked",
        || cup.site.log(),
        || {
            player = cup.player();
            player.is_some()
        },
    );
    kill(Pid::from_raw(player.unwrap()), Signal::SIGKILL).unwrap();
    fs::remove_file(cup.site.arena.path("hold").join(GAME)).unwrap();
    cup.site.wait_for("cup", "over");

    let (mut alone, mut killed) = (cup.games("alone"), cup.games("cup"));
    let (whole, cut) = (alone.remove(&KEY).unwrap(), killed.remove(&KEY).unwrap());
    assert_eq!(alone.len(), 19);
    assert_eq!(killed, alone);
    assert_eq!(whole["fouls"], json!([]));
    let fouls = cut["fouls"].as_array().unwrap();
    assert_eq!(fouls.len(), 1, "{cut}");
    assert_eq!(fouls[0]["foul"]["kind"], "crashed", "{cut}");
    let detail = fouls[0]["foul"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("killed by SIGKILL"), "{detail}");
    // The first of the lineup is the bot that was killed.
    let seat = fouls[0]["seat"].as_u64().unwrap() as usize;
    assert_eq!(cut["order"][seat], 0, "{cut}");
    let status = cup.site.run("tournament status cup");
    assert!(status.contains("crashed"), "{status}");
    let verified = cup.site.run("tournament verify cup");
    assert!(verified.contains("proved, 20 games"), "{verified}");
}

#[test]
fn a_bot_that_is_killed_between_games_loses_none() {
    let mut cup = Match::new();
    let worker = cup.start();
    cup.submit("cup");
    cup.site.wait_for("cup", "over");
    // No tournament is being played.
    let bots = bots_of(&cup.site.processes[worker].child);
    assert!(bots.len() > 1, "of both bots");
    thread::scope(|scope| {
        for bot in &bots {
            scope.spawn(|| bot.kill());
        }
    });
    cup.submit("again");
    cup.site.wait_for("again", "over");
    assert_eq!(cup.games("cup"), cup.games("alone"));
    assert_eq!(cup.games("again"), cup.games("alone"));
}
