//! Bots in containers, on a real engine.

use std::{
    net::{TcpListener, UdpSocket},
    process::Output,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    engine::{Engine, engine},
    site::Site,
    vocabulary::*,
};

fn arena() -> Arena {
    Arena::new().with_engine(engine().host())
}

/// A villain in a container, as `--bot` wants it.
fn contained(name: &str, line: &str) -> String {
    format!("--bot \"{name}=image:{} {line}\"", engine().villain())
}

/// A match of a villain in a container.
fn played(line: &str, more: &str) -> Output {
    let bots = format!("{} --bot other=house:random", contained("villain", line));
    let line = format!("match connect-four {bots} --deals 1 --records run {more}");
    arena().run(&line)
}

#[test]
fn a_bot_in_a_container_plays_as_its_process_does() {
    let arena = arena();
    for (run, bot) in [
        ("process", villain("me", "honest")),
        ("container", contained("me", "honest")),
    ] {
        let more = "--bot other=house:random --deals 3 --seed 5 --concurrency 2";
        let played = arena.run(&format!("match connect-four {bot} {more} --records {run}"));
        assert_eq!(played.status.code(), Some(0), "{}", err(&played));
    }
    let plays = |run: &str| -> Vec<String> {
        let records = arena.records(run).into_iter();
        let events = records.map(|(_, text)| {
            let text = without_times(&text);
            // Who played is in the first line, and in the hash of the last.
            let lines: Vec<&str> = text.lines().collect();
            lines[1..lines.len() - 1].join("\n")
        });
        events.collect()
    };
    assert_eq!(plays("process").len(), 6);
    assert_eq!(plays("process"), plays("container"));
    // Its record says which image it is, and what is around it.
    let (_, record) = &arena.records("container")[0];
    let image = engine().run(&["inspect", "--format", "{{.Id}}", engine().villain()]);
    assert!(record.contains(&image), "{record}");
    assert!(record.contains("container (docker "), "{record}");
}

#[test]
fn fouls_are_those_of_a_process() {
    for (line, more, foul) in [
        ("crash", "", "crashed"),
        ("exit-at-once", "", "no start"),
        ("no-such-kind", "", "no start"),
        ("illegal", "", "illegal"),
        ("memory", "--memory-limit 100", "memory"),
        // What it takes in all is limited too. A busy machine needs a while to give it.
        ("memory --megabytes 2048", "--move-limit 30s", "memory"),
        (
            "memory --megabytes 2048 --shared",
            "--move-limit 30s",
            "memory",
        ),
        (
            "memory --megabytes 2048 --by-child says",
            "--move-limit 30s",
            "memory",
        ),
    ] {
        let said = played(line, more);
        let table = out(&said);
        assert!(
            table.contains(&format!("villain: {foul}")),
            "{line}: {table}{}",
            err(&said)
        );
    }
}

#[test]
fn an_init_hides_no_crash_of_a_bot_that_we_start() {
    let image = engine().villain_with_init();
    for (line, foul) in [
        ("crash", "crashed"),
        ("exit-at-once", "no start"),
        ("illegal", "illegal"),
        ("memory --megabytes 2048", "memory"),
    ] {
        let bots = format!("--bot \"villain=image:{image} {line}\" --bot other=house:random");
        let said = arena().run(&format!(
            "match connect-four {bots} --deals 1 --no-records --move-limit 30s"
        ));
        let table = out(&said);
        assert!(
            table.contains(&format!("villain: {foul}")),
            "{line}: {table}{}",
            err(&said)
        );
    }
}

#[test]
fn a_bot_in_a_container_that_runs_on_is_there_again_after_a_crash() {
    let arena = arena();
    let engine = engine();
    let image = engine.villain_with_init();
    let folder = arena.path("service");
    std::fs::create_dir(&folder).unwrap();
    let volume = format!("{}:/run/bot", folder.display());
    let name = "arena-tests-service";
    let mut words: Vec<&str> = "run --detach --network none --user 0:0 --read-only --env \
        BOT_LISTEN=unix:/run/bot/bot.sock --volume"
        .split_whitespace()
        .collect();
    words.extend([&*volume, "--name", name, image, "crash"]);
    engine.run(&words);
    let bot = format!("--bot a=unix:{}", folder.join("bot.sock").display());
    let line = format!(
        "match connect-four {bot} --bot b=house:random --deals 2 --no-records \
        --concurrency 1"
    );
    let table = out(&arena.run(&line));
    // It plays the next game each time, where it crashes again.
    assert!(table.contains("a: crashed 4"), "{table}");
    let said = engine.command(&["logs", name]);
    assert!(err(&said).contains("starting it again"), "{}", err(&said));
    engine.run(&["rm", "--force", name]);
}

