//! `arena watch`: follows a tournament in the terminal, whoever plays it.

use std::{io::IsTerminal as _, time::Duration};

use arena_terminal::{Format, StoreAt};
use arena_tournament::parse_limit;
use clap::Args;
use referee_worker::Stop;
use tokio::time::{Instant, sleep};

use super::status::Shown;
use crate::{End, report, stop};

/// Standings are computed for at most this share of the time.
const SHARE: u32 = 10;

#[derive(Args)]
pub(crate) struct Watch {
    /// The tournament's name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
    /// How often it is looked at.
    #[arg(long, default_value = "1s", value_parser = parse_limit)]
    every: Duration,
    /// What goes to standard output: a table that is drawn again, or with json the standings as an
    /// event each time.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Watch {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let (store, mut tournament) = self.store.find(&self.name).await?;
        let stop: Stop = stop::on_signals(None)?;
        let draws = self.format == Format::Text && std::io::stdout().is_terminal();
        let mut before = None;
        loop {
            let began = Instant::now();
            let shown = Shown::of(&store, tournament).await?;
            let now = shown.in_a_line();
            if before.as_ref() != Some(&now) {
                if self.format == Format::Json {
                    shown.show(Format::Json)?;
                } else if draws {
                    // From the top of a cleared screen.
                    report::text("\x1b[H\x1b[2J")?;
                    shown.introduce()?;
                    shown.show(Format::Text)?;
                    report::text("\nCtrl-C leaves; the tournament goes on\n")?;
                } else {
                    report::line(&now)?;
                }
                before = Some(now);
            }
            if shown.tournament.state.is_final() {
                store.close().await;
                return Ok(shown.exit_code());
            }
            let pause = self.every.max(began.elapsed() * SHARE);
            tokio::select! {
                () = stop.finishing() => return Ok(End::Interrupted),
                () = sleep(pause) => {}
            }
            match store.tournament(&self.name).await? {
                Some(again) => tournament = again,
                None => {
                    report::warning(&format!("{}: it was removed from the store", self.name));
                    return Ok(End::No);
                }
            }
        }
    }
}
