//! The deployment on one host: an arena, workers and bots in containers, by Compose and by the
//! script that needs no Compose.

use std::{collections::BTreeSet, thread::sleep, time::Duration};

use serde_json::{Value, json};

use crate::{
    deployment::{BOTS, Deployment, file},
    remote::Remote as _,
    vocabulary::*,
};

/// The tournament that comes with the deployment.
const FIRST: &str = "four-languages";
/// Each game, and how many deals of it take some seconds.
const GAMES: [(&str, u32); 4] = [
    ("connect-four", 40),
    ("othello", 40),
    ("mahjong", 30),
    ("big-two", 100),
];

/// Dials what it is told, as far as it gets: `HOST:PORT` of those that are there, even if nobody
/// listens.
const PYTHON: &str = "
import concurrent.futures, errno, socket, sys
def reached(address):
    host, port = address.rsplit(':', 1)
    try:
        socket.create_connection((host, int(port)), 2).close()
    except ConnectionRefusedError:
        pass
    except OSError:
        return None
    return address
with concurrent.futures.ThreadPoolExecutor(64) as pool:
    print(*filter(None, pool.map(reached, sys.argv[1:])))
";
/// The same.
const NODE: &str = "
const net = require('net');
const reached = (address) => new Promise((done) => {
  const at = address.lastIndexOf(':');
  const socket = net.connect({ host: address.slice(0, at), port: +address.slice(at + 1) });
  const end = (answer) => { socket.destroy(); done(answer); };
  socket.setTimeout(2000, () => end(null));
  socket.on('connect', () => end(address));
  socket.on('error', (error) => end(error.code === 'ECONNREFUSED' ? address : null));
});
Promise.all(process.argv.slice(1).map(reached))
  .then((all) => { console.log(all.filter(Boolean).join(' ')); process.exit(); });
";

#[test]
fn one_command_plays_bots_of_four_languages_and_shows_it() {
    let deployment = Deployment::new();
    deployment.compose(&["up", "--detach"]);
    deployment.wait_until_over(FIRST);
    let table = deployment.arena(&format!("tournament status {FIRST}"));
    for bot in BOTS {
        assert!(table.contains(bot), "{table}");
    }
    assert!(!table.contains("fouls"), "{table}");
    deployment.is_proved(FIRST);
    let workers: BTreeSet<_> = of_type(
        &events(&deployment.arena("workers --format json")),
        "worker",
    )
    .iter()
    .map(|worker| worker["worker"].as_str().unwrap().to_owned())
    .collect();
    assert_eq!(workers, ["worker-1", "worker-2"].map(str::to_owned).into());

    every_figure_of_the_dashboard_is_there(&deployment);
    the_page_shows_it(&deployment);
    bots_reach_nobody(&deployment);
    keys_are_where_they_are_needed(&deployment);

    // With everything in it, it ends as it is asked to.
    deployment.compose(&["stop"]);
    for container in deployment.containers() {
        let code = deployment.inspect(&container)["State"]["ExitCode"].clone();
        // Of those that end by themselves; of signals that were heard.
        assert!(
            code == 0 || code == 130 || code == 143,
            "{container}: {code}"
        );
    }
    deployment.compose(&["down", "--volumes"]);
    assert_eq!(deployment.containers(), [""; 0]);
}

