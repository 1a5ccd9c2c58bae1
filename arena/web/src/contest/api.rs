//! Contests for programs: JSON, and the grades as CSV.

use std::sync::Arc;

use arena_contest::{Board, ContestEntry, EntryExplanation, Phase, Viewer};
use arena_store::Challenge;
use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, Query, State},
    http::{StatusCode, header::CONTENT_TYPE},
    middleware,
    response::{IntoResponse as _, Response},
    routing::get,
};
use referee_core::{Words, printable};
use referee_games::game_name;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    LARGEST_BODY,
    handlers::{
        SentFile, ask_for_match, explained, listed, read_group, take, unkept, visited_game,
    },
    visit::{SeenContest, Visit, Visitor},
};
use crate::{
    api::{ApiAnswer, Endpoint, JSON, TEXT, schema_of},
    caller::Caller,
    error::PageError,
    site::{OfSite, Site},
};

/// A contest.
#[derive(Serialize, JsonSchema)]
struct ContestInfo {
    /// Its name.
    contest: String,
    /// Its name for people.
    title: String,
    /// The game's name.
    game: String,
    /// Its phase.
    phase: Phase,
    /// The time zone in which people read its times.
    zone: String,
    /// From when on entries are taken, in milliseconds since 1970.
    opens_unix_ms: i64,
    /// From when on the board stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    freezes_unix_ms: Option<i64>,
    /// From when on entries are late.
    closes_unix_ms: i64,
    /// What the caller is in it: `organiser`, `contestant` or `guest`. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    /// The hash of the root that the deals of the final follow from.
    final_commitment: String,
    /// This root, once the contest is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    final_root: Option<String>,
}

/// A challenge that waits for the next round of the ladder.
#[derive(Serialize, JsonSchema)]
struct ContestChallenge {
    /// Its number within the contest.
    challenge: u64,
    /// The number of the contestant who asks for it.
    contestant: u64,
    /// The number of the contestant whom it is to meet.
    opponent: u64,
}

impl ContestChallenge {
    const fn of(challenge: &Challenge) -> Self {
        Self {
            challenge: challenge.number,
            contestant: challenge.contestant,
            opponent: challenge.opponent,
        }
    }
}

pub(crate) static ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/contests",
        summary: Words::of(
            "Contests that are published, and those that the caller belongs to",
            "已公布的竞赛，以及你参加的竞赛",
        ),
        query: &[],
        schema: schema_of::<Vec<ContestInfo>>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}",
        summary: Words::of("One contest", "一个竞赛"),
        query: &[],
        schema: schema_of::<ContestInfo>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}/board",
        summary: Words::of("Its board, as the caller may see it", "排行榜"),
        query: &[],
        schema: schema_of::<Board>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}/entries",
        summary: Words::of(
            "The caller's entries, for organisers all; POST hands one in",
            "你的提交，组织者可见全部；也可在此提交",
        ),
        query: &[],
        schema: schema_of::<Vec<ContestEntry>>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}/entries/{entry}",
        summary: Words::of(
            "One entry: its build, its games, its points",
            "一次提交：构建、对局、得分",
        ),
        query: &[],
        schema: schema_of::<ContestEntry>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}/entries/{entry}/games/{game}/log",
        summary: Words::of(
            "What the bot of an entry printed in one of its games, at most 16 KiB",
            "该提交的程序在一局中输出的内容",
        ),
        query: &[],
        schema: TEXT,
        media: "text/plain",
    },
    Endpoint {
        path: "/contests/{contest}/entries/{entry}/games/{game}/explanation",
        summary: Words::of(
            "What the moves of an entry in a game were worth, by what its seat knew; it takes some \
             seconds",
            "该提交在一局中每步的价值，只用其座位当时知道的信息；需要几秒",
        ),
        query: &[],
        schema: schema_of::<EntryExplanation>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}/challenges",
        summary: Words::of(
            "The challenges of the caller that wait for the next round of the ladder, for organisers \
             all; POST with `opponent` adds one",
            "等待下一轮天梯赛的挑战，组织者可见全部；也可在此挑战",
        ),
        query: &[],
        schema: schema_of::<Vec<ContestChallenge>>,
        media: JSON,
    },
    Endpoint {
        path: "/contests/{contest}/grades.csv",
        summary: Words::of("The grades, for organisers", "成绩表，仅限组织者"),
        query: &[],
        schema: TEXT,
        media: "text/csv",
    },
];

/// How something is handed in, for the description of the API.
pub(crate) fn describe_upload(generator: &mut SchemaGenerator) -> Value {
    let parameter = |name, within, what| {
        json!({
            "name": name, "in": within, "description": what, "required": name != "group",
            "schema": { "type": "string" },
        })
    };
    let entry = schema_of::<ContestEntry>(generator);
    json!({
        "summary": "Hands in an entry: a zip or tar of sources, or one source file",
        "operationId": "hand_in",
        "security": [{ "token": [] }],
        "parameters": [
            parameter("contest", "path", "its name"),
            parameter("file", "query", "the name of the file, as in bot.zip"),
            parameter("group", "query", "the group of the exam, where it has groups"),
        ],
        "requestBody": {
            "required": true,
            "content": { "application/octet-stream": {} },
        },
        "responses": {
            "201": {
                "description": "It is taken",
                "content": { JSON: { "schema": entry } },
            },
            "401": { "description": "The token is missing or wrong" },
            "422": { "description": "The rules do not allow it now" },
        },
    })
}

pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/contests", get(list))
        .route("/contests/{contest}", get(contest))
        .route("/contests/{contest}/board", get(board))
        .route("/contests/{contest}/entries", get(entries).post(submit))
        .route("/contests/{contest}/entries/{entry}", get(entry))
        .route(
            "/contests/{contest}/entries/{entry}/games/{game}/log",
            get(log),
        )
        .route(
            "/contests/{contest}/entries/{entry}/games/{game}/explanation",
            get(explanation),
        )
        .route(
            "/contests/{contest}/challenges",
            get(challenges).post(challenge),
        )
        .route("/contests/{contest}/grades.csv", get(grades))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::map_response(unkept))
}

async fn list(visitor: Visitor, State(site): OfSite) -> ApiAnswer<Vec<ContestInfo>> {
    let seen = listed(&site, &visitor).await?;
    Ok(Json(seen.into_iter().map(info).collect()))
}

fn info(seen: SeenContest) -> ContestInfo {
    let SeenContest {
        contest,
        rules,
        phase,
        person,
    } = seen;
    ContestInfo {
        contest: contest.name,
        title: rules.title,
        game: game_name(&rules.game),
        phase,
        zone: rules.zone,
        opens_unix_ms: rules.opens_unix_ms,
        freezes_unix_ms: rules.freezes_unix_ms,
        closes_unix_ms: rules.closes_unix_ms,
        role: person.map(|person| person.role.word()),
        final_commitment: contest.final_root.commitment(),
        final_root: (phase == Phase::Published).then(|| contest.final_root.reveal()),
    }
}

async fn contest(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> ApiAnswer<ContestInfo> {
    Ok(Json(info(visitor.enter(&site, &name).await?)))
}

async fn board(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> ApiAnswer<Board> {
    let visit = visitor.visit(&site, &name).await?;
    Ok(Json(visit.standing.board(visit.viewer)))
}

async fn entries(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> ApiAnswer<Vec<ContestEntry>> {
    let visit = visitor.visit(&site, &name).await?;
    visitor.logged_in()?;
    let mut details = visit.all_details(&site).await?;
    let told = visit.entries().map(|entry| {
        let details = details.remove(&entry.number).unwrap_or_default();
        visit.standing.told(entry, details, visit.viewer)
    });
    Ok(Json(told.collect()))
}

async fn entry(
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number)): Path<(String, u64)>,
) -> ApiAnswer<ContestEntry> {
    let visit = visitor.visit(&site, &name).await?;
    visitor.logged_in()?;
    Ok(Json(told_of(&site, &visit, number).await?))
}

async fn told_of(site: &Site, visit: &Visit, number: u64) -> Result<ContestEntry, PageError> {
    let entry = visit.entry(number)?;
    let details = visit.details(site, number).await?;
    Ok(ContestEntry {
        rounds: visit.rounds(site, entry).await?,
        ..visit.standing.told(entry, details, visit.viewer)
    })
}

async fn log(
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, which)): Path<(String, u64, String)>,
) -> Result<Response, PageError> {
    let (visit, game, _) = visited_game(&site, &visitor, &name, (number, &which)).await?;
    let log = visit.standing.log(&site.store, &game).await?;
    let lines = log.iter().flat_map(|log| log.lines());
    let text: String = lines.map(|line| printable(line) + "\n").collect();
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn explanation(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, which)): Path<(String, u64, String)>,
) -> ApiAnswer<EntryExplanation> {
    let (_, game, record) = visited_game(&site, &visitor, &name, (number, &which)).await?;
    let explained = explained(&site, &game, &record, &caller).await?;
    Ok(Json(Arc::unwrap_or_clone(explained)))
}

#[derive(Deserialize)]
struct UploadQuery {
    #[serde(default)]
    group: String,
    #[serde(default)]
    file: String,
}

async fn submit(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
    Query(asked): Query<UploadQuery>,
    bytes: Bytes,
) -> Result<Response, PageError> {
    let seen = visitor.enter(&site, &name).await?;
    let sent = SentFile {
        group: read_group(&asked.group)?,
        file: asked.file,
        bytes,
    };
    let number = take(&site, &seen, &sent).await?.number;
    // With its place in the queue.
    let visit = visitor.visit(&site, &name).await?;
    let entry = told_of(&site, &visit, number).await?;
    Ok((StatusCode::CREATED, Json(entry)).into_response())
}

async fn challenges(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> ApiAnswer<Vec<ContestChallenge>> {
    let visit = visitor.visit(&site, &name).await?;
    visitor.logged_in()?;
    let own = |contestant| visit.viewer == Viewer::Contestant(contestant);
    let all = visit.standing.challenges.iter();
    let seen = all.filter(|one| {
        visit.viewer == Viewer::Organiser || own(one.contestant) || own(one.opponent)
    });
    Ok(Json(seen.map(ContestChallenge::of).collect()))
}

#[derive(Deserialize)]
struct ChallengeQuery {
    #[serde(default)]
    opponent: String,
}

async fn challenge(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
    Query(asked): Query<ChallengeQuery>,
) -> Result<Response, PageError> {
    let visit = visitor.visit(&site, &name).await?;
    visitor.logged_in()?;
    let added = ask_for_match(&site, &visit, &asked.opponent).await?;
    let told = ContestChallenge::of(&added);
    Ok((StatusCode::CREATED, Json(told)).into_response())
}

async fn grades(
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let visit = visitor.visit(&site, &name).await?;
    visitor.logged_in()?;
    visit.must_organise()?;
    let standing = &visit.standing;
    let grades = standing.board(visit.viewer).grades(&standing.people);
    Ok(([(CONTENT_TYPE, "text/csv; charset=utf-8")], grades).into_response())
}
