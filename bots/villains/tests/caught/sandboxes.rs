//! Bots in a sandbox play, end and are judged as others are; what a wall holds back costs
//! nobody else anything.

use std::{
    cell::Cell,
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee::{Bot, BotSandbox, Launch, Live, proc::CpuTime};
use referee_core::{Event, Foul, FoulKind};
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
    Launch {
        sandbox: Some(BotSandbox {
            sandbox,
            hidden: Arc::default(),
            pondering: false,
        }),
        ..launch
    }
}

pub(crate) fn sandboxed(line: &str) -> Arc<Bot> {
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
            .loses(&["memory", "1 GiB"])
            .await;
    }
}

/// The process that plays lives on, and only the count of its cgroup tells why it fails.
#[tokio::test]
async fn memory_counts_whichever_process_of_a_bot_has_taken_it() {
    for (line, limit) in [
        ("memory --megabytes 2048 --by-child says", AMPLE),
        ("memory --megabytes 2048 --shared --by-child says", AMPLE),
        // It is late, and would be without having taken too much: the reason is known.
        (
            "memory --megabytes 2048 --by-child waits",
            Duration::from_secs(15),
        ),
    ] {
        let fouls = Trial::of(line)
            .per_move(limit)
            .launched(|launch| within(&WHOLE, launch))
            .loses(&["memory", "1 GiB"])
            .await;
        for foul in fouls {
            assert_eq!(foul.kind(), FoulKind::MemoryExceeded, "{line}: {foul}");
        }
    }
    let at_once = within(&WHOLE, launch("memory --megabytes 2048 --at-once"));
    let arena = Arena::new().await;
    let game = against_honest(1, &started_as(at_once), FIRST);
    let foul = lost_by(
        &arena.play(game).await,
        FIRST,
        FoulKind::MemoryExceeded,
        &[],
    );
    assert!(matches!(foul, Foul::MemoryExceeded { limit, .. } if limit == 1 << 30));
}

/// What has not taken too much is judged as ever.
#[tokio::test]
async fn another_failure_of_a_bot_whose_memory_is_limited_has_its_own_name() {
    for (line, evidence) in [
        ("error-status", "gRPC status"),
        ("hang-up", "closed its stream"),
        ("crash", "SIGABRT"),
    ] {
        Trial::of(line)
            .launched(|launch| within(&WHOLE, launch))
            .loses(&[evidence])
            .await;
    }
    Trial::of("late")
        .per_move(KEPT)
        .launched(|launch| within(&WHOLE, launch))
        .loses(&["no answer within 3s"])
        .await;
}

/// The parent of a process, and its name.
fn parent(id: i32) -> Option<(i32, String)> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = |word| status.lines().find_map(|line| line.strip_prefix(word));
    let parent: i32 = line("PPid:")?.trim().parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    Some((parent, name.trim().to_owned()))
}

/// Kills the process of this name above the bot's as soon as a point has been played, and plays the
/// game to its end.
async fn killed_above(sandbox: &Arc<Sandbox>, above: &str) -> (Arc<Bot>, referee_core::Record) {
    let arena = Arena::new().await;
    let walls = format!("{:?}", sandbox.walls().hold(Wall::Processes));
    let name = format!("below-{above}-{walls}-{}", std::process::id());
    let launch = launch(&format!("slow --delay 100ms --name {name}"));
    let victim = started_as(within(sandbox, launch));
    let mut game = game(0, &bot("honest"), &victim);
    let mut seen = watched(&mut game);
    let killing = async {
        while !matches!(seen.recv().await, Some(Live::Played { .. })) {}
        let mut at = *named(&name).iter().max().unwrap();
        loop {
            let (id, called) = parent(at).expect("it is above");
            if called == above {
                kill(Pid::from_raw(id), Signal::SIGKILL).unwrap();
                return;
            }
            at = id;
        }
    };
    let (record, ()) = tokio::join!(arena.play(game), killing);
    (victim, record)
}

