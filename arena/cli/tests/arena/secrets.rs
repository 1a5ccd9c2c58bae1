//! Facts that a bot could learn from one seating of a deal for another, and proof that it can't.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Output, Stdio},
};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use referee_core::{Event, GameKind, Record, Root};
use referee_games::told_game_id;
use serde_json::Value;

use crate::vocabulary::*;

/// The bots of a game, all of them this villain.
fn villains(seats: usize, line: &str) -> String {
    let bots: Vec<_> = (0..seats)
        .map(|bot| villain(&format!("v{bot}"), line))
        .collect();
    bots.join(" ")
}

/// The games that were lost by a foul, as the events of a run tell them.
fn fouls(events: &[Value]) -> Vec<String> {
    of_type(events, "game")
        .iter()
        .flat_map(|game| game["fouls"].as_array().unwrap().clone())
        .map(|foul| foul.to_string())
        .collect()
}

/// Which games each process has played, from what the bots have printed.
fn games_of_processes(arena: &Arena, run: &str) -> BTreeMap<String, Vec<String>> {
    let mut processes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in fs::read_dir(arena.path(run).join("logs")).unwrap() {
        let log = fs::read_to_string(file.unwrap().path()).unwrap();
        for line in log.lines() {
            if let Some((process, game)) = line.split_once(" plays ") {
                let games = processes.entry(process.to_owned()).or_default();
                games.push(game.to_owned());
            }
        }
    }
    processes
}

/// The names of a run's games, by what their bots were told as names.
fn names_by_what_bots_were_told(arena: &Arena, run: &str) -> BTreeMap<String, String> {
    let records = arena.records(run).into_iter();
    let headers = records.map(|(_, record)| Record::parse(&record).unwrap().header);
    let names = headers.map(|header| {
        let game = referee_games::game(&header.game).unwrap();
        let told = told_game_id(game, &header.seed, &header.game_id);
        (told, header.game_id)
    });
    names.collect()
}

/// Plays villains that remember the rounds that their process has met.
fn play_rounds(arena: &Arena, game: &str, seats: usize, more: &str) -> Vec<Value> {
    let bots = villains(seats, "knows-rounds --max-games 100");
    let line = format!("match {game} {bots} --records run --format json {more}");
    events(&done(&arena.run(&line)))
}

#[test]
fn no_process_sees_two_seatings_of_one_deal() {
    for (game, seats, rounds, more, games) in [
        // More deals than are in flight together.
        ("mahjong", 2, 70, "", 140),
        ("big-two", 4, 6, "", 24),
        ("big-two", 4, 1, "--seatings all", 24),
    ] {
        // In a sandbox each would be the same process of its own namespace.
        let arena = Arena::new().without_walls();
        let more = format!("{more} --rounds {rounds} --concurrency 3");
        let events = play_rounds(&arena, game, seats, &more);
        assert_eq!(of_type(&events, "game").len(), games);
        assert_eq!(fouls(&events), [""; 0]);

        let names = names_by_what_bots_were_told(&arena, "run");
        let processes = games_of_processes(&arena, "run");
        assert_eq!(processes.values().flatten().count(), seats * games);
        for (process, games) in processes {
            let mut rounds: Vec<_> = games
                .iter()
                .map(|game| names[game].split_once("-game-").unwrap().0)
                .collect();
            rounds.sort_unstable();
            rounds.dedup();
            assert_eq!(rounds.len(), games.len(), "{process} plays {games:?}");
        }
    }
}

/// By the name of a game, or by its place among others, a bot could find what a process of its
/// own has left in another seating of the deal.
#[test]
fn neither_the_name_of_a_game_nor_its_place_says_which_deal_it_is() {
    let arena = Arena::new().without_walls();
    let bots = villains(2, "honest --by-callbacks --max-games 1");
    // Chunks have many deals each.
    let more = "--rounds 100 --concurrency 1 --seed 7";
    done(&arena.run(&format!("match mahjong {bots} --records run {more}")));
    let names = names_by_what_bots_were_told(&arena, "run");
    assert_eq!(names.len(), 200, "no two games have the same name");
    for (told, name) in &names {
        assert!(told.bytes().all(|byte| byte.is_ascii_hexdigit()), "{told}");
        assert!(!told.contains(name));
    }
    // The deals of each seating, in the order in which they were begun.
    let mut begun: Vec<_> = fs::read_dir(arena.path("run/logs"))
        .unwrap()
        .map(|log| log.unwrap().path())
        .flat_map(|path| {
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            let log = fs::read_to_string(&path).unwrap();
            let told = log.lines().filter_map(|line| line.split_once(" plays "));
            let told: Vec<_> = told.map(|(_, told)| (time, told.to_owned())).collect();
            told
        })
        .collect();
    begun.sort();
    let mut orders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, told) in &begun {
        let (deal, seating) = names[told].split_once("-game-").unwrap();
        let order = orders.entry(seating).or_default();
        if !order.contains(&deal) {
            order.push(deal);
        }
    }
    assert_eq!(orders["0"].len(), 100);
    assert_ne!(orders["0"], orders["1"]);
}

