//! A text that changes while somebody reads it.

use anstream::adapter::strip_str;
use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    style::{Modifier, Style},
    text::Line,
    widgets::Paragraph,
};
use referee_cli::End;

use super::{Screen, keys::Key, page::TextPage};

/// The keys, as they are shown; they fit 60 columns.
const KEYS: &str = " arrows, j k, PageUp PageDown, Home End: scroll  q: leave";

/// A text on the full screen, from its first line; what is below is scrolled to.
pub struct Pager {
    screen: Screen,
    page: TextPage,
}

impl Pager {
    /// True if there is a terminal that can be drawn on, and whose keys can be read.
    #[must_use]
    pub fn is_there() -> bool {
        super::is_there()
    }

    /// Takes the terminal until it is dropped.
    ///
    /// # Errors
    ///
    /// The terminal can't be drawn on.
    pub fn open() -> anyhow::Result<Self> {
        Ok(Self {
            screen: Screen::open()?,
            page: TextPage::default(),
        })
    }

    /// Shows this text from now on, from the line that was the first before.
    pub fn show(&mut self, text: &str) {
        self.page.set_text(strip_str(text).to_string());
        self.draw();
    }

    /// Scrolls as it is asked to, until somebody leaves. It may be dropped meanwhile: no key is lost.
    ///
    /// # Errors
    ///
    /// The terminal can't be read.
    pub async fn left(&mut self) -> anyhow::Result<End> {
        loop {
            match end_of(&mut self.page, self.screen.key().await?) {
                Some(end) => return Ok(end),
                None => self.draw(),
            }
        }
    }

    fn draw(&mut self) {
        self.screen.draw(|frame| render(&mut self.page, frame));
    }
}

/// Scrolls, or says that somebody leaves.
fn end_of(page: &mut TextPage, key: Key) -> Option<End> {
    match key {
        Key::Interrupt | Key::Gone => return Some(End::Interrupted),
        Key::Letter('q') | Key::Escape => return Some(End::Done),
        key => page.scroll(key),
    }
    None
}

fn render(page: &mut TextPage, frame: &mut Frame) {
    let [body, keys] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
    page.render(frame, body);
    let bar = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(KEYS).style(bar), keys);
    let place = Line::raw(page.place());
    if KEYS.len() + place.width() < keys.width.into() {
        frame.render_widget(place.right_aligned(), keys);
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;

    /// What is seen on 80 columns and 24 rows, and what comes of a key.
    fn seen(page: &mut TextPage) -> String {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| render(page, frame)).unwrap();
        terminal.backend().to_string()
    }

    fn lines(count: usize, mark: &str) -> String {
        (0..count)
            .map(|line| format!("line {line}{mark}\n"))
            .collect()
    }

    #[test]
    fn a_long_text_is_read_from_its_first_line_and_scrolled_by_keys() {
        let mut page = TextPage::default();
        page.set_text(lines(40, "."));
        let first = seen(&mut page);
        assert!(
            first.contains("line 0.") && first.contains("line 22."),
            "{first}"
        );
        assert!(!first.contains("line 23."), "{first}");
        assert!(
            first.contains("q: leave") && first.contains("1-23 of 40"),
            "{first}"
        );
        for (keys, top) in [
            (&[Key::Down, Key::Letter('j')][..], 2),
            (&[Key::Letter('k'), Key::Up, Key::Up], 0),
            (&[Key::PageDown], 17),
            (&[Key::PageUp], 0),
            (&[Key::End], 17),
            (&[Key::Home, Key::Letter(' ')], 17),
            (&[Key::Enter, Key::Letter('?'), Key::Function(1)], 17),
        ] {
            for key in keys {
                assert_eq!(end_of(&mut page, *key), None);
                seen(&mut page);
            }
            assert!(
                seen(&mut page).contains(&format!("\"line {top}.")),
                "{keys:?}"
            );
        }
        // The same lines are seen when the text is another.
        page.set_text(lines(41, "!"));
        assert!(seen(&mut page).contains("\"line 17!"));
        page.set_text(lines(3, "."));
        assert!(seen(&mut page).contains("\"line 0."));
        assert_eq!(end_of(&mut page, Key::Letter('q')), Some(End::Done));
        assert_eq!(end_of(&mut page, Key::Interrupt), Some(End::Interrupted));
    }
}
