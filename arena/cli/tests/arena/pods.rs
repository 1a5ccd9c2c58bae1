//! The pods of deploy/kubernetes and those that the arena makes, run from their very objects on the
//! engine of the tests. Placing pods and starting Jobs is done here as a cluster does it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
    time::Duration,
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    images::{images, process},
    languages::strategy,
    node::{Node, Pod, Texts},
    remote::Remote,
    vocabulary::*,
};

/// The overlay with everything that is needed to try it.
const OVERLAY: &str = "overlay-trial";
const BOTS: [&str; 4] = ["rust", "cpp", "python", "node"];

/// A game, how many deals of it, how many games a pod of a Job plays, and who plays.
type Played = (&'static str, u32, u32, &'static [&'static str]);

const GAMES: [Played; 4] = [
    ("connect-four", 2, 2, &["rust", "cpp"]),
    ("othello", 60, 30, &["python", "node"]),
    ("mahjong", 2, 2, &["cpp", "python"]),
    ("big-two", 1, 2, &BOTS),
];
/// Near its end a tournament gives out fewer games at once than a Job was made for.
const MOST_GENERATIONS: usize = 10;

/// The ways in which the arena has pods made.
const MADE: [&str; 2] = ["shared", "pod"];

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/kubernetes")
}

/// A tournament's file, with bots as this way of playing wants them.
fn cup(way: &str, played: Played, bot_is: &dyn Fn(&str) -> String) -> String {
    let (game, deals, games, bots) = played;
    // A table must not depend on how busy the machine is.
    let mut text = format!(
        "name = \"{way}-{game}\"\ngame = \"{game}\"\nshape = \"round-robin\"\ndeals = {deals}\n\
         [run]\non = \"kubernetes\"\nisolation = \"{way}\"\ngames = {games}\n\
         [limits]\nmove = \"10m\"\nstart = \"10m\"\n"
    );
    for bot in bots {
        let spec = json!(bot_is(bot));
        text += &format!("[[bots]]\nname = \"{bot}\"\nbot = {spec}\n");
    }
    text
}

fn service(bot: &str) -> String {
    format!("grpc://{bot}:50051")
}

fn image(bot: &str) -> String {
    let image = format!("localhost/bot-arena/sample-{bot}:0.1.0");
    let id = images().run(&["image", "inspect", "--format", "{{.Id}}", &image]);
    format!("image:{image}@{id}")
}

/// The same tournaments on this machine alone, with bots that are processes.
struct Alone(Arena);

impl Alone {
    fn play(&self, played: Played) {
        let file = cup("pod", played, &|bot| process(&self.0, bot));
        self.play_file(&file, played.0);
    }

    fn play_file(&self, file: &str, name: &str) {
        fs::write(self.0.path("cup.toml"), file).unwrap();
        self.arena(&format!(
            "tournament run cup.toml --name {name} --on here --seed pods"
        ));
    }
}

impl Remote for Alone {
    fn arena(&self, line: &str) -> String {
        done(&self.0.run(line))
    }

    fn log(&self) -> String {
        String::new()
    }
}

/// Output of `arena kubernetes render` for a file, as it is submitted.
fn rendered(file: &str) -> Vec<Value> {
    let arena = Arena::new();
    fs::write(arena.path("cup.toml"), file).unwrap();
    // No registry gives these images out, so no engine finds them by their digests.
    fs::write(arena.path("settings.toml"), "pinned = false").unwrap();
    let render = "kubernetes render cup.toml --settings settings.toml --format json";
    events(&done(&arena.run(render)))
}

/// The objects of an overlay or a component, which `cargo xtask test` has rendered.
fn manifests(of: &str) -> Vec<Value> {
    let file = xtask_program()
        .with_file_name("../manifests")
        .join(format!("{of}.jsonl"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; `cargo xtask manifests` makes it",
            file.display()
        )
    });
    events(&text)
}

