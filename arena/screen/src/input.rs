//! Lines from standard input, from a keyboard or a pipe.

use std::io::{BufRead as _, IsTerminal as _, Read as _};

use arena_terminal::report;
use referee_core::{Language, printable};
use tokio::sync::mpsc;

/// The longest line that is read; the rest of it is the next one.
const LONGEST: u64 = 4096;

/// Typed input.
pub(super) enum Typed {
    Line(String),
    /// The input has ended.
    End,
    /// Ctrl-C.
    Interrupt,
}

pub(super) struct Input {
    lines: mpsc::Receiver<String>,
    /// True if input from a pipe is shown, so that the output can be read.
    echo: bool,
    language: Language,
}

impl Input {
    /// Begins to read. Whoever reads a line ahead of us has a line that nobody wants.
    pub(super) fn new(language: Language) -> Self {
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            let mut stdin = std::io::stdin().lock();
            loop {
                let mut line = Vec::new();
                match stdin.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let line = String::from_utf8_lossy(&line);
                if sender.blocking_send(line.trim().to_owned()).is_err() {
                    return;
                }
            }
        });
        Self {
            lines,
            echo: !std::io::stdin().is_terminal(),
            language,
        }
    }

    pub(super) const fn language(&self) -> Language {
        self.language
    }

    /// Waits for a line, and prints nothing.
    pub(super) async fn line(&mut self) -> Typed {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Typed::Interrupt,
            line = self.lines.recv() => line.map_or(Typed::End, Typed::Line),
        }
    }

    /// Asks, and waits for a line.
    pub(super) async fn ask(&mut self, prompt: &str) -> anyhow::Result<Typed> {
        report::text(&format!("{prompt}> "))?;
        std::io::Write::flush(&mut std::io::stdout())?;
        let typed = self.line().await;
        match &typed {
            Typed::Line(line) if self.echo => report::text(&format!("{}\n", printable(line)))?,
            Typed::Line(_) => {}
            Typed::End | Typed::Interrupt => report::text("\n")?,
        }
        Ok(typed)
    }
}
