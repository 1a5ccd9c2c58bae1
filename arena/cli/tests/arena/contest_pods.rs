//! A contest on a cluster: entries are built, checked and played in pods, from their very objects.

use std::{fs, process::Command, thread};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    cluster_api::ClusterApi,
    contests::BOT,
    images::images,
    node::{Node, Texts},
    pods::Cluster,
    remote::Remote as _,
    vocabulary::*,
};

const CONTEST: &str = r#"
name = "cup"
game = "connect-four"
opens = 2020-03-01T08:00:00
closes = 2120-03-21T00:00:00
[exam]
groups = 0
[limits]
apart = "0s"
[final]
"#;

/// Takes a point on which nothing can lie.
const WRONG_BOT: &str = r#"
import sys
for line in sys.stdin:
    print('{"ready": {}}' if '"start"' in line else '{"point": {"x": 0, "y": 0}}', flush=True)
"#;

/// Takes the column that is nearest to the middle.
const STRATEGY: &str = r#"
struct Point { int x, y; };
extern "C" Point* getPoint(const int, const int width, const int* top, const int*, const int, const int, const int,
                           const int) {
    int best = 0;
    for (int column = 0; column < width; column++)
        if (top[column] > 0 && (top[best] <= 0 || (2 * column - width) * (2 * column - width) <
                                                      (2 * best - width) * (2 * best - width)))
            best = column;
    return new Point{top[best] - 1, best};
}
extern "C" void clearPoint(Point* point) { delete point; }
"#;

/// Looks for what is not its own, and for a way to answer in the place of its builder.
const SPY: &str = "
kill -9 1
for file in /proc/1/environ /proc/1/mem /proc/1/fd/0 /tls/tls.key \\
    /var/run/secrets/kubernetes.io/serviceaccount/token; do
    if head -c 1 $file; then echo have read $file; fi
done
env
echo end of spying
";

/// A tar file of these texts.
fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(folder.path()).args(["-cf", "-", "."]);
    let said = tar.output().unwrap();
    assert!(said.status.success());
    said.stdout
}

/// The arena finds the cluster at this API server.
fn with_cluster(spec: &mut Value) {
    if spec["containers"][0]["name"] != "arena" {
        return;
    }
    let lists = [
        (
            "/volumes",
            json!({"name": "cluster", "configMap": {"name": "cluster"}}),
        ),
        (
            "/containers/0/volumeMounts",
            json!({"name": "cluster", "mountPath": "/cluster", "readOnly": true}),
        ),
        (
            "/containers/0/env",
            json!({"name": "KUBECONFIG", "value": "/cluster/config"}),
        ),
    ];
    for (list, entry) in lists {
        let list = spec.pointer_mut(list).and_then(Value::as_array_mut);
        list.unwrap().push(entry);
    }
}

/// Ends the API when the test ends, however it does.
struct EndsApi<'a, 'n>(&'a ClusterApi<'n>);

