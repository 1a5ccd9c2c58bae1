//! The program `arena-serve` by itself, as `arena` starts it.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::process::{Command, Output};

fn serve(words: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_arena-serve");
    Command::new(program).args(words).output().unwrap()
}

#[test]
fn it_speaks_of_itself_as_the_program_that_was_typed() {
    for words in [
        &["serve", "--help"][..],
        &["kubernetes", "doctor", "--help"],
        &["tournament", "report", "--help"],
        &["replay", "export", "--help"],
    ] {
        let help = serve(words);
        let help = String::from_utf8(help.stdout).unwrap();
        let verb = words[..words.len() - 1].join(" ");
        assert!(help.contains(&format!("Usage: arena {verb} ")), "{help}");
    }
}

#[test]
fn the_settings_that_it_prints_are_settings() {
    let printed = serve(&["kubernetes", "settings"]);
    assert!(printed.status.success());
    let text = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(
        arena_kubernetes::Settings::parse(&text).unwrap(),
        arena_kubernetes::Settings::default()
    );
}

#[test]
fn a_wrong_word_is_bad_usage() {
    let refused = serve(&["serve", "--replay", "1/0"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("expected all, or a share as in 1/10"),
        "{said}"
    );
}
