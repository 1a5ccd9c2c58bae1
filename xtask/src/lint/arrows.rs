//! The arrows between crates that must not be. What each crate is for is in
//! ARCHITECTURE.md; here it is made to hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::shell::{Result, capture, cargo, members};

/// A package, what it must not reach by any way, and why.
type Arrow = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const FORBIDDEN: &[Arrow] = &[
    ("arena-proto", "referee-core", "what crosses the wire has no logic"),

    ("ai4", "referee-core", "an engine knows positions, not who asks"),
    ("ai4", "tokio", "an engine computes"),
    ("edge", "referee-core", "an engine knows positions, not who asks"),
    ("edge", "tokio", "an engine computes"),
    ("tenpai", "referee-core", "an engine knows positions, not who asks"),
    ("tenpai", "tokio", "an engine computes"),
    ("zugzwang", "referee-core", "an engine knows positions, not who asks"),
    ("zugzwang", "tokio", "an engine computes"),

    ("referee-core", "tokio", "rules wait for nobody"),
    ("referee-core", "tonic", "rules know no network"),
    ("referee-core", "tracing", "rules write no logs"),
    ("referee-core", "referee", "what decides does not know who asks"),
    ("referee-core", "arena", "the arena arranges, it never decides"),
    ("referee-core", "bot-kit", "the referee never trusts a bot"),
    ("referee-core", "house-bots", "the referee never trusts a bot"),

    ("referee-games", "tokio", "rules wait for nobody"),
    ("referee-games", "tonic", "rules know no network: messages only, without the feature `grpc`"),
    ("referee-games", "tracing", "rules write no logs"),
    ("referee-games", "referee", "what decides does not know who asks"),
    ("referee-games", "arena", "the arena arranges, it never decides"),
    ("referee-games", "bot-kit", "the referee never trusts a bot"),
    ("referee-games", "house-bots", "the referee never trusts a bot"),

    ("referee", "arena", "the arena arranges, it never decides"),
    ("referee", "bot-kit", "the referee never trusts a bot"),
    ("referee", "house-bots", "the referee knows no bot by name"),
    ("referee", "villains", "the referee knows no bot by name"),
    ("referee", "strategy-adapter", "what judges a strategy does not load it"),
    ("referee", "referee-bots", "who plays one game is told where its bots are"),
    ("referee", "referee-worker", "who plays one game knows no chunk of games"),

    ("referee-sandbox", "tokio", "namespaces are entered without threads"),
    ("referee-sandbox", "referee-core", "a sandbox runs any program"),
    ("referee-sandbox", "arena-proto", "a sandbox runs any program"),
    ("referee-sandbox", "arena", "a sandbox runs any program"),
    ("referee-sandbox", "clap", "the caller reads arguments"),

    ("referee-container", "referee-core", "a container runs any program"),
    ("referee-container", "arena-proto", "a container runs any program"),
    ("referee-container", "arena", "a container runs any program"),
    ("referee-container", "clap", "the caller reads arguments"),

    ("referee-net", "referee-core", "who listens and dials knows no game"),
    ("referee-net", "arena-proto", "who listens and dials knows no message"),
    ("referee-net", "arena", "who listens and dials does not know what for"),
    ("referee-net", "clap", "the caller reads arguments"),

    ("referee-bots", "referee-worker", "how a bot starts is no matter of leases"),
    ("referee-bots", "arena", "who starts a bot does not know what for"),
    ("referee-bots", "arena-store", "results are no matter of a start"),
    ("referee-bots", "clap", "the engine reads no arguments"),
    ("referee-bots", "anstream", "the engine never prints"),
    ("referee-bots", "bot-kit", "the referee never trusts a bot"),
    ("referee-bots", "house-bots", "kinds of bots are handed in"),
    ("referee-bots", "villains", "kinds of bots are handed in"),
    ("referee-bots", "strategy-adapter", "kinds of bots are handed in"),
    ("referee-bots", "line-adapters", "kinds of bots are handed in"),

    ("referee-worker", "arena-store", "results are reported, whoever keeps them"),
    ("referee-worker", "arena-ladder", "who plays whom is said in a lease"),
    ("referee-worker", "arena-tournament", "a worker could be on another machine"),
    ("referee-worker", "arena", "a worker could be on another machine"),
    ("referee-worker", "clap", "the engine reads no arguments"),
    ("referee-worker", "indicatif", "the engine never prints"),
    ("referee-worker", "anstream", "the engine never prints"),
    ("referee-worker", "bot-kit", "the referee never trusts a bot"),
    ("referee-worker", "house-bots", "kinds of bots are handed in"),
    ("referee-worker", "villains", "kinds of bots are handed in"),
    ("referee-worker", "strategy-adapter", "kinds of bots are handed in"),

    ("referee-cli", "arena", "a worker needs no arena of its own"),
    ("referee-cli", "arena-store", "results are reported, whoever keeps them"),
    ("referee-cli", "arena-tournament", "who plays whom is said in a lease"),

    ("arena-ladder", "tokio", "who plays whom is arithmetic"),
    ("arena-ladder", "tonic", "who plays whom is arithmetic"),
    ("arena-ladder", "tracing", "who plays whom is arithmetic"),
    ("arena-ladder", "referee-games", "schedules and ratings know no game by name"),
    ("arena-ladder", "arena-proto", "schedules and ratings know no message"),
    ("arena-ladder", "referee", "schedules and ratings play no game"),
    ("arena-ladder", "arena-store", "results are handed in"),
    ("arena-ladder", "arena", "what decides a schedule does not know who asks"),

    ("arena-store", "referee-games", "the store knows no game by name"),
    ("arena-store", "arena-proto", "the store knows no message"),
    ("arena-store", "tonic", "the store serves nobody"),
    ("arena-store", "referee", "the store plays no game"),
    ("arena-store", "arena", "the arena arranges, the store keeps"),

    ("arena-build", "clap", "the caller reads arguments"),
    ("arena-build", "anstream", "a library prints nothing"),
    ("arena-build", "arena-store", "who builds does not know where it is kept"),
    ("arena-build", "arena-tournament", "who builds does not know what for"),
    ("arena-build", "arena", "who builds does not know who asks"),

    ("arena-check", "clap", "the engine reads no arguments"),
    ("arena-check", "indicatif", "a library prints nothing"),
    ("arena-check", "anstream", "a library prints nothing"),
    ("arena-check", "villains", "villains are handed in as data"),
    ("arena-check", "house-bots", "a check knows no bot by name"),
    ("arena-check", "arena-store", "a check keeps no results"),
    ("arena-check", "arena-tournament", "a check plays one game at a time"),
    ("arena-check", "arena", "who checks does not know who asks"),

    ("arena-play", "clap", "the engine reads no arguments"),
    ("arena-play", "anstream", "a library prints nothing"),
    ("arena-play", "house-bots", "a bot that gives hints is handed in"),
    ("arena-play", "arena-store", "a record is handed out"),
    ("arena-play", "arena-tournament", "people's games are in no tournament"),
    ("arena-play", "arena", "who plays does not know who shows it"),
    ("arena-review", "clap", "the engine reads no arguments"),
    ("arena-review", "indicatif", "a library prints nothing"),
    ("arena-review", "anstream", "a library prints nothing"),
    ("arena-review", "house-bots", "a bot that plays on is handed in"),
    ("arena-review", "arena-store", "a record is handed in"),
    ("arena-review", "arena-tournament", "a record is handed in"),
    ("arena-review", "arena", "who reviews does not know who asks"),

    ("arena-web", "clap", "the caller reads arguments"),
    ("arena-web", "anstream", "a page is served, not printed"),
    ("arena-web", "house-bots", "whom people may play against is handed in"),
    ("arena-web", "arena-dispatch", "a page looks on, it hands out no work"),
    ("arena-web", "arena", "a page does not know who serves it"),

    ("arena", "arena-web", "a first game needs no page: `arena-serve` has it"),
    ("arena", "arena-draw", "a first game needs no pictures: `arena-serve` has them"),
    ("arena", "arena-dispatch", "a first game needs no workers elsewhere: `arena-serve` has them"),
    ("arena", "arena-kubernetes", "a first game needs no cluster: `arena-serve` has it"),
    ("arena", "kube", "a first game needs no cluster: `arena-serve` has it"),
    ("arena-words", "tokio", "a sentence waits for nobody"),
    ("arena-words", "referee-games", "words of a game are in the folder of that game"),
    ("arena-words", "clap", "the caller reads arguments"),

    ("arena-draw", "referee-games", "a scene names no game"),
    ("arena-draw", "arena-proto", "a scene is no message"),
    ("arena-draw", "tokio", "pictures are computed"),
    ("arena-draw", "clap", "the caller reads arguments"),
    ("arena-draw", "arena", "who draws does not know who asks"),

    ("arena-dispatch", "arena", "who serves does not know who asks"),
    ("arena-dispatch", "clap", "the engine reads no arguments"),
    ("arena-dispatch", "indicatif", "the engine never prints"),
    ("arena-dispatch", "anstream", "the engine never prints"),
    ("arena-dispatch", "referee-cli", "kinds of bots are handed in"),
    ("arena-dispatch", "house-bots", "kinds of bots are handed in"),

    ("arena-lobby", "referee", "it judges nothing, and measures no answer"),
    ("arena-lobby", "referee-games", "calls and answers are bytes"),
    ("arena-lobby", "arena-store", "who attends is no result"),
    ("arena-lobby", "arena", "who serves does not know who asks"),
    ("arena-lobby", "clap", "the engine reads no arguments"),

    ("arena-kubernetes", "arena-dispatch", "what is to be played is handed in"),
    ("arena-kubernetes", "arena", "who has pods made does not know who asks"),
    ("arena-kubernetes", "clap", "the engine reads no arguments"),
    ("arena-kubernetes", "indicatif", "the engine never prints"),
    ("arena-kubernetes", "anstream", "the engine never prints"),
    ("arena-kubernetes", "house-bots", "kinds of bots are handed in"),

    ("arena-tournament", "arena-dispatch", "a run on one machine needs no network"),
    ("arena-tournament", "arena", "the engine does not know who asks"),
    ("arena-tournament", "clap", "the engine reads no arguments"),
    ("arena-tournament", "indicatif", "the engine never prints"),
    ("arena-tournament", "anstream", "the engine never prints"),
    ("arena-tournament", "metrics-exporter-prometheus", "an observer counts, the engine tells"),
    ("arena-tournament", "house-bots", "kinds of bots are handed in"),
    ("arena-tournament", "villains", "kinds of bots are handed in"),
    ("arena-tournament", "strategy-adapter", "kinds of bots are handed in"),

    ("arena-events", "tokio", "an event is data"),
    ("arena-events", "referee-core", "who reads events needs nothing else of ours"),
    ("arena-events", "arena-ladder", "who reads events needs nothing else of ours"),
    ("arena-events", "arena-proto", "who reads events needs nothing else of ours"),

    ("bot-kit", "referee", "a bot sees only what it is told"),
    ("bot-kit", "arena", "a bot sees only what it is told"),
    ("house-bots", "referee", "a bot sees only what it is told"),
    ("house-bots", "arena", "a bot sees only what it is told"),
    ("bot-init", "tokio", "it stays small: it is in every image of a bot"),
    ("bot-init", "bot-kit", "it starts any program"),
    ("strategy-adapter", "referee", "a bot sees only what it is told"),
    ("strategy-adapter", "arena", "a bot sees only what it is told"),
    ("strategy-adapter", "referee-games", "what a strategy plays by is its own affair"),
    ("strategy-adapter", "house-bots", "a bot knows no other"),
    ("line-adapters", "referee", "a bot sees only what it is told"),
    ("line-adapters", "arena", "a bot sees only what it is told"),
    ("line-adapters", "house-bots", "a bot knows no other"),
    ("adapter-process", "arena-proto", "it runs any program"),
    ("adapter-process", "referee-core", "it runs any program"),
    ("villains", "referee", "a bot sees only what it is told"),
    ("villains", "arena", "a bot sees only what it is told"),
    ("villains", "referee-games", "who breaks the rules does not need them"),
];

