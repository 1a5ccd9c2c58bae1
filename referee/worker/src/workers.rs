//! The workers of one process: one a core, which share bots and threads.

use std::sync::Arc;

use futures_util::future::try_join_all;
use referee::{Cores, Pool, core_count, referee_threads};

use crate::{
    Abilities, BotGames, BotPool, ChunkBounds, Dispatch, Packer, Stop, WorkError, Worker,
    lease::{Scope, SessionId},
};
use referee_bots::LaunchContext;

/// Workers that share the bots and the threads of a process.
pub struct WorkerGroup {
    games: Arc<BotGames>,
    /// Number of games that they play at once.
    concurrency: usize,
    bounds: ChunkBounds,
}

/// The identity of workers, and what they may be given.
#[derive(Clone, Debug)]
pub struct WorkerIdentity {
    /// Their name, before a number.
    pub name: String,
    /// Their session, where they are not in the dispatcher's own process.
    pub session: Option<SessionId>,
    /// Their abilities: what they can play.
    pub can: Arc<Abilities>,
    /// Only work of this part, where it is given.
    pub scope: Option<Scope>,
}

impl WorkerGroup {
    /// Starts the threads of workers that play so many games at once.
    ///
    /// # Errors
    ///
    /// The system has no thread to give.
    pub fn start(context: LaunchContext, concurrency: usize) -> Result<Self, WorkError> {
        let pool = match context.cores() {
            Some(cores) => Pool::on_cores(&cores.referee),
            None => Pool::new(referee_threads()),
        };
        let games = BotGames {
            bots: Arc::new(BotPool::new(context)),
            pool: Arc::new(pool.map_err(WorkError::Threads)?),
            packer: Arc::new(Packer::start(referee_threads()).map_err(WorkError::Threads)?),
        };
        Ok(Self {
            games: Arc::new(games),
            concurrency: concurrency.max(1),
            bounds: ChunkBounds::default(),
        })
    }

    /// The same within these bounds, which are those of all of them together.
    #[must_use]
    pub fn with_bounds(self, bounds: ChunkBounds) -> Self {
        Self { bounds, ..self }
    }

    /// Number of games that are played at once if nobody says: one for each core of bots.
    #[must_use]
    pub fn default_concurrency(cores: Option<&Cores>) -> usize {
        cores.map_or_else(core_count, |divided| divided.bots.count())
    }

    /// The threads that games are played on.
    #[must_use]
    pub fn pool(&self) -> &Arc<Pool> {
        &self.games.pool
    }

    /// Works until nothing is left or it is asked to stop.
    ///
    /// # Errors
    ///
    /// Only for our own failures.
    pub async fn run<D: Dispatch + 'static>(
        &self,
        dispatch: Arc<D>,
        who: WorkerIdentity,
        stop: &Stop,
    ) -> Result<(), WorkError> {
        let count = self.count();
        let working = (0..count).map(|number| {
            // The first ones take what is left over.
            let more = usize::from(number < self.concurrency % count);
            let worker = Worker {
                name: format!("{}-{number}", who.name),
                session: who.session,
                can: who.can.clone(),
                scope: who.scope.clone(),
                games_at_once: self.concurrency / count + more,
                bounds: self.bounds.clone(),
                dispatch: dispatch.clone(),
                games: self.games.clone(),
                stop: stop.clone(),
            };
            worker.run()
        });
        try_join_all(working).await.map(drop)
    }

    /// Number of workers. One that gets no chunk would keep its share of the games that are
    /// played at once from the others.
    fn count(&self) -> usize {
        let chunks = self.bounds.chunks.as_ref();
        let chunks = chunks.map_or(usize::MAX, |left| left.available_permits());
        self.concurrency.min(core_count()).min(chunks).max(1)
    }

    /// Stops every process of a bot.
    pub async fn close(self) {
        self.games.bots.close().await;
    }
}
