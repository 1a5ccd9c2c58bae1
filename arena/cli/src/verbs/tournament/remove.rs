//! `arena tournament remove`: takes a tournament out of the store.

use std::io::{self, IsTerminal as _, Write as _};

use arena_store::StoreError;
use arena_terminal::StoreAt;
use clap::Args;

use crate::{End, report, usage, verbs::archives};

#[derive(Args)]
pub(crate) struct Remove {
    /// Its name.
    name: String,
    /// Remove it without asking.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreAt,
}

impl Remove {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        if !self.yes && !confirmed(&tournament.name)? {
            return usage(format!(
                "{} was not removed: --yes removes it with its results and records",
                tournament.name
            ));
        }
        match store.remove(tournament.id).await {
            Err(StoreError::Claimed { who, .. }) => {
                return usage(format!(
                    "{} is being run by {who}; stop that first",
                    self.name
                ));
            }
            removed => removed?,
        }
        archives::remove_unused(&store).await?;
        store.close().await;
        report::text(&format!("{} is removed\n", tournament.name))?;
        Ok(End::Done)
    }
}

/// Asks at a terminal; elsewhere the answer is no.
fn confirmed(name: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    let question = format!("remove {name} with all its results and records? [y/N] ");
    io::stderr().write_all(question.as_bytes())?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
