//! The front page: what is being played now, with boards that move, and what was played last.

use std::{collections::HashMap, sync::Arc};

use axum::{extract::State, response::Response};
use maud::{Markup, html};
use referee_games::GAMES;
use referee_worker::lease::GameKey;
use tokio::sync::Mutex;

use crate::{
    caller::Caller,
    error::PageError,
    frame::{Block, Frame},
    hub::Mirror,
    language::Language,
    layout::{self, part},
    pages::{self, live},
    sample,
    site::{OfSite, Site},
};

/// So many boards are shown.
const BOARDS: usize = 4;
/// So many of the newest tournaments.
const NEWEST: usize = 8;

/// The games that are shown, with how far they have been played again.
type ShownGames = Vec<(String, GameKey, Mirror)>;

pub(crate) async fn show(caller: Caller, State(site): OfSite) -> Response {
    let language = caller.language;
    let frame = match frame(&site, language, &mut ShownGames::new()).await {
        Ok(frame) => frame,
        Err(error) => return error.page(&caller),
    };
    let body = html! {
        h1 { (language.pick("Watch bots play, or play against them", "看机器人对局，或与它们对局")) }
        p.lead { (language.pick(
            "Programs play board and card games against each other here, and a referee counts. Watch a \
             game move by move, see in a tournament which program is the strongest, or choose a game \
             and play against one yourself.",
            "程序在这里进行棋牌对局，由裁判计分。你可以逐步观看对局，在比赛中查看哪个程序最强，或者选一个\
             游戏亲自与它对局。",
        )) }
        section {
            h2 { (language.pick("Play against a bot", "与机器人对局")) }
            (cards(None, language))
        }
        (layout::block(&frame, "now"))
        div.boards { @for at in 0..BOARDS { (layout::block(&frame, &format!("live-{at}"))) } }
        (layout::block(&frame, "newest"))
    };
    let title = language.pick("Now", "现在");
    layout::live_page(&caller, title, "events", &body)
}

/// The games to choose from, each with a picture. One may be chosen.
pub(crate) fn cards(chosen: Option<&str>, language: Language) -> Markup {
    html! {
        ul.cards { @for kind in &GAMES {
            @let info = kind.info();
            @let is_chosen = chosen == Some(info.name);
            li { a.card href=(format!("play?game={}", info.name)) aria-current=[is_chosen.then_some("true")] {
                (sample::picture(*kind))
                strong { (info.title_in(language)) }
                span { (info.seats) " " (language.pick("players", "人")) }
            } }
        } }
    }
}

pub(crate) async fn events(caller: Caller, State(site): OfSite) -> Response {
    let language = caller.language;
    let of = site.clone();
    let shown = Arc::new(Mutex::new(ShownGames::new()));
    let topic = format!("front {}", language.code());
    let heard = site.hub.subscribe();
    site.follow(&caller, topic, heard, (), move || {
        let (site, shown) = (of.clone(), shown.clone());
        async move { frame(&site, language, &mut *shown.lock().await).await }
    })
    .await
}

/// The same games as before are played on from where they were.
fn look_again(site: &Site, shown: &mut ShownGames) {
    let before = std::mem::take(shown);
    let mut before: HashMap<_, _> = (before.into_iter())
        .map(|(name, key, mirror)| ((name, key), mirror))
        .collect();
    for (name, key) in site.hub.live_games(None, BOARDS) {
        let known = before.remove(&(name.clone(), key));
        let known = known.and_then(|mut mirror| {
            let is_current = mirror.catch_up(&site.hub, &name, key);
            is_current.then_some(mirror)
        });
        if let Some(mirror) = known.or_else(|| site.hub.mirror(&name, key)) {
            shown.push((name, key, mirror));
        }
    }
}

async fn frame(
    site: &Arc<Site>,
    language: Language,
    shown: &mut ShownGames,
) -> Result<Frame, PageError> {
    let running = site.hub.progress();
    look_again(site, shown);
    let newest = site.standings.tournaments().await?;
    let mut blocks = Vec::new();
    let now = html! {
        section {
            h2 { (language.pick("Now", "现在")) }
            @if running.is_empty() {
                p { (language.pick("Nothing is being played here.", "现在没有比赛。")) }
            } @else {
                ul.running {
                    @for one in &running {
                        li {
                            a href=(format!("t/{}", part(&one.tournament))) { (one.tournament) }
                            " · " (pages::game_title(one.game, language))
                            " · " (one.done) @if let Some(planned) = one.planned { " / " (planned) }
                            " " (language.pick("deals", "副"))
                            " · " (one.games_a_minute) " " (language.pick("games a minute", "局/分钟"))
                            @if let Some(planned) = one.planned {
                                " "
                                progress max=(planned.max(1)) value=(one.done)
                                    aria-label=(language.pick("progress", "进度")) {}
                            }
                        }
                    }
                }
            }
        }
    };
    blocks.push(Block::new("now", now.into_string()));
    for at in 0..BOARDS {
        let block = shown.get(at).map_or_else(
            || Block::new(format!("live-{at}"), ""),
            |(name, key, mirror)| live::small(mirror, name, *key, at, language),
        );
        blocks.push(block);
    }
    let newest = html! {
        section {
            h2 { (language.pick("Newest tournaments", "最新比赛")) }
            @if newest.is_empty() {
                p { (language.pick("There is none yet: ", "还没有比赛："))
                    code { "arena tournament submit FILE" } }
            } @else {
                ul {
                    @for one in newest.iter().take(NEWEST) {
                        li {
                            a href=(format!("t/{}", part(&one.name))) { (one.name) }
                            " · " (pages::game_title(&one.game, language)) " · "
                            (one.games) " " (language.pick("games", "局")) " · "
                            (pages::date(one.created_unix_ms))
                        }
                    }
                }
            }
        }
    };
    blocks.push(Block::new("newest", newest.into_string()));
    Ok(Frame {
        blocks,
        ..Frame::default()
    })
}
