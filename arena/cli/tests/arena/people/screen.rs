//! The full screens of `arena play` and `arena watch`, on a terminal that is read as a person reads it.

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use vt100::{MouseProtocolMode, Parser};

use super::*;

/// Longest time for which nothing is seen; a hint is thought about.
const PATIENCE: Duration = Duration::from_secs(180);
/// Last bytes of a screen that is complete.
const DRAWN: &str = "\x1b[?2026l";
const DOWN: &str = "\x1b[B";
const TAKE_BACK: &str = "\x1bOR";
const HINT: &str = "\x1bOQ";
const HELP: &str = "\x1bOP";
const QUIT: &str = "\x1b[21~";
/// Ctrl-U.
const CLEAR: &str = "\x15";

/// A running `arena play` on a terminal of its own, and what is seen there.
struct Glass {
    child: Child,
    said: Receiver<Vec<u8>>,
    /// Output since the screen was complete last.
    pending: Vec<u8>,
    terminal: Parser,
}

impl Glass {
    /// `arena` with the words of this line, on a terminal of this many rows and columns.
    fn new(arena: &Arena, line: &str, size: (u16, u16)) -> Self {
        let program = shlex::try_quote(env!("CARGO_BIN_EXE_arena")).unwrap();
        // Signals mean what they usually do, also where the tests are run by nohup. Afterwards it says
        // how the terminal is set.
        let program = format!("env --default-signal=HUP {program}");
        let line = format!("{program} {line}; code=$?; stty -a; exit $code");
        Self::of_shell(arena, &line, size)
    }

    /// The same of any line of a shell.
    fn of_shell(arena: &Arena, line: &str, (rows, columns): (u16, u16)) -> Self {
        let line = format!("stty rows {rows} cols {columns}; {line}");
        let mut child = on_a_terminal(arena, &line).spawn().unwrap();
        let said = hear(&mut child);
        let [rows, columns] = [rows, columns].map(|count| count.try_into().unwrap());
        Self {
            child,
            said,
            pending: Vec::new(),
            terminal: Parser::new(rows, columns, 0),
        }
    }

    fn seen(&self) -> String {
        // Letters or signs: it is the same border.
        self.terminal.screen().contents().replace('│', "|")
    }

    /// Waits until this is seen on a screen that is complete.
    fn until(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        loop {
            let seen = self.seen();
            if holds(&seen) {
                return seen;
            }
            match self.said.recv_timeout(PATIENCE) {
                Ok(some) => self.pending.extend(some),
                Err(error) => panic!("never seen: {what}: {error}\n{seen}"),
            }
            let mut ends = self.pending.windows(DRAWN.len());
            if let Some(at) = ends.rposition(|bytes| bytes == DRAWN.as_bytes()) {
                let shown: Vec<u8> = self.pending.drain(..at + DRAWN.len()).collect();
                self.terminal.process(&shown);
            }
        }
    }

    fn until_seen(&mut self, text: &str) -> String {
        self.until(text, |seen| seen.contains(text))
    }

    fn press(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
    }

    /// Presses keys, and waits until this is seen.
    fn after(&mut self, keys: &str, text: &str) -> String {
        self.press(keys);
        self.until_seen(text)
    }

    /// Asks for a hint. What is seen then, and the move.
    fn hint(&mut self) -> (String, String) {
        let seen = self.after(HINT, "would play ");
        let (_, hint) = seen.split_once("would play ").unwrap();
        let hint = hint.lines().next().unwrap().trim().to_owned();
        (seen, hint)
    }

    /// Clicks where this is seen first.
    fn click(&mut self, text: &str) {
        let seen = self.seen();
        let found = seen.lines().enumerate().find_map(|(row, line)| {
            let (before, _) = line.split_once(text)?;
            Some((row, before.chars().count()))
        });
        let (row, column) = found.unwrap_or_else(|| panic!("{text} is not seen\n{seen}"));
        // Counted from 1: pressed, and let go.
        let at = format!("{};{}", column + 1, row + 1);
        self.press(&format!("\x1b[<0;{at}M\x1b[<0;{at}m"));
    }

