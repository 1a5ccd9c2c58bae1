//! A tournament: its standings with error bars, how games ended.

use std::sync::Arc;

use arena_events::standings::{GameCounts, RunWarning, StandingsEvent, StandingsRow};
use arena_words::{figures, warning};
use axum::{
    extract::{Path, State},
    response::Response,
};
use maud::{Markup, html};
use referee_core::FoulKind;

use crate::{
    caller::Caller,
    error::PageError,
    frame::{Block, Frame},
    hub::HeardGame,
    language::Language,
    layout::{self, part},
    pages::{self, cross, schedule},
    plot::{self, Bar, Scale},
    site::{OfSite, Site},
    standing::TournamentStanding,
    viewer::time,
};

/// Of so many bots the ratings are plotted over time.
const PLOTTED: usize = 8;
/// With more bots than this they can be looked for by name.
const LOOKED_FOR: usize = 8;

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
    let frame = frame(&site, &standing, language);
    let at = format!("t/{}", part(&name));
    let standings = &standing.standings;
    let is_bracket = schedule::is_bracket(&standing.definition.shape);
    let body = html! {
        h1 { (name) }
        (layout::block(&frame, "about"))
        (layout::block(&frame, "warnings"))
        @if is_bracket { (layout::block(&frame, "schedule")) }
        h2 { (language.pick("Standings", "排名")) }
        @if standings.rows.len() > LOOKED_FOR {
            label.looks-for hidden {
                span { (language.pick("Find a bot", "查找机器人")) }
                input type="search" data-filters="table" autocomplete="off";
            }
        }
        (layout::block(&frame, "table"))
        (layout::block(&frame, "history"))
        (layout::block(&frame, "cross"))
        (layout::block(&frame, "endings"))
        @if !is_bracket { (layout::block(&frame, "schedule")) }
        p {
            a.button href=(format!("{at}/games")) { (language.pick("All games", "全部对局")) } " "
            a href=(format!("api/v1/tournaments/{}/standings", part(&name))) { (language.pick("as JSON", "JSON 格式")) }
        }
    };
    layout::live_page(&caller, &name, &format!("{at}/events"), &body)
}

pub(crate) async fn events(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let language = caller.language;
    let of = site.clone();
    let topic = format!("tournament {} {name}", language.code());
    let heard = site.hub.subscribe();
    site.follow(&caller, topic, heard, (), move || {
        let (site, name) = (of.clone(), name.clone());
        async move {
            let standing = site.standings.of(&name).await?;
            Ok(frame(&site, &standing, language))
        }
    })
    .await
}

fn frame(site: &Arc<Site>, standing: &TournamentStanding, language: Language) -> Frame {
    let standings = &standing.standings;
    let block = |id: &str, html: Markup| Block::new(id, html.into_string());
    let state = standings.state;
    let is_last = standing.tournament.state.is_final();
    let live = match is_last {
        true => Vec::new(),
        false => site.hub.live_games(Some(&standing.tournament.name), 6),
    };
    let at = format!("t/{}", part(&standing.tournament.name));
    let about = html! {
        p {
            (pages::game_title(&standing.tournament.game, language))
            @if let Some(state) = state { " · " strong { (pages::state(language, state)) } }
            " · " (counts(&standings.counts, language))
            " · " (pages::date(standing.tournament.created_unix_ms))
        }
        @if let (Some(planned), false) = (standings.counts.planned_groups, is_last) {
            progress max=(planned.max(1)) value=(standings.counts.groups)
                aria-label=(language.pick("progress", "进度")) {}
        }
        @if let Some(waits) = &standing.tournament.waits {
            p.warning {
                @match language {
                    Language::En => { "It waits for " (waits) }
                    Language::Zh => "数据库暂时无法读写，正在等待。"
                }
            }
        }
        @if !live.is_empty() {
            p { (language.pick("Watch live: ", "观看进行中的对局：")) @for HeardGame { key, .. } in &live {
                a href=(format!("{at}/live/{}.{}", key.group, key.seating)) { (key.group) "." (key.seating) } " "
            } }
        }
    };
    Frame {
        blocks: vec![
            block("about", about),
            block("warnings", warnings(standings, &at, language)),
            block("table", table(standing, Some(&at), language)),
            block("history", history(standing, None, language)),
            block("cross", cross::within(standings, Some(&at), language)),
            block("endings", endings(standing, language)),
            block(
                "schedule",
                schedule::schedule(
                    &standing.definition.shape,
                    standings.rounds.as_deref(),
                    &at,
                    language,
                ),
            ),
        ],
        is_last,
        ..Frame::default()
    }
}

