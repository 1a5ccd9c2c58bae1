//! The program beside `arena` that it becomes to serve.

use std::{fs, process::Command};

use crate::vocabulary::*;

#[test]
fn a_program_that_is_absent_is_named_with_the_command_that_builds_it() {
    let arena = Arena::new();
    let alone = arena.path("arena");
    fs::copy(env!("CARGO_BIN_EXE_arena"), &alone).unwrap();
    fs::write(arena.path("file"), "").unwrap();
    for line in [
        "serve",
        "kubernetes settings",
        "tournament report spring --html spring.html",
        "tournament plot spring --out spring.svg",
        "replay export file --out file.svg",
    ] {
        let words = line.split(' ');
        let output = Command::new(&alone).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {}", err(&output));
        let folder = alone.parent().unwrap().display();
        let said = err(&output);
        for part in [
            &format!("the program arena-serve does this, and it is not in {folder}")[..],
            "cargo build --release -p arena-serve",
        ] {
            assert!(said.contains(part), "{line}: {said}");
        }
    }
}

#[test]
fn its_words_are_checked_without_it() {
    let arena = Arena::new();
    let output = arena.run("serve --page nowhere");
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let help = done(&arena.run("serve --help"));
    assert!(help.contains("--page-proxy"), "{help}");
}