#[tokio::test]
async fn a_game_whose_walls_are_killed_from_outside_is_played_again() {
    for above in ["sandbox", "sandbox-init"] {
        let (victim, record) = killed_above(&WHOLE, above).await;
        played_out(&record);
        assert_eq!(victim.started(), 2, "{above}");
    }
}

/// Where a bot may signal the processes of its sandbox, it may have killed them itself.
#[tokio::test]
async fn a_bot_that_can_reach_its_walls_loses_the_game_when_they_are_killed() {
    let reachable = Arc::new(probe().without(&[Wall::Processes]));
    for above in ["sandbox", "sandbox-init"] {
        let (victim, record) = killed_above(&reachable, above).await;
        lost_by(&record, SECOND, FoulKind::Crashed, &["killed by SIGKILL"]);
        assert_eq!(victim.started(), 1, "{above}");
    }
}

/// The variables that tell a bot of its limit, as it has seen them.
async fn told_of_its_memory(change: impl FnOnce(&mut Launch)) -> String {
    let mut launch = launch("");
    launch.program = "/bin/sh".into();
    let look = "env | grep -E '^(BOT_MEMORY|JAVA_TOOL|NODE_OPTIONS|DOTNET_)' | sort; exit 3";
    launch.arguments = ["-c", look].map(Into::into).to_vec();
    change(&mut launch);
    let failed = launch.start().await.map(drop).unwrap_err().to_string();
    let words = failed
        .split_once("its last words: ")
        .map(|(_, words)| words);
    words.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_bot_is_told_how_much_memory_it_may_have() {
    let (whole, open) = (WHOLE.clone(), Arc::new(probe().without(&[Wall::Memory])));
    let walls = |sandbox: &Arc<Sandbox>| {
        let sandbox = sandbox.clone();
        move |launch: &mut Launch| *launch = within(&sandbox, launch.clone())
    };
    let limited = |launch: &mut Launch| launch.memory.limit = Some(64 << 20);
    // Where nothing is limited.
    assert_eq!(told_of_its_memory(|_| {}).await, "");
    assert_eq!(told_of_its_memory(walls(&open)).await, "");
    let in_all = "BOT_MEMORY_LIMIT=1073741824 / DOTNET_GCHeapHardLimit=30000000 / \
                  JAVA_TOOL_OPTIONS=-Xmx512m / NODE_OPTIONS=--max-old-space-size=512";
    assert_eq!(told_of_its_memory(walls(&whole)).await, in_all);
    let added = "BOT_MEMORY_LIMIT=67108864 / DOTNET_GCHeapHardLimit=3000000 / \
                 JAVA_TOOL_OPTIONS=-Xmx32m / NODE_OPTIONS=--max-old-space-size=32";
    assert_eq!(told_of_its_memory(limited).await, added);
    for sandbox in [whole, open] {
        let walls = walls(&sandbox);
        let both = told_of_its_memory(|launch| {
            walls(launch);
            limited(launch);
        });
        assert_eq!(both.await, added);
    }
}

const JVM: &str = r#"
class Bot {
  static byte[][] live = new byte[1024][];
  public static void main(String[] arguments) throws Exception {
    System.out.println("listening on " + System.getenv("BOT_LISTEN"));
    System.out.println(Runtime.getRuntime().maxMemory() >> 20);
    // 64 MiB are in use, and a hundred times as much is thrown away.
    for (int round = 0; round < 100; round++)
      for (int i = 0; i < live.length; i++) live[i] = new byte[1 << 16];
    System.out.println("well");
    System.exit(7);
  }
}"#;

/// A JVM takes a quarter of the machine's memory for its heap before it collects, if nobody tells it.
#[tokio::test]
async fn a_jvm_keeps_below_the_limit_of_its_sandbox() {
    let is_there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).exists())
    };
    if !is_there("java") || !is_there("javac") {
        eprintln!("skipped: java and javac are not installed (Debian: default-jdk-headless)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Bot.java"), JVM).unwrap();
    let compiler = std::process::Command::new("javac")
        .arg(folder.path().join("Bot.java"))
        .status();
    assert!(compiler.unwrap().success());
    let mut launch = within(&WHOLE, launch(""));
    launch.program = "java".into();
    launch.arguments = ["-cp", ".", "Bot"].map(Into::into).to_vec();
    launch.directory = Some(folder.path().to_owned());
    let bot = launch.start().await.unwrap();
    until("it has ended", || bot.has_ended()).await;
    let foul = bot.post_mortem(String::new()).await.unwrap().to_string();
    assert!(
        foul.contains("exited with code 7") && foul.contains("well"),
        "{foul}"
    );
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
    // So that the folder is shown, although nothing in it is named.
    std::fs::write(folder.path().join("Makefile"), "").unwrap();
    let sees = async |hidden: Vec<PathBuf>| {
        let mut launch = launch("");
        launch.program = "/bin/sh".into();
        launch.arguments = ["-c", "cat arena.sqlite; exit 3"].map(Into::into).to_vec();
        launch.directory = Some(folder.path().to_owned());
        launch.sandbox = Some(BotSandbox {
            sandbox: WHOLE.clone(),
            hidden: hidden.into(),
            pondering: false,
        });
        let failed = launch.start().await.map(drop).unwrap_err();
        failed.to_string().contains("secret")
    };
    assert!(sees(Vec::new()).await);
    assert!(!sees(vec![store.clone()]).await);
}