    /// Types a setting on the form, and waits until this is seen.
    fn set(&mut self, name: &str, value: &str, answer: &str) {
        let field = format!("> {name} ");
        let mut fields = 0;
        // A field without a value ends with its name.
        let is_here = |line: &str| format!("{line} ").starts_with(&field);
        while !self.seen().lines().any(is_here) {
            fields += 1;
            assert!(fields < 20, "there is no field {name}\n{}", self.seen());
            let before = focused(&self.seen());
            self.press(DOWN);
            self.until("the next field", |seen| is_elsewhere(seen, &before));
        }
        let before = focused(&self.seen());
        self.press(&format!("{CLEAR}{value}{DOWN}"));
        self.until("the next field", |seen| is_elsewhere(seen, &before));
        let answer = squeezed(answer);
        self.until(&answer, |seen| squeezed(seen).contains(&answer));
    }

    /// Number of moves of this player that are listed; few enough to be seen.
    fn moves_of(&self, player: &str) -> usize {
        let mark = format!("| {player}");
        self.seen()
            .lines()
            .filter(|line| line.contains(&mark))
            .count()
    }

    /// It has ended with this exit code, and the terminal is as it was.
    fn has_left(mut self, code: i32) {
        while let Ok(some) = self.said.recv_timeout(PATIENCE) {
            self.pending.extend(some);
        }
        self.terminal.process(&self.pending);
        let said = self.seen();
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{said}");
        let words: Vec<&str> = said.split_whitespace().collect();
        for word in ["icanon", "echo", "isig", "icrnl"] {
            assert!(words.contains(&word), "{word}: {said}");
        }
        let screen = self.terminal.screen();
        assert!(!screen.alternate_screen());
        assert!(!screen.hide_cursor());
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
    }
}

