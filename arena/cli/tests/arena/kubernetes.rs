//! `arena kubernetes` and tournaments that say that they are played there, where there is no cluster.

use std::fs;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::vocabulary::*;

/// A tournament on Kubernetes between these bots.
fn cup(isolation: &str, bots: &[&str]) -> String {
    let bots: String = (bots.iter().zip('a'..))
        .map(|(bot, name)| format!("[[bots]]\nname = \"{name}\"\nbot = \"{bot}\"\n"))
        .collect();
    format!(
        "game = \"othello\"\nshape = \"round-robin\"\n[run]\non = \"kubernetes\"\nisolation = \
         \"{isolation}\"\n{bots}"
    )
}

fn image(name: &str) -> String {
    format!("image:{name}@sha256:{}", "0a".repeat(32))
}

#[test]
fn what_would_be_made_is_printed_without_a_cluster() {
    let arena = Arena::new();
    let (one, other) = (image("one"), image("other"));
    let write = |isolation: &str, bots: &[&str]| {
        fs::write(arena.path("cup.toml"), cup(isolation, bots)).unwrap();
        arena.run("kubernetes render cup.toml")
    };
    let shared = done(&write("shared", &[&one, &other, "house:random"]));
    assert_eq!(shared.matches("kind: Job").count(), 3, "{shared}");
    assert!(
        shared.contains("--bot-at=b=unix:/run/bots/1/bot.sock,uid=10101"),
        "{shared}"
    );
    let pod = done(&write("pod", &[&one, &other]));
    assert_eq!(pod.matches("kind: Job").count(), 1, "{pod}");
    // One for each bot that its first referee plays with.
    assert_eq!(pod.matches("\nkind: Pod\n").count(), 2, "{pod}");
    let services = write("services", &["grpc://one:50051", "grpc://other:50051"]);
    assert_eq!(done(&services), "");
    assert!(err(&services).contains("the arena makes nothing"));
    for (isolation, bots, says) in [
        (
            "shared",
            ["exec:true", &one],
            "a bot is a packed one (`arena bots add NAME --dir FOLDER --run COMMAND`), or an image",
        ),
        (
            "pod",
            ["grpc://one:50051", &one],
            "a bot is a packed one (`arena bots add NAME --dir FOLDER --run COMMAND`), or an image",
        ),
        ("services", [&one, &other], "a bot is grpc://HOST:PORT"),
        ("alone", [&one, &other], "unknown variant `alone`"),
    ] {
        refused(&write(isolation, &bots), says);
    }
    fs::write(arena.path("kubernetes.toml"), "max_jobs = 0").unwrap();
    refused(
        &arena.run("kubernetes render cup.toml --settings kubernetes.toml"),
        "max_jobs: expected 1 to 1000",
    );
    let settings = done(&arena.run("kubernetes settings"));
    assert!(settings.contains("# max_jobs = 50"), "{settings}");
}

#[test]
fn images_without_a_digest_are_not_printed() {
    let arena = Arena::new();
    let bots = ["image:one:1", &image("other")];
    fs::write(arena.path("cup.toml"), cup("pod", &bots)).unwrap();
    let rendered = arena.run("kubernetes render cup.toml");
    assert_eq!(out(&rendered), "");
    refused(
        &rendered,
        "a has an image without a digest (image:one:1): expected",
    );
    fs::write(arena.path("kubernetes.toml"), "pinned = false").unwrap();
    let rendered = done(&arena.run("kubernetes render cup.toml --settings kubernetes.toml"));
    assert!(rendered.contains("image: one:1"), "{rendered}");
}

#[test]
fn one_tournament_is_cancelled_or_all() {
    let arena = Arena::new();
    refused(&arena.run("kubernetes cancel"), "required arguments");
    refused(
        &arena.run("kubernetes cancel cup --all"),
        "cannot be used with",
    );
    refused(&arena.run("serve --remove"), "--kubernetes");
}

#[test]
fn where_there_is_no_cluster_this_is_said() {
    let arena = Arena::new();
    for line in [
        "kubernetes doctor",
        "kubernetes status cup",
        "kubernetes logs cup",
        "kubernetes cancel --all",
        "serve --listen 127.0.0.1:0 --kubernetes",
    ] {
        let mut command = arena.command(line);
        command
            .env("KUBECONFIG", arena.path("nothing"))
            .env_remove("KUBERNETES_SERVICE_HOST");
        refused(&command.output().unwrap(), "no Kubernetes cluster");
    }
}

#[test]
fn a_tournament_on_kubernetes_waits_for_an_arena_that_makes_pods() {
    let arena = Arena::new();
    fs::write(
        arena.path("cup.toml"),
        cup("shared", &["house:random", "house:random"]),
    )
    .unwrap();
    done(&arena.run("tournament submit cup.toml"));
    let mut serve = arena.start("serve --listen 127.0.0.1:0 --open --format json");
    wait_until("it is said what it waits for", || {
        let said = done(&arena.run("tournament status cup"));
        said.contains("arena serve --kubernetes")
    });
    kill(Pid::from_raw(serve.id().cast_signed()), Signal::SIGTERM).unwrap();
    serve.wait().unwrap();
    // The file may be played here all the same.
    done(&arena.run("tournament run cup.toml --name here --on here"));
}
