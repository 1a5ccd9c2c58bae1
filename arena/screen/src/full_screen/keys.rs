//! Keys and clicks, and the commands that keys stand for.

use ratatui::{
    crossterm::event::{
        Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
    },
    layout::Position,
};

use super::super::words::Command;

/// A key or a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Letter(char),
    Function(u8),
    Enter,
    Escape,
    Backspace,
    Delete,
    /// Ctrl-U: what is typed is forgotten.
    Clear,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Tab,
    BackTab,
    Click(Position),
    WheelUp,
    WheelDown,
    /// The terminal has another size.
    Resized,
    /// Ctrl-L: everything is drawn again.
    Redraw,
    /// Ctrl-C.
    Interrupt,
    /// A signal, or a terminal that is gone: nobody can be asked.
    Gone,
}

impl Key {
    /// None is nothing that matters here.
    pub(super) fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => Self::of_key(key),
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => {
                    Some(Self::Click(Position::new(mouse.column, mouse.row)))
                }
                MouseEventKind::ScrollUp => Some(Self::WheelUp),
                MouseEventKind::ScrollDown => Some(Self::WheelDown),
                _ => None,
            },
            Event::Resize(..) => Some(Self::Resized),
            _ => None,
        }
    }

    fn of_key(key: &KeyEvent) -> Option<Self> {
        let is_held = |modifier| key.modifiers.contains(modifier);
        Some(match key.code {
            KeyCode::Char('c') if is_held(KeyModifiers::CONTROL) => Self::Interrupt,
            KeyCode::Char('l') if is_held(KeyModifiers::CONTROL) => Self::Redraw,
            KeyCode::Char('u') if is_held(KeyModifiers::CONTROL) => Self::Clear,
            // Some terminals send it for Backspace.
            KeyCode::Char('h') if is_held(KeyModifiers::CONTROL) => Self::Backspace,
            KeyCode::Char(_) if is_held(KeyModifiers::CONTROL) || is_held(KeyModifiers::ALT) => {
                return None;
            }
            KeyCode::Char(letter) => Self::Letter(letter),
            KeyCode::F(number) => Self::Function(number),
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Delete => Self::Delete,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::Left => Self::Left,
            KeyCode::Right => Self::Right,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Tab => Self::Tab,
            KeyCode::BackTab => Self::BackTab,
            _ => return None,
        })
    }
}

/// A command and its keys. A letter with which moves of the game begin is typed; the function key
/// serves in every game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) command: Command,
    letter: char,
    function: u8,
}

const fn binding(command: Command, letter: char, function: u8) -> Binding {
    Binding {
        command,
        letter,
        function,
    }
}

/// While a bot thinks. These keys come first in every list, so that they are always clicked in the
/// same place.
pub(super) const WAITING: &[Binding] = &[
    binding(Command::Help, '?', 1),
    binding(Command::Quit, 'q', 10),
];

/// While a person is to move.
pub(super) const PLAYING: &[Binding] = &[
    binding(Command::Help, '?', 1),
    binding(Command::Quit, 'q', 10),
    binding(Command::Hint, 'h', 2),
    binding(Command::Back, 'b', 3),
    binding(Command::Resign, 'r', 4),
    binding(Command::Save, 's', 5),
    binding(Command::Evaluate, 'v', 6),
];

/// When the game is over.
pub(super) const OVER: &[Binding] = &[
    binding(Command::Help, '?', 1),
    binding(Command::Quit, 'q', 10),
    binding(Command::Again, 'a', 2),
    binding(Command::Back, 'b', 3),
    binding(Command::Settings, 't', 4),
    binding(Command::Save, 's', 5),
    binding(Command::Record, 'r', 6),
];

impl Binding {
    /// True if a key runs the command; `typed` says which letters begin a move.
    pub(super) fn is_run_by(&self, key: Key, typed: impl Fn(char) -> bool) -> bool {
        match key {
            Key::Letter(letter) => letter == self.letter && !typed(letter),
            Key::Function(number) => number == self.function,
            _ => false,
        }
    }

    /// True if a line of this letter alone means the command.
    pub(super) fn is_letter(&self, line: &str) -> bool {
        line.chars().eq([self.letter])
    }

    /// The key as it is shown.
    pub(super) fn key(&self, typed: impl Fn(char) -> bool) -> String {
        match self.command == Command::Help || typed(self.letter) {
            true => format!("F{}", self.function),
            false => self.letter.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_begin_moves_run_no_command() {
        let quit = binding(Command::Quit, 'q', 10);
        assert!(quit.is_run_by(Key::Letter('q'), |_| false));
        assert!(!quit.is_run_by(Key::Letter('q'), |letter| letter == 'q'));
        assert!(quit.is_run_by(Key::Function(10), |_| true));
        assert_eq!(quit.key(|_| false), "q");
        assert_eq!(quit.key(|_| true), "F10");
    }

    #[test]
    fn no_key_runs_two_commands() {
        for bindings in [WAITING, PLAYING, OVER] {
            for (at, one) in bindings.iter().enumerate() {
                for other in &bindings[at + 1..] {
                    assert_ne!(one.letter, other.letter);
                    assert_ne!(one.function, other.function);
                }
            }
        }
    }

    #[test]
    fn keys_that_are_let_go_are_not_pressed_again() {
        let mut key = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
        assert_eq!(Key::of(&Event::Key(key)), Some(Key::Letter('a')));
        key.kind = KeyEventKind::Release;
        assert_eq!(Key::of(&Event::Key(key)), None);
        let ctrl = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(Key::of(&Event::Key(ctrl)), Some(Key::Interrupt));
    }
}
