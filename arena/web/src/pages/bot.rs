//! A bot in a tournament: its results by opponent and by seat, its fouls, how long it thought.

use std::collections::BTreeMap;

use arena_store::GameRow;
use axum::{
    extract::{Path, State},
    response::Response,
};
use maud::{Markup, html};
use referee_core::Foul;
use referee_worker::Buckets;

use crate::{
    caller::Caller,
    error::PageError,
    language::Language,
    layout::{self, part},
    lists::{self, GamesQuery},
    pages::{self, tournament},
    plot::{self, Bar},
    site::OfSite,
    standing::TournamentStanding,
    viewer::{self, time},
};

/// So many games with fouls are looked at.
const WITH_FOULS: u32 = 200;
/// So many fouls of a kind are shown, each with its game.
const OF_A_KIND: usize = 3;

pub(crate) async fn show(
    caller: Caller,
    State(site): OfSite,
    Path((name, bot)): Path<(String, String)>,
) -> Response {
    let language = caller.language;
    let standing = match tournament::standing(&site, &name).await {
        Ok(standing) => standing,
        Err(error) => return error.page(&caller),
    };
    let at = format!("t/{}", part(&name));
    let read = async {
        check_entered(&standing, &bot)?;
        let with_fouls = GamesQuery {
            bot: Some(bot.clone()),
            fouls: Some(1),
            ..GamesQuery::default()
        };
        let page = lists::find(&site, &standing, &with_fouls, WITH_FOULS).await?;
        let fouls = fouls(&standing, &bot, &page.games, Some(&at), |_| None, language);
        part_of(&standing, &bot, &fouls, Some(&at), language)
    };
    match read.await {
        Ok(body) => layout::page(&caller, &bot, &body),
        Err(error) => error.page(&caller),
    }
}

/// Checks that a bot takes part.
///
/// # Errors
///
/// It does not.
pub(crate) fn check_entered(standing: &TournamentStanding, bot: &str) -> Result<(), PageError> {
    match standing.standings.bots.iter().any(|one| one.name == bot) {
        true => Ok(()),
        false => Err(no_part(standing, bot)),
    }
}

fn no_part(standing: &TournamentStanding, bot: &str) -> PageError {
    let bots = standing.standings.bots.iter();
    let names: Vec<_> = bots.map(|bot| &*bot.name).collect();
    let name = &standing.tournament.name;
    PageError::NotFound(format!(
        "{bot} takes no part in {name}; its bots are {}",
        names.join(", ")
    ))
}

/// The fouls of a bot in these games by their kinds: in which games, at which moves, why, and what
/// `advice` there is. Without an address they lead nowhere.
pub(crate) fn fouls(
    standing: &TournamentStanding,
    bot: &str,
    rows: &[GameRow],
    at: Option<&str>,
    advice: impl Fn(&Foul) -> Option<String>,
    language: Language,
) -> Markup {
    let mut by_kind: BTreeMap<String, Vec<(&GameRow, &Foul)>> = BTreeMap::new();
    for row in rows {
        let names = lists::players(standing, row);
        let own = row
            .fouls
            .iter()
            .filter(|foul| names.get(foul.seat.index()).is_some_and(|name| name == bot));
        for one in own {
            let kind = tournament::foul_words(&one.foul, language);
            by_kind.entry(kind).or_default().push((row, &one.foul));
        }
    }
    html! {
        @for (kind, all) in &by_kind {
            h3 { (kind) ": " (all.len()) }
            ul { @for (row, foul) in all.iter().take(OF_A_KIND) { li {
                @let (key, move_number) = (format!("{}.{}", row.group, row.seating), row.plies);
                (tournament::linked(at, &format!("games/{key}?ply={move_number}"), &match (language, move_number) {
                    (Language::En, 0) => format!("game {key}"),
                    (Language::En, _) => format!("game {key}, after move {move_number}"),
                    (Language::Zh, 0) => format!("对局 {key}"),
                    (Language::Zh, _) => format!("对局 {key}，第 {move_number} 步之后"),
                }))
                (viewer::foul_words(None, foul, language))
                @if let Some(advice) = advice(foul) { p { (advice) } }
            } } }
        }
    }
}

