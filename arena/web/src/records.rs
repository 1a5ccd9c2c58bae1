//! Records that may be seen: those of deals that are played no more.

use std::sync::Arc;

use referee_core::Record;

use crate::{error::PageError, site::Site};

/// A game's key as addresses have it: `GROUP.SEATING`, in digits. A store counts groups up to
/// `i64::MAX`, so there is no game of a larger number.
pub(crate) fn read_key(text: &str) -> Result<(u64, u32), PageError> {
    let number = |digits: &str| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i64>().ok()).flatten()
    };
    let key = text.split_once('.').and_then(|(group, seating)| {
        let group = u64::try_from(number(group)?).ok()?;
        Some((group, u32::try_from(number(seating)?).ok()?))
    });
    key.ok_or_else(|| {
        let text = referee_core::shorten(text, 60);
        PageError::NotFound(format!("{text}: expected GROUP.SEATING, as in 12.0"))
    })
}

/// The record of a game, where its deal is played no more, fit to be shown.
pub(crate) async fn find(site: &Arc<Site>, name: &str, game: &str) -> Result<Record, PageError> {
    read(&find_text(site, name, game).await?)
}

/// A record of the store, fit to be shown.
pub(crate) fn read(text: &str) -> Result<Record, PageError> {
    let record = Record::parse(text);
    let record = record.map_err(|error| PageError::system("a record can't be read", error))?;
    Ok(record.printable())
}

/// The same as it was written.
pub(crate) async fn find_text(
    site: &Arc<Site>,
    name: &str,
    game: &str,
) -> Result<String, PageError> {
    let (group, seating) = read_key(game)?;
    let tournament = site.store.listed_tournament(name).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_no_store_can_hold_is_not_found() {
        assert_eq!(read_key("12.0").ok(), Some((12, 0)));
        let last = format!("{}.{}", i64::MAX, u32::MAX);
        assert_eq!(read_key(&last).ok(), Some((i64::MAX as u64, u32::MAX)));
        for none in [
            "18446744073709551615.0",
            "18446744073709551616.0",
            "9223372036854775808.0",
            "0.4294967296",
            "+1.0",
            "1.+0",
            "-1.0",
            "1",
            "1.",
            ".",
            "",
            "1.0.0",
        ] {
            assert!(
                matches!(read_key(none), Err(PageError::NotFound(_))),
                "{none}"
            );
        }
    }
}
