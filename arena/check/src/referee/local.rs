//! The referee of this process.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::join_all;
use referee::{Bot, Pool, SeatedGame};
use referee_bots::{BotOptions, Entry, LaunchContext};
use referee_core::{PerSeat, Record, Seat, Seed};
use referee_games::Fixture;

use super::{OPTIONS, RefereeError, SEED, VillainCase, VillainCases, in_order};

/// The referee, and what it plays with; no bot has a process yet.
pub(super) struct LocalReferee<'a> {
    villains: &'a VillainCases,
    pool: Pool,
    honest: Arc<Bot>,
    /// For each villain's name a bot for each seat.
    bots: BTreeMap<&'a str, [Arc<Bot>; 2]>,
}

impl<'a> LocalReferee<'a> {
    pub(super) fn new(
        villains: &'a VillainCases,
        context: &LaunchContext,
        threads: usize,
    ) -> Result<Self, RefereeError> {
        let bot = |entry: &Entry, options: &BotOptions| {
            let bot = context.bot(entry, options, None, 0);
            bot.map(Arc::new).map_err(RefereeError::Socket)
        };
        let mut bots = BTreeMap::new();
        for villain in &villains.villains {
            let one = || bot(&villain.entry, &villain.options);
            bots.insert(villain.entry.name.as_str(), [one()?, one()?]);
        }
        Ok(Self {
            villains,
            pool: Pool::new(threads).map_err(RefereeError::Threads)?,
            honest: bot(&villains.honest, &OPTIONS)?,
            bots,
        })
    }

    /// Plays the game with the villain in this seat.
    pub(super) async fn play(
        &self,
        villain: &VillainCase,
        seat: Seat,
        game_id: String,
    ) -> Result<Record, RefereeError> {
        let name = &villain.entry.name;
        let bot = &self.bots[name.as_str()][seat.index()];
        let players = in_order(name.clone(), "opponent".to_owned(), seat);
        let game = SeatedGame {
            fixture: Fixture {
                kind: self.villains.game,
                setup: villain.setup.clone(),
                game_id: game_id.clone(),
                seed: Seed::new(SEED),
                players: players.into(),
                limits: villain.limits,
                spent: PerSeat::default(),
            },
            bots: in_order(bot.clone(), self.honest.clone(), seat),
            watch: None,
        };
        let record = game.play(&self.pool).await;
        let record = record.map_err(|error| RefereeError::Play { game_id, error })?;
        // Its process is not needed any more.
        bot.stop().await;
        Ok(record)
    }

    /// Stops every bot that still runs.
    pub(super) async fn stop(self) {
        let villains = self.bots.values().flatten();
        join_all(villains.chain([&self.honest]).map(|bot| bot.stop())).await;
    }
}
