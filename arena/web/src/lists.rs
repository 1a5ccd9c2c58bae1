//! Lists that people and programs are shown: tournaments with their states, and games of one, page
//! by page.

use arena_events::tournament::TournamentEvent;
use arena_ladder::MatchId;
use arena_store::{GameFilter, GameRow, Store, TournamentSummary};
use arena_tournament::events;
use referee_games::game_name;
use serde::Deserialize;

use crate::{error::PageError, records::read_key, site::Site, standing::TournamentStanding};

/// At most so many are read for a page of one pairing.
const SCANNED: u32 = 2_000;

/// Tournaments with their states, as a list has them.
pub(crate) async fn listed(
    site: &Site,
    tournaments: &[TournamentSummary],
) -> Result<Vec<TournamentEvent>, PageError> {
    let mut items = Vec::new();
    for one in tournaments {
        let is_claimed = site.store.is_claimed(one.id).await?;
        items.push(TournamentEvent {
            tournament: one.name.clone(),
            game: game_name(&one.game),
            state: events::state(one.state, is_claimed, one.wish),
            created_unix_ms: one.created_unix_ms,
            games: one.games,
        });
    }
    Ok(items)
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct GamesQuery {
    /// The last game of the page before.
    pub(crate) after: Option<String>,
    pub(crate) bot: Option<String>,
    pub(crate) against: Option<String>,
    #[serde(rename = "match")]
    pub(crate) matchup: Option<u32>,
    pub(crate) fouls: Option<u8>,
}

/// A page of games.
pub(crate) struct PageOfGames {
    pub(crate) games: Vec<GameRow>,
    /// The key of the game after which the next page begins; none on the last one.
    pub(crate) next: Option<String>,
}

/// Finds a page of games.
pub(crate) async fn find(
    site: &Site,
    standing: &TournamentStanding,
    asked: &GamesQuery,
    most: u32,
) -> Result<PageOfGames, PageError> {
    find_in(&site.store, standing, asked, most).await
}

/// The same in a store.
pub(crate) async fn find_in(
    store: &Store,
    standing: &TournamentStanding,
    asked: &GamesQuery,
    most: u32,
) -> Result<PageOfGames, PageError> {
    let entrants = &standing.tournament.entrants;
    let number = |name: &str| {
        let at = entrants.iter().position(|entrant| entrant.name == name);
        at.map(|at| arena_ladder::Entrant::new(at as u32))
            .ok_or_else(|| PageError::NotFound(format!("there is no bot \"{name}\" in it")))
    };
    let entrant = asked.bot.as_deref().map(number).transpose()?;
    let other = asked.against.as_deref().map(number).transpose()?;
    let filter = GameFilter {
        after: asked.after.as_deref().map(read_key).transpose()?,
        matchup: asked.matchup.map(MatchId),
        entrant,
        only_fouls: asked.fouls == Some(1),
    };
    let read = if other.is_some() { SCANNED } else { most };
    let mut games = store.games(standing.tournament.id, &filter, read).await?;
    let mut is_cut = games.len() == read as usize;
    if let Some(other) = other {
        let last = games.last().map(|row| (row.group, row.seating));
        games.retain(|row| row.lineup.contains(&Some(other)));
        if games.len() > most as usize {
            games.truncate(most as usize);
            is_cut = true;
        } else if is_cut {
            let next = last.map(|(group, seating)| format!("{group}.{seating}"));
            return Ok(PageOfGames { games, next });
        }
    }
    let last = games.last().filter(|_| is_cut);
    let next = last.map(|row| format!("{}.{}", row.group, row.seating));
    Ok(PageOfGames { games, next })
}

/// Names of the players of a game, by seat.
pub(crate) fn players(standing: &TournamentStanding, row: &GameRow) -> Vec<String> {
    let entrants = &standing.tournament.entrants;
    let names = row.order.iter().map(|&place| match row.lineup[place] {
        Some(who) => entrants[who.index()].name.clone(),
        None => arena_tournament::filler_name(place),
    });
    names.collect()
}