/// No package reaches what the table forbids.
///
/// # Errors
/// An arrow that must not be, or a row that names no member of the workspace
/// or forbids what is nowhere in Cargo.lock: then the table is out of date.
pub(super) fn check() -> Result {
    let listed = members()?;
    let members = packages(&listed);
    let lock = std::fs::read_to_string(crate::shell::root().join("Cargo.lock"))?;
    let known = locked(&lock);

    let mut trees = BTreeMap::new();
    for (package, ..) in FORBIDDEN {
        if members.contains(package) && !trees.contains_key(package) {
            trees.insert(*package, reached_from(package)?);
        }
    }
    let reached = trees
        .iter()
        .map(|(package, tree)| (*package, packages(tree)))
        .collect();

    let found = violations(FORBIDDEN, &reached, &known);
    super::all_clear("rows that do not hold", &found)
}

/// The tree of one package. Named with `-p` alone, it is resolved with its own
/// features: those that other members ask of a shared dependency do not count.
fn reached_from(package: &str) -> Result<String> {
    capture(&mut cargo(&format!(
        "tree -p {package} -e normal --prefix none --format {{p}} --locked"
    )))
}

/// The rows that do not hold, as sentences.
fn violations(
    rows: &[Arrow],
    reached: &BTreeMap<&str, BTreeSet<&str>>,
    known: &BTreeSet<&str>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (package, forbidden, reason) in rows {
        match reached.get(package) {
            None => found.push(format!(
                "`{package}` is not in the workspace: mend the table in xtask/src/lint/arrows.rs"
            )),
            Some(_) if !known.contains(forbidden) => found.push(format!(
                "`{package}` must not reach `{forbidden}`, but Cargo.lock has no `{forbidden}`: \
                 mend the table in xtask/src/lint/arrows.rs"
            )),
            Some(names) if names.contains(forbidden) => found.push(format!(
                "`{package}` reaches `{forbidden}`: {reason} \
                 (how: cargo tree -p {package} -e normal -i {forbidden})"
            )),
            Some(_) => {}
        }
    }
    found.dedup();
    found
}

