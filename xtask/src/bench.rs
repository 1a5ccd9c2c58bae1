//! `cargo xtask bench [NAME]`: measures, with the build that a release has.

use crate::{
    languages,
    shell::{Result, cargo, stream, target_dir},
};

/// The programs that a benchmark plays with as processes.
enum Needs {
    Nothing,
    /// The program `arena-serve`.
    Serve,
    /// The program `bot`.
    House,
    /// The samples of the kits.
    Languages,
}

/// Name, crate, and what it needs.
type Bench = (&'static str, &'static str, Needs);

const BENCHES: &[Bench] = &[
    ("overhead", "referee", Needs::House),
    ("languages", "referee", Needs::Languages),
    ("playouts", "referee-games", Needs::Nothing),
    ("mahjong", "referee-games", Needs::Nothing),
    ("big_two", "referee-games", Needs::Nothing),
    ("playouts", "house-bots", Needs::Nothing),
    ("standings", "arena-ladder", Needs::Nothing),
    ("records", "arena-store", Needs::Nothing),
    ("store", "arena-store", Needs::Nothing),
    ("tournament", "arena", Needs::Nothing),
    ("plies", "arena", Needs::Nothing),
    ("starts", "arena", Needs::Languages),
    ("workers", "arena", Needs::Serve),
    ("page", "arena", Needs::Serve),
    ("contest", "arena", Needs::Serve),
    ("fleet", "arena-kubernetes", Needs::Nothing),
];

/// Runs the benchmark that is named, or all.
///
/// # Errors
/// There is none of this name, or it failed.
pub(crate) fn run(name: Option<&str>) -> Result {
    let chosen = |bench: &&Bench| name.is_none_or(|name| name == bench.0);
    if let Some(name) = name
        && !BENCHES.iter().any(|bench| chosen(&bench))
    {
        let known: Vec<_> = BENCHES.iter().map(|bench| bench.0).collect();
        let known = known.join(", ");
        return Err(format!("no benchmark `{name}`; there are {known}").into());
    }
    for (name, package, needs) in BENCHES.iter().filter(chosen) {
        let mut run = cargo(&format!(
            "bench --locked --profile dist -p {package} --bench {name}"
        ));
        let dist = target_dir().join("dist");
        match needs {
            Needs::Nothing => {}
            Needs::Serve => build("-p arena-serve")?,
            Needs::House => {
                build("-p house-bots --bin bot")?;
                run.env("BENCH_BOT", dist.join("bot"));
            }
            Needs::Languages => {
                build("-p bot-kit --example random")?;
                build("-p line-adapters --example adapter")?;
                let samples = languages::random_samples(&dist.join("examples"))?;
                run.env("BENCH_SAMPLES", samples);
            }
        }
        stream(&mut run)?;
    }
    Ok(())
}

/// Builds what a benchmark plays with.
fn build(what: &str) -> Result {
    stream(&mut cargo(&format!("build --locked --profile dist {what}")))
}
