//! Simulated workers play by functions. What a game is depends on its seed alone, whoever plays it.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use parking_lot::Mutex;
use referee::{GameError, Live};
use referee_bots::archive::{ArchiveHash, CacheError, UnpackError, UnpackedArchive};
use referee_core::{PerSeat, Record, Seat, Seed, Verdict, pack};
use referee_games::Sitting;
use referee_worker::{Games, LeasedGame, PackedResult, Summary, WorkError, lease::Lease};
use sha2::{Digest as _, Sha256};

use crate::{archive, chance::Chance, scenario::Forgery};

/// Longest duration of a game.
const LONGEST: Duration = Duration::from_millis(2500);

/// Plays games by functions.
pub(crate) struct Functions {
    chance: Mutex<Chance>,
    longest: Duration,
    forgery: Option<Forgery>,
    archives: Archives,
}

/// The archives that are on a machine. They outlive a crash.
pub(crate) type Archives = Arc<Mutex<BTreeSet<ArchiveHash>>>;

impl Functions {
    /// Games of a process.
    pub(crate) fn new(seed: u64, forgery: Option<Forgery>, archives: Archives) -> Self {
        Self {
            chance: Mutex::new(Chance::new(seed)),
            longest: LONGEST,
            forgery,
            archives,
        }
    }

    /// Games that take no time, on a machine that has every archive.
    pub(crate) fn at_once() -> Self {
        let archives = BTreeSet::from([archive::hash(archive::bytes())]);
        Self {
            longest: Duration::ZERO,
            ..Self::new(0, None, Arc::new(Mutex::new(archives)))
        }
    }
}

impl Games for Functions {
    /// Content hash of each bot of the lineup, where it is known.
    type Bots = Vec<Option<String>>;

    fn missing(&self, lease: &Lease) -> Result<Vec<ArchiveHash>, WorkError> {
        let needed = lease.bots.iter();
        let needed = needed.filter_map(|bot| bot.entry.launcher().archive().copied());
        let here = self.archives.lock();
        let missing: BTreeSet<_> = needed.filter(|hash| !here.contains(hash)).collect();
        Ok(missing.into_iter().collect())
    }

    async fn unpack(
        &self,
        hash: ArchiveHash,
        packed: Vec<u8>,
    ) -> Result<Option<UnpackedArchive>, WorkError> {
        let found = archive::hash(&packed);
        if found != hash {
            let other = UnpackError::OtherHash {
                expected: hash,
                found,
            };
            return Err(WorkError::Archive(CacheError::Unpack(other)));
        }
        let mut here = self.archives.lock();
        here.insert(hash);
        Ok(None)
    }

    async fn take(&self, lease: &Lease) -> Result<Self::Bots, WorkError> {
        let identities = lease.bots.iter();
        Ok(identities
            .map(|bot| bot.entry.launcher().identity(Path::new(".")).ok().flatten())
            .collect())
    }

    async fn play(&self, bots: &Self::Bots, game: LeasedGame<'_>) -> Result<Record, GameError> {
        let time = {
            let mut chance = self.chance.lock();
            Duration::from_millis(chance.below(self.longest.as_millis() as u64 + 1))
        };
        let tell = |live| {
            // An error means that nobody listens any more.
            let _ = game.watch.as_ref().map(|watch| watch.send(live));
        };
        tell(Live::Started);
        tokio::time::sleep(time / 2).await;
        tell(Live::Played {
            seat: Seat::new(0),
            number: 1,
            notation: "a move".to_owned(),
            thought: time / 2,
        });
        tokio::time::sleep(time / 2).await;
        let mut fixture = game.fixture;
        if self.forgery == Some(Forgery::Seed) {
            fixture.seed = Seed::new([7; 32]);
        }
        let seed = fixture.seed;
        let mut record = Sitting::new(fixture)?
            .play_out(|seat, number, legal| (drawn(&seed, seat, number) % legal as u64) as usize);
        let seated = game.order.iter().map(|&place| bots[place].clone());
        record.header.identity = PerSeat::from(seated.collect::<Vec<_>>());
        if self.forgery == Some(Forgery::Result)
            && let Verdict::Finished { outcome, .. } = &mut record.result.verdict
        {
            outcome.scores[Seat::new(0)] += 1;
        }
        Ok(record)
    }

    async fn pack(&self, record: Record, wants_record: bool) -> Option<PackedResult> {
        let (text, play_hash) = record.sealed();
        let packed = wants_record.then(|| pack::pack(&text));
        Some((Summary::of(&record, play_hash), packed))
    }

    async fn give_back(&self, _: Self::Bots) -> Vec<Option<u64>> {
        Vec::new()
    }
}

/// A move depends on the seed, the seat and the number of the question.
fn drawn(seed: &Seed, seat: Seat, number: u32) -> u64 {
    let hash = Sha256::new()
        .chain_update(seed.bytes())
        .chain_update([seat.index() as u8])
        .chain_update(number.to_le_bytes())
        .finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}
