//! The games of a tournament, by bot, by match, with fouls.

use arena_store::GameRow;
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use maud::{Markup, html};

use crate::{
    caller::Caller,
    error::PageError,
    language::Language,
    layout::{self, part},
    lists::{GamesQuery, PageOfGames, find, players},
    pages::{self, tournament},
    site::OfSite,
    standing::TournamentStanding,
    viewer::time,
};

/// So many are on a page.
const PAGE: u32 = 50;
pub(crate) async fn show(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
    Query(asked): Query<GamesQuery>,
) -> Response {
    let language = caller.language;
    let found = async {
        let standing = tournament::standing(&site, &name).await?;
        let games = find(&site, &standing, &asked, PAGE).await?;
        Ok::<_, PageError>((standing, games))
    };
    let (standing, PageOfGames { games, next }) = match found.await {
        Ok(found) => found,
        Err(error) => return error.page(&caller),
    };
    let at = format!("t/{}", part(&name));
    let keep = |key: &str, value: &Option<String>| {
        value
            .as_ref()
            .map_or_else(String::new, |value| format!("&{key}={}", part(value)))
    };
    let kept = format!(
        "{}{}{}{}",
        keep("bot", &asked.bot),
        keep("against", &asked.against),
        keep("match", &asked.matchup.map(|number| number.to_string())),
        keep("fouls", &asked.fouls.map(|yes| yes.to_string())),
    );
    let title = format!("{} · {name}", language.pick("Games", "对局"));
    let body = html! {
        h1 { (language.pick("Games of ", "对局：")) a href=(at) { (name) } }
        @if let Some(bot) = &asked.bot { p { (bot) @if let Some(other) = &asked.against { " – " (other) } } }
        @if games.is_empty() { p { (language.pick("There is none.", "没有对局。")) } } @else {
            (table(&standing, &games, Some(&at), language))
        }
        @if let Some(next) = next {
            p { a.button href=(format!("{at}/games?after={next}{kept}")) { (language.pick("More", "更多")) } }
        }
    };
    layout::page(&caller, &title, &body)
}

/// The end of a game in words. A row has its reason as a record does, in English, so in Chinese its
/// fouls say it, or its scores.
fn end(standing: &TournamentStanding, row: &GameRow, language: Language) -> String {
    if language == Language::En {
        return referee_core::printable(&row.reason);
    }
    let names = players(standing, row);
    let fouls = row.fouls.iter().map(|foul| {
        let name = &names[foul.seat.index()];
        format!("{name}：{}", foul.foul.kind().words_in(language))
    });
    let fouls: Vec<_> = fouls.collect();
    match fouls.is_empty() {
        true => {
            let scores: Vec<_> = row.scores.iter().map(i32::to_string).collect();
            format!("得分 {}", scores.join(" : "))
        }
        false => fouls.join("；"),
    }
}

/// A result as people write it: of two players `1–0`, `½–½` or `0–1`, or `0–0` where both have lost; of
/// four their places.
fn result(places: &[u8]) -> String {
    match places {
        [1, 1] => "½–½".to_owned(),
        [one, other] => format!("{}–{}", u8::from(*one == 1), u8::from(*other == 1)),
        all => all.iter().map(u8::to_string).collect::<Vec<_>>().join("-"),
    }
}

/// A list of games; without an address they lead nowhere.
pub(crate) fn table(
    standing: &TournamentStanding,
    games: &[GameRow],
    at: Option<&str>,
    language: Language,
) -> Markup {
    let is_of_two = games.iter().all(|row| row.places.len() == 2);
    html! {
            div.scrolls tabindex="0" role="region" aria-label=(language.pick("Games", "对局")) { table {
                thead { tr {
                    th scope="col" { (language.pick("game", "对局")) }
                    th scope="col" { (language.pick("players by seat", "各座位玩家")) }
                    th scope="col" { @match is_of_two {
                        true => (language.pick("result", "结果")),
                        false => (language.pick("places", "名次")),
                    } }
                    th scope="col" { (language.pick("end", "结束方式")) }
                    th.number scope="col" { (language.pick("moves", "步数")) }
                    th.number scope="col" { (language.pick("thought", "用时")) }
                    th scope="col" { (language.pick("at", "时间")) }
                } }
                tbody { @for row in games {
                    tr {
                        th scope="row" {
                            @match at {
                                Some(at) => a href=(format!("{at}/games/{}.{}", row.group, row.seating)) { (row.group) "." (row.seating) },
                                None => { (row.group) "." (row.seating) }
                            }
                         }
                        td { (players(standing, row).join(" – ")) }
                        td { (result(&row.places)) }
                        td { (end(standing, row, language)) }
                        td.number { (row.plies) }
                        td.number { (time(row.thought_us.iter().sum())) }
                        td { (pages::date(row.finished_unix_ms)) }
                    }
                } }
            } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_two_is_written_as_people_write_it() {
        for (places, expected) in [
            (&[1, 2][..], "1–0"),
            (&[2, 1], "0–1"),
            (&[1, 1], "½–½"),
            (&[2, 2], "0–0"),
            (&[2, 1, 4, 3], "2-1-4-3"),
        ] {
            assert_eq!(result(places), expected);
        }
    }
}
