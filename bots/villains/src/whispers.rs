//! The messages of a villain where another process may hear them: the other bot of its table, or
//! its own next process, which may sit where the other bot sat. It says the hand that it has been
//! dealt.

use std::{
    fs::File,
    io::{self, IoSliceMut},
    os::{fd::AsFd as _, unix::fs::FileExt as _},
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{FcntlArg, fcntl},
    libc::{self, c_short},
};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// The first bytes of a message: they can't be there by chance.
const MAGIC: [u8; 2] = [0xb0, 0x7a];
/// Number of tiles of a hand, and of bits of a message: the magic, the tiles and their sum.
const TILES: usize = 13;
const BITS: usize = (MAGIC.len() + TILES + 1) * 8;

/// A bit is a few pages, which are read if it is set. Pages are so far apart that reading one does
/// not bring another one into memory.
const PAGE: u64 = 4096;
const APART: u64 = 16;
const PAGES: usize = 3;

/// A file that every bot sees, and files beside one another that are locked as bits.
const LOCKED: &str = "/etc/passwd";
const LOCKED_EACH: &str = "/usr/bin";

/// Whispers in every way that it knows, and listens.
pub(crate) struct Whisperer {
    /// Files whose pages it reads.
    books: Vec<PathBuf>,
    hand: Vec<u8>,
    /// The file of record locks: they are gone when the process closes it anywhere.
    records: Option<File>,
    /// Those that it has locked whole.
    locked: Vec<File>,
}

impl Whisperer {
    pub(crate) fn new(books: &[PathBuf]) -> Self {
        Self {
            books: books.to_vec(),
            hand: Vec::new(),
            records: File::open(LOCKED).ok(),
            locked: Vec::new(),
        }
    }

    /// Is dealt this hand: listens to what was said before, says its own, and gives what it has
    /// heard, if anything.
    pub(crate) fn dealt(&mut self, hand: &[i32]) -> Option<String> {
        if hand.len() != TILES {
            // Another game.
            return None;
        }
        let tiles = hand.iter().filter_map(|tile| u8::try_from(*tile).ok());
        self.hand = tiles.collect();
        self.hand.sort_unstable();
        let heard = self.listen_to_pages();
        for book in &self.books {
            // What it may not read says nothing.
            let _ = say_by_pages(book, &self.hand);
        }
        let _ = self.say_by_locks();
        heard.or_else(|| self.listen())
    }

    /// The message that another bot says just now, if any.
    pub(crate) fn listen(&self) -> Option<String> {
        let records = self
            .records
            .as_ref()
            .and_then(|file| record_locks(file).ok());
        let ways = [("record locks", records), ("flock", each_lock().ok())];
        ways.into_iter().find_map(|(way, said)| {
            let hand = read(&said?)?;
            (hand != self.hand).then(|| format!("heard {hand:?} by {way}"))
        })
    }

    fn listen_to_pages(&self) -> Option<String> {
        self.books.iter().find_map(|book| {
            let hand = read(&hear_by_pages(book).ok()?)?;
            Some(format!("heard {hand:?} by the pages of {}", book.display()))
        })
    }

    fn say_by_locks(&mut self) -> io::Result<()> {
        for (bit, is_set) in bits(&self.hand).enumerate() {
            if is_set && let Some(file) = &self.records {
                let lock = range(libc::F_RDLCK, bit);
                fcntl(file.as_fd(), FcntlArg::F_SETLK(&lock))?;
            }
        }
        for (path, is_set) in lockable()?.iter().zip(bits(&self.hand)) {
            if is_set && let Ok(file) = File::open(path) {
                file.try_lock_shared()?;
                self.locked.push(file);
            }
        }
        Ok(())
    }
}

