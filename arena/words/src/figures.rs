//! Figures of a table: their meaning, and why one has no error bar.

use arena_events::standings::MissingEstimate;
use referee_core::Language;

/// So many rows are named in a line.
const MOST_NAMES: usize = 6;

/// Reason why there is no figure, or no error bar.
#[must_use]
pub fn no_estimate(why: MissingEstimate, language: Language) -> String {
    let words = match why {
        MissingEstimate::TooFewGroups { has, needs } => {
            return match language {
                Language::En => {
                    format!("it needs {needs} deals whose results vary, and has {has}")
                }
                Language::Zh => format!("需要 {needs} 副结果有差异的对局，现有 {has} 副"),
            };
        }
        MissingEstimate::NoVariance => ("all deals had the same result", "各副结果完全相同"),
        MissingEstimate::EveryGameWon => {
            ("every game won: no finite Elo", "全胜，没有有限的 Elo 值")
        }
        MissingEstimate::EveryGameLost => {
            ("every game lost: no finite Elo", "全败，没有有限的 Elo 值")
        }
        MissingEstimate::Unbounded => (
            "the 95 % interval has no finite end: it needs more deals",
            "95 % 置信区间没有有限的端点，需要更多对局",
        ),
        MissingEstimate::NotConnected => (
            "no chain of results compares it with the main field",
            "没有一连串的对局结果能与多数参赛者相比较",
        ),
        MissingEstimate::NotPlayed => ("no game has been played", "尚未对局"),
    };
    language.pick(words.0, words.1).to_owned()
}

/// A line for each reason why figures under `± ?` have no error bar: which rows it is of, and the
/// reason. Each row has its name and its reason, or none where it has every error bar; a row may
/// stand there once for each of its figures.
#[must_use]
pub fn without_error_bars(
    rows: &[(String, Option<MissingEstimate>)],
    language: Language,
) -> Vec<(MissingEstimate, String)> {
    let mut reasons: Vec<(MissingEstimate, Vec<&str>)> = Vec::new();
    for (name, why) in rows {
        let Some(why) = *why else { continue };
        let at = reasons.iter().position(|(known, _)| *known == why);
        let at = at.unwrap_or_else(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        let names = &mut reasons[at].1;
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let is_of_all = reasons.len() == 1 && rows.iter().all(|(_, why)| why.is_some());
    let lines = reasons.into_iter().map(|(why, names)| {
        let reason = no_estimate(why, language);
        let line = match (is_of_all, language) {
            (true, Language::En) => format!("± ?: {reason}"),
            (true, Language::Zh) => format!("± ?：{reason}"),
            (false, Language::En) => format!("± ? of {}: {reason}", named(&names, language)),
            (false, Language::Zh) => format!("{} 的 ± ?：{reason}", named(&names, language)),
        };
        (why, line)
    });
    lines.collect()
}

/// The first of these names, and the number of the others.
fn named(names: &[&str], language: Language) -> String {
    let shown = &names[..names.len().min(MOST_NAMES)];
    let listed = shown.join(language.pick(", ", "、"));
    match (names.len() - shown.len(), language) {
        (0, _) => listed,
        (more, Language::En) => format!("{listed} and {more} more"),
        (_, Language::Zh) => format!("{listed}等 {} 个", names.len()),
    }
}

/// The meaning of the Elo in a table of two bots, beside their difference.
#[must_use]
pub fn elo_of_two(language: Language) -> &'static str {
    language.pick(
        "Elo in the table counts from the mean of both bots: about half of the difference between \
         them",
        "表中的 Elo 以两者的平均为零点，各约为两者之差的一半",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: MissingEstimate = MissingEstimate::TooFewGroups { has: 4, needs: 10 };

    fn lines(rows: &[(&str, Option<MissingEstimate>)], language: Language) -> Vec<String> {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, why)| ((*name).to_owned(), *why))
            .collect();
        let lines = without_error_bars(&rows, language).into_iter();
        lines.map(|(_, line)| line).collect()
    }

    #[test]
    fn each_reason_names_its_rows() {
        let rows = [
            ("a", Some(MissingEstimate::EveryGameWon)),
            ("b", Some(FEW)),
            ("c", None),
            ("d", Some(FEW)),
            ("d", Some(FEW)),
        ];
        assert_eq!(
            lines(&rows, Language::En),
            [
                "± ? of a: every game won: no finite Elo",
                "± ? of b, d: it needs 10 deals whose results vary, and has 4",
            ]
        );
        assert_eq!(
            lines(&rows, Language::Zh)[1],
            "b、d 的 ± ?：需要 10 副结果有差异的对局，现有 4 副"
        );
    }

    #[test]
    fn one_reason_for_every_row_needs_no_names() {
        let all = [("a", Some(FEW)), ("b", Some(FEW))];
        assert_eq!(
            lines(&all, Language::En),
            ["± ?: it needs 10 deals whose results vary, and has 4"]
        );
        let not_all = [("a", Some(FEW)), ("b", None)];
        assert!(lines(&not_all, Language::En)[0].starts_with("± ? of a: "));
        assert!(lines(&[("a", None)], Language::En).is_empty());
        assert!(lines(&[], Language::En).is_empty());
    }

    #[test]
    fn a_long_list_of_names_is_cut() {
        let names: Vec<String> = (0..9).map(|number| format!("bot-{number}")).collect();
        let mut rows: Vec<(&str, _)> = names.iter().map(|name| (&**name, Some(FEW))).collect();
        rows.push(("other", None));
        let line = &lines(&rows, Language::En)[0];
        assert!(line.contains("bot-5 and 3 more: it needs"), "{line}");
        let line = &lines(&rows, Language::Zh)[0];
        assert!(line.contains("bot-5等 9 个 的"), "{line}");
    }

    #[test]
    fn chinese_has_no_latin_words_but_names() {
        let reasons = [
            FEW,
            MissingEstimate::EveryGameLost,
            MissingEstimate::EveryGameWon,
            MissingEstimate::NoVariance,
            MissingEstimate::Unbounded,
            MissingEstimate::NotPlayed,
            MissingEstimate::NotConnected,
        ];
        let said = reasons.map(|why| no_estimate(why, Language::Zh));
        for said in said
            .iter()
            .map(String::as_str)
            .chain([elo_of_two(Language::Zh)])
        {
            let said = said.replace("Elo", "");
            assert!(!said.contains(|c: char| c.is_ascii_alphabetic()), "{said}");
        }
    }
}
