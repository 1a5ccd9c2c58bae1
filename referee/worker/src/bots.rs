//! The bots of a worker, and which processes play a chunk.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use futures_util::future::join_all;
use parking_lot::Mutex;
use referee::{Bot, MemoryGauge};

use crate::{
    WorkError,
    hosts::Hosts,
    lease::{Lease, LeasedBot},
};
use referee_bots::{BotAddress, LaunchContext};

/// Of bots that play in no chunk just now, so many keep their processes.
const KEPT: usize = 16;

/// The bots that a worker has started or reached.
pub struct BotPool {
    context: LaunchContext,
    shared: Mutex<SharedBots>,
    pub(crate) hosts: Hosts,
}

/// Bots whose processes play several chunks.
#[derive(Default)]
struct SharedBots {
    bots: Vec<SharedBot>,
    /// Counts the uses of bots.
    moment: u64,
    /// The names of bots that run somewhere and have played a chunk that wanted fresh ones.
    used: BTreeSet<String>,
}

struct SharedBot {
    wanted: LeasedBot,
    running: StartedBot,
    /// In how many chunks it plays.
    chunks: usize,
    /// Moment of its last use.
    last: u64,
}

#[derive(Clone)]
struct StartedBot {
    bot: Arc<Bot>,
    gauge: Option<Arc<MemoryGauge>>,
}

/// The bots of one chunk, in order of its lineup.
pub struct ChunkBots(Vec<StartedBot>);

impl BotPool {
    /// A pool without bots, which starts them in this context.
    #[must_use]
    pub fn new(context: LaunchContext) -> Self {
        Self {
            context,
            shared: Mutex::default(),
            hosts: Hosts::default(),
        }
    }

    /// All that bots are started with.
    #[must_use]
    pub const fn context(&self) -> &LaunchContext {
        &self.context
    }

    /// The bots of a chunk. No process is started before a game needs it.
    ///
    /// # Errors
    ///
    /// There is no room for a socket, or the chunk needs a fresh process of a bot that somebody
    /// else has started, and which has played another chunk.
    pub fn take(&self, lease: &Lease) -> Result<ChunkBots, WorkError> {
        if lease.fresh_processes {
            self.use_up(lease)?;
        }
        // What is printed in other chunks may not be told when this one is.
        let is_apart = lease.fresh_processes || lease.logs;
        let set = self.context.next_set();
        let mut running: Vec<StartedBot> = Vec::new();
        for (place, bot) in lease.bots.iter().enumerate() {
            // Several of a lineup may be one entry.
            let before = &lease.bots[..place];
            running.push(match before.iter().position(|other| is_same(other, bot)) {
                Some(before) => running[before].clone(),
                None if is_apart && self.context.starts(&bot.entry) => {
                    self.start(bot, set).map_err(WorkError::Socket)?
                }
                None => self.share(bot, set).map_err(WorkError::Socket)?,
            });
        }
        Ok(ChunkBots(running))
    }

    /// Notes that the bots of a chunk which we could start, and which run somewhere instead, are
    /// no longer fresh. A bot that nobody can start afresh is not asked for.
    fn use_up(&self, lease: &Lease) -> Result<(), WorkError> {
        let mut shared = self.shared.lock();
        let entries = lease.bots.iter().map(|bot| &bot.entry);
        let entries = entries.filter(|entry| entry.is_started_by_us());
        let named: BTreeMap<&String, &BotAddress> = entries
            .filter_map(|entry| Some((&entry.name, self.context.address(entry)?)))
            .collect();
        for (name, at) in named {
            if !shared.used.insert(name.clone()) {
                return Err(WorkError::NotFresh {
                    name: name.clone(),
                    address: at.address.clone(),
                });
            }
        }
        Ok(())
    }

    fn share(&self, bot: &LeasedBot, set: u64) -> io::Result<StartedBot> {
        let mut shared = self.shared.lock();
        shared.moment += 1;
        let moment = shared.moment;
        let mut known = shared.bots.iter_mut();
        if let Some(known) = known.find(|known| is_same(&known.wanted, bot)) {
            known.chunks += 1;
            known.last = moment;
            return Ok(known.running.clone());
        }
        let running = self.start(bot, set)?;
        shared.bots.push(SharedBot {
            wanted: bot.clone(),
            running: running.clone(),
            chunks: 1,
            last: moment,
        });
        Ok(running)
    }

    fn start(&self, bot: &LeasedBot, set: u64) -> io::Result<StartedBot> {
        let gauge = bot.options.measure_memory.then(Arc::default);
        let started = self
            .context
            .bot(&bot.entry, &bot.options, gauge.clone(), set)?;
        Ok(StartedBot {
            bot: Arc::new(started),
            gauge,
        })
    }

    /// Takes back the bots of a chunk that has been played, and stops processes that
    /// are not kept for the next one. Gives for each bot of the lineup the most
    /// memory that a process of it has added, where it was measured.
    pub async fn give_back(&self, bots: ChunkBots) -> Vec<Option<u64>> {
        let mut idle: Vec<Arc<Bot>> = Vec::new();
        {
            let mut shared = self.shared.lock();
            for (place, running) in bots.0.iter().enumerate() {
                let is_it = |other: &StartedBot| Arc::ptr_eq(&other.bot, &running.bot);
                if bots.0[..place].iter().any(is_it) {
                    continue;
                }
                match shared.bots.iter_mut().find(|known| is_it(&known.running)) {
                    Some(known) => known.chunks -= 1,
                    None => idle.push(running.bot.clone()),
                }
            }
            while shared.bots.len() > KEPT {
                let unused = shared.bots.iter().enumerate();
                let unused = unused.filter(|(_, known)| known.chunks == 0);
                let Some((oldest, _)) = unused.min_by_key(|(_, known)| known.last) else {
                    break;
                };
                idle.push(shared.bots.swap_remove(oldest).running.bot);
            }
        }
        join_all(idle.iter().map(|bot| bot.stop())).await;
        let gauges = bots.0.iter().map(|running| running.gauge.as_ref());
        gauges
            .map(|gauge| gauge.map(|gauge| gauge.peak()))
            .collect()
    }

    /// Stops every process.
    pub async fn close(&self) {
        let bots = std::mem::take(&mut self.shared.lock().bots);
        join_all(bots.iter().map(|known| known.running.bot.stop())).await;
    }
}

impl ChunkBots {
    /// The bot at a place of the lineup.
    #[must_use]
    pub fn at(&self, place: usize) -> Arc<Bot> {
        self.0[place].bot.clone()
    }
}

/// True if two are one bot, whatever they are called in their games.
fn is_same(one: &LeasedBot, other: &LeasedBot) -> bool {
    one.entry == other.entry && one.options == other.options
}
