//! A simulated tournament: what is played.

use arena_ladder::ScheduleShape;
use arena_store::{NewEntrant, Store, TournamentId, Wish};
use arena_tournament::Definition;
use referee_core::Root;

use crate::{archive, chance::Chance, reference, table::Table};

/// A tournament that a seed decides.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedTournament {
    pub(crate) name: String,
    root: [u8; 32],
    pub(crate) game: &'static str,
    shape: ScheduleShape,
    pub(crate) entrants: usize,
    deals: u64,
    priority: i64,
    /// True if its bots are in an archive.
    pub(crate) is_packed: bool,
}

impl SimulatedTournament {
    /// Draws one. Where there are others it is a small one.
    pub(crate) fn draw(chance: &mut Chance, number: u64, is_small: bool) -> Self {
        let (game, entrants) = match chance.below(6) {
            0 => ("mahjong", 3),
            1 => ("big_two", 4),
            2 => ("othello", 3),
            _ => ("connect_four", 3 + chance.below(3) as usize),
        };
        let shape = match chance.below(4) {
            0 if game != "big_two" => ScheduleShape::Swiss { rounds: Some(2) },
            1 if game != "big_two" => ScheduleShape::SingleElimination { third_place: true },
            _ => ScheduleShape::RoundRobin {},
        };
        Self {
            name: format!("tournament-{number}"),
            root: chance.bytes(),
            game,
            shape,
            entrants: if is_small { entrants.min(4) } else { entrants },
            deals: if is_small { 2 } else { 3 } + chance.below(if is_small { 3 } else { 6 }),
            priority: chance.below(3) as i64,
            is_packed: number == 0 && chance.one_in(6),
        }
    }

    /// One with secrets and few games.
    pub(crate) fn smallest() -> Self {
        Self {
            name: "tournament-0".to_owned(),
            root: [7; 32],
            game: "mahjong",
            shape: ScheduleShape::RoundRobin {},
            entrants: 2,
            deals: 3,
            priority: 0,
            is_packed: false,
        }
    }

    pub(crate) fn root(&self) -> Root {
        Root::new(self.root)
    }

    /// Its table where nothing goes wrong.
    pub(crate) fn reference(&self) -> Table {
        let bots = (0..self.entrants).map(|number| format!("bot-{number}={}", self.spec(number)));
        reference::table(self.definition(), &bots.collect::<Vec<_>>(), self.root())
    }

    /// Number of its games, where that can be said before it is played.
    pub(crate) fn planned(&self) -> Option<u64> {
        if self.game == "big_two" || !matches!(self.shape, ScheduleShape::RoundRobin {}) {
            return None;
        }
        let n = self.entrants as u64;
        Some(n * (n - 1) / 2 * self.deals * 2)
    }

    /// Puts it into a store, to be played.
    pub(crate) async fn store(&self, store: &Store) -> TournamentId {
        let entrants = (0..self.entrants)
            .map(|number| NewEntrant::new(format!("bot-{number}"), self.spec(number)));
        let definition = self.definition();
        let new = definition.tournament(&self.name, entrants.collect(), self.root(), 0);
        let new = new.expect("a game");
        let id = store.create(&new).await.expect("a tournament").id;
        let ordered = store.set_priority(id, self.priority).await;
        ordered.expect("a priority");
        let wished = store.set_wish(id, Some(Wish::Play)).await;
        wished.expect("a wish");
        id
    }

    fn spec(&self, number: usize) -> String {
        match self.is_packed {
            true => archive::spec(&format!("bot-{number}")),
            false => format!("sim:bot-{number}"),
        }
    }

    fn definition(&self) -> Definition {
        let kind = referee_games::game(self.game).expect("a game");
        let setup = kind.setup(&serde_json::Value::Null);
        Definition {
            shape: self.shape.clone(),
            deals: self.deals,
            filler: "sim:filler".to_owned(),
            ..Definition::round_robin(self.game, vec![setup.expect("the standard set-up")])
        }
    }
}
