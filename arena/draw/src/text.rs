//! Texts of others, made fit for a picture. Names of bots and people are hostile.

use referee_core::printable;

use crate::glyph::number;

/// Width of the longest label, in letters; it is cut there.
const LONGEST: usize = 60;

/// A text inside an element or an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML has no way to write these two.
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// The characters of a text that may be in an id.
pub(crate) fn id(prefix: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    prefix.chars().filter(fits).collect()
}

/// A line of text whose left end is here.
pub(crate) fn label(text: &str, x: f32, y: f32) -> String {
    let (x, y) = (number(x), number(y));
    format!(
        r#"<text class="label" x="{x}" y="{y}" font-family="system-ui, sans-serif" font-size="14">{}</text>"#,
        escaped(&shortened(&printable(text), LONGEST)),
    )
}

/// A line of text on a cloth, whose middle is here; it is cut after so many letters.
pub(crate) fn on_cloth(text: &str, x: f32, y: f32, longest: usize) -> String {
    let (x, y) = (number(x), number(y));
    format!(
        r##"<text x="{x}" y="{y}" fill="#fff" font-family="system-ui, sans-serif" font-size="15" text-anchor="middle">{}</text>"##,
        escaped(&shortened(&printable(text), longest)),
    )
}

/// A label on at most so many lines: what is before a colon, which names somebody, has its own, and
/// the rest is divided at a comma where it has more letters than this.
pub(crate) fn lines(label: &str, letters: usize, most: usize) -> Vec<&str> {
    let mut lines = vec![label];
    for (signs, is_name) in [([": ", "："], true), ([", ", "，"], false)] {
        let Some(last) = lines.pop() else { break };
        let parts = signs.iter().find_map(|sign| last.split_once(sign));
        let divides =
            lines.len() + 1 < most && (is_name || last.chars().map(width).sum::<usize>() > letters);
        match parts.filter(|_| divides) {
            Some((first, rest)) => lines.extend([first, rest]),
            None => lines.push(last),
        }
    }
    lines
}

/// The text, cut where it would be longer than so many letters.
fn shortened(text: &str, longest: usize) -> String {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += width(c);
        if taken > longest {
            return format!("{}…", &text[..at]);
        }
    }
    text.to_owned()
}

/// The width of a character in letters: from Hangul on, most are as wide as two.
const fn width(c: char) -> usize {
    if c < '\u{1100}' { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_divided_where_it_is_long() {
        assert_eq!(lines("Ann: 3 cards", 5, 1), ["Ann: 3 cards"]);
        assert_eq!(lines("Ann: 3 cards", 20, 3), ["Ann", "3 cards"]);
        assert_eq!(
            lines("Ann: 3 cards, forfeited, place 4", 20, 3),
            ["Ann", "3 cards", "forfeited, place 4"]
        );
        assert_eq!(lines("to beat, by Ann", 20, 2), ["to beat, by Ann"]);
        assert_eq!(lines("to beat, by Ann", 10, 2), ["to beat", "by Ann"]);
        assert_eq!(lines("上一手：Ann", 20, 2), ["上一手", "Ann"]);
    }

    #[test]
    fn what_others_wrote_stays_text() {
        assert_eq!(
            escaped("<script>'\"&\u{1b}[31m\u{ffff}"),
            "&lt;script&gt;&#39;&quot;&amp;\\u{1b}[31m\u{fffd}"
        );
        assert_eq!(id("g1-\"><x"), "g1-x");
        assert!(shortened(&"万".repeat(1_000), LONGEST).chars().count() < 40);
    }
}
