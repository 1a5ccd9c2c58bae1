//! A worker: leases a chunk, plays it, reports.

use std::{
    collections::BTreeMap,
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use parking_lot::Mutex;
use referee_core::{GameKind, PerSeat, Record};
use referee_games::{Fixture, game};
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    time::Instant,
};

use crate::{
    Abilities, Dispatch, Games, LeasedGame, Stop, WorkError,
    lease::{
        Assignment, GameKey, GameReport, GiveBack, Lease, LeaseReply, LeaseRequest, LiveUpdate,
        ReportReply, Scope, SessionId,
    },
};

/// A chunk should take about so long: long enough that starting processes for it
/// does not matter, short enough that no worker is left with one at the end.
const CHUNK: Duration = Duration::from_secs(3);
/// Results that wait to be stored while others are played, at most.
const UNSTORED: usize = 256;

/// Plays what it is given. Several workers of a process share bots and threads.
pub struct Worker<D, G> {
    /// Its name.
    pub name: String,
    /// Its session, where it is not in the dispatcher's own process.
    pub session: Option<SessionId>,
    /// Its abilities: what it can play.
    pub can: Arc<Abilities>,
    /// Only work of this part, where it is given.
    pub scope: Option<Scope>,
    /// Number of games that it plays at once, at least one.
    pub games_at_once: usize,
    /// Bounds of what it plays.
    pub bounds: ChunkBounds,
    /// The dispatcher that gives it its work.
    pub dispatch: Arc<D>,
    /// The part of the program that plays its games.
    pub games: Arc<G>,
    /// Stops it.
    pub stop: Stop,
}

/// Bounds of what the workers of a process play, where that is not left to them.
#[derive(Clone, Debug, Default)]
pub struct ChunkBounds {
    /// The chunks that all of them together may still ask for.
    pub(crate) chunks: Option<Arc<Semaphore>>,
    games: Option<NonZeroU64>,
}

impl ChunkBounds {
    /// Bounds of workers that end after so many chunks in all, and that ask for so many games a
    /// chunk, however long a game takes.
    #[must_use]
    pub fn new(chunks: Option<NonZeroU64>, games: Option<NonZeroU64>) -> Self {
        let chunks = chunks.map(|chunks| {
            let chunks = usize::try_from(chunks.get()).unwrap_or(usize::MAX);
            Arc::new(Semaphore::new(chunks.min(Semaphore::MAX_PERMITS)))
        });
        Self { chunks, games }
    }
}

/// A chunk while it is played.
struct LeasedChunk<D, G: Games> {
    worker: Arc<Worker<D, G>>,
    lease: Lease,
    kind: &'static dyn GameKind,
    bots: G::Bots,
    progress: Mutex<ChunkProgress>,
    /// Number of games that have been reported.
    reported: AtomicU32,
}

#[derive(Default)]
struct ChunkProgress {
    unplayed: Vec<GameKey>,
    /// Time that each place has spent of its budget in a series.
    spent: BTreeMap<usize, Duration>,
    /// True if one of the bots is away: no more games are begun.
    is_put_off: bool,
}

/// A game that was played, by its place in the chunk.
struct LoggedGame {
    at: usize,
    record: Record,
    logs: Vec<String>,
}

