//! The files of bots.

use arena_store::{ARCHIVE_PART, NewArchive, NewBot};

use crate::vocabulary::{Home, new_tournament, on_both};

on_both!(
    an_archive_comes_out_as_it_went_in_part_by_part,
    an_archive_is_kept_once_with_who_packed_it_first,
    archives_that_nobody_names_go_after_a_while,
    a_hash_that_is_none_is_refused,
    an_archive_without_a_part_is_damaged,
    what_an_entrant_was_is_kept_and_exported,
);

fn archive(digit: char, at: i64) -> NewArchive {
    NewArchive {
        hash: digit.to_string().repeat(64),
        size: 12_345,
        packed_by: format!("ann@{at}"),
        packed_unix_ms: at,
    }
}

/// Bytes of which no two parts are the same.
fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at / 7 + at / 70_000) as u8).collect()
}

async fn an_archive_comes_out_as_it_went_in_part_by_part(home: &Home) {
    let store = home.open().await;
    for (digit, count) in [
        ('1', 0),
        ('2', 1),
        ('3', ARCHIVE_PART),
        ('4', ARCHIVE_PART + 1),
        ('5', 3 * ARCHIVE_PART + 100),
    ] {
        let new = archive(digit, 5);
        let packed = bytes(count);
        assert!(store.add_archive(&new, &packed).await.unwrap());
        let info = store.archive_info(&new.hash).await.unwrap().unwrap();
        assert_eq!((info.size, info.packed_size), (12_345, count as u64));
        assert_eq!((&*info.packed_by, info.packed_unix_ms), ("ann@5", 5));
        let mut parts = Vec::new();
        for part in 0..info.parts() {
            let part = store.archive_part(&new.hash, part).await.unwrap().unwrap();
            assert!(part.len() <= ARCHIVE_PART);
            parts.extend(part);
        }
        assert!(parts == packed);
        let none = store.archive_part(&new.hash, info.parts()).await.unwrap();
        assert_eq!(none, None);
        let all = store.archive_bytes(&new.hash).await.unwrap();
        assert!(all == Some(packed));
    }
    let none = "f".repeat(64);
    assert_eq!(store.archive_info(&none).await.unwrap(), None);
    assert_eq!(store.archive_bytes(&none).await.unwrap(), None);
    let all = home.open().await.archives().await.unwrap();
    let digits: String = all.iter().map(|info| &info.hash[..1]).collect();
    assert_eq!(digits, "12345");
}

async fn an_archive_is_kept_once_with_who_packed_it_first(home: &Home) {
    let store = home.open().await;
    assert!(store.add_archive(&archive('a', 1), b"one").await.unwrap());
    assert!(!store.add_archive(&archive('a', 2), b"two").await.unwrap());
    let all = store.archives().await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((&*all[0].packed_by, all[0].packed_unix_ms), ("ann@1", 1));
    let bytes = store.archive_bytes(&all[0].hash).await.unwrap().unwrap();
    assert_eq!(bytes, b"one");
    // Two at once are one.
    let (one, other) = (archive('b', 1), archive('b', 2));
    let (one, other) = tokio::join!(
        store.add_archive(&one, b"one"),
        store.add_archive(&other, b"one")
    );
    assert!(one.unwrap() != other.unwrap());
}

async fn archives_that_nobody_names_go_after_a_while(home: &Home) {
    let store = home.open().await;
    for digit in "abcde".chars() {
        store.add_archive(&archive(digit, 10), b"x").await.unwrap();
    }
    let spec = |digit: char| {
        let hash = archive(digit, 0).hash;
        format!("packed:{hash}?needs=python3:exec:python3 a.py")
    };
    let bot = NewBot {
        name: "bot".to_owned(),
        version: "1".to_owned(),
        spec: spec('a'),
        owner: None,
        games: Vec::new(),
    };
    store.add_bot(&bot).await.unwrap();
    let mut new = new_tournament("cup", 2);
    new.entrants[1].spec = spec('b');
    new.definition = serde_json::json!({ "filler": spec('c') });
    store.create(&new).await.unwrap();
    // Somebody is about to register it.
    store.add_archive(&archive('d', 20), b"x").await.unwrap();
    let digits = async |before| {
        let removed = store.remove_unused_archives(before).await.unwrap();
        let digits = removed.iter().map(|hash| hash[..1].to_owned());
        digits.collect::<String>()
    };
    assert_eq!(digits(10).await, "");
    assert_eq!(digits(20).await, "e");
    assert_eq!(digits(21).await, "d");
    assert_eq!(
        store.archive_part(&archive('e', 0).hash, 0).await.unwrap(),
        None
    );
    store.remove_bot("bot").await.unwrap();
    assert_eq!(digits(21).await, "a");
    assert_eq!(store.archives().await.unwrap().len(), 2);
}

async fn a_hash_that_is_none_is_refused(home: &Home) {
    let store = home.open().await;
    for hash in ["", "abc", &"g".repeat(64), &"A".repeat(64)] {
        let new = NewArchive {
            hash: hash.to_owned(),
            ..archive('a', 1)
        };
        let error = store.add_archive(&new, b"x").await.unwrap_err().to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
    }
    let new = NewArchive {
        packed_by: "a\u{1b}[2Jb".to_owned(),
        ..archive('a', 1)
    };
    assert!(store.add_archive(&new, b"x").await.is_err());
}

async fn an_archive_without_a_part_is_damaged(home: &Home) {
    let store = home.open().await;
    let new = archive('a', 1);
    store
        .add_archive(&new, &bytes(2 * ARCHIVE_PART))
        .await
        .unwrap();
    home.run("DELETE FROM archive_parts WHERE part = 0").await;
    let error = store
        .archive_bytes(&new.hash)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("the store is damaged"), "{error}");
}

async fn what_an_entrant_was_is_kept_and_exported(home: &Home) {
    let store = home.open().await;
    let mut new = new_tournament("cup", 2);
    new.entrants[1].identity = Some("sha256:abc".to_owned());
    let created = store.create(&new).await.unwrap();
    let read = store.tournament("cup").await.unwrap().unwrap();
    assert_eq!(read.entrants, new.entrants);
    let mut text = Vec::new();
    store.export(created.id, &mut text).await.unwrap();
    // One that is not known is not there, as in exports of earlier versions.
    let exported = String::from_utf8(text.clone()).unwrap();
    assert_eq!(exported.matches("identity").count(), 1, "{exported}");
    let imported = store
        .import(&mut &text[..], Some("again"), |_| Ok(()))
        .await
        .unwrap();
    assert_eq!(imported.entrants, new.entrants);
}
