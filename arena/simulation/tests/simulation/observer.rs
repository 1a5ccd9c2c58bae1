//! Statements of the arena about its tournaments: nothing before its time, and each game once.

use std::collections::BTreeSet;

use arena_tournament::{Observer, RunEvent};
use parking_lot::Mutex;

use crate::watch::Watch;

/// Hears what one process of the arena tells of a tournament.
pub(crate) struct Hears {
    pub(crate) tournament: String,
    pub(crate) has_secrets: bool,
    pub(crate) watch: Watch,
    pub(crate) told: Mutex<BTreeSet<(u64, u32)>>,
}

impl Observer for Hears {
    fn event(&self, event: RunEvent<'_>) {
        match event {
            RunEvent::Game(game) => {
                let row = &game.row;
                let (group, seating) = (row.group, row.seating);
                let mut told = self.told.lock();
                if !told.insert((group, seating)) {
                    self.watch
                        .breaks(format!("game {group}.{seating} is told twice"));
                }
                if !self.watch.may_be_told(&self.tournament, row) {
                    self.watch
                        .breaks(format!("game {group}.{seating} is told before its time"));
                }
            }
            RunEvent::Live { .. } if self.has_secrets => {
                let what = "a move of a game with secrets is told".to_owned();
                self.watch.breaks(what);
            }
            RunEvent::Live { .. } => self.watch.count("move told"),
            _ => {}
        }
    }
}
