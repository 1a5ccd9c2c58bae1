//! Mistakes of students in three languages, and what the arena says of each: `cargo xtask mistakes`
//! prints it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use serde::Deserialize;

use super::{Arena, built, err, out};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistakes {
    mistake: Vec<Mistake>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    language: String,
    what: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The class of a Connect Four bot with the kit for Python.
    kit: Option<String>,
    compile: Option<String>,
    run: String,
    says: Vec<String>,
}

impl Mistake {
    /// All that the arena says to it, but what it says of every run.
    fn said(&self) -> String {
        let arena = Arena::new();
        for (name, text) in &self.files {
            fs::write(arena.path(name), text).unwrap();
        }
        if let Some(class) = &self.kit {
            let text = format!(
                "from bot_arena import Bot, ConnectFourBot\n{class}\
                 Bot('mine', '1').connect_four(Mine).main()\n"
            );
            fs::write(arena.path("my_bot.py"), text).unwrap();
        }
        if let Some(compile) = &self.compile {
            let words = shlex::split(compile).unwrap();
            let compiled = Command::new(&words[0])
                .args(&words[1..])
                .current_dir(arena.path("."))
                .output()
                .unwrap();
            assert!(compiled.status.success(), "{}", err(&compiled));
        }
        let python = built().join("python/bin/python3").display().to_string();
        let line = self.run.replace("$PYTHON", &python);
        let output = arena.run(&format!("{line} --no-records"));
        assert_ne!(output.status.code(), Some(3), "{}", err(&output));
        String::from_utf8_lossy(&output.stderr).into_owned() + &out(&output)
    }
}

/// The lines up to the table, without those that are about the run.
fn shown(said: &str) -> String {
    let mut shown = String::new();
    let mut is_left_out = false;
    for line in said
        .lines()
        .take_while(|line| !line.starts_with("root committed"))
    {
        if !line.starts_with(' ') {
            is_left_out = line.starts_with("note: sandbox") || line.is_empty();
        }
        if !is_left_out {
            shown += &format!("    {line}\n");
        }
    }
    shown
}

#[test]
fn every_mistake_is_named_with_what_mends_it() {
    const AT_ONCE: usize = 4;
    let file = include_str!("../../mistakes/mistakes.toml");
    let Mistakes { mistake: mistakes } = toml::from_str(file).unwrap();
    let languages: BTreeSet<&str> = mistakes.iter().map(|mistake| &*mistake.language).collect();
    assert!(mistakes.len() >= 20 && languages.len() == 3);
    let mut said = vec![String::new(); mistakes.len()];
    for (mistakes, said) in mistakes.chunks(AT_ONCE).zip(said.chunks_mut(AT_ONCE)) {
        std::thread::scope(|scope| {
            for (mistake, said) in mistakes.iter().zip(said) {
                scope.spawn(move || *said = mistake.said());
            }
        });
    }
    let mut wrong = Vec::new();
    for (at, (mistake, said)) in mistakes.iter().zip(&said).enumerate() {
        let shown = shown(said);
        println!(
            "{}. {}: {}\n\n    $ arena {}",
            at + 1,
            mistake.language,
            mistake.what,
            mistake.run
        );
        println!("{shown}");
        let words: Vec<&str> = said.split_whitespace().collect();
        let words = words.join(" ");
        for part in &mistake.says {
            if !words.contains(part) {
                wrong.push(format!("{}: expected {part:?} in\n{shown}", mistake.what));
            }
        }
        let never = ["(gRPC status 13)", " / File", "panicked"];
        wrong.extend(
            never
                .iter()
                .filter(|part| words.contains(**part))
                .map(|part| format!("{}: found {part:?} in\n{shown}", mistake.what)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
