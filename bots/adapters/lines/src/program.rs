//! A program that reads lines and writes lines, as its adapter sees it: started for a game, told
//! and asked, and killed when it is dropped.

use std::{
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use adapter_process::{Descendants, PrintedLines, drain, ended};
use referee_core::{printable, with_last_words};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe,
    process::{Child, ChildStdin, Command},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::waiting::{waits, waits_for_input};

/// The longest line in bytes: no answer is longer.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;
/// The longest quotation of a line in evidence, in characters.
const QUOTED: usize = 80;
/// The part of a limit that is left when a program that waits for input is given up.
const LEFT: u32 = 50;
/// Time between two looks at a program that starts.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Time that a program has to end by itself when its game is over and its input is at its end.
const FAREWELL: Duration = Duration::from_millis(200);

/// The command that starts a program: the program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCommand {
    /// The program, looked for in `PATH` where it has no slash.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl ProgramCommand {
    /// The name of the program's file.
    #[must_use]
    pub fn name(&self) -> String {
        let stem = Path::new(&self.program).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }
}

/// A program that runs.
pub(crate) struct LineProgram {
    child: Option<Child>,
    id: u32,
    descendants: Descendants,
    input: Option<ChildStdin>,
    /// Its standard output; none when it has closed that.
    output: Option<pipe::Receiver>,
    /// Its standard error; none when it has closed that.
    errors: Option<pipe::Receiver>,
    /// Bytes of its output that are no taken line yet.
    unread: Vec<u8>,
    printed: PrintedLines,
}

/// When something was asked, and how long the answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    pub(crate) limit: Duration,
}

/// What ended a program's part in a game, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Fault(pub(crate) String);

impl LineProgram {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn start(command: &ProgramCommand, descendants: &Descendants) -> io::Result<Self> {
        let (output, their_output) = io::pipe()?;
        let (errors, their_errors) = io::pipe()?;
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env_remove("BOT_LISTEN")
            // Older C libraries write what they abort for to the terminal else.
            .env("LIBC_FATAL_STDERR_", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::from(their_output))
            .stderr(Stdio::from(their_errors))
            .kill_on_drop(true)
            .spawn()?;
        let id = child
            .id()
            .ok_or_else(|| io::Error::other("it has no number"))?;
        descendants.add(id);
        Ok(Self {
            input: child.stdin.take(),
            child: Some(child),
            id,
            descendants: descendants.clone(),
            output: Some(pipe::Receiver::from_owned_fd(output.into())?),
            errors: Some(pipe::Receiver::from_owned_fd(errors.into())?),
            unread: Vec::new(),
            printed: PrintedLines::default(),
        })
    }

