//! The output of a process: its log file, its last lines, and where it listens.

use std::{
    collections::VecDeque,
    io::{self, Write as _},
    path::PathBuf,
    sync::{Arc, Weak},
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
/// Most bytes of a bot's output in one game that are kept with the game.
pub const GAME_LOG_LIMIT: usize = 16 * 1024;
/// Number of its last lines that are shown, and of those that evidence is chosen from: a trace of
/// an error is longer. Most characters of one.
const LAST_LINES: usize = 5;
const KEPT_LINES: usize = 60;
const LINE_LIMIT: usize = 400;
/// Longest time until the rest of its output arrives when it has ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// The output of a bot's process that is kept in memory: its last lines, and what it prints while
/// games go on whose logs are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessOutput(Arc<Mutex<KeptOutput>>);

#[derive(Debug, Default)]
struct KeptOutput {
    last_lines: VecDeque<String>,
    /// What no game has: of the start, and from between games.
    between: Excerpt,
    games: Vec<Weak<Mutex<Excerpt>>>,
}

/// What a process prints while one game goes on, with what it has printed before that belongs to no
/// other game. Several games that it plays at once have the same.
#[derive(Debug)]
pub(crate) struct GameOutput(Arc<Mutex<Excerpt>>);

impl ProcessOutput {
    /// Takes a line, with its end.
    fn push(&self, line: &str) {
        let mut kept = self.0.lock();
        let KeptOutput {
            last_lines,
            between,
            games,
        } = &mut *kept;
        let mut is_taken = false;
        games.retain(|game| {
            let game = game.upgrade();
            if let Some(game) = &game {
                game.lock().push(line);
                is_taken = true;
            }
            game.is_some()
        });
        if !is_taken {
            between.push(line);
        }
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        if last_lines.len() == KEPT_LINES {
            last_lines.pop_front();
        }
        let line: String = line.chars().take(LINE_LIMIT).collect();
        last_lines.push_back(printable(&line));
    }

    /// Keeps what is printed for a game, until the result is dropped.
    pub(super) fn of_game(&self) -> GameOutput {
        let mut kept = self.0.lock();
        let before = std::mem::take(&mut kept.between);
        let game = Arc::new(Mutex::new(before));
        kept.games.push(Arc::downgrade(&game));
        GameOutput(game)
    }

    /// What it has printed that belongs to no game.
    pub(crate) fn text(&self) -> String {
        self.0.lock().between.text()
    }

    pub(super) fn all(&self) -> Vec<String> {
        let lines = &self.0.lock().last_lines;
        let first = lines.len().saturating_sub(LAST_LINES);
        lines.iter().skip(first).cloned().collect()
    }

    pub(super) fn after(&self, what: &str) -> String {
        with_last_words(what, self.0.lock().last_lines.make_contiguous())
    }
}

impl GameOutput {
    pub(crate) fn text(&self) -> String {
        self.0.lock().text()
    }
}

/// Text of which the middle is left out where it is too long.
#[derive(Debug, Default)]
struct Excerpt {
    begins: String,
    ends: VecDeque<String>,
    /// Bytes in `ends`.
    bytes: usize,
    /// Bytes that are left out between them.
    left_out: u64,
}

impl Excerpt {
    /// Most bytes of the beginning, and of the end.
    const HALF: usize = GAME_LOG_LIMIT / 2;

    fn push(&mut self, line: &str) {
        if self.ends.is_empty() && self.begins.len() + line.len() <= Self::HALF {
            self.begins += line;
            return;
        }
        let skipped = line.len().saturating_sub(Self::HALF);
        let line = &line[line.ceil_char_boundary(skipped)..];
        self.left_out += skipped as u64;
        self.bytes += line.len();
        self.ends.push_back(line.to_owned());
        while self.bytes > Self::HALF
            && let Some(first) = self.ends.pop_front()
        {
            self.bytes -= first.len();
            self.left_out += first.len() as u64;
        }
    }

    fn text(&self) -> String {
        let mut text = self.begins.clone();
        if self.left_out > 0 {
            text += &format!("[{} bytes are left out here]\n", self.left_out);
        }
        text.extend(self.ends.iter().map(String::as_str));
        text
    }
}

/// Takes what a bot prints: into a file up to a limit, and into memory as evidence.
#[derive(Clone)]
struct Log {
    output: ProcessOutput,
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
    fn new(path: Option<PathBuf>, output: ProcessOutput) -> Self {
        let file = path.map_or(LogFile::Closed, LogFile::Unwritten);
        Self {
            output,
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
        self.output.push(&text);
    }
}

/// The tasks that read what it prints.
pub(super) struct OutputReaders([JoinHandle<io::Result<()>>; 2]);

impl OutputReaders {
    /// Reads what it prints; the receiver gets the address when it has printed that.
    pub(super) fn of(
        child: &mut Child,
        log: Option<PathBuf>,
        output: ProcessOutput,
    ) -> (Self, oneshot::Receiver<String>) {
        let log = Log::new(log, output);
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
        let output = ProcessOutput::default();
        let log = Log::new(Some(path.clone()), output.clone());
        let said = b"\x1b[2J\x1b]0;title\x07red\r\n\xff\xc2\x9b31m\rover\n\xe2\x80\xaelast";
        read_output(&said[..], log, None).await.unwrap();
        let expected = [
            r"\u{1b}[2J\u{1b}]0;title\u{7}red",
            "\u{fffd}\\u{9b}31m\\rover",
            r"\u{202e}last",
        ];
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, expected.join("\n"));
        assert_eq!(output.all(), expected);
    }

    #[tokio::test]
    async fn a_log_file_ends_at_its_limit_with_a_whole_character() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.log");
        let log = Log::new(Some(path.clone()), ProcessOutput::default());
        let said = format!("a{}", "é".repeat(LOG_LIMIT));
        read_output(said.as_bytes(), log, None).await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("aé"), "it is text");
        assert!(text.ends_with("the bot has printed too much]\n"));
        assert!(text.len() < LOG_LIMIT + 100);
    }

    #[test]
    fn each_game_has_what_was_printed_meanwhile_without_the_middle() {
        let output = ProcessOutput::default();
        output.push("starts\n");
        assert_eq!(output.text(), "starts\n");
        let first = output.of_game();
        output.push("one\n");
        let second = output.of_game();
        output.push("both\n");
        drop(output.of_game());
        assert_eq!(first.text(), "starts\none\nboth\n");
        assert_eq!(second.text(), "both\n");
        drop((first, second));
        output.push("between\n");
        let third = output.of_game();
        let line = format!("{}\n", "é".repeat(600));
        for _ in 0..100 {
            output.push(&line);
        }
        output.push("last\n");
        let text = third.text();
        assert!(
            text.starts_with("between\néé") && text.ends_with("é\nlast\n"),
            "{text}"
        );
        assert!(text.contains("bytes are left out here]\n"), "{text}");
        assert!(text.len() < GAME_LOG_LIMIT + 100, "{}", text.len());
        output.push(&"é".repeat(GAME_LOG_LIMIT));
        assert!(third.text().len() < GAME_LOG_LIMIT + 100);
        assert_eq!(output.text(), "");
    }
}
