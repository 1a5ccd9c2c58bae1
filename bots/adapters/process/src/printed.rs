//! The lines that a program prints.

use std::{
    collections::VecDeque,
    io::{self, Write as _},
    os::fd::AsFd,
};

/// Number of its last lines that evidence is chosen from, and the longest one in characters.
const KEPT_LINES: usize = 60;
const LINE_LIMIT: usize = 400;
/// The longest line in bytes; a longer one is cut in two.
const LONGEST_LINE: usize = 64 * 1024;
/// Number of bytes read at most from the pipe of a dead process: what a pipe can hold.
const PIPE_CAPACITY: usize = 64 * 1024;

/// The lines that a program has printed, which go to the adapter's standard error.
#[derive(Debug, Default)]
pub struct PrintedLines {
    /// A line that has not ended.
    line: Vec<u8>,
    /// The last lines since the last question.
    last: VecDeque<String>,
}

impl PrintedLines {
    /// A question is asked: what was printed before is no evidence of what follows.
    pub fn forget(&mut self) {
        self.last.clear();
    }

    /// The last lines since the last question.
    pub fn last(&mut self) -> &[String] {
        self.last.make_contiguous()
    }

    /// Passes on each line as it ends, so that those of several games don't mix.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.line.len() >= LONGEST_LINE {
                self.end();
            }
        }
    }

    /// The line has ended, or nothing more will come.
    #[expect(
        clippy::disallowed_methods,
        reason = "the log of the adapter is its standard error"
    )]
    pub fn end(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let words = String::from_utf8_lossy(&line);
        let words = words.trim_end();
        if !words.is_empty() {
            if self.last.len() == KEPT_LINES {
                self.last.pop_front();
            }
            self.last
                .push_back(words.chars().take(LINE_LIMIT).collect());
        }
        if !line.is_empty() {
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            // The log may have no reader.
            let _ = io::stderr().write_all(&line);
        }
    }
}

/// Reads what is there without waiting, up to a pipe's capacity.
pub fn drain(from: impl AsFd, mut found: impl FnMut(&[u8])) {
    let mut chunk = [0; 4096];
    for _ in 0..PIPE_CAPACITY / chunk.len() {
        match nix::unistd::read(&from, &mut chunk) {
            Ok(read) if read > 0 => found(&chunk[..read]),
            _ => return,
        }
    }
}