pub(crate) fn counts(counts: &GameCounts, language: Language) -> String {
    let of = (counts.planned_groups).map_or_else(String::new, |planned| format!(" / {planned}"));
    format!(
        "{} {}, {}{of} {}",
        counts.games,
        language.pick("games", "局"),
        counts.groups,
        language.pick("deals", "副")
    )
}

/// A text that leads somewhere, where there is a site around it.
pub(crate) fn linked(at: Option<&str>, to: &str, text: &str) -> Markup {
    html! {
        @match at {
            Some(at) => a href=(format!("{at}/{to}")) { (text) },
            None => (text),
        }
    }
}

/// The table itself; a page of its own for a teacher has it, too.
pub(crate) fn table(standing: &TournamentStanding, at: Option<&str>, language: Language) -> Markup {
    let standings = &standing.standings;
    let figures = |name: &str| standing.figures.bots.iter().find(|bot| bot.bot == name);
    let is_of_two = standings.seats == 2;
    let has_purse = standings.rows.iter().any(|row| row.purse.is_some());
    let rank = |row: &StandingsRow| {
        let ranking = standings.ranking.as_ref();
        let ranked = ranking.and_then(|all| all.iter().find(|one| one.bot == row.bot));
        ranked.map(|one| one.rank).or(row.rank)
    };
    let mut rows: Vec<&StandingsRow> = standings.rows.iter().collect();
    rows.sort_by_key(|row| rank(row).unwrap_or(u32::MAX));
    let scale = Scale::of(&rating_bars(standings));
    let percent = |score: f64| format!("{:.1} %", score * 100.0);
    // What a column is sorted by, where it is not the number that its cells begin with.
    let us = |time: Option<u64>| time.map_or_else(String::new, |us| us.to_string());
    html! {
        div.scrolls tabindex="0" role="region" aria-label=(language.pick("Standings", "排名")) { table.standings data-sorts {
            thead { tr {
                th.number scope="col" { "#" }
                th scope="col" { (language.pick("bot", "机器人")) }
                th.number scope="col" { "Elo" }
                @if scale.is_some() {
                    td { span.spoken { (language.pick("95 % interval", "95 % 置信区间")) } }
                }
                th.number scope="col" { (language.pick("points", "得分")) }
                th.number scope="col" { (language.pick("games", "局数")) }
                th.number scope="col" { (language.pick("score", "得分率")) }
                @if is_of_two {
                    th.number scope="col" { abbr title=(language.pick("won, drawn, lost", "胜、平、负")) { (language.pick("W-D-L", "胜-平-负")) } }
                } @else {
                    th.number scope="col" { (language.pick("places", "名次")) }
                    th.number scope="col" { (language.pick("mean place", "平均名次")) }
                }
                @if has_purse { th.number scope="col" { (language.pick("purse", "筹码")) } }
                th.number scope="col" { (language.pick("fouls", "犯规")) }
                th.number scope="col" { (language.pick("median time", "中位用时")) }
                th.number scope="col" { (language.pick("longest", "最长用时")) }
            } }
            tbody {
                @for row in rows {
                    @let own = figures(&row.bot);
                    tr {
                        td.number { @if let Some(rank) = rank(row) { (rank) } @else { "–" } }
                        th scope="row" { (linked(at, &format!("bots/{}", part(&row.bot)), &row.bot)) }
                        td.number { (pages::figure(language, &row.elo, 0)) }
                        @if let Some(scale) = &scale {
                            td { @if let Some(value) = row.elo.value { (plot::range(scale, value, row.elo.error)) } }
                        }
                        td.number { (row.points) }
                        td.number { (row.games) }
                        td.number { @if let Some(score) = row.score { (percent(score)) } @else { "–" } }
                        @if is_of_two {
                            td.number { (row.wins) "-" (row.draws) "-" (row.losses) }
                        } @else {
                            td.number { (row.places.iter().map(u64::to_string).collect::<Vec<_>>().join("-")) }
                            td.number { @if let Some(place) = row.mean_place { (format!("{place:.2}")) } @else { "–" } }
                        }
                        @if has_purse { td.number { @if let Some(purse) = row.purse { (purse) } } }
                        @if let Some(own) = own {
                            td.number { (own.fouls.values().sum::<u64>()) }
                            td.number data-value=(us(own.thinking.median_us)) { (own.thinking.median_us.map_or_else(|| "–".to_owned(), time)) }
                            td.number data-value=(us(own.thinking.max_us)) { (own.thinking.max_us.map_or_else(|| "–".to_owned(), time)) }
                        } @else { td {} td {} td {} }
                    }
                }
            }
        } }
        @if scale.is_some() {
            p.keys { (language.pick("Ratings in Elo; the bars are 95 % intervals.", "Elo 等级分；线段为 95 % 置信区间。")) }
        }
        @for note in notes(standings, language) { p { (note) } }
    }
}