/// The names in what `cargo tree --prefix none --format {p}` prints: one
/// package a line, "name vVERSION", then perhaps a path, "(proc-macro)", "(*)".
fn packages(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(' ')?;
            rest.starts_with('v').then_some(name)
        })
        .collect()
}

/// The names of all packages in a Cargo.lock.
fn locked(lock: &str) -> BTreeSet<&str> {
    lock.lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
referee v0.1.0 (/somewhere/referee/service)
referee-core v0.1.0 (/somewhere/referee/core)
thiserror-impl v2.0.18 (proc-macro)

tonic v0.14.5
tokio-stream v0.1.18
referee-core v0.1.0 (/somewhere/referee/core) (*)
";

    fn found(rows: &[Arrow]) -> Vec<String> {
        let reached = BTreeMap::from([("referee", packages(TREE))]);
        let known = BTreeSet::from(["referee", "referee-core", "tonic", "tokio", "arena"]);
        violations(rows, &reached, &known)
    }

    #[test]
    fn names_are_read_whole() {
        let names = packages(TREE);
        let expected = [
            "referee",
            "referee-core",
            "thiserror-impl",
            "tokio-stream",
            "tonic",
        ];
        assert_eq!(names, BTreeSet::from(expected));
    }

    #[test]
    fn an_arrow_that_is_there_is_found_with_its_reason() {
        let found = found(&[("referee", "tonic", "for the test")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("`referee` reaches `tonic`: for the test"));
    }

    #[test]
    fn a_name_that_begins_like_a_forbidden_one_is_another() {
        assert_eq!(found(&[("referee", "tokio", "")]), [""; 0]);
    }

    #[test]
    fn a_row_about_no_member_is_a_failure_and_told_once() {
        let found = found(&[("umpire", "tonic", ""), ("umpire", "tokio", "")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("`umpire` is not in the workspace"));
    }

    #[test]
    fn a_row_that_forbids_what_does_not_exist_is_a_failure() {
        let found = found(&[("referee", "tonik", "")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("Cargo.lock has no `tonik`"));
    }

    #[test]
    fn a_lock_file_names_its_packages_and_not_their_dependencies() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\n \"b\",\n]\n";
        assert_eq!(locked(lock), BTreeSet::from(["a"]));
    }
}
