//! `arena demo`: the first minute.

use clap::Args;
use referee_games::GAMES;

use super::r#match::{Outcome, Terms};
use crate::{
    End,
    entry::Entry,
    report,
    run::{Pairing, RunEnd, Seatings},
    tally::plural,
};

/// A small tournament of every game between bots of the house, each a process
/// of its own.
#[derive(Args)]
pub(crate) struct Demo {
    /// How many deals each pair of bots plays.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
}

/// The bots that show a game, so that everybody can tell them apart.
const BOTS: &[(&str, &[&str])] = &[(
    "connect_four",
    &[
        "strong=house:uct?time=100ms",
        "weak=house:uct?playouts=50",
        "random=house:random",
    ],
)];

impl Demo {
    /// Plays it and says what to do next.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let mut end = End::Done;
        for kind in GAMES {
            let info = kind.info();
            let specs = BOTS
                .iter()
                .find(|(game, _)| *game == info.name)
                .map_or(&[][..], |(_, bots)| bots);
            let specs: Vec<String> = specs.iter().map(|spec| (*spec).to_owned()).collect();
            let entries = Entry::read_all(&specs)?;
            let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
            let mut pairings = Vec::new();
            for first in 0..entries.len() {
                for second in first + 1..entries.len() {
                    let deals = pairings.len() as u64 / 2;
                    pairings.extend(Pairing::rounds(
                        &[first, second],
                        Seatings::Rotations,
                        deals,
                        self.rounds,
                    ));
                }
            }
            report::text(&format!(
                "{}\n{} bots, every pair plays {} from both sides: {} games\n\n",
                info.title,
                entries.len(),
                plural(self.rounds as u32, "deal"),
                pairings.len()
            ))?;
            let outcome = Terms::standard()
                .play("demo", *kind, &entries, &pairings, |_| Ok(()))
                .await?;
            report::table(&outcome.tally, &names)?;
            match outcome.close(&names)? {
                End::Done => next_steps(&outcome)?,
                other => end = other,
            }
            if outcome.end == RunEnd::Stopped {
                break;
            }
        }
        Ok(end)
    }
}

fn next_steps(outcome: &Outcome) -> anyhow::Result<()> {
    let Some(record) = outcome.games.iter().find_map(|game| game.record.as_ref()) else {
        return Ok(());
    };
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "arena".to_owned());
    report::text(&format!(
        "\nEvery game has left a record. See one, prove it, play your own:
  {program} replay show {0}
  {program} replay verify {0}
  {program} match connect-four --bot me=exec:./my_bot --bot house:random\n",
        record.display()
    ))
}
