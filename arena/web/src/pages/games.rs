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
    // The address of these games with another choice.
    let with = |change: &dyn Fn(&mut GamesQuery)| {
        let mut other = asked.clone();
        other.after = None;
        change(&mut other);
        address(&at, &other)
    };
    let title = format!("{} · {name}", language.pick("Games", "对局"));
    let body = html! {
        h1 { (language.pick("Games of ", "对局：")) a href=(at) { (name) } }
        nav.filters aria-label=(language.pick("Which games", "筛选对局")) {
            @for (words, number) in [(language.pick("All", "全部"), None), (language.pick("With fouls", "有犯规的"), Some(1))] {
                a href=(with(&|query| query.fouls = number)) aria-current=[(asked.fouls == number).then_some("true")] { (words) }
            }
            @if let Some(bot) = &asked.bot { (chosen(bot, &with(&|query| (query.bot, query.against) = (query.against.take(), None)), language)) }
            @if let Some(other) = &asked.against { (chosen(other, &with(&|query| query.against = None), language)) }
            @if let Some(number) = asked.matchup {
                (chosen(&format!("{} {number}", language.pick("match", "场次")), &with(&|query| query.matchup = None), language))
            }
        }
        @if games.is_empty() { p { (language.pick("There is none.", "没有对局。")) } } @else {
            (table(&standing, &games, Some(&at), language))
        }
        @if let Some(next) = next {
            p { a.button href=(with(&|query| query.after = Some(next.clone()))) { (language.pick("More", "更多")) } }
        }
    };
    layout::page(&caller, &title, &body)
}

/// The address of games of a tournament at this address.
fn address(at: &str, asked: &GamesQuery) -> String {
    let parts = [
        ("bot", asked.bot.clone()),
        ("against", asked.against.clone()),
        ("match", asked.matchup.map(|number| number.to_string())),
        ("fouls", asked.fouls.map(|number| number.to_string())),
        ("after", asked.after.clone()),
    ];
    let parts = parts
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key}={}", part(&value?))));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => format!("{at}/games"),
        false => format!("{at}/games?{}", parts.join("&")),
    }
}

/// What games are chosen by, and the way to games that are not.
fn chosen(what: &str, without: &str, language: Language) -> Markup {
    html! {
        span {
            strong { (what) } " "
            a href=(without) aria-label=(match language {
                Language::En => format!("not only {what}"),
                Language::Zh => format!("不限于 {what}"),
            }) { "✕" }
        }
    }
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
    if !fouls.is_empty() {
        return fouls.join("；");
    }
    // Some scores only say who has won.
    let kind = referee_games::game(&standing.tournament.game);
    if kind.is_some_and(|kind| kind.info().scores == (-1, 1)) {
        let is_drawn = row.places.iter().all(|place| *place == 1);
        return if is_drawn { "平局" } else { "分出胜负" }.to_owned();
    }
    let scores: Vec<_> = row.scores.iter().map(i32::to_string).collect();
    format!("得分 {}", scores.join(" : "))
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
                        td { @for (seat, name) in players(standing, row).iter().enumerate() {
                            @if seat > 0 { " – " }
                            @match at.filter(|_| standing.tournament.entrants.iter().any(|one| one.name == *name)) {
                                Some(at) => a href=(format!("{at}/games?bot={}", part(name))) { (name) },
                                None => (name),
                            }
                        } }
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