impl Drop for Glass {
    /// A test that has failed leaves nothing behind: whoever loses its terminal ends.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The field of the form that is typed in.
fn focused(seen: &str) -> Option<String> {
    let line = seen.lines().find(|line| line.starts_with("> "))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}

/// True if another field is typed in. While the screen is drawn, none may be.
fn is_elsewhere(seen: &str, before: &Option<String>) -> bool {
    let now = focused(seen);
    now.is_some() && now != *before
}

/// With one blank where there are several.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The table of a game, without the list of moves.
fn table(seen: &str) -> String {
    let lines = seen.lines().skip(1).map(|line| {
        let table = line.split('|').next().unwrap_or_default();
        table.trim_end().to_owned()
    });
    // Below it there are messages.
    lines.take(18).collect::<Vec<_>>().join("\n")
}

fn is_to_move(seen: &str) -> bool {
    seen.contains("to move") || seen.contains("the game is over")
}

/// Settings, a slip, moves taken back, then a game that is won by hints, saved and proved.
fn plays_and_wins_on_screen(arena: &Arena, session: &Session) {
    let mut glass = Glass::new(arena, &line(session), (24, 80));
    glass.until_seen("[ begin ]");
    for (typed, answer) in session.settings {
        let Some((name, value)) = typed.split_once(' ') else {
            continue;
        };
        // A form has no field for what is no setting.
        if !answer.contains("no setting") {
            glass.set(name, value, answer);
        }
    }
    glass.after(HELP, "Esc back");
    glass.after("q", "[ begin ]");
    let first = table(&glass.after("\r", "to move"));
    glass.after(&format!("{}\r", session.slip), "is no legal move");
    glass.after(TAKE_BACK, "no move to take back");
    let (mut moved, mut back) = (0, false);
    for _ in 0..MOST_MOVES {
        if moved == 3 && !back {
            back = true;
            while moved > 0 {
                assert_eq!(glass.moves_of("you"), moved, "{}", glass.seen());
                moved -= 1;
                glass.press(TAKE_BACK);
                let mark = "| you";
                glass.until("a move less", |seen| {
                    let mine = seen.lines().filter(|line| line.contains(mark));
                    mine.count() == moved && seen.contains("Taken back.") && is_to_move(seen)
                });
            }
            // It is the first position again.
            assert_eq!(table(&glass.seen()), first);
        }
        let (_, hint) = glass.hint();
        glass.press(&format!("{hint}\r"));
        let seen = glass.until("the next turn", |seen| {
            !seen.contains("would play") && is_to_move(seen)
        });
        moved += 1;
        if seen.contains("the game is over") {
            break;
        }
    }
    assert!(back, "a move was taken back");
    glass.until_seen("you won");
    glass.after("s", "save to file>");
    glass.after("board.txt\r", "written: board.txt");
    glass.press("s");
    glass.after("board.txt\r", "is there already");
    glass.press("r");
    glass.after("game.jsonl\r", "written: game.jsonl");
    glass.press("q");
    glass.has_left(0);
    was_saved(arena);
}

#[test]
fn a_person_plays_and_wins_connect_four_on_the_full_screen() {
    plays_and_wins_on_screen(&Arena::new(), &SESSIONS[0]);
}

#[test]
fn a_person_plays_and_wins_othello_on_the_full_screen() {
    plays_and_wins_on_screen(&Arena::new(), &SESSIONS[1]);
}

#[test]
fn a_person_plays_and_wins_mahjong_on_the_full_screen() {
    plays_and_wins_on_screen(&Arena::new(), &SESSIONS[2]);
}

#[test]
fn a_person_plays_and_wins_big_two_on_the_full_screen() {
    plays_and_wins_on_screen(&Arena::new(), &SESSIONS[3]);
}

/// One game against a bot that answers at once.
fn begun(arena: &Arena, game: &str) -> Glass {
    let line = format!("play {game} --against house:random --start --seed d --name you --lang en");
    let mut glass = Glass::new(arena, &line, (24, 80));
    glass.until_seen("to move");
    glass
}

#[test]
fn a_mouse_and_a_cursor_play_on_a_board() {
    let arena = Arena::new();
    let mut glass = begun(&arena, "othello --ascii");
    // What is legal is marked.
    glass.click("+");
    glass.until("a move", |seen| {
        seen.contains("| you") && seen.contains("to move")
    });
    assert_eq!(glass.moves_of("you"), 1);
    // To the first legal square.
    glass.press("\t\r");
    glass.until("two moves", |seen| {
        seen.matches("| you").count() == 2 && seen.contains("to move")
    });
    // The square of seat 0 that is always there is not legal.
    glass.click("X ");
    glass.until_seen("is no legal move");
    // Letters of squares are typed; a line of one is a command.
    glass.after("h", "move> h");
    glass.after("\r", "would play ");
    glass.click("take back");
    glass.until_seen("Taken back.");
    glass.click("quit");
    glass.until_seen("Leave the game?");
    glass.press("d");
    glass.has_left(0);
}

#[test]
fn a_mouse_and_a_cursor_play_cards() {
    let arena = Arena::new();
    let mut glass = begun(&arena, "big-two --ascii");
    let (_, hint) = glass.hint();
    for card in hint.split_whitespace() {
        glass.click(&format!(" {card} "));
        glass.until_seen(&format!("<{card}>"));
    }
    glass.click("[ play ]");
    glass.until("a move", |seen| seen.contains("| you") && is_to_move(seen));
    glass.after(QUIT, "Leave the game?");
    glass.press("n");
    glass.until("no question", |seen| !seen.contains("Leave the game?"));
    glass.after("\x03", "Leave the game?");
    glass.press("d");
    glass.has_left(0);
}

#[test]
fn the_form_is_filled_with_a_mouse() {
    let arena = Arena::new();
    let line = "play connect-four --against house:random --name you --lang en";
    let mut glass = Glass::new(&arena, line, (24, 80));
    glass.until_seen("[ begin ]");
    glass.click("timed");
    glass.until_seen("> timed");
    glass.click("yes");
    glass.until("it is timed", |seen| squeezed(seen).contains("> timed yes"));
    // An arrow chooses the next value.
    glass.after("\x1b[C", "> timed");
    glass.until("it is not timed", |seen| {
        squeezed(seen).contains("> timed no")
    });
    glass.click("yes");
    glass.click("rows");
    glass.until_seen("> rows");
    glass.press("99");
    // It does not begin with what can't be played.
    glass.click("[ begin ]");
    glass.until_seen("rows must be");
    glass.press(&format!("{CLEAR}6"));
    glass.until("six rows", |seen| squeezed(seen).contains("> rows 6"));
    glass.click("[ begin ]");
    glass.until_seen("s left");
    glass.press(QUIT);
    glass.has_left(0);
}

#[test]
fn nobody_sees_the_hand_of_the_next_person() {
    let arena = Arena::new();
    let line = "play big-two --hot-seat --start --seed a --lang en --ascii --hints house:random";
    let mut glass = Glass::new(&arena, line, (24, 80));
    for _ in 0..4 {
        let seen = glass.until_seen("sits down, alone");
        assert!(!seen.contains("cards"), "{seen}");
        glass.after("\r", "move>");
        let (seen, hint) = glass.hint();
        let hidden = seen.lines().filter(|line| line.contains(" ?  ? "));
        assert_eq!(hidden.count(), 3, "{seen}");
        glass.press(&format!("{hint}\r"));
    }
    glass.until_seen("sits down, alone");
    glass.after("\x03", "Leave the game?");
    glass.press("\x03");
    glass.has_left(130);
}

#[test]
fn resigning_is_asked_once_more() {
    let arena = Arena::new();
    let mut glass = begun(&arena, "connect-four");
    glass.after("r", "Resign? y / n");
    glass.press("n");
    glass.until("no question", |seen| !seen.contains("Resign?"));
    glass.after("r", "Resign?");
    glass.after("y", "random won");
    glass.after("t", "[ begin ]");
    glass.after("\r", "to move");
    glass.press("\x03");
    glass.has_left(130);
}

/// The exit code of a game on a terminal that is then gone. No signal tells it so.
fn loses_its_terminal(game: &str) -> String {
    let arena = Arena::new();
    let program = shlex::try_quote(env!("CARGO_BIN_EXE_arena")).unwrap();
    let line = format!(
        "trap '' HUP; (exec {program} play {game} --lang en); \
         echo $? > code.part; mv code.part code"
    );
    let mut glass = Glass::of_shell(&arena, &line, (24, 80));
    glass.until("it has begun", |seen| {
        seen.contains("to move") || seen.contains("thinking") || seen.contains("[ begin ]")
    });
    glass.child.kill().unwrap();
    wait_until("it has ended", || arena.path("code").exists());
    let code = fs::read_to_string(arena.path("code")).unwrap();
    code.trim().to_owned()
}

#[test]
fn who_loses_the_terminal_plays_no_more() {
    let person = "connect-four --against house:random --start";
    let bot = "connect-four --against house:uct?time=500s --move-limit 600s --start --seat 1";
    let form = "connect-four --against house:random";
    for game in [person, bot, form] {
        assert_eq!(loses_its_terminal(game), "130", "{game}");
    }
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let arena = Arena::new();
    let glass = begun(&arena, "connect-four");
    let seed = processes_with("--seed");
    let at =
        |id: &&i32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|at| at == arena.path(""));
    let id = *seed.iter().find(at).unwrap();
    kill(Pid::from_raw(id), Signal::SIGHUP).unwrap();
    glass.has_left(130);
}

