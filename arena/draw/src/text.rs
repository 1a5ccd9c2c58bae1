//! Texts of others, made fit for a picture. Names of bots and people are hostile.

use referee_core::{Language, Words, printable};

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

/// The text in a language, in which "seat 0" becomes the name of who sits there. Names are not
/// looked through again.
pub(crate) fn with_names(words: &Words, language: Language, names: &[String]) -> String {
    let text = words.get(language);
    let seat_word = language.pick("seat ", "座位 ");
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(seat_word) {
        let (before, after) = (&rest[..at], &rest[at + seat_word.len()..]);
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let name = after[..digits]
            .parse()
            .ok()
            .and_then(|seat: usize| names.get(seat))
            .filter(|_| !before.ends_with(|c: char| c.is_ascii_alphanumeric()));
        named.push_str(before);
        match name {
            Some(name) => named.push_str(name),
            None => named.push_str(&rest[at..at + seat_word.len() + digits]),
        }
        rest = &after[digits..];
    }
    named.push_str(rest);
    named
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
    fn seats_become_names_once() {
        let names = ["Ann", "seat 0 <b>"].map(str::to_owned);
        for (text, named) in [
            ("seat 0: hand", "Ann: hand"),
            ("to beat, by seat 1", "to beat, by seat 0 <b>"),
            ("seat 1 beats seat 0", "seat 0 <b> beats Ann"),
            ("seat 2: out", "seat 2: out"),
            ("seat 10 and seat", "seat 10 and seat"),
            ("loveseat 0", "loveseat 0"),
            ("seat 99999999999999999999", "seat 99999999999999999999"),
        ] {
            let words = Words::new(text, "");
            assert_eq!(with_names(&words, Language::En, &names), named);
        }
        let words = Words::new("", "上一手：座位 0 过牌");
        assert_eq!(with_names(&words, Language::Zh, &names), "上一手：Ann 过牌");
    }

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
