//! A bot and the processes that it plays with: started when they are needed,
//! shared by as many games as they say they can play, and retired when they misbehave.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use referee_core::{Foul, ThinkingTime};
use referee_games::SeatReply;
use tokio::{runtime::Handle, sync::Notify, time::Instant};

use crate::{
    address::Address,
    busy::BusyTime,
    connection::{BotConnection, Broken, ConnectError},
    dial::BotDial,
    excuses::{Excuse, Excuses},
    heartbeat::Heartbeat,
    play::CLOSE_GRACE,
    pool::{Shard, ShardId},
    process::{BotProcess, GameOutput, Launch, ProcessOutput, StartError, judged},
    shortage::Shortage,
    still::Resting,
};

/// A program that plays, and where to find it.
pub struct Bot {
    source: BotSource,
    /// Settings for dialling its address.
    dial: BotDial,
    /// Longest time for connecting.
    connect_limit: Duration,
    state: Mutex<BotState>,
    changed: Notify,
    /// Time that each runtime thread has spent on its connections.
    busy: Mutex<HashMap<ShardId, Arc<BusyTime>>>,
    excuses: Arc<Excuses>,
    identity: Option<String>,
    number: u64,
    /// True if it has answered since it was last found to be gone, where it runs somewhere.
    has_answered: AtomicBool,
    /// True if it was said that its server allows fewer streams than it has games.
    is_told: AtomicBool,
}

/// Longest time for which a bot that starts keeps others from starting.
const START_TURN: Duration = Duration::from_secs(1);
/// Interval at which a service that is gone is tried again.
const SERVICE_PAUSE: Duration = Duration::from_millis(50);
/// Longest time for which a game waits that a service is started again, however long a start may
/// take. Who plays many games waits longer, and plays others meanwhile.
const SERVICE_RESTARTS_WITHIN: Duration = Duration::from_secs(10);

/// Number of bots that were made in this process.
static BOTS: AtomicU64 = AtomicU64::new(0);

enum BotSource {
    /// Runs somewhere; we only connect to it.
    Address(Address),
    /// Is started by us, as often as it is needed; its processes are watched
    /// on this runtime.
    Launch(Box<Launch>, Handle),
}

#[derive(Default)]
struct BotState {
    /// Those that play no further game too, until nothing is left of them.
    instances: Vec<Arc<Instance>>,
    started: u64,
    /// Number of processes that are being started now.
    starting: usize,
    /// Number of games that a process can play at once, as the last one said.
    capacity: u64,
    /// The output of the last process that did not start.
    not_started: String,
}

/// One process of a bot.
struct Instance {
    address: Address,
    process: Option<BotProcess>,
    /// Number of games that it can play at once; 0 until one of this bot's processes has said
    /// so.
    capacity: AtomicU64,
    /// True if it has been ready to play before.
    proven: AtomicBool,
    playing: AtomicU64,
    retired: AtomicBool,
    /// One connection for each runtime thread.
    connections: Mutex<HashMap<ShardId, BotConnection>>,
    /// Held while a connection is opened.
    connecting: tokio::sync::Mutex<()>,
}

/// One game's slot in a bot process.
pub(crate) struct GameSlot {
    resting: Resting,
    reserved: ReservedSlot,
    proven: bool,
    /// What [`BotProcess::memory_kills`] said when it was taken.
    kills_before: u64,
    pub(crate) connection: BotConnection,
}

/// Reason why a bot has no slot for a game, and will not have one.
#[derive(Debug)]
pub(crate) enum NoSlot {
    /// It can't be started or reached.
    Foul(Foul),
    /// We lack what is needed to start or reach it.
    Shortage(Shortage),
}