/// The Secrets that setup.sh makes.
fn secrets() -> BTreeMap<String, Texts> {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Command::new(deploy().join("setup.sh"));
    done(&setup.arg(folder.path()).output().unwrap());
    let mut secrets = BTreeMap::new();
    for secret in fs::read_dir(folder.path()).unwrap() {
        let secret = secret.unwrap();
        if !secret.file_type().unwrap().is_dir() || secret.file_name() == "authorities" {
            continue;
        }
        let mut texts = Texts::new();
        for file in fs::read_dir(secret.path()).unwrap() {
            let file = file.unwrap();
            let text = fs::read(file.path()).unwrap();
            let name = file.file_name().into_string().unwrap();
            if name.ends_with(".env") {
                for line in String::from_utf8(text).unwrap().lines() {
                    let (key, value) = line.split_once('=').unwrap();
                    texts.insert(key.to_owned(), value.into());
                }
            } else {
                texts.insert(name, text);
            }
        }
        secrets.insert(secret.file_name().into_string().unwrap(), texts);
    }
    secrets
}

/// The arena in its pod, and whom an overlay has beside it.
pub(crate) struct Cluster<'a> {
    node: &'a Node,
    manifests: Vec<Value>,
    pub(crate) pods: BTreeMap<String, Pod<'a>>,
}

impl<'a> Cluster<'a> {
    /// Takes Secrets and ConfigMaps of an overlay or a component, whose objects these are then. The
    /// ConfigMap `tournaments` has these files.
    pub(crate) fn prepare(node: &mut Node, of: &str, tournaments: Texts) -> Vec<Value> {
        let manifests = manifests(of);
        node.secrets = secrets();
        for map in of_kind(&manifests, "ConfigMap") {
            let texts = map["data"].as_object().unwrap().iter();
            let texts = texts.map(|(key, text)| (key.clone(), text.as_str().unwrap().into()));
            node.config_maps
                .insert(name(map).to_owned(), texts.collect());
        }
        // As the page says it, for tournaments of one's own.
        node.config_maps
            .insert("tournaments".to_owned(), tournaments);
        manifests
    }

    /// All pods run, each with its specification changed so.
    pub(crate) fn start(
        node: &'a Node,
        manifests: Vec<Value>,
        change: &dyn Fn(&mut Value),
    ) -> Self {
        let mut cluster = Self {
            node,
            manifests,
            pods: BTreeMap::new(),
        };
        // The store first; others would end, and be started again until it is there.
        for kind in ["StatefulSet", "Deployment"] {
            for of in of_kind(&cluster.manifests, kind) {
                let replicas = of["spec"]["replicas"].as_u64().unwrap();
                for number in 0..replicas {
                    let pod = format!("{}-{number}", name(of));
                    let template = &of["spec"]["template"];
                    let mut spec = template["spec"].clone();
                    change(&mut spec);
                    let services = cluster.services(&template["metadata"]["labels"]);
                    let started = cluster.node.start(&pod, &services, &spec);
                    cluster.pods.insert(pod, started);
                }
            }
        }
        let answers = || {
            let said = cluster.pods["arena-0"].within("arena", &["arena", "workers"]);
            said.status.success()
        };
        wait_until_or("the arena answers", || cluster.log(), answers);
        cluster
    }

    /// The names by which Services lead to a pod with these labels.
    fn services(&self, labels: &Value) -> Vec<String> {
        let mut names = Vec::new();
        for service in of_kind(&self.manifests, "Service") {
            let selector = service["spec"]["selector"].as_object().unwrap();
            if service["spec"]["clusterIP"] != "None"
                && selector.iter().all(|(key, value)| labels[key] == *value)
            {
                let name = name(service);
                names
                    .extend(["", ".bot-arena", ".bot-arena.svc"].map(|end| format!("{name}{end}")));
            }
        }
        names
    }

