//! A bot and the processes that it plays with: started when they are needed,
//! shared by as many games as they say they can play, and retired when they misbehave.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use referee_core::Foul;
use tokio::{runtime::Handle, sync::Notify};
use tonic::transport::Channel;

use crate::{
    address::Address,
    play::CLOSE_GRACE,
    pool::ShardId,
    process::{Launch, Process, post_mortem},
};

/// A program that plays, and where to find it.
pub struct Bot {
    source: BotSource,
    /// How long connecting may take.
    connect_limit: Duration,
    state: Mutex<BotState>,
    changed: Notify,
}

enum BotSource {
    /// Runs somewhere; we only connect to it.
    Address(Address),
    /// Is started by us, as often as it is needed; its processes are watched
    /// on this runtime.
    Launch(Launch, Handle),
}

#[derive(Default)]
struct BotState {
    /// Those that play no further game too, until nothing is left of them.
    instances: Vec<Arc<Instance>>,
    started: u64,
    /// How many are being started now.
    starting: usize,
    /// How many games a process can play at once, as the last one said.
    capacity: u64,
}

/// One process of a bot.
struct Instance {
    address: Address,
    process: Option<Process>,
    /// How many games it can play at once; 0 until one of this bot's
    /// processes has said so.
    capacity: AtomicU64,
    /// Whether it has been ready to play before.
    proven: AtomicBool,
    playing: AtomicU64,
    retired: AtomicBool,
    /// One connection for each runtime thread.
    channels: tokio::sync::Mutex<HashMap<ShardId, Channel>>,
}

/// One game's slot in a bot process.
pub(crate) struct Slot {
    reserved: ReservedSlot,
    proven: bool,
    pub(crate) channel: Channel,
}

/// A slot that is taken; given back when it is dropped.
struct ReservedSlot {
    bot: Arc<Bot>,
    instance: Arc<Instance>,
}

impl Bot {
    /// A bot that runs somewhere.
    #[must_use]
    pub fn at(address: Address, connect_limit: Duration) -> Self {
        Self::new(BotSource::Address(address), connect_limit)
    }

    /// A bot that we start; its processes are watched on this runtime.
    #[must_use]
    pub fn launched(launch: Launch, keeper: Handle) -> Self {
        let connect_limit = launch.start_limit;
        Self::new(BotSource::Launch(launch, keeper), connect_limit)
    }

    fn new(source: BotSource, connect_limit: Duration) -> Self {
        Self {
            source,
            connect_limit,
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// How many processes it has been started in.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.lock().started
    }

    /// Stops every process and waits until nothing is left of them. Streams of games
    /// that are over have [`CLOSE_GRACE`] to be closed first.
    pub async fn stop(&self) {
        let instances = std::mem::take(&mut self.lock().instances);
        for instance in &instances {
            instance.retired.store(true, Ordering::Relaxed);
        }
        let _ = tokio::time::timeout(CLOSE_GRACE, self.quiet(&instances)).await;
        let processes = instances.iter().filter_map(|one| one.process.as_ref());
        processes.clone().for_each(Process::stop);
        for process in processes {
            process.ended().await;
        }
    }

    /// Waits until none of these plays a game.
    async fn quiet(&self, instances: &[Arc<Instance>]) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // A change after this line wakes us.
            changed.as_mut().enable();
            let plays = |instance: &Arc<Instance>| instance.playing.load(Ordering::Relaxed) > 0;
            if !instances.iter().any(plays) {
                return;
            }
            changed.await;
        }
    }

    /// Finds a slot for one game, in a process in which none of `others` is. Waits
    /// while all processes are full and no other may be started, and while the first
    /// process has not said how many games it can play. So a caller that takes slots
    /// of several bots must take them in one order for all games: else two games could
    /// wait for each other.
    ///
    /// # Errors
    ///
    /// The foul of a bot that can't be started or reached.
    pub(crate) async fn slot(
        self: &Arc<Self>,
        shard: ShardId,
        others: &[&Slot],
    ) -> Result<Slot, Foul> {
        loop {
            let instance = self.instance(others).await?;
            let proven = instance.proven.load(Ordering::Relaxed);
            // From here on the slot is given back, also on an error or a cancellation.
            let bot = self.clone();
            let reserved = ReservedSlot { bot, instance };
            let instance = &reserved.instance;
            match instance.channel(shard, self.connect_limit).await {
                Ok(channel) => {
                    return Ok(Slot {
                        reserved,
                        proven,
                        channel,
                    });
                }
                Err(detail) => {
                    instance.retired.store(true, Ordering::Relaxed);
                    // A process that died after an earlier game did not fail to start.
                    if !proven {
                        return Err(match &instance.process {
                            Some(_) => Foul::NoStart { detail },
                            None => Foul::Unreachable { detail },
                        });
                    }
                }
            }
        }
    }

    /// A process with a slot for one game, which is taken.
    async fn instance(&self, others: &[&Slot]) -> Result<Arc<Instance>, Foul> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.find(others) {
                SlotSearch::Slot(instance) => return Ok(instance),
                SlotSearch::Wait => changed.await,
                SlotSearch::Start => return self.start().await,
                SlotSearch::Never => {
                    return Err(Foul::Unreachable {
                        detail: "one process can't sit in two seats of a game".to_owned(),
                    });
                }
            }
        }
    }

    fn find(&self, others: &[&Slot]) -> SlotSearch {
        let mut state = self.lock();
        state.instances.retain(|instance| !instance.is_gone());
        let mut taken = 0;
        let mut asked = false;
        let usable: Vec<_> = state
            .instances
            .iter()
            .filter(|one| !one.is_over())
            .collect();
        for instance in &usable {
            if others
                .iter()
                .any(|other| Arc::ptr_eq(&other.reserved.instance, instance))
            {
                taken += 1;
                continue;
            }
            let capacity = instance.capacity.load(Ordering::Relaxed);
            let playing = instance.playing.load(Ordering::Relaxed);
            if playing < capacity.max(1) {
                instance.playing.fetch_add(1, Ordering::Relaxed);
                return SlotSearch::Slot((*instance).clone());
            }
            asked |= capacity == 0;
        }
        match &self.source {
            BotSource::Address(_) if taken > 0 => SlotSearch::Never,
            BotSource::Address(address) if usable.is_empty() => {
                let instance = Instance::new(address.clone(), None, state.capacity);
                state.started += 1;
                state.instances.push(instance.clone());
                SlotSearch::Slot(instance)
            }
            BotSource::Address(_) => SlotSearch::Wait,
            // The first process will soon say how many games it can play, and a
            // process that is being started may have a slot for this game too.
            BotSource::Launch(..)
                if (state.capacity == 0 && asked)
                    || (state.capacity != 1 && state.starting > 0) =>
            {
                SlotSearch::Wait
            }
            BotSource::Launch(..) => {
                state.starting += 1;
                SlotSearch::Start
            }
        }
    }

    async fn start(&self) -> Result<Arc<Instance>, Foul> {
        let _starting = StartingProcess(self);
        let BotSource::Launch(launch, keeper) = &self.source else {
            unreachable!("only a bot that we launch is started");
        };
        let number = {
            let mut state = self.lock();
            state.started += 1;
            state.started
        };
        let mut launch = launch.clone();
        launch.log = launch.log.map(|log| {
            let mut name = log.file_stem().expect("a log is a file").to_owned();
            name.push(format!("-{number}.log"));
            log.with_file_name(name)
        });
        // If the game is cancelled, the process is dropped, which kills it.
        let process = keeper
            .spawn(launch.start())
            .await
            .map_err(|error| Foul::Unreachable {
                detail: format!("could not be started: {error}"),
            })??;
        let mut state = self.lock();
        let address = process.address().clone();
        let instance = Instance::new(address, Some(process), state.capacity);
        state.instances.push(instance.clone());
        Ok(instance)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process that is being started.
struct StartingProcess<'a>(&'a Bot);

