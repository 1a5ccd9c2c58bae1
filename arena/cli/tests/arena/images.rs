//! Images of our programs, of the samples and of an author's bot, on a real engine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::Value;

use crate::{
    engine::{Engine, engine},
    languages::{brains, exec, moves, sample, strategy},
    site::Site,
    vocabulary::*,
};

const BASE: &str = "localhost/bot-arena/base";
const LISTENS: &str = "listening on ";

/// An image that a bot is started of.
struct Bot {
    image: &'static str,
    /// The words after its name.
    words: &'static str,
    /// The same program as a process.
    process: String,
}

/// The engine with our images, built of what `cargo xtask test` has prepared.
pub(crate) fn images() -> &'static Engine {
    static BUILT: OnceLock<()> = OnceLock::new();
    let engine = engine();
    BUILT.get_or_init(|| {
        let host = engine.host();
        for words in [&["base"][..], &["--base", BASE]] {
            let mut xtask = Command::new(xtask_program());
            xtask.arg("images").args(words);
            let said = xtask
                .args(["--prepared", "--engine-host", &host])
                .output()
                .unwrap();
            assert!(
                said.status.success(),
                "{}\nThese tests need what `cargo xtask test` prepares; `--skip images::` leaves \
                 them out",
                err(&said)
            );
        }
    });
    engine
}

fn arena() -> Arena {
    Arena::new().with_engine(images().host())
}

/// The files that an image adds to its base, in a folder of the arena's.
pub(crate) fn files_of(arena: &Arena, image: &str) -> PathBuf {
    let folder = arena.path(&format!("files-{image}"));
    if folder.exists() {
        return folder;
    }
    fs::create_dir(&folder).unwrap();
    // It is below the folder that tests are built in, whose name depends on the profile.
    let built = xtask_program();
    let target = built.ancestors().nth(2).unwrap();
    let archive = target
        .join("images/contexts")
        .join(image)
        .join("rootfs.tar");
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(&folder);
    assert!(tar.status().unwrap().success());
    folder
}

/// The Node sample as a process.
fn node(arena: &Arena) -> String {
    let script = files_of(arena, "sample-node").join("opt/bot/random.js");
    format!("exec:node '{}'", script.display())
}

/// The sample of a language as a process: the same program as in its image.
pub(crate) fn process(arena: &Arena, language: &str) -> String {
    match language {
        "node" => node(arena),
        _ => sample(language),
    }
}

fn bots(arena: &Arena) -> Vec<Bot> {
    let bot = |image, words, process| Bot {
        image,
        words,
        process,
    };
    let house = exec(&[xtask_program().with_file_name("bot")]);
    vec![
        bot("bot", "random", format!("{house} random")),
        bot("sample-rust", "", process(arena, "rust")),
        bot("sample-cpp", "", process(arena, "cpp")),
        bot("sample-python", "", process(arena, "python")),
        bot("sample-node", "", process(arena, "node")),
    ]
}

#[test]
fn a_bot_plays_in_its_image_as_its_process_does() {
    let arena = arena();
    for bot in bots(&arena) {
        let (image, words) = (bot.image, bot.words);
        let contained = format!("image:localhost/bot-arena/{image} {words}");
        let played = |kind: &str, spec: &str| {
            let run = format!("{image}-{kind}");
            let line = format!(
                "match connect-four --bot \"me={spec}\" --bot house:random --deals 1 --seed same \
                 --records {run}"
            );
            let table = done(&arena.run(&line));
            assert!(!table.contains("fouls"), "{spec}: {table}");
            moves(&arena, &run)
        };
        let process = played("process", &bot.process);
        assert_eq!(process.len(), 2, "{image}");
        assert_eq!(played("image", &contained), process, "{image}");
    }
}

#[test]
fn the_sample_in_node_is_fit_and_plays_every_game() {
    let arena = arena();
    let line = format!("check \"{}\" --quick --strict", node(&arena));
    done(&arena.run(&line));
    for (game, seats) in [("othello", 2), ("mahjong", 2), ("big-two", 4)] {
        let mut line =
            format!("match {game} --deals 1 --bot me=image:localhost/bot-arena/sample-node");
        for seat in 1..seats {
            line += &format!(" --bot other-{seat}=house:random");
        }
        let table = done(&arena.run(&line));
        assert!(!table.contains("fouls"), "{game}: {table}");
    }
}

