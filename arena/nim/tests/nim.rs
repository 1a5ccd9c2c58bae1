//! The fifth game: its rules hold what every game must hold, and the whole arena plays it.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use nim::nim::Nim;
use referee_core::{FoulKind, GameKind, ListedGame, Seed};
use referee_games::{AddGamesError, GAMES, forfeit};
use serde_json::Value;

/// The best player, by the published strategy (Bouton, 1901): leave an exclusive or of 0.
const BEST: &str = r#"
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if call["call"] == "start":
        print(json.dumps({"ready": {"bot": "bouton"}}), flush=True)
    elif call["call"] == "request_take":
        heaps = call["objects"]
        total = 0
        for objects in heaps:
            total ^= objects
        heap = max(range(len(heaps)), key=lambda at: heaps[at] - (heaps[at] ^ total) if total else heaps[at])
        take = heaps[heap] - (heaps[heap] ^ total) if total else 1
        print(json.dumps({"take": {"heap": heap, "objects": take}}), flush=True)
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("best.py"), BEST).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn output(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_nim"))
            .args(words)
            .current_dir(self.0.path())
            .env("ARENA_STORE", self.path("arena.db"))
            .output()
            .unwrap()
    }

    fn run(&self, words: &[&str]) -> String {
        let output = self.output(words);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}{errors}");
        said
    }
}

fn records(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().contains("-game-"));
    files.sort();
    files
}

#[test]
fn it_holds_what_every_game_must_hold() {
    let kind = ListedGame::<Nim>::new();
    for number in 0..50_u8 {
        let seed = Seed::new([number; 32]);
        let proved = kind.prove(&seed, |seat, place| {
            forfeit(seat, FoulKind::Crashed, place).to_vec()
        });
        if let Err(why) = proved {
            panic!("seed {number}: {why}");
        }
    }
}

#[test]
fn games_are_added_once_and_before_the_list_is_read() {
    static NIM: ListedGame<Nim> = ListedGame::new();
    static OTHELLO: ListedGame<referee_games::othello::Othello> = ListedGame::new();
    let twice = GAMES.add(&[&OTHELLO]);
    assert_eq!(twice, Err(AddGamesError::SameName("othello")));
    GAMES.add(&[&NIM]).unwrap();
    assert_eq!(GAMES.len(), 5);
    assert!(referee_games::game("nim").is_some());
    assert_eq!(GAMES.add(&[&NIM]), Err(AddGamesError::TooLate));
}

/// From 3, 4, 5 the seat that begins wins with the best play, from 1, 1 the other.
#[test]
fn programs_by_lines_play_it_and_the_best_one_wins() {
    let folder = Folder::new();
    let best = "best=stdio:python3 best.py";
    for (heaps, places) in [("345", [1, 2]), ("11", [2, 1])] {
        let said = folder.run(&[
            "match",
            "nim",
            "--bot",
            best,
            "--bot",
            "other=stdio:python3 best.py",
            "--deals",
            "1",
            "--setup",
            heaps,
            "--records",
            heaps,
            "--format",
            "json",
        ]);
        let lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
        let games: Vec<Value> = lines
            .filter(|line: &Value| line["type"] == "game")
            .collect();
        assert_eq!(games.len(), 2, "{said}");
        for game in games {
            assert_eq!(game["fouls"], serde_json::json!([]), "{game}");
            assert_eq!(game["places"], serde_json::json!(places), "{game}");
        }
    }
}

#[test]
fn random_plays_it_and_it_is_proved_drawn_and_exported() {
    let folder = Folder::new();
    let table = folder.run(&[
        "match",
        "nim",
        "--bot",
        "house:random",
        "--bot",
        "best=stdio:python3 best.py",
        "--deals",
        "3",
        "--seed",
        "7",
        "--records",
        "kept",
    ]);
    assert!(!table.contains("fouls"), "{table}");
    let kept = records(&folder.path("kept"));
    assert_eq!(kept.len(), 6);
    let record = kept[0].to_str().unwrap();
    folder.run(&["replay", "verify", record]);
    let shown = folder.run(&["replay", "show", record]);
    assert!(shown.contains("the last object is taken"), "{shown}");
    assert!(shown.contains("\n  a  ·  ·"), "{shown}");
    let exported = folder.run(&["replay", "export", record, "--as", "pgn"]);
    assert!(exported.contains("[Variant \"nim\"]"), "{exported}");
}

#[test]
fn a_bot_is_checked_in_it() {
    let folder = Folder::new();
    folder.run(&["check", "stdio:python3 best.py", "--game", "nim", "--quick"]);
    let help = folder.run(&["match", "--help"]);
    assert!(help.contains("nim"), "{help}");
    let wrong = folder.output(&[
        "match",
        "nim",
        "--bot",
        "house:random",
        "--bot",
        "b=house:random",
        "--setup",
        "000",
    ]);
    let wrong = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.contains("digits that are not all 0"), "{wrong}");
}