impl<D: Dispatch + 'static, G: Games> Worker<D, G> {
    /// Works until nothing is left or it is asked to stop.
    ///
    /// # Errors
    ///
    /// Only for our own failures.
    pub async fn run(self) -> Result<(), WorkError> {
        let worker = Arc::new(self);
        let at_once = worker.games_at_once.max(1);
        // What a game takes, as far as has been seen.
        let mut a_game = CHUNK;
        while !worker.stop.is_finishing() {
            // Where no chunk comes, another worker may ask for it.
            let chunk = match &worker.bounds.chunks {
                None => None,
                Some(left) => match left.try_acquire() {
                    Ok(one) => Some(one),
                    Err(_) => return Ok(()),
                },
            };
            let fit = (CHUNK.as_secs_f64() / a_game.as_secs_f64().max(1e-6)) as u64;
            let games = fit.clamp(1, 4096).saturating_mul(at_once as u64);
            let request = LeaseRequest {
                worker: worker.name.clone(),
                session: worker.session,
                can: worker.can.clone(),
                games: worker.bounds.games.map_or(games, NonZeroU64::get),
                scope: worker.scope.clone(),
            };
            let leased = tokio::select! {
                biased;
                leased = worker.dispatch.lease(request) => leased?,
                () = worker.stop.finishing() => return Ok(()),
            };
            match leased {
                LeaseReply::Over => return Ok(()),
                LeaseReply::Wait => {}
                LeaseReply::Work(lease) => {
                    if let Some(chunk) = chunk {
                        chunk.forget();
                    }
                    let parallel = at_once.min(lease.games.len()) as f64;
                    let began = Instant::now();
                    let played = worker.clone().play(*lease).await?;
                    if played > 0 {
                        let took = began.elapsed().mul_f64(parallel / f64::from(played));
                        a_game = (a_game + took) / 2;
                    }
                }
            }
        }
        Ok(())
    }

    /// Plays a chunk and says how many of its games were played.
    async fn play(self: Arc<Self>, lease: Lease) -> Result<u32, WorkError> {
        let kind = game(&lease.game).ok_or_else(|| WorkError::Game(lease.game.clone()))?;
        let mut archives = Vec::new();
        for hash in self.games.missing(&lease)? {
            let packed = self.dispatch.archive(hash).await?;
            archives.push(self.games.unpack(hash, packed).await?);
        }
        let bots = self.games.take(&lease).await?;
        let at_once = match lease.series {
            true => 1,
            false => self.games_at_once.max(1),
        };
        let chunk = Arc::new(LeasedChunk {
            worker: self,
            lease,
            kind,
            bots,
            progress: Mutex::default(),
            reported: AtomicU32::new(0),
        });
        let played = {
            let playing = chunk.clone();
            let storing = chunk.clone();
            let games = stream::iter(0..chunk.lease.games.len())
                .map(move |at| playing.clone().play_one(at))
                .buffer_unordered(at_once)
                // Storing goes on beside playing.
                .map(move |played| storing.clone().report(played))
                .buffer_unordered(UNSTORED);
            // Beside the games, which nothing must keep waiting. Where the lease is lost they
            // are cut off: another worker plays them.
            tokio::select! {
                biased;
                played = games.try_for_each(async |()| Ok(())) => played,
                () = chunk.keep() => Ok(()),
            }
        };
        let Some(LeasedChunk {
            worker,
            lease,
            bots,
            progress,
            reported,
            ..
        }) = Arc::into_inner(chunk)
        else {
            unreachable!("the games that shared it have ended");
        };
        let memory = worker.games.give_back(bots).await;
        drop(archives);
        let progress = progress.into_inner();
        let give_back = GiveBack {
            lease: lease.id,
            unplayed: progress.unplayed,
            memory,
        };
        let given_back = worker.dispatch.give_back(give_back).await;
        // What failed first is told.
        played?;
        given_back?;
        Ok(reported.into_inner())
    }
}