    /// Runs the Jobs of a tournament until it is over. `trouble` is told of each pod that has begun,
    /// and how often its Job was made before.
    fn play(&self, name: &str, file: &[u8], trouble: &(dyn Fn(usize, &Running<'_>) + Sync)) {
        let objects = rendered(std::str::from_utf8(file).unwrap());
        let jobs = jobs(&objects);
        assert!(!jobs.is_empty());
        // As long as there is something to play another Job is made for it.
        for generation in 0..MOST_GENERATIONS {
            for (job, bots) in &jobs {
                self.run_job(job, bots, &|running| trouble(generation, running));
            }
            if self.is_over(name) {
                break;
            }
        }
        self.wait_until_over(name);
    }

    /// Runs a Job to its end: a pod for each index, and another one for a pod that fails. `trouble`
    /// is told of each pod that has begun.
    fn run_job(&self, job: &Value, bots: &[&Value], trouble: &(dyn Fn(&Running<'_>) + Sync)) {
        let spec = &job["spec"];
        assert_eq!(spec["completionMode"], "Indexed");
        let completions = spec["completions"].as_u64().unwrap();
        let at_once = spec["parallelism"].as_u64().unwrap();
        for first in (0..completions).step_by(at_once as usize) {
            thread::scope(|scope| {
                for index in first..completions.min(first + at_once) {
                    scope.spawn(move || self.run_index(job, index, bots, trouble));
                }
            });
        }
    }

    fn run_index(
        &self,
        job: &Value,
        index: u64,
        bots: &[&Value],
        trouble: &(dyn Fn(&Running<'_>) + Sync),
    ) {
        let retries = job["spec"]["backoffLimitPerIndex"].as_u64().unwrap();
        for attempt in 0..=retries {
            let running = self.start_index(job, index, attempt, bots);
            trouble(&running);
            let code = running.referee.wait();
            let log = running.referee.log();
            if code == 0 {
                running.end();
                return;
            }
            // The Job's own policy of failures: such a pod is not to be tried again.
            assert_ne!(code, 2, "{log}");
        }
        panic!("index {index} of {} has failed for good", name(job));
    }

    /// Starts a pod of a Job, and then its bots, as the arena does where it sees the pod.
    fn start_index(&self, job: &Value, index: u64, attempt: u64, bots: &[&Value]) -> Running<'_> {
        let pod = format!("{}-{index}-{attempt:05}", name(job));
        let template = &job["spec"]["template"]["spec"];
        let referee = self.node.start(&pod, &[], template);
        let bots = bots.iter().map(|bot| {
            // What stands for the referee's pod, in what is printed without a cluster.
            let text = bot
                .to_string()
                .replace("192.0.2.1", &referee.address())
                .replace(&format!("{}-0-00000", name(job)), &pod);
            let bot: Value = serde_json::from_str(&text).unwrap();
            self.node.start(name(&bot), &[], &bot["spec"])
        });
        let bots = bots.collect();
        Running {
            index,
            attempt,
            referee,
            bots,
        }
    }
}

impl Cluster<'_> {
    /// Runs `arena` in its pod.
    pub(crate) fn within_arena(&self, line: &str) -> Output {
        let words = format!("arena {line}");
        let words: Vec<_> = words.split(' ').collect();
        self.pods["arena-0"].within("arena", &words)
    }
}

impl Remote for Cluster<'_> {
    fn arena(&self, line: &str) -> String {
        let said = self.within_arena(line);
        assert!(
            said.status.success(),
            "{line}: {} {}{}",
            said.status,
            err(&said),
            self.log()
        );
        out(&said)
    }

    fn log(&self) -> String {
        let said = self.pods["arena-0"].within("arena", &["arena", "tournament", "list"]);
        let pods: String = self.pods.values().map(Pod::log).collect();
        format!("{}{pods}", out(&said))
    }
}

/// A pod of a Job with its bots.
struct Running<'a> {
    index: u64,
    attempt: u64,
    referee: Pod<'a>,
    bots: Vec<Pod<'a>>,
}

impl Running<'_> {
    /// Everything that still runs ends when it is told to.
    fn end(self) {
        for pod in [self.referee].into_iter().chain(self.bots) {
            let log = pod.log();
            for (container, code) in pod.end() {
                // By themselves, and by a signal that was heard.
                let well = matches!(code, 0 | 130 | 143);
                assert!(well, "{container}: {code}\n{log}");
            }
        }
    }
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let of_kind = objects.iter().filter(|object| object["kind"] == kind);
    of_kind.collect()
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// Without what an arena wants of an API server, which there is none of.
fn without_cluster(spec: &mut Value) {
    if let Some(Value::Array(args)) = spec.pointer_mut("/containers/0/args") {
        args.retain(|arg| !arg.as_str().unwrap().starts_with("--kubernetes"));
    }
}

/// The Jobs of what was rendered, each with the pods of its bots.
fn jobs(objects: &[Value]) -> Vec<(&Value, Vec<&Value>)> {
    let mut jobs: Vec<(&Value, Vec<&Value>)> = Vec::new();
    for object in objects {
        match object["kind"].as_str().unwrap() {
            "Job" => jobs.push((object, Vec::new())),
            "Pod" => jobs.last_mut().unwrap().1.push(object),
            kind => panic!("{kind} is unknown"),
        }
    }
    jobs
}

/// The kernel's facts about a process, by the words before the colon.
fn status(process: i32) -> BTreeMap<String, String> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(key, value)| {
            (
                key.to_owned(),
                value.split_whitespace().collect::<Vec<_>>().join(" "),
            )
        })
        .collect()
}

