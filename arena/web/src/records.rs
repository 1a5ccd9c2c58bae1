//! Records that may be seen: those of deals that are played no more.

use std::sync::Arc;

use referee_core::Record;

use crate::{error::PageError, site::Site};

/// A game's key as addresses have it: `GROUP.SEATING`.
pub(crate) fn read_key(text: &str) -> Result<(u64, u32), PageError> {
    let key = text
        .split_once('.')
        .and_then(|(group, seating)| Some((group.parse().ok()?, seating.parse().ok()?)));
    key.ok_or_else(|| PageError::NotFound(format!("{text}: expected GROUP.SEATING, as in 12.0")))
}

/// The record of a game, where its deal is played no more, fit to be shown.
pub(crate) async fn find(site: &Arc<Site>, name: &str, game: &str) -> Result<Record, PageError> {
    let text = find_text(site, name, game).await?;
    let record =
        Record::parse(&text).map_err(|error| PageError::system("a record can't be read", error))?;
    Ok(record.printable())
}

/// The same as it was written.
pub(crate) async fn find_text(
    site: &Arc<Site>,
    name: &str,
    game: &str,
) -> Result<String, PageError> {
    let (group, seating) = read_key(game)?;
    let tournament = site.store.tournament(name).await?;
    let tournament = tournament
        .ok_or_else(|| PageError::NotFound(format!("there is no tournament \"{name}\"")))?;
    if !tournament.state.is_final() {
        let before = group.checked_sub(1);
        let next = site.store.scores(tournament.id, before, 1).await?;
        let is_whole = next
            .first()
            .is_some_and(|scored| scored.score.number == group);
        if !is_whole {
            return Err(PageError::Forbidden(format!(
                "game {game}: its deal is still to be played from other seats; it can be seen \
                 after that"
            )));
        }
    }
    let text = site.store.record(tournament.id, group, seating).await?;
    text.ok_or_else(|| PageError::NotFound(format!("there is no game {game}")))
}
