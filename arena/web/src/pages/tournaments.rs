//! The list of tournaments.

use axum::{
    extract::{Query, State},
    response::Response,
};
use maud::html;
use serde::Deserialize;

use crate::{
    caller::Caller,
    error::PageError,
    layout::{self, part},
    lists::listed,
    pages,
    site::OfSite,
};

/// So many are on a page.
const PAGE: usize = 50;

#[derive(Deserialize)]
pub(crate) struct PageQuery {
    #[serde(default)]
    page: usize,
}

pub(crate) async fn show(
    caller: Caller,
    State(site): OfSite,
    Query(asked): Query<PageQuery>,
) -> Response {
    let language = caller.language;
    let found = async {
        let all = site.standings.tournaments().await?;
        let count = all.len().div_ceil(PAGE);
        let page = asked.page.min(count.saturating_sub(1));
        let end = all.len().min((page + 1) * PAGE);
        let shown = listed(&site, &all[page * PAGE..end]).await?;
        Ok::<_, PageError>((shown, page, count))
    };
    let (shown, page, count) = match found.await {
        Ok(found) => found,
        Err(error) => return error.page(&caller),
    };
    let body = html! {
        h1 { (language.pick("Tournaments", "比赛")) }
        @if shown.is_empty() {
            p { (language.pick("There is none yet. Queue one with ", "还没有比赛。用下面的命令加入一个："))
                code { "arena tournament submit FILE.toml" } }
        } @else {
            div.scrolls tabindex="0" role="region" aria-label=(language.pick("Tournaments", "比赛")) { table {
                thead { tr {
                    th scope="col" { (language.pick("name", "名称")) }
                    th scope="col" { (language.pick("game", "游戏")) }
                    th scope="col" { (language.pick("state", "状态")) }
                    th.number scope="col" { (language.pick("games", "局数")) }
                    th scope="col" { (language.pick("created", "创建时间")) }
                } }
                tbody {
                    @for one in &shown {
                        tr {
                            th scope="row" { a href=(format!("t/{}", part(&one.tournament))) { (one.tournament) } }
                            td { (pages::game_title(&one.game, language)) }
                            td { (pages::state(language, one.state)) }
                            td.number { (one.games) }
                            td { (pages::date(one.created_unix_ms)) }
                        }
                    }
                }
            } }
            @if count > 1 {
                nav.pages aria-label=(language.pick("Pages", "页")) {
                    @if page > 0 { a href=(format!("tournaments?page={}", page - 1)) { (language.pick("Newer", "较新")) } }
                    span { (page + 1) " / " (count) }
                    @if page + 1 < count { a href=(format!("tournaments?page={}", page + 1)) { (language.pick("Older", "较旧")) } }
                }
            }
        }
    };
    layout::page(&caller, language.pick("Tournaments", "比赛"), &body)
}
