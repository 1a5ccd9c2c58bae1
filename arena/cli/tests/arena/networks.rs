//! Workers on other machines, as far as a network is concerned: lines that are cut and healed,
//! slow lines that lose frames, machines that vanish. The table is that of a run without them.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use serde_json::Value;

use crate::{
    namespaces::{CENTRE, Network},
    site::Site,
    vocabulary::*,
};

/// Longest time that a worker may be silent before its games are given to others.
const LEASE: Duration = Duration::from_secs(5);
const PORT: u16 = 50060;

/// An arena on the machine in the centre of a network, and workers on the others.
struct Field {
    /// It is dropped first: its processes are on the machines.
    site: Site,
    network: Network,
}

impl Field {
    /// With certificates for the arena and for these workers, and a token for each of them.
    fn new(workers: &[&str]) -> Self {
        let field = Self {
            site: Site::new(),
            network: Network::new(),
        };
        field.site.run("certs init tls");
        field.site.run(&format!("certs server tls --name {CENTRE}"));
        for name in workers {
            field.site.run(&format!("certs client tls {name}"));
            field.site.run(&format!("workers add {name}"));
        }
        field
    }

    fn serve(&mut self) {
        let line = format!(
            "serve --listen {CENTRE}:{PORT} --lease {}s --concurrency 0 --replay all \
             --tls-cert tls/{CENTRE}.pem --tls-key tls/{CENTRE}.key --tls-client-ca tls/ca.pem",
            LEASE.as_secs()
        );
        self.start("centre", line);
    }

    /// A worker on the machine of its name.
    fn worker(&mut self, name: &str, more: &str) -> usize {
        let line = format!(
            "worker --arena https://{CENTRE}:{PORT} --concurrency 4 --cache cache-{name} \
             --token-file {name}.token --ca tls/ca.pem --cert tls/{name}.pem \
             --key tls/{name}.key {more}"
        );
        self.start(name, line)
    }

    fn start(&mut self, machine: &str, line: String) -> usize {
        let command = self.network.on(machine, &self.site.command(&line));
        let child = self.site.launch(command);
        let program = Path::new(env!("CARGO_BIN_EXE_arena"));
        self.site.keep(program, line, child)
    }

    /// Data of a worker.
    fn about(&self, name: &str) -> Value {
        let workers = self.site.workers().into_iter();
        let mut workers = workers.filter(|worker| worker["worker"] == name);
        workers.next().unwrap()
    }

    fn accepted(&self, name: &str) -> u64 {
        self.about(name)["accepted"].as_u64().unwrap()
    }

    /// When a worker was heard of last, in milliseconds.
    fn seen(&self, name: &str) -> u64 {
        self.about(name)["seen_unix_ms"].as_u64().unwrap()
    }

    fn wait(&self, what: &str, holds: impl FnMut() -> bool) {
        wait_until_or(what, || self.site.log(), holds);
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap().as_millis() as u64
}

#[test]
#[ignore = "it needs root, iproute2 and /dev/net/tun, and takes a minute: cargo xtask soak networks"]
fn workers_that_are_cut_off_killed_late_and_far_leave_the_table_unchanged() {
    let mut field = Field::new(&["cut", "killed", "late", "far"]);
    for name in ["cut", "killed", "late"] {
        field.network.add(name);
    }
    field.network.add_far("far");

    // Only two of the workers have what this bot needs, and it takes its time: there are games
    // for the one that is cut off when it is back, and for the one that comes late.
    let needs = "--needs patience";
    field.site.add_villain("slow", "slow --delay 5ms", needs);
    let bots = ["house:random", "house:ladder", "house:random", "slow"];
    field
        .site
        .cup("cup.toml", "connect-four", "deals = 100", &bots);
    field
        .site
        .run("tournament run cup.toml --name alone --seed 23 --concurrency 8");
    field.site.run("tournament submit cup.toml --seed 23");

    field.serve();
    field.worker("cut", "--provides patience");
    field.wait("the first worker plays", || field.accepted("cut") > 0);
    field.network.cut("cut");
    let killed = field.worker("killed", "");
    field.worker("far", "");
    field.wait("the second worker plays", || field.accepted("killed") > 0);
    field.site.kill(killed);
    field.wait("the far worker plays", || field.accepted("far") > 0);

    let long = 2 * LEASE.as_millis() as u64;
    field.wait("what it had is given to others", || {
        now_ms().saturating_sub(field.seen("cut")) > long
    });
    assert_eq!(field.site.state("cup"), "running");
    let before = field.accepted("cut");
    field.network.heal("cut");
    field.wait("it is back and plays", || field.accepted("cut") > before);
    assert_eq!(field.site.state("cup"), "running");

    field.worker("late", "--provides patience");
    field.site.wait_for("cup", "over");
    assert_eq!(field.site.rows("cup"), field.site.rows("alone"));
    let verified = field.site.run("tournament verify cup");
    assert!(verified.contains("proved, 1200 games"), "{verified}");
    for name in ["cut", "killed", "late", "far"] {
        let about = field.about(name);
        assert_eq!(about["refused"], 0, "{about}");
        assert_eq!(about["shut_out"], Value::Null, "{about}");
    }
    // What came after a lease had run out has not counted a second time.
    let accepted = ["cut", "killed", "late", "far"].map(|name| field.accepted(name));
    assert!(accepted.iter().sum::<u64>() <= 1200, "{accepted:?}");
    assert!(field.accepted("late") > 0, "{}", field.about("late"));
}

#[test]
#[ignore = "it needs root, iproute2 and /dev/net/tun, and takes a minute: cargo xtask soak networks"]
fn a_worker_with_another_address_replaces_its_dead_connection() {
    let mut field = Field::new(&["one"]);
    field.network.add("one");
    let bots = ["house:random", "house:ladder"];
    field
        .site
        .cup("cup.toml", "connect-four", "deals = 1000", &bots);
    field
        .site
        .run("tournament run cup.toml --name alone --seed 29");
    field.site.run("tournament submit cup.toml --seed 29");
    field.serve();
    field.worker("one", "");
    field.wait("it plays", || field.accepted("one") > 0);
    field.network.move_away("one");
    // What was under way to the arena has come.
    field.wait("it is silent", || field.seen("one") + 2000 < now_ms());
    assert_eq!(field.site.state("cup"), "running");
    let before = field.accepted("one");
    field.wait("it is back", || field.accepted("one") > before);
    field.site.wait_for("cup", "over");
    assert_eq!(field.site.rows("cup"), field.site.rows("alone"));
    let verified = field.site.run("tournament verify cup");
    assert!(verified.contains("proved, 2000 games"), "{verified}");
}