#[test]
fn programs_in_images_end_when_they_are_asked_to() {
    let engine = images();
    let endless =
        "match connect-four --bot a=house:random --bot b=house:random --deals 100000 --format json";
    for (image, words, says, code) in [
        ("arena", endless, "run_started", "130"),
        ("referee", "", LISTENS, "0"),
        // Nobody is there.
        (
            "referee",
            "work --arena http://127.0.0.1:1",
            // Log lines in images are JSON.
            "\"message\":\"no connection to the arena",
            "130",
        ),
        ("bot", "", LISTENS, "0"),
        ("host", "", "waiting for a bot on ", "0"),
        ("sample-rust", "", LISTENS, "0"),
        ("sample-cpp", "", LISTENS, "0"),
        ("sample-python", "", LISTENS, "0"),
        ("sample-node", "", LISTENS, "0"),
    ] {
        let name = format!("arena-tests-{image}");
        let tag = format!("localhost/bot-arena/{image}");
        let walls = "--network none --read-only --cap-drop ALL --tmpfs /tmp --volume /data";
        let mut run = vec!["run", "--detach", "--name", &name];
        run.extend(walls.split(' '));
        run.push(&tag);
        run.extend(words.split_whitespace());
        engine.run(&run);
        let said = || {
            let said = engine.command(&["logs", &name]);
            out(&said) + &err(&said)
        };
        wait_until_or(image, said, || said().contains(says));
        // What does not hear SIGTERM is killed, which is 137.
        engine.run(&["stop", "--time", "20", &name]);
        let ended = "{{.State.ExitCode}} {{.Config.User}}";
        let ended = engine.run(&["inspect", "--format", ended, &name]);
        assert_eq!(ended, format!("{code} 10001:10001"), "{image}: {}", said());
        engine.run(&["rm", "--volumes", &name]);
    }
}

#[test]
fn every_image_says_what_it_is_and_what_is_in_it() {
    let engine = images();
    let folder = tempfile::tempdir().unwrap();
    for (image, package) in [
        ("arena", "sqlx"),
        ("referee", "tonic"),
        ("bot", "bot-kit"),
        ("sample-rust", "rand"),
        ("sample-cpp", "libgrpc++1.51"),
        ("sample-python", "grpcio"),
        ("sample-node", "@grpc/grpc-js"),
        ("sample-node", "bot-init"),
        ("strategy", "strategy-adapter"),
        ("host", "referee-cli"),
    ] {
        let tag = format!("localhost/bot-arena/{image}");
        let labels = engine.run(&["inspect", "--format", "{{json .Config.Labels}}", &tag]);
        let labels: Value = serde_json::from_str(&labels).unwrap();
        for key in ["title", "description", "licenses", "version", "revision"] {
            let label = labels[format!("org.opencontainers.image.{key}")].as_str();
            assert!(label.is_some_and(|text| !text.is_empty()), "{image}: {key}");
        }
        let container = engine.run(&["create", &tag]);
        let list = folder
            .path()
            .join(format!("{image}-{}", package.replace('/', "-")));
        let from = format!("{container}:/usr/share/bot-arena/sbom.cdx.json");
        engine.run(&["cp", &from, list.to_str().unwrap()]);
        engine.run(&["rm", &container]);
        let list: Value = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
        assert_eq!(list["bomFormat"], "CycloneDX");
        let components = list["components"].as_array().unwrap();
        let named = |component: &&Value| component["name"] == package;
        let found = components.iter().find(named).expect(package);
        assert_ne!(found["version"], "", "{found}");
    }
}

#[test]
fn the_same_context_is_the_same_layers() {
    let engine = images();
    let built = xtask_program();
    let contexts = built.ancestors().nth(2).unwrap().join("images/contexts");
    let context = contexts.join("sample-rust");
    let layers = |tag: &str| {
        let format = "{{json .RootFS.Layers}}";
        engine.run(&["inspect", "--format", format, tag])
    };
    let again = "arena-tests/again";
    engine.run(&[
        "build",
        "--no-cache",
        "--tag",
        again,
        context.to_str().unwrap(),
    ]);
    assert_eq!(layers(again), layers("localhost/bot-arena/sample-rust"));
}

/// Has a Dockerfile written for the bot in this folder and an image built by it.
fn author(arena: &Arena, language: &str, main: &str, folder: &Path) {
    let written = format!(
        "bots dockerfile '{}' --lang {language} --main {main}",
        folder.display()
    );
    let said = done(&arena.run(&written));
    assert!(said.contains("docker build -t my-bot"), "{said}");
    let tag = format!("arena-tests/written-{language}");
    let base = format!("BASE={BASE}");
    let folder = folder.to_str().unwrap();
    images().run(&["build", "--build-arg", &base, "--tag", &tag, folder]);
    let line = format!("match othello --bot \"me=image:{tag}\" --bot house:random --deals 1");
    let table = done(&arena.run(&line));
    assert!(!table.contains("fouls"), "{language}: {table}");
    let user = images().run(&["inspect", "--format", "{{.Config.User}}", &tag]);
    assert_eq!(user, "10001:10001");
}

