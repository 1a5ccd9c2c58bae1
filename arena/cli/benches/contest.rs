//! The last hour of a contest, for some minutes: 300 people who have their own entries open, look at
//! the board and at their entries, and hand in a bot every 1.2 s in all, with an organiser who has all
//! entries open. The arena, the bots and the people have the cores of one machine; the store has some
//! 2,000 judged entries with their games before it begins.
//!
//! The argument is the number of minutes, as in `cargo bench --profile dist -p arena --bench contest
//! -- 20`; without it there are three.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "contest/before.rs"]
mod before;
#[path = "common/client.rs"]
mod client;
#[path = "contest/outcome.rs"]
mod outcome;
#[path = "contest/people.rs"]
mod people;
#[path = "common/site.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest of it")]
mod site;

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use arena_store::Store;
use tokio::signal::unix::{SignalKind, signal};

use self::{
    people::{Answers, Crowd},
    site::{Serving, Site},
};

/// Number of contestants.
const PEOPLE: usize = 300;
/// Number of entries that are judged before it begins.
const BEFORE: u64 = 2_000;
/// Time between two entries of all together: 3,000 an hour.
const APART: Duration = Duration::from_millis(1_200);
/// Time between two looks of one person.
const LOOKS: Duration = Duration::from_secs(10);
const MINUTES: u64 = 3;
const SERVE: &str = "--contest --page 127.0.0.1:0 --page-proxy 127.0.0.1/32";

const CONTEST: &str = r#"
game = "connect-four"
opens = 2020-01-01T00:00:00
closes = 2120-01-01T00:00:00
[limits]
counted = 1000
all = 1000
apart = "0s"
"#;

/// A bot in Python, which speaks lines of JSON.
const LINES: &str = include_str!("../../../bots/adapters/lines/samples/random_bot.py");
/// A bot in C++.
const STRATEGY: &str = include_str!("../../../bots/adapters/strategy/examples/careful.cpp");

/// The source file of the entry whose turn it is, and its name: in Python and in C++ by turns. None is
/// the same as another.
fn bot(number: u64) -> (&'static str, String) {
    match number % 2 {
        0 => ("bot.py", format!("{LINES}# {number}\n")),
        _ => ("Strategy.cpp", format!("{STRATEGY}// {number}\n")),
    }
}

fn main() {
    site::allow_many_files();
    let minutes = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let length = Duration::from_secs(60 * minutes.unwrap_or(MINUTES));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut asked_to_end = signal(SignalKind::terminate()).expect("a signal");
        // What is dropped ends the arena.
        tokio::select! {
            () = measure(length) => {}
            _ = asked_to_end.recv() => println!("it was asked to end"),
        }
    });
}

/// A contest with its people, and no entry.
fn create(site: &Site) {
    fs::write(site.path("bench.toml"), CONTEST).expect("a file");
    let people = (1..=PEOPLE).map(|number| format!("Person {number},{number},contestant\n"));
    let list: String = ["name,id,role\n".to_owned()]
        .into_iter()
        .chain(people)
        .chain(["Organiser,0,organiser\n".to_owned()])
        .collect();
    fs::write(site.path("class.csv"), list).expect("a file");
    site.run("contest create bench.toml");
    site.run("contest people add bench class.csv --tokens tokens.csv");
}

/// The tokens of all, in the order of their numbers.
fn tokens(site: &Site) -> Vec<String> {
    let list = fs::read_to_string(site.path("tokens.csv")).expect("a list");
    let cells = list.lines().skip(1).map(|line| line.rsplit(',').next());
    cells.flatten().map(str::to_owned).collect()
}

async fn measure(length: Duration) {
    let site = Site::new(None);
    create(&site);
    let file = site.path("arena.sqlite").display().to_string();
    let store = Store::open(&file).await.expect("the store");
    let contest = store.contest("bench").await.expect("the store");
    let contest = contest.expect("the contest");
    let began = Instant::now();
    let tokens = tokens(&site);
    before::fill(&site, &store, &contest, &tokens[0]).await;
    println!(
        "before   {BEFORE} judged entries of {PEOPLE} people, made in {:.0} s",
        began.elapsed().as_secs_f64()
    );

    let load = load();
    let serving = site.serve(SERVE);
    let crowd = Crowd::log_in(serving.page(), &tokens).await;
    let cpu = Cpu::of(&serving);
    let began = Instant::now();
    crowd.take_part(length).await;
    let took = began.elapsed();
    let entries = store.entries(contest.id).await.expect("the store");
    let used = Cpu::of(&serving);
    println!(
        "load     {load} before, {} after; {:.0} s",
        self::load(),
        took.as_secs_f64()
    );
    for one in crowd.answers.all() {
        one.print();
    }
    used.print(&cpu, took);
    println!("memory   {:.0} MiB", serving.memory() as f64 / 1024.0);
    drop(serving);
    outcome::print(&store, &contest, &entries).await;
}

/// The load of the machine, as the kernel says it.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = text.split(' ').take(3).collect();
    words.join(" ")
}

/// CPU time of the arena.
struct Cpu {
    own: Duration,
    children: Duration,
    threads: BTreeMap<String, Duration>,
}

impl Cpu {
    fn of(serving: &Serving) -> Self {
        Self {
            own: serving.cpu(),
            children: serving.cpu_of_children(),
            threads: serving.cpu_by_threads(),
        }
    }

    fn print(&self, before: &Self, took: Duration) {
        let share = |now: Duration, before: Duration| {
            100.0 * now.saturating_sub(before).as_secs_f64() / took.as_secs_f64()
        };
        println!(
            "cpu      the arena {:.0} % of a core, builds and bots that have ended {:.0} %",
            share(self.own, before.own),
            share(self.children, before.children)
        );
        let threads = self.threads.iter().map(|(name, now)| {
            let before = before.threads.get(name).copied().unwrap_or_default();
            (share(*now, before), name)
        });
        let mut threads: Vec<_> = threads.filter(|(share, _)| *share >= 1.0).collect();
        threads.sort_by(|one, other| other.0.total_cmp(&one.0));
        let told = threads
            .iter()
            .map(|(share, name)| format!("{name} {share:.0} %"));
        println!("threads  {}", told.collect::<Vec<_>>().join(", "));
    }
}

impl Answers {
    fn print(&self) {
        let took = self.took.lock();
        let errors = self.errors.lock();
        let at = |share| client::quantile(&took, share);
        print!(
            "answers  {}: {}, p50 {:.1} ms, p99 {:.1} ms, largest {:.1} ms; errors: {}",
            self.kind,
            took.len(),
            at(0.5),
            at(0.99),
            at(1.0),
            errors.len()
        );
        match errors.first() {
            Some(first) => println!(", the first: {first}"),
            None => println!(),
        }
    }
}
