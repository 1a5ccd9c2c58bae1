//! The pages, a file each.

pub(crate) mod bot;
pub(crate) mod cross;
pub(crate) mod front;
pub(crate) mod game;
pub(crate) mod games;
pub(crate) mod live;
mod markdown;
pub(crate) mod schedule;
pub(crate) mod tournament;
pub(crate) mod tournaments;

use arena_events::{
    standings::{Estimated, MissingEstimate},
    tournament::TournamentState,
};
use axum::{
    Form,
    extract::Path,
    response::{AppendHeaders, IntoResponse as _, Response},
};
use maud::html;
use serde::Deserialize;

use crate::{
    caller::{Caller, Theme, preferences},
    error::PageError,
    language::Language,
    layout,
};

/// The title of the game of this name.
pub(crate) fn game_title(name: &str, language: Language) -> &str {
    referee_games::game(name).map_or(name, |kind| kind.info().title_in(language))
}

#[derive(Deserialize)]
pub(crate) struct Preferences {
    language: Option<String>,
    theme: Option<String>,
    back: Option<String>,
}

/// Keeps the language and the theme, and goes back to where it was asked for.
pub(crate) async fn settings(caller: Caller, Form(asked): Form<Preferences>) -> Response {
    let language = asked.language.as_deref().and_then(Language::of_code);
    let theme = asked.theme.as_deref().and_then(Theme::of_word);
    let back = asked.back.unwrap_or_default();
    let cookies = AppendHeaders(preferences(language, theme));
    (cookies, layout::redirect(&caller, &back)).into_response()
}

/// The rules of a game.
pub(crate) async fn rules(caller: Caller, Path(game): Path<String>) -> Response {
    let Some(kind) = referee_games::game(&game) else {
        let told = format!("there is no game \"{game}\"");
        return PageError::NotFound(told).page(&caller);
    };
    let info = kind.info();
    let text = info.rules.get(caller.language);
    let body = html! {
        h1 { (info.title_in(caller.language)) }
        (markdown::show(text))
        p { a.button href=(format!("play?game={}", info.name)) { (caller.language.pick("Play", "开始对局")) } }
    };
    layout::page(&caller, info.title_in(caller.language), &body)
}

/// The state of a tournament in a word.
pub(crate) const fn state(language: Language, state: TournamentState) -> &'static str {
    match state {
        TournamentState::Created => language.pick("created", "已创建"),
        TournamentState::Running => language.pick("running", "进行中"),
        TournamentState::Queued => language.pick("queued", "排队中"),
        TournamentState::Paused => language.pick("paused", "已暂停"),
        TournamentState::Stopped => language.pick("stopped", "已停止"),
        TournamentState::Interrupted => language.pick("interrupted", "已中断"),
        TournamentState::Over => language.pick("over", "已结束"),
        TournamentState::Cancelled => language.pick("cancelled", "已取消"),
    }
}

/// A figure and its error.
pub(crate) fn figure(language: Language, one: &Estimated, decimals: usize) -> String {
    match (one.value, one.error) {
        (Some(value), Some(error)) => format!("{value:+.decimals$} ± {error:.decimals$}"),
        (Some(value), None) => format!("{value:+.decimals$} ± ?"),
        (None, _) => match one.missing {
            Some(MissingEstimate::EveryGameWon) => language.pick("won all", "全胜").to_owned(),
            Some(MissingEstimate::EveryGameLost) => language.pick("lost all", "全败").to_owned(),
            Some(MissingEstimate::NotPlayed) => language.pick("not played", "未赛").to_owned(),
            _ => language.pick("not enough games", "局数不足").to_owned(),
        },
    }
}

/// A day and a time, in UTC.
pub(crate) fn date(unix_ms: i64) -> String {
    match time::OffsetDateTime::from_unix_timestamp(unix_ms.div_euclid(1000)) {
        Ok(at) => format!(
            "{:04}-{:02}-{:02} {:02}:{:02} UTC",
            at.year(),
            u8::from(at.month()),
            at.day(),
            at.hour(),
            at.minute()
        ),
        Err(_) => String::new(),
    }
}
