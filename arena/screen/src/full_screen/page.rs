//! A text to read, which may be longer than the screen.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use super::keys::Key;

#[derive(Default)]
pub(super) struct TextPage {
    text: String,
    /// The first line that is seen.
    top: usize,
    /// Number of lines that fit, and the furthest scroll position, as it was drawn last.
    height: usize,
    last: usize,
    /// Number of all lines then.
    lines: usize,
}

impl TextPage {
    pub(super) fn new(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Another text, seen from the same line on.
    pub(super) fn set_text(&mut self, text: String) {
        self.text = text;
    }

    /// False where it has been read.
    pub(super) fn press(&mut self, key: Key) -> bool {
        let is_read = matches!(
            key,
            Key::Escape | Key::Enter | Key::Function(1) | Key::Letter('q' | '?')
        );
        self.scroll(key);
        !is_read
    }

    pub(super) fn scroll(&mut self, key: Key) {
        let page = self.height.saturating_sub(1).max(1);
        let top = match key {
            Key::Up | Key::WheelUp | Key::Letter('k') => self.top.saturating_sub(1),
            Key::Down | Key::WheelDown | Key::Letter('j') => self.top + 1,
            Key::PageUp => self.top.saturating_sub(page),
            Key::PageDown | Key::Letter(' ') => self.top + page,
            Key::Home => 0,
            Key::End => self.last,
            _ => self.top,
        };
        self.top = top.min(self.last);
    }

    /// The lines that are seen, of all, as it was drawn last.
    pub(super) fn place(&self) -> String {
        let seen = self.top + self.height.min(self.lines - self.top);
        format!("{}-{seen} of {} ", self.top + 1, self.lines)
    }

    pub(super) fn render(&mut self, frame: &mut Frame, area: Rect) {
        let lines = wrapped(&self.text, area.width.into());
        self.height = area.height.into();
        self.lines = lines.len();
        self.last = lines.len().saturating_sub(self.height);
        self.top = self.top.min(self.last);
        let seen = lines.into_iter().skip(self.top).take(self.height);
        let seen: Vec<Line> = seen.map(Line::raw).collect();
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(seen), area);
    }
}

/// A text in lines of a width in columns, broken between words where there are some; the lines that
/// are added begin where its text or, in a list or a table, its second column begins.
pub(in super::super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        let mut open = " ".repeat(line.len() - words.len());
        let item = if words.starts_with("- ") { 2 } else { 0 };
        let column = words.find("  ").map_or(item, |at| {
            let rest = words[at..].trim_start();
            columns(&words[..words.len() - rest.len()])
        });
        let indent = (open.len() + column).min(width / 2);
        let mut fits = |open: &mut String, next: &str| {
            if columns(open) + columns(next) > width && !open.trim().is_empty() {
                let full = std::mem::replace(open, " ".repeat(indent));
                lines.push(full.trim_end().to_owned());
            }
        };
        for word in words.split_inclusive(' ') {
            fits(&mut open, word.trim_end());
            // A word can be longer than a line, as a Chinese sentence is.
            for letter in word.chars() {
                let letter = letter.to_string();
                fits(&mut open, letter.trim_end());
                open.push_str(&letter);
            }
        }
        lines.push(open.trim_end().to_owned());
    }
    lines
}

/// Number of columns of a terminal that a text takes.
fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_where_they_must_be() {
        assert_eq!(wrapped("a bb ccc\n\nd", 5), ["a bb", "ccc", "", "d"]);
        assert_eq!(wrapped("  ab cd", 5), ["  ab", "  cd"]);
        assert_eq!(wrapped("棋盘上的点", 5), ["棋盘", "上的", "点"]);
        assert_eq!(wrapped("- a bb cc", 6), ["- a bb", "  cc"]);
        assert_eq!(wrapped(" a  bb cc", 8), [" a  bb", "    cc"]);
        assert_eq!(wrapped("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(wrapped("ab cdefg", 4), ["ab", "cdef", "g"]);
    }

    #[test]
    fn a_page_ends_at_its_last_line() {
        let mut page = TextPage::new("line\n".repeat(30));
        (page.height, page.last) = (10, 20);
        for _ in 0..5 {
            assert!(page.press(Key::PageDown));
        }
        assert_eq!(page.top, 20);
        page.press(Key::Up);
        assert_eq!(page.top, 19);
        page.press(Key::Home);
        assert_eq!(page.top, 0);
        assert!(!page.press(Key::Escape));
    }
}