/// The time that the process of this name has run, or waited for a core.
fn ran(name: &str) -> Duration {
    let each = named(name).into_iter().map(|id| {
        CpuTime::of_family(u32::try_from(id).unwrap())
            .unwrap()
            .scheduled
    });
    each.max().unwrap_or_default()
}

#[tokio::test]
async fn a_bot_is_held_still_while_the_other_thinks() {
    for (pondering, games) in [(false, 1), (false, 2), (true, 1)] {
        let arena = Arena::new().await;
        let name = format!("spins-{pondering}-{games}-{}", std::process::id());
        let mut spinning = within(&WHOLE, launch(&format!("honest --spins --name {name}")));
        spinning.sandbox.as_mut().unwrap().pondering = pondering;
        let spinning = Arc::new(Bot::launched(spinning, Handle::current()));
        let late = bot("late --after 0");
        let mut all: Vec<_> = (0..games)
            .map(|seed| game(seed, &spinning, &late))
            .collect();
        let mut seen: Vec<_> = all.iter_mut().map(watched).collect();
        for game in &mut all {
            game.fixture.limits.per_move = Duration::from_hours(2);
        }
        let playing = join_all(all.into_iter().map(|game| arena.play(game)));
        let looking = async {
            for seen in &mut seen {
                while !matches!(seen.recv().await, Some(Live::Played { .. })) {}
            }
            // It has answered, and the other one thinks until the end of this test.
            let before = ran(&name);
            assert!(before > Duration::ZERO);
            if pondering {
                let enough = before + Duration::from_secs(1);
                until("it has a core", || ran(&name) > enough).await;
            } else {
                let last = Cell::new((before, Instant::now()));
                let held = format!("it is held still in {games} games at once");
                until(&held, || {
                    let now = ran(&name);
                    if now != last.get().0 {
                        last.set((now, Instant::now()));
                    }
                    last.get().1.elapsed() > Duration::from_millis(500)
                })
                .await;
            }
        };
        tokio::select! {
            _ = playing => panic!("they think for longer"),
            () = looking => {}
        }
        spinning.stop().await;
    }
}

#[tokio::test]
async fn bots_that_are_held_still_play_as_others_do() {
    let arena = Arena::new().await;
    let name = format!("held-{}", std::process::id());
    // Each is held still at every move of the other.
    let bots = [7, 11].map(|ms| sandboxed(&format!("slow --delay {ms}ms --name {name}")));
    let games = (0..4).map(|seed| arena.play(game(seed, &bots[0], &bots[1])));
    for record in join_all(games).await {
        played_out(&record);
    }
    for bot in bots {
        bot.stop().await;
    }
    until("both have ended", || named(&name).is_empty()).await;
}
