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
        escaped(&shortened(&printable(text))),
    )
}

/// The text, cut where it would leave the picture.
fn shortened(text: &str) -> String {
    let mut width = 0;
    for (at, c) in text.char_indices() {
        // From Hangul on, most letters are as wide as two.
        width += if c < '\u{1100}' { 1 } else { 2 };
        if width > LONGEST {
            return format!("{}…", &text[..at]);
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays_text() {
        assert_eq!(
            escaped("<script>'\"&\u{1b}[31m\u{ffff}"),
            "&lt;script&gt;&#39;&quot;&amp;\\u{1b}[31m\u{fffd}"
        );
        assert_eq!(id("g1-\"><x"), "g1-x");
        assert!(shortened(&"万".repeat(1_000)).chars().count() < 40);
    }
}