#[test]
fn a_terminal_that_is_too_small_is_said_to_be() {
    let arena = Arena::new();
    let mut glass = Glass::new(&arena, "play othello --lang en", (10, 40));
    glass.until("the size", |seen| {
        squeezed(seen).contains("expected at least 60x")
    });
    glass.press("q");
    glass.has_left(0);
}

#[test]
fn the_time_that_is_left_is_shown_and_ends_the_move() {
    let arena = Arena::new();
    let mut glass = begun(&arena, "connect-four --timed --move-limit 2s");
    glass.until_seen("1 s left");
    glass.until_seen("random won");
    glass.press("q");
    glass.has_left(0);
}

#[test]
fn who_leaves_while_a_bot_thinks_need_not_wait() {
    let arena = Arena::new();
    let line = "play connect-four --against house:uct?time=500s --move-limit 600s --start \
                --seat 1 --lang en";
    let mut glass = Glass::new(&arena, line, (24, 80));
    glass.until_seen("uct (●) is thinking");
    glass.after("?", "Esc back");
    glass.press("q");
    glass.until("the table", |seen| !seen.contains("Esc back"));
    glass.press("q");
    glass.has_left(0);
}

#[test]
fn the_full_screen_speaks_chinese() {
    let arena = Arena::new();
    let line = "play big-two --against house:random --lang zh";
    let mut glass = Glass::new(&arena, line, (24, 80));
    glass.until_seen("[ 开始 ]");
    glass.after("\r", "轮到");
    glass.after("0x\r", "不是合法着法");
    // Where a bot has moved already, it is asked whether to save the game.
    glass.press(&format!("{QUIT}d"));
    glass.has_left(0);
}