/// Each container has the user, the walls and the network that the objects say.
fn has_walls(running: &Running<'_>, way: &str) {
    let mut containers = vec![(&running.referee, "referee", 10_001, 10_001)];
    let places = [("bot-0", "socket-0", 10_100), ("bot-1", "socket-1", 10_101)];
    for (place, (bot, socket, user)) in places.into_iter().enumerate() {
        if way == "shared" {
            containers.push((&running.referee, bot, user, user));
            containers.push((&running.referee, socket, user, user));
        } else {
            containers.push((&running.bots[place], bot, user, user));
            // It may read the keys of gates, which belong to this group.
            containers.push((&running.bots[place], "gate", user, 10_001));
        }
    }
    let mut networks = BTreeSet::new();
    for (pod, container, user, group) in containers {
        let process = pod.process(container);
        let status = status(process);
        let all_four = |id: u32| vec![id.to_string(); 4].join(" ");
        assert_eq!(status["Uid"], all_four(user), "{container}");
        assert_eq!(status["Gid"], all_four(group), "{container}");
        let groups: BTreeSet<_> = status["Groups"].split(' ').map(str::to_owned).collect();
        let expected = [10_001, group].map(|id: u32| id.to_string());
        assert_eq!(groups, expected.into(), "{container}");
        for capabilities in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(status[capabilities], "0".repeat(16), "{container}");
        }
        assert_eq!(status["NoNewPrivs"], "1", "{container}");
        // A filter.
        assert_eq!(status["Seccomp"], "2", "{container}");
        let root = pod.inspect(container)["HostConfig"]["ReadonlyRootfs"].clone();
        assert_eq!(root, true, "{container}");
        networks.insert(fs::read_link(format!("/proc/{process}/ns/net")).unwrap());
    }
    let expected = if way == "shared" { 1 } else { 3 };
    assert_eq!(networks.len(), expected, "{way}");
}

#[test]
fn tournaments_end_alike_in_every_way_although_pods_are_killed() {
    let mut tournaments = Texts::new();
    for played in GAMES {
        let game = played.0;
        for way in MADE {
            let file = cup(way, played, &image);
            tournaments.insert(format!("{way}-{game}.toml"), file.into());
        }
        let file = cup("services", played, &service);
        tournaments.insert(format!("services-{game}.toml"), file.into());
    }
    let alone = Alone(Arena::new());
    let packed = PackedBots::of(&alone);
    tournaments.extend(packed.files.clone());
    let mut node = Node::new(images(), "node");
    let manifests = Cluster::prepare(&mut node, OVERLAY, tournaments.clone());
    let cluster = Cluster::start(&node, manifests, &without_cluster);
    for (game, ..) in GAMES {
        cluster.arena(&format!(
            "tournament submit /tournaments/services-{game}.toml --on here --seed pods"
        ));
    }
    for played in GAMES {
        alone.play(played);
        let game = played.0;
        let name = format!("services-{game}");
        cluster.wait_until_over(&name);
        // Services remember what they have seen, so games with hidden hands are dealt once only.
        if matches!(game, "connect-four" | "othello") {
            same(&cluster, &name, &alone, game);
        } else {
            cluster.is_proved(&name);
        }
    }
    for way in MADE {
        for (game, ..) in GAMES {
            let (file, name) = (format!("{way}-{game}.toml"), format!("{way}-{game}"));
            cluster.arena(&format!(
                "tournament submit /tournaments/{file} --on here --seed pods"
            ));
            cluster.play(&name, &tournaments[&file], &|generation, running| {
                if (generation, running.index, running.attempt) == (0, 0, 0) {
                    trouble(running, way, game);
                }
            });
            same(&cluster, &name, &alone, game);
        }
    }
    packed.end_alike(&cluster, &alone);
}

/// What packed bots play.
const PACKED_GAME: Played = ("connect-four", 2, 4, &["compiled", "agent"]);

/// Puts the first stone that it may.
const AGENT: &str = "
def agent(observation, configuration):
    columns = range(configuration.columns)
    return next(column for column in columns if observation.board[column] == 0)
