//! A foul, for the author of the bot.

use crate::{Foul, PrintedError, split_last_words};

/// A foul as its bot's author reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoulWords {
    /// The error that ended the program first, and what the referee saw of it: one sentence.
    pub sentence: String,
    /// The last lines that the program printed, where the sentence does not have all of them.
    pub printed: Vec<String>,
}

impl FoulWords {
    /// The words for this foul.
    #[must_use]
    pub fn of(foul: &Foul) -> Self {
        let all = foul.to_string();
        let (seen, printed) = split_last_words(&all);
        let (sentence, printed) = match (PrintedError::in_lines(&printed), printed.last()) {
            (Some(error), _) => (format!("{error}; {seen}"), printed),
            (None, Some(last)) if printed.len() > 1 => {
                (format!("{seen}; its last words: {last}"), printed)
            }
            _ => (all, Vec::new()),
        };
        Self { sentence, printed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_last_words;

    fn crashed(lines: &[&str]) -> FoulWords {
        FoulWords::of(&Foul::Crashed {
            detail: with_last_words("exited with code 1", lines),
        })
    }

    #[test]
    fn an_error_comes_first_and_lines_stay_lines() {
        let lines = [
            "  File \"/srv/me/my_bot.py\", line 2",
            "    def f()",
            "           ^",
            "SyntaxError: expected ':'",
        ];
        let words = crashed(&lines);
        assert_eq!(
            words.sentence,
            "SyntaxError: expected ':' (my_bot.py:2); crashed: exited with code 1"
        );
        assert_eq!(words.printed, lines);
        let words = crashed(&["loading", "no luck today"]);
        assert_eq!(
            words.sentence,
            "crashed: exited with code 1; its last words: no luck today"
        );
        assert_eq!(words.printed, ["loading", "no luck today"]);
    }

    #[test]
    fn one_line_is_in_the_sentence() {
        let words = crashed(&["no luck today"]);
        assert_eq!(
            words.sentence,
            "crashed: exited with code 1; its last words: no luck today"
        );
        assert_eq!(words.printed, Vec::<String>::new());
        let words = FoulWords::of(&Foul::HungUp);
        assert_eq!(words.sentence, Foul::HungUp.to_string());
    }
}
