//! The context that every table needs.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_play::{SeatPlayer, Seating};
use referee_core::{GameInfo, GameKind, Limits};

use super::{
    kept::{self, KeptGame, SeatedPlayer},
    options::{Opponent, PeopleOptions},
};
use crate::{advice::Adviser, error::PageError, queue::WorkQueue};

/// The context that every table needs: the bots, the folder of games, and whoever gives hints.
pub(super) struct TableContext {
    pub(super) options: PeopleOptions,
    /// Gives hints, and tells people what they can expect.
    pub(super) adviser: Adviser,
    pub(super) queue: Arc<WorkQueue>,
}

impl TableContext {
    /// The bots that play a game.
    pub(super) fn opponents(&self, game: &GameInfo) -> impl Iterator<Item = &Opponent> {
        let all = self.options.opponents.iter();
        all.filter(move |one| {
            one.game.is_none_or(|name| name == game.name) && one.entry.check_plays(game).is_ok()
        })
    }

    /// Removes the records that are too many or too old.
    pub(super) fn prune(&self) {
        let (folder, bounds) = (self.options.folder.clone(), self.options.records);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = kept::prune(&folder, bounds, SystemTime::now()) {
                tracing::error!(%error, "old records of games of people can't be removed");
            }
        });
    }

    /// The seating that the engine needs to deal or to go on.
    pub(super) fn seating(
        &self,
        kind: &'static dyn GameKind,
        kept: &KeptGame,
    ) -> Result<Seating, PageError> {
        let mut players = Vec::new();
        for (chair, name) in kept.chairs.iter().zip(&kept.names) {
            players.push(match chair {
                SeatedPlayer::Person { .. } => SeatPlayer::Person(name.clone()),
                SeatedPlayer::Bot { spec } => {
                    let mut all = self.options.opponents.iter();
                    let known = all.find(|one| one.entry.spec == *spec);
                    let known = known.ok_or_else(|| {
                        PageError::system("a game of people can't go on", format!("no bot {spec}"))
                    })?;
                    SeatPlayer::Bot(known.entry.renamed(name))
                }
            });
        }
        Ok(Seating {
            kind,
            setup: kept.setup.clone(),
            seed: kept.seed,
            game_id: format!("people-{}", kept.id),
            limits: Limits {
                per_move: Duration::from_millis(kept.limit_ms),
                ..Limits::default()
            },
            people_are_timed: kept.is_timed,
            players,
        })
    }
}