";

/// Packed bots: a name, a kind of SPEC and a file.
const PACKED: [(&str, &str, &str); 2] = [
    ("compiled", "strategy", "careful.so"),
    ("agent", "kaggle", "agent.py"),
];

/// Takes packed bots into a store, and gives the SPEC of each.
fn pack(of: &dyn Remote, folder: &str) -> BTreeMap<String, String> {
    for (name, kind, file) in PACKED {
        // The arena's image has neither Python nor the C library.
        of.arena(&format!(
            "bots add {name} --no-check --game connect-four --pack --bot {kind}:{folder}/{file}"
        ));
    }
    let bots = events(&of.arena("bots list --format json"));
    let text = |bot: &Value, key: &str| bot[key].as_str().unwrap().to_owned();
    let bots = of_type(&bots, "bot");
    bots.iter()
        .map(|bot| (text(bot, "bot"), text(bot, "spec")))
        .collect()
}

/// Packed bots, whose containers have no bot until the game's referee hands it over.
struct PackedBots {
    /// The files of the bots and of tournaments between them, for the arena's pod.
    files: Texts,
    specs: BTreeMap<String, String>,
}

impl PackedBots {
    /// Packed and played on this machine.
    fn of(alone: &Alone) -> Self {
        let folder = alone.0.path("packed");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("agent.py"), AGENT).unwrap();
        // Written anew, so that it has the mode that files of a ConfigMap have, which is in the archive.
        let spec = strategy(&alone.0).spec;
        let compiled = fs::read(spec.strip_prefix("strategy:").unwrap()).unwrap();
        fs::write(folder.join("careful.so"), compiled).unwrap();
        let specs = pack(alone, folder.to_str().unwrap());
        let mut files = Texts::new();
        for (_, _, file) in PACKED {
            files.insert(file.to_owned(), fs::read(folder.join(file)).unwrap());
        }
        let spec = |bot: &str| specs[bot].clone();
        for way in MADE {
            let file = cup(way, PACKED_GAME, &spec);
            let file = file.replacen("name = \"", "name = \"packed-", 1);
            files.insert(format!("packed-{way}.toml"), file.into());
        }
        alone.play_file(&cup("pod", PACKED_GAME, &spec), "packed");
        Self { files, specs }
    }

    /// They end in containers as they do here.
    fn end_alike(&self, cluster: &Cluster<'_>, alone: &Alone) {
        assert_eq!(pack(cluster, "/tournaments"), self.specs);
        for way in MADE {
            let file = format!("packed-{way}.toml");
            let name = format!("packed-{way}-{}", PACKED_GAME.0);
            cluster.arena(&format!(
                "tournament submit /tournaments/{file} --on here --seed pods"
            ));
            cluster.play(&name, &self.files[&file], &|_, _| {});
            same(cluster, &name, alone, "packed");
        }
    }
}

/// Makes trouble for the first pod of a Job: one that has some time to play is held still, looked
/// at, and killed in the middle of its games.
fn trouble(running: &Running<'_>, way: &str, game: &str) {
    if game != "othello" {
        return;
    }
    let referee = &running.referee;
    // It goes on while nobody looks: however long that takes, its games are not over then.
    referee.signal("referee", Signal::SIGSTOP);
    let joined = || {
        let joined = referee.has_said("referee", "joined");
        if !joined {
            referee.signal("referee", Signal::SIGCONT);
            thread::sleep(Duration::from_millis(20));
            referee.signal("referee", Signal::SIGSTOP);
        }
        joined
    };
    wait_until_or("it has joined", || referee.log(), joined);
    has_walls(running, way);
    referee.signal("referee", Signal::SIGKILL);
    assert_eq!(referee.wait(), 137, "too few games");
}

/// A tournament has ended as it does where nothing goes wrong.
fn same(cluster: &Cluster<'_>, name: &str, alone: &Alone, game: &str) {
    let (games, expected) = (cluster.results(name), alone.results(game));
    assert!(!games.is_empty());
    for (game, expected) in games.iter().zip(&expected) {
        assert_eq!(game, expected, "{name}");
        assert_eq!(game["fouls"], json!([]));
    }
    assert_eq!(games.len(), expected.len());
    assert_eq!(cluster.rows(name), alone.rows(game));
    cluster.is_proved(name);
}
