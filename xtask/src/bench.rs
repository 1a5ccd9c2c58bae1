//! `cargo xtask bench [NAME]`: measures, with the build that a release has.

use crate::{
    languages,
    shell::{Result, cargo, stream, target_dir},
};

/// A benchmark: what it is called and whose it is.
struct Bench {
    name: &'static str,
    package: &'static str,
    needs: Needs,
}

/// What a benchmark plays with as processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// The house's bots.
    House,
    /// The kits' samples.
    Languages,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "overhead",
        package: "referee",
        needs: Needs::House,
    },
    Bench {
        name: "languages",
        package: "referee",
        needs: Needs::Languages,
    },
    Bench {
        name: "playouts",
        package: "referee-games",
        needs: Needs::Nothing,
    },
    Bench {
        name: "mahjong",
        package: "referee-games",
        needs: Needs::Nothing,
    },
    Bench {
        name: "big_two",
        package: "referee-games",
        needs: Needs::Nothing,
    },
    Bench {
        name: "playouts",
        package: "house-bots",
        needs: Needs::Nothing,
    },
    Bench {
        name: "standings",
        package: "arena-ladder",
        needs: Needs::Nothing,
    },
    Bench {
        name: "records",
        package: "arena-store",
        needs: Needs::Nothing,
    },
    Bench {
        name: "store",
        package: "arena-store",
        needs: Needs::Nothing,
    },
    Bench {
        name: "tournament",
        package: "arena",
        needs: Needs::Nothing,
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
        let mut run = cargo([
            "bench",
            "--locked",
            "--profile",
            "dist",
            "-p",
            bench.package,
            "--bench",
            bench.name,
        ]);
        let dist = target_dir().join("dist");
        match bench.needs {
            Needs::Nothing => {}
            Needs::House => {
                build(&["-p", "house-bots", "--bin", "bot"])?;
                run.env("BENCH_BOT", dist.join("bot"));
            }
            Needs::Languages => {
                build(&["-p", "bot-kit", "--example", "random"])?;
                let samples = languages::random_samples(&dist.join("examples/random"))?;
                run.env("BENCH_SAMPLES", samples);
            }
        }
        stream(&mut run)?;
    }
    Ok(())
}

/// Builds what a benchmark plays with.
fn build(what: &[&str]) -> Result {
    stream(cargo(["build", "--locked", "--profile", "dist"]).args(what))
}