#[test]
fn an_authors_dockerfile_makes_an_image_that_plays() {
    let arena = arena();
    for (language, image, main) in [
        ("python", "sample-python", "random_bot.py"),
        ("node", "sample-node", "random.js"),
    ] {
        let folder = files_of(&arena, image).join("opt/bot");
        author(&arena, language, main, &folder);
    }
    for language in ["rust", "cpp"] {
        let program = sample(language);
        let program = program.trim_start_matches("exec:").trim_matches('\'');
        let folder = arena.path(language);
        fs::create_dir_all(folder.join("out")).unwrap();
        fs::copy(program, folder.join("out/bot")).unwrap();
        author(&arena, language, "out/bot", &folder);
    }
}

/// Makes an image of the bot in this file by a Dockerfile that is written for it.
fn image_of(arena: &Arena, language: &str, file: &Path) -> String {
    let folder = arena.path(&format!("image-{language}"));
    fs::create_dir(&folder).unwrap();
    fs::copy(file, folder.join("bot")).unwrap();
    let folder = folder.display();
    done(&arena.run(&format!(
        "bots dockerfile '{folder}' --lang {language} --main bot"
    )));
    let tag = format!("arena-tests/as-{language}");
    let base = format!("BASE={BASE}");
    images().run(&[
        "build",
        "--build-arg",
        &base,
        "--tag",
        &tag,
        &folder.to_string(),
    ]);
    format!("image:{tag}")
}

#[test]
fn strategies_brains_and_packed_bots_play_in_containers_as_in_processes() {
    let site = Site::with_engine(images().host());
    let arena = &site.arena;
    let file = |spec: &str| -> PathBuf {
        let (_, file) = spec.split_once(':').unwrap();
        file.trim_matches('\'').into()
    };
    let strategy = strategy(arena).spec;
    // Another one asks the clock for its seed.
    let is_the_same = |(name, _): &(String, String)| name == "distance";
    let (_, brain) = brains().into_iter().find(is_the_same).unwrap();
    // Packed, and as an image.
    let travels = file(&sample("rust"));
    let packed = arena.path("packed");
    fs::create_dir(&packed).unwrap();
    fs::copy(&travels, packed.join("bot")).unwrap();
    site.run("bots add travels --dir packed --run ./bot --game othello");
    for (game, process, image) in [
        (
            "connect-four",
            &*strategy,
            image_of(arena, "strategy", &file(&strategy)),
        ),
        ("mahjong", &brain, image_of(arena, "cpp", &file(&brain))),
        ("othello", "travels", image_of(arena, "rust", &travels)),
    ] {
        for (kind, bot) in [("process", process), ("image", &*image)] {
            let file = format!("{kind}.toml");
            site.cup(&file, game, "deals = 3", &[bot, "house:random"]);
            site.run(&format!(
                "tournament run {file} --name {game}-{kind} --seed 9"
            ));
            let table = site.run(&format!("tournament status {game}-{kind}"));
            assert!(!table.contains("fouls"), "{game}, {kind}: {table}");
        }
        let of = ["process", "image"].map(|kind| format!("{game}-{kind}"));
        let [process, image] = of.each_ref().map(|name| site.courses(name));
        assert_eq!((process.len(), &process), (6, &image), "{game}");
        let [process, image] = of.map(|name| site.rows(&name));
        assert_eq!(process, image, "{game}");
    }
}

#[test]
fn a_dockerfile_is_written_once_and_only_for_what_is_there() {
    let arena = Arena::new();
    fs::create_dir(arena.path("mine")).unwrap();
    refused(
        &arena.run("bots dockerfile mine --lang python"),
        "has no file bot.py; expected --main FILE",
    );
    fs::write(arena.path("mine/bot.py"), "").unwrap();
    let said = done(&arena.run("bots dockerfile mine --lang python"));
    assert!(
        said.contains("arena match connect-four --bot me=image:my-bot"),
        "{said}"
    );
    let dockerfile = || fs::read_to_string(arena.path("mine/Dockerfile")).unwrap();
    assert!(dockerfile().contains("[\"python3\", \"/bot/bot.py\"]"));
    assert!(!dockerfile().contains("RUN"), "{}", dockerfile());

    fs::write(arena.path("mine/requirements.txt"), "numpy\n").unwrap();
    refused(
        &arena.run("bots dockerfile mine --lang python"),
        "mine/Dockerfile is there already; --force writes over it",
    );
    assert!(!dockerfile().contains("RUN"));
    done(&arena.run("bots dockerfile mine --lang python --force"));
    assert!(dockerfile().contains("RUN python3 -m pip install"));

    for main in ["../bot.py", "/etc/passwd", "a b.py", "x\"]"] {
        let line = format!("bots dockerfile mine --lang python --force --main '{main}'");
        refused(&arena.run(&line), "expected a file below mine");
    }
    refused(
        &arena.run("bots dockerfile mine --lang rust --force --main bot.py"),
        "is not a program for Linux; compile the bot first",
    );
    refused(
        &arena.run("bots dockerfile none --lang rust"),
        "none is not a folder",
    );
}
