//! Who beat whom in a tournament.

use std::collections::HashMap;

use arena_events::standings::StandingsEvent;
use axum::{
    extract::{Path, State},
    response::Response,
};
use maud::{Markup, html};

use crate::{
    caller::Caller,
    language::Language,
    layout::{self, part},
    pages::tournament,
    site::OfSite,
};

/// With more bots than this the table is on a page of its own.
const WITHIN: usize = 24;

/// The table on a page of its own.
pub(crate) async fn show(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let language = caller.language;
    let standing = match site.standings.of(&name).await {
        Ok(standing) => standing,
        Err(error) => return error.page(&caller),
    };
    let at = format!("t/{}", part(&name));
    let words = language.pick("Who beat whom", "交叉表");
    let body = html! {
        h1 { (words) ": " a href=(at) { (name) } }
        (table(&standing.standings, Some(&at), language))
    };
    layout::page(&caller, &format!("{words} · {name}"), &body)
}

/// The table, or the way to it where it is large; nothing where the standings say all of it.
pub(crate) fn within(standings: &StandingsEvent, at: Option<&str>, language: Language) -> Markup {
    let bots = standings.rows.len();
    let words = language.pick("Who beat whom", "交叉表");
    html! {
        @if bots > 2 {
            h2 { (words) }
            @match at {
                Some(at) if bots > WITHIN => p {
                    a href=(format!("{at}/cross")) { (words) " (" (bots) " × " (bots) ")" }
                },
                _ => (table(standings, at, language)),
            }
        }
    }
}

fn table(standings: &StandingsEvent, at: Option<&str>, language: Language) -> Markup {
    let rows = &standings.rows;
    let pairs = standings.pairs.iter().flat_map(|pair| {
        let (one, other) = (&*pair.first, &*pair.second);
        [
            ((one, other), (pair.wins, pair.draws, pair.losses)),
            ((other, one), (pair.losses, pair.draws, pair.wins)),
        ]
    });
    let pairs: HashMap<(&str, &str), (u64, u64, u64)> = pairs.collect();
    // In a large one there is room for the score alone.
    let is_large = rows.len() > WITHIN;
    html! {
        div.scrolls.cross tabindex="0" role="region" aria-label=(language.pick("Who beat whom", "交叉表")) { table {
            caption {
                @match is_large {
                    true => (language.pick("Score of the row against the column, in percent", "行对列的得分率（%）")),
                    false => (language.pick("How often the row was ahead of, level with and behind the column", "行对列：胜-平-负")),
                }
            }
            thead { tr {
                td {}
                @for (number, row) in (1..).zip(rows) {
                    th.number scope="col" { abbr title=(row.bot) { (number) } }
                }
            } }
            tbody {
                @for (number, row) in (1..).zip(rows) {
                    tr {
                        th scope="row" { (number) ". " (row.bot) }
                        @for other in rows {
                            @match pairs.get(&(&*row.bot, &*other.bot)) {
                                Some((wins, draws, losses)) if row.bot != other.bot => {
                                    @let games = (wins + draws + losses).max(1) as f64;
                                    @let score = (*wins as f64 + *draws as f64 / 2.0) / games;
                                    @let all = format!("{wins}-{draws}-{losses}");
                                    td.number.shade data-shade=((score * 4.0).round() as u8)
                                        title=[is_large.then(|| format!("{} – {}: {all}", row.bot, other.bot))] {
                                        @let games = format!("games?bot={}&against={}", part(&row.bot), part(&other.bot));
                                        @let said = if is_large { format!("{:.0}", score * 100.0) } else { all };
                                        (tournament::linked(at, &games, &said))
                                    }
                                }
                                _ => td.number { "·" }
                            }
                        }
                    }
                }
            }
        } }
    }
}
