//! A bot that was set aside takes part again.

use arena_ladder::Entrant;
use arena_store::{Store, Tournament};
use referee_core::Root;

use crate::{Definition, Results as _, Snapshot, StoredResults, TournamentError, error::invalid};

/// Lets a bot that was set aside take part again. The deals that it has failed stay lost and are
/// not held against it; its games count again, and those that were not played are. Nobody may play
/// the tournament meanwhile. Gives the number of these deals.
///
/// # Errors
///
/// There is no such bot, or it is not set aside; the tournament is over, so that its deals are
/// known; its pairings follow from results; the store fails.
pub async fn readmit(
    store: &Store,
    tournament: &Tournament,
    bot: &str,
) -> Result<u64, TournamentError> {
    let name = &tournament.name;
    if tournament.state.is_final() {
        return invalid(format!(
            "{name} is {}: its root is public, so that its deals are known; run another tournament",
            tournament.state.word()
        ));
    }
    let mut names = tournament.entrants.iter().map(|entrant| &*entrant.name);
    let Some(entrant) = names.position(|known| known == bot) else {
        let known: Vec<_> = names_of(tournament).collect();
        return invalid(format!(
            "{name} has no bot \"{bot}\"; there are {}{}",
            known.join(", "),
            crate::hint(bot, &known)
        ));
    };
    let entrant = Entrant::new(entrant as u32);
    let mut definition = Definition::of(tournament)?;
    let results = StoredResults::of(store, tournament.id);
    let names = names_of(tournament).map(str::to_owned).collect();
    let root: Option<&Root> = tournament.root.as_ref();
    let snapshot = Snapshot::of(&results, &definition, names, root).await?;
    if !snapshot
        .set_aside
        .iter()
        .any(|aside| aside.entrant == entrant)
    {
        return invalid(format!(
            "{bot} is not set aside in {name}: nothing was changed"
        ));
    }
    let scores = results.scores().await?;
    let failed = scores.values().filter(|group| {
        let mut own = group.faults().filter(|(who, _)| *who == entrant);
        own.any(|(_, faults)| faults.lose_all(group.score.games))
    });
    let failed = failed.count() as u64;
    definition.readmitted.insert(entrant, failed);
    // A shape whose pairings follow from results refuses it.
    definition.schedule(tournament.entrants.len(), [0; 32])?;
    let definition = serde_json::to_value(&definition).expect("a definition is JSON");
    store.set_definition(tournament.id, &definition).await?;
    Ok(failed)
}

fn names_of(tournament: &Tournament) -> impl Iterator<Item = &str> {
    tournament.entrants.iter().map(|entrant| &*entrant.name)
}
