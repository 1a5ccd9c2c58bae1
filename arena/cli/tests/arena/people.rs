//! A person at the terminal, who is a program here: `arena play` through a pipe and on a terminal.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::vocabulary::*;

mod screen;

/// No answer takes nearly as long; it only shows a hang.
const FAR_TOO_LONG: Duration = Duration::from_secs(120);
/// More moves than any game has.
const MOST_MOVES: usize = 500;

/// A game, what is set before it, with what is said of it, a slip, and who gives hints.
struct Session {
    game: &'static str,
    settings: &'static [(&'static str, &'static str)],
    slip: &'static str,
    hints: &'static str,
    seed: &'static str,
}

const SESSIONS: [Session; 4] = [
    Session {
        game: "connect-four",
        settings: &[
            ("setup 8x9,forbidden=3:5", "{\"at\":{\"x\":3,\"y\":5}}"),
            ("columns 30", "columns must be 4 to 12, found 30"),
            ("columns 9", "columns      9"),
            ("size 9", "there is no setting \"size\""),
            ("rows 9", "rows         9"),
            ("forbidden 3 4", "{\"at\":{\"x\":3,\"y\":4}}"),
            ("forbidden none", "forbidden    none"),
            ("seat 7", "expected 0 to 1"),
            ("seat 1", "seat         1"),
        ],
        slip: "99",
        hints: "house:uct?playouts=300",
        seed: "d",
    },
    Session {
        game: "othello",
        settings: &[
            ("against house:nobody", "nobody"),
            ("against house:random", "house:random"),
            ("limit never", "never"),
            ("limit 20s", "20s"),
        ],
        slip: "z9",
        hints: "house:weights?plies=3",
        seed: "d",
    },
    Session {
        game: "mahjong",
        settings: &[("seat", "expected a setting and its value")],
        slip: "0x",
        hints: "house:shanten",
        seed: "d",
    },
    Session {
        game: "big-two",
        settings: &[
            ("reversal false", "reversal     false"),
            ("reversal default", "reversal     true"),
        ],
        slip: "3X",
        hints: "house:ai3",
        seed: "d",
    },
];

/// A running `arena play`, to which somebody types.
struct Person {
    child: Child,
    said: Receiver<Vec<u8>>,
}

impl Person {
    fn new(mut child: Child) -> Self {
        let said = hear(&mut child);
        Self { child, said }
    }

    /// Text that is printed until the next question.
    fn hear(&mut self) -> String {
        let mut heard = Vec::new();
        loop {
            match self.said.recv_timeout(FAR_TOO_LONG) {
                Ok(some) => heard.extend(some),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("nothing follows {}", String::from_utf8_lossy(&heard))
                }
            }
            if is_question(&heard) {
                break;
            }
        }
        String::from_utf8(heard).unwrap()
    }

    fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Types a line, and hears what is answered.
    fn says(&mut self, line: &str) -> String {
        self.type_line(line);
        self.hear()
    }
}

