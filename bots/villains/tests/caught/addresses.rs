//! A bot listens where it was told, in its own process, and nowhere else.

use std::{path::Path, sync::Arc};

use referee::{Bot, Launch};
use referee_core::FoulKind;

use crate::vocabulary::*;

/// A bot that runs this script; `$victim` is the socket of another bot.
fn script(lines: &str, victim: &Path) -> Arc<Bot> {
    let script = format!(
        "victim='{}'; own=${{BOT_LISTEN#unix:}}\n{lines}",
        victim.display()
    );
    started_as(Launch {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        start_limit: AMPLE,
        ..Launch::default()
    })
}

#[tokio::test]
async fn nobody_plays_by_the_socket_of_another_bot() {
    let arena = Arena::new().await;
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("victim.sock");
    let victim = running("honest", &format!("unix:{}", socket.display())).await;
    for (lines, evidence) in [
        (
            "echo listening on unix:$victim; exec sleep 60",
            "must listen at the address in BOT_LISTEN and nowhere else",
        ),
        (
            "ln -s $victim $own; echo listening on $BOT_LISTEN; exec sleep 60",
            "it is a link",
        ),
        (
            "ln $victim $own; echo listening on $BOT_LISTEN; exec sleep 60",
            "which is neither the bot's process",
        ),
    ] {
        let thief = script(lines, &socket);
        let record = arena.play(against_honest(0, &thief, FIRST)).await;
        lost_by(&record, FIRST, FoulKind::NoStart, &[evidence]);
        thief.stop().await;
    }
    drop(victim);
}

#[tokio::test]
async fn a_bot_may_listen_in_a_process_that_it_has_started() {
    let arena = Arena::new().await;
    let villain = env!("CARGO_BIN_EXE_villain");
    let bot = script(&format!("{villain} honest; true"), Path::new("/nowhere"));
    let record = arena.play(against_honest(0, &bot, FIRST)).await;
    played_out(&record);
}

#[tokio::test]
async fn a_bot_knows_little_of_our_environment() {
    let arena = Arena::new().await;
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    // Cargo sets this for tests, as an example of what is no bot's affair.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let villain = env!("CARGO_BIN_EXE_villain");
    let bot = script(&format!("env > $victim; exec {villain} honest"), &seen);
    let record = arena.play(against_honest(0, &bot, FIRST)).await;
    played_out(&record);
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(
        seen.contains("BOT_LISTEN=unix:") && seen.contains("PATH="),
        "{seen}"
    );
    assert!(!seen.contains("CARGO"), "{seen}");
}