impl<D: Dispatch + 'static, G: Games> LeasedChunk<D, G> {
    /// Renews the lease until it is lost.
    async fn keep(&self) {
        let id = self.lease.id;
        let dispatch = &self.worker.dispatch;
        loop {
            tokio::select! {
                biased;
                () = dispatch.lost(id) => break,
                () = tokio::time::sleep(self.lease.valid_for / 4) => {}
            }
            match dispatch.renew(id).await {
                Ok(true) => {}
                Ok(false) => break,
                // It may work the next time.
                Err(error) => tracing::warn!(?id, %error, "a lease could not be renewed"),
            }
        }
        tracing::warn!(?id, "this chunk is no longer ours; its games are cut off");
    }

    /// Plays one game, if it is still wanted.
    async fn play_one(self: Arc<Self>, at: usize) -> Result<Option<LoggedGame>, WorkError> {
        let assignment = &self.lease.games[at];
        let stop = &self.worker.stop;
        let is_put_off = self.progress.lock().is_put_off;
        if is_put_off || stop.is_finishing() {
            self.progress.lock().unplayed.push(assignment.key);
            return Ok(None);
        }
        let dispatch = &self.worker.dispatch;
        if !dispatch.is_wanted(self.lease.id, assignment.key).await? {
            return Ok(None);
        }
        let (mut game, watching) = self.game(assignment);
        let (logs, mut printed) = self.lease.logs.then(oneshot::channel).unzip();
        game.logs = logs;
        let playing = self.worker.games.play(&self.bots, game);
        let watching = self.watch(assignment, watching);
        let played = tokio::select! {
            biased;
            played = playing => played,
            never = watching => match never {},
            // Dropping it cuts it off. What has ended is still stored and told.
            () = stop.cutting_off() => {
                self.progress.lock().unplayed.push(assignment.key);
                return Ok(None);
            }
        };
        let played = played.map_err(|error| WorkError::Play {
            game_id: assignment.game_id.clone(),
            error,
        })?;
        if self.lease.series {
            let thought = played.result.thought_us.as_slice();
            let mut progress = self.progress.lock();
            for (&place, thought) in assignment.order.iter().zip(thought) {
                if self.lease.bots[place].budget {
                    *progress.spent.entry(place).or_default() += Duration::from_micros(*thought);
                }
            }
        }
        // They are there when the game is over.
        let logs = printed.as_mut().and_then(|printed| printed.try_recv().ok());
        Ok(Some(LoggedGame {
            at,
            record: played,
            logs: logs.unwrap_or_default(),
        }))
    }

    /// Tells what everybody may know while the game goes on. Never ends.
    async fn watch(
        &self,
        assignment: &Assignment,
        moves: Option<mpsc::UnboundedReceiver<referee::Live>>,
    ) -> std::convert::Infallible {
        if let Some(mut moves) = moves {
            let players = self.players(assignment);
            while let Some(live) = moves.recv().await {
                self.worker.dispatch.live(LiveUpdate {
                    lease: self.lease.id,
                    key: assignment.key,
                    game_id: assignment.game_id.clone(),
                    players: players.clone(),
                    live,
                });
            }
        }
        std::future::pending().await
    }

    /// Reports a game, if there was one.
    async fn report(
        self: Arc<Self>,
        played: Result<Option<LoggedGame>, WorkError>,
    ) -> Result<(), WorkError> {
        let Some(LoggedGame { at, record, logs }) = played? else {
            return Ok(());
        };
        let packed = self.worker.games.pack(record, self.lease.records).await;
        let (summary, record) = packed.ok_or(WorkError::Pack)?;
        let report = GameReport {
            lease: self.lease.id,
            key: self.lease.games[at].key,
            summary,
            record,
            logs,
        };
        match self.worker.dispatch.report(report).await? {
            ReportReply::Away => self.progress.lock().is_put_off = true,
            _ => {
                self.reported.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn game<'a>(
        &self,
        assignment: &'a Assignment,
    ) -> (
        LeasedGame<'a>,
        Option<mpsc::UnboundedReceiver<referee::Live>>,
    ) {
        let order = &assignment.order;
        let spent = if self.lease.series {
            let spent = &self.progress.lock().spent;
            let of = |place| spent.get(place).copied().unwrap_or(Duration::ZERO);
            PerSeat::from(order.iter().map(of).collect::<Vec<_>>())
        } else {
            PerSeat::default()
        };
        let (watch, moves) = self.lease.live.then(mpsc::unbounded_channel).unzip();
        let game = LeasedGame {
            fixture: Fixture {
                kind: self.kind,
                game_id: assignment.game_id.clone(),
                setup: assignment.setup.clone(),
                seed: assignment.seed,
                players: PerSeat::from(self.players(assignment)),
                limits: self.lease.limits,
                spent,
            },
            order,
            watch,
            logs: None,
        };
        (game, moves)
    }

    fn players(&self, assignment: &Assignment) -> Vec<String> {
        let names = assignment.order.iter();
        names
            .map(|&place| self.lease.bots[place].name.clone())
            .collect()
    }
}
