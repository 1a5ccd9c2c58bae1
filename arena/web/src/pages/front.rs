//! The front page: what is being played now, with boards that move, and what was played last.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{extract::State, response::Response};
use maud::{Markup, html};
use referee_games::GAMES;
use referee_worker::lease::GameKey;
use tokio::sync::Mutex;

use crate::{
    caller::Caller,
    error::PageError,
    frame::{Block, Frame},
    hub::{HeardGame, Mirror},
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

/// A board shows a game for so long, even where it is over sooner: nobody follows boards that change in a
/// moment, and each costs whoever looks as much as all moves of a game.
const STAYS: Duration = Duration::from_secs(3);

/// The games that are shown, each on its board.
type ShownGames = [Option<ShownGame>; BOARDS];

/// A game that is shown, with how far it has been played again.
struct ShownGame {
    tournament: String,
    key: GameKey,
    mirror: Mirror,
    since: Instant,
}

pub(crate) async fn show(caller: Caller, State(site): OfSite) -> Response {
    let language = caller.language;
    let frame = match frame(&site, language, &mut ShownGames::default()).await {
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
    let shown = Arc::new(Mutex::new(ShownGames::default()));
    let topic = format!("front {}", language.code());
    let heard = site.hub.subscribe();
    site.follow(&caller, topic, heard, (), move || {
        let (site, shown) = (of.clone(), shown.clone());
        async move { frame(&site, language, &mut *shown.lock().await).await }
    })
    .await
}

/// The same games as before are played on from where they were. One that is over makes room for one
/// that is not.
fn look_again(site: &Site, shown: &mut ShownGames) {
    // Some are shown already.
    let mut others = site.hub.live_games(None, 2 * BOARDS);
    others.retain(|one| {
        let mut shown = shown.iter().flatten();
        shown.all(|game| (&game.tournament, game.key) != (&one.tournament, one.key))
    });
    let mut others = others.into_iter().peekable();
    for board in shown {
        if let Some(game) = board {
            let is_known = (game.mirror).catch_up(&site.hub, &game.tournament, game.key);
            let is_over = !is_known || game.mirror.ended.is_some();
            let next_is_running = others.peek().is_some_and(|next| !next.is_over);
            let stays = !is_over || game.since.elapsed() < STAYS;
            if stays || (is_known && !next_is_running) {
                continue;
            }
            *board = None;
        }
        *board = others.find_map(
            |HeardGame {
                 tournament, key, ..
             }| {
                Some(ShownGame {
                    mirror: site.hub.mirror(&tournament, key)?,
                    tournament,
                    key,
                    since: Instant::now(),
                })
            },
        );
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
    for (at, game) in shown.iter().enumerate() {
        blocks.push(match game {
            None => Block::new(format!("live-{at}"), ""),
            Some(game) => live::small(&game.mirror, &game.tournament, game.key, at, language),
        });
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
