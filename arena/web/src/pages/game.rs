//! A game of a tournament that is over.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use referee_core::{Language, Record, Seat};
use serde::Deserialize;

use crate::{
    caller::Caller,
    error::PageError,
    evaluation::Analysis,
    layout::{self, part},
    records,
    site::{OfSite, Site},
    viewer::{self, ViewedGame, ViewedPosition},
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct GameQuery {
    ply: Option<usize>,
    seat: Option<u8>,
    /// Yes if the game is to be evaluated.
    evaluation: Option<YesOrNo>,
    /// Yes if the strongest bot is to say how it would go on from the position.
    line: Option<YesOrNo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum YesOrNo {
    Yes,
    No,
}

impl GameQuery {
    /// What bots say of the game, where it is asked for.
    pub(crate) async fn analysis(
        self,
        site: &Site,
        record: &Record,
        caller: &Caller,
    ) -> Result<Analysis, PageError> {
        let mut analysis = Analysis {
            is_offered: true,
            ..Analysis::default()
        };
        if self.evaluation == Some(YesOrNo::Yes) {
            let course = site.evaluations.course(record, caller.client);
            analysis.course = Some(course.await?);
        }
        if let (Some(YesOrNo::Yes), Some(ply)) = (self.line, self.ply) {
            let line = site.evaluations.line(record, ply, caller.client);
            analysis.line = Some(line.await?);
        }
        Ok(analysis)
    }

    /// After so many moves.
    pub(crate) const fn ply(self) -> Option<usize> {
        self.ply
    }

    /// The position, where the game has the seat.
    pub(crate) fn position(self, record: &Record) -> Result<ViewedPosition, PageError> {
        let seats = record.header.players.seats();
        match self.seat {
            Some(seat) if seat >= seats => Err(PageError::NotFound(format!(
                "seat {seat}: the game has seats 0 to {}",
                seats - 1
            ))),
            seat => Ok(ViewedPosition {
                ply: self.ply,
                seat: seat.map(Seat::new),
            }),
        }
    }
}

pub(crate) async fn show(
    caller: Caller,
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
    Query(asked): Query<GameQuery>,
) -> Response {
    let found = async {
        let record = records::find(&site, &name, &key).await?;
        let position = asked.position(&record)?;
        let analysis = asked.analysis(&site, &record, &caller).await?;
        Ok::<_, PageError>((ViewedGame::of(record)?, position, analysis))
    };
    let (game, position, analysis) = match found.await {
        Ok(found) => found,
        Err(error) => return error.page(&caller),
    };
    let tournament = format!("t/{}", part(&name));
    page(
        &caller,
        &game,
        position,
        &analysis,
        &format!("{tournament}/games/{key}"),
        Some((&name, &tournament)),
        &html! {},
    )
}

/// The page of a game that lies at an address, in a tournament or not, with what can be done next.
pub(crate) fn page(
    caller: &Caller,
    game: &ViewedGame,
    position: ViewedPosition,
    analysis: &Analysis,
    at: &str,
    within: Option<(&str, &str)>,
    next: &Markup,
) -> Response {
    let language = caller.language;
    let title = game.names().join(" – ");
    let ply = position.ply.unwrap_or(game.plies());
    let body = html! {
        h1 { (title) }
        p {
            @if let Some((name, tournament)) = within { a href=(tournament) { (name) } " · " }
            a href=(format!("rules/{}", game.kind.info().name)) { (game.kind.info().title_in(language)) }
            " · " (game.record.header.game_id)
        }
        div.watching {
            (viewer::show(game, position, analysis, language, at, &format!("{at}/frames"), next))
        }
        (viewer::times(game, language))
        p {
            (language.pick("Download: ", "下载："))
            a href=(format!("{at}/record")) download { (language.pick("record", "记录")) } " · "
            a data-of-position="picture" href=(format!("{at}/picture?ply={ply}")) download {
                (language.pick("picture of the position", "局面图片"))
            }
            " "
            button #share.other type="button" hidden data-done=(language.pick("The address is copied", "网址已复制")) {
                (language.pick("Share", "分享"))
            }
        }
        (viewer::messages(game, language))
    };
    layout::page(caller, &title, &body)
}

pub(crate) async fn frames(
    Caller { language, .. }: Caller,
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
    Query(asked): Query<GameQuery>,
) -> Result<Response, PageError> {
    let record = records::find(&site, &name, &key).await?;
    let position = asked.position(&record)?;
    Ok(Json(ViewedGame::of(record)?.frames(position.seat, language)).into_response())
}

pub(crate) async fn record(
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let text = records::find_text(&site, &name, &key).await?;
    Ok(record_file(&format!("{name}-{key}"), text))
}

/// A record as a file.
pub(crate) fn record_file(name: &str, text: String) -> Response {
    let kind = (
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-ndjson"),
    );
    let name = file_name(name, "jsonl");
    ([kind, name], text).into_response()
}

pub(crate) async fn picture(
    Caller { language, .. }: Caller,
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
    Query(asked): Query<GameQuery>,
) -> Result<Response, PageError> {
    let record = records::find(&site, &name, &key).await?;
    let position = asked.position(&record)?;
    Ok(picture_file(&ViewedGame::of(record)?, position, language))
}

pub(crate) async fn play_on(
    caller: Caller,
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
    Query(asked): Query<GameQuery>,
) -> Response {
    let record = records::find(&site, &name, &key).await;
    play_on_from(&caller, record.and_then(ViewedGame::of), asked)
}

/// Leads to the settings of a game that begins with a position.
pub(crate) fn play_on_from(
    caller: &Caller,
    game: Result<ViewedGame, PageError>,
    asked: GameQuery,
) -> Response {
    let opening = game.and_then(|game| {
        let ply = asked.ply.unwrap_or(game.plies());
        let opening = game.opening(ply).ok_or_else(|| {
            PageError::NotFound("no game can begin with a position of this one".to_owned())
        })?;
        Ok((game.kind.info().name, opening))
    });
    match opening {
        Ok((name, opening)) => {
            let to = format!("/play?game={name}&setup={}", part(&opening));
            layout::redirect(caller, &to).into_response()
        }
        Err(error) => error.page(caller),
    }
}

/// A position as a file.
pub(crate) fn picture_file(
    game: &ViewedGame,
    position: ViewedPosition,
    language: Language,
) -> Response {
    let picture = game.picture(&game.scene(position), &[], language);
    let kind = (CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    let name = file_name(&game.record.header.game_id, "svg");
    ([kind, name], picture.standalone(&game.names().join(" – "))).into_response()
}

fn file_name(name: &str, ending: &str) -> (axum::http::HeaderName, HeaderValue) {
    let id = name.chars();
    let id: String = id
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .collect();
    let text = format!("attachment; filename=\"{id}.{ending}\"");
    let value = HeaderValue::from_str(&text);
    let value = value.unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    (CONTENT_DISPOSITION, value)
}
