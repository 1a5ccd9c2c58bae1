//! `arena tournament verify`: proves a tournament from its records and its root.

use arena_events::{Event, tournament::VerifiedEvent};
use arena_terminal::{Format, StoreAt};
use arena_tournament::{events, verify};
use clap::Args;

use crate::{
    End,
    report::{self, plural},
};

#[derive(Args)]
pub(crate) struct Verify {
    /// Its name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Verify {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        /// So many faults are told.
        const TOLD: usize = 20;
        let (store, tournament) = self.store.find(&self.name).await?;
        let found = verify(&store, &tournament).await?;
        let proved = found.faults.is_empty();
        let over = tournament.state.is_final();
        let (name, games) = (&tournament.name, plural(found.games, "game"));
        if self.format == Format::Json {
            let is_claimed = store.is_claimed(tournament.id).await?;
            report::event(Event::Verified(VerifiedEvent {
                tournament: name.clone(),
                state: events::state(tournament.state, is_claimed, tournament.wish),
                root_commitment: tournament.commitment.clone(),
                proved,
                games: found.games.into(),
                faults: found.faults,
            }))?;
        } else if proved {
            let so_far = if over { "" } else { " so far" };
            let root = &tournament.commitment;
            report::line(&format!(
                "{name}: proved{so_far}, {games} of the root with hash {root}"
            ))?;
        } else {
            let count = found.faults.len();
            let faults = plural(count as u64, "fault");
            report::line(&format!("{name}: NOT PROVED, {faults} in {games}"))?;
            for fault in found.faults.iter().take(TOLD) {
                let place = match (fault.group, fault.seating) {
                    (Some(group), Some(seating)) => format!("group {group}, seating {seating}: "),
                    (Some(group), None) => format!("group {group}: "),
                    (None, _) => String::new(),
                };
                report::line(&format!("  {place}{}", fault.fault))?;
            }
            if count > TOLD {
                report::line(&format!("  and {} more", count - TOLD))?;
            }
        }
        Ok(if proved { End::Done } else { End::No })
    }
}
