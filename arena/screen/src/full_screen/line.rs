//! A line that somebody types.

use ratatui::{
    Frame,
    layout::{Position, Rect},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::keys::Key;

/// The longest one, in letters: as long as a line that is read without a screen.
const LONGEST: usize = 4096;

#[derive(Clone, Debug, Default)]
pub(super) struct TypedLine {
    letters: Vec<char>,
    /// Place of the next letter.
    at: usize,
}

impl TypedLine {
    pub(super) fn new(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        let at = letters.len();
        Self { letters, at }
    }

    pub(super) fn text(&self) -> String {
        self.letters.iter().collect()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Takes what was typed, and is empty.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(self).text().trim().to_owned()
    }

    /// False where the key means nothing in a line.
    pub(super) fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Letter(letter) if self.letters.len() < LONGEST => {
                self.letters.insert(self.at, letter);
                self.at += 1;
            }
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.letters.remove(self.at);
            }
            Key::Delete if self.at < self.letters.len() => drop(self.letters.remove(self.at)),
            Key::Left => self.at = self.at.saturating_sub(1),
            Key::Right => self.at = (self.at + 1).min(self.letters.len()),
            Key::Home => self.at = 0,
            Key::End => self.at = self.letters.len(),
            Key::Clear => *self = Self::default(),
            Key::Letter(_) | Key::Backspace | Key::Delete => {}
            _ => return false,
        }
        true
    }

    /// Draws it behind a prompt, with the terminal's cursor in it. A line that is too long shows the
    /// part around the cursor.
    pub(super) fn render(&self, prompt: &str, frame: &mut Frame, area: Rect) {
        let prompt_width = (Span::raw(prompt).width() as u16).min(area.width);
        let [left, right] = [prompt_width, area.width - prompt_width];
        frame.render_widget(
            Line::raw(prompt),
            Rect {
                width: left,
                ..area
            },
        );
        let area = Rect {
            x: area.x + left,
            width: right,
            ..area
        };
        let before: String = self.letters[..self.at].iter().collect();
        let before = Span::raw(before).width() as u16;
        let hidden = (before + 1).saturating_sub(area.width);
        frame.render_widget(Paragraph::new(self.text()).scroll((0, hidden)), area);
        frame.set_cursor_position(Position::new(area.x + before - hidden, area.y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_and_mended() {
        let mut line = TypedLine::new("ac");
        for key in [
            Key::Left,
            Key::Letter('b'),
            Key::End,
            Key::Letter('d'),
            Key::Letter('棋'),
            Key::Backspace,
            Key::Home,
            Key::Delete,
        ] {
            assert!(line.press(key));
        }
        assert!(!line.press(Key::Enter));
        assert_eq!(line.take(), "bcd");
        assert!(line.is_empty());
        line.press(Key::Backspace);
        line.press(Key::Right);
        assert_eq!(line.text(), "");
    }
}