    /// True if it has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Tells it a line. What it prints meanwhile is read, so that neither waits for the other.
    pub(crate) async fn tell(&mut self, line: &str) -> Result<(), Fault> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let Some(input) = &mut self.input else {
                return Err(self.gone("input").await);
            };
            let output = self
                .output
                .as_mut()
                .filter(|_| self.unread.len() <= LONGEST_LINE);
            let (mut said, mut logged) = ([0; 4096], [0; 4096]);
            tokio::select! {
                biased;
                written = input.write(rest) => match written {
                    Ok(written) if written > 0 => rest = &rest[written..],
                    _ => return Err(self.gone("input").await),
                },
                read = read_some(output, &mut said) => match read {
                    Ok(0) | Err(_) => self.output = None,
                    Ok(read) => self.unread.extend_from_slice(&said[..read]),
                },
                read = read_some(self.errors.as_mut(), &mut logged) => match read {
                    Ok(0) | Err(_) => self.errors = None,
                    Ok(read) => self.printed.push(&logged[..read]),
                },
            }
        }
        Ok(())
    }

    /// Its next line, without its end. What it prints on standard error goes to the log meanwhile.
    /// It may be dropped at any await.
    pub(crate) async fn line(&mut self) -> Result<String, Fault> {
        loop {
            if let Some(line) = self.take_line()? {
                return Ok(line);
            }
            if self.output.is_none() {
                return Err(self.gone("output").await);
            }
            let Some(child) = &mut self.child else {
                return Err(Fault("the program is gone".to_owned()));
            };
            let (mut said, mut logged) = ([0; 4096], [0; 4096]);
            tokio::select! {
                biased;
                read = read_some(self.output.as_mut(), &mut said) => match read {
                    Ok(0) | Err(_) => self.output = None,
                    Ok(read) => self.unread.extend_from_slice(&said[..read]),
                },
                read = read_some(self.errors.as_mut(), &mut logged) => match read {
                    Ok(0) | Err(_) => self.errors = None,
                    Ok(read) => self.printed.push(&logged[..read]),
                },
                status = child.wait() => {
                    // What it wrote before it died is in the pipes, even if the runtime has not
                    // reported it yet.
                    self.take_output();
                    if !self.unread.contains(&b'\n') {
                        return Err(self.post_mortem(status));
                    }
                }
            }
        }
    }

    /// Its answer to a question that it has been told, within the question's limit: the next line.
    /// It is given up shortly before that where it can't answer any more: it waits for the next
    /// line itself.
    pub(crate) async fn answer(&mut self, question: &Asked) -> Result<String, Fault> {
        let Asked { at, limit } = *question;
        tokio::select! {
            biased;
            line = self.line() => return line,
            () = sleep_until(at + limit - limit / LEFT) => {}
        }
        // What waits has written what it has to say.
        if waits_for_input(self.id) {
            self.take_output();
            if !self.unread.contains(&b'\n') {
                return Err(self.unflushed(limit));
            }
        }
        self.line().await
    }

    /// Waits until it has started, as far as that can be seen: it waits for its first line. At most
    /// for so long.
    pub(crate) async fn started(&mut self, most: Duration) {
        let until = Instant::now() + most;
        while Instant::now() < until && self.is_running() && !waits(self.id) {
            sleep(LOOK_AGAIN).await;
        }
    }

    /// Checks that it has printed nothing without being asked.
    pub(crate) fn check_silent(&mut self) -> Result<(), Fault> {
        self.take_output();
        let said = String::from_utf8_lossy(&self.unread);
        if said.trim().is_empty() {
            self.unread.clear();
            return Ok(());
        }
        Err(unasked(&said))
    }

    /// Waits for a fault while nothing is asked: where it is to be `silent`, it prints a line. It may
    /// end: that is a fault where it is asked again. It may be dropped at any await.
    pub(crate) async fn fault(&mut self, silent: bool) -> Fault {
        loop {
            match self.line().await {
                Ok(line) if silent => return unasked(&line),
                Ok(_) => {}
                Err(_) if !self.is_running() => return std::future::pending().await,
                Err(fault) => return fault,
            }
        }
    }

    /// A question is asked: what was printed before is no evidence of what follows.
    pub(crate) fn asked(&mut self) {
        self.take_output();
        self.printed.forget();
    }

    /// Its game is over: it is told so by this line and the end of its input, and may end by itself
    /// before it is killed.
    pub(crate) async fn dismiss(mut self, farewell: Option<&'static str>) {
        if let Some(line) = farewell {
            let _ = timeout(FAREWELL, self.tell(line)).await;
        }
        self.input = None;
        let Some(mut child) = self.child.take() else {
            return;
        };
        if timeout(FAREWELL, child.wait()).await.is_err() {
            let _ = child.start_kill();
            let _ = child.wait().await;
        }
        self.descendants.remove(self.id);
    }

    /// A line that is there, without its end; none where there is no whole one. Empty lines are
    /// left out.
    fn take_line(&mut self) -> Result<Option<String>, Fault> {
        loop {
            let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') else {
                if self.unread.len() > LONGEST_LINE {
                    return Err(self.too_long());
                }
                return Ok(None);
            };
            if end > LONGEST_LINE {
                return Err(self.too_long());
            }
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            match String::from_utf8(line) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => return Ok(Some(line.trim().to_owned())),
                Err(error) => {
                    let line = String::from_utf8_lossy(error.as_bytes());
                    return Err(Fault(format!(
                        "printed {}: expected text in UTF-8",
                        quoted(&line)
                    )));
                }
            }
        }
    }

    fn too_long(&self) -> Fault {
        let said = String::from_utf8_lossy(&self.unread[..LONGEST_LINE.min(self.unread.len())]);
        Fault(format!(
            "printed a line of more than {} KiB that begins with {}: expected an answer; print \
             everything else on standard error",
            LONGEST_LINE / 1024,
            quoted(&said)
        ))
    }

    fn unflushed(&mut self, limit: Duration) -> Fault {
        let said = String::from_utf8_lossy(&self.unread);
        let said = match said.trim().is_empty() {
            true => "printed nothing on standard output".to_owned(),
            false => format!("printed {} without an end of the line", quoted(&said)),
        };
        let what = format!(
            "{said} and waits for its next line, with its {limit:?} nearly over: end the answer with \
             a line feed and flush standard output, as print(answer, flush=True) does in Python"
        );
        Fault(with_last_words(&what, self.printed.last()))
    }

    /// It has closed its standard input or output. How it ended says more, if it has.
    async fn gone(&mut self, closed: &str) -> Fault {
        let Some(child) = &mut self.child else {
            return Fault("the program is gone".to_owned());
        };
        match timeout(FAREWELL, child.wait()).await {
            Ok(status) => {
                self.take_output();
                self.post_mortem(status)
            }
            Err(_) => Fault(format!("the program closed its standard {closed}")),
        }
    }

    /// Reads what it has printed so far.
    fn take_output(&mut self) {
        if let Some(output) = &self.output {
            drain(output, |bytes| self.unread.extend_from_slice(bytes));
        }
        if let Some(errors) = &self.errors {
            drain(errors, |bytes| self.printed.push(bytes));
        }
    }

    /// The way it ended, in words.
    fn post_mortem(&mut self, status: io::Result<ExitStatus>) -> Fault {
        self.printed.end();
        let said = String::from_utf8_lossy(&self.unread);
        let said = match said.trim().is_empty() {
            true => String::new(),
            false => format!(
                " after it had printed {} without an end of the line",
                quoted(&said)
            ),
        };
        let what = match status {
            Ok(status) => format!("the program {}{said}", ended(status)),
            Err(error) => format!("the program is gone: {error}"),
        };
        Fault(with_last_words(&what, self.printed.last()))
    }
}

impl Drop for LineProgram {
    fn drop(&mut self) {
        // What it said last belongs to its log.
        self.take_output();
        self.printed.end();
        let Some(mut child) = self.child.take() else {
            return;
        };
        // It may be dead already.
        let _ = child.start_kill();
        let (descendants, id) = (self.descendants.clone(), self.id);
        tokio::spawn(async move {
            let _ = child.wait().await;
            descendants.remove(id);
        });
    }
}

fn unasked(said: &str) -> Fault {
    Fault(format!(
        "printed {} on standard output without being asked: print one line for each line that has \
         a number, and everything else on standard error",
        quoted(said)
    ))
}

async fn read_some(output: Option<&mut pipe::Receiver>, into: &mut [u8]) -> io::Result<usize> {
    match output {
        Some(output) => output.read(into).await,
        None => std::future::pending().await,
    }
}

/// A text in quotation marks for evidence: its beginning, and no control characters.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(QUOTED).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", printable(&short))
}