/// So the villain does notice when it meets a deal twice.
#[test]
fn without_secrets_a_process_sees_both_seatings() {
    let arena = Arena::new();
    let events = play_rounds(&arena, "connect-four", 2, "--rounds 3 --concurrency 1");
    let fouls = fouls(&events);
    // Both bots know the second seating of each round, and the first that is
    // asked gives up.
    assert_eq!(fouls.len(), 3, "{fouls:?}");
    for (foul, round) in fouls.iter().zip(["deal-0000", "deal-0001", "deal-0002"]) {
        assert!(foul.contains("I have met"), "{foul}");
        assert!(foul.contains(round), "{foul}");
    }
}

#[test]
fn hands_are_not_dealt_twice_to_one_process() {
    for (game, seats, more) in [
        ("mahjong", 2, "--rounds 8"),
        ("big-two", 4, "--rounds 1 --seatings all"),
    ] {
        let arena = Arena::new();
        let bots = villains(seats, "knows-hands --max-games 100");
        let line = format!("match {game} {bots} --format json {more} --no-records");
        assert_eq!(fouls(&events(&done(&arena.run(&line)))), [""; 0], "{game}");
    }
}

/// A bot that runs somewhere, as a service.
struct Service {
    process: Child,
    address: String,
}

impl Service {
    fn start(arena: &Arena, line: &str) -> Self {
        let mut process = Command::new(villain_program())
            .args(line.split_whitespace())
            .env(
                "BOT_LISTEN",
                format!("unix:{}", arena.path("bot").display()),
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.strip_prefix("listening on ").unwrap().to_owned();
        // What else it prints must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whoever can't be started afresh gets a deal of its own in each game.
#[test]
fn a_bot_that_runs_somewhere_plays_independent_deals() {
    for (game, house, games) in [("mahjong", 1, 12), ("big-two", 3, 24)] {
        let arena = Arena::new();
        let service = Service::start(&arena, "knows-hands --max-games 100");
        let others: Vec<_> = (0..house)
            .map(|bot| format!("--bot b{bot}=house:random"))
            .collect();
        let play = |run: &str| {
            arena.run(&format!(
                "match {game} --bot far={} {} --rounds 6 --seed 'a word' --records {run} --format json",
                service.address,
                others.join(" ")
            ))
        };
        let output = play("run");
        let played = events(&done(&output));
        assert!(
            err(&output).contains("every game has a deal of its own"),
            "{}",
            err(&output)
        );
        assert_eq!(of_type(&played, "game").len(), games);
        assert_eq!(fouls(&played), [""; 0]);
        let mut seeds: Vec<_> = arena
            .records("run")
            .iter()
            .map(|(_, record)| events(record)[0]["seed"].to_string())
            .collect();
        seeds.sort();
        seeds.dedup();
        assert_eq!(seeds.len(), games, "each game has a seed of its own");

        // The same seed deals the same again, and the bot, which still runs,
        // does notice.
        let again = fouls(&events(&out(&play("again"))));
        assert_eq!(again.len(), games, "{again:?}");
        assert!(
            again.iter().all(|foul| foul.contains("I have met")),
            "{again:?}"
        );
    }
}

/// A file whose pages are out of memory.
fn cold_book(arena: &Arena, bot: &str) -> String {
    let folder = arena.path("books").join(bot);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("book");
    fs::write(&path, vec![7; 25 << 20]).unwrap();
    let file = File::open(&path).unwrap();
    file.sync_all().unwrap();
    let advice = PosixFadviseAdvice::POSIX_FADV_DONTNEED;
    posix_fadvise(&file, 0, 0, advice).unwrap();
    path.display().to_string()
}

#[test]
fn what_a_bot_whispers_is_heard_neither_at_its_table_nor_by_its_next_process() {
    let whispers = |arena: &Arena, bot: &str| {
        let book = cold_book(arena, bot);
        villain(bot, &format!("whispers --max-games 1 --book '{book}'"))
    };
    let heard = |arena: &Arena, bots: &str, deals: u32| {
        let line = format!("match mahjong {bots} --deals {deals} --concurrency 1 --format json");
        fouls(&events(&done(&arena.run(&line)))).join("\n")
    };
    let arena = Arena::new();
    let two = ["v0", "v1"].map(|bot| whispers(&arena, bot)).join(" ");
    assert_eq!(heard(&arena, &two, 2), "");
    // So each way is heard where there is nothing else to hear: by the next process, ...
    let arena = Arena::new().without_walls();
    // A kernel that is short of memory may drop what was said.
    let heard_by_pages = (0..5).any(|_| {
        let one = format!("{} --bot house:random", whispers(&arena, "v0"));
        heard(&arena, &one, 1).contains("by the pages of")
    });
    assert!(heard_by_pages);
    // ... and at the table.
    let two = ["v0", "v1"].map(|bot| villain(bot, "whispers --max-games 1"));
    let said = heard(&arena, &two.join(" "), 2);
    assert!(said.contains("by record locks"), "{said}");
}

/// Hands that a set-up deals, the same in every round.
const HANDS: &str = r#"--setup '{"hands":["22367c1478b1389d","147c258b1234567d"]}'"#;

#[test]
fn hands_that_a_set_up_deals_are_no_process_s_twice() {
    let arena = Arena::new();
    let bots = villains(2, "knows-hands --max-games 100");
    let line = format!("match mahjong {bots} --rounds 3 {HANDS} --format json --no-records");
    let events = events(&done(&arena.run(&line)));
    assert_eq!(of_type(&events, "game").len(), 6);
    assert_eq!(fouls(&events), [""; 0]);
}

#[test]
fn a_bot_that_runs_somewhere_is_not_dealt_a_set_up_twice() {
    let arena = Arena::new();
    let service = Service::start(&arena, "knows-hands --max-games 100");
    let bots = format!("--bot far={} --bot house:random", service.address);
    let run = |more: &str| {
        arena.run(&format!(
            "match mahjong {bots} --rounds 1 --no-records {more}"
        ))
    };
    refused(&run(HANDS), "would know it the second time");
    let deals = "22367c1478b1389d 147c258b1234567d\n33367c1478b1389d 147c258b1234567d\n";
    fs::write(arena.path("deals"), deals).unwrap();
    done(&run("--openings deals"));
}

/// There are no rounds of two games then.
#[test]
fn independent_deals_have_no_classic_report() {
    let arena = Arena::new();
    let bots = "--bot far=unix:bot --bot b=house:random";
    let output = arena.run(&format!("match mahjong {bots} --report classic"));
    refused(&output, "every game has a deal of its own");
}

/// A bot that looks into the run's folder whenever it is asked.
fn snoops(seats: usize) -> String {
    villains(seats, "snoops --folder run --max-games 100")
}

#[test]
fn a_record_is_not_on_disk_while_its_deal_is_in_play() {
    for (game, seats, rounds) in [("mahjong", 2, 4), ("big-two", 4, 2)] {
        let arena = Arena::new();
        let line = format!(
            "match {game} {} --rounds {rounds} --concurrency 1 --records run --format json",
            snoops(seats)
        );
        let events = events(&done(&arena.run(&line)));
        assert_eq!(fouls(&events), [""; 0], "{game}");
        let games = of_type(&events, "game").len();
        assert_eq!(arena.records("run").len(), games, "and now they are there");
    }
}

/// So the snoop does find a record that is there.
#[test]
fn without_secrets_a_record_is_written_when_its_game_is_over() {
    let snooped = |arena: Arena| {
        let line = format!(
            "match connect-four {} --rounds 2 --concurrency 1 --records run --format json",
            snoops(2)
        );
        fouls(&events(&done(&arena.run(&line))))
    };
    // And not in a sandbox.
    assert_eq!(snooped(Arena::new()), [""; 0]);
    let fouls = snooped(Arena::new().without_walls());
    assert_eq!(fouls.len(), 2, "{fouls:?}");
    assert!(
        fouls[0].contains("found match-0000-deal-0000-game-0.jsonl.zst"),
        "{fouls:?}"
    );
}

/// A lot is one seating of many deals, so that a run which is stopped may have
/// nothing else.
#[test]
fn a_match_that_is_stopped_says_that_seatings_are_missing() {
    let arena = Arena::new();
    let slow = villain("slow", "slow --by-callbacks --delay 10ms");
    let child = arena.start(&format!(
        "match mahjong {slow} --bot b=house:simple --rounds 50 --concurrency 1 --records run"
    ));
    // Chunks become longer when it is known what a game takes.
    let played = |log: fs::DirEntry| {
        let log = fs::read_to_string(log.path()).unwrap_or_default();
        log.matches(" plays ").count()
    };
    wait_until("a later deal of a chunk", || {
        let logs = fs::read_dir(arena.path("run/logs")).into_iter().flatten();
        logs.flatten().map(played).any(|games| games > 2)
    });
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(
        err(&output).contains("not played from every seating"),
        "{}",
        err(&output)
    );
    // What was kept back is on disk now, and whole.
    let records = arena.records("run");
    assert!(records.len() >= 2, "{records:?}");
    for (name, record) in records {
        referee_core::Record::parse(&record).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The seed of a game is in its record and nowhere else: not in what a bot is
/// sent, nor in logs, events or what the run says of itself.
#[test]
fn seeds_are_in_records_and_nowhere_else() {
    for (game, seats) in [("mahjong", 2), ("big-two", 4), ("connect-four", 2)] {
        let arena = Arena::new();
        let bots = villains(seats, "knows-rounds --max-games 100");
        let line = format!("match {game} {bots} --rounds 2 --records run --format json");
        let output = arena.run(&line);
        let mut said = vec![done(&output), err(&output)];
        said.push(fs::read_to_string(arena.path("run").join("run.json")).unwrap());
        for log in fs::read_dir(arena.path("run").join("logs")).unwrap() {
            said.push(fs::read_to_string(log.unwrap().path()).unwrap());
        }
        let records = arena.records("run");
        assert_eq!(records.len(), 2 * seats);
        for (_, record) in records {
            let record = Record::parse(&record).unwrap();
            let seed = record.header.seed.bytes();
            let digits = hex::encode(seed);
            assert!(said.iter().all(|text| !text.contains(&digits)));
            for event in &record.events {
                if let Event::Asked { call, .. } | Event::Told { call, .. } = event {
                    // No eight bytes of it in a row.
                    let pieces = seed.windows(8).collect::<BTreeSet<_>>();
                    assert!(call.windows(8).all(|bytes| !pieces.contains(bytes)));
                }
            }
        }
    }
}

/// The text that its games are drawn from.
const SEED: &str = "a word";

/// A tournament of one deal whose games wait until the test lets them go on, and whoever
/// reads everything that is told of it meanwhile.
struct Spy {
    arena: Arena,
    game: &'static dyn GameKind,
    metrics: SocketAddr,
}

impl Spy {
    fn of(game: &str, bots: usize, games: usize) -> Self {
        // In a sandbox a bot has a copy of the folder that holds it up.
        let arena = Arena::new().without_walls();
        let bot = |kind: &str| {
            let program = villain_program();
            let spec = format!(
                "exec:'{}' {kind} --by-callbacks --max-games 9 --hold '{}'",
                program.display(),
                arena.path("hold").display()
            );
            serde_json::json!(spec)
        };
        // Each game ends with a foul, which is told of in most places.
        let mut cup = format!(
            "game = \"{game}\"\nshape = \"round-robin\"\ndeals = 1\nlimits.move = \"10m\"\n\
             [[bots]]\nname = \"bad\"\nbot = {}\n",
            bot("error-status --after 1")
        );
        for number in 1..bots {
            let bot = bot("honest");
            cup += &format!("[[bots]]\nname = \"good-{number}\"\nbot = {bot}\n");
        }
        fs::write(arena.path("cup.toml"), cup).unwrap();
        fs::create_dir(arena.path("hold")).unwrap();
        let spy = Self {
            arena,
            game: referee_games::game(&game.replace('-', "_")).unwrap(),
            metrics: free_address(),
        };
        for seating in 0..games {
            fs::write(spy.hold(seating), "").unwrap();
        }
        spy
    }

    /// The file that holds up a game.
    fn hold(&self, seating: usize) -> std::path::PathBuf {
        self.arena.path("hold").join(self.told(seating))
    }

    /// Text that bots are told as the name of a game.
    fn told(&self, seating: usize) -> String {
        let root: Root = SEED.parse().unwrap();
        let seed = root.seed(self.game.info().name, 0);
        told_game_id(
            self.game,
            &seed,
            &format!("match-0000-deal-0000-game-{seating}"),
        )
    }

    /// Starts `tournament WORDS`, whose output is in the files `told` and `said`.
    fn start(&self, words: &str) -> Child {
        let line = format!(
            "tournament {words} --concurrency 1 --format json --live --metrics {} --logs logs",
            self.metrics
        );
        let mut command = self.arena.command(&line);
        let file = |name: &str| File::create(self.arena.path(name)).unwrap();
        command.stdout(file("told")).stderr(file("said"));
        command.env("RUST_LOG", "info").spawn().unwrap()
    }

    /// Waits until this game is being played, and those before it are stored.
    fn wait_for(&self, seating: usize) {
        let plays = format!("plays {}", self.told(seating));
        wait_until("the game begins", || {
            let logs = fs::read_dir(self.arena.path("logs")).into_iter().flatten();
            let mut logs = logs.flatten().map(|log| fs::read_to_string(log.path()));
            logs.any(|log| log.is_ok_and(|log| log.contains(&plays)))
        });
        wait_until("the games before it are stored", || {
            self.stored() == seating
        });
    }

    /// Number of games in the store; that much may be told.
    fn stored(&self) -> usize {
        let list = self.arena.run("tournament list --format json");
        events(&out(&list))[0]["games"].as_u64().unwrap() as usize
    }

    /// Everything that is told of the tournament now, but for how many games there are.
    fn reads(&self) -> BTreeMap<&'static str, String> {
        let text = |output: Output| out(&output) + &err(&output);
        let mut told: BTreeMap<_, _> = [
            "tournament status cup",
            "tournament status cup --schedule",
            "tournament status cup --format json",
            "tournament export cup",
            "tournament export cup --as csv",
            "tournament export cup --as moves",
            "tournament verify cup",
        ]
        .map(|line| (line, text(self.arena.run(line))))
        .into();
        let file = |name: &str| fs::read_to_string(self.arena.path(name)).unwrap();
        told.insert("events", file("told"));
        told.insert("notes", file("said"));
        let metrics = self.metrics().into_iter();
        // How long our own work took, of which there is more with each game.
        let metrics = metrics.filter(|line| {
            let ours = ["queue_wait", "store_commit", "referee_lateness"];
            let says = !line.is_empty() && !line.starts_with('#');
            says && !ours.iter().any(|name| line.contains(name))
        });
        told.insert("metrics", metrics.collect::<Vec<_>>().join("\n"));
        for text in told.values_mut() {
            *text = without_counts(text);
        }
        told
    }

    fn metrics(&self) -> Vec<String> {
        let mut stream = TcpStream::connect(self.metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        body.lines().map(str::to_owned).collect()
    }

    fn events(&self) -> Vec<Value> {
        events(&fs::read_to_string(self.arena.path("told")).unwrap())
    }

    /// The seatings that the run has told of, in order.
    fn told_seatings(&self) -> Vec<u64> {
        let games = of_type(&self.events(), "game").into_iter();
        games
            .map(|game| game["seating"].as_u64().unwrap())
            .collect()
    }
}

/// The text without how many games have been played: how far a run is, it may tell.
fn without_counts(text: &str) -> String {
    // What `status` says, and what the end of a run warns of.
    let counts = ["half-played", "been played from every seating and do"];
    let lines = text.lines();
    let lines =
        lines.filter(|line| !line.is_empty() && !counts.iter().any(|count| line.contains(count)));
    let lines = lines.map(|line| match serde_json::from_str::<Value>(line) {
        Ok(mut event) if event["type"] == "standings" => {
            for count in ["half_groups", "half_games", "stored_games"] {
                event["counts"][count] = Value::Null;
            }
            let warnings = event["warnings"].as_array_mut().unwrap();
            warnings.retain(|warning| warning["kind"] != "half_played");
            event.to_string()
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_of_a_deal_is_told_before_all_its_seatings_are_over() {
    for (game, bots, games) in [("mahjong", 2, 2), ("big-two", 4, 4)] {
        let spy = Spy::of(game, bots, games);
        let mut run = spy.start(&format!("run cup.toml --seed '{SEED}'"));
        spy.wait_for(0);
        let before = spy.reads();
        for seating in 1..games {
            fs::remove_file(spy.hold(seating - 1)).unwrap();
            spy.wait_for(seating);
            for (place, text) in spy.reads() {
                assert_eq!(text, before[place], "{game}: {place}");
            }
            let one = spy.arena.run("replay show cup 0.0");
            refused(&one, "still to be played from other seats");
        }
        fs::remove_file(spy.hold(games - 1)).unwrap();
        run.wait().unwrap();
        // Now all of it is told.
        assert_eq!(spy.told_seatings(), Vec::from_iter(0..games as u64));
        assert_eq!(of_type(&spy.events(), "foul").len(), 1);
        let status = spy.arena.run("tournament status cup --format json");
        let status = events(&out(&status));
        let warning = &of_type(&status, "standings")[0]["warnings"][0];
        assert_eq!(warning["fouls"], games, "{warning}");
        let csv = out(&spy.arena.run("tournament export cup --as csv"));
        assert_eq!(csv.lines().count(), 1 + games);
        done(&spy.arena.run("tournament verify cup"));
    }
}

/// So the spy does find what is told, where a game has no secrets.
#[test]
fn without_secrets_a_game_is_told_of_when_it_is_over() {
    let spy = Spy::of("connect-four", 2, 2);
    let mut run = spy.start(&format!("run cup.toml --seed '{SEED}'"));
    spy.wait_for(0);
    let before = spy.reads();
    fs::remove_file(spy.hold(0)).unwrap();
    spy.wait_for(1);
    let after = spy.reads();
    for place in [
        "tournament status cup",
        "tournament status cup --format json",
        "tournament export cup --as csv",
        "events",
        "notes",
        "metrics",
    ] {
        assert_ne!(after[place], before[place], "{place}");
    }
    fs::remove_file(spy.hold(1)).unwrap();
    run.wait().unwrap();
}

/// Whoever stops a run may go on with it, and plays the same deal then.
#[test]
fn a_run_that_is_stopped_tells_nothing_of_a_deal_that_may_go_on() {
    let spy = Spy::of("mahjong", 2, 2);
    let mut run = spy.start(&format!("run cup.toml --seed '{SEED}'"));
    spy.wait_for(0);
    fs::remove_file(spy.hold(0)).unwrap();
    spy.wait_for(1);
    interrupt(&run);
    wait_until("it stops", || {
        !of_type(&spy.events(), "stopping").is_empty()
    });
    interrupt(&run);
    run.wait().unwrap();
    assert_eq!(spy.told_seatings(), [0; 0]);
    assert_eq!(of_type(&spy.events(), "foul"), [Value::Null; 0]);

    fs::remove_file(spy.hold(1)).unwrap();
    spy.start("resume cup").wait().unwrap();
    assert_eq!(spy.told_seatings(), [0, 1], "also what was played before");
    done(&spy.arena.run("tournament verify cup"));
}

/// Whoever reads command lines, as `ps` does, reads no seed.
#[test]
fn no_command_line_has_the_seed() {
    let arena = Arena::new();
    let seed = format!("the-root-of-{}", std::process::id());
    let bots = "--bot house:random --bot 'house:uct?time=1234ms'";
    let line = format!("match connect-four {bots} --rounds 1 --seed {seed} --format json");
    let mut playing = arena.start(&line);
    let process = format!("/proc/{}", playing.id());
    let words = || fs::read_to_string(format!("{process}/cmdline")).unwrap_or_default();
    wait_until("the bots play", || {
        !processes_with("uct?time=1234ms").is_empty()
    });
    assert!(words().contains("connect-four"), "{}", words());
    assert!(!words().contains(&seed), "{}", words());
    assert_eq!(processes_with(&seed), [0; 0]);
    interrupt(&playing);
    interrupt(&playing);
    playing.wait().unwrap();
}
