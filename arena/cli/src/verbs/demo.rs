//! `arena demo`: the first minute.

use std::path::Path;

use arena_ladder::Seatings;
use clap::Args;
use referee_games::GAMES;

use super::r#match::Terms;
use crate::{
    End,
    entry::Entry,
    report,
    run::{Pairing, RunEnd},
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

impl Demo {
    /// Plays it and says what to do next.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let mut end = End::Done;
        let mut shown = None;
        for kind in GAMES {
            let info = kind.info();
            let entries = Entry::read_all(&house_bots::show(info))?;
            let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
            let bots: Vec<usize> = (0..entries.len()).collect();
            let tables = tables(&bots, info.seats.into());
            let pairings: Vec<Pairing> = (0..)
                .zip(&tables)
                .flat_map(|(number, table)| {
                    let first = number * self.rounds;
                    Pairing::rounds(table, Seatings::Rotations, first, self.rounds)
                })
                .collect();
            report::heading(info.title)?;
            report::text(&format!(
                "{} bots, {} of {} from every seating: {} games\n\n",
                entries.len(),
                plural(self.rounds as u32, "deal"),
                match &tables[..] {
                    [_] => "the one table".to_owned(),
                    tables => format!("each of {} pairs", tables.len()),
                },
                pairings.len()
            ))?;
            let outcome = Terms::standard()
                .play("demo", *kind, &entries, &pairings, |_| Ok(()))
                .await?;
            report::table(&outcome.tally, &names)?;
            let closed = outcome.close(&names)?;
            if closed == End::Done {
                shown = outcome.games.into_iter().find_map(|game| game.record);
            } else {
                end = closed;
            }
            if outcome.end == RunEnd::Stopped {
                return Ok(end);
            }
        }
        if let Some(record) = shown {
            next_steps(&record)?;
        }
        Ok(end)
    }
}

/// Every choice of as many bots as there are seats.
fn tables(bots: &[usize], seats: usize) -> Vec<Vec<usize>> {
    if seats == 0 {
        return vec![Vec::new()];
    }
    (0..bots.len())
        .flat_map(|first| {
            let others = tables(&bots[first + 1..], seats - 1);
            others.into_iter().map(move |mut others| {
                others.insert(0, bots[first]);
                others
            })
        })
        .collect()
}

fn next_steps(record: &Path) -> anyhow::Result<()> {
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
