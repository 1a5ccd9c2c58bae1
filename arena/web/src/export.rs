//! Games and tournaments as files that need no server: one HTML file with everything in it.

use std::sync::Arc;

use arena_store::Store;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use referee_core::{Foul, Record};

use crate::{
    assets::{SCRIPT, STYLE},
    error::PageError,
    evaluation::Analysis,
    expectation::{self, ChooseBot},
    language::Language,
    lists::{self, GamesQuery},
    pages::{self, bot, cross, games, tournament},
    plot,
    standing::{self, TournamentStanding},
    viewer::{self, ViewedGame, ViewedPosition},
};

/// So many ratings are in a plot, the best ones.
const RATINGS: usize = 60;
/// So many games are listed in a report.
const GAMES: u32 = 5_000;

/// Reason why there is no file.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ExportError(#[from] PageError);

/// A game that can be stepped through in a browser, as one HTML file, with the evaluation of
/// `analyst`'s bot, where there is an analyst.
///
/// # Errors
///
/// The record is not of a possible game, or the bot fails.
pub fn game_html(
    record: Record,
    analyst: Option<&ChooseBot>,
    language: Language,
) -> Result<String, ExportError> {
    let course = analyst.map(|analyst| expectation::evaluated(&record, analyst));
    let course = course.transpose()?;
    let analysis = Analysis {
        course: course.map(Arc::new),
        ..Analysis::default()
    };
    let game = ViewedGame::of(record.printable())?;
    let title = game.names().join(" – ");
    // A closing tag in it would end the element.
    let frames = serde_json::to_string(&game.frames(None, language)).unwrap_or_default();
    let frames = frames.replace('<', "\\u003c");
    let body = html! {
        h1 { (title) }
        p { (game.kind.info().title_in(language)) " · " (game.record.header.game_id) }
        div.watching {
            (viewer::show(&game, ViewedPosition::default(), &analysis, language, "", "", &html! {}))
        }
        (viewer::times(&game, language))
        script #frames type="application/json" { (PreEscaped(frames)) }
    };
    Ok(file(language, &title, &body, true))
}

/// A tournament as it stands, as one HTML file: standings, who beat whom, plots, games.
///
/// # Errors
///
/// There is no such tournament, or it can't be read.
pub async fn tournament_html(
    store: &Store,
    name: &str,
    language: Language,
) -> Result<String, ExportError> {
    let standing = standing_of(store, name).await?;
    let standings = &standing.standings;
    let page = lists::find_in(store, &standing, &GamesQuery::default(), GAMES).await?;
    let body = html! {
        h1 { (name) }
        p {
            (pages::game_title(&standing.tournament.game, language))
            @if let Some(state) = standings.state { " · " strong { (pages::state(language, state)) } }
            " · " (tournament::counts(&standings.counts, language))
            " · " (pages::date(standing.tournament.created_unix_ms))
        }
        h2 { (language.pick("Standings", "排名")) }
        (tournament::table(&standing, None, language))
        (tournament::history(&standing, None, language))
        (cross::within(standings, None, language))
        (tournament::endings(&standing, language))
        h2 { (language.pick("Games", "对局")) }
        (games::table(&standing, &page.games, None, language))
        @if page.next.is_some() {
            p { (language.pick("There are more games than are listed here.", "此处未列出全部对局。")) }
        }
    };
    Ok(file(language, name, &body, false))
}

/// The end of a log of a bot.
#[derive(Clone, Debug)]
pub struct BotLog {
    /// The name of its file.
    pub name: String,
    /// The last of what the bot has printed.
    pub end: String,
}

/// The part of one bot in a tournament, as one HTML file for its author: results, fouls with
/// their reasons and with `advice` on each, games, and the ends of its logs.
///
/// # Errors
///
/// As [`tournament_html`]; the bot takes no part.
pub async fn bot_html(
    store: &Store,
    name: &str,
    bot: &str,
    logs: &[BotLog],
    advice: impl Fn(&Foul) -> Option<String>,
    language: Language,
) -> Result<String, ExportError> {
    let standing = standing_of(store, name).await?;
    bot::check_entered(&standing, bot)?;
    let asked = GamesQuery {
        bot: Some(bot.to_owned()),
        ..GamesQuery::default()
    };
    let page = lists::find_in(store, &standing, &asked, GAMES).await?;
    let fouls = bot::fouls(&standing, bot, &page.games, None, advice, language);
    let part = bot::part_of(&standing, bot, &fouls, None, language)?;
    let body = html! {
        (part)
        h2 { (language.pick("Games", "对局")) }
        (games::table(&standing, &page.games, None, language))
        @if page.next.is_some() {
            p { (language.pick("There are more games than are listed here.", "此处未列出全部对局。")) }
        }
        @if !logs.is_empty() {
            h2 { (language.pick("The ends of its logs", "日志末尾")) }
            @for log in logs { h3 { (log.name) } pre { (log.end) } }
        }
    };
    Ok(file(language, &format!("{bot} · {name}"), &body, false))
}

/// The ratings of a tournament with their error bars, as an SVG file.
///
/// # Errors
///
/// As [`tournament_html`].
pub async fn tournament_svg(
    store: &Store,
    name: &str,
    language: Language,
) -> Result<String, ExportError> {
    let standing = standing_of(store, name).await?;
    let mut bars = tournament::rating_bars(&standing.standings);
    bars.truncate(RATINGS);
    let title = language.pick(
        "Ratings with their 95 % intervals",
        "等级分及 95 % 置信区间",
    );
    let svg = plot::error_bars(&bars, "Elo", &format!("{name}: {title}")).into_string();
    let style = format!("<style>{}</style>", plot::STYLE);
    let (opening, rest) = svg.split_once('>').unwrap_or((&svg, ""));
    Ok(format!(
        "{opening} xmlns=\"http://www.w3.org/2000/svg\">{style}{rest}\n"
    ))
}

async fn standing_of(store: &Store, name: &str) -> Result<Arc<TournamentStanding>, PageError> {
    standing::StandingsCache::new(store.clone()).of(name).await
}

/// A file with its style and its script.
pub(crate) fn file(language: Language, title: &str, body: &Markup, has_script: bool) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang=(language.code()) data-theme="system" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(&**STYLE)) }
            }
            body {
                main { (body) }
                div #said.spoken aria-live="polite" {}
                @if has_script { script { (PreEscaped(SCRIPT)) } }
            }
        }
    };
    markup.into_string()
}
