//! A check that the bots of a tournament are still those that entered it.

use arena_store::Tournament;

use crate::Plan;

/// A bot that is no longer the one that entered: its files have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedBot {
    /// Its name.
    pub name: String,
    /// Its identity when the tournament was made.
    pub was: String,
    /// Its identity now; none where its file is gone or can't be read.
    pub now: Option<String>,
}

/// The bots of a tournament that are others now than when it was made. Games that they play are
/// faults where the tournament is verified.
#[must_use]
pub fn changed_bots(tournament: &Tournament, plan: &Plan) -> Vec<ChangedBot> {
    let bots = tournament.entrants.iter().zip(&plan.bots);
    bots.filter_map(|(entrant, bot)| {
        let was = entrant.identity.clone()?;
        let directory = &plan.definition.directory;
        let now = bot.entry.launcher().identity(directory).ok().flatten();
        (now.as_ref() != Some(&was)).then(|| ChangedBot {
            name: entrant.name.clone(),
            was,
            now,
        })
    })
    .collect()
}
