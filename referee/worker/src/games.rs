//! The playing of a chunk's games. A worker leases and reports; what is between is behind
//! the trait [`Games`]: bots over streams, or functions in a simulation.

use std::{io, sync::Arc};

use referee::{Address, GameError, HandOverError, Live, Pool, SeatedGame};
use referee_core::Record;
use referee_games::Fixture;
use tokio::sync::{mpsc, oneshot};

use crate::{BotPool, ChunkBots, DispatchError, Packer, Summary, lease::Lease};
use referee_bots::archive::{ArchiveHash, CacheError, UnpackedArchive};

/// A game's result, and its packed record where it is wanted.
pub type PackedResult = (Summary, Option<Vec<u8>>);

/// A game of a chunk that is about to be played.
pub struct LeasedGame<'a> {
    /// The game that is to be played.
    pub fixture: Fixture,
    /// The seat order: for each seat a place in the lineup.
    pub order: &'a [usize],
    /// Gets its public events while it is played.
    pub watch: Option<mpsc::UnboundedSender<Live>>,
    /// Gets what the bot of each seat has printed, when it is over.
    pub logs: Option<oneshot::Sender<Vec<String>>>,
}

/// Plays the games of chunks.
pub trait Games: Send + Sync + 'static {
    /// The bots of one chunk.
    type Bots: Send + Sync + 'static;

    /// The archives of a chunk's bots that are not on this machine.
    fn missing(&self, lease: &Lease) -> Result<Vec<ArchiveHash>, WorkError> {
        let _ = lease;
        Ok(Vec::new())
    }

    /// Unpacks an archive. It stays on this machine as long as the guard lives.
    fn unpack(
        &self,
        hash: ArchiveHash,
        packed: Vec<u8>,
    ) -> impl Future<Output = Result<Option<UnpackedArchive>, WorkError>> + Send {
        let _ = (hash, packed);
        std::future::ready(Ok(None))
    }

    /// The bots of a chunk, whose archives are there.
    fn take(&self, lease: &Lease) -> impl Future<Output = Result<Self::Bots, WorkError>> + Send;

    /// Plays one game. Dropping the future cuts the game off.
    fn play(
        &self,
        bots: &Self::Bots,
        game: LeasedGame<'_>,
    ) -> impl Future<Output = Result<Record, GameError>> + Send;

    /// The summary of a game, and its packed record where that is wanted. None where a
    /// thread has panicked.
    fn pack(
        &self,
        record: Record,
        wants_record: bool,
    ) -> impl Future<Output = Option<PackedResult>> + Send;

    /// Takes the bots of a chunk back. Gives for each bot of the lineup the most memory that
    /// a process of it has added, where it was measured.
    fn give_back(&self, bots: Self::Bots) -> impl Future<Output = Vec<Option<u64>>> + Send;
}

/// Reason why a worker can't go on. It is never a bot's fault.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The dispatcher failed.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// There is no game of this name here.
    #[error("there is no game \"{0}\" here: the dispatcher is of another version")]
    Game(String),
    /// A folder for a bot's socket can't be made, or its archive is not here.
    #[error("could not prepare to start a bot, whose socket is among the temporary files (TMPDIR)")]
    Socket(#[source] io::Error),
    /// The processes of a chunk must be fresh, and one is not.
    #[error(
        "could not play a second chunk of a game with secrets, or a second series, with the bot \
         {name} at {address}: expected a fresh process; have this worker end after one chunk \
         (--chunks 1), and start the bot again for the next one"
    )]
    NotFresh {
        /// The bot.
        name: String,
        /// The address that it listens at.
        address: Address,
    },
    /// A packed bot can't be handed over to the container that somebody has started for it.
    #[error("could not have {name} started")]
    Host {
        /// The bot.
        name: String,
        /// The error.
        #[source]
        error: HandOverError,
    },
    /// The system has no thread to give.
    #[error("could not start a thread")]
    Threads(#[source] io::Error),
    /// An archive can't be unpacked.
    #[error("could not prepare the archive of a bot")]
    Archive(#[source] CacheError),
    /// A game can't be played.
    #[error("could not play game {game_id}")]
    Play {
        /// The game.
        game_id: String,
        /// The error.
        #[source]
        error: GameError,
    },
    /// A thread that packs records has panicked.
    #[error("could not pack a record")]
    Pack,
}

/// Games between bots that are started or reached, over streams.
pub struct BotGames {
    /// The bots.
    pub bots: Arc<BotPool>,
    /// The threads that games are played on.
    pub pool: Arc<Pool>,
    /// The packer, which summarises and packs games.
    pub packer: Arc<Packer>,
}

impl Games for BotGames {
    type Bots = ChunkBots;

    fn missing(&self, lease: &Lease) -> Result<Vec<ArchiveHash>, WorkError> {
        let entries = lease.bots.iter().map(|bot| &bot.entry);
        let here = self.bots.context().missing(entries);
        let mut missing = here.map_err(WorkError::Archive)?;
        missing.extend(self.bots.missing_for_hosts(lease));
        Ok(missing)
    }

    async fn unpack(
        &self,
        hash: ArchiveHash,
        packed: Vec<u8>,
    ) -> Result<Option<UnpackedArchive>, WorkError> {
        let Some(packed) = self.bots.keep_for_hosts(hash, packed) else {
            return Ok(None);
        };
        let Some(cache) = self.bots.context().archives().cloned() else {
            return Ok(None);
        };
        let unpack = move || cache.insert(&hash, &packed);
        let unpacked = tokio::task::spawn_blocking(unpack).await;
        let unpacked = unpacked.map_err(|_| WorkError::Pack)?;
        unpacked.map(Some).map_err(WorkError::Archive)
    }

    async fn take(&self, lease: &Lease) -> Result<ChunkBots, WorkError> {
        self.bots.hand_over_to_hosts(lease).await?;
        self.bots.take(lease)
    }

    async fn play(&self, bots: &ChunkBots, game: LeasedGame<'_>) -> Result<Record, GameError> {
        let seated = SeatedGame {
            fixture: game.fixture,
            bots: game.order.iter().map(|&place| bots.at(place)).collect(),
            watch: game.watch,
        };
        let Some(told) = game.logs else {
            return seated.play(&self.pool).await;
        };
        let (record, logs) = seated.play_with_logs(&self.pool).await?;
        let _ = told.send(logs);
        Ok(record)
    }

    async fn pack(&self, record: Record, wants_record: bool) -> Option<PackedResult> {
        self.packer.pack(record, wants_record).await
    }

    async fn give_back(&self, bots: ChunkBots) -> Vec<Option<u64>> {
        self.bots.give_back(bots).await
    }
}
