//! One simulation: hosts, the network between them, what goes wrong, and the end.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use tokio::sync::Notify;
use turmoil::Sim;

use crate::{
    HostClock, Trace,
    faults::{FaultTable, Incident, Trouble},
    network::HostNetwork,
};

/// The environment variable that names the seed of the one simulation to run.
pub const SEED_VARIABLE: &str = "ARENA_SIMULATION_SEED";

/// The options of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// Longest duration, in simulated time.
    pub limit: Duration,
    /// Duration of a step. Messages arrive between two steps; timers go off within one.
    pub tick: Duration,
    /// The longest time that a message takes when nothing is wrong.
    pub latency: Duration,
    /// The faults that may happen.
    pub faults: FaultTable,
    /// By how much the clocks of hosts differ at the beginning, at most, either way.
    pub clock_error: Duration,
    /// The test that runs one seed, for the line that says how to run a failure again.
    pub test: &'static str,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            limit: Duration::from_secs(300),
            tick: Duration::from_millis(5),
            latency: Duration::from_millis(50),
            faults: FaultTable::none(),
            clock_error: Duration::from_secs(30),
            test: "",
        }
    }
}

/// A simulation that is being prepared.
pub struct Simulation<'a> {
    seed: u64,
    options: SimulationOptions,
    chance: ChaCha8Rng,
    sim: Sim<'a>,
    trace: Trace,
    hosts: Vec<String>,
    links: Vec<(String, String)>,
    /// Signals to the process of each host to close its connections.
    kills: BTreeMap<String, Arc<Notify>>,
    /// The hosts that have been told, and end after this step.
    dying: Vec<String>,
    clocks: BTreeMap<String, HostClock>,
}

/// A failure of a simulation: its reason, everything that happened in it, and the way to run it
/// again.
#[derive(thiserror::Error)]
#[error(
    "{trace}simulation {seed} failed: {why}\nto run it again: \
     {SEED_VARIABLE}={seed} cargo test -p arena-simulation {test} -- --include-ignored --nocapture"
)]
pub struct SimulationFailure {
    /// The seed.
    pub seed: u64,
    /// Reason of the failure.
    pub why: String,
    /// The test that runs one seed.
    pub test: &'static str,
    /// Events of the simulation.
    pub trace: Trace,
}

impl<'a> Simulation<'a> {
    /// A simulation without hosts.
    #[must_use]
    pub fn new(seed: u64, options: SimulationOptions) -> Self {
        let sim = turmoil::Builder::new()
            .rng_seed(seed)
            .epoch(HostClock::new(0, 0).now())
            .simulation_duration(Duration::MAX)
            .tick_duration(options.tick)
            .min_message_latency(Duration::from_millis(1))
            .max_message_latency(options.latency.max(Duration::from_millis(1)))
            // More than is ever under way: where it is full, turmoil panics.
            .tcp_capacity(1 << 12)
            .enable_random_order()
            .build();
        Self {
            seed,
            options,
            chance: ChaCha8Rng::seed_from_u64(seed),
            sim,
            trace: Trace::default(),
            hosts: Vec::new(),
            links: Vec::new(),
            kills: BTreeMap::new(),
            dying: Vec::new(),
            clocks: BTreeMap::new(),
        }
    }

    /// Events of the simulation.
    #[must_use]
    pub fn trace(&self) -> Trace {
        self.trace.clone()
    }

    /// A seed that follows from that of the simulation, for whatever else draws by
    /// chance.
    pub fn draw_seed(&mut self) -> u64 {
        self.chance.next_u64()
    }

    /// The clock of a host, which differs from those of the others.
    pub fn clock(&mut self, host: &str) -> HostClock {
        if let Some(clock) = self.clocks.get(host) {
            return clock.clone();
        }
        let most = self.options.clock_error.as_micros().min(1 << 40) as i64;
        let mut draw =
            |most: i64| (self.chance.next_u64() >> 1).cast_signed() % (2 * most + 1) - most;
        let (ahead_us, drift_ppm) = (draw(most), draw(200));
        let clock = HostClock::new(ahead_us, drift_ppm);
        self.clocks.insert(host.to_owned(), clock.clone());
        clock
    }

    /// Adds a host. `software` is called when it starts, and again whenever it starts
    /// anew after a crash: what it has captured outlives the crash, as a disk does. A
    /// host that ends with an error ends the simulation.
    pub fn host<F, S>(&mut self, name: &str, software: S)
    where
        S: Fn(HostNetwork) -> F + 'a,
        F: Future<Output = turmoil::Result> + 'static,
    {
        let kill = Arc::new(Notify::new());
        self.kills.insert(name.to_owned(), kill.clone());
        self.hosts.push(name.to_owned());
        self.sim.host(name, move || {
            let (kill, network) = (kill.clone(), HostNetwork::default());
            let software = software(network.clone());
            async move {
                tokio::select! {
                    biased;
                    () = kill.notified() => {
                        network.close();
                        std::future::pending().await
                    }
                    ended = software => ended,
                }
            }
        });
    }

