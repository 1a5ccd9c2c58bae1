//! The output of a process: its log file, its last lines, and where it listens.

use std::{
    collections::VecDeque,
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use futures_util::future::join_all;
use parking_lot::Mutex;
use referee_core::{printable, with_last_words};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    process::Child,
    sync::oneshot,
    task::JoinHandle,
};

/// Most bytes of a bot's output that are kept in its log file.
pub const LOG_LIMIT: usize = 1024 * 1024;
/// Number of its last lines that are shown, and of those that evidence is chosen from: a trace of
/// an error is longer. Most characters of one.
const LAST_LINES: usize = 5;
const KEPT_LINES: usize = 60;
const LINE_LIMIT: usize = 400;
/// Longest time until the rest of its output arrives when it has ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// The last lines that a bot printed.
#[derive(Clone, Debug, Default)]
pub(super) struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock();
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        let line: String = line.chars().take(LINE_LIMIT).collect();
        lines.push_back(printable(&line));
    }

    pub(super) fn all(&self) -> Vec<String> {
        let lines = self.0.lock();
        let first = lines.len().saturating_sub(LAST_LINES);
        lines.iter().skip(first).cloned().collect()
    }

    pub(super) fn after(&self, what: &str) -> String {
        with_last_words(what, self.0.lock().make_contiguous())
    }
}

/// Takes what a bot prints: into a file up to a limit, and the last lines as evidence.
#[derive(Clone)]
struct Log {
    last_lines: LastLines,
    file: Arc<Mutex<LogFile>>,
}

/// The file is made with the first line.
enum LogFile {
    /// Nothing has been printed.
    Unwritten(PathBuf),
    /// It takes so many bytes more.
    Open(std::fs::File, usize),
    /// It takes nothing more.
    Closed,
}

impl LogFile {
    fn write(self, line: &str) -> io::Result<Self> {
        let (mut file, left) = match self {
            Self::Unwritten(path) => {
                let mut options = std::fs::OpenOptions::new();
                (options.create(true).append(true).open(path)?, LOG_LIMIT)
            }
            Self::Open(file, left) => (file, left),
            Self::Closed => return Ok(Self::Closed),
        };
        let fits = &line[..line.floor_char_boundary(left)];
        file.write_all(fits.as_bytes())?;
        if line.len() < left {
            return Ok(Self::Open(file, left - fits.len()));
        }
        file.write_all(b"\n[the log ends here: the bot has printed too much]\n")?;
        Ok(Self::Closed)
    }
}

impl Log {
    fn new(path: Option<PathBuf>, last_lines: LastLines) -> Self {
        let file = path.map_or(LogFile::Closed, LogFile::Unwritten);
        Self {
            last_lines,
            file: Arc::new(Mutex::new(file)),
        }
    }

    /// Takes a line, in which nothing is left that a terminal obeys.
    fn line(&self, line: &[u8]) {
        // A carriage return before the end of a line is part of that end.
        let (line, end) = match line {
            [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] => (line, "\n"),
            line => (line, ""),
        };
        let text = printable(&String::from_utf8_lossy(line)) + end;
        let mut slot = self.file.lock();
        let file = std::mem::replace(&mut *slot, LogFile::Closed);
        *slot = file.write(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, "no log");
            LogFile::Closed
        });
        drop(slot);
        let text = text.trim_end();
        if !text.is_empty() {
            self.last_lines.push(text);
        }
    }
}

/// The tasks that read what it prints.
pub(super) struct OutputReaders([JoinHandle<io::Result<()>>; 2]);

impl OutputReaders {
    /// Reads what it prints; the receiver gets the address when it has printed that.
    pub(super) fn of(
        child: &mut Child,
        log: Option<PathBuf>,
        last_lines: LastLines,
    ) -> (Self, oneshot::Receiver<String>) {
        let log = Log::new(log, last_lines);
        let (said, listening) = oneshot::channel();
        let stdout = child.stdout.take().expect("its standard output is a pipe");
        let stderr = child.stderr.take().expect("its standard error is a pipe");
        let stdout = read_output(stdout, log.clone(), Some(said));
        let stderr = read_output(stderr, log, None);
        (
            Self([tokio::spawn(stdout), tokio::spawn(stderr)]),
            listening,
        )
    }

    /// Waits until all of it has been read, but not for long: a process that has left the
    /// group may keep it open.
    pub(super) async fn ended(&mut self) {
        let _ = tokio::time::timeout(OUTPUT_GRACE, join_all(&mut self.0)).await;
    }
}

/// Reads to the end, past the limit of the log too, so that the pipe is never full.
async fn read_output(
    output: impl AsyncRead + Unpin,
    log: Log,
    mut listening: Option<oneshot::Sender<String>>,
) -> io::Result<()> {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line may be without an end.
        let read = (&mut output)
            .take(64 * 1024)
            .read_until(b'\n', &mut line)
            .await?;
        if read == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(address) = text.trim().strip_prefix("listening on ")
            && let Some(listening) = listening.take()
        {
            let _ = listening.send(address.to_owned());
            continue;
        }
        log.line(&line);
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test reads what it has written"
)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_log_file_has_nothing_that_a_terminal_obeys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.log");
        let last_lines = LastLines::default();
        let log = Log::new(Some(path.clone()), last_lines.clone());
        let said = b"\x1b[2J\x1b]0;title\x07red\r\n\xff\xc2\x9b31m\rover\n\xe2\x80\xaelast";
        read_output(&said[..], log, None).await.unwrap();
        let expected = [
            r"\u{1b}[2J\u{1b}]0;title\u{7}red",
            "\u{fffd}\\u{9b}31m\\rover",
            r"\u{202e}last",
        ];
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, expected.join("\n"));
        assert_eq!(last_lines.all(), expected);
    }

    #[tokio::test]
    async fn a_log_file_ends_at_its_limit_with_a_whole_character() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.log");
        let log = Log::new(Some(path.clone()), LastLines::default());
        let said = format!("a{}", "é".repeat(LOG_LIMIT));
        read_output(said.as_bytes(), log, None).await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("aé"), "it is text");
        assert!(text.ends_with("the bot has printed too much]\n"));
        assert!(text.len() < LOG_LIMIT + 100);
    }
}
