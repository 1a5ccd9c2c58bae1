//! A bot and the processes that it plays with: started when they are needed,
//! shared as far as they say they can be, set aside when they misbehave.

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
    pool::ShardId,
    process::{Launch, Process},
};

/// A program that plays, and where to find it.
pub struct Bot {
    source: Source,
    /// How long connecting may take.
    connect_limit: Duration,
    state: Mutex<State>,
    changed: Notify,
}

enum Source {
    /// Runs somewhere; we only dial.
    Address(Address),
    /// Is started by us, as often as it is needed; its processes are watched
    /// on this runtime.
    Launch(Launch, Handle),
}

#[derive(Default)]
struct State {
    instances: Vec<Arc<Instance>>,
    started: u64,
}

/// One process of a bot.
struct Instance {
    id: u64,
    address: Address,
    process: Option<Process>,
    /// How many games it can play at once; 0 until it has said so.
    capacity: AtomicU64,
    playing: AtomicU64,
    retired: AtomicBool,
    /// One connection for each runtime thread.
    channels: tokio::sync::Mutex<HashMap<ShardId, Channel>>,
}

/// One game's place in a bot process; given back when it is dropped.
pub(crate) struct Place {
    bot: Arc<Bot>,
    instance: Arc<Instance>,
    pub(crate) channel: Channel,
}

impl Bot {
    /// A bot that runs somewhere.
    #[must_use]
    pub fn at(address: Address, connect_limit: Duration) -> Self {
        Self::new(Source::Address(address), connect_limit)
    }

    /// A bot that we start; its processes are watched on this runtime.
    #[must_use]
    pub fn launched(launch: Launch, keeper: Handle) -> Self {
        let connect_limit = launch.start_limit;
        Self::new(Source::Launch(launch, keeper), connect_limit)
    }

    fn new(source: Source, connect_limit: Duration) -> Self {
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

    /// Stops every process and waits until nothing is left of them.
    pub async fn stop(&self) {
        let instances = std::mem::take(&mut self.lock().instances);
        for instance in &instances {
            instance.retired.store(true, Ordering::Relaxed);
            if let Some(process) = &instance.process {
                process.stop();
            }
        }
        for instance in &instances {
            if let Some(process) = &instance.process {
                process.ended().await;
            }
        }
    }

    /// Finds a place for one game, in none of the processes in which `others`
    /// already have theirs. Waits while every process is full that may not be
    /// multiplied.
    ///
    /// # Errors
    ///
    /// The foul of a bot that can't be started or reached.
    pub(crate) async fn place(
        self: &Arc<Self>,
        shard: ShardId,
        others: &[&Place],
    ) -> Result<Place, Foul> {
        let instance = loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.find(others) {
                Found::Place(instance) => break instance,
                Found::Wait => changed.await,
                Found::Start => break self.start().await?,
                Found::Never => {
                    return Err(Foul::Unreachable {
                        detail: "one process can't sit in two seats of a game".to_owned(),
                    });
                }
            }
        };
        // From here on the place is given back whatever happens.
        let mut held = Held(Some((self.clone(), instance.clone())));
        let channel = instance.channel(shard, self.connect_limit).await;
        let channel = match channel {
            Ok(channel) => channel,
            Err(detail) => {
                instance.retired.store(true, Ordering::Relaxed);
                return Err(match &instance.process {
                    Some(_) => Foul::NoStart { detail },
                    None => Foul::Unreachable { detail },
                });
            }
        };
        held.0 = None;
        Ok(Place {
            bot: self.clone(),
            instance,
            channel,
        })
    }

    fn find(&self, others: &[&Place]) -> Found {
        let mut state = self.lock();
        state.instances.retain(|instance| !instance.is_over());
        let mut asked = false;
        let mut taken = false;
        for instance in &state.instances {
            if others.iter().any(|other| {
                other.instance.id == instance.id && Arc::ptr_eq(&other.instance, instance)
            }) {
                taken = true;
                continue;
            }
            match instance.capacity.load(Ordering::Relaxed) {
                0 if instance.playing.load(Ordering::Relaxed) > 0 => asked = true,
                capacity => {
                    if instance.playing.load(Ordering::Relaxed) < capacity.max(1) {
                        instance.playing.fetch_add(1, Ordering::Relaxed);
                        return Found::Place(instance.clone());
                    }
                }
            }
        }
        match &self.source {
            // It will say in a moment how many games it can play.
            _ if asked => Found::Wait,
            Source::Address(_) if taken && state.instances.len() == 1 => Found::Never,
            Source::Address(address) if state.instances.is_empty() => {
                let instance = Instance::new(state.started, address.clone(), None);
                state.started += 1;
                state.instances.push(instance.clone());
                Found::Place(instance)
            }
            Source::Address(_) => Found::Wait,
            Source::Launch(..) => Found::Start,
        }
    }

    async fn start(&self) -> Result<Arc<Instance>, Foul> {
        let Source::Launch(launch, keeper) = &self.source else {
            unreachable!("only a bot that we launch is started");
        };
        let id = {
            let mut state = self.lock();
            state.started += 1;
            state.started - 1
        };
        let mut launch = launch.clone();
        launch.log = launch.log.map(|log| {
            let mut name = log.file_stem().unwrap_or_default().to_owned();
            name.push(format!("-{}.log", id + 1));
            log.with_file_name(name)
        });
        // If the game is cut off, the process is dropped and so killed.
        let process = keeper
            .spawn(launch.start())
            .await
            .map_err(|error| Foul::Unreachable {
                detail: format!("could not be started: {error}"),
            })??;
        let instance = Instance::new(id, process.address().clone(), Some(process));
        self.lock().instances.push(instance.clone());
        Ok(instance)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Found {
    Place(Arc<Instance>),
    Wait,
    Start,
    Never,
}

impl Instance {
    /// A new instance, with the place of the game that it was made for taken.
    fn new(id: u64, address: Address, process: Option<Process>) -> Arc<Self> {
        Arc::new(Self {
            id,
            address,
            process,
            capacity: AtomicU64::new(0),
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

impl Place {
    /// The bot has said how many games its process can play at once.
    pub(crate) fn learned(&self, max_games: Option<u32>) {
        let capacity = u64::from(max_games.unwrap_or(1).max(1));
        self.instance.capacity.store(capacity, Ordering::Relaxed);
        self.bot.changed.notify_waiters();
    }

    /// No further game is to be played on this process.
    pub(crate) fn retire(&self) {
        self.instance.retired.store(true, Ordering::Relaxed);
    }

    /// Why the connection broke.
    pub(crate) async fn post_mortem(&self, broken: String) -> Foul {
        match &self.instance.process {
            Some(process) => process.post_mortem(broken).await,
            None => Foul::Crashed {
                detail: Foul::evidence(format!("the connection broke: {broken}")),
            },
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        give_back(&self.bot, &self.instance);
    }
}

/// A place that is being made.
struct Held(Option<(Arc<Bot>, Arc<Instance>)>);

impl Drop for Held {
    fn drop(&mut self) {
        if let Some((bot, instance)) = &self.0 {
            give_back(bot, instance);
        }
    }
}

fn give_back(bot: &Bot, instance: &Instance) {
    let before = instance.playing.fetch_sub(1, Ordering::Relaxed);
    if before == 1
        && instance.retired.load(Ordering::Relaxed)
        && let Some(process) = &instance.process
    {
        process.stop();
    }
    bot.changed.notify_waiters();
}
