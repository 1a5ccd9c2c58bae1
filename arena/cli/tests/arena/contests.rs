//! A whole contest: six hand in good, broken, slow, greedy and hostile entries at once, while the arena
//! is killed again and again; and contestants who hand in from their terminals.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    net::TcpStream,
    os::unix::fs::OpenOptionsExt as _,
    process::Stdio,
    time::Duration,
};

use serde_json::Value;

use crate::{browser::arena_with_page, site::Site, vocabulary::*};

/// A bot that speaks lines, in which `DO` is done at its first move.
pub(crate) const BOT: &str = r#"
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if call["call"] == "start":
        print('{"ready": {}}', flush=True)
    elif call["call"] == "get_point":
        DO
        top = call["top"]
        y = min((y for y in range(len(top)) if top[y] > 0), key=lambda y: abs(y - len(top) // 2))
        print(json.dumps({"point": {"x": top[y] - 1, "y": y}}), flush=True)
"#;

const CONTEST: &str = r#"
game = "connect-four"
zone = "Asia/Shanghai"
opens = 2020-03-01T08:00:00
closes = 2120-03-21T00:00:00
[limits]
counted = 2
apart = "0s"
move = "1s"
memory_mib = 64
"#;

/// What the board has of each contestant: points of group 1, the sum, how many were handed in.
fn board(site: &Site) -> Vec<(String, Option<i64>, u64)> {
    let board: Value = serde_json::from_str(&site.run("contest board cup --format json")).unwrap();
    let rows = board["rows"].as_array().unwrap().iter();
    let mut rows: Vec<_> = rows
        .map(|row| {
            let name = row["name"].as_str().unwrap().to_owned();
            (
                name,
                row["points"][0].as_i64(),
                row["handed_in"].as_u64().unwrap(),
            )
        })
        .collect();
    rows.sort();
    rows
}

/// The rows of the entries: number, group, whether it counts, state, result.
fn entries(site: &Site) -> Vec<String> {
    let status = site.run("contest status cup");
    let rows = status.lines().skip_while(|line| !line.contains("entry"));
    let rows = rows.skip(1).filter(|line| line.contains("contestant"));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn a_contest_from_its_file_to_its_grades_while_the_arena_is_killed() {
    let mut site = Site::new();
    let write = |name: &str, text: &str| fs::write(site.arena.path(name), text).unwrap();
    write("cup.toml", CONTEST);
    write(
        "class.csv",
        "name,id\nAnn,1\nBo,2\nCy,3\nDi,4\nEd,5\n=Flo,6\n",
    );
    let secret = site.arena.path("secret.txt");
    write("secret.txt", "the seeds");
    let talks = "print('it is my turn', file=sys.stderr, flush=True)";
    write("good.py", &BOT.replace("DO", talks));
    write("broken.cpp", "int getPoint( {");
    write("slow.py", &BOT.replace("DO", "import time; time.sleep(60)"));
    write("greedy.py", &BOT.replace("DO", "x = bytearray(1 << 30)"));
    write(
        "spy.py",
        &BOT.replace(
            "DO",
            &format!("open({:?}).read()", secret.display().to_string()),
        ),
    );
    write("gone.py", "import sys; sys.exit('no licence')");
    site.run("contest create cup.toml");
    site.run("contest people add cup class.csv --tokens tokens.csv");
    let tokens = fs::read_to_string(site.arena.path("tokens.csv")).unwrap();
    assert_eq!(tokens.matches("arena_").count(), 6);
    let files = [
        "good.py",
        "broken.cpp",
        "slow.py",
        "greedy.py",
        "spy.py",
        "gone.py",
    ];
    for (person, file) in (1..).zip(files) {
        site.run(&format!(
            "contest submit cup {file} --person {person} --group 1"
        ));
    }

    let server = site.serve("--contest");
    // Killed at moments that nobody chose: in builds, in games, in what comes between.
    for moment in [300, 700, 1500, 2500] {
        std::thread::sleep(Duration::from_millis(moment));
        site.kill(server);
        site.restart(server);
    }
    // One after the other, since one that is slow takes a while.
    for number in 1..=files.len() {
        wait_until_or(
            &format!("{number} entries are judged"),
            || format!("{}\n{}", entries(&site).join("\n"), site.log()),
            || {
                let is_final = |row: &&String| row.contains(" judged ") || row.contains(" failed ");
                entries(&site).iter().filter(is_final).count() >= number
            },
        );
    }

    let rows = entries(&site);
    assert_eq!(rows[1], "2 contestant 2 1 no failed Compile Error");
    assert_eq!(rows[2], "3 contestant 3 1 yes judged 0 points");
    assert_eq!(rows[3], "4 contestant 4 1 yes judged 0 points");
    assert_eq!(rows[4], "5 contestant 5 1 yes judged 0 points");
    assert_eq!(rows[5], "6 contestant 6 1 no failed Runtime Error");
    let entry = |number: u32| site.run(&format!("contest entry cup {number}"));
    // Lines are broken at 80 columns.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (number, says) in [
        (2, "broken.cpp:1:16: error"),
        (3, "Time Limit Exceeded"),
        (4, "Memory Limit Exceeded"),
        (5, "No such file"),
        (6, "no licence"),
    ] {
        let shown = entry(number);
        assert!(words(&shown).contains(says), "{shown}");
        assert!(
            !shown.contains("the seeds") && !shown.contains("/files/"),
            "{shown}"
        );
    }
    // No game was played or counted twice: ten of each exam that began.
    let good = entry(1);
    assert_eq!(
        good.lines().filter(|line| line.contains("ladder-")).count(),
        10,
        "{good}"
    );
    // One game: how it ended, what its moves were worth, and all that the bot printed.
    let game = |entry: u32| site.run(&format!("contest entry cup {entry} --game 1"));
    let good = game(1);
    for says in [
        "\ngame 1: ",
        "against ladder-",
        "what its moves were worth",
        "\n 1 ",
    ] {
        assert!(good.contains(says), "{says}: {good}");
    }
    assert!(good.matches("it is my turn\n").count() > 2, "{good}");
    let spy = game(5);
    let (_, log) = spy.split_once("\nlog\n").unwrap();
    assert!(
        log.starts_with("Traceback") && log.contains("No such file"),
        "{spy}"
    );
    assert!(
        !spy.contains("the seeds") && !spy.contains("/files/"),
        "{spy}"
    );
    let gone = game(6);
    let (_, log) = gone.split_once("\nlog\n").unwrap();
    assert!(log.contains("no licence"), "{gone}");
    refused(
        &site.arena.run("contest entry cup 1 --game 11"),
        "there is no game 11",
    );
    refused(
        &site.arena.run("contest entry cup 1 --game x"),
        "expected the number of a game",
    );
    let points = board(&site);
    let ann = points.iter().find(|row| row.0 == "Ann").unwrap();
    assert!(ann.1.unwrap() >= 10, "{ann:?}");
    assert_eq!(ann.2, 1);
    // It is in no list of tournaments.
    refused(&site.arena.run("tournament status nobody"), "it has none");

    // Ann has one counted place left, and Bo still two.
    let again = |person: u32| format!("contest submit cup good.py --person {person} --group 1");
    site.run(&again(1));
    refused(&site.arena.run(&again(1)), "no more may count");
    site.run(&again(2));
    site.run(&again(2));
    refused(&site.arena.run(&again(2)), "no more may count");

    site.run("contest disqualify cup 3 --reason 'copied from Ann'");
    site.run("contest people forget cup 5");
    refused(
        &site.arena.run("contest entry cup 5 --game 1"),
        "there is no game 1",
    );
    wait_until_or(
        "the rest is judged",
        || entries(&site).join("\n"),
        || {
            entries(&site)
                .iter()
                .filter(|row| row.contains(" judged "))
                .count()
                == 7
        },
    );
    let grades = site.run("contest grades cup");
    assert!(
        grades.starts_with("id,name,class group,contestant,rank,group 1,"),
        "{grades}"
    );
    assert!(grades.contains("\n6,'=Flo,"), "{grades}");
    assert!(grades.contains("copied from Ann"), "{grades}");
    assert!(!grades.contains("Ed"), "{grades}");
    let log = site.run("contest log cup");
    assert!(log.contains("forgot person 5"), "{log}");
    refused(
        &site.arena.run("contest publish cup"),
        "it closes 2120-03-21",
    );
    let closed = CONTEST.replace("2120-", "2021-");
    fs::write(site.arena.path("cup.toml"), closed).unwrap();
    site.run("contest change cup cup.toml");
    let published = site.run("contest publish cup");
    assert!(published.contains("is published"), "{published}");
    refused(&site.arena.run(&again(2)), "the contest is over");
}

/// Writes the token of each person of a list to a file that is called like the person.
fn hand_out_tokens(site: &Site) {
    let list = fs::read_to_string(site.arena.path("tokens.csv")).unwrap();
    for line in list.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        write_secret(site, cells[1], cells[3]);
    }
}

/// Writes a file that its owner alone may read.
fn write_secret(site: &Site, name: &str, text: &str) {
    let mut file = fs::File::options();
    let file = file.write(true).create_new(true).mode(0o600);
    let mut file = file.open(site.arena.path(name)).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

#[test]
fn contestants_hand_in_from_a_terminal_and_hear_what_comes_of_it() {
    let (mut site, page) = arena_with_page("--contest");
    let server = 0;
    let write = |name: &str, text: &str| fs::write(site.arena.path(name), text).unwrap();
    write("cup.toml", CONTEST);
    write("class.csv", "name,id\nAnn,1\nBo,2\n");
    let talks = "print('it is my turn', file=sys.stderr, flush=True)";
    write("good.py", &BOT.replace("DO", talks));
    for (name, text) in [
        ("broken.cpp", "int getPoint( {"),
        (".git/config", "[core]"),
        ("node_modules/x.js", "("),
    ] {
        let file = site.arena.path("bo").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    site.run("contest create cup.toml");
    site.run("contest people add cup class.csv --tokens tokens.csv");
    hand_out_tokens(&site);
    let to = |token: &str| format!("--arena {page} --token-file {token}");

    // Nothing can have come of an entry that was just taken when the arena is killed.
    let submit = format!("contest submit cup good.py --group 1 {}", to("Ann"));
    let mut ann = site.command(&submit);
    let heard = site.arena.path("heard");
    let mut ann = ann
        .stdout(Stdio::piped())
        .stderr(fs::File::create(&heard).unwrap())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(ann.stdout.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert_eq!(line, "entry 1 is taken\n");
    site.kill(server);
    let heard = || fs::read_to_string(&heard).unwrap().replace("\n    ", " ");
    wait_until_or("the contestant hears that the arena is away", heard, || {
        heard().contains("is asked for again")
    });
    assert!(heard().contains("could not connect to"), "{}", heard());
    site.restart(server);
    wait_until_or(
        "the page is served again",
        || site.log(),
        || TcpStream::connect(page.trim_start_matches("http://")).is_ok(),
    );

    // What is refused takes no place.
    let other = "0".repeat(64);
    write_secret(&site, "wrong", &format!("arena_{other}"));
    for (line, says) in [
        (
            format!("--group 1 {}", to("wrong")),
            "this token is not known here",
        ),
        (format!("--group 9 {}", to("Bo")), "a group from 1 to 5"),
        (to("Bo"), "expected the group that your entry is for"),
    ] {
        let submit = format!("contest submit cup good.py {line}");
        let output = site.command(&submit).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(err(&output).contains(says), "{}", err(&output));
        assert_eq!(out(&output), "");
    }

    // A folder in which the token lies, too.
    fs::rename(site.arena.path("Bo"), site.arena.path("bo/token")).unwrap();
    let submit = format!("contest submit cup bo --group 1 {}", to("bo/token"));
    let bo = site.command(&submit).output().unwrap();
    assert_eq!(bo.status.code(), Some(1), "{}", err(&bo));
    let says = "left out of bo: .git, node_modules, token";
    assert!(err(&bo).contains(says), "{}", err(&bo));
    for says in [
        "entry 2 is taken\n",
        "entry 2 has failed: Compile Error\n",
        "broken.cpp:1:16: error",
    ] {
        assert!(out(&bo).contains(says), "{}", out(&bo));
    }

    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert!(ann.wait().unwrap().success(), "{rest}{}", heard());
    assert!(rest.contains("\nentry 1 is judged: "), "{rest}");
    // It was away once.
    assert_eq!(
        heard().matches("is asked for again").count(),
        1,
        "{}",
        heard()
    );
    // It is shown later as here to the organiser, and was shown at the end of the first command.
    let shown = site.run(&format!("contest entry cup 1 {}", to("Ann")));
    assert_eq!(shown.matches("ladder-").count(), 10, "{shown}");
    assert_eq!(shown, site.run("contest entry cup 1"));
    let (headline, details) = shown.trim_start().split_once('\n').unwrap();
    assert!(
        rest.ends_with(&format!("{headline}\n{details}")),
        "{rest}\n{shown}"
    );

    // The same of one of its games, which nobody else sees.
    let game = format!("contest entry cup 1 --game 2 {}", to("Ann"));
    let shown = site.run(&game);
    assert!(shown.contains("it is my turn\n"), "{shown}");
    assert_eq!(shown, site.run("contest entry cup 1 --game 2"));
    let told: Value = serde_json::from_str(&site.run(&format!("{game} --format json"))).unwrap();
    assert_eq!(told["game"]["game"], 2);
    assert!(
        told["explanation"]["moves"].as_array().unwrap().len() > 1,
        "{told}"
    );
    assert!(
        told["log"].as_str().unwrap().contains("it is my turn"),
        "{told}"
    );
    for line in [
        format!("contest entry cup 1 --game 2 {}", to("bo/token")),
        format!("contest entry cup 1 --game 11 {}", to("Ann")),
    ] {
        let output = site.command(&line).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", out(&output));
        assert_eq!(out(&output), "");
    }

    // For programs; nothing but the entry is on standard output.
    let submit = format!(
        "contest submit cup good.py --group 1 --no-wait --format json {}",
        to("Ann")
    );
    let taken: Value = serde_json::from_str(&site.run(&submit)).unwrap();
    assert_eq!(taken["entry"], 3);
    // Ctrl-C ends following, and the entry stays.
    let mut follows = site.command(&format!(
        "contest submit cup bo --group 2 {}",
        to("bo/token")
    ));
    let follows = follows.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut follows = follows.spawn().unwrap();
    let mut line = String::new();
    let mut told = BufReader::new(follows.stdout.take().unwrap());
    told.read_line(&mut line).unwrap();
    assert_eq!(line, "entry 4 is taken\n");
    interrupt(&follows);
    let output = follows.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(err(&output).contains("entry 4 stays"), "{}", err(&output));
    assert!(site.run("contest status cup").contains("\n 4 "));
}

#[test]
fn here_and_elsewhere_exclude_each_other() {
    let arena = Arena::new();
    fs::write(arena.path("bot.py"), "").unwrap();
    let submit = "contest submit cup bot.py";
    for (line, says) in [
        ("", "expected --arena URL --token-file FILE"),
        (
            "--person 1 --arena https://arena.example",
            "expected one of them",
        ),
        (
            "--arena https://arena.example --token-file x --store y.sqlite",
            "expected one of them",
        ),
        (
            "--arena https://arena.example",
            "expected --token-file FILE",
        ),
        (
            "--arena https://arena.example --token-file none",
            "could not read the token file none",
        ),
        (
            "--arena http://arena.example --token-file x",
            "expected https://",
        ),
        ("--person 1 --no-wait", "--arena"),
    ] {
        refused(&arena.run(&format!("{submit} {line}")), says);
    }
}