/// A slot that is taken; given back when it is dropped.
struct ReservedSlot {
    bot: Arc<Bot>,
    instance: Arc<Instance>,
    /// Number of games on the connection of this one.
    on_connection: Arc<AtomicU64>,
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
        Self::new(BotSource::Launch(Box::new(launch), keeper), connect_limit)
    }

    fn new(source: BotSource, connect_limit: Duration) -> Self {
        Self {
            source,
            dial: BotDial::default(),
            connect_limit,
            state: Mutex::default(),
            changed: Notify::new(),
            busy: Mutex::default(),
            excuses: Arc::default(),
            identity: None,
            number: BOTS.fetch_add(1, Ordering::Relaxed),
            has_answered: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
        }
    }

    /// The same bot, whose address is dialled in this way. One that we start listens on a
    /// socket of our own, and is dialled as ever.
    #[must_use]
    pub fn with_dial(mut self, dial: BotDial) -> Self {
        if matches!(self.source, BotSource::Address(_)) {
            self.dial = dial;
        }
        self
    }

    /// The same bot, whose excuses are counted together with those of other processes of the
    /// same program.
    #[must_use]
    pub fn with_excuses(mut self, excuses: Arc<Excuses>) -> Self {
        self.excuses = excuses;
        self
    }

    /// The same bot, of which this is known: a hash of what decides how it plays, for records.
    #[must_use]
    pub fn with_identity(mut self, identity: Option<String>) -> Self {
        self.identity = identity;
        self
    }

    /// The identity of the bot, as far as that is known.
    pub(crate) fn identity(&self) -> Option<String> {
        self.identity.clone()
    }

    /// Bots are taken in this order by all games, so that no two games wait for each other.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// The walls around its processes in words; none where it is trusted or runs elsewhere.
    pub(crate) fn walls(&self) -> Option<String> {
        let BotSource::Launch(launch, _) = &self.source else {
            return None;
        };
        if let Some(container) = &launch.container {
            return Some(container.containers.walls());
        }
        Some(launch.sandbox.as_ref()?.walls().to_string())
    }

    /// What its last process printed that did not start.
    pub(crate) fn output_of_start(&self) -> String {
        self.state.lock().not_started.clone()
    }

    /// Number of processes that it has been started in.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.state.lock().started
    }

    /// Stops every process and waits until nothing is left of them. Streams of games
    /// that are over have [`CLOSE_GRACE`] to be closed first.
    pub async fn stop(&self) {
        let instances = std::mem::take(&mut self.state.lock().instances);
        for instance in &instances {
            instance.retired.store(true, Ordering::Relaxed);
        }
        let _ = tokio::time::timeout(CLOSE_GRACE, self.quiet(&instances)).await;
        let processes = instances.iter().filter_map(|one| one.process.as_ref());
        processes.clone().for_each(BotProcess::stop);
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

    /// Takes a slot for one game, in a process in which none of `others` is; none if there
    /// is no such slot now. Never waits: a caller that lacks a slot gives back those that it
    /// has of other bots, and calls [`prepare`](Self::prepare).
    pub(crate) fn try_slot(
        self: &Arc<Self>,
        shard: ShardId,
        others: &[&GameSlot],
    ) -> Option<GameSlot> {
        let state = self.state.lock();
        let taken = |instance: &Arc<Instance>| {
            let mut others = others.iter();
            others.any(|other| Arc::ptr_eq(&other.reserved.instance, instance))
        };
        let mut instances = state.instances.iter();
        let (instance, connection) = instances.find_map(|instance| {
            let fits = !instance.is_over() && instance.has_room() && !taken(instance);
            let connection = fits.then(|| instance.connection(shard))??;
            connection
                .has_room()
                .then(|| (instance.clone(), connection))
        })?;
        instance.playing.fetch_add(1, Ordering::Relaxed);
        let on_connection = connection.playing.clone();
        on_connection.fetch_add(1, Ordering::Relaxed);
        // What follows reads a file of the process's cgroup.
        drop(state);
        let proven = instance.proven.load(Ordering::Relaxed);
        let bot = self.clone();
        let process = instance.process.as_ref();
        Some(GameSlot {
            resting: Resting::of(process.and_then(BotProcess::still)),
            kills_before: process.map_or(0, BotProcess::memory_kills),
            reserved: ReservedSlot {
                bot,
                instance,
                on_connection,
            },
            proven,
            connection,
        })
    }

    /// Waits until there may be slots in so many different processes for games on this
    /// thread; starts and connects processes if there are too few. Waits while all
    /// processes are full and no other may be started, and while the first process has not
    /// said how many games it can play. It takes no slot.
    ///
    /// # Errors
    ///
    /// [`NoSlot`] if the bot can't be started or reached.
    pub(crate) async fn prepare(&self, shard: &Shard, processes: usize) -> Result<(), NoSlot> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // A change after this line wakes us.
            changed.as_mut().enable();
            match self.next_step(shard.id, processes) {
                NextStep::Ready => return Ok(()),
                NextStep::Wait => changed.await,
                NextStep::Start => self.start_in_turn(shard).await?,
                NextStep::Connect(instance) => self.connect(&instance, shard).await?,
                NextStep::Never => {
                    return Err(NoSlot::Foul(Foul::Unreachable {
                        detail: "one process can't sit in two seats of a game".to_owned(),
                    }));
                }
            }
        }
    }

    /// Waits for a slot for one game.
    ///
    /// # Errors
    ///
    /// As for [`prepare`](Self::prepare).
    pub(crate) async fn slot(self: &Arc<Self>, shard: &Shard) -> Result<GameSlot, NoSlot> {
        loop {
            if let Some(slot) = self.try_slot(shard.id, &[]) {
                return Ok(slot);
            }
            self.prepare(shard, 1).await?;
        }
    }

    fn next_step(&self, shard: ShardId, processes: usize) -> NextStep {
        let mut state = self.state.lock();
        state.instances.retain(|instance| !instance.is_gone());
        let instances = state.instances.iter();
        let usable: Vec<&Arc<Instance>> = instances.filter(|one| !one.is_over()).collect();
        let (free, full): (Vec<&Arc<Instance>>, Vec<&Arc<Instance>>) =
            usable.iter().partition(|one| one.has_room_on(shard));
        let apart = free.iter().find(|one| one.connection(shard).is_none());
        if let Some(instance) = apart {
            return NextStep::Connect((*instance).clone());
        }
        if free.len() >= processes {
            return NextStep::Ready;
        }
        let asked = full
            .iter()
            .any(|one| one.capacity.load(Ordering::Relaxed) == 0);
        match &self.source {
            BotSource::Address(_) if processes > 1 => NextStep::Never,
            BotSource::Address(address) if usable.is_empty() => {
                let instance = Instance::new(address.clone(), None, state.capacity);
                state.started += 1;
                state.instances.push(instance.clone());
                NextStep::Connect(instance)
            }
            BotSource::Address(_) => NextStep::Wait,
            // The first process will soon say how many games it can play, and a
            // process that is being started may have a slot for this game too.
            BotSource::Launch(..)
                if (state.capacity == 0 && asked)
                    || (state.capacity != 1 && state.starting > 0) =>
            {
                NextStep::Wait
            }
            BotSource::Launch(..) => {
                state.starting += 1;
                NextStep::Start
            }
        }
    }

    /// Starts a process when it is its turn. One that takes long makes place for others.
    async fn start_in_turn(&self, shard: &Shard) -> Result<(), NoSlot> {
        let _starting = StartingProcess(self);
        let turn = shard.starts.acquire().await;
        let mut starting = pin!(self.start());
        if let Ok(started) = tokio::time::timeout(START_TURN, &mut starting).await {
            return started;
        }
        drop(turn);
        starting.await
    }

    async fn start(&self) -> Result<(), NoSlot> {
        let BotSource::Launch(launch, keeper) = &self.source else {
            unreachable!("only a bot that we launch is started");
        };
        let number = {
            let mut state = self.state.lock();
            state.started += 1;
            state.started
        };
        let mut launch = (**launch).clone();
        launch.log = launch.log.map(|log| {
            let mut name = log.file_stem().expect("a log is a file").to_owned();
            name.push(format!("-{number}.log"));
            log.with_file_name(name)
        });
        let output = ProcessOutput::default();
        let starting = launch.start_heard(output.clone());
        // If the game is cancelled, the process is dropped, which kills it.
        let started = keeper.spawn(starting).await.map_err(|error| {
            let detail = format!("could not be started: {error}");
            NoSlot::Foul(Foul::Unreachable { detail })
        })?;
        let process = started.map_err(|error| match error {
            StartError::Foul(foul) => {
                self.state.lock().not_started = output.text();
                NoSlot::Foul(foul)
            }
            StartError::Shortage(shortage) => NoSlot::Shortage(shortage),
        })?;
        let mut state = self.state.lock();
        let address = process.address().clone();
        let instance = Instance::new(address, Some(process), state.capacity);
        state.instances.push(instance);
        Ok(())
    }

    /// Connects this thread to a process. One that has died after an earlier game is no
    /// error: it is not used any more.
    async fn connect(&self, instance: &Instance, shard: &Shard) -> Result<(), NoSlot> {
        let _one_at_a_time = instance.connecting.lock().await;
        if instance.connection(shard.id).is_some() {
            return Ok(());
        }
        let leader = instance
            .process
            .as_ref()
            .and_then(BotProcess::first_process);
        // Whoever runs a service starts it again when it has crashed. It is waited for once: one
        // that stays away does not hold up every game.
        let is_awaited =
            instance.process.is_none() && self.has_answered.swap(false, Ordering::Relaxed);
        let deadline = Instant::now() + self.connect_limit.min(SERVICE_RESTARTS_WITHIN);
        let opened = loop {
            let opening = BotConnection::open(
                &instance.address,
                &self.dial,
                leader,
                self.busy(shard),
                self.connect_limit,
            );
            match opening.await {
                Err(ConnectError::Failed(_)) if is_awaited && Instant::now() < deadline => {
                    tokio::time::sleep(SERVICE_PAUSE).await;
                }
                opened => break opened,
            }
        };
        match opened {
            Ok(connection) => {
                self.has_answered.store(true, Ordering::Relaxed);
                instance.connections.lock().insert(shard.id, connection);
                self.changed.notify_waiters();
                Ok(())
            }
            Err(ConnectError::Shortage(shortage)) => Err(NoSlot::Shortage(shortage)),
            Err(ConnectError::Failed(detail)) => {
                instance.retire();
                self.changed.notify_waiters();
                // A process that died after an earlier game did not fail to start.
                if instance.proven.load(Ordering::Relaxed) {
                    return Ok(());
                }
                Err(NoSlot::Foul(match &instance.process {
                    Some(process) => {
                        self.state.lock().not_started = process.output();
                        process.not_connected(detail)
                    }
                    None => Foul::Unreachable { detail },
                }))
            }
        }
    }

    fn busy(&self, shard: &Shard) -> Arc<BusyTime> {
        let mut busy = self.busy.lock();
        let new = || Arc::new(BusyTime::new(shard.heartbeat.clone()));
        busy.entry(shard.id).or_insert_with(new).clone()
    }
}

