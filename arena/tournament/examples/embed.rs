//! A program that plays a tournament through the libraries: its bots are started and
//! watched over, its results stay in memory, its events are printed, one line each.
//!
//! ```text
//! cargo build --release -p house-bots --bin bot
//! cargo run --release -p arena-tournament --example embed -- target/release/bot
//! ```

#![allow(clippy::print_stdout, reason = "a program")]

use std::{env, error::Error, path::absolute, process::Command, sync::Arc};

use arena_events::{Event, Line};
use arena_tournament::{
    Context, MemoryResults, Observer, Planned, RunEvent, RunOptions, Snapshot, events, run,
    secret_root,
};
use referee_bots::{LaunchOptions, Schemes};
use referee_worker::Stop;

/// Prints events as programs read them.
struct Printer;

impl Observer for Printer {
    fn event(&self, event: RunEvent<'_>) {
        let event = match event {
            RunEvent::Game(game) => events::game(game, None),
            RunEvent::FirstFoul(foul) => events::first_foul(&foul, None),
            RunEvent::SetAside { bot, set_aside } => {
                Event::BotSetAside(events::set_aside(bot, set_aside))
            }
            _ => return,
        };
        println!("{}", Line::from(event));
    }
}

/// The definition of a tournament, as in a file for `arena tournament run`. `exec` is the SPEC of a
/// bot without its name.
fn tournament(exec: &str) -> String {
    format!(
        r#"
        game = "connect-four"
        shape = "round-robin"
        deals = 5
        filler = "{exec} random"
        bots = [
            {{ name = "random", bot = "{exec} random" }},
            {{ name = "ladder", bot = "{exec} ladder" }},
            {{ name = "uct", bot = "{exec} uct?playouts=500" }},
        ]
        "#
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let argument = env::args().nth(1).ok_or("expected the program `bot`")?;
    if argument == "supervise" {
        // This process kills the bots if the other one ends without doing so.
        referee::supervise();
        return Ok(());
    }
    let mut supervisor = Command::new(env::current_exe()?);
    supervisor.arg("supervise");
    let exec = format!("exec:'{}'", absolute(argument)?.display());
    let schemes = Schemes::with(Vec::new());
    let context = Context {
        schemes: &schemes,
        directory: &env::current_dir()?,
        store: None,
        on: None,
    };
    let planned = Planned::parse(&tournament(&exec), "embedded".to_owned(), context).await?;
    let plan = Arc::new(planned.plan(secret_root()?, &schemes)?);
    let options = RunOptions::new(LaunchOptions::new(supervisor));
    let results = MemoryResults::new();
    let (stop, printer) = (Stop::default(), Arc::new(Printer));
    run(plan.clone(), results.clone(), options, stop, printer).await?;
    let snapshot = Snapshot::of_plan(&results, &plan).await?;
    println!("{}", Line::from(snapshot.standings_event(None, Vec::new())));
    Ok(())
}