/// Notes on the figures of the table.
fn notes(standings: &StandingsEvent, language: Language) -> Vec<String> {
    let rows = standings.rows.iter();
    // Where there is no figure either, its cell says why.
    let rows = rows.filter(|row| row.elo.value.is_some());
    let rows: Vec<_> = rows.map(|row| (row.bot.clone(), row.elo.missing)).collect();
    let lines = figures::without_error_bars(&rows, language).into_iter();
    let mut notes: Vec<String> = lines.map(|(_, line)| line).collect();
    if standings.seats == 2 && standings.rows.len() == 2 {
        notes.push(figures::elo_of_two(language).to_owned());
    }
    notes
}

/// The ratings, the best first.
pub(crate) fn rating_bars(standings: &StandingsEvent) -> Vec<Bar> {
    let rows = standings.rows.iter().filter_map(|row| {
        Some(Bar {
            name: row.bot.clone(),
            href: None,
            value: row.elo.value?,
            error: row.elo.error,
        })
    });
    let mut rows: Vec<Bar> = rows.collect();
    rows.sort_by(|a, b| b.value.total_cmp(&a.value));
    rows
}

/// A plot of the history of ratings: of one bot and its neighbours in the table, or of the first
/// ones.
pub(crate) fn history(
    standing: &TournamentStanding,
    bot: Option<&str>,
    language: Language,
) -> Markup {
    let rows = &standing.standings.rows;
    let of = bot.and_then(|bot| rows.iter().position(|row| row.bot == bot));
    let from = of.map_or(0, |at| at.saturating_sub(PLOTTED / 2));
    let from = from.min(rows.len().saturating_sub(PLOTTED));
    let number = |name: &str| {
        standing
            .standings
            .bots
            .iter()
            .position(|bot| bot.name == name)
    };
    let lines = rows.iter().skip(from).take(PLOTTED).filter_map(|row| {
        let number = number(&row.bot)?;
        let points = standing.history.iter().filter_map(|after| {
            let rating = after.ratings.get(number).copied().flatten()?;
            Some((after.groups as f64, rating))
        });
        Some(plot::PlotLine {
            name: row.bot.clone(),
            points: points.collect(),
        })
    });
    let lines: Vec<_> = lines.filter(|line| line.points.len() > 1).collect();
    let axes = plot::Axes {
        label: language.pick("Ratings over time", "等级分走势"),
        x: language.pick("deals", "副"),
        y: "Elo",
        range: None,
        cursor: None,
    };
    html! {
        @if !lines.is_empty() {
            figure {
                (plot::lines(&lines, &axes))
                figcaption { (language.pick(
                    "Ratings after so many deals, by the rules of the table.",
                    "按排名规则计算的、各阶段之后的等级分。",
                )) }
            }
        }
    }
}