/// A process that is being started.
struct StartingProcess<'a>(&'a Bot);

impl Drop for StartingProcess<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.starting -= 1;
        if state.starting == 0 && state.instances.is_empty() {
            // It could not be started, so it will not say how many games it can play.
            state.capacity = state.capacity.max(1);
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

/// The next step, so that there is a slot.
enum NextStep {
    Ready,
    Wait,
    Start,
    Connect(Arc<Instance>),
    Never,
}

impl Instance {
    /// A new instance that plays nothing.
    fn new(address: Address, process: Option<BotProcess>, capacity: u64) -> Arc<Self> {
        Arc::new(Self {
            address,
            process,
            capacity: AtomicU64::new(capacity),
            proven: AtomicBool::new(false),
            playing: AtomicU64::new(0),
            retired: AtomicBool::new(false),
            connections: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
        })
    }

    /// True if no game will be played on it any more.
    fn is_over(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
            || self.process.as_ref().is_some_and(BotProcess::has_ended)
    }

    /// True if nothing is left of it.
    fn is_gone(&self) -> bool {
        match &self.process {
            Some(process) => process.is_gone(),
            None => self.is_over(),
        }
    }

    /// True if it can play one more game.
    fn has_room(&self) -> bool {
        let capacity = self.capacity.load(Ordering::Relaxed);
        self.playing.load(Ordering::Relaxed) < capacity.max(1)
    }

    /// The same for a game on this thread, whose connection may have no room for a stream.
    fn has_room_on(&self, shard: ShardId) -> bool {
        let connection = self.connection(shard);
        self.has_room() && connection.is_none_or(|connection| connection.has_room())
    }

    /// No further game is to be played on it; it is stopped when it plays none.
    fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
        if self.playing.load(Ordering::Relaxed) == 0
            && let Some(process) = &self.process
        {
            process.stop();
        }
    }

    fn connection(&self, shard: ShardId) -> Option<BotConnection> {
        self.connections.lock().get(&shard).cloned()
    }
}

