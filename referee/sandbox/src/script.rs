//! The first line of a script, and the beginning of the file that it is in.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// So much of a script is its first line (`BINPRM_BUF_SIZE`).
const FIRST_LINE: usize = 256;

/// So many bytes of the beginning of a regular file; none where it can't be read.
pub(crate) fn head(file: &Path, most: u64) -> Option<Vec<u8>> {
    // A pipe would be waited for.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    let opened = File::open(file).ok()?;
    opened.take(most).read_to_end(&mut head).ok()?;
    Some(head)
}

/// What follows `#!`, as far as the kernel reads it.
pub(crate) fn first_line(head: &[u8]) -> Option<&[u8]> {
    let line = head.get(..FIRST_LINE).unwrap_or(head).strip_prefix(b"#!")?;
    line.split(|byte| *byte == b'\n').next()
}

/// The programs that the first line of a script names, of the beginning of its file: the
/// interpreter, and what env(1) is to start where it is that.
#[must_use]
pub fn named_programs(head: &[u8]) -> Vec<PathBuf> {
    let Some(line) = first_line(head) else {
        return Vec::new();
    };
    let words = line.split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty()).map(OsStr::from_bytes);
    let mut words = words.map(PathBuf::from);
    let Some(first) = words.next() else {
        return Vec::new();
    };
    let is_env = first.file_name() == Some(OsStr::new("env"));
    let mut found = vec![first];
    if is_env {
        found.extend(words.find(|word| {
            let word = word.as_os_str().as_bytes();
            !word.starts_with(b"-") && !word.contains(&b'=')
        }));
    }
    found
}
