//! The last lines that a program printed, as the evidence of a foul: in one line, from which the
//! lines can be read again.

use crate::{foul::MOST_EVIDENCE, printed_error::FoundError};

/// Text between what happened and the first line.
const MARK: &str = "; its last words: ";
/// Text between two lines, and what stands for this text within a line: the first blank is a
/// no-break space.
const BETWEEN: &str = " / ";
const WITHIN: &str = "\u{a0}/ ";
/// Most lines that are evidence.
const MOST_LINES: usize = 5;

/// The evidence of what happened to a program that had printed these lines last: those of them
/// that tell most, as many as fit.
#[must_use]
pub fn with_last_words(what: &str, printed: &[impl AsRef<str>]) -> String {
    let lines: Vec<&str> = printed.iter().map(AsRef::as_ref).collect();
    let mut chosen = chosen(&lines);
    let mut room = MOST_EVIDENCE.saturating_sub(what.chars().count() + MARK.len());
    room += BETWEEN.len();
    let length = |at: usize| lines[at].chars().count() + BETWEEN.len();
    while chosen.len() > 1 && chosen.iter().map(|one| length(one.at)).sum::<usize>() > room {
        // The last line says what failed, as a rule, where no line is known to.
        let first = |is_less: fn(&ChosenLine) -> bool| chosen.iter().position(is_less);
        let least = first(|one| !one.is_wanted).or_else(|| first(|one| !one.is_message));
        let least = least.unwrap_or(0);
        chosen.remove(least);
    }
    if chosen.is_empty() {
        return what.to_owned();
    }
    let words: Vec<String> = (chosen.iter())
        .map(|one| lines[one.at].replace(BETWEEN, WITHIN))
        .collect();
    format!("{what}{MARK}{}", words.join(BETWEEN))
}

/// What happened, and the lines that were printed last, of evidence that has such.
#[must_use]
pub fn split_last_words(evidence: &str) -> (&str, Vec<String>) {
    let Some((what, words)) = evidence.split_once(MARK) else {
        return (evidence, Vec::new());
    };
    let lines = words.split(BETWEEN);
    (
        what,
        lines.map(|line| line.replace(WITHIN, BETWEEN)).collect(),
    )
}

/// A line that is evidence.
struct ChosenLine {
    at: usize,
    /// True if it says what failed, or where in its author's own files.
    is_wanted: bool,
    /// True if it says what failed.
    is_message: bool,
}

/// The last lines; of a trace that is longer, what failed and its author's own place take the
/// room of a library's lines.
fn chosen(lines: &[&str]) -> Vec<ChosenLine> {
    let first = lines.len().saturating_sub(MOST_LINES);
    let found = FoundError::in_lines(lines);
    let said = found.as_ref().map(|found| found.said);
    let mut wanted = found.map_or_else(Vec::new, |found| found.lines);
    wanted.truncate(MOST_LINES);
    let others = (first..lines.len()).filter(|at| !wanted.contains(at));
    let others: Vec<usize> = others.collect();
    let surplus = (wanted.len() + others.len()).saturating_sub(MOST_LINES);
    let mut chosen: Vec<ChosenLine> = (others.into_iter().skip(surplus))
        .map(|at| (at, false))
        .chain(wanted.into_iter().map(|at| (at, true)))
        .map(|(at, is_wanted)| ChosenLine {
            at,
            is_wanted,
            is_message: said == Some(at),
        })
        .collect();
    chosen.sort_by_key(|one| one.at);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Foul;

    #[test]
    fn lines_are_read_as_they_were_written() {
        for lines in [
            &["no luck today"][..],
            &[
                "  File \"a.py\", line 2",
                "    rate = wins / games",
                "ZeroDivisionError: x",
            ],
            &["1", "2", "3", "4", "5"],
        ] {
            let evidence = with_last_words("exited with code 1", lines);
            let (what, read) = split_last_words(&evidence);
            assert_eq!(what, "exited with code 1");
            assert_eq!(read, lines);
        }
        assert_eq!(with_last_words("killed", &[] as &[&str]), "killed");
        assert_eq!(split_last_words("killed"), ("killed", Vec::new()));
    }

    #[test]
    fn the_last_lines_that_fit_are_evidence() {
        let lines: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        assert_eq!(
            with_last_words("x", &lines),
            "x; its last words: 4 / 5 / 6 / 7 / 8"
        );
        let long = "y".repeat(200);
        let evidence = with_last_words("x", &[&*long, &*long, &*long, "the reason"]);
        assert_eq!(
            evidence,
            format!("x; its last words: {long} / {long} / the reason")
        );
        assert_eq!(Foul::evidence(&evidence), evidence);
    }

    #[test]
    fn an_error_that_is_long_is_kept_before_what_follows_from_it() {
        let folders = "/usr/lib/x86_64-linux-gnu/perl ".repeat(11);
        let error = format!("Can't locate Kit.pm in @INC (@INC contains: {folders}");
        let lines = [
            "x".repeat(80),
            error.clone(),
            format!("BEGIN failed--{} at bot.pl line 1.", "x".repeat(80)),
        ];
        let evidence = with_last_words("exited with code 2", &lines);
        assert_eq!(split_last_words(&evidence).1, [error]);
    }

    #[test]
    fn of_a_long_trace_its_author_s_place_is_kept() {
        let lines = [
            "Traceback (most recent call last):",
            "  File \"/srv/me/my_bot.py\", line 2, in <module>",
            "    urlopen(\"http://example.com\")",
            "  File \"/usr/lib/python3.11/urllib/request.py\", line 216, in urlopen",
            "    return opener.open(url, data, timeout)",
            "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            "  File \"/usr/lib/python3.11/urllib/request.py\", line 1351, in do_open",
            "    raise URLError(err)",
            "urllib.error.URLError: <urlopen error [Errno -3]>",
        ];
        let evidence = with_last_words("exited with code 1", &lines);
        let (_, kept) = split_last_words(&evidence);
        assert_eq!(kept, [lines[1], lines[2], lines[6], lines[7], lines[8]]);
    }
}
