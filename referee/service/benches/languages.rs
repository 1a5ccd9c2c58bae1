//! The cost of a question in each language: the same sample bot, written with each kit,
//! plays Connect Four against the same opponent, one game at a time.
//!
//! `cargo xtask bench languages` builds the samples and runs this; BENCH_SAMPLES has a
//! line `NAME=COMMAND` for each, the first of which is what the others are compared
//! with. They take turns, so that the machine is the same for all.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{env, sync::Arc, time::Duration};

use referee::{Bot, Launch, Pool, SeatedGame};
use referee_core::{Event, Limits, PerSeat, Record, Root, Seat};
use referee_games::{Fixture, game};
use tokio::runtime::Handle;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: u64 = 13;
/// Games in a turn; a bot sits in both seats of each deal.
const DEALS: u64 = 20;

struct Sample {
    name: String,
    command: String,
    bot: Arc<Bot>,
    /// The time of each answer, in microseconds.
    thought: Vec<f64>,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(run());
}

async fn run() {
    let lines = env::var("BENCH_SAMPLES")
        .expect("BENCH_SAMPLES names the samples; run `cargo xtask bench languages`");
    let mut samples: Vec<Sample> = lines.lines().map(Sample::read).collect();
    let opponent = launched(&samples[0].command);
    let pool = Pool::new(1).expect("a pool");
    // The first turn warms up.
    for turn in 0..=TURNS {
        for sample in &mut samples {
            let times = sample.play(&opponent, &pool, turn).await;
            if turn > 0 {
                sample.thought.extend(times);
            }
        }
    }
    println!(
        "| a bot in | median, µs | x {} | 99 %, µs | questions |",
        samples[0].name
    );
    println!("| --- | ---: | ---: | ---: | ---: |");
    let first = samples[0].percentile(0.5);
    for sample in &mut samples {
        let (median, most) = (sample.percentile(0.5), sample.percentile(0.99));
        println!(
            "| {} | {median:.0} | **{:.2}** | {most:.0} | {} |",
            sample.name,
            median / first,
            sample.thought.len(),
        );
    }
    for sample in &samples {
        sample.bot.stop().await;
    }
    opponent.stop().await;
}

impl Sample {
    fn read(line: &str) -> Self {
        let (name, command) = line.split_once('=').expect("NAME=COMMAND");
        Self {
            name: name.to_owned(),
            command: command.to_owned(),
            bot: launched(command),
            thought: Vec::new(),
        }
    }

    async fn play(&self, opponent: &Arc<Bot>, pool: &Pool, turn: u64) -> Vec<f64> {
        let mut times = Vec::new();
        for deal in turn * DEALS..(turn + 1) * DEALS {
            for seat in [0, 1] {
                let mut bots = vec![opponent.clone(), opponent.clone()];
                bots[seat] = self.bot.clone();
                let kind = game("connect_four").expect("it is in the list");
                let fixture = Fixture {
                    kind,
                    game_id: format!("deal-{deal}-seat-{seat}"),
                    setup: serde_json::Value::Null,
                    spent: PerSeat::default(),
                    seed: Root::new([1; 32]).seed(kind.info().name, deal),
                    players: PerSeat::new(kind.info().seats, |seat| format!("bot {seat}")),
                    limits: Limits::default(),
                };
                let game = SeatedGame {
                    fixture,
                    bots,
                    watch: None,
                };
                let played = game.play(pool).await.expect("it is played");
                times.extend(thoughts(&played, Seat::new(seat as u8)));
            }
        }
        times
    }

    fn percentile(&mut self, share: f64) -> f64 {
        self.thought.sort_by(f64::total_cmp);
        self.thought[(share * (self.thought.len() - 1) as f64) as usize]
    }
}

fn launched(command: &str) -> Arc<Bot> {
    let words = shlex::split(command).expect("a command as a shell would read it");
    let launch = Launch {
        program: words[0].clone().into(),
        arguments: words[1..].iter().map(Into::into).collect(),
        start_limit: Duration::from_secs(30),
        ..Launch::default()
    };
    Arc::new(Bot::launched(launch, Handle::current()))
}

/// Durations of all answers of this seat but `Ready`; it must have committed no foul.
fn thoughts(record: &Record, of: Seat) -> Vec<f64> {
    let mut times = Vec::new();
    for event in &record.events {
        match event {
            Event::Answered {
                seat,
                number,
                thought,
                ..
            } if *seat == of && *number > 0 => times.push(thought.as_secs_f64() * 1e6),
            Event::Fouled { foul, .. } => panic!("a sample has fouled: {foul}"),
            _ => {}
        }
    }
    times
}