/// The part of a bot in a tournament, with what is known of its fouls; without an address it leads
/// nowhere.
///
/// # Errors
///
/// It takes no part.
pub(crate) fn part_of(
    standing: &TournamentStanding,
    bot: &str,
    fouls: &Markup,
    at: Option<&str>,
    language: Language,
) -> Result<Markup, PageError> {
    let (standings, name) = (&standing.standings, &standing.tournament.name);
    let found = standings.rows.iter().find(|row| row.bot == bot);
    let entered = standings.bots.iter().position(|one| one.name == bot);
    let (Some(row), Some(number)) = (found, entered) else {
        return Err(no_part(standing, bot));
    };
    let about = &standings.bots[number];
    let figures = standing.figures.bots.iter().find(|one| one.bot == bot);
    let pairs = standings
        .pairs
        .iter()
        .filter(|pair| pair.first == bot || pair.second == bot);
    let mut opponents: Vec<_> = pairs
        .map(|pair| {
            let is_first = pair.first == bot;
            let (other, wins, losses) = match is_first {
                true => (&pair.second, pair.wins, pair.losses),
                false => (&pair.first, pair.losses, pair.wins),
            };
            let elo = pair.comparison.as_ref().map(|one| one.elo);
            let value = elo.and_then(|elo| elo.value);
            let value = value.map(|value| if is_first { value } else { -value });
            (
                other,
                wins,
                pair.draws,
                losses,
                value,
                elo.and_then(|elo| elo.error),
            )
        })
        .collect();
    opponents.sort_by(|a, b| a.0.cmp(b.0));
    let bars: Vec<Bar> = (opponents.iter())
        .filter_map(|(other, _, _, _, value, error)| {
            Some(Bar {
                name: (*other).clone(),
                href: at.map(|at| format!("{at}/bots/{}", part(other))),
                value: (*value)?,
                error: *error,
            })
        })
        .collect();
    let columns = columns(&standing.thinking[number]);
    let limit = standing.definition.limits.per_move;
    // Games of it, for which more is asked; words alone where it leads nowhere.
    let games = |asked: &str, words: &str| {
        tournament::linked(at, &format!("games?bot={}{asked}", part(bot)), words)
    };
    Ok(html! {
        h1 { (bot) }
        p {
            @match at { Some(at) => a href=(at) { (name) }, None => { (name) } }
            @if let Some(version) = &about.version { " · " (language.pick("version ", "版本 ")) (version) }
            " · " code { (about.spec) }
            @if let Some(owner) = &about.owner { " · " (language.pick("by ", "作者 ")) (owner) }
        }
        p {
            @if let Some(rank) = row.rank { (language.pick("rank ", "排名 ")) (rank) " · " }
            (row.games) " " (language.pick("games", "局")) " · " (row.wins) "-" (row.draws) "-" (row.losses)
            " · Elo " (pages::figure(language, &row.elo, 0))
        }
        @if let Some(figures) = figures && !figures.fouls.is_empty() {
            h2 { (language.pick("Fouls", "犯规")) }
            p {
                @for (number, (foul, count)) in figures.fouls.iter().enumerate() {
                    @if number > 0 { " · " }
                    (tournament::foul_words(foul, language)) ": " (count)
                }
                @if at.is_some() {
                    " · " (games("&fouls=1", language.pick("games with fouls", "有犯规的对局")))
                }
            }
            (fouls)
        }
        h2 { (language.pick("By opponent", "按对手")) }
        div.scrolls tabindex="0" role="region" aria-label=(language.pick("By opponent", "按对手")) { table {
            thead { tr {
                th scope="col" { (language.pick("opponent", "对手")) }
                th.number scope="col" { (language.pick("ahead", "胜")) }
                th.number scope="col" { (language.pick("level", "平")) }
                th.number scope="col" { (language.pick("behind", "负")) }
                th scope="col" { (language.pick("score", "得分率")) }
            } }
            tbody {
                @for (other, wins, draws, losses, ..) in &opponents {
                    @let score = (*wins as f64 + *draws as f64 / 2.0) / (wins + draws + losses).max(1) as f64;
                    tr {
                        th scope="row" { (games(&format!("&against={}", part(other)), other)) }
                        td.number { (wins) } td.number { (draws) } td.number { (losses) }
                        td { (plot::share(score, &format!("{other}: {score:.2}"))) " " (format!("{:.0} %", score * 100.0)) }
                    }
                }
            }
        } }
        @if bars.len() > 1 {
            figure {
                (plot::error_bars(&bars, "Elo", language.pick("Difference in Elo to each opponent", "与各对手的 Elo 差")))
                figcaption { (language.pick("Stronger than each opponent by so much Elo, with 95 % intervals.", "相对各对手的 Elo 优势及 95 % 置信区间。")) }
            }
        }
        (tournament::history(standing, Some(bot), language))
        @if let Some(figures) = figures {
            h2 { (language.pick("By seat", "按座位")) }
            table {
                thead { tr { @for seat in 0..figures.games_by_seat.len() { th.number scope="col" { (language.pick("seat ", "座位 ")) (seat) } } } }
                tbody { tr { @for games in &figures.games_by_seat { td.number { (games) " " (language.pick("games", "局")) } } } }
            }
            h2 { (language.pick("Thinking time", "思考时间")) }
            p {
                (language.pick("median ", "中位 ")) (figures.thinking.median_us.map_or_else(|| "–".to_owned(), time))
                ", p99 " (figures.thinking.p99_us.map_or_else(|| "–".to_owned(), time))
                (language.pick(", longest ", "，最长 ")) (figures.thinking.max_us.map_or_else(|| "–".to_owned(), time))
                (language.pick(", of ", "，时限 ")) (time(limit.as_micros() as u64))
            }
            @if !columns.is_empty() {
                figure {
                    (plot::histogram(&columns, language.pick("How many answers took how long", "各用时区间的回答数")))
                    figcaption { (language.pick("Answers by the longest time of each column.", "每列上限用时内的回答数。")) }
                }
            }
        }
        @if let Some(at) = at {
            p { a.button href=(format!("{at}/games?bot={}", part(bot))) { (language.pick("Its games", "它的对局")) } }
        }
    })
}

/// Answers by time, four columns for each factor of two at most; at least three of them.
fn columns(times: &Buckets) -> Vec<(String, u64)> {
    let mut columns: Vec<(String, u64)> = Vec::new();
    let mut last = None;
    for (bucket, count) in times.iter() {
        let longest = Buckets::longest(bucket);
        // Two buckets of nearly the same time share a column.
        let octave = longest.max(1).ilog2();
        match columns.last_mut() {
            Some((_, sum)) if last == Some(octave) => *sum += count,
            _ => columns.push((time((1_u64 << (octave + 1)) - 1), count)),
        }
        last = Some(octave);
    }
    columns
}
