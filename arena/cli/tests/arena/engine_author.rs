//! The page for the author of an engine: its commands are run as they stand.

use std::{env, fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::vocabulary::*;

const PAGE: &str = include_str!("../../../../docs/engine-author.md");

#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let arena = Arena::new().without_walls();
    let program = Path::new(env!("CARGO_BIN_EXE_arena"));
    for (name, bot) in [("v1", "random"), ("v2", "weights?plies=2")] {
        let script = format!("#!/bin/sh\nexec '{}' bot '{bot}'\n", program.display());
        fs::write(arena.path(name), script).unwrap();
        fs::set_permissions(arena.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let blocks = PAGE.split("```sh\n").skip(1);
    let blocks: Vec<&str> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() > 5);
    fs::write(arena.path("page.sh"), blocks.concat()).unwrap();
    let mut folders = vec![program.parent().unwrap().to_owned()];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let output = arena
        .command_of(Path::new("bash"), "-e page.sh")
        .env("PATH", env::join_paths(folders).unwrap())
        .output()
        .unwrap();
    let said = done(&output);
    assert!(said.contains("H1"), "{said}");
    assert!(
        said.contains("score 0.") && said.contains(" Elo {"),
        "{said}"
    );
    let transcripts = said
        .lines()
        .filter(|line| line.len() > 100 && line.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(transcripts.count(), 3, "{said}");
    let read = |name: &str| fs::read_to_string(arena.path(name)).unwrap();
    let records = arena.records("v1-v2").len();
    assert!(records > 1, "{said}");
    assert_eq!(
        read("v1-v2.pgn").matches("[Event \"v1-v2\"]").count(),
        records
    );
    assert_eq!(read("v1-v2.ggf").lines().count(), records);
    assert_eq!(
        read("versions.pgn").matches("[Event \"versions\"]").count(),
        60
    );
}
