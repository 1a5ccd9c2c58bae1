//! The end of a game, as it is shown to whoever has played it or looks at it: who won, why, and the
//! score of each.

use maud::{Markup, html};
use referee_core::{GameKind, Record, Seat, Words};

use crate::language::Language;

/// The end of a game.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// Who won, or that nobody did.
    winner: Words,
    why: Words,
    /// By seat the place and the score; empty where the game does not count.
    standings: Vec<(u8, i32)>,
}

impl Ended {
    /// The end of a game whose rules give this reason for it.
    pub(crate) fn of(record: &Record, ending: &Words) -> Self {
        let outcome = record.result.verdict.outcome();
        let standings = outcome.map(|outcome| {
            let places = outcome.places.iter();
            let both = places.map(|(seat, place)| (*place, outcome.scores[seat]));
            both.collect()
        });
        Self {
            winner: Words::each(|language| arena_words::winner(record, language)),
            why: Words::each(|language| arena_words::reason(record, ending, language)),
            standings: standings.unwrap_or_default(),
        }
    }

    /// All of it in a line.
    pub(crate) fn in_words(&self, language: Language) -> String {
        let colon = language.pick(": ", "：");
        format!(
            "{}{colon}{}",
            self.winner.get(language),
            self.why.get(language)
        )
    }

    /// The first line for somebody with these seats.
    pub(crate) fn headline(&self, own: &[Seat], language: Language) -> String {
        let first = self.standings.iter().filter(|(place, _)| *place == 1);
        let is_shared = first.count() != 1;
        let own = match own {
            [one] => self.standings.get(one.index()),
            _ => None,
        };
        let told = match (own, self.standings.len()) {
            (Some((1, _)), _) if is_shared => language.pick("A draw", "平局"),
            (Some((1, _)), _) => language.pick("You won", "你赢了"),
            (Some(_), 2) => language.pick("You lost", "你输了"),
            (Some((2, _)), _) => language.pick("You came second", "你是第二名"),
            (Some((3, _)), _) => language.pick("You came third", "你是第三名"),
            (None, 2) if is_shared => language.pick("A draw", "平局"),
            (Some((4, _)), _) => language.pick("You came fourth", "你是第四名"),
            _ => self.winner.get(language),
        };
        told.to_owned()
    }

    /// The end for somebody with these seats, with what can be done next.
    pub(crate) fn show(
        &self,
        kind: &dyn GameKind,
        names: &[String],
        own: &[Seat],
        next: &Markup,
        language: Language,
    ) -> Markup {
        let mut rows: Vec<_> = names.iter().zip(&self.standings).collect();
        rows.sort_by_key(|(_, (place, _))| *place);
        // Where a score only says who won, it has been said.
        let has_scores = kind.info().scores != (-1, 1);
        html! {
            div.ended {
                p.result { (self.headline(own, language)) }
                p.why { (self.why.get(language)) }
                @if has_scores && !rows.is_empty() {
                    table.scores {
                        thead.spoken { tr {
                            th scope="col" { (language.pick("place", "名次")) }
                            th scope="col" { (language.pick("player", "玩家")) }
                            th scope="col" { (language.pick("score", "得分")) }
                        } }
                        tbody {
                            @for (name, (place, score)) in rows {
                                tr {
                                    td.number { (place) "." }
                                    th scope="row" { (name) }
                                    td.number { (score) }
                                }
                            }
                        }
                    }
                }
                (next)
            }
        }
    }
}