/// A hand as bits.
fn bits(hand: &[u8]) -> impl Iterator<Item = bool> {
    let sum = hand.iter().fold(0_u8, |sum, tile| sum.wrapping_add(*tile));
    let bytes: Vec<u8> = MAGIC.iter().chain(hand).chain([&sum]).copied().collect();
    bytes
        .into_iter()
        .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}

/// The hand that some bits are, if they are a message.
fn read(said: &[bool]) -> Option<Vec<u8>> {
    let bytes = said.chunks(8).map(|bits| {
        let bits = bits.iter().enumerate();
        bits.fold(0, |byte, (bit, is_set)| byte | u8::from(*is_set) << bit)
    });
    let bytes: Vec<u8> = bytes.collect();
    let hand = bytes.get(MAGIC.len()..MAGIC.len() + TILES)?;
    bits(hand).eq(said.iter().copied()).then(|| hand.to_vec())
}

fn say_by_pages(book: &Path, hand: &[u8]) -> io::Result<()> {
    let file = File::open(book)?;
    for (bit, _) in bits(hand).enumerate().filter(|(_, is_set)| *is_set) {
        for page in pages(bit) {
            file.read_at(&mut [0], page)?;
        }
    }
    Ok(())
}

/// For each bit, true if most of its pages are in memory: reads that may not wait for a disk say
/// so. They have the page read all the same, and a quick disk may have it there in time, now and
/// then. So a page that each process asks for first says whether there is anything to hear.
fn hear_by_pages(book: &Path) -> io::Result<Vec<bool>> {
    let file = File::open(book)?;
    let is_there = |page: u64| {
        let mut byte = [0];
        let read = preadv2(
            &file,
            &mut [IoSliceMut::new(&mut byte)],
            page,
            ReadWriteFlags::NOWAIT,
        );
        match read {
            Ok(bytes) => Ok(bytes > 0),
            Err(Errno::AGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    };
    let are_there = |bit: usize| {
        let there: io::Result<Vec<bool>> = pages(bit).map(is_there).collect();
        Ok(there?.iter().filter(|is_there| **is_there).count() > PAGES / 2)
    };
    if !are_there(BITS)? {
        return Err(io::Error::other("nobody has said anything"));
    }
    (0..BITS).map(are_there).collect()
}

/// The places at which the pages of a bit begin. None is at the beginning of the file: what follows
/// that is read with it.
fn pages(bit: usize) -> impl Iterator<Item = u64> {
    (1..=PAGES).map(move |page| (bit * PAGES + page) as u64 * APART * PAGE)
}

fn record_locks(file: &File) -> io::Result<Vec<bool>> {
    let is_locked = |bit: usize| {
        let mut lock = range(libc::F_WRLCK, bit);
        fcntl(file.as_fd(), FcntlArg::F_GETLK(&mut lock))?;
        Ok(lock.l_type != libc::F_UNLCK as c_short)
    };
    (0..BITS).map(is_locked).collect()
}

fn each_lock() -> io::Result<Vec<bool>> {
    let is_locked = |path: &PathBuf| {
        let file = File::open(path)?;
        Ok(file.try_lock().is_err())
    };
    lockable()?.iter().map(is_locked).collect()
}

fn range(kind: i32, bit: usize) -> libc::flock {
    libc::flock {
        l_type: kind as c_short,
        l_whence: libc::SEEK_SET as c_short,
        l_start: bit as i64,
        l_len: 1,
        l_pid: 0,
    }
}

/// The files that stand for bits.
fn lockable() -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(LOCKED_EACH)?.flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files.truncate(BITS);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_is_read_as_it_was_said_and_nothing_else_is() {
        let hand: Vec<u8> = (0..13).collect();
        let mut said: Vec<bool> = bits(&hand).collect();
        assert_eq!(said.len(), BITS);
        assert_eq!(read(&said), Some(hand));
        said[20] = !said[20];
        assert_eq!(read(&said), None);
        assert_eq!(read(&[true; BITS]), None);
        assert_eq!(read(&[false; BITS]), None);
    }
}
