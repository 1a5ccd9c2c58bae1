//! Files that no program in a sandbox may see, wherever they lie: keys, tokens, stores, seeds.
//! They are known by what they are, and by a mark that they have since an arena has hidden them
//! from its bots: so those of one arena are hidden from the bots of another one too.

use std::{
    collections::HashMap,
    fs::{self, DirEntry, File},
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::fs::{XattrFlags, lgetxattr, setxattr};

/// The extended attribute that marks a file or folder.
const MARK: &str = "user.bot-arena.secret";

/// So many files and folders are looked at below one folder.
const MOST: usize = 20_000;

/// So long what was found is believed: bots are started in quick succession.
const FRESH: Duration = Duration::from_secs(1);

/// Marks a file or folder, where its file system has room for that.
pub(crate) fn mark(path: &Path) {
    if !is_marked(path) {
        let _ = setxattr(path, MARK, b"1", XattrFlags::empty());
    }
}

/// The secrets in a folder, or the file itself if it is one.
pub(crate) fn find(path: &Path) -> Vec<PathBuf> {
    static FOUND: Mutex<Option<FoundSecrets>> = Mutex::new(None);
    let mut found = FOUND.lock();
    let found = found.get_or_insert_default();
    found.retain(|_, (when, _)| when.elapsed() < FRESH);
    let (_, secrets) = found.entry(path.to_owned()).or_insert_with(|| {
        let mut secrets = Vec::new();
        let mut left = MOST;
        add_secrets(path, &mut left, &mut secrets);
        (Instant::now(), secrets)
    });
    secrets.clone()
}

type FoundSecrets = HashMap<PathBuf, (Instant, Vec<PathBuf>)>;

fn add_secrets(path: &Path, left: &mut usize, secrets: &mut Vec<PathBuf>) {
    let Some(rest) = left.checked_sub(1) else {
        return;
    };
    *left = rest;
    let Ok(data) = fs::symlink_metadata(path) else {
        return;
    };
    if data.is_symlink() {
        return;
    }
    if is_marked(path) || (data.is_file() && is_secret(path, data.mode(), data.len())) {
        secrets.push(path.to_owned());
    } else if data.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry: DirEntry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            add_secrets(&entry, left, secrets);
        }
    }
}

fn is_marked(path: &Path) -> bool {
    lgetxattr(path, MARK, &mut [0; 1]).is_ok()
}

/// True if a file is a secret by its contents. Keys, tokens and stores are made so that only
/// their owner may read them; a seed may be anybody's.
fn is_secret(path: &Path, mode: u32, size: u64) -> bool {
    /// A root in hexadecimal, with the end of its line.
    const ROOT: [u64; 2] = [64, 65];
    const ONLY_THE_OWNER: u32 = 0o077;
    let is_private = mode & ONLY_THE_OWNER == 0;
    if !is_private && !ROOT.contains(&size) {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut head));
    if read.is_err() {
        // Then the bot, which is the same user, can't read it either.
        return false;
    }
    let is_root = ROOT.contains(&size) && head.trim_ascii_end().iter().all(u8::is_ascii_hexdigit);
    let begins = |with: &[u8]| head.starts_with(with);
    let is_key = begins(b"-----BEGIN ") && head.windows(7).any(|word| word == b"PRIVATE");
    // A store of SQLite, its write-ahead log and its journal (sqlite.org/fileformat2.html).
    let is_store = [
        b"SQLite format 3\0".as_slice(),
        b"\x37\x7f\x06\x82",
        b"\x37\x7f\x06\x83",
        b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
    ];
    let is_store = is_store.into_iter().any(begins);
    let is_token = begins(b"arena_");
    is_root || is_private && (is_key || is_store || is_token)
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn secrets_are_known_by_what_they_are_wherever_they_lie() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = "7".repeat(64);
        for (name, mode, text) in [
            ("tls/ca.key", 0o600, "-----BEGIN PRIVATE KEY-----\n"),
            ("tls/ca.pem", 0o644, "-----BEGIN CERTIFICATE-----\n"),
            ("tokens", 0o600, "arena_77\n"),
            ("arena.db", 0o600, "SQLite format 3\0"),
            ("book.db", 0o644, "SQLite format 3\0"),
            ("seed", 0o644, &root),
            ("bot.py", 0o600, "print()"),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its mode");
        }
        let found = find(folder.path());
        let inside = |path: &PathBuf| path.strip_prefix(folder.path()).map(Path::to_owned);
        let found: Vec<_> = found.iter().flat_map(inside).collect();
        let expected = ["arena.db", "seed", "tls/ca.key", "tokens"].map(PathBuf::from);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_hidden_once_is_marked() {
        // Where a file system has no such attributes, nothing can be marked.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let seeds = folder.path().join("seeds");
        fs::create_dir(&seeds).expect("a folder");
        fs::write(seeds.join("spring"), "a word").expect("a file");
        if setxattr(&seeds, "user.bot-arena.test", b"1", XattrFlags::empty()).is_ok() {
            mark(&seeds);
            assert_eq!(find(folder.path()), [seeds]);
        }
    }
}
