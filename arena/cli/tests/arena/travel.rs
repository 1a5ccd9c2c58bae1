//! Bots that travel: their files go to workers that have never seen them.

use std::{fs, path::Path, process::Command};

use crate::{site::Site, vocabulary::*};

#[test]
fn a_bot_travels_to_a_worker_that_has_never_seen_it() {
    let mut site = Site::new();
    site.add_villain("traveller", "slow --delay 0ms", "");
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 3",
        &["traveller", "house:random"],
    );
    site.run("tournament submit cup.toml --seed 2");
    site.serve("--open --concurrency 0");
    let far = tempfile::tempdir().unwrap();
    site.worker(&format!("--name far --cache '{}'", far.path().display()));
    site.wait_for("cup", "over");
    assert!(
        site.run("tournament verify cup")
            .contains("proved, 6 games")
    );
    let row = site.rows("cup");
    let games: Vec<u64> = row
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["games"].as_u64().unwrap())
        .collect();
    assert_eq!(games, [6, 6]);
    make_removable(far.path());
}

/// Makes unpacked files, which are read-only, removable.
fn make_removable(folder: &Path) {
    let mut chmod = Command::new("chmod");
    let _ = chmod.args(["-R", "u+w"]).arg(folder).status();
}

/// With the kits that `cargo xtask test` builds.
mod languages {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::{
        images::files_of,
        languages::{built, root},
    };

    /// Copies a file, or a folder with all in it.
    fn copy(from: &Path, to: &Path) {
        let mut copy = Command::new("cp");
        assert!(copy.arg("-R").arg(from).arg(to).status().unwrap().success());
    }

    /// Registers the sample that thinks, in every language, and removes all of its files.
    fn register_samples(site: &Site) {
        let bots = site.arena.path("bots");
        let folder = |name: &str| {
            let folder = bots.join(name);
            fs::create_dir_all(&folder).unwrap();
            folder
        };
        let rust = Path::new(env!("CARGO_BIN_EXE_arena")).with_file_name("examples");
        copy(&rust.join("careful"), &folder("rust").join("bot"));
        copy(&built().join("cpp/cpp/careful"), &folder("cpp").join("bot"));
        copy(&built().join("go/careful"), &folder("go").join("bot"));
        copy(&built().join("java/careful.jar"), &folder("java"));
        for file in ["careful.py", "thinking.py"] {
            copy(
                &root().join("bots/python/samples").join(file),
                &folder("python"),
            );
        }
        // As `pip install --target` lays it.
        let packages = files_of(&site.arena, "sample-python").join("opt/bot/site-packages/.");
        copy(&packages, &folder("python"));
        // As `npm ci` has installed it.
        for file in ["careful.js", "package.json", "node_modules"] {
            let samples = root().join("bots/typescript/samples");
            copy(&samples.join(file), &folder("typescript"));
        }
        let compiled = Command::new("g++")
            .args(["-shared", "-fPIC", "-O2", "-o"])
            .arg(folder("strategy").join("careful.so"))
            .arg(root().join("bots/adapters/strategy/examples/careful.cpp"))
            .status()
            .expect("g++ is installed");
        assert!(compiled.success());
        for (name, words) in [
            ("rust", "--dir bots/rust --run ./bot"),
            ("cpp", "--dir bots/cpp --run ./bot"),
            ("go", "--dir bots/go --run ./bot"),
            ("java", "--dir bots/java --run 'java -jar careful.jar'"),
            ("python", "--dir bots/python --run 'python3 careful.py'"),
            (
                "typescript",
                "--dir bots/typescript --run 'node careful.js'",
            ),
            ("strategy", "--pack --bot strategy:bots/strategy/careful.so"),
        ] {
            site.run(&format!("bots add {name} {words} --game connect-four"));
        }
        fs::remove_dir_all(&bots).unwrap();
        make_removable(&site.arena.path("cache"));
        let _ = fs::remove_dir_all(site.arena.path("cache"));
    }

    #[test]
    fn bots_of_every_language_travel_to_a_worker_that_has_never_seen_them() {
        let mut site = Site::new();
        register_samples(&site);
        let names = [
            "rust",
            "cpp",
            "go",
            "java",
            "python",
            "typescript",
            "strategy",
        ];
        site.cup("cup.toml", "connect-four", "deals = 1", &names);
        site.run("tournament submit cup.toml --seed 2");
        site.serve("--open --concurrency 0 --replay all");
        // In a folder of its own, and with an empty cache: nothing else is of the arena's machine.
        let far = tempfile::tempdir().unwrap();
        let line = format!("work --arena {} --name far --cache cache", site.url());
        let mut worker = site.command_of(&referee_program(), &line);
        worker.current_dir(far.path());
        let worker = site.launch(worker);
        site.keep(&referee_program(), line, worker);
        site.wait_for("cup", "over");

        let verified = site.run("tournament verify cup");
        assert!(verified.contains("proved, 42 games"), "{verified}");
        let export = events(&site.run("tournament export cup"));
        for game in of_type(&export, "game") {
            assert_eq!(game["fouls"], serde_json::json!([]), "{game}");
            assert_eq!(game["worker"], "far", "{game}");
        }
        // Each record says which archives have played.
        let bots = events(&site.run("bots list --format json"));
        let hash = |bot: &Value| bot["archive"]["hash"].as_str().unwrap().to_owned();
        let hashes: BTreeSet<String> = bots.iter().map(hash).collect();
        assert_eq!(hashes.len(), names.len());
        let text = site.run("tournament export cup");
        for hash in &hashes {
            // Twelve games each.
            assert!(
                text.matches(&format!("sha256:{hash}")).count() >= 12,
                "{hash}"
            );
            assert!(far.path().join("cache").join(hash).exists(), "{hash}");
            assert!(site.run("bots list").contains(&hash[..12]), "{hash}");
        }
        make_removable(far.path());
    }
}
