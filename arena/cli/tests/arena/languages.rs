//! The samples of every language: fit by `arena check`, without a foul in a round robin
//! of every game, and the same moves from the ones that are the same.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::vocabulary::*;

mod mistakes;
mod templates;

/// A sample as a SPEC.
pub(crate) struct Sample {
    name: &'static str,
    pub(crate) spec: String,
}

/// Folder in which the kits' samples were built: `cargo xtask test` does it and says so.
pub(crate) fn built() -> PathBuf {
    let folder = env::var_os("ARENA_TEST_LANGUAGES").expect(
        "ARENA_TEST_LANGUAGES names the folder where the kits were built; run \
         `cargo xtask test`, or leave these tests out with `--skip languages::`",
    );
    folder.into()
}

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// This sample in every language that has a kit.
fn samples(kind: &str) -> Vec<Sample> {
    let rust = Path::new(env!("CARGO_BIN_EXE_arena")).with_file_name("examples");
    let python = |name, file: String| {
        let (python, samples) = ("python/bin/python3", "bots/python/samples");
        Sample {
            name,
            spec: exec(&[built().join(python), root().join(samples).join(file)]),
        }
    };
    let typescript = root().join("bots/typescript/samples");
    vec![
        Sample {
            name: "rust",
            spec: exec(&[rust.join(kind)]),
        },
        Sample {
            name: "cpp",
            spec: exec(&[built().join("cpp/cpp").join(kind)]),
        },
        // A `random.py` would stand in the way of Python's own.
        python(
            "python",
            format!("{}.py", kind.replace("random", "random_bot")),
        ),
        python("asyncio", format!("{kind}_async.py")),
        Sample {
            name: "typescript",
            spec: exec_by("node", &typescript.join(format!("{kind}.js"))),
        },
        Sample {
            name: "go",
            spec: exec(&[built().join("go").join(kind)]),
        },
        Sample {
            name: "java",
            spec: exec_by("java -jar", &built().join(format!("java/{kind}.jar"))),
        },
    ]
}

/// The sample that plays at random, as a SPEC.
pub(crate) fn sample(language: &str) -> String {
    let mut samples = samples("random").into_iter();
    samples.find(|sample| sample.name == language).unwrap().spec
}

/// A command of these words.
pub(crate) fn exec(words: &[PathBuf]) -> String {
    let quoted: Vec<_> = words
        .iter()
        .map(|word| {
            assert!(word.exists(), "{} was not built", word.display());
            format!("'{}'", word.display())
        })
        .collect();
    format!("exec:{}", quoted.join(" "))
}

/// This file, run by a program that is on the path.
fn exec_by(program: &str, file: &Path) -> String {
    exec(&[file.to_owned()]).replacen("exec:", &format!("exec:{program} "), 1)
}

/// The sample strategy, compiled as its author would.
pub(crate) fn strategy(arena: &Arena) -> Sample {
    let object = arena.path("careful.so");
    let compiled = Command::new("g++")
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .arg(&object)
        .arg(root().join("bots/adapters/strategy/examples/careful.cpp"))
        .status()
        .expect("g++ is installed");
    assert!(compiled.success());
    Sample {
        name: "strategy",
        spec: format!("strategy:{}", object.display()),
    }
}

/// The example brains, and the name of each.
pub(crate) fn brains() -> Vec<(String, String)> {
    let mut brains: Vec<_> = fs::read_dir(root().join("bots/adapters/brain/examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| {
            let program = built().join("cpp/brain/tests").join(&name);
            (name, exec(&[program]))
        })
        .collect();
    brains.sort();
    assert!(brains.len() >= 3, "{brains:?}");
    brains
}

#[test]
fn every_sample_is_fit() {
    let arena = Arena::new();
    let mut all = samples("random");
    all.extend(samples("careful"));
    all.push(strategy(&arena));
    let mut specs: Vec<_> = all.into_iter().map(|sample| sample.spec).collect();
    specs.extend(brains().into_iter().map(|(_, spec)| spec));
    for spec in specs {
        let line = format!("check \"{spec}\" --strict --games 16 --format json");
        let output = arena.run(&line);
        assert!(
            output.status.success(),
            "{spec}: {}{}",
            out(&output),
            err(&output)
        );
        let found = of_type(&events(&out(&output)), "finding");
        assert!(found.is_empty(), "{spec}: {found:?}");
    }
}

/// Plays each of these against the arena's own, and finds no foul: what a bot is told does not depend on
/// who the others are.
fn gauntlet(arena: &Arena, game: &str, bots: &[(String, String)]) {
    let mut file = format!(
        "game = \"{game}\"\nshape = \"gauntlet\"\ndeals = 1\n\
         [[bots]]\nname = \"house\"\nbot = \"house:random\"\n"
    );
    for (name, spec) in bots {
        file += &format!(
            "[[bots]]\nname = \"{name}\"\nbot = {}\n",
            serde_json::json!(spec)
        );
    }
    fs::write(arena.path("samples.toml"), file).unwrap();
    let line = "tournament run samples.toml --format json";
    let events = events(&done(&arena.run(line)));
    assert_eq!(of_type(&events, "standings")[0]["state"], "over");
    for bot in of_type(&events, "figures")[0]["bots"].as_array().unwrap() {
        assert_eq!(bot["fouls"], serde_json::json!({}), "{bot}");
        assert_ne!(bot["thinking"]["count"], 0, "{bot}");
    }
}