#[test]
fn a_hostile_image_takes_and_reaches_nothing() {
    // Strangers on this machine: an arena's ports, another bot's, a neighbour that answers.
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp, udp) = (tcp.local_addr().unwrap(), udp.local_addr().unwrap());
    let dials = format!(
        "--dials {tcp},{udp},169.254.169.254:80,10.0.0.1:53,[::1]:{}",
        tcp.port()
    );
    let socket = engine().host();
    let socket = socket.trim_start_matches("unix://");
    for line in [
        "honest --forks".to_owned(),
        "honest --fills".to_owned(),
        "honest --shouts 64".to_owned(),
        format!("honest {dials}"),
        format!("honest --seeks {socket},/var/run/docker.sock,/proc/1/root/etc/shadow,/dev/kmsg"),
    ] {
        let said = played(&line, "--move-limit 30s");
        let (table, words) = (out(&said), err(&said));
        assert_eq!(said.status.code(), Some(0), "{line}: {words}");
        assert!(!table.contains("fouls"), "{line}: {table}{words}");
    }
    // It is still there when its folder is looked at.
    let said = played("late --after 3 --hoards 100", "--move-limit 30s");
    let words = err(&said);
    let why = "it wrote more into the folder of its socket";
    assert!(words.contains(why), "{words}{}", out(&said));
}

#[test]
fn a_killed_arena_leaves_no_container() {
    let arena = arena();
    let bots = format!(
        "{} {}",
        contained("a", "slow"),
        contained("b", "slow --delay 150ms")
    );
    let mut running = arena.start(&format!("match connect-four {bots} --deals 100"));
    let begins = format!("arena-{}-{}-", pid_namespace(), running.id());
    let left = || engine().containers(&begins);
    wait_until("both bots run", || left().len() >= 2);
    running.kill().unwrap();
    running.wait().unwrap();
    wait_until_or(
        "nothing is left",
        || format!("{:?}", left()),
        || left().is_empty(),
    );

    // Where what stands for the containers is killed too, the next start removes them.
    let mut running = arena.start(&format!("match connect-four {bots} --deals 100"));
    let begins = format!("arena-{}-{}-", pid_namespace(), running.id());
    let left = || engine().containers(&begins);
    wait_until("both bots run", || left().len() >= 2);
    // Nothing starts another one.
    kill(Pid::from_raw(running.id().cast_signed()), Signal::SIGSTOP).unwrap();
    let monitors = monitors_of(running.id());
    assert!(monitors.len() >= 2);
    for monitor in monitors {
        kill(Pid::from_raw(monitor), Signal::SIGKILL).unwrap();
    }
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(left().len() >= 2);
    let next = arena.run(&format!(
        "match connect-four {} --bot house:random --deals 1",
        contained("a", "honest")
    ));
    assert_eq!(next.status.code(), Some(0), "{}", err(&next));
    assert_eq!(left(), Vec::<String>::new());
}

#[test]
fn a_bot_in_a_container_is_held_still_while_the_other_thinks() {
    for (pondering, more) in [(false, ""), (true, "--pondering")] {
        let arena = arena();
        let name = format!("spins-{pondering}-{}", std::process::id());
        let bot = contained("a", &format!("honest --spins --name {name}"));
        let other = villain("b", "late --after 0");
        let line = format!("match connect-four {bot} {other} --deals 1 --concurrency 1 {more}");
        let mut running = arena.start(&format!("{line} --move-limit 2h"));
        // It computes all the time, so only who holds it still keeps it from that.
        let ran = || -> u64 { processes_with(&name).into_iter().map(processor_time).sum() };
        if pondering {
            wait_until("it computes while the other thinks", || ran() > 3 * SECOND);
        } else {
            let mut last = 0;
            wait_until("it is held still", || {
                std::thread::sleep(std::time::Duration::from_millis(300));
                let before = std::mem::replace(&mut last, ran());
                last > 0 && last == before
            });
        }
        running.kill().unwrap();
        running.wait().unwrap();
    }
}

/// Linux counts processor time for programs in so many ticks a second, whatever its own clock has.
const SECOND: u64 = 100;

/// In ticks.
fn processor_time(process: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program, which comes before, may have spaces.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn pid_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self/ns/pid").unwrap().ino()
}

/// The processes that stand for the containers of an arena: its children with this verb.
fn monitors_of(arena: u32) -> Vec<i32> {
    let parent = format!("\nPPid:\t{arena}\n");
    let mut monitors = processes_with("container");
    monitors.retain(|id| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status"));
        status.is_ok_and(|status| status.contains(&parent))
    });
    monitors
}

#[test]
fn what_is_wrong_with_the_engine_is_said_and_what_to_do() {
    let arena = arena();
    let bots = "--bot a=image:there/is:none --bot house:random";
    let said = arena.run(&format!("match connect-four {bots}"));
    assert_eq!(said.status.code(), Some(2));
    let words = err(&said);
    assert!(
        words.contains("has no image there/is:none; expected `docker pull"),
        "{words}"
    );
    let bots = format!("{} --bot house:random", contained("a", "honest"));
    for (host, says) in [
        (
            "unix:///there/is/none",
            "Is it running, and may this user use its socket",
        ),
        ("tcp://127.0.0.1:1", "expected unix:///PATH"),
    ] {
        let elsewhere = Arena::new().with_engine(host.to_owned());
        let said = elsewhere.run(&format!("match connect-four {bots}"));
        assert_eq!(said.status.code(), Some(2));
        assert!(err(&said).contains(says), "{}", err(&said));
    }
    // An engine that takes connections and says nothing.
    let folder = tempfile::tempdir().unwrap();
    let silent = folder.path().join("docker.sock");
    let _listens = std::os::unix::net::UnixListener::bind(&silent).unwrap();
    let elsewhere = Arena::new().with_engine(format!("unix://{}", silent.display()));
    let said = elsewhere.run(&format!("match connect-four {bots}"));
    assert!(
        err(&said).contains("no answer within 10s"),
        "{}",
        err(&said)
    );
}