impl Drop for EndsApi<'_, '_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[test]
fn entries_are_built_checked_and_played_in_pods() {
    let bot = BOT.replace("DO", "pass");
    let spy = [
        (
            "entry.toml",
            "build = \"sh spy.sh\"\nrun = \"python3 bot.py\"\n",
        ),
        ("spy.sh", SPY),
        ("bot.py", &bot),
    ];
    let greedy = [
        (
            "entry.toml",
            "build = \"python3 -c 'print(len(b\\\"x\\\" * (1 << 30)))'\"\nrun = \"python3 bot.py\"\n",
        ),
        ("bot.py", &bot),
    ];
    let files: [(&str, Vec<u8>); 7] = [
        ("cup.toml", CONTEST.into()),
        ("class.csv", "name\nAnn\nBo\nCy\nDi\nEd\n".into()),
        ("strategy.cpp", STRATEGY.into()),
        ("wrong.py", WRONG_BOT.into()),
        ("broken.cpp", "extern \"C\" int getPoint( {".into()),
        ("spy.tar", tar(&spy)),
        ("greedy.tar", tar(&greedy)),
    ];
    let files: Texts = files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .collect();
    let mut node = Node::new(images(), "contest");
    let manifests = Cluster::prepare(&mut node, "component-contest", files);
    let mut maps = node.config_maps.iter_mut();
    let settings = maps.find(|(name, _)| name.starts_with("arena-kubernetes"));
    let settings = settings.unwrap().1.get_mut("kubernetes.toml").unwrap();
    settings.extend(b"\n[builder]\nmemory = \"512Mi\"\n");
    let listener = node.listen();
    let config = ClusterApi::kubeconfig(&listener);
    let config = Texts::from([("config".to_owned(), config.into())]);
    node.config_maps.insert("cluster".to_owned(), config);
    let api = ClusterApi::new(&node, listener);
    thread::scope(|scope| {
        scope.spawn(|| api.serve(scope));
        let _ends = EndsApi(&api);
        let cluster = Cluster::start(&node, manifests, &with_cluster);
        cluster.arena("contest create /tournaments/cup.toml");
        cluster.arena("contest people add cup /tournaments/class.csv --tokens /data/tokens.csv");
        let handed_in = [
            "strategy.cpp",
            "wrong.py",
            "broken.cpp",
            "spy.tar",
            "greedy.tar",
        ];
        for (person, file) in (1..).zip(handed_in) {
            cluster.arena(&format!(
                "contest submit cup /tournaments/{file} --person {person}"
            ));
        }
        // In the middle of a build, or what comes after it: the next one builds it again.
        wait_until_or(
            "the first pod of an entry",
            || cluster.log(),
            || !entries(&api).is_empty(),
        );
        let arena = &cluster.pods["arena-0"];
        arena.signal("arena", Signal::SIGKILL);
        let entry = |number: u32| -> Value {
            // It may be about to start again.
            let said = cluster.within_arena(&format!("contest entry cup {number} --format json"));
            serde_json::from_slice(&said.stdout).unwrap_or_default()
        };
        for number in 1..=5 {
            wait_until_or(
                &format!("entry {number} is judged"),
                || format!("{}\n{}", entry(number), cluster.log()),
                || ["judged", "failed"].contains(&entry(number)["state"].as_str().unwrap_or("")),
            );
        }
        let verdicts = |number: u32| -> Vec<String> {
            let games = entry(number)["games"].clone();
            let games = games.as_array().unwrap().iter();
            games
                .map(|game| game["words"].as_str().unwrap().to_owned())
                .collect()
        };
        // The opponent plays at random.
        let has_played = |number: u32| {
            let verdicts = verdicts(number);
            let by_the_rules = |word: &String| ["You Win", "Draw", "You Lose"].contains(&&**word);
            assert!(
                verdicts.len() == 2 && verdicts.iter().all(by_the_rules),
                "{verdicts:?}"
            );
        };
        has_played(1);
        assert_eq!(verdicts(2), ["Illegal Instruction", "Illegal Instruction"]);
        // It was checked where it was built.
        let found = entry(2)["findings"].to_string();
        assert!(found.contains("illegal"), "{found}");
        assert_eq!(entry(3)["fault"]["verdict"], "Compile Error");
        let log = entry(3)["log"].to_string();
        assert!(log.contains("broken.cpp:1:27: error"), "{log}");
        // Whoever killed the first process of its container would have had no game.
        has_played(4);
        let spied = entry(4)["log"].to_string();
        assert!(spied.contains("end of spying"), "{spied}");
        for secret in ["have read", "TOKEN", "ARENA", "KUBERNETES", "postgres"] {
            assert!(!spied.contains(secret), "{secret}: {spied}");
        }
        let fault = entry(5)["fault"].clone();
        assert_eq!(fault["verdict"], "Build Memory Limit Exceeded", "{fault}");
        assert!(fault["words"].to_string().contains("512 MiB"), "{fault}");
        wait_until_or(
            "the pods of entries are removed",
            || format!("{:?}", entries(&api)),
            || entries(&api).is_empty(),
        );
        // Each was built in a pod of its own.
        let seen = api.seen.lock();
        let built = seen.iter().filter(|pod| pod.contains("-entry-"));
        assert!(built.count() >= handed_in.len(), "{seen:?}");
        let log = cluster.log();
        assert!(!log.contains("could not be checked"), "{log}");
    });
}

/// The pods of entries that there are.
fn entries(api: &ClusterApi<'_>) -> Vec<String> {
    api.pods_with("bot-arena/purpose")
}
