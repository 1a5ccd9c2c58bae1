//! The referee of this process.

use std::sync::Arc;

use anyhow::Context as _;
use futures_util::future::join_all;
use referee::{Bot, Game, Memory, Pool};
use referee_core::{GameKind, Limits, PerSeat, Record, Seat, Seed};
use referee_games::Fixture;
use villains::Kind;

use super::{AMPLE, SEATS, SEED};
use crate::{
    entry::{Entry, Start},
    run,
    verbs::find_game,
};

/// The referee, and what it plays with; no bot has a process yet.
pub(super) struct Ours {
    game: &'static dyn GameKind,
    pool: Pool,
    honest: Arc<Bot>,
    /// In each seat another, in order of the kinds.
    villains: Vec<(Kind, [Arc<Bot>; 2])>,
}

impl Ours {
    pub(super) fn new(kinds: &[Kind]) -> anyhow::Result<Self> {
        let mut start = Start::new(AMPLE, Memory::default(), None)?;
        let honest = bot(&start, Kind::Honest)?;
        let mut villains = Vec::new();
        for &kind in kinds {
            start.limit = kind.trial().listens_within;
            villains.push((kind, [bot(&start, kind)?, bot(&start, kind)?]));
        }
        Ok(Self {
            game: find_game(villains::GAME)?,
            pool: Pool::new(run::threads())?,
            honest,
            villains,
        })
    }

    /// Plays the game with the villain in this seat.
    pub(super) async fn play(
        &self,
        kind: Kind,
        seat: Seat,
        game_id: String,
    ) -> anyhow::Result<Record> {
        let trial = kind.trial();
        let villain = self.villains.iter().find(|(known, _)| *known == kind);
        let villain = &villain.context("a kind that was not asked for")?.1[seat.index()];
        let mut bots = vec![villain.clone(), self.honest.clone()];
        let mut players = vec![kind.name(), "opponent".to_owned()];
        if seat != SEATS[0] {
            bots.reverse();
            players.reverse();
        }
        let setup = serde_json::from_str(trial.setup)?;
        let game = Game {
            fixture: Fixture {
                kind: self.game,
                setup: self.game.setup(&setup).context(game_id.clone())?,
                game_id: game_id.clone(),
                seed: Seed::new(SEED),
                players: players.into(),
                limits: Limits {
                    start: trial.ready_within,
                    per_move: trial.per_move,
                    ..Limits::default()
                },
                spent: PerSeat::default(),
            },
            bots,
            watch: None,
        };
        let played = game.play(&self.pool).await.context(game_id)?;
        // What it keeps of our machine it need not keep until the end.
        villain.stop().await;
        Ok(played.record)
    }

    /// Stops every bot that still runs.
    pub(super) async fn stop(self) {
        let villains = self.villains.iter().flat_map(|(_, bots)| bots);
        join_all(villains.chain([&self.honest]).map(|bot| bot.stop())).await;
    }
}

/// A villain that the arena starts itself as.
fn bot(start: &Start, kind: Kind) -> anyhow::Result<Arc<Bot>> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the arena's path is no text")?;
    let trial = kind.trial();
    let kind = kind.name();
    let mut words = vec![program, "villain", &kind];
    words.extend(trial.arguments);
    let command = shlex::try_join(words)?;
    let memory = Memory {
        limit: trial.memory,
        gauge: None,
    };
    Entry::read(&format!("{kind}=exec:{command}"))?.bot_with(start, memory, 0)
}
