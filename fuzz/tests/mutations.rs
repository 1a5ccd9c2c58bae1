//! Runs every target on its corpus and on mutations of it, each in a process of its own, side by
//! side. The same inputs every time; their number is in the list of targets. An input that a
//! target does not stand is written to `target/fuzz-found`; it belongs into the corpus.
//!
//! `cargo test -p fuzz-targets -- target NAME TRIES SEED` tries other inputs of one target.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test"
)]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    env, fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::Arc,
    time::{Duration, Instant},
};

use fuzz_targets::{Mutator, TARGETS, Target};
use parking_lot::Mutex;

/// No target may take more memory than this for its inputs, which have 64 KiB at most.
const MEMORY: u64 = 64 << 20;
/// No input takes nearly as long; it only shows a hang.
const HANGS: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["target", name, rest @ ..] => {
            let target = TARGETS.iter().find(|target| target.name == *name).unwrap();
            let number = |at: usize| rest.get(at).map(|word: &&str| word.parse().unwrap());
            let tries = number(0).unwrap_or(u64::from(target.tries));
            try_all(target, tries, number(1).unwrap_or(1));
            ExitCode::SUCCESS
        }
        words if words.contains(&"--list") => {
            println!("every_target_stands_mutations_of_its_corpus: test");
            ExitCode::SUCCESS
        }
        _ => every_target_stands_mutations_of_its_corpus(),
    }
}

fn every_target_stands_mutations_of_its_corpus() -> ExitCode {
    let children = TARGETS.iter().map(|target| {
        let mut command = Command::new(env::current_exe().unwrap());
        (
            target,
            command.args(["target", target.name]).spawn().unwrap(),
        )
    });
    let children: Vec<_> = children.collect();
    let failed = children.into_iter().filter_map(|(target, mut child)| {
        let ended = child.wait().unwrap();
        (!ended.success()).then_some(target.name)
    });
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        println!("every_target_stands_mutations_of_its_corpus ... ok");
        return ExitCode::SUCCESS;
    }
    println!("failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// The input that is being tried, and the time since when.
type Current = Arc<Mutex<(Instant, Vec<u8>)>>;

fn try_all(target: &Target, tries: u64, seed: u64) {
    let began = Instant::now();
    let corpus = corpus(target);
    let current: Current = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    watch(target, &current);
    for input in &corpus {
        try_one(target, &current, input);
    }
    let before = peak();
    let mut mutator = Mutator::new(seed);
    for _ in 0..tries {
        let input = mutator.mutate(&corpus);
        try_one(target, &current, &input);
    }
    let more = peak() - before;
    assert!(
        more <= MEMORY,
        "{}: {more} bytes more at the peak",
        target.name
    );
    println!(
        "{}: {} inputs in {:.1} s",
        target.name,
        corpus.len() as u64 + tries,
        began.elapsed().as_secs_f64()
    );
}

fn try_one(target: &Target, current: &Current, input: &[u8]) {
    *current.lock() = (Instant::now(), input.to_vec());
    if catch_unwind(|| (target.run)(input)).is_err() {
        panic!(
            "{} does not stand {}",
            target.name,
            keep(target, input).display()
        );
    }
}

/// Ends this process where an input hangs.
fn watch(target: &Target, current: &Current) {
    let (target, current) = (*target, current.clone());
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let (since, input) = current.lock().clone();
            if since.elapsed() > HANGS {
                eprintln!(
                    "{} hangs on {}",
                    target.name,
                    keep(&target, &input).display()
                );
                std::process::exit(1);
            }
        }
    });
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target.name);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn keep(target: &Target, input: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz-found");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(target.name);
    fs::write(&path, input).unwrap();
    path
}

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = procfs::process::Process::myself()
        .unwrap()
        .status()
        .unwrap();
    status.vmhwm.unwrap() * 1024
}
