//! A game that is being played, as it stands.

use arena_draw::{Look, Picture, spoken};
use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use maud::html;
use referee_worker::lease::GameKey;

use crate::{
    caller::Caller,
    error::PageError,
    frame::{Block, Frame},
    hub::Mirror,
    language::Language,
    layout::{self, part},
    records::read_key,
    site::OfSite,
    viewer::time,
};

fn key(text: &str) -> Result<GameKey, PageError> {
    let (group, seating) = read_key(text)?;
    Ok(GameKey { group, seating })
}

pub(crate) async fn show(
    caller: Caller,
    State(site): OfSite,
    Path((tournament, game)): Path<(String, String)>,
) -> Response {
    let key = match key(&game) {
        Ok(key) => key,
        Err(error) => return error.page(&caller),
    };
    let Some(mirror) = site.hub.mirror(&tournament, key) else {
        // It is over, or nobody hears of its moves.
        let to = format!("/t/{}/games/{game}", part(&tournament));
        return layout::redirect(&caller, &to).into_response();
    };
    let language = caller.language;
    let frame = frame(&mirror, &tournament, &game, language);
    let names = mirror.players.join(" – ");
    let body = html! {
        h1 { (names) }
        p { a href=(format!("t/{}", part(&tournament))) { (tournament) } " · " (mirror.kind().info().title_in(language)) }
        div.watching {
            section.game { (layout::block(&frame, "board")) }
            section.beside {
                (layout::block(&frame, "state"))
                h2 { (language.pick("Moves", "着法")) }
                (layout::block(&frame, "moves"))
            }
        }
    };
    let events = format!("t/{}/live/{game}/events", part(&tournament));
    layout::live_page(&caller, &names, &events, &body)
}

pub(crate) async fn events(
    caller: Caller,
    State(site): OfSite,
    Path((tournament, game)): Path<(String, String)>,
) -> Response {
    let key = match key(&game) {
        Ok(key) => key,
        Err(error) => return error.into_response(),
    };
    let language = caller.language;
    let topic = format!("live {} {tournament}/{game}", language.code());
    let of = site.clone();
    let mut mirror: Option<Mirror> = None;
    let heard = site.hub.subscribe();
    site.follow(&caller, topic, heard, (), move || {
        let is_current =
            (mirror.as_mut()).is_some_and(|mirror| mirror.catch_up(&of.hub, &tournament, key));
        if !is_current {
            mirror = of.hub.mirror(&tournament, key);
        }
        let frame = mirror
            .as_ref()
            .map(|one| frame(one, &tournament, &game, language));
        std::future::ready(Ok(frame.unwrap_or_else(Frame::last)))
    })
    .await
}

/// A board of the front page.
pub(crate) fn small(
    mirror: &Mirror,
    tournament: &str,
    key: GameKey,
    at: usize,
    language: Language,
) -> Block {
    let prefix = format!("l{at}-");
    let picture = picture(mirror, &prefix, language);
    let names = mirror.players.join(" – ");
    let to = format!("t/{}/live/{}.{}", part(tournament), key.group, key.seating);
    let mut block = Block::of_picture(format!("live-{at}"), &picture, &prefix, &names);
    let under_id = format!("{prefix}under");
    let under = html! {
        p id=(under_id) {
            a href=(to) { (names) }
            @if mirror.ended.is_some() { " · " (language.pick("over", "已结束")) }
        }
    };
    let under = under.into_string();
    block.html = format!("{}{under}", block.html).into();
    block.parts.push((under_id, under.into()));
    // Another game is another picture: none of its parts is one of the last one's.
    let of_game = format!("{prefix}{}-{}", key.group, key.seating);
    block.parts.push((of_game, "".into()));
    block
}

fn picture(mirror: &Mirror, prefix: &str, language: Language) -> Picture {
    let look = Look {
        language,
        names: &mirror.players,
        id_prefix: prefix,
        ..Look::default()
    };
    Picture::of(&mirror.scene(), &look)
}

fn frame(mirror: &Mirror, tournament: &str, game: &str, language: Language) -> Frame {
    let names = mirror.players.join(" – ");
    let picture = picture(mirror, "p-", language);
    let name = |seat: referee_core::Seat| &mirror.players[seat.index()];
    let moves = html! {
        ol.moves {
            @for one in &mirror.moves {
                li {
                    span.who { (name(one.seat)) } " "
                    span.what { (one.notation) } " "
                    span.took { (time(one.thought.as_micros() as u64)) }
                }
            }
        }
    };
    let state = html! {
        @match &mirror.ended {
            None => p { (language.pick("It is being played.", "正在进行。")) }
            Some(ending) => p {
                (language.pick("It is over: ", "已结束：")) (ending.get(language)) (language.pick(". ", "。"))
                a href=(format!("t/{}/games/{game}", part(tournament))) {
                    (language.pick("See it move by move", "逐步回看"))
                }
            }
        }
    };
    let last = mirror.moves.last();
    let mut said = last.map_or_else(String::new, |one| {
        format!("{}: {}", name(one.seat), one.notation)
    });
    if mirror.moves.is_empty() {
        said = spoken(&mirror.scene(), &mirror.players, language);
    }
    Frame {
        blocks: vec![
            Block::of_picture("board", &picture, "p-", &names),
            Block::new("state", state.into_string()),
            Block::new("moves", moves.into_string()),
        ],
        said,
        is_last: mirror.ended.is_some(),
    }
}
