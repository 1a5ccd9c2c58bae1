//! The tasks of a developer: `cargo xtask test`, `lint`, `bench`, `images`, `release`,
//! `manifests`, `mistakes`, `soak`, `strength`. One file a verb; nothing here is part of what is shipped.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program"
)]

mod bench;
mod images;
mod languages;
mod lint;
mod manifests;
mod mistakes;
mod postgres;
mod shell;
mod soak;
mod strength;
mod system;
mod test;
mod tools;

use std::{env, process::ExitCode, time::Duration};

const HELP: &str = "\
What a developer of the arena runs.

Usage: cargo xtask <VERB>

Verbs:
  test [--no-lint]  Lint, build and test everything; the one command for a
                    fresh machine with Rust, git and a C compiler: what else it
                    needs it installs on Debian, and names elsewhere
  test --quick      Format, clippy and the tests of rules, statistics, events,
                    the page's routes and the kits for Python and C++, which start no server, no
                    container and no browser
  lint              Format, clippy, forbidden dependencies, licences, .proto
                    files, GitHub's workflows and repository hygiene; goes on
                    after a failure
  bench [NAME]      Measure; all benchmarks, or the one that is named
  images [--arch ARCH] [--base IMAGE] [--engine-host unix://PATH]
         [--profile NAME] [--registry NAME] [--prepared] [NAME…]
                    Build images of containers: all, or those that are named.
                    --arch is amd64 or arm64; --base is what stands below those
                    that need an interpreter; --registry is what their names
                    begin with, by default localhost/bot-arena; --prepared
                    takes programs that an earlier run has built
  images contexts [--arch ARCH] [--profile NAME] [NAME…]
                    Write only what an engine needs to build them, below
                    target/images/contexts
  images base [--engine-host unix://PATH] [--registry NAME] [--prepared]
                    Make the image localhost/bot-arena/base of Debian's
                    packages, where no registry can be reached
  release [--arch ARCH]
                    Pack the static programs into an archive, and with the
                    Python kit into a wheel, with checksums:
                    target/release-archives
  manifests [FOLDER…]
                    Check what deploy/kubernetes gives, or the files *.yaml of
                    folders, as `arena kubernetes render` writes them
  manifests --chart Make the templates of the Helm chart from the Kustomize files
  mistakes          Print what the arena says to mistakes of students in three
                    languages
  soak [STOPS]      Stop tournaments of every shape at random moments, each
                    shape STOPS times (default 20), and compare the tables;
                    ARENA_SOAK_SEED sets the seed
  soak fuzz [HOURS | --minutes N]
                    Run cargo-fuzz on every target of fuzz/, for so long in all
                    (default 1 hour)
  soak kills [KILLS]
                    Kill arena, workers, bots and PostgreSQL at random moments,
                    so many times (default 1000): the table stays the same
  soak kubernetes [--seeds N] [--from N]
                    Play N small tournaments and N of 19,900 pairings (default
                    1000) on simulated clusters that fail, from this seed on
                    (default 0), and compare the tables
  soak limits [GAMES]
                    Let each of the strongest built-in bots play so many games
                    (default 400) with 50 ms a move, and a twentieth as many
                    with 3 s, while other programs want every core
  soak load [MOVES] Play 256 games at once on cores that are all taken, so many
                    moves (default 1000000); no bot may lose on time
  soak networks     Play with workers in network namespaces whose lines are
                    cut, slow and lossy; needs root, iproute2, /dev/net/tun
  soak simulate [SEEDS]
                    Play so many simulated tournaments (default 100000) of an
                    arena and its workers over a network that fails, each as
                    its seed decides, and compare the tables
  strength [--budget TIME] [--only TEXT]
                    Play the built-in bots against each other for so long
                    (default 2h), go on where it was stopped, and write
                    docs/strength.md; --only plays the experiments whose title
                    has this text and prints their tables
  help              Print this

actionlint, cargo-deny, buf, kubectl, Helm, promtool and the Python packages that check
statistics and manifests are installed into target/tools when they are first
needed; the kits of other languages are built below target/languages, what
images hold below target/images, and manifests are rendered into
target/manifests.

Exit status: 0 when all is well, 1 when something failed, 2 when the command
line can't be understood.
";

/// The command line did not make sense; apart from 1, which says that a check
/// or a test failed.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if args == ["help"] || args.iter().any(|arg| matches!(*arg, "-h" | "--help")) {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let outcome = match args.as_slice() {
        ["test"] => test::run(test::Lint::First),
        ["test", "--quick"] => test::quick(),
        ["test", "--no-lint"] => test::run(test::Lint::Skip),
        ["lint"] => lint::run(),
        ["images", words @ ..] => images::run(words),
        ["release", words @ ..] => images::release(words),
        ["manifests"] => manifests::test(),
        ["manifests", "--chart"] => manifests::chart(),
        ["manifests", folders @ ..] if folders.iter().all(|word| !word.starts_with('-')) => {
            manifests::check(folders)
        }
        ["mistakes"] => mistakes::run(),
        ["bench"] => bench::run(None),
        ["soak"] => soak::run("20"),
        ["soak", stops] if stops.parse::<u32>().is_ok() => soak::run(stops),
        ["soak", "kills"] => soak::kills("1000"),
        ["soak", "kills", kills] if kills.parse::<u32>().is_ok() => soak::kills(kills),
        ["soak", "kubernetes", options @ ..] if soak::seeds(options).is_some() => {
            let (seeds, first) = soak::seeds(options).unwrap_or_default();
            soak::kubernetes(seeds, first)
        }
        ["soak", "networks"] => soak::networks(),
        ["soak", "simulate"] => soak::simulate("100000"),
        ["soak", "simulate", seeds] if seeds.parse::<u64>().is_ok() => soak::simulate(seeds),
        ["soak", "limits"] => soak::limits("400"),
        ["soak", "limits", games] if games.parse::<u32>().is_ok() => soak::limits(games),
        ["soak", "load"] => soak::load("1000000"),
        ["soak", "load", moves] if moves.parse::<u64>().is_ok() => soak::load(moves),
        ["soak", "fuzz"] => soak::fuzz(minutes(60)),
        ["soak", "fuzz", hours] if hours.parse::<u32>().is_ok() => {
            soak::fuzz(minutes(60 * hours.parse().unwrap_or(1)))
        }
        ["soak", "fuzz", "--minutes", some] if some.parse::<u32>().is_ok() => {
            soak::fuzz(minutes(some.parse().unwrap_or(1)))
        }
        ["strength"] => strength::run("2h", None),
        ["strength", "--budget", budget] => strength::run(budget, None),
        ["strength", "--only", only] => strength::run("2h", Some(only)),
        ["strength", "--budget", budget, "--only", only] => strength::run(budget, Some(only)),
        ["bench", name] if !name.starts_with('-') => bench::run(Some(name)),
        [] => {
            eprint!("{HELP}");
            return ExitCode::from(USAGE);
        }
        _ => {
            eprintln!(
                "xtask: expected one of the verbs below, got `{}`\n\n{HELP}",
                args.join(" ")
            );
            return ExitCode::from(USAGE);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error}");
            ExitCode::FAILURE
        }
    }
}

const fn minutes(minutes: u32) -> Duration {
    Duration::from_secs(60 * minutes as u64)
}
