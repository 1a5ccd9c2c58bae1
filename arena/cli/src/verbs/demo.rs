//! `arena demo`: the first minute.

use std::path::Path;

use arena_events::run::RunCommand;
use arena_ladder::{ScheduleShape, Seatings};
use arena_terminal::Reporter;
use clap::Args;
use referee_bots::Entry;
use referee_games::GAMES;

use crate::{
    End,
    play::{Settings, describe},
    report::{self, plural},
    show, stop,
};

/// A small tournament of every game between built-in bots, each a process
/// of its own.
#[derive(Args)]
pub(crate) struct Demo {
    /// How many deals each pair of bots plays.
    #[arg(long, alias = "rounds", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    deals: u64,
}

impl Demo {
    /// Plays it and says what to do next.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let mut end = End::Done;
        let mut shown = None;
        let stop = stop::on_signals(None)?;
        for kind in &GAMES {
            let info = kind.info();
            let settings = Settings::defaults(*kind)?;
            let bots = Entry::read_all(&house_bots::show(info), &settings.schemes)?;
            let count = bots.len();
            let shape = ScheduleShape::RoundRobin {};
            let seatings = Seatings::Rotations;
            let plan = settings.plan(bots, shape, self.deals, seatings, None)?;
            let folder = settings.folder("demo")?;
            let folder = folder.as_ref();
            let started = settings.started(RunCommand::Demo, &plan, folder, None)?;
            report::heading(info.title)?;
            let matches = started.planned_groups.unwrap_or(0) / self.deals;
            let games = started.planned_games.unwrap_or(0);
            report::text(&format!(
                "{count} bots, {} of {} from every seating: {games} games\n\n",
                plural(self.deals, "deal"),
                match matches {
                    1 => "one match".to_owned(),
                    many => format!("each of {many} matches"),
                },
            ))?;
            let reporter = Reporter::new(&started.game, None, false, &stop);
            let played = settings.play(plan, folder, false, &stop, reporter).await?;
            describe(folder, &started, Some(played.ended(&settings, folder)))?;
            report::text(&show::standings(&played.snapshot))?;
            match played.close(folder) {
                End::Done => {
                    if let Some(folder) = folder {
                        shown = folder.a_record()?;
                    }
                }
                End::Interrupted => return Ok(End::Interrupted),
                other => end = other,
            }
        }
        if let Some(record) = shown {
            next_steps(&record)?;
        }
        Ok(end)
    }
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
