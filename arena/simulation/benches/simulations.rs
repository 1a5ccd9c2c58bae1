//! Duration of a simulation, and of its parts. Run with `cargo bench -p arena-simulation`.
#![allow(clippy::print_stdout, reason = "a program")]
#![expect(clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/simulation/toy.rs"]
mod toy;

use std::time::{Duration, Instant};

use arena_simulation::{Beside, FaultTable, Simulation, SimulationOptions};
use arena_store::Store;

use self::toy::Toy;

fn main() {
    let beside = Beside::start().unwrap();
    let busy = Toy {
        workers: 5,
        games_each: 40,
        pause: Duration::ZERO,
        faults: FaultTable::none(),
    };
    measure("5 workers, 200 games", 50, |seed| {
        busy.run(&beside, seed).unwrap();
    });
    let faulty = Toy {
        games_each: 8,
        pause: Duration::from_secs(3),
        faults: FaultTable::everything(Duration::from_secs(30)),
        ..busy
    };
    measure("5 workers, 40 games in 30 s with faults", 50, |seed| {
        faulty.run(&beside, seed).unwrap();
    });
    measure("a store is opened in memory", 50, |_| {
        beside.call(async { drop(Store::open_in_memory().await.unwrap()) });
    });
    measure("a call beside", 20_000, |_| beside.call(async {}));
    measure("6 hosts idle for 60 s, in steps of 5 ms", 20, |seed| {
        let mut simulation = Simulation::new(seed, SimulationOptions::default());
        for number in 0..6 {
            simulation.host(&format!("host-{number}"), |_| std::future::pending());
        }
        simulation
            .run(|now| Ok(now >= Duration::from_secs(60)))
            .unwrap();
    });
}

fn measure(what: &str, times: u64, mut run: impl FnMut(u64)) {
    let began = Instant::now();
    for seed in 0..times {
        run(seed);
    }
    let each = began.elapsed().as_secs_f64() / times as f64;
    println!("{what}: {:.3} ms, {:.1} a second", 1e3 * each, 1.0 / each);
}
