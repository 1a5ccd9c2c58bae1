//! The page for the author of an engine: its commands are run as they stand.

use std::fs;

use crate::{documents::Page, vocabulary::*};

pub(crate) const PAGE: &str = "docs/engine-author.md";

#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let arena = Arena::new().without_walls();
    let said = Page::read(PAGE).run(&arena);
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
