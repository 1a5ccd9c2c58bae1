//! The same folder is the same archive, and what can't travel is refused by name.

use std::{
    fs::{self, File},
    os::unix::{ffi::OsStrExt as _, net::UnixListener},
    path::Path,
    process::Command,
    time::{Duration, SystemTime},
};

use referee_bots::archive::{MOST_ENTRIES, pack_file, pack_folder, pack_sources, unpack_archive};

use crate::vocabulary::{Folder, mode, set_mode};

/// A bot with all that may be in a folder.
fn bot(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        match *name {
            "my_bot" => drop(folder.program("my_bot", "#!/usr/bin/env python3\n")),
            "current" => folder.link("current", "data/v2"),
            other => drop(folder.file(other, other)),
        }
    }
    folder
}

const NAMES: [&str; 6] = [
    "my_bot",
    "data/v2/weights",
    "data.txt",
    "data/♣ é.txt",
    "current",
    "a/b/c/d",
];

fn why(folder: &Path) -> String {
    pack_folder(folder).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn the_same_folder_is_the_same_archive_whatever_its_times_modes_and_order() {
    let one = bot(&NAMES);
    let mut other = NAMES;
    other.reverse();
    let other = bot(&other);
    // As another umask and another time would have it.
    set_mode(&other.join("my_bot"), 0o700);
    set_mode(&other.join("data.txt"), 0o600);
    set_mode(&other.join("a/b"), 0o700);
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["my_bot", "data.txt", "data/v2"] {
        File::open(other.join(name))
            .unwrap()
            .set_modified(then)
            .unwrap();
    }
    let one = pack_folder(one.path()).unwrap();
    let other = pack_folder(other.path()).unwrap();
    assert_eq!(one.hash, other.hash);
    assert!(one.bytes == other.bytes);
    assert_eq!(one.entries, 11);
    // It is the same with another version of this program, or archives would be lost.
    let hash = "c662f49932ec99615d623c907a3d4b6c4b9e92d69f62b7977d76cf70d826d9b1";
    assert_eq!(one.hash.to_string(), hash);
}

#[test]
fn another_owner_does_not_matter() {
    let folder = bot(&NAMES);
    let before = pack_folder(folder.path()).unwrap();
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    for name in ["my_bot", "data"] {
        std::os::unix::fs::chown(folder.join(name), Some(65534), Some(65534)).unwrap();
    }
    assert_eq!(pack_folder(folder.path()).unwrap().hash, before.hash);
}

#[test]
fn another_file_name_bit_or_link_is_another_archive() {
    let folder = bot(&NAMES);
    let mut seen = vec![pack_folder(folder.path()).unwrap().hash];
    let mut differs = |what: &str| {
        let hash = pack_folder(folder.path()).unwrap().hash;
        assert!(!seen.contains(&hash), "{what}");
        seen.push(hash);
    };
    folder.file("data.txt", "data.tx");
    differs("a byte");
    set_mode(&folder.join("data.txt"), 0o755);
    differs("an executable bit");
    fs::rename(folder.join("data.txt"), folder.join("data.tx")).unwrap();
    differs("a name");
    fs::create_dir(folder.join("empty")).unwrap();
    differs("an empty folder");
    fs::remove_file(folder.join("current")).unwrap();
    folder.link("current", "data");
    differs("a link");
}

#[test]
fn what_was_packed_comes_out_again_read_only() {
    let folder = bot(&NAMES);
    let long = format!("{}/{}", "d".repeat(200), "f".repeat(200));
    folder.file(&long, "long");
    folder.link("long", &long);
    let packed = pack_folder(folder.path()).unwrap();
    let place = Folder::new();
    let into = place.join("unpacked");
    let size = unpack_archive(&packed.bytes, &packed.hash, &into).unwrap();
    assert_eq!(size, packed.size);
    assert_eq!(fs::read_to_string(into.join("long")).unwrap(), "long");
    assert_eq!(
        fs::read_to_string(into.join("data/♣ é.txt")).unwrap(),
        "data/♣ é.txt"
    );
    assert_eq!(
        fs::read_link(into.join("current")).unwrap(),
        Path::new("data/v2")
    );
    assert_eq!(mode(&into.join("my_bot")), 0o555);
    assert_eq!(mode(&into.join("data.txt")), 0o444);
    assert_eq!(mode(&into.join("a/b")), 0o555);
    assert_eq!(mode(&into), 0o555);
    // Packed again, it is the same one.
    assert_eq!(pack_folder(&into).unwrap().hash, packed.hash);
}

#[test]
fn what_version_control_and_python_keep_is_left_out_and_named() {
    let folder = bot(&NAMES);
    let before = pack_folder(folder.path()).unwrap();
    assert!(before.left_out.is_empty());
    folder.file(".git/config", "");
    folder.file("a/__pycache__/x.pyc", "");
    let packed = pack_folder(folder.path()).unwrap();
    assert_eq!(packed.hash, before.hash);
    assert_eq!(packed.left_out, [".git", "a/__pycache__"]);
    // Other hidden files are the bot's.
    folder.file(".config", "");
    assert_ne!(pack_folder(folder.path()).unwrap().hash, before.hash);
}

/// The paths in a tar.gz, in order, as `tar` lists them.
fn listed(bytes: &[u8]) -> Vec<String> {
    let place = Folder::new();
    fs::write(place.join("x.tar.gz"), bytes).unwrap();
    let mut tar = Command::new("tar");
    let output = tar.arg("tzf").arg(place.join("x.tar.gz")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn sources_are_packed_without_what_builds_make_and_without_a_secret() {
    const MOST: u64 = 64 << 10;
    let names = ["src/main.rs", "Cargo.toml", "docs/target"];
    let sources = bot(&names);
    let before = pack_sources(sources.path(), MOST, None).unwrap();
    assert!(before.left_out.is_empty());
    let paths = ["Cargo.toml", "docs", "docs/target", "src", "src/main.rs"];
    assert_eq!(listed(&before.bytes), paths);

    for file in [
        ".git/config",
        "target/debug/bot",
        "node_modules/x.js",
        "cache/CACHEDIR.TAG",
        "out/CMakeCache.txt",
        "env/pyvenv.cfg",
        "src/__pycache__/x.pyc",
    ] {
        sources.file(file, file);
    }
    let token = sources.file("token", "secret");
    // Whatever way leads to it.
    let other_way = sources.join("src/../token");
    let packed = pack_sources(sources.path(), MOST, Some(&other_way)).unwrap();
    assert_eq!(packed.bytes, before.bytes);
    let left_out = [
        ".git",
        "cache",
        "env",
        "node_modules",
        "out",
        "src/__pycache__",
        "target",
        "token",
    ];
    assert_eq!(packed.left_out, left_out);
    // A bot that travels needs what was built.
    assert_eq!(
        pack_folder(sources.path()).unwrap().left_out,
        [".git", "src/__pycache__"]
    );
    let with_token = pack_sources(sources.path(), MOST, None).unwrap();
    assert_ne!(with_token.bytes, before.bytes);
    fs::remove_file(token).unwrap();

    let noise: Vec<u8> = (0..1 << 16)
        .scan(1_u32, |x, _| {
            *x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some((*x >> 24) as u8)
        })
        .collect();
    fs::write(sources.join("noise"), noise).unwrap();
    let why = pack_sources(sources.path(), MOST, None)
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("the packed archive would have more than"),
        "{why}"
    );
    fs::remove_file(sources.join("noise")).unwrap();
    sources.link("src/lib.rs", "main.rs");
    let why = pack_sources(sources.path(), MOST, None)
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("src/lib.rs: expected files and folders, found a link"),
        "{why}"
    );
}

#[test]
fn a_link_out_of_the_folder_is_refused() {
    for (target, says) in [
        ("/etc/passwd", "absolute path"),
        ("../..", "leads out of the folder"),
        ("x", "leads to itself"),
    ] {
        let folder = bot(&NAMES);
        folder.link("a/x", target);
        let why = why(folder.path());
        assert!(why.contains("a/x: ") && why.contains(says), "{why}");
    }
}

#[test]
fn pipes_and_sockets_are_refused_by_name_and_not_opened() {
    let folder = bot(&NAMES);
    let made = Command::new("mkfifo").arg(folder.join("a/pipe")).status();
    assert!(made.unwrap().success());
    assert!(why(folder.path()).contains("a/pipe: expected files, folders and links, found a pipe"));
    let folder = bot(&NAMES);
    let _listener = UnixListener::bind(folder.join("socket")).unwrap();
    assert!(why(folder.path()).contains("found a socket"));
}

#[test]
fn a_name_that_is_not_text_is_refused() {
    let folder = bot(&NAMES);
    let name = std::ffi::OsStr::from_bytes(b"w\xff\x1b[1m");
    fs::write(folder.path().join(name), "").unwrap();
    let why = why(folder.path());
    assert!(
        why.contains("is not UTF-8") && !why.contains('\u{1b}'),
        "{why}"
    );
}

#[test]
fn a_folder_that_is_not_there_or_empty_is_refused() {
    let folder = Folder::new();
    assert!(why(folder.path()).contains("there is nothing in it"));
    assert!(why(&folder.join("none")).contains("expected a folder"));
    let file = folder.file("file", "");
    assert!(why(&file).contains("expected a folder"));
}

#[test]
fn a_file_that_can_t_be_read_is_named() {
    let folder = bot(&NAMES);
    // Whoever is root reads everything.
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    set_mode(&folder.join("data.txt"), 0);
    let why = why(folder.path());
    assert!(why.contains("data.txt: it can't be read"), "{why}");
}

#[test]
fn a_folder_with_too_many_or_too_large_files_is_refused() {
    let folder = Folder::new();
    let file = folder.file("0", "");
    for number in 1..=MOST_ENTRIES {
        fs::hard_link(&file, folder.join(&number.to_string())).unwrap();
    }
    assert!(why(folder.path()).contains("more than 20000 files and folders"));
    let folder = bot(&NAMES);
    // A hole takes no space.
    let hole = File::create(folder.join("hole")).unwrap();
    hole.set_len(512 << 20).unwrap();
    let why = why(folder.path());
    assert!(why.contains("more than 512 MiB"), "{why}");
}

#[test]
fn a_single_file_is_a_folder_with_this_file() {
    let folder = Folder::new();
    let file = folder.file("my.so", "object");
    folder.link("link.so", "my.so");
    let packed = pack_file(&file).unwrap();
    assert_eq!(packed.entries, 1);
    let alone = Folder::new();
    alone.file("my.so", "object");
    assert_eq!(pack_folder(alone.path()).unwrap().hash, packed.hash);
    // A link to it is what it leads to, with its own name.
    let linked = pack_file(&folder.join("link.so")).unwrap();
    let place = Folder::new();
    let into = place.join("unpacked");
    unpack_archive(&linked.bytes, &linked.hash, &into).unwrap();
    assert_eq!(fs::read_to_string(into.join("link.so")).unwrap(), "object");
    assert!(pack_file(&folder.join("none.so")).is_err());
}
