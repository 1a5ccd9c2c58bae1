//! Uploads that are refused before anything of them is on a disk.

use std::io::Write as _;

use arena_build::{BuildLimits, FaultKind, Sources};
use flate2::{Compression, write::GzEncoder};
use tar::{Builder, EntryType};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::common::{header, tar_gz, zip_of};

fn limits() -> BuildLimits {
    BuildLimits::default()
}

/// The fault of an upload, which must be of this kind and name this.
#[track_caller]
fn refused(upload: &[u8], kind: FaultKind, named: &str) {
    let why = Sources::read("entry", upload, &limits()).expect_err("it is refused");
    assert_eq!(why.kind, kind, "{why}");
    assert!(why.to_string().contains(named), "{why}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A tar.gz with one entry, whose name is written as it is.
fn one(path: &[u8], kind: EntryType) -> Vec<u8> {
    let mut header = header(kind, 0);
    let name = &mut header.as_old_mut().name;
    name[..path.len()].copy_from_slice(path);
    header.set_cksum();
    let mut builder = Builder::new(Vec::new());
    builder.append(&header, std::io::empty()).unwrap();
    gzip(&builder.into_inner().unwrap())
}

#[test]
fn what_is_well_formed_is_read_without_its_top_folder() {
    let files = [("my/bot.py", "print(1)"), ("my/data/weights", "7")];
    for upload in [tar_gz(&files), zip_of(&files)] {
        let sources = Sources::read("entry", &upload, &limits()).unwrap();
        assert!(sources.paths().eq(["bot.py", "data/weights"]));
    }
    let mac = [("bot.py", ""), ("__MACOSX/._bot.py", ""), (".DS_Store", "")];
    let sources = Sources::read("entry", &zip_of(&mac), &limits()).unwrap();
    assert!(sources.paths().eq(["bot.py"]));
    let single = Sources::read("brain.cpp", b"class MyBrain;", &limits()).unwrap();
    assert!(single.paths().eq(["brain.cpp"]));
    // As `tar czf my.tgz .` writes it.
    let dotted = tar_gz(&[("./bot.py", "")]);
    assert!(
        Sources::read("entry", &dotted, &limits())
            .unwrap()
            .paths()
            .eq(["bot.py"])
    );
}

#[test]
fn an_upload_that_is_too_large_is_not_looked_at() {
    refused(
        &vec![0; 100 * 1024 + 1],
        FaultKind::TooLarge,
        "at most 100 KiB",
    );
}

#[test]
fn a_bomb_is_read_up_to_the_bound_and_no_further() {
    let zeros = "0".repeat(64 << 20);
    let zip = zip_of(&[("bot.py", &zeros)]);
    refused(&zip, FaultKind::TooLarge, "more than 4 MiB");
    let tar = tar_gz(&[("bot.py", &zeros)]);
    refused(&tar, FaultKind::TooLarge, "more than 4 MiB");
    // Its header says that it is small.
    let mut lying = zip;
    let size = u32::try_from(zeros.len()).unwrap().to_le_bytes();
    while let Some(at) = lying.windows(4).position(|four| four == size) {
        lying[at..at + 4].copy_from_slice(&8u32.to_le_bytes());
    }
    let why = Sources::read("entry", &lying, &limits()).unwrap_err();
    assert!(
        matches!(why.kind, FaultKind::TooLarge | FaultKind::BadArchive),
        "{why}"
    );
    // Each file is small, and they are many.
    let chunk = "0".repeat(1 << 20);
    let names: Vec<String> = (0..8).map(|number| format!("{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*chunk)).collect();
    refused(&tar_gz(&files), FaultKind::TooLarge, "more than 4 MiB");
    refused(&zip_of(&files), FaultKind::TooLarge, "more than 4 MiB");
    // A name of gigabytes, which tar has in an entry of its own.
    let mut long = header(EntryType::GNULongName, 1 << 33);
    long.set_cksum();
    let mut endless = long.as_bytes().to_vec();
    endless.resize(32 << 20, b'a');
    refused(&gzip(&endless), FaultKind::TooLarge, "more than 4 MiB");
}

#[test]
fn a_million_files_are_not_counted_to_the_end() {
    let mut header = header(EntryType::Regular, 0);
    let mut tar = Vec::new();
    for number in 0..20_000 {
        header.set_path(format!("{number}")).unwrap();
        header.set_cksum();
        tar.extend_from_slice(header.as_bytes());
    }
    let upload = gzip(&tar);
    let why = Sources::read(
        "entry",
        &upload,
        &BuildLimits {
            upload: upload.len() as u64,
            ..limits()
        },
    );
    let why = why.unwrap_err();
    assert_eq!(why.kind, FaultKind::TooManyFiles, "{why}");
    assert!(why.to_string().contains("more than 1000 files"), "{why}");
    let names: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "")).collect();
    let zip = zip_of(&files);
    assert!(zip.len() < 100 << 10, "{}", zip.len());
    refused(&zip, FaultKind::TooManyFiles, "more than 1000 files");
}

#[test]
fn names_that_leave_the_folder_or_hide_something_are_refused() {
    for (name, named) in [
        (&b"../bot.py"[..], "found \"..\""),
        (b"a/../../bot.py", "found \"..\""),
        (b"/etc/passwd", "an absolute one"),
        (b"a\nb", "control characters"),
        (b"a\x1b[2Jb", "control characters"),
        ("a\u{202e}b".as_bytes(), "control characters"),
        (b"a\\b", "backslashes"),
        (b"a//b", "without empty names"),
        (b"\xff\xfe", "in UTF-8"),
        (b"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "more than 16 folders"),
    ] {
        refused(&one(name, EntryType::Regular), FaultKind::BadName, named);
        let mut folder = name.to_vec();
        folder.push(b'/');
        refused(
            &one(&folder, EntryType::Directory),
            FaultKind::BadName,
            named,
        );
    }
    refused(&zip_of(&[("../x", "")]), FaultKind::BadName, "found \"..\"");
    refused(
        &zip_of(&[("/x", "")]),
        FaultKind::BadName,
        "an absolute one",
    );
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    let twice = tar_gz(&[("bot.py", "1"), ("bot.py", "2")]);
    refused(&twice, FaultKind::BadName, "bot.py is there twice");
    let by_case = [("bot.py", "1"), ("Bot.py", "2")];
    for upload in [tar_gz(&by_case), zip_of(&by_case)] {
        refused(&upload, FaultKind::BadName, "differ by case only");
    }
    let folders = tar_gz(&[("a/x", "1"), ("A/y", "2")]);
    refused(&folders, FaultKind::BadName, "differ by case only");
    let file_and_folder = tar_gz(&[("a", "1"), ("a/b", "2")]);
    refused(&file_and_folder, FaultKind::BadName, "a is there twice");
    // A writer refuses to make such a zip, so it is made of another one.
    let mut zip = zip_of(&[("bot1", "1"), ("bot2", "2")]);
    while let Some(at) = zip.windows(4).position(|four| four == b"bot2") {
        zip[at..at + 4].copy_from_slice(b"bot1");
    }
    refused(&zip, FaultKind::BadName, "twice");
}

#[test]
fn links_and_devices_are_refused_by_name() {
    for (kind, named) in [
        (EntryType::Symlink, "bot is a link"),
        (EntryType::Link, "bot is a link"),
        (EntryType::Char, "bot is a device"),
        (EntryType::Block, "bot is a device"),
        (EntryType::Fifo, "bot is a pipe"),
        (EntryType::Continuous, "bot is of a kind that is not known"),
    ] {
        refused(&one(b"bot", kind), FaultKind::NotAFile, named);
    }
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.add_symlink("bot", "/etc/shadow", SimpleFileOptions::default())
        .unwrap();
    let zip = zip.finish().unwrap().into_inner();
    refused(&zip, FaultKind::NotAFile, "bot is a link");
}

#[test]
fn what_is_no_archive_is_said() {
    refused(
        b"\x7fELF\x02\x01\x01\0\0\xff",
        FaultKind::BadArchive,
        "expected a zip, a tar",
    );
    refused(
        b"PK\x03\x04 and no more",
        FaultKind::BadArchive,
        "no zip that can be read",
    );
    refused(
        &[0x1f, 0x8b, 8, 0, 0],
        FaultKind::BadArchive,
        "no tar that can be read",
    );
    refused(
        &gzip(b"text"),
        FaultKind::BadArchive,
        "no tar that can be read",
    );
    refused(
        &tar_gz(&[]),
        FaultKind::BadArchive,
        "there is no file in it",
    );
    let cut = tar_gz(&[("bot.py", &"x = 1\n".repeat(2000))]);
    refused(&cut[..cut.len() / 2], FaultKind::BadArchive, "incomplete");
    let why = Sources::read("../bot.py", b"x", &limits()).unwrap_err();
    assert_eq!(why.kind, FaultKind::BadName);
}

#[test]
fn mutations_of_an_upload_are_read_or_refused() {
    let text = "int main() { return 0; }\n".repeat(40);
    let files = [
        ("my/bot.cpp", &*text),
        ("my/data/weights", "7"),
        ("my/bot", "#!/bin/sh"),
    ];
    let zip = zip_of(&files);
    let gzip = tar_gz(&files);
    let mut tar = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*gzip), &mut tar).unwrap();
    // A linear congruential generator (Knuth's MMIX): the same mutations each time.
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut read, mut refused) = (0, 0);
    for round in 0..6000 {
        let mut upload = [&zip, &gzip, &tar][round % 3].clone();
        for _ in 0..=random(4) {
            let at = random(upload.len());
            upload[at] = u8::try_from(random(256)).unwrap();
        }
        if random(8) == 0 {
            upload.truncate(random(upload.len()));
        }
        match Sources::read("entry", &upload, &limits()) {
            Ok(sources) => {
                read += 1;
                let is_inside = |path: &str| !path.starts_with('/') && !path.contains("..");
                assert!(sources.paths().all(is_inside));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        read > 100 && refused > 100,
        "{read} read, {refused} refused"
    );
}