fn every_figure_of_the_dashboard_is_there(deployment: &Deployment) {
    let dashboard: Value = serde_json::from_str(&file("grafana/dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut figures: Vec<_> = targets
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    assert!(figures.len() > 5);
    figures.push("up{job=\"prometheus\"} == 1");
    figures.push("up{job=\"arena\"} == 1");
    for figure in figures {
        let url = "http://localhost:9090";
        let ask =
            || deployment.within("prometheus", &["promtool", "query", "instant", url, figure]);
        let has_data = || !out(&ask()).trim().is_empty();
        wait_until_or(figure, || err(&ask()), has_data);
    }
}

/// This machine reaches the page, which shows the tournament and lets people play.
fn the_page_shows_it(deployment: &Deployment) {
    let at = deployment.docker(&["port", &deployment.name("arena"), "8080"]);
    let at = at.lines().next().unwrap().trim();
    assert!(at.starts_with("127.0.0.1:"), "{at}");
    let page = deployment.fetch(&format!("http://{at}/t/{FIRST}"));
    for bot in BOTS {
        assert!(page.contains(bot), "{page}");
    }
    let page = deployment.fetch(&format!("http://{at}/play?game=othello"));
    assert!(page.contains("house:weights"), "{page}");
}

/// A bot has nobody else in its network than the workers, who listen on nothing, and no way out of
/// it: not even the machine that it runs on has an address there.
fn bots_reach_nobody(deployment: &Deployment) {
    let mut addresses = vec![
        // The usual gateway of containers, and somebody outside.
        "172.17.0.1:50051".to_owned(),
        "192.0.2.7:443".to_owned(),
        "example.com:443".to_owned(),
        // So that this test can fail.
        "127.0.0.1:50051".to_owned(),
    ];
    for container in deployment.containers() {
        let inspected = deployment.inspect(&container);
        let networks = inspected["NetworkSettings"]["Networks"].as_object();
        let mut hosts = BTreeSet::new();
        for network in networks.unwrap().values() {
            for key in ["IPAddress", "Gateway"] {
                hosts.insert(network[key].as_str().unwrap().to_owned());
            }
        }
        hosts.remove("");
        for host in hosts {
            addresses.extend(
                [50051, 50060, 8080, 9100, 5432, 9090].map(|port| format!("{host}:{port}")),
            );
        }
        addresses.push(format!("{container}:50051"));
    }
    for (bot, probe) in [
        ("python", ["python3", "-c", PYTHON]),
        ("node", ["node", "-e", NODE]),
    ] {
        let network = deployment.name(bot);
        let mut own: BTreeSet<String> = [bot.to_owned(), "127.0.0.1".to_owned()].into();
        for worker in ["worker-1", "worker-2", bot] {
            let inspected = deployment.inspect(worker);
            let address = &inspected["NetworkSettings"]["Networks"][&network]["IPAddress"];
            own.extend([worker.to_owned(), address.as_str().unwrap().to_owned()]);
        }
        // Nobody answers a question for an unknown name.
        let mut words = vec!["env", "RES_OPTIONS=timeout:1 attempts:1"];
        words.extend(probe);
        words.extend(addresses.iter().map(|address| &**address));
        let said = done(&deployment.within(bot, &words));
        let reached: BTreeSet<_> = said.split_whitespace().collect();
        assert!(reached.contains("127.0.0.1:50051"), "{bot}: {said}");
        for address in reached {
            let (host, _) = address.rsplit_once(':').unwrap();
            assert!(own.contains(host), "{bot} reaches {address}");
        }
    }
}

/// Each key is readable by its owner alone, in a volume of one container.
fn keys_are_where_they_are_needed(deployment: &Deployment) {
    for container in deployment.containers() {
        if container == "setup" {
            continue;
        }
        let mounts = deployment.inspect(&container)["Mounts"].clone();
        let mounts = mounts.as_array().unwrap();
        let volumes: Vec<_> = mounts
            .iter()
            .filter_map(|mount| mount["Name"].as_str())
            .collect();
        let of = |name: &str| deployment.name(name);
        let may = match &*container {
            "arena" => vec![of("arena"), of("tls-arena"), of("tls-store")],
            "submit" => vec![of("tls-store")],
            "worker-1" | "worker-2" => vec![of(&format!("tls-{container}"))],
            "postgres" | "prometheus" => vec![of(&container), of(&format!("tls-{container}"))],
            _ => vec![],
        };
        let volumes: BTreeSet<_> = volumes.into_iter().map(str::to_owned).collect();
        assert_eq!(volumes, may.into_iter().collect(), "{container}");
    }
    for (volume, keys) in [
        ("authorities", vec!["600 0 ca.key", "600 0 metrics.key"]),
        ("tls-arena", vec!["600 10001 arena.key"]),
        ("tls-store", vec!["600 10001 arena.key"]),
        ("tls-postgres", vec!["600 10001 postgres.key"]),
        ("tls-worker-1", vec!["600 10001 worker-1.key"]),
        ("tls-worker-2", vec!["600 10001 worker-2.key"]),
        ("tls-prometheus", vec!["600 10001 prometheus.key"]),
    ] {
        let mounted = format!("{}:/volume:ro", deployment.name(volume));
        let show = "cd /volume && stat --format '%a %u %n' *.key";
        let mut run = vec![
            "run",
            "--rm",
            "--network",
            "none",
            "--user",
            "0",
            "--volume",
            &mounted,
        ];
        run.extend([
            "--entrypoint",
            "sh",
            "localhost/bot-arena/postgres",
            "-c",
            show,
        ]);
        let said = deployment.docker(&run);
        assert_eq!(said.lines().collect::<Vec<_>>(), keys, "{volume}");
    }
}

#[test]
fn compose_and_the_script_make_the_same() {
    let (by_compose, by_script) = (Deployment::new(), Deployment::new());
    // Some versions connect containers to all of their networks only when they start.
    by_compose.compose(&["up", "--detach"]);
    by_script.script(&["create"]);
    assert_eq!(by_compose.containers(), by_script.containers());
    assert!(by_script.containers().len() > 10);
    for container in by_script.containers() {
        let made = [&by_compose, &by_script].map(|by| by.made(&container));
        assert_eq!(made[0], made[1], "{container}");
    }
    for network in ["store", "work", "metrics", "front"].iter().chain(&BOTS) {
        let made = [&by_compose, &by_script].map(|by| {
            let format = "{{.Driver}} {{.Internal}} {{json .Options}}";
            let name = by.name(network);
            by.docker(&["network", "inspect", "--format", format, &name])
                .replace("null", "{}")
        });
        assert_eq!(made[0], made[1], "{network}");
        assert_eq!(
            made[0].contains(" true "),
            *network != "front",
            "{}",
            made[0]
        );
    }
}

#[test]
fn tables_are_the_same_after_kills_and_cuts_and_an_upgrade() {
    let mut deployment = Deployment::new();
    deployment.script(&["up"]);
    for (game, deals) in GAMES {
        deployment.submit(&format!("calm-{game}"), game, deals, &BOTS);
    }
    for (game, _) in GAMES {
        deployment.wait_until_over(&format!("calm-{game}"));
    }
    for (game, deals) in GAMES {
        deployment.submit(game, game, deals, &BOTS);
    }
    let goes_on = |deployment: &Deployment| {
        sleep(Duration::from_secs(1));
        assert!(
            GAMES.iter().any(|(game, _)| !deployment.is_over(game)),
            "too few games"
        );
    };
    goes_on(&deployment);
    deployment.kill("worker-1");
    wait_until("worker-1 runs again", || {
        let worker = deployment.inspect("worker-1");
        worker["RestartCount"] == 1 && worker["State"]["Running"] == true
    });

    goes_on(&deployment);
    let (work, worker) = (deployment.name("work"), deployment.name("worker-2"));
    deployment.docker(&["network", "disconnect", &work, &worker]);
    sleep(Duration::from_secs(2));
    deployment.docker(&["network", "connect", "--alias", "worker-2", &work, &worker]);

    goes_on(&deployment);
    deployment.docker(&["stop", &deployment.name("postgres")]);
    sleep(Duration::from_secs(1));
    deployment.docker(&["start", &deployment.name("postgres")]);

    goes_on(&deployment);
    // All containers are replaced, by those of another version.
    deployment.version = env!("CARGO_PKG_VERSION");
    deployment.script(&["up"]);

    for (game, _) in GAMES {
        deployment.wait_until_over(game);
        let calm = format!("calm-{game}");
        let (games, expected) = (deployment.results(game), deployment.results(&calm));
        assert!(!games.is_empty());
        for (game, expected) in games.iter().zip(&expected) {
            assert_eq!(game, expected, "{}", deployment.log());
            assert_eq!(game["fouls"], json!([]));
        }
        assert_eq!(games.len(), expected.len());
        assert_eq!(deployment.rows(game), deployment.rows(&calm));
        deployment.is_proved(game);
    }
}

/// A bot's container is stopped between two games, and started again when it has been missed.
fn a_bot_that_goes_away_loses_nothing(
    deployment: &Deployment,
    play: &dyn Fn(&str),
    calm: &[Value],
) {
    let status = || {
        let status = deployment.arena("tournament status away");
        status.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    play("away");
    // It is paused before anybody looks at its games: they are played faster than they are shown.
    wait_until("games are played", || {
        deployment.arena("tournament pause away");
        wait_until("it is paused", || status().contains("paused"));
        let begun = !deployment.results("away").is_empty();
        if !begun {
            deployment.arena("tournament submit away");
        }
        begun
    });
    let node = deployment.name("node");
    deployment.docker(&["stop", &node]);
    deployment.arena("tournament submit away");
    wait_until_or("it is missed", status, || {
        status().contains("node, which has been away for 1 minute (unreachable: ")
    });
    deployment.docker(&["start", &node]);
    deployment.wait_until_over("away");
    assert_eq!(deployment.results("away"), calm);
    deployment.is_proved("away");
}

#[test]
fn a_bot_whose_container_is_killed_loses_the_games_that_it_plays_and_no_other() {
    /// Two workers with two games each.
    const AT_ONCE: usize = 4;
    let deployment = Deployment::new();
    deployment.script(&["up"]);
    deployment.wait_until_over(FIRST);
    // Some ten seconds of games.
    let play = |name: &str| deployment.submit(name, "othello", 450, &["rust", "node"]);
    play("calm");
    deployment.wait_until_over("calm");
    let calm = deployment.results("calm");
    a_bot_that_goes_away_loses_nothing(&deployment, &play, &calm);
    // It may be killed between two games.
    for attempt in 0..5 {
        let name = format!("killed-{attempt}");
        play(&name);
        wait_until("games are played", || !deployment.results(&name).is_empty());
        assert!(!deployment.is_over(&name), "too few games");
        deployment.kill("node");
        deployment.wait_until_over(&name);
        let games = deployment.results(&name);
        assert_eq!(
            games.len(),
            calm.len(),
            "{}",
            deployment.arena(&format!("tournament status {name}"))
        );
        let lost: Vec<_> = games
            .iter()
            .zip(&calm)
            .filter(|(game, calm)| game != calm)
            .collect();
        let mut crashed = 0;
        for (game, _) in &lost {
            let fouls = game["fouls"].as_array().unwrap();
            assert_eq!(fouls.len(), 1, "{game}");
            let foul = &fouls[0]["foul"];
            // It was killed while it played, or while the game began.
            let began = foul["kind"] == "no_start"
                && foul["detail"].as_str().unwrap().starts_with("crashed: ");
            assert!(foul["kind"] == "crashed" || began, "{game}");
            crashed += usize::from(!began);
            // It is the second of the tournament.
            let seat = fouls[0]["seat"].as_u64().unwrap();
            assert_eq!(game["order"][seat as usize], 1, "{game}");
        }
        // A process that is killed may lose its connections before its listener: the game that follows
        // one in its place may have begun by then.
        let began = lost.len() - crashed;
        assert!(crashed <= AT_ONCE && began <= AT_ONCE, "{crashed}, {began}");
        deployment.is_proved(&name);
        if !lost.is_empty() {
            return;
        }
    }
    panic!("it was never killed in a game");
}

#[test]
fn what_was_backed_up_is_restored_into_an_empty_deployment_and_proved() {
    let deployment = Deployment::new();
    deployment.script(&["up"]);
    deployment.wait_until_over(FIRST);
    let (rows, games) = (deployment.rows(FIRST), deployment.results(FIRST));
    // One that is backed up while it is played.
    deployment.submit("later", "othello", 120, &BOTS);
    let backup = deployment.backup();
    assert!(!deployment.is_over("later"), "too few games");

    deployment.script(&["down", "--volumes"]);
    deployment.script(&["up"]);
    deployment.restore(&backup);
    assert_eq!(deployment.rows(FIRST), rows);
    assert_eq!(deployment.results(FIRST), games);
    deployment.is_proved(FIRST);
    deployment.wait_until_over("later");
    deployment.is_proved("later");
}
