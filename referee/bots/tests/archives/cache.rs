//! The folder of unpacked archives: what goes, what stays, and what two processes do to it.

use std::{fs, path::Path};

use referee_bots::archive::{
    ArchiveCache, ArchiveHash, CacheError, Packed, UnpackedArchive, pack_folder,
};

use crate::vocabulary::{Folder, set_mode};

const KIB: u64 = 1024;

/// A bot of about so many KiB.
fn bot(name: &str, kib: u64) -> Packed {
    let folder = Folder::new();
    folder.program("bot", name);
    folder.file("data", &"x".repeat((kib * KIB) as usize));
    pack_folder(folder.path()).unwrap()
}

fn open(folder: &Folder, kib: u64) -> ArchiveCache {
    ArchiveCache::open(&folder.join("cache"), kib * KIB).unwrap()
}

fn keep(cache: &ArchiveCache, packed: &Packed) -> UnpackedArchive {
    cache.insert(&packed.hash, &packed.bytes).unwrap()
}

fn has(cache: &ArchiveCache, packed: &Packed) -> bool {
    cache.folder().join(packed.hash.to_string()).exists()
}

fn text(held: &UnpackedArchive) -> String {
    fs::read_to_string(held.files().join("bot")).unwrap()
}

fn names(cache: &ArchiveCache) -> Vec<String> {
    let entries = fs::read_dir(cache.folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lock").collect()
}

#[test]
fn what_is_kept_is_found_again_also_by_the_next_process() {
    let folder = Folder::new();
    let (one, other) = (bot("one", 1), bot("other", 1));
    let cache = open(&folder, 100);
    assert!(cache.get(&one.hash).unwrap().is_none());
    let missing = cache.missing([one.hash, other.hash, one.hash]).unwrap();
    assert_eq!(missing, [one.hash, other.hash]);
    let held = keep(&cache, &one);
    assert_eq!((held.hash(), &*text(&held)), (&one.hash, "one"));
    drop(held);
    let next = open(&folder, 100);
    assert_eq!(text(&next.get(&one.hash).unwrap().unwrap()), "one");
    assert_eq!(next.missing([one.hash, other.hash]).unwrap(), [other.hash]);
    // Its bytes are not needed again.
    assert_eq!(text(&next.insert(&one.hash, b"").unwrap()), "one");
}

#[test]
fn those_that_were_used_least_lately_go_first() {
    let folder = Folder::new();
    let cache = open(&folder, 100);
    let bots: Vec<Packed> = (0..4).map(|n| bot(&n.to_string(), 28)).collect();
    for bot in &bots[..3] {
        keep(&cache, bot);
    }
    assert!(bots[..3].iter().all(|bot| has(&cache, bot)));
    cache.get(&bots[0].hash).unwrap().unwrap();
    keep(&cache, &bots[3]);
    let there: Vec<bool> = bots.iter().map(|bot| has(&cache, bot)).collect();
    assert_eq!(there, [true, false, true, true]);
}

#[test]
fn what_is_in_use_stays_whatever_the_limit_is() {
    let folder = Folder::new();
    let cache = open(&folder, 10);
    let (one, other, third) = (bot("one", 28), bot("other", 28), bot("third", 28));
    let held = keep(&cache, &one);
    let again = held.clone();
    // Another process that uses the same folder.
    let elsewhere = open(&folder, 10);
    keep(&elsewhere, &other);
    assert!(has(&cache, &one));
    drop(held);
    keep(&elsewhere, &third);
    assert_eq!(text(&again), "one");
    drop(again);
    keep(&elsewhere, &other);
    assert!(!has(&cache, &one) && !has(&cache, &third) && has(&cache, &other));
}

#[test]
fn what_a_kill_left_half_done_goes_at_the_next_start() {
    let folder = Folder::new();
    let cache = open(&folder, 100);
    keep(&cache, &bot("one", 1));
    let left = cache.folder().join("partial-x/files");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("bot"), "half").unwrap();
    set_mode(&left, 0o555);
    fs::create_dir(cache.folder().join("notes")).unwrap();
    let again = open(&folder, 100);
    let mut names = names(&again);
    names.sort();
    assert_eq!(names.len(), 2);
    assert_eq!(names[1], "notes", "what is not ours stays");
}

#[test]
fn what_another_process_unpacks_now_stays() {
    let folder = Folder::new();
    let cache = open(&folder, 100);
    let partial = cache.folder().join("partial-x");
    fs::create_dir(&partial).unwrap();
    let lock = fs::File::create(partial.join("lock")).unwrap();
    lock.lock().unwrap();
    open(&folder, 100);
    assert!(partial.exists());
    lock.unlock().unwrap();
    open(&folder, 100);
    assert!(!partial.exists());
}

#[test]
fn an_archive_that_is_not_the_one_is_not_kept() {
    let folder = Folder::new();
    let cache = open(&folder, 100);
    let packed = bot("one", 1);
    let other = ArchiveHash::new([7; 32]);
    let error = cache.insert(&other, &packed.bytes).unwrap_err();
    assert!(matches!(error, CacheError::Unpack(_)), "{error}");
    assert!(cache.get(&other).unwrap().is_none());
    assert_eq!(names(&cache), Vec::<String>::new());
}

#[test]
fn files_that_somebody_has_changed_are_not_played_with() {
    let change = |file: &Path| {
        set_mode(file, 0o644);
        // The length stays.
        fs::write(file, "two").unwrap();
        set_mode(file, 0o555);
    };
    type Change<'c> = &'c dyn Fn(&Path);
    let changes: [Change<'_>; 4] = [
        &|files| change(&files.join("bot")),
        &|files| set_mode(&files.join("bot"), 0o755),
        &|files| {
            set_mode(files, 0o755);
            fs::write(files.join("more"), "").unwrap();
            set_mode(files, 0o555);
        },
        &|files| {
            set_mode(files, 0o755);
            fs::remove_file(files.join("data")).unwrap();
            set_mode(files, 0o555);
        },
    ];
    let folder = Folder::new();
    let cache = open(&folder, 100);
    let packed = bot("one", 1);
    for change in changes {
        let held = keep(&cache, &packed);
        assert_eq!(text(&held), "one");
        change(held.files());
        // Bots play with it: it can't be unpacked again now.
        let error = cache.get(&packed.hash).unwrap_err();
        assert!(matches!(error, CacheError::Changed(_)), "{error}");
        drop(held);
        assert!(cache.get(&packed.hash).unwrap().is_none());
    }
    assert_eq!(text(&keep(&cache, &packed)), "one");
}

#[test]
fn many_threads_unpack_one_archive_at_once() {
    let folder = Folder::new();
    let packed = bot("one", 100);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..8 {
                    // Which removes what is half done, also what another gives up just now.
                    let cache = open(&folder, 1);
                    assert_eq!(text(&keep(&cache, &packed)), "one");
                }
            });
        }
    });
    assert_eq!(names(&open(&folder, 1)).len(), 1);
}
