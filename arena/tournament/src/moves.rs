//! The moves of a tournament's games, in the notation that is usual for the game.

use std::{collections::BTreeMap, io::Write};

use arena_store::{GameFilter, Store, Tournament};
use referee_core::Record;
use referee_worker::moves;

use crate::{TournamentError, find_game};

/// So many games are read with one question to the store.
const PAGE: u32 = 1000;

/// Writes the moves of every game, one game a line, under a line that begins with `#`
/// and says which game it is. Deals that have seatings to come are left out.
///
/// # Errors
///
/// The store fails, a record can't be read, or `out` can't be written.
pub async fn export_moves(
    store: &Store,
    tournament: &Tournament,
    out: &mut impl Write,
) -> Result<(), TournamentError> {
    let kind = find_game(&tournament.game)?;
    let incomplete = match tournament.state {
        state if state.is_final() => BTreeMap::new(),
        _ => store.incomplete_groups(tournament.id).await?,
    };
    let mut filter = GameFilter::default();
    loop {
        let page = store.games(tournament.id, &filter, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        filter.after = Some((last.group, last.seating));
        for game in page {
            if incomplete.contains_key(&game.group) {
                continue;
            }
            let record = store.record(tournament.id, game.group, game.seating);
            let Some(record) = record.await? else {
                continue;
            };
            let record = Record::parse(&record)?.printable();
            let header = &record.header;
            let notations: Vec<&str> = moves(&record).map(|(_, notation, _)| notation).collect();
            let transcript = kind.transcript((&header.setup, &header.seed), &notations)?;
            writeln!(
                out,
                "# {}: {}, {}\n{transcript}",
                header.game_id,
                header.players.as_slice().join(" - "),
                game.reason
            )?;
        }
    }
}
