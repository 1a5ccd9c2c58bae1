//! Names of players in texts that know seats alone.

use referee_core::{Language, Words};

/// The text in a language, in which "seat 0" becomes the name of who sits there. Names are not
/// looked through again.
#[must_use]
pub fn with_names(words: &Words, language: Language, names: &[String]) -> String {
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
}