pub(crate) fn endings(standing: &TournamentStanding, language: Language) -> Markup {
    let endings = &standing.figures.endings;
    let fouls = endings
        .fouls
        .iter()
        .map(|(name, games)| (foul_words(name, language), *games));
    let mut all = vec![
        (
            language
                .pick("decided by the rules", "按规则分出胜负")
                .to_owned(),
            endings.rules,
        ),
        (
            language.pick("draws by the rules", "按规则平局").to_owned(),
            endings.draws,
        ),
    ];
    all.extend(fouls);
    let games: u64 = all.iter().map(|(_, games)| games).sum();
    html! {
        @if games > 0 {
            h2 { (language.pick("How games ended", "对局结果")) }
            table { tbody {
                @for (what, count) in all.iter().filter(|(_, count)| *count > 0) {
                    tr {
                        th scope="row" { (what) }
                        td.number { (count) }
                        td { (plot::share(*count as f64 / games as f64, what)) }
                    }
                }
            } }
        }
    }
}

/// The words for a foul whose name or evidence this is.
pub(crate) fn foul_words(foul: &impl serde::Serialize, language: Language) -> String {
    let foul = serde_json::to_value(foul).unwrap_or_default();
    let name = foul["kind"].as_str().or(foul.as_str()).unwrap_or_default();
    match serde_json::from_value::<FoulKind>(name.replace('-', "_").into()) {
        Ok(kind) if language == Language::Zh => kind.words_in(language).to_owned(),
        _ => name.replace(['-', '_'], " "),
    }
}

fn warnings(standings: &StandingsEvent, at: &str, language: Language) -> Markup {
    html! {
        @if !standings.warnings.is_empty() {
            ul.warning { @for warning in &standings.warnings { li { (warning_words(warning, at, language)) } } }
        }
    }
}

fn warning_words(found: &RunWarning, at: &str, language: Language) -> Markup {
    match (found, language) {
        (
            RunWarning::Fouls {
                bot,
                fouls,
                games,
                group,
                seating,
                first,
            },
            _,
        ) => html! {
            (warning::fouls(bot, *fouls, *games, language))
            a href=(format!("{at}/games/{group}.{seating}")) { (group) "." (seating) }
            (language.pick(": ", "：")) (foul_words(first, language))
        },
        (RunWarning::RepeatedGames { games, distinct }, _) => html! {
            (warning::repeated_games(*games, *distinct, language))
        },
        (
            RunWarning::RefereeLate {
                bot,
                excused_answers,
            },
            _,
        ) => html! { (warning::late_referee(&[(bot, *excused_answers)], language)) },
        (RunWarning::UnequalSeats { bot, games_by_seat }, _) => html! {
            (warning::unequal_seats(&[(bot, games_by_seat)], language))
        },
        (RunWarning::HalfPlayed { deals, games }, Language::En) => html! {
            (deals) " deals have not been played from every seat yet (" (games) " games)"
        },
        (RunWarning::HalfPlayed { deals, games }, Language::Zh) => html! {
            (deals) " 副牌尚未轮完所有座位（" (games) " 局）"
        },
        (RunWarning::ScheduleUnknown, _) => html! {
            (language.pick(
                "what the schedule leaves to chance is not known before the end",
                "赛程中的随机部分要到结束后才公布",
            ))
        },
    }
}

/// The standing of a tournament, or an error where there is none of this name.
pub(crate) async fn standing(
    site: &Arc<Site>,
    name: &str,
) -> Result<Arc<TournamentStanding>, PageError> {
    site.standings.of(name).await
}
