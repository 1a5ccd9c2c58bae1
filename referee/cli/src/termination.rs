//! The last words of a process, where Kubernetes reads them: it shows them in the status of the
//! container (terminationMessagePath).

use std::{
    env,
    fs::File,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use nix::libc::{O_NOCTTY, O_NONBLOCK};
use referee_core::printable_lines;

/// The file that Kubernetes reads if nobody names another.
const STANDARD: &str = "/dev/termination-log";
/// The environment variable that names another file.
const PATH: &str = "BOT_ARENA_TERMINATION_LOG";
/// Longest text that Kubernetes reads, in bytes.
const LONGEST: usize = 4096;

/// Writes why this process ends into the file that `BOT_ARENA_TERMINATION_LOG` names, else into
/// `/dev/termination-log`, if there is such a file. Where it can't be written, nothing happens: the
/// same words are on standard error.
pub fn write_termination_message(words: &str) {
    let path = env::var_os(PATH).unwrap_or_else(|| STANDARD.into());
    if let Err(error) = write(Path::new(&path), words)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::debug!(%error, ?path, "could not write why this process ends");
    }
}

fn write(path: &Path, words: &str) -> io::Result<()> {
    // Opening a pipe would wait for somebody who reads it.
    let file = File::options()
        .write(true)
        .custom_flags(O_NONBLOCK | O_NOCTTY)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ));
    }
    file.set_len(0)?;
    let words = printable_lines(words);
    let end = words.floor_char_boundary(LONGEST);
    (&file).write_all(&words.as_bytes()[..end])
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test reads what it has written"
)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn words_are_printable_short_and_all_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        write(&path, "nobody wants it").unwrap_err();
        assert!(!path.exists());
        fs::write(&path, "what was there before, which is longer").unwrap();
        write(&path, "could not\n\u{1b}[2J").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "could not\n\\u{1b}[2J");
        write(&path, &"é".repeat(4000)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "é".repeat(2048));
        write(&path, &format!("x{}", "é".repeat(4000))).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 4095);
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "words").unwrap_err();
        write(Path::new("/dev/null"), "words").unwrap_err();
    }
}
