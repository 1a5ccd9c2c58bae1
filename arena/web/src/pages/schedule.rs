//! The schedule of a tournament: a bracket, or rounds.

use arena_events::schedule::{MatchPlayer, ScheduleMatch, ScheduleRound};
use arena_ladder::ScheduleShape;
use maud::{Markup, html};

use crate::language::Language;

/// So many matches are shown.
const MATCHES: usize = 200;

/// The schedule of a tournament at this address.
pub(crate) fn schedule(
    shape: &ScheduleShape,
    rounds: Option<&[ScheduleRound]>,
    at: &str,
    language: Language,
) -> Markup {
    let Some(rounds) = rounds else {
        return html! {};
    };
    let matches: usize = rounds.iter().map(|round| round.matches.len()).sum();
    let mut left = MATCHES;
    let shown = rounds.iter().map(|round| {
        let shown = &round.matches[..left.min(round.matches.len())];
        left -= shown.len();
        (&*round.name, shown)
    });
    let shown: Vec<(&str, &[ScheduleMatch])> =
        shown.filter(|(_, shown)| !shown.is_empty()).collect();
    html! {
        @match is_bracket(shape) {
            true => {
                h2 { (language.pick("Bracket", "对阵图")) }
                @for (name, rows) in brackets(&shown) {
                    (bracket(name, &rows, at, language))
                }
            }
            false => details open[matches <= 40] {
                summary { h2.inline { (language.pick("Schedule", "赛程")) } " (" (matches) ")" }
                @for (number, (name, shown)) in (1..).zip(&shown) {
                    h3 { (language.pick(name, &format!("第 {number} 轮"))) }
                    ul.matches { @for one in *shown { li { (line(one, at, language)) } } }
                }
            }
        }
        @if matches > MATCHES {
            p { (language.pick("The rest is in the API.", "其余见 API。")) }
        }
    }
}

/// True if who loses is out.
pub(crate) const fn is_bracket(shape: &ScheduleShape) -> bool {
    matches!(
        shape,
        ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {}
    )
}

/// A round, and its matches.
type ShownRound<'a> = (&'a str, &'a [ScheduleMatch]);

/// The brackets of rounds: of winners, of losers, the match for the third place, and what decides.
fn brackets<'a>(rounds: &[ShownRound<'a>]) -> Vec<(&'static str, Vec<ShownRound<'a>>)> {
    let mut brackets: Vec<(&'static str, Vec<ShownRound<'a>>)> = Vec::new();
    for round in rounds {
        let of = ["winners", "losers", "third place"]
            .into_iter()
            .find(|of| round.0.starts_with(of))
            .unwrap_or_default();
        match brackets.iter_mut().find(|(name, _)| *name == of) {
            Some((_, rounds)) => rounds.push(*round),
            None => brackets.push((of, vec![*round])),
        }
    }
    brackets
}

/// Rounds side by side: each match stands between those that lead to it.
fn bracket(of: &str, rounds: &[ShownRound<'_>], at: &str, language: Language) -> Markup {
    let title = match of {
        "winners" => language.pick("Winners", "胜者组"),
        "losers" => language.pick("Losers", "败者组"),
        "third place" => language.pick("Third place", "季军赛"),
        _ => language.pick("Bracket", "对阵图"),
    };
    html! {
        div.scrolls tabindex="0" role="region" aria-label=(title) { ol.bracket {
            @for (number, (name, shown)) in (1..).zip(rounds) {
                li {
                    h3 { (round_title(name, number, language)) }
                    ul { @for one in *shown { li { (pairing(one, at, language)) } } }
                }
            }
        } }
    }
}

/// The name of a round; `number` counts within its bracket.
fn round_title(name: &str, number: usize, language: Language) -> String {
    if language == Language::En {
        return name.to_owned();
    }
    match name {
        "final" => "决赛".to_owned(),
        "grand final" => "总决赛".to_owned(),
        "semi-finals" => "半决赛".to_owned(),
        "quarter-finals" => "四分之一决赛".to_owned(),
        "third place" => "季军赛".to_owned(),
        name if name.starts_with("winners") => format!("胜者组第 {number} 轮"),
        name if name.starts_with("losers") => format!("败者组第 {number} 轮"),
        _ => format!("第 {number} 轮"),
    }
}

/// A match of a bracket: a row for each player with its points, and a mark at the one that has most.
/// Where two have as many, another rule decides who goes on.
fn pairing(one: &ScheduleMatch, at: &str, language: Language) -> Markup {
    let most = one.points.iter().copied().fold(0.0, f64::max);
    let is_alone = one.points.iter().filter(|points| **points == most).count() == 1;
    html! {
        a href=(format!("{at}/games?match={}", one.number)) {
            @for (player, points) in one.players.iter().zip(&one.points) {
                span.side data-ahead[one.over && is_alone && *points == most] {
                    span { (player_words(player, language)) }
                    @if one.groups > 0 { span.number { (points) } }
                }
            }
        }
    }
}

/// A match in one line.
fn line(one: &ScheduleMatch, at: &str, language: Language) -> Markup {
    let names: Vec<String> = (one.players.iter())
        .map(|player| player_words(player, language))
        .collect();
    html! {
        a href=(format!("{at}/games?match={}", one.number)) { (names.join(" – ")) }
        " " (one.points.iter().map(f64::to_string).collect::<Vec<_>>().join(" : "))
        " · " (one.groups) " / " (one.max_groups)
        @if one.over { " ✓" }
    }
}

fn player_words(player: &MatchPlayer, language: Language) -> String {
    match player {
        MatchPlayer::Bot { name } => name.clone(),
        MatchPlayer::Filler => language.pick("a filler", "补位").to_owned(),
        MatchPlayer::Bye => language.pick("a bye", "轮空").to_owned(),
        MatchPlayer::Pending { from } => language.pick(from, "待定").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_told_apart_by_their_bracket() {
        let names = [
            "winners' round 1",
            "losers' round 1",
            "winners' round 2",
            "losers' round 2",
            "grand final",
        ];
        let rounds: Vec<ShownRound<'_>> = names.iter().map(|name| (*name, &[][..])).collect();
        let found = brackets(&rounds).into_iter();
        let found: Vec<(&str, usize)> = found.map(|(of, rounds)| (of, rounds.len())).collect();
        assert_eq!(found, [("winners", 2), ("losers", 2), ("", 1)]);
        let rounds: Vec<ShownRound<'_>> = ["semi-finals", "third place", "final"]
            .map(|name| (name, &[][..]))
            .into();
        let found: Vec<usize> = brackets(&rounds).iter().map(|(_, all)| all.len()).collect();
        assert_eq!(found, [2, 1]);
    }
}