#[test]
fn samples_of_all_languages_play_every_game_without_a_foul() {
    for game in ["connect-four", "mahjong", "big-two", "othello"] {
        let arena = Arena::new();
        let mut bots: Vec<_> = samples("random")
            .into_iter()
            .map(|sample| (format!("random-{}", sample.name), sample.spec))
            .collect();
        match game {
            "connect-four" => {
                let careful = samples("careful").into_iter().chain([strategy(&arena)]);
                bots.extend(careful.map(|one| (format!("careful-{}", one.name), one.spec)));
            }
            "mahjong" => bots.extend(brains()),
            _ => {}
        }
        gauntlet(&arena, game, &bots);
    }
}

/// A Mahjong bot as its author wrote it, with one mistake: `line` comes in the place
/// of what stands before it.
fn mistaken(arena: &Arena, name: &str, before: &str, line: &str) -> String {
    const BOT: &str = "\
from bot_arena import Bot, MahjongBot

class Mine(MahjongBot):
    def __init__(self, start):
        self.hand = []
    def get_draw(self, tile):
        self.hand.append(tile)
    def request_discard(self, limit):
        return self.hand.pop(0)
    def resumed_discard(self, tile):
        self.hand.remove(tile)
    def get_opp_discard(self, tile):
        pass
    def request_win(self, tile, is_self_draw, limit):
        return True
    def game_over(self, over):
        pass

Bot('mine', '1', can_resume=True).mahjong(Mine).main()
";
    assert!(before.is_empty() || BOT.contains(before), "{before}");
    let file = arena.path(&format!("{name}.py"));
    fs::write(&file, BOT.replacen(before, line, 1)).unwrap();
    exec(&[built().join("python/bin/python3"), file])
}

#[test]
fn an_author_is_told_of_what_is_wrong() {
    let arena = Arena::new();
    let remembers = "    def resumed_discard(self, tile):\n        self.hand.remove(tile)\n";
    let over = "    def game_over(self, over):\n        pass\n";
    for (name, before, line, finding, came) in [
        ("right", "", "", None, ""),
        ("forgets", remembers, "", Some("resumed"), "illegal"),
        (
            "shared",
            "    def __init__(self, start):\n        self.hand = []\n",
            "    hand = []\n",
            Some("second-game"),
            "a new process plays the same game without a foul",
        ),
        (
            "mute",
            "        return True\n",
            "        self.won = True\n",
            Some("error-status"),
            "request_win returned None",
        ),
        (
            "bad-loser",
            over,
            "    def game_over(self, over):\n        raise ValueError('not fair')\n",
            Some("after-game-over"),
            "ValueError: not fair",
        ),
        // Which is why it does not end at once when it is asked to.
        (
            "slow-loser",
            over,
            "    def game_over(self, over):\n        __import__('time').sleep(3)\n",
            Some("half-closed"),
            "stayed open",
        ),
    ] {
        let spec = mistaken(&arena, name, before, line);
        let kept = format!("kept-{name}");
        let line = format!("check \"{spec}\" --quick --strict --format json --records \"{kept}\"");
        let output = arena.run(&line);
        let found = of_type(&events(&out(&output)), "finding");
        let ids: Vec<_> = found.iter().filter_map(|one| one["id"].as_str()).collect();
        assert_eq!(ids, Vec::from_iter(finding), "{name}: {}", out(&output));
        for finding in found {
            let said = finding["actual"].as_str().unwrap();
            assert!(said.contains(came), "{name}: {said}");
        }
        // What is kept of it can be looked at, whichever seat it had.
        for (record, _) in arena.records(&kept) {
            done(&arena.run(&format!("replay verify \"{kept}/{record}\"")));
        }
    }
}

/// The moves of each seat in each game, in the game's notation.
pub(crate) fn moves(arena: &Arena, run: &str) -> Vec<Vec<String>> {
    let records = arena.records(run);
    assert!(!records.is_empty());
    records
        .iter()
        .map(|(_, record)| {
            let moves = events(record).into_iter();
            moves
                .filter_map(|event| Some(event.get("move")?.as_str()?.to_owned()))
                .collect()
        })
        .collect()
}

#[test]
fn the_sample_that_thinks_plays_the_same_moves_in_every_language() {
    let arena = Arena::new();
    let mut played: Vec<(&str, Vec<Vec<String>>)> = Vec::new();
    for sample in samples("careful").into_iter().chain([strategy(&arena)]) {
        let line = format!(
            "match connect-four --bot \"me={}\" --bot house:random --rounds 15 --seed same \
             --records {}",
            sample.spec, sample.name
        );
        done(&arena.run(&line));
        played.push((sample.name, moves(&arena, sample.name)));
    }
    let (_, first) = &played[0];
    assert!(first.iter().map(Vec::len).sum::<usize>() > 300);
    for (name, moves) in &played {
        assert_eq!(moves, first, "{name}");
    }
}
