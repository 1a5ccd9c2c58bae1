//! `arena watch`: follows a tournament in the terminal, whoever plays it.

use std::time::Duration;

use arena_screen::Pager;
use arena_terminal::{Format, StoreAt};
use arena_tournament::parse_limit;
use clap::Args;
use referee_cli::stop::EndSignals;
use tokio::time::{Instant, sleep};

use super::status::Shown;
use crate::{End, report, show};

/// Standings are computed for at most this share of the time.
const SHARE: u32 = 10;

/// On a terminal it takes the full screen, with the standings first: keys scroll, `q` leaves, and the
/// tournament goes on. Elsewhere it prints a line each time that something has changed.
#[derive(Args)]
pub(crate) struct Watch {
    /// The tournament's name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
    /// How often it is looked at.
    #[arg(long, default_value = "1s", value_parser = parse_limit)]
    every: Duration,
    /// What goes to standard output: text, or with json the standings as an event each time.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Where it is shown, and how somebody leaves.
enum Watched {
    Lines(EndSignals),
    Screen(Box<Pager>),
}

impl Watched {
    /// Waits until somebody leaves.
    async fn left(&mut self) -> anyhow::Result<End> {
        match self {
            Self::Lines(signals) => {
                signals.next().await;
                Ok(End::Interrupted)
            }
            Self::Screen(pager) => pager.left().await,
        }
    }
}

impl Watch {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let (store, mut tournament) = self.store.find(&self.name).await?;
        let mut watched = match self.format == Format::Text && Pager::is_there() {
            true => Watched::Screen(Box::new(Pager::open()?)),
            false => Watched::Lines(EndSignals::listen()?),
        };
        let mut before = None;
        loop {
            let began = Instant::now();
            let shown = Shown::of(&store, tournament).await?;
            let now = shown.in_a_line();
            if before.as_ref() != Some(&now) {
                match &mut watched {
                    Watched::Screen(pager) => {
                        pager.show(&(shown.introduction() + &show::standings(&shown.snapshot)));
                    }
                    Watched::Lines(_) if self.format == Format::Json => shown.show(Format::Json)?,
                    Watched::Lines(_) => report::line(&now)?,
                }
                before = Some(now);
            }
            let is_over = shown.tournament.state.is_final();
            let left = match (is_over, &mut watched) {
                (true, Watched::Lines(_)) => Some(End::Done),
                // The last standings are read as long as somebody likes.
                (true, watched) => Some(watched.left().await?),
                (false, watched) => {
                    let pause = self.every.max(began.elapsed() * SHARE);
                    tokio::select! {
                        left = watched.left() => Some(left?),
                        () = sleep(pause) => None,
                    }
                }
            };
            if let Some(left) = left {
                if let Watched::Screen(pager) = watched {
                    // Behind it there is the terminal as it was before.
                    drop(pager);
                    report::line(&shown.in_a_line())?;
                }
                store.close().await;
                return Ok(match is_over && left == End::Done {
                    true => shown.exit_code(),
                    false => left,
                });
            }
            match store.tournament(&self.name).await? {
                Some(again) => tournament = again,
                None => {
                    drop(watched);
                    report::warning(&format!("{}: it was removed from the store", self.name));
                    return Ok(End::No);
                }
            }
        }
    }
}
