//! A network on one machine: every machine of it is a network namespace, and a bridge connects
//! them. Nothing of it can be reached from elsewhere, so its addresses are the same in all tests.

use std::{
    process::{Command, id},
    sync::atomic::{AtomicU32, Ordering},
    thread::{JoinHandle, spawn},
    time::Duration,
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tokio_tun::Tun;
use tokio_util::sync::CancellationToken;

/// The address of the machine that the bridge belongs to.
pub(crate) const CENTRE: &str = "10.77.0.1";

/// Time that a frame is under way on a slow line, in each direction.
const DELAY: Duration = Duration::from_millis(100);
/// Share of the frames that a slow line loses, in each direction.
const LOSS: f64 = 0.01;
/// No frame is larger.
const LARGEST_FRAME: usize = 64 * 1024;

/// The machines and their lines; dropping it removes all of them.
pub(crate) struct Network {
    /// Beginning of the names of its namespaces.
    id: String,
    machines: Vec<String>,
    lines: Vec<SlowLine>,
}

/// A line that is carried by a thread of ours, frame by frame: netem could do the same, but
/// not every kernel has it.
struct SlowLine {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Network {
    /// The machine with the bridge, at [`CENTRE`], and no other.
    pub(crate) fn new() -> Self {
        static NETWORKS: AtomicU32 = AtomicU32::new(0);
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let mut network = Self {
            id: format!("arena-test-{}-{number}", id()),
            machines: Vec::new(),
            lines: Vec::new(),
        };
        network.add_namespace("centre");
        network.within("centre", "link add bridge type bridge");
        network.address("centre", "bridge", CENTRE);
        network
    }

    /// A machine with a line to the bridge.
    pub(crate) fn add(&mut self, name: &str) {
        self.add_namespace(name);
        let other = self.namespace(name);
        let line = format!("link add {name} type veth peer name line netns {other}");
        self.within("centre", &line);
        self.connect(name);
    }

    /// A machine with a line to the bridge that is slow and loses frames.
    pub(crate) fn add_far(&mut self, name: &str) {
        self.add_namespace(name);
        // Names of devices may have 15 bytes, and these two begin outside the namespaces.
        let ends = ["n", "f"].map(|end| format!("{end}{}x{}", id(), self.machines.len()));
        self.lines.push(SlowLine::new(&ends));
        for (end, name, namespace) in [(&ends[0], name, "centre"), (&ends[1], "line", name)] {
            let namespace = self.namespace(namespace);
            ip(&format!("link set dev {end} netns {namespace} name {name}"));
        }
        self.connect(name);
    }

    /// The line of a machine carries nothing any more.
    pub(crate) fn cut(&self, name: &str) {
        self.within("centre", &format!("link set dev {name} down"));
    }

    /// The line of a machine carries again what is sent.
    pub(crate) fn heal(&self, name: &str) {
        self.within("centre", &format!("link set dev {name} up"));
    }

    /// A machine has another address, and nothing reaches it at the one that it had: what was
    /// connected is dead, and neither side hears of it.
    pub(crate) fn move_away(&self, name: &str) {
        self.within(name, "address flush dev line");
        let address = format!("10.77.0.{}", 100 + self.machines.len());
        self.address(name, "line", &address);
    }

    /// The same command on one of the machines; the child is the program itself.
    pub(crate) fn on(&self, machine: &str, command: &Command) -> Command {
        let mut on = Command::new("ip");
        on.args(["netns", "exec", &self.namespace(machine)])
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => on.env(name, value),
                None => on.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            on.current_dir(folder);
        }
        on
    }

    fn namespace(&self, machine: &str) -> String {
        format!("{}-{machine}", self.id)
    }

    fn add_namespace(&mut self, machine: &str) {
        ip(&format!("netns add {}", self.namespace(machine)));
        self.machines.push(machine.to_owned());
        self.within(machine, "link set dev lo up");
    }

    /// Plugs both ends of a line in.
    fn connect(&self, name: &str) {
        self.within("centre", &format!("link set dev {name} master bridge up"));
        let address = format!("10.77.0.{}", self.machines.len());
        self.address(name, "line", &address);
    }

    fn address(&self, machine: &str, device: &str, address: &str) {
        self.within(machine, &format!("address add {address}/24 dev {device}"));
        self.within(machine, &format!("link set dev {device} up"));
    }

    fn within(&self, machine: &str, line: &str) {
        ip(&format!("-netns {} {line}", self.namespace(machine)));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // A line holds its devices, and they would outlive their namespaces.
        self.lines.clear();
        for machine in &self.machines {
            let namespace = self.namespace(machine);
            let _ = Command::new("ip")
                .args(["netns", "delete", &namespace])
                .status();
        }
    }
}

impl SlowLine {
    fn new(ends: &[String; 2]) -> Self {
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let [one, other] = {
            let _guard = runtime.enter();
            ends.each_ref().map(|name| end(name))
        };
        let stopped = stop.clone();
        let thread = spawn(move || {
            let (there, back) = (carry(&one, &other, 1), carry(&other, &one, 2));
            let carried = async {
                tokio::select! {
                    () = there => {}
                    () = back => {}
                    () = stopped.cancelled() => {}
                }
            };
            runtime.block_on(carried);
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for SlowLine {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn end(name: &str) -> Tun {
    let built = Tun::builder().name(name).tap().close_on_exec().build();
    let ends = built.unwrap_or_else(|error| {
        panic!("this test needs /dev/net/tun and has to run as root: {error}")
    });
    ends.into_iter().next().unwrap()
}

/// Carries frames from one end of a line to the other until an end is gone.
async fn carry(from: &Tun, to: &Tun, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let (sent, mut under_way) = mpsc::unbounded_channel();
    let take = async {
        let mut frame = vec![0; LARGEST_FRAME];
        while let Ok(length) = from.recv(&mut frame).await {
            if !random.random_bool(LOSS) {
                let _ = sent.send((Instant::now() + DELAY, frame[..length].to_vec()));
            }
        }
    };
    let bring = async {
        while let Some((due, frame)) = under_way.recv().await {
            sleep_until(due).await;
            // A frame that can't be brought is lost, as on any line.
            let _ = to.send(&frame).await;
        }
    };
    tokio::select! {
        () = take => {}
        () = bring => {}
    }
}

fn ip(line: &str) {
    let output = Command::new("ip").args(line.split(' ')).output();
    let output = output.unwrap_or_else(|error| {
        panic!("this test needs `ip` (Debian: apt-get install iproute2): {error}")
    });
    assert!(
        output.status.success(),
        "`ip {line}` failed; this test makes network namespaces, which takes root: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