    /// Says that two hosts talk with each other, so that the link between them may
    /// break.
    pub fn link(&mut self, a: &str, b: &str) {
        self.links.push((a.to_owned(), b.to_owned()));
    }

    /// Runs it until `step` says that it is over. `step` is called after each step; it
    /// looks at what must always hold.
    ///
    /// # Errors
    ///
    /// [`SimulationFailure`]: a host or `step` has failed, or the time is over.
    pub fn run(
        mut self,
        mut step: impl FnMut(Duration) -> Result<bool, String>,
    ) -> Result<Trace, SimulationFailure> {
        let incidents = self
            .options
            .faults
            .draw(&mut self.chance, &self.hosts, &self.links);
        // Within one step nothing can begin and end: a process that is killed closes its
        // connections in one step, and is started again in a later one.
        let shortest = 2 * self.options.tick;
        // What ends comes before what begins at the same time.
        let mut changes: Vec<(Duration, bool, Incident)> = incidents
            .into_iter()
            .flat_map(|incident| {
                let begin = incident.begin;
                let end = incident.end.max(begin + shortest);
                [(begin, true, incident.clone()), (end, false, incident)]
            })
            .collect();
        changes.sort_by_key(|(when, begins, _)| (*when, *begins));
        let mut changes = changes.into_iter().peekable();
        loop {
            let now = self.sim.elapsed();
            self.trace.set_now(now);
            for clock in self.clocks.values() {
                clock.advance_to(now);
            }
            while let Some((_, begins, incident)) = changes.next_if(|(when, ..)| *when <= now) {
                self.apply(&incident.trouble, begins);
            }
            let stepped = self.sim.step().map_err(|error| error.to_string());
            for host in std::mem::take(&mut self.dying) {
                self.sim.crash(host.as_str());
            }
            let outcome = stepped.and_then(|_| step(self.sim.elapsed()));
            match outcome {
                Ok(true) => return Ok(self.trace),
                Ok(false) if self.sim.elapsed() < self.options.limit => {}
                Ok(false) => return Err(self.failed("it is not over in time".to_owned())),
                Err(why) => return Err(self.failed(why)),
            }
        }
    }

    fn failed(self, why: String) -> SimulationFailure {
        SimulationFailure {
            seed: self.seed,
            why,
            test: self.options.test,
            trace: self.trace,
        }
    }

    /// Begins or ends what goes wrong.
    fn apply(&mut self, trouble: &Trouble, begins: bool) {
        let word = if begins { "begins" } else { "ends" };
        self.trace.tell("fault", format_args!("{word}: {trouble}"));
        let sim = &mut self.sim;
        match (trouble, begins) {
            (Trouble::Partition(a, b), true) => sim.partition(a.as_str(), b.as_str()),
            (Trouble::Partition(a, b), false) => sim.repair(a.as_str(), b.as_str()),
            (Trouble::OneWay(from, to), true) => {
                sim.partition_oneway(from.as_str(), to.as_str());
            }
            (Trouble::OneWay(from, to), false) => {
                sim.repair_oneway(from.as_str(), to.as_str());
            }
            (Trouble::Hold(a, b), true) => sim.hold(a.as_str(), b.as_str()),
            (Trouble::Hold(a, b), false) => sim.release(a.as_str(), b.as_str()),
            (Trouble::Slow(a, b, most), _) => {
                let most = if begins { *most } else { self.options.latency };
                let most = most.max(Duration::from_millis(1));
                sim.set_link_max_message_latency(a.as_str(), b.as_str(), most);
            }
            (Trouble::Loss(a, b, share), true) => {
                let rate = f64::from((*share).min(1000)) / 1000.0;
                sim.set_link_fail_rate(a.as_str(), b.as_str(), rate);
            }
            (Trouble::Loss(a, b, _), false) => {
                sim.set_link_fail_rate(a.as_str(), b.as_str(), 0.0);
                // The last message may have broken it.
                sim.repair(a.as_str(), b.as_str());
            }
            (Trouble::Kill(host), true) => {
                if let Some(kill) = self.kills.get(host) {
                    kill.notify_one();
                }
                self.dying.push(host.clone());
            }
            (Trouble::Kill(host), false) => sim.bounce(host.as_str()),
            (Trouble::PowerCut(host), true) => {
                // First, so that nobody hears of the crash.
                for other in self.hosts.iter().filter(|other| *other != host) {
                    sim.partition(host.as_str(), other.as_str());
                }
                sim.crash(host.as_str());
            }
            (Trouble::PowerCut(host), false) => {
                for other in self.hosts.iter().filter(|other| *other != host) {
                    sim.repair(host.as_str(), other.as_str());
                }
                sim.bounce(host.as_str());
            }
            (Trouble::ClockJump(host, by_ms), true) => {
                if let Some(clock) = self.clocks.get(host) {
                    clock.jump(*by_ms);
                }
            }
            (Trouble::ClockJump(..), false) => {}
        }
    }
}

impl fmt::Debug for Simulation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("seed", &self.seed)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// The message, so that a test that unwraps shows what happened.
impl fmt::Debug for SimulationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}