#[test]
fn a_game_that_was_left_is_saved_and_goes_on() {
    let arena = Arena::new();
    for game in ["othello", "mahjong", "big-two"] {
        let mut glass = begun(&arena, &format!("{game} --ascii"));
        let (_, hint) = glass.hint();
        glass.press(&format!("{hint}\r"));
        glass.until("the next turn", |seen| {
            !seen.contains("would play") && seen.contains("| you") && seen.contains("to move")
        });
        let moves = glass.moves_of("you");
        let before = table(&glass.seen());
        glass.after(QUIT, "Leave the game?");
        glass.press("y");
        glass.has_left(0);
        let line = format!("play {game}-you.json --ascii --lang en");
        let mut glass = Glass::new(&arena, &line, (24, 80));
        glass.until_seen("to move");
        assert_eq!(glass.moves_of("you"), moves, "{game}");
        assert_eq!(table(&glass.seen()), before, "{game}");
        // It is saved in the same file again.
        glass.after(QUIT, "Leave the game?");
        glass.press("y");
        glass.has_left(0);
        assert!(!arena.path(&format!("{game}-you-2.json")).exists());
    }
    let output = arena.run("play othello-you.json --against house:random");
    refused(&output, "this game goes on as it has begun");
    let output = arena.run("play cup.json");
    refused(&output, "there is no game");
    fs::write(arena.path("cup.json"), "{}").unwrap();
    refused(
        &arena.run("play cup.json"),
        "is no game that `arena play` has saved",
    );
}

#[test]
fn every_game_fits_a_small_terminal() {
    let arena = Arena::new();
    for game in [
        "connect-four --setup 12x12",
        "othello",
        "mahjong",
        "big-two",
    ] {
        let line =
            format!("play {game} --against house:random --start --seed d --name you --lang en");
        let mut glass = Glass::new(&arena, &line, (20, 60));
        let seen = glass.until("a table", |seen| {
            seen.contains("to move") || seen.contains("too small")
        });
        assert!(
            seen.contains("moves") && seen.contains(" evaluate"),
            "{seen}"
        );
        // Seats have the names that the moves have.
        assert!(!seen.contains("seat "), "{seen}");
        let help = glass.after(HELP, "Esc back");
        assert!(help.contains("arrows"), "{help}");
        // The end of the rules.
        glass.after("\x1b[F", "notation");
        glass.press("q");
        glass.until("the table", |seen| !seen.contains("Esc back"));
        glass.press(&format!("{QUIT}d"));
        glass.has_left(0);
    }
}

#[test]
fn a_tournament_is_watched_with_the_standings_first() {
    let arena = Arena::new();
    let bots = (1..=12)
        .map(|bot| format!("[[bots]]\nname = \"student-{bot:02}\"\nbot = \"house:random\"\n"));
    let text = format!(
        "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 1\n{}",
        bots.collect::<String>()
    );
    fs::write(arena.path("cup.toml"), text).unwrap();
    done(&arena.run("tournament run cup.toml"));
    let mut glass = Glass::new(&arena, "watch cup", (24, 80));
    let first = glass.until_seen("q: leave");
    assert!(first.starts_with("cup: Connect Four"), "{first}");
    assert!(first.contains("  student-12 "), "{first}");
    // To the end and back.
    glass.press("\x1b[F");
    glass.until("the end", |seen| {
        !seen.contains("cup: ") && seen.contains("student-12")
    });
    glass.after("\x1b[H", "cup: Connect Four");
    glass.press("jj");
    glass.until("the third line", |seen| {
        seen.trim_start().starts_with("#  bot")
    });
    glass.press("k");
    glass.press("q");
    glass.has_left(0);
}