impl GameSlot {
    /// The bot has said how many games its process can play at once.
    pub(crate) fn learned(&self, max_games: Option<u32>) {
        let capacity = u64::from(max_games.unwrap_or(1).max(1));
        let ReservedSlot { bot, instance, .. } = &self.reserved;
        let streams = self.connection.traffic.streams();
        if capacity > streams.into() && !bot.is_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                bot = %instance.address,
                max_games = capacity,
                streams,
                "the bot's server allows fewer streams on a connection than the games that it \
                 says it can play at once, so fewer are played; raise its limit of concurrent \
                 streams to max_games"
            );
        }
        instance.capacity.store(capacity, Ordering::Relaxed);
        instance.proven.store(true, Ordering::Relaxed);
        {
            let mut state = bot.state.lock();
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

    /// True if the process had been ready to play before this game began. If so and it has
    /// ended since, that is no foul in this game.
    pub(crate) const fn was_proven(&self) -> bool {
        self.proven
    }

    /// Keeps what the process prints while the game goes on; none where the bot runs elsewhere.
    pub(crate) fn output(&self) -> Option<GameOutput> {
        let process = self.reserved.instance.process.as_ref();
        process.map(BotProcess::of_game)
    }

    /// No further game is to be played on this process.
    pub(crate) fn retire(&self) {
        let instance = &self.reserved.instance;
        instance.retired.store(true, Ordering::Relaxed);
    }

    /// One more answer of the bot. Gives the foul where its excuses can't be chance.
    pub(crate) fn answered(
        &self,
        thought: ThinkingTime,
        limit: Duration,
        excuse: Option<Excuse>,
        heartbeat: &Heartbeat,
    ) -> Option<Foul> {
        let excuses = &self.reserved.bot.excuses;
        excuses.answered(thought, limit, excuse, || heartbeat.stalled_share())
    }

    /// The process may be held still, as far as this game is concerned: it has answered.
    pub(crate) fn rests(&self) {
        self.resting.rests();
    }

    /// The process is needed.
    pub(crate) fn wakes(&self) {
        self.resting.wakes();
    }

    /// The reply, judged by what became of the process.
    ///
    /// # Errors
    ///
    /// There is none, and that is not the bot's fault.
    pub(crate) async fn judged(
        &self,
        heard: Result<SeatReply, Broken>,
    ) -> Result<SeatReply, Shortage> {
        let process = self.reserved.instance.process.as_ref();
        judged(process, self.kills_before, heard).await
    }
}

impl Drop for ReservedSlot {
    fn drop(&mut self) {
        let Self {
            bot,
            instance,
            on_connection,
        } = self;
        on_connection.fetch_sub(1, Ordering::Relaxed);
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
