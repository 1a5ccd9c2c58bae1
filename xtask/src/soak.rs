//! `cargo xtask soak`: what is too long for every commit: tournaments that are stopped
//! ([`run`]), arenas and workers that are killed ([`kills`]), simulated networks that fail
//! ([`simulate`]), simulated clusters that do ([`kubernetes`]), workers in networks that are cut
//! ([`networks`]), many games at once ([`load`]), bots with little time ([`limits`])
//! and bytes that nobody wrote ([`fuzz`]).

use std::{
    fs,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use crate::{
    shell::{Result, capture, cargo, command, root, stream, target_dir},
    tools,
};

/// Stops each shape of tournament so many times.
///
/// # Errors
/// A tournament did not end in the table that it should have.
pub(crate) fn run(stops: &str) -> Result {
    stream(&mut cargo("build --locked -p villains -p arena-serve"))?;
    stream(
        cargo("test --locked -p arena --test arena -- --ignored soak --nocapture")
            .env("ARENA_SOAK_STOPS", stops),
    )
}

/// Plays so many simulated tournaments over a network that fails.
///
/// # Errors
/// A tournament did not end in the table that it should have; the seed is told.
pub(crate) fn simulate(seeds: &str) -> Result {
    stream(
        cargo("test --locked --release -p arena-simulation --test simulation")
            .args(["a_tournament_ends", "--", "--nocapture"])
            .env("ARENA_SIMULATION_SEEDS", seeds),
    )
}

/// Plays so many small tournaments on simulated clusters that fail, and so many of 19,900 pairings,
/// from this seed on.
///
/// # Errors
/// A tournament did not end in the table that it should have; the seed is told.
pub(crate) fn kubernetes(seeds: u64, first: u64) -> Result {
    stream(
        cargo("test --locked --release -p arena-kubernetes --test cluster")
            .args(["--", "a_small_tournament", "a_tournament_of_19900_pairings"])
            .arg("--nocapture")
            .env("ARENA_KUBERNETES_SEEDS", seeds.to_string())
            .env("ARENA_KUBERNETES_FIRST_SEED", first.to_string())
            .env("ARENA_KUBERNETES_LARGE_SEEDS", seeds.to_string())
            .env("ARENA_KUBERNETES_LARGE_FIRST_SEED", first.to_string()),
    )
}

/// Number of seeds, and the first one, as `--seeds N --from N` say; none where they are not that.
pub(crate) fn seeds(options: &[&str]) -> Option<(u64, u64)> {
    let (mut seeds, mut first) = (1000, 0);
    for option in options.chunks(2) {
        let [name, number] = option else { return None };
        let number = number.parse().ok()?;
        match *name {
            "--seeds" => seeds = number,
            "--from" => first = number,
            _ => return None,
        }
    }
    Some((seeds, first))
}

/// Kills the arena, its workers, their bots and the database so many times while they play.
///
/// # Errors
/// A tournament did not end in the table that it should have.
pub(crate) fn kills(kills: &str) -> Result {
    stream(&mut cargo(
        "build --locked -p villains -p referee-cli -p arena-serve",
    ))?;
    stream(
        cargo("test --locked -p arena --test arena -- kills:: --nocapture")
            .env("ARENA_TEST_KILLS", kills),
    )
}

/// Plays tournaments with workers in network namespaces, whose lines are cut, slow and lossy. It
/// needs root, iproute2 and /dev/net/tun.
///
/// # Errors
/// A tournament did not end in the table that it should have.
pub(crate) fn networks() -> Result {
    stream(&mut cargo("build --locked -p villains -p arena-serve"))?;
    stream(&mut cargo(
        "test --locked -p arena --test arena -- --ignored networks:: --nocapture",
    ))
}

/// Plays so many moves in games at once, on cores that are all taken.
///
/// # Errors
/// A bot lost on time.
pub(crate) fn load(moves: &str) -> Result {
    stream(
        cargo("test --locked -p villains --test caught -- load:: --nocapture")
            .env("ARENA_TEST_MOVES", moves),
    )
}

/// The strongest built-in bots, with their games and how many sit there.
const STRONG: [(&str, &str, u32); 4] = [
    ("othello", "edge", 2),
    ("connect-four", "zugzwang", 2),
    ("big-two", "ai4", 4),
    ("mahjong", "tenpai", 2),
];

/// Lets the strongest built-in bots play so many games with 50 ms a move, and a twentieth as many
/// with 3 s, while other programs want every core. None may be late.
///
/// # Errors
/// A bot committed a foul.
pub(crate) fn limits(games: &str) -> Result {
    let games: u32 = games.parse()?;
    stream(&mut cargo("build --locked --release -p arena"))?;
    let arena = target_dir().join("release/arena");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let _busy: Vec<Busy> = (0..cores).map(|_| Busy::begin()).collect::<Result<_>>()?;
    let mut late = Vec::new();
    for (game, bot, seats) in STRONG {
        for (limit, games) in [("50ms", games), ("3s", games / 20)] {
            let mut play = command(&arena);
            play.args([
                "match",
                game,
                "--move-limit",
                limit,
                "--no-records",
                "--seed",
                "limits",
            ])
            .args(["--concurrency", &cores.to_string()])
            .args(["--deals", &games.div_ceil(seats).max(1).to_string()]);
            for seat in 0..seats {
                play.args(["--bot", &format!("b{seat}=house:{bot}")]);
            }
            let said = capture(&mut play)?;
            println!("{said}");
            if said.contains("\nfouls: ") {
                late.push(format!("{bot} at {limit}"));
            }
        }
    }
    match late.is_empty() {
        true => Ok(()),
        false => Err(format!("fouls of {}", late.join(", ")).into()),
    }
}

/// A program that does nothing with all of a core, until this is dropped.
struct Busy(Child);

impl Busy {
    fn begin() -> Result<Self> {
        Ok(Self(
            command("sh").args(["-c", "while :; do :; done"]).spawn()?,
        ))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It ends by nothing else.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs cargo-fuzz on every target in turn, for this time in all, and says how many inputs each
/// has had.
///
/// # Errors
/// A target did not stand an input, or can't be built.
pub(crate) fn fuzz(time: Duration) -> Result {
    let cargo_fuzz = tools::cargo_fuzz()?;
    let folder = root().join("fuzz");
    let mut targets = Vec::new();
    for file in fs::read_dir(folder.join("corpus"))? {
        targets.push(file?.file_name().to_string_lossy().into_owned());
    }
    targets.sort();
    let each = time.as_secs() / targets.len().max(1) as u64;
    let mut failed = Vec::new();
    for target in &targets {
        // What is found on the way goes to the first.
        let found = target_dir().join("fuzz-corpus").join(target);
        fs::create_dir_all(&found)?;
        let output = command(&cargo_fuzz)
            .args(["fuzz", "run", "--sanitizer", "none", target])
            .arg(&found)
            .arg(folder.join("corpus").join(target))
            .args(["--", "-max_len=65536", "-timeout=60", "-rss_limit_mb=2048"])
            .args(["-print_final_stats=1", &format!("-max_total_time={each}")])
            .current_dir(&folder)
            // libFuzzer's instrumentation is not stable.
            .env("RUSTC_BOOTSTRAP", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::inherit())
            .stderr(Stdio::piped())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let mut lines = said.lines();
        let inputs = lines.find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        match (output.status.success(), inputs) {
            (true, Some(inputs)) => println!("{target}: {} inputs", inputs.trim()),
            _ => {
                eprintln!("{said}");
                failed.push(target.as_str());
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("fuzzing failed: {}", failed.join(", ")).into()),
    }
}