#[test]
fn a_tournament_plays_the_image_that_it_began_with() {
    let mut site = Site::with_engine(engine().host());
    let image = "arena-tests/changing";
    let make = |kind: &str| {
        let change = format!("ENTRYPOINT [\"/bot\", \"{kind}\"]");
        engine().import(image, &villain_program(), &change);
    };
    make("honest");
    let bot = format!("image:{image}");
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 10",
        &[&bot, "house:random"],
    );
    site.run("tournament submit cup.toml --seed 3");
    // The name is given to another one before it begins, and while it is played.
    make("crash");
    site.serve("");
    site.wait_for("cup", "over");
    // A new one takes the new one.
    let mut next = site.command("tournament run cup.toml --name next --seed 3");
    let next = next.output().unwrap();
    assert!(err(&next).contains("crash"), "{}", err(&next));
    let checked = site.run("tournament verify cup");
    assert!(checked.contains("proved, 20 games"), "{checked}");
    let table = site.run("tournament status cup");
    assert!(!table.contains("crashed"), "{table}");
}

#[test]
fn an_engine_that_is_stopped_and_started_changes_no_result() {
    let mut engine = Engine::private("stopped");
    let mut site = Site::with_engine(engine.host());
    let bot = format!("image:{} slow --delay 20ms", engine.villain());
    let bots = [&*bot, "house:random"];
    let more = "deals = 12\nlimits.move = \"10m\"";
    site.cup("cup.toml", "connect-four", more, &bots);
    site.run("tournament run cup.toml --name alone --seed 11");
    site.run("tournament submit cup.toml --seed 11");
    let server = site.serve("");
    let begun = || site.progress("cup").0;
    wait_until("some games are played", || begun() >= 3);
    engine.stop();
    let before = site.progress("cup").0;
    engine.begin();
    site.wait_for("cup", "over");
    assert!(before < 24, "it was stopped too late");
    site.is_as("cup", "alone");
    // What the old engine has left is removed; a bot is kept for what comes next.
    let left = || engine.containers("arena-");
    let one = || left().len() <= 1;
    wait_until_or("one is left", || format!("{:?}", left()), one);
    site.kill(server);
    let none = || left().is_empty();
    wait_until_or("nothing is left", || format!("{:?}", left()), none);
}

#[test]
fn a_worker_plays_the_images_that_it_has() {
    let mut site = Site::with_engine(engine().host());
    let bot = format!("image:{} honest", engine().villain());
    let bots = [&*bot, "house:random"];
    site.cup("cup.toml", "connect-four", "deals = 5", &bots);
    site.run("tournament run cup.toml --name alone --seed 7");
    site.run("tournament submit cup.toml --seed 7");
    site.serve("--open --concurrency 0 --replay all");
    let without = site.referee_without_engine("--name without");
    let waits = || site.run("tournament status cup");
    let label = "a worker with image-";
    wait_until_or("it waits for the image", waits, || waits().contains(label));
    site.kill(without);
    site.referee("--name with");
    site.wait_for("cup", "over");
    site.is_as("cup", "alone");
}

#[test]
fn no_container_sees_two_seatings_of_a_deal() {
    // It gives up when its process is dealt a hand that it had before.
    let bot = contained("remembers", "knows-hands --max-games 100");
    let more = "--bot house:random --deals 3 --no-records --concurrency 2";
    let said = arena().run(&format!("match mahjong {bot} {more}"));
    // What one container read of the image is in memory for the next one.
    assert!(err(&said).contains("not isolated"), "{}", err(&said));
    let table = out(&said);
    assert_eq!(said.status.code(), Some(0), "{}", err(&said));
    assert!(!table.contains("fouls"), "{table}");
}

#[test]
fn an_image_is_checked_and_registered_as_other_bots_are() {
    let arena = arena();
    let image = format!(
        "image:{} honest --by-callbacks --max-games 1",
        engine().villain()
    );
    let checked = arena.run(&format!("check \"{image}\" --game connect-four --quick"));
    assert_eq!(
        checked.status.code(),
        Some(0),
        "{}{}",
        out(&checked),
        err(&checked)
    );
    let added = arena.run(&format!(
        "bots add me --bot \"{image}\" --game connect-four"
    ));
    assert_eq!(added.status.code(), Some(0), "{}", err(&added));
    let listed = out(&arena.run("bots list"));
    assert!(listed.contains("image:villain honest"), "{listed}");
}