/// Output of a program, as it comes.
fn hear(child: &mut Child) -> Receiver<Vec<u8>> {
    let mut stdout = child.stdout.take().unwrap();
    let (sender, said) = mpsc::channel();
    thread::spawn(move || {
        let mut some = [0; 4096];
        while let Ok(read @ 1..) = stdout.read(&mut some) {
            if sender.send(some[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    said
}

/// A shell's line on a terminal of its own.
fn on_a_terminal(arena: &Arena, line: &str) -> Command {
    let line = shlex::try_quote(line).unwrap();
    let mut command = arena.command_of(
        "script".as_ref(),
        &format!("--quiet --return --flush --command {line} /dev/null"),
    );
    command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// True if this ends with a question: a name, perhaps a sign, and `> `.
fn is_question(heard: &[u8]) -> bool {
    let Ok(heard) = str::from_utf8(heard) else {
        return false;
    };
    let last = without_colours(heard);
    let last = last.rsplit('\n').next().unwrap_or_default();
    let Some(who) = last.strip_suffix("> ") else {
        return false;
    };
    let name = who.split(" (").next().unwrap_or_default();
    who.ends_with("presses Enter") || name.chars().all(|c| c.is_alphanumeric() || c == '-')
}

/// The text that a terminal shows of it.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        shown + part.split_once('m').map_or(part, |(_, rest)| rest)
    })
}

/// Settings, a slip, moves taken back, then a game that is won by hints, saved and proved.
fn plays_and_wins(arena: &Arena, session: &Session, child: Child) {
    let mut person = Person::new(child);
    let mut all = person.hear();
    for (typed, answer) in session.settings {
        let said = person.says(typed);
        assert!(said.contains(answer), "{typed}: {said}");
        all += &said;
    }
    let rules = person.says("rules");
    assert!(rules.contains("Set-ups"), "{rules}");
    fits_eighty_columns(&without_colours(&rules).replace('\r', ""));
    let mut said = person.says("start");
    let first = said.clone();
    let slip = person.says(session.slip);
    assert!(slip.contains("is no legal move"), "{slip}");
    let none = person.says("back");
    assert!(none.contains("no move to take back"), "{none}");
    let (mut moved, mut back) = (0, false);
    for _ in 0..MOST_MOVES {
        if moved == 3 && !back {
            back = true;
            for _ in 0..moved {
                let taken = person.says("back");
                assert!(taken.contains("Taken back."), "{taken}");
                said = taken;
            }
            moved = 0;
            // It is the first position again.
            let (_, seen) = said.split_once("Taken back.").unwrap();
            assert!(first.trim_end().ends_with(seen.trim()), "{first}\n{seen}");
        }
        if moved == 1 && !back {
            let expects = person.says("evaluate");
            assert!(expects.contains("%  you"), "{expects}");
            all += &expects;
        }
        let hint = person.says("hint");
        let (_, hint) = hint.split_once("would play ").expect(&hint);
        let hint = hint.lines().next().unwrap().trim().to_owned();
        said = person.says(&hint);
        moved += 1;
        all += &said;
        if said.contains("`again`") {
            break;
        }
    }
    assert!(said.contains("you won"), "{said}");
    assert!(person.says("save board.txt").contains("written: board.txt"));
    let twice = person.says("save board.txt");
    assert!(twice.contains("is there already"), "{twice}");
    let written = person.says("record game.jsonl");
    assert!(written.contains("written: game.jsonl"), "{written}");
    person.type_line("quit");
    assert!(person.child.wait().unwrap().success());
    assert!(back, "a move was taken back");
    fits_eighty_columns(&without_colours(&all).replace('\r', ""));
    was_saved(arena);
}

/// A game that was won has been written to files, and the record is proved.
fn was_saved(arena: &Arena) {
    let board = fs::read_to_string(arena.path("board.txt")).unwrap();
    assert!(board.contains("you won"), "{board}");
    assert!(!board.contains('\u{1b}'), "{board}");
    done(&arena.run("replay verify game.jsonl"));
    for file in ["board.txt", "game.jsonl"] {
        fs::remove_file(arena.path(file)).unwrap();
    }
}

fn line(session: &Session) -> String {
    format!(
        "play {} --against house:random --hints '{}' --seed {} --name you --lang en \
         --move-limit 60s",
        session.game, session.hints, session.seed
    )
}

#[test]
fn a_program_plays_and_wins_every_game_through_a_pipe() {
    let arena = Arena::new();
    for session in &SESSIONS {
        let mut command = arena.command(&line(session));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        plays_and_wins(&arena, session, command.spawn().unwrap());
    }
}

#[test]
fn a_person_plays_and_wins_every_game_on_a_terminal() {
    let arena = Arena::new();
    for session in &SESSIONS {
        let program = shlex::try_quote(env!("CARGO_BIN_EXE_arena")).unwrap();
        let mut command = on_a_terminal(&arena, &format!("{program} {} --plain", line(session)));
        plays_and_wins(&arena, session, command.spawn().unwrap());
    }
}

/// A program in the place of people: `arena play … --format json`.
struct Driver {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Driver {
    fn new(arena: &Arena, line: &str) -> Self {
        let mut command = arena.command(&format!("play {line} --format json"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn event(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn says(&mut self, line: &str) -> Value {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.event()
    }

    fn ended(mut self) {
        drop(self.child.stdin.take());
        assert_eq!(self.lines.read_line(&mut String::new()).unwrap(), 0);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_program_plays_every_game_in_the_place_of_people() {
    let arena = Arena::new();
    for session in &SESSIONS {
        let line = format!("{} --hot-seat --seed {}", session.game, session.seed);
        let mut driver = Driver::new(&arena, &line);
        let mut event = driver.event();
        let slip = driver.says(session.slip);
        assert_eq!(
            (&slip["type"], &slip["seat"]),
            (&"slip".into(), &event["seat"])
        );
        assert_eq!(slip["candidates"], json!([]));
        let mut told = [false; 4];
        for _ in 0..MOST_MOVES {
            if event["type"] == "game" {
                break;
            }
            let seat = event["seat"].as_u64().unwrap() as usize;
            // The first time with the beginning of the game, then with what came after it.
            assert!(event["calls"].as_array().unwrap().len() > usize::from(!told[seat]));
            told[seat] = true;
            let legal = event["legal"].as_array().unwrap();
            let chosen = legal[legal.len() / 2].as_str().unwrap().to_owned();
            event = driver.says(&chosen);
        }
        assert_eq!(event["type"], "game", "{}: {event}", session.game);
        assert_eq!(event["fouls"], json!([]));
        assert!(event["places"].as_array().unwrap().contains(&json!(1)));
        driver.ended();
    }
}

#[test]
fn a_program_resigns_leaves_and_plays_against_bots() {
    let arena = Arena::new();
    let mut driver = Driver::new(&arena, "othello --against house:random --seat 1 --seed a");
    let turn = driver.event();
    assert_eq!(turn["seat"], 1);
    let over = driver.says("resign");
    assert_eq!(over["places"], json!([1, 2]));
    assert_eq!(over["fouls"], json!([{"seat": 1, "kind": "resigned"}]));
    driver.ended();

    let mut driver = Driver::new(&arena, "big-two --hot-seat --seed a");
    assert_eq!(driver.event()["type"], "turn");
    driver.ended();
}

#[test]
fn people_at_one_terminal_see_their_own_hands_only() {
    let arena = Arena::new();
    let mut command = arena.command("play big-two --hot-seat --start --seed a --lang en --ascii");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut person = Person::new(command.spawn().unwrap());
    let mut hands: Vec<String> = Vec::new();
    let mut said = person.hear();
    for _ in 0..4 {
        assert!(said.contains("sits down, alone"), "{said}");
        let shown = person.says("");
        hands.push(shown.clone());
        // The first legal move, whatever it is.
        let legal = person.says("legal");
        let (_, legal) = legal.split_once("legal: ").expect(&legal);
        let first = legal.split([';', '\n']).next().unwrap().trim().to_owned();
        said = person.says(&first);
    }
    for (at, one) in hands.iter().enumerate() {
        for other in &hands[at + 1..] {
            assert_ne!(one, other);
        }
    }
    // Whoever leaves has left.
    drop(person.child.stdin.take());
    assert!(person.child.wait().unwrap().success());
}

#[test]
fn who_resigns_has_lost_and_the_record_says_so() {
    let arena = Arena::new();
    let mut command = arena.command("play othello --against house:random --start --lang en");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut person = Person::new(command.spawn().unwrap());
    person.hear();
    let said = person.says("resign");
    assert!(said.contains("random won"), "{said}");
    assert!(said.contains("resigned"), "{said}");
    person.says("record game.jsonl");
    let again = person.says("again");
    assert!(again.contains("legal"), "{again}");
    person.type_line("quit");
    assert!(person.child.wait().unwrap().success());
    done(&arena.run("replay verify game.jsonl"));
}

#[test]
fn what_play_does_not_understand_it_says() {
    let arena = Arena::new();
    refused(&arena.run("play chess"), "there is no game \"chess\"");
    refused(&arena.run("play othello --seat 2"), "expected 0 to 1");
    refused(
        &arena.run("play big-two --against house:ai1 --against house:ai2"),
        "expected 1 bot or 3, found 2",
    );
    refused(&arena.run("play othello --hints exec:./x"), "house:NAME");
    refused(
        &arena.run("play othello --setup 3"),
        "--setup: expected moves such as f5d6c3",
    );
    // A bot that can't be started or reached loses; nothing hangs.
    for bot in ["exec:./none", "grpc://127.0.0.1:1"] {
        let line = format!("play othello --against {bot} --start --lang en --name you");
        let said = done(&arena.run(&line));
        assert!(said.contains("you won"), "{said}");
        assert!(said.contains("unreachable"), "{said}");
    }
}

#[test]
fn who_plays_a_bot_that_cant_be_resumed_is_told_so() {
    let arena = Arena::new();
    let villain = villain_program();
    let line = format!(
        "play connect-four --against \"it=exec:'{}' nameless\" --start --lang en",
        villain.display()
    );
    let mut command = arena.command(&line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut person = Person::new(command.spawn().unwrap());
    person.hear();
    person.says("4");
    let said = person.says("undo");
    assert!(said.contains("it can't be resumed"), "{said}");
    let said = person.says("5");
    assert!(said.contains("legal"), "{said}");
    drop(person.child.stdin.take());
    assert!(person.child.wait().unwrap().success());
}

#[test]
fn it_speaks_chinese() {
    let arena = Arena::new();
    let mut command = arena.command("play connect-four --against house:random");
    command.env("LC_ALL", "zh_CN.UTF-8");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut person = Person::new(command.spawn().unwrap());
    let said = person.hear();
    assert!(said.contains("按回车开始"), "{said}");
    assert!(person.says("座位 1").contains('1'));
    assert!(person.says("规则").contains('#'));
    let said = person.says("开始");
    assert!(said.contains("合法着法"), "{said}");
    assert!(person.says("x").contains("不是合法着法"));
    assert!(person.says("认输").contains("再来一局"));
    person.type_line("退出");
    assert!(person.child.wait().unwrap().success());
}