impl Drop for StartingProcess<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.starting -= 1;
        if state.starting == 0 && state.instances.is_empty() {
            // It could not be started, so it will not say how many games it can play.
            state.capacity = state.capacity.max(1);
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

enum SlotSearch {
    Slot(Arc<Instance>),
    Wait,
    Start,
    Never,
}

impl Instance {
    /// A new instance, with the slot of the game that it was made for taken.
    fn new(address: Address, process: Option<Process>, capacity: u64) -> Arc<Self> {
        Arc::new(Self {
            address,
            process,
            capacity: AtomicU64::new(capacity),
            proven: AtomicBool::new(false),
            playing: AtomicU64::new(1),
            retired: AtomicBool::new(false),
            channels: tokio::sync::Mutex::default(),
        })
    }

    /// Whether no game will be played on it any more.
    fn is_over(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
            || self.process.as_ref().is_some_and(Process::has_ended)
    }

    /// Whether nothing is left of it.
    fn is_gone(&self) -> bool {
        match &self.process {
            Some(process) => process.is_gone(),
            None => self.is_over(),
        }
    }

    async fn channel(&self, shard: ShardId, within: Duration) -> Result<Channel, String> {
        let mut channels = self.channels.lock().await;
        if let Some(channel) = channels.get(&shard) {
            return Ok(channel.clone());
        }
        let channel = self.address.connect(within).await?;
        channels.insert(shard, channel.clone());
        Ok(channel)
    }
}

impl Slot {
    /// The bot has said how many games its process can play at once.
    pub(crate) fn learned(&self, max_games: Option<u32>) {
        let capacity = u64::from(max_games.unwrap_or(1).max(1));
        let ReservedSlot { bot, instance } = &self.reserved;
        instance.capacity.store(capacity, Ordering::Relaxed);
        instance.proven.store(true, Ordering::Relaxed);
        {
            let mut state = bot.lock();
            state.capacity = capacity;
            // The same program will say the same.
            for other in &state.instances {
                if other.capacity.load(Ordering::Relaxed) == 0 {
                    other.capacity.store(capacity, Ordering::Relaxed);
                }
            }
        }
        bot.changed.notify_waiters();
    }

    /// Whether the process had been ready to play before this game began. If so and it
    /// has ended since, that is no foul in this game.
    pub(crate) const fn was_proven(&self) -> bool {
        self.proven
    }

    /// No further game is to be played on this process.
    pub(crate) fn retire(&self) {
        let instance = &self.reserved.instance;
        instance.retired.store(true, Ordering::Relaxed);
    }

    /// Why the connection broke.
    pub(crate) async fn post_mortem(&self, broken: String) -> Foul {
        post_mortem(self.reserved.instance.process.as_ref(), broken).await
    }
}

impl Drop for ReservedSlot {
    fn drop(&mut self) {
        let Self { bot, instance } = self;
        let before = instance.playing.fetch_sub(1, Ordering::Relaxed);
        if before == 1
            && instance.retired.load(Ordering::Relaxed)
            && let Some(process) = &instance.process
        {
            process.stop();
        }
        bot.changed.notify_waiters();
    }
}
