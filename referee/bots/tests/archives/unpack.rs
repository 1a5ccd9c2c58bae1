//! Bytes of anybody: nothing but an archive that we write becomes a folder.

use std::fs;

use referee_bots::archive::{ArchiveHash, MOST_ENTRIES, UnpackError, unpack_archive};
use tar::EntryType;

use crate::vocabulary::{ByHand, Folder, mode, packed};

/// The reason why it is refused; nothing of it is left.
fn refused((hash, bytes): (ArchiveHash, Vec<u8>)) -> String {
    let place = Folder::new();
    let error = unpack_archive(&bytes, &hash, &place.join("bot")).unwrap_err();
    assert!(matches!(error, UnpackError::Invalid(_)), "{error}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    error.to_string()
}

#[test]
fn an_archive_that_was_made_by_hand_unpacks_where_it_is_honest() {
    let (hash, bytes) = ByHand::new()
        .folder("a")
        .entry("a/bot", EntryType::Regular, 0o755, b"run")
        .link("bot", EntryType::Symlink, "a/bot")
        .packed();
    let place = Folder::new();
    unpack_archive(&bytes, &hash, &place.join("bot")).unwrap();
    assert_eq!(fs::read_to_string(place.join("bot/bot")).unwrap(), "run");
    assert_eq!(mode(&place.join("bot/a/bot")), 0o555);
    // What is there is not overwritten.
    assert!(unpack_archive(&bytes, &hash, &place.join("bot")).is_err());
    assert_eq!(fs::read_to_string(place.join("bot/bot")).unwrap(), "run");
}

#[test]
fn a_path_out_of_the_folder_is_refused() {
    for path in [
        "/etc/cron.d/x",
        "../x",
        "a/../../x",
        "..",
        ".",
        "./x",
        "a//x",
        "x/",
        "",
    ] {
        let why = refused(ByHand::new().folder("a").file(path, b"x").packed());
        assert!(why.contains("path"), "{path}: {why}");
    }
}

#[test]
fn an_entry_through_a_link_or_without_its_folder_is_refused() {
    let through = ByHand::new()
        .folder("a")
        .link("b", EntryType::Symlink, "a")
        .file("b/x", b"x");
    assert!(refused(through.packed()).contains("b/x: no folder that it lies in"));
    let in_a_file = ByHand::new().file("a", b"").file("a/x", b"x");
    assert!(refused(in_a_file.packed()).contains("a/x: no folder"));
    assert!(refused(ByHand::new().file("a/x", b"x").packed()).contains("a/x: no folder"));
}

#[test]
fn a_path_that_is_there_twice_is_refused() {
    for again in [
        ByHand::new().file("a", b"1").file("a", b"2"),
        ByHand::new().folder("a").folder("a"),
        ByHand::new()
            .link("a", EntryType::Symlink, "b")
            .file("a", b"2"),
        ByHand::new()
            .file("a", b"1")
            .link("a", EntryType::Symlink, "b"),
    ] {
        assert!(refused(again.packed()).contains("a: it is there twice"));
    }
}

#[test]
fn a_link_out_of_the_folder_is_refused() {
    for (target, says) in [
        ("/", "absolute path"),
        ("..", "leads out"),
        ("a/../../..", "leads out"),
        ("up/../..", "leads out"),
    ] {
        let archive = ByHand::new()
            .folder("a")
            .link("a/up", EntryType::Symlink, "..")
            .link("up", EntryType::Symlink, "a/up")
            .link("x", EntryType::Symlink, target);
        let why = refused(archive.packed());
        assert!(why.contains("x: ") && why.contains(says), "{target}: {why}");
    }
}

#[test]
fn devices_pipes_hard_links_and_other_entries_are_refused() {
    for kind in [
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Link,
        EntryType::Continuous,
        EntryType::GNUSparse,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ] {
        let why = refused(ByHand::new().link("x", kind, "y").packed());
        let says = "x: expected a file, a folder or a link, found";
        assert!(why.contains(says), "{kind:?}: {why}");
    }
}

#[test]
fn a_setuid_bit_is_refused() {
    for mode in [0o4755, 0o2755, 0o1777] {
        let archive = ByHand::new().entry("x", EntryType::Regular, mode, b"");
        assert!(refused(archive.packed()).contains("x: it has a setuid"));
    }
}

#[test]
fn another_archive_than_was_asked_for_leaves_nothing() {
    let (hash, _) = ByHand::new().file("x", b"1").packed();
    let (_, bytes) = ByHand::new().file("x", b"2").packed();
    let place = Folder::new();
    let error = unpack_archive(&bytes, &hash, &place.join("bot")).unwrap_err();
    assert!(matches!(error, UnpackError::OtherHash { .. }), "{error}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn what_follows_the_archive_is_part_of_its_hash() {
    let (hash, bytes) = ByHand::new().file("x", b"1").packed();
    let mut tar = zstd::decode_all(&bytes[..]).unwrap();
    tar.extend(b"more");
    let (other, more) = packed(&tar);
    assert_ne!(other, hash);
    let place = Folder::new();
    assert!(unpack_archive(&more, &hash, &place.join("bot")).is_err());
}

#[test]
fn an_archive_that_is_cut_or_damaged_is_refused() {
    let (hash, bytes) = ByHand::new()
        .file("x", "0123456789".repeat(1000).as_bytes())
        .packed();
    let place = Folder::new();
    for end in [0, 1, 10, bytes.len() / 2, bytes.len() - 1] {
        assert!(
            unpack_archive(&bytes[..end], &hash, &place.join("bot")).is_err(),
            "{end}"
        );
    }
    assert!(unpack_archive(b"no archive", &hash, &place.join("bot")).is_err());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    // A gigabyte of zeros is a few hundred kilobytes.
    let zeros = vec![0; 1 << 20];
    let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let (_, header) = {
        let archive = ByHand::new().file("x", b"").packed();
        (archive.0, zstd::decode_all(&archive.1[..]).unwrap())
    };
    let mut header = header[..512].to_vec();
    // Its size, in octal digits, and the checksum of the header.
    header[124..135].copy_from_slice(format!("{:011o}", 1_u64 << 30).as_bytes());
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    std::io::Write::write_all(&mut packer, &header).unwrap();
    for _ in 0..1024 {
        std::io::Write::write_all(&mut packer, &zeros).unwrap();
    }
    let bytes = packer.finish().unwrap();
    assert!(bytes.len() < 1 << 20);
    let why = refused((ArchiveHash::new([0; 32]), bytes));
    assert!(why.contains("more than 512 MiB"), "{why}");
}

#[test]
fn an_archive_with_too_many_entries_is_refused() {
    let mut archive = ByHand::new();
    for number in 0..=MOST_ENTRIES {
        archive = archive.folder(&number.to_string());
    }
    let why = refused(archive.packed());
    assert!(why.contains("more than 20000 entries"), "{why}");
}

#[test]
fn a_path_that_is_too_long_or_no_text_is_refused() {
    let long = |bytes: &[u8]| {
        ByHand::new()
            .entry("././@LongLink", EntryType::GNULongName, 0o644, bytes)
            .file("x", b"")
    };
    for bytes in [vec![b'x'; 1 << 20], vec![b'x'; 1026]] {
        let why = refused(long(&bytes).packed());
        assert!(why.contains("more than 1024 bytes"), "{why}");
    }
    assert!(refused(long(b"\xff\0").packed()).contains("not UTF-8"));
    assert!(refused(long(b"/etc/x\0").packed()).contains("not from the root"));
}
