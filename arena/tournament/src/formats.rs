//! The games of a tournament in the formats of other programs.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::Write,
    time::{Duration, UNIX_EPOCH},
};

use arena_store::{GameFilter, Store, Tournament};
use referee_core::{Occasion, Record};
use referee_games::{NotWritten, write_game};

use crate::TournamentError;

/// So many games are read with one question to the store.
const PAGE: u32 = 1000;

/// What an export has of a tournament, and what it does not have, since the format can't say
/// something of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportedGames {
    /// Number of games that were written.
    pub written: u64,
    /// Number of games that were left out.
    pub left_out: u64,
    /// The first game that was left out, by its name in the tournament, and why.
    pub first_left_out: Option<(String, NotWritten)>,
}

/// Writes every game in the format of this name. Deals that have seatings to come are left out.
///
/// # Errors
///
/// The store fails, a record can't be read, or `out` can't be written.
pub async fn export_games(
    store: &Store,
    tournament: &Tournament,
    format: &str,
    out: &mut impl Write,
) -> Result<ExportedGames, TournamentError> {
    let incomplete = match tournament.state {
        state if state.is_final() => BTreeMap::new(),
        _ => store.incomplete_groups(tournament.id).await?,
    };
    let mut exported = ExportedGames::default();
    let mut filter = GameFilter::default();
    loop {
        let page = store.games(tournament.id, &filter, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(exported);
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
            let occasion = occasion(Some(&tournament.name), Some(game.finished_unix_ms));
            match write_game(format, &record, &occasion) {
                Ok(text) => {
                    out.write_all(text.as_bytes())?;
                    exported.written += 1;
                }
                Err(error) => {
                    exported.left_out += 1;
                    let name = format!("{}.{}", game.group, game.seating);
                    exported.first_left_out.get_or_insert((name, error));
                }
            }
        }
    }
}

/// Of what a game was a part, and when it was played, in milliseconds since 1970.
#[must_use]
pub fn occasion(event: Option<&str>, unix_ms: Option<i64>) -> Occasion {
    let time = unix_ms.and_then(|ms| u64::try_from(ms).ok());
    let time = time.and_then(|ms| UNIX_EPOCH.checked_add(Duration::from_millis(ms)));
    let time = time.and_then(|time| {
        let mut text = String::new();
        // It writes no year of five digits.
        write!(text, "{}", humantime::format_rfc3339_seconds(time)).ok()?;
        Some(text)
    });
    let event = event.map(str::to_owned);
    Occasion { event, time }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_where_it_is_one() {
        let time = |unix_ms| occasion(None, Some(unix_ms)).time;
        assert_eq!(time(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        let of_2026 = time(1_767_225_600_999);
        assert_eq!(of_2026.as_deref(), Some("2026-01-01T00:00:00Z"));
        for other in [-1, i64::MAX, i64::MIN, 253_402_300_800_000] {
            assert_eq!(time(other), None, "{other}");
        }
    }
}
