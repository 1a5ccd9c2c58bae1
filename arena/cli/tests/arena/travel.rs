//! Bots that travel: their files go to workers that have never seen them.

use std::fs;

use crate::{site::Site, vocabulary::*};

#[test]
fn a_bot_travels_to_a_worker_that_has_never_seen_it() {
    let mut site = Site::new();
    let bots = site.arena.path("bots");
    fs::create_dir(&bots).unwrap();
    fs::copy(villain_program(), bots.join("bot")).unwrap();
    let line = "bots add traveller --dir bots --run './bot slow --delay 0ms' --game connect-four";
    site.run(line);
    fs::remove_dir_all(&bots).unwrap();
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 3",
        &["traveller", "house:random"],
    );
    site.run("tournament submit cup.toml --seed 2");
    site.serve("--open --concurrency 0");
    let far = tempfile::tempdir().unwrap();
    site.worker(&format!("--name far --cache '{}'", far.path().display()));
    site.wait_for("cup", "over");
    assert!(
        site.run("tournament verify cup")
            .contains("proved, 6 games")
    );
    let row = site.rows("cup");
    let games: Vec<u64> = row
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["games"].as_u64().unwrap())
        .collect();
    assert_eq!(games, [6, 6]);
    let _ = std::process::Command::new("chmod")
        .args(["-R", "u+w"])
        .arg(far.path())
        .status();
}
