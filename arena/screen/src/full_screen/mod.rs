//! The full screen of `arena play`: keys and a mouse. `form.rs` asks for the settings, `game.rs` plays
//! a game. What a game is shown as is in `view.rs`, and `board.rs` lays out its table. `pager.rs` shows
//! a text that changes.

mod board;
mod form;
mod game;
mod keys;
mod line;
mod page;
mod pager;
mod view;

use std::{
    io::{self, IsTerminal as _, stdin, stdout},
    mem::ManuallyDrop,
    os::fd::AsFd as _,
};

use anyhow::Context as _;
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, poll},
};
use ratatui::{
    DefaultTerminal, Frame,
    crossterm::{
        cursor::Show,
        event::{self, DisableMouseCapture, EnableMouseCapture, Event},
        execute, queue,
        terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate},
    },
    layout::Rect,
    style::{Modifier, Style},
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};
use referee_cli::stop::EndSignals;
use referee_core::Language;
use tokio::sync::{mpsc, oneshot};

use self::keys::Key;
use super::words;

pub use self::pager::Pager;
pub(super) use self::{form::settle, game::play, page::wrapped};

/// Events that were not looked at yet. Whoever types faster than that waits.
const EVENTS: usize = 64;

/// Time between two looks at whether the terminal is still there, in milliseconds.
const LOOKS_EVERY_MS: u16 = 1000;

/// True if there is a terminal that can be drawn on.
pub(super) fn is_there() -> bool {
    let can_draw = std::env::var("TERM").is_ok_and(|term| !matches!(&*term, "" | "dumb"));
    can_draw && std::io::stdin().is_terminal() && stdout().is_terminal()
}

/// The terminal while it is drawn on. Afterwards it is as it was before, also where the program
/// panics.
pub(super) struct Screen {
    /// Never dropped: it would show the cursor, as [`Restored`] does, and panics where neither the
    /// terminal nor standard error can be written.
    terminal: ManuallyDrop<DefaultTerminal>,
    events: mpsc::Receiver<Event>,
    signals: EndSignals,
    /// Ends when the terminal is gone.
    gone: oneshot::Receiver<()>,
    is_gone: bool,
    // The last field: the terminal is given back when nothing else draws.
    _restored: Restored,
}

/// Gives the terminal back when it is dropped.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = execute!(stdout(), EndSynchronizedUpdate, DisableMouseCapture, Show);
        let _ = ratatui::try_restore();
    }
}

impl Screen {
    /// Takes the terminal, and begins to hear keys and the mouse.
    pub(super) fn open() -> anyhow::Result<Self> {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // Ratatui's own hook runs before this one; it knows of no mouse.
            let _ = execute!(stdout(), EndSynchronizedUpdate, DisableMouseCapture, Show);
            hook(panic);
        }));
        let restored = Restored;
        let terminal = ratatui::try_init().context("could not draw on this terminal")?;
        execute!(stdout(), EnableMouseCapture)?;
        let (sender, events) = mpsc::channel(EVENTS);
        std::thread::spawn(move || {
            while let Ok(event) = event::read() {
                if sender.blocking_send(event).is_err() {
                    return;
                }
            }
        });
        let (here, gone) = oneshot::channel();
        std::thread::spawn(move || {
            wait_until_gone();
            drop(here);
        });
        Ok(Self {
            terminal: ManuallyDrop::new(terminal),
            events,
            signals: EndSignals::listen()?,
            gone,
            is_gone: false,
            _restored: restored,
        })
    }

    /// Draws everything. A terminal that can shows it in one piece; one that can't be drawn on is
    /// gone, as the next key says.
    fn draw(&mut self, render: impl FnOnce(&mut Frame)) {
        self.is_gone = self.is_gone || self.try_draw(render).is_err();
    }

    fn try_draw(&mut self, render: impl FnOnce(&mut Frame)) -> io::Result<()> {
        queue!(stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(render)?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Waits for the next key. Nothing is lost where nobody waits until it comes.
    async fn key(&mut self) -> anyhow::Result<Key> {
        loop {
            if self.is_gone {
                return Ok(Key::Gone);
            }
            let event = tokio::select! {
                biased;
                _ = self.signals.next() => None,
                _ = &mut self.gone => {
                    self.is_gone = true;
                    None
                }
                event = self.events.recv() => event,
            };
            let Some(event) = event else {
                return Ok(Key::Gone);
            };
            let Some(key) = Key::of(&event) else {
                continue;
            };
            if key == Key::Redraw {
                // Its `clear` would ask the terminal for the cursor, and the thread that hears keys
                // would take the answer.
                let size = self.terminal.size()?;
                self.terminal.resize(size.into())?;
            }
            return Ok(key);
        }
    }
}

/// Waits until the terminal is gone. Who reads from it is not told: it gives nothing then, again and
/// again.
fn wait_until_gone() {
    let input = stdin();
    // Of an end the system tells unasked (poll(2)); not every terminal wakes who asks for nothing.
    let mut nothing = [PollFd::new(input.as_fd(), PollFlags::empty())];
    while matches!(
        poll(&mut nothing, LOOKS_EVERY_MS),
        Ok(0) | Err(Errno::EINTR)
    ) {}
}

/// Keys with what they do, on lines of a width, and where each was put, for those who click.
fn keys_lines<T>(
    shown: impl Iterator<Item = (String, &'static str, T)>,
    width: u16,
) -> (Vec<Line<'static>>, Vec<(Rect, T)>) {
    let mut lines = vec![Line::default()];
    let mut places = Vec::new();
    for (key, label, what) in shown {
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        let spans = [
            Span::styled(format!(" {key} "), reversed),
            Span::raw(format!(" {label} ")),
        ];
        let taken: usize = spans.iter().map(Span::width).sum();
        let mut from = lines.last().map_or(0, Line::width);
        if from > 0 && from + taken > width.into() {
            lines.push(Line::default());
            from = 0;
        }
        let y = lines.len() as u16 - 1;
        places.push((Rect::new(from as u16, y, taken as u16, 1), what));
        if let Some(line) = lines.last_mut() {
            line.extend(spans);
        }
    }
    (lines, places)
}

/// Says how large the terminal must be.
fn too_small(language: Language, needed: (u16, u16), frame: &mut Frame) {
    let area = frame.area();
    let text = words::too_small(language, needed, (area.width, area.height));
    let lines = wrapped(&text, area.width.max(1).into());
    let lines: Vec<Line> = lines.into_iter().map(Line::raw).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}
