//! Bots in a sandbox play, end and are judged as others are; what a wall holds back costs
//! nobody else anything.

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Duration,
};

use referee::{Bot, BotSandbox, Launch};
use referee_core::{Event, FoulKind};
use referee_sandbox::{Reexec, Sandbox, SandboxMode, Wall};
use tokio::runtime::Handle;

use crate::vocabulary::*;

static WHOLE: LazyLock<Arc<Sandbox>> = LazyLock::new(|| Arc::new(probe()));

fn probe() -> Sandbox {
    let reexec = Reexec {
        program: env!("CARGO_BIN_EXE_villain").into(),
        verb: vec!["sandbox".into()],
    };
    Sandbox::probe(SandboxMode::Require, reexec).unwrap()
}

fn within(sandbox: &Arc<Sandbox>, launch: Launch) -> Launch {
    let sandbox = sandbox.clone();
    let hidden = Arc::default();
    Launch {
        sandbox: Some(BotSandbox { sandbox, hidden }),
        ..launch
    }
}

fn sandboxed(line: &str) -> Arc<Bot> {
    let launch = within(&WHOLE, launch(line));
    Arc::new(Bot::launched(launch, Handle::current()))
}

#[tokio::test]
async fn a_game_is_played_and_its_record_names_the_walls() {
    let arena = Arena::new().await;
    let bots = [sandboxed("honest"), sandboxed("honest")];
    let record = arena.play(game(1, &bots[0], &bots[1])).await;
    played_out(&record);
    let walls = WHOLE.walls().to_string();
    assert!(walls.ends_with("nothing missing"), "{walls}");
    let mixed = arena.play(game(2, &bots[0], &bot("honest"))).await;
    played_out(&mixed);
    assert_eq!(mixed.header.sandbox.as_slice(), [Some(walls), None]);
}

#[tokio::test]
async fn fouls_are_those_of_a_bot_without_walls() {
    for (line, evidence) in [
        ("crash", "killed by SIGABRT"),
        ("exit-at-once", "exited with code 3 before it listened"),
        ("misdirected", "is no address: expected"),
    ] {
        Trial::of(line)
            .launched(|launch| within(&WHOLE, launch))
            .loses(&[evidence])
            .await;
    }
    let nowhere = "could not start no-such-program: there is no program no-such-program";
    Trial::of("honest")
        .program("no-such-program")
        .launched(|launch| within(&WHOLE, launch))
        .by(FoulKind::Unreachable)
        .loses(&[nowhere])
        .await;
    let no_program = tempfile::NamedTempFile::new().unwrap();
    Trial::of("honest")
        .program(no_program.path().to_str().unwrap())
        .launched(|launch| within(&WHOLE, launch))
        .by(FoulKind::Unreachable)
        .loses(&["could not start", "Permission denied"])
        .await;
}

#[tokio::test]
async fn memory_counts_however_it_is_taken() {
    const ALLOWED: u64 = 32 << 20;
    for line in ["memory --megabytes 256", "memory --megabytes 256 --shared"] {
        Trial::of(line)
            .memory(ALLOWED)
            .launched(|launch| within(&WHOLE, launch))
            .loses(&["memory"])
            .await;
    }
    // Without a limit of the game's the sandbox has one: 1 GiB in all.
    for line in [
        "memory --megabytes 2048",
        "memory --megabytes 2048 --shared",
    ] {
        Trial::of(line)
            .launched(|launch| within(&WHOLE, launch))
            .loses(&["memory", "1073741824"])
            .await;
    }
}

#[tokio::test]
async fn shared_memory_counts_for_nobody_without_its_wall() {
    let open = Arc::new(probe().without(&[Wall::Memory]));
    let hoarder = within(&open, launch("memory --megabytes 1100 --shared"));
    let hoarder = Arc::new(Bot::launched(hoarder, Handle::current()));
    let arena = Arena::new().await;
    let mut game = against_honest(1, &hoarder, FIRST);
    game.fixture.limits.per_move = Duration::from_secs(10);
    // It has taken more than a sandbox allows, and waits.
    lost_by(&arena.play(game).await, FIRST, FoulKind::Late, &[]);
}

#[tokio::test]
async fn a_bot_that_stops_its_parent_stops_nobody() {
    let arena = Arena::new().await;
    let mut game = game(1, &sandboxed("honest --stops"), &bot("honest"));
    game.fixture.limits.per_move = Duration::from_secs(1);
    let record = arena.play(game).await;
    let excused =
        |event: &Event| matches!(event, Event::Answered { excused, .. } if !excused.is_zero());
    assert!(!record.events.iter().any(excused), "{record:?}");
}

#[tokio::test]
async fn what_a_bot_has_started_ends_with_it() {
    let arena = Arena::new().await;
    let name = format!("sandboxed-litter-{}", std::process::id());
    let litterer = sandboxed(&format!("litter --name {name}"));
    played_out(&arena.play(against_honest(0, &litterer, FIRST)).await);
    assert_eq!(named(&name).len(), 2);
    litterer.stop().await;
    until("nothing is left", || named(&name).is_empty()).await;
}

#[tokio::test]
async fn what_is_hidden_is_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("arena.sqlite");
    std::fs::write(&store, "secret").unwrap();
    let sees = async |hidden: Vec<PathBuf>| {
        let mut launch = launch("");
        launch.program = "/bin/sh".into();
        launch.arguments = ["-c", "cat arena.sqlite; exit 3"].map(Into::into).to_vec();
        launch.directory = Some(folder.path().to_owned());
        launch.sandbox = Some(BotSandbox {
            sandbox: WHOLE.clone(),
            hidden: hidden.into(),
        });
        let failed = launch.start().await.map(drop).unwrap_err();
        failed.to_string().contains("secret")
    };
    assert!(sees(Vec::new()).await);
    assert!(!sees(vec![store.clone()]).await);
}
