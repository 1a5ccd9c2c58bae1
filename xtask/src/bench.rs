//! `cargo xtask bench [NAME]`: measures, with the build that a release has.

use crate::shell::{Result, cargo, stream, target_dir};

/// A benchmark: what it is called, whose it is, what it needs besides.
struct Bench {
    name: &'static str,
    package: &'static str,
    /// Whether it plays with the house's bots as processes.
    needs_bots: bool,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "overhead",
        package: "referee",
        needs_bots: true,
    },
    Bench {
        name: "playouts",
        package: "referee-games",
        needs_bots: false,
    },
    Bench {
        name: "mahjong",
        package: "referee-games",
        needs_bots: false,
    },
    Bench {
        name: "big_two",
        package: "referee-games",
        needs_bots: false,
    },
    Bench {
        name: "playouts",
        package: "house-bots",
        needs_bots: false,
    },
    Bench {
        name: "standings",
        package: "arena-ladder",
        needs_bots: false,
    },
    Bench {
        name: "store",
        package: "arena-store",
        needs_bots: false,
    },
    Bench {
        name: "tournament",
        package: "arena",
        needs_bots: false,
    },
];

/// Runs the benchmark that is named, or all.
///
/// # Errors
/// There is none of this name, or it failed.
pub(crate) fn run(name: Option<&str>) -> Result {
    let chosen: Vec<_> = BENCHES
        .iter()
        .filter(|bench| name.is_none_or(|name| name == bench.name))
        .collect();
    if chosen.is_empty() {
        let known: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        return Err(format!(
            "no benchmark `{}`; there are {}",
            name.unwrap_or_default(),
            known.join(", ")
        )
        .into());
    }
    for bench in chosen {
        if bench.needs_bots {
            stream(&mut cargo([
                "build",
                "--locked",
                "--profile",
                "dist",
                "-p",
                "house-bots",
                "--bin",
                "bot",
            ]))?;
        }
        stream(
            cargo([
                "bench",
                "--locked",
                "--profile",
                "dist",
                "-p",
                bench.package,
                "--bench",
                bench.name,
            ])
            .env("BENCH_BOT", target_dir().join("dist/bot")),
        )?;
    }
    Ok(())
}
