//! Bots in containers, beside the same bots as processes.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use referee::{Address, Bot, BotContainer};
use referee_container::Containers;
use referee_sandbox::Reexec;
use serde_json::Value;
use tokio::{runtime::Handle, time::sleep};

use super::{CONNECT_FOUR, CONNECT_LIMIT, Sides, launch, medians};

/// The argument that this program is started again with, to stand for a container.
pub(crate) const VERB: &str = "container";
/// The image of the program that `BENCH_BOT` names; `cargo xtask images bot` builds it.
const IMAGE: &str = "localhost/bot-arena/bot";
/// Number of starts of each kind.
const STARTS: usize = 30;

/// (g) Needs an engine, and the image in it.
pub(crate) async fn containers() {
    let reexec = Reexec::this_program([VERB]);
    let containers = Arc::new(Containers::new(reexec).expect("/proc is there"));
    let name = IMAGE.parse().expect("the name of an image");
    let image = containers.pin(&name).await;
    let image = image.expect("`cargo xtask images bot` has built it");
    println!("\n(g) Bots in containers ({})\n", containers.walls());
    let contained = || {
        let container = BotContainer {
            containers: containers.clone(),
            image: image.clone(),
            pondering: false,
        };
        let mut launch = launch(None);
        launch.container = Some(container);
        launch
    };
    let mut starts = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        for (times, launch) in starts.iter_mut().zip([launch(None), contained()]) {
            let began = Instant::now();
            let started = launch.start().await.expect("it listens");
            times.push(began.elapsed().as_secs_f64() * 1e3);
            started.stop();
            started.ended().await;
        }
    }
    let [process, container] = starts.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[STARTS / 2]
    });
    println!("| | a process | in a container | ratio |");
    println!("| --- | ---: | ---: | ---: |");
    println!(
        "| start until it listens, ms | {process:.1} | {container:.1} | **{:.1}** |",
        container / process
    );
    let launched = |launch: referee::Launch| Arc::new(Bot::launched(launch, Handle::current()));
    let sockets = [
        Sides::playing((0..2).map(|_| launched(launch(None))).collect()),
        Sides::playing((0..2).map(|_| launched(contained())).collect()),
    ];
    rows("its socket", &sockets).await;
    for sides in sockets {
        sides.stop().await;
    }
    let services: [[Service; 2]; 2] = [
        [Service::process().await, Service::process().await],
        [Service::container().await, Service::container().await],
    ];
    let sides = services.each_ref().map(|services| {
        let bots = services.iter().map(Service::bot);
        Sides::playing(bots.collect())
    });
    rows("TCP", &sides).await;
}

async fn rows(over: &str, sides: &[Sides; 2]) {
    for at_once in [1, 128] {
        let [process, container] = medians(async || {
            let [process, container] = sides;
            [
                process
                    .games(at_once, CONNECT_FOUR, &Value::Null)
                    .await
                    .rate,
                container
                    .games(at_once, CONNECT_FOUR, &Value::Null)
                    .await
                    .rate,
            ]
        })
        .await;
        println!(
            "| questions/s over {over}, {at_once} at once | {process:.0} | {container:.0} | \
             **{:.2}** |",
            container / process
        );
    }
}

/// A bot that runs on a port until this is dropped.
struct Service {
    address: String,
    running: Running,
}

enum Running {
    Process(Child),
    Container(String),
}

impl Service {
    async fn process() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("its number").to_string();
        drop(free);
        let launch = launch(None);
        let child = Command::new(launch.program)
            .args(launch.arguments)
            .env("BOT_LISTEN", format!("tcp:{address}"))
            .stdout(Stdio::null())
            .spawn();
        let running = Running::Process(child.expect("it starts"));
        Self { address, running }.answers().await
    }

    /// On the engine's own network, where there is one; else on the machine's.
    async fn container() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("its number").port();
        drop(free);
        let networks = docker(&["network", "ls", "--format", "{{.Name}}"]);
        let network = if networks.lines().any(|name| name == "bridge") {
            "bridge"
        } else {
            println!("(the engine has no network of its own: TCP is the machine's)");
            "host"
        };
        let listen = format!("BOT_LISTEN=tcp:0.0.0.0:{port}");
        let id = docker(&[
            "run",
            "--detach",
            "--network",
            network,
            "--env",
            &listen,
            IMAGE,
            "random",
        ]);
        let format = "{{.NetworkSettings.IPAddress}}";
        let host = match &*docker(&["inspect", "--format", format, &id]) {
            "" => "127.0.0.1".to_owned(),
            host => host.to_owned(),
        };
        let address = format!("{host}:{port}");
        let running = Running::Container(id);
        Self { address, running }.answers().await
    }

    async fn answers(self) -> Self {
        let until = Instant::now() + CONNECT_LIMIT;
        while tokio::net::TcpStream::connect(&self.address).await.is_err() {
            assert!(
                Instant::now() < until,
                "nothing answers at {}",
                self.address
            );
            sleep(Duration::from_millis(10)).await;
        }
        self
    }

    fn bot(&self) -> Arc<Bot> {
        let address = Address::Tcp(self.address.clone());
        Arc::new(Bot::at(address, CONNECT_LIMIT))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Running::Container(id) => {
                docker(&["rm", "--force", id]);
            }
        }
    }
}

fn docker(words: &[&str]) -> String {
    let said = Command::new("docker").args(words).output();
    let said = said.expect("docker is installed");
    let err = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "docker {words:?}: {err}");
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}
