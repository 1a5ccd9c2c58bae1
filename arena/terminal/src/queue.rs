//! Requests of people to the arena that plays all tournaments of a store.

use arena_store::{Store, Tournament, TournamentState, Wish};
use referee_cli::{End, usage};

use crate::{StoreAt, report};

/// Ends a tournament for good.
///
/// # Errors
///
/// There is no such tournament, it is over or played by a run of its own, or the store fails.
pub async fn cancel(store: &StoreAt, name: &str) -> anyhow::Result<End> {
    let (store, tournament) = store.find(name).await?;
    wish(&store, &tournament, Wish::Cancel).await?;
    // Where nobody plays it, nobody else does it.
    if !store.is_claimed(tournament.id).await? {
        let now = arena_tournament::unix_ms(std::time::SystemTime::now());
        let cancelled = TournamentState::Cancelled;
        store.set_state(tournament.id, cancelled, now).await?;
    }
    report::line(&format!(
        "{name} is cancelled; its results stay, and its root is public"
    ))?;
    store.close().await;
    Ok(End::Done)
}

/// Tells the arena that plays a tournament what is wanted of it.
///
/// # Errors
///
/// It is over or played by a run of its own, or the store fails.
pub async fn wish(store: &Store, tournament: &Tournament, wish: Wish) -> anyhow::Result<()> {
    if tournament.state.is_final() {
        return usage(format!(
            "{} is {} already",
            tournament.name,
            tournament.state.word()
        ));
    }
    if tournament.wish.is_none() && store.is_claimed(tournament.id).await? {
        return usage(format!(
            "{} is being played by `arena tournament run` or `resume`; stop that with Ctrl-C",
            tournament.name
        ));
    }
    Ok(store.set_wish(tournament.id, Some(wish)).await?)
}
