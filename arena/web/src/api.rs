//! The same things for programs: JSON in the types of `arena-events`, which `--format json` prints
//! too, and an OpenAPI description of it.

use std::sync::{Arc, LazyLock};

use arena_events::{
    figures::FiguresEvent,
    game::{GameFoul, MoveEvent},
    replay::ExpectedScore,
    standings::StandingsEvent,
    tournament::TournamentEvent,
};
use arena_store::GameRow;
use arena_tournament::events;
use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderValue, header::CONTENT_TYPE},
    response::Response,
    routing::get,
};
use maud::html;
use referee_core::Words;
use referee_games::{GAMES, game_name};
use referee_worker::lease::GameKey;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    caller::Caller,
    contest,
    error::PageError,
    layout,
    lists::{self, GamesQuery},
    pages::game as game_page,
    records::{self, read_key},
    site::{OfSite, Site},
    standing::TournamentStanding,
};

/// So many items are on a page, where nothing else is asked for.
const PAGE: u32 = 50;
/// At most so many.
const MOST: u32 = 500;

/// A game that is known.
#[derive(Serialize, JsonSchema)]
struct GameInfo {
    /// Its name.
    game: String,
    /// Its name for people.
    title: String,
    /// How many seats it has.
    seats: u8,
    /// How a move is written.
    notation: String,
    /// Whether hands or a wall are secret.
    has_secrets: bool,
}

/// A page of tournaments, the newest first.
#[derive(Serialize, JsonSchema)]
struct TournamentPage {
    /// The tournaments.
    items: Vec<TournamentEvent>,
    /// The `offset` of the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// A page of games, in order of their deals.
#[derive(Serialize, JsonSchema)]
struct GamePage {
    /// The games.
    items: Vec<GameItem>,
    /// The `after` of the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A game of a tournament that is over.
#[derive(Serialize, JsonSchema)]
struct GameItem {
    /// Its deal and seating: `GROUP.SEATING`.
    key: String,
    /// The match's number in the schedule, from 0.
    #[serde(rename = "match")]
    match_number: u32,
    /// Who sat where: a name for each seat.
    players: Vec<String>,
    /// Each seat's place, from 1.
    places: Vec<u8>,
    /// Each seat's score in the game's own unit. Absent where a foul ended the game before anything
    /// was counted; `places` say who won.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Vec<i32>>,
    /// What ended it, as the game says.
    reason: String,
    /// What was done wrong.
    fouls: Vec<GameFoul>,
    /// How many moves were made.
    plies: u64,
    /// What each seat thought in all, in microseconds.
    thought_us: Vec<u64>,
    /// SHA-256 of what was played, in hexadecimal digits.
    play_hash: String,
    /// When it ended, in milliseconds since 1970.
    finished_unix_ms: i64,
}

/// What the players of a game that is over could expect.
#[derive(Serialize, JsonSchema)]
struct Evaluation {
    /// Before each move, and at last what they got: one for each seat. Shares of the points.
    plies: Vec<Vec<ExpectedScore>>,
    /// The bot whose estimates they are; their errors are given as 0. Absent where they were
    /// found by searches with all hands open.
    #[serde(skip_serializing_if = "Option::is_none")]
    bot: Option<String>,
}

/// How the ratings of a tournament came to be.
#[derive(Serialize, JsonSchema)]
struct Ratings {
    /// The bots, in the order of the ratings.
    bots: Vec<String>,
    /// The ratings after parts of the tournament.
    points: Vec<RatingsPoint>,
}

/// The ratings after so many deals.
#[derive(Serialize, JsonSchema)]
struct RatingsPoint {
    /// How many deals had been played that count.
    groups: u64,
    /// The Elo of each bot; null without a rating.
    ratings: Vec<Option<f64>>,
}

/// A game that is being played, in a game without secrets.
#[derive(Serialize, JsonSchema)]
struct LiveGame {
    /// Its deal and seating: `GROUP.SEATING`.
    key: String,
    /// Who sits where: a name for each seat.
    players: Vec<String>,
    /// Its moves so far.
    moves: Vec<MoveEvent>,
    /// What ended it. Absent while it is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

/// Why there is no answer.
#[derive(Serialize, JsonSchema)]
struct ApiError {
    /// What was expected, in words.
    error: String,
}

/// A thing that can be asked for: the path, what it is, its parameters, and the type of the answer.
pub(crate) struct Endpoint {
    pub(crate) path: &'static str,
    pub(crate) summary: Words<&'static str>,
    pub(crate) query: &'static [(&'static str, &'static str)],
    pub(crate) schema: fn(&mut SchemaGenerator) -> Value,
    pub(crate) media: &'static str,
}

pub(crate) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: fn(&mut SchemaGenerator) -> Value = |_| json!({ "type": "string" });

static ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/games",
        summary: Words::of("The games that are known here", "这里已知的游戏"),
        query: &[],
        schema: schema_of::<Vec<GameInfo>>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments",
        summary: Words::of("Tournaments, the newest first", "所有比赛，最新的在前"),
        query: &[
            ("offset", "how many to skip"),
            ("limit", "how many to give, at most 500"),
        ],
        schema: schema_of::<TournamentPage>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}",
        summary: Words::of("One tournament", "一场比赛"),
        query: &[],
        schema: schema_of::<TournamentEvent>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/standings",
        summary: Words::of(
            "Its table, its pairs, its schedule, and what makes them less sure than they look",
            "排名表、两两对战、赛程，以及使结果不那么可靠的原因",
        ),
        query: &[],
        schema: schema_of::<StandingsEvent>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/ratings",
        summary: Words::of(
            "Its ratings after parts of it, each by the rules of the table",
            "比赛各阶段之后的等级分，按排名规则计算",
        ),
        query: &[],
        schema: schema_of::<Ratings>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/figures",
        summary: Words::of(
            "What was counted beside the results: thinking times, fouls, endings",
            "结果以外的统计：思考时间、犯规、结束方式",
        ),
        query: &[],
        schema: schema_of::<FiguresEvent>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/games",
        summary: Words::of(
            "Its games that are over, in order of their deals",
            "已结束的对局，按副的顺序",
        ),
        query: &[
            ("after", "the `next` of the page before"),
            ("limit", "how many to give, at most 500"),
            ("bot", "only games of this bot"),
            ("against", "only games in which this bot sat, too"),
            ("match", "only games of the match of this number"),
            ("fouls", "1: only games with a foul"),
        ],
        schema: schema_of::<GamePage>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/games/{game}",
        summary: Words::of(
            "One game that is over, by GROUP.SEATING",
            "一局已结束的对局，用 GROUP.SEATING 指定",
        ),
        query: &[],
        schema: schema_of::<GameItem>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/games/{game}/record",
        summary: Words::of(
            "Its record, once its deal is played no more: JSON lines for `arena replay`",
            "对局记录，在该副不再使用之后：`arena replay` 可读的 JSON 行",
        ),
        query: &[],
        schema: TEXT,
        media: "application/x-ndjson",
    },
    Endpoint {
        path: "/tournaments/{tournament}/games/{game}/evaluation",
        summary: Words::of(
            "What its players could expect before each move; it takes some seconds",
            "每步之前各方的预期得分；需要几秒",
        ),
        query: &[],
        schema: schema_of::<Evaluation>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/live",
        summary: Words::of(
            "Games that are being played here, in games without secrets",
            "这里正在进行的对局，只限没有暗牌的游戏",
        ),
        query: &[],
        schema: schema_of::<Vec<LiveGame>>,
        media: JSON,
    },
    Endpoint {
        path: "/tournaments/{tournament}/live/{game}",
        summary: Words::of(
            "One of them, by GROUP.SEATING",
            "其中一局，用 GROUP.SEATING 指定",
        ),
        query: &[],
        schema: schema_of::<LiveGame>,
        media: JSON,
    },
];

/// The routes to everything, and where they are shown to contests.
pub(crate) fn routes(has_contests: bool) -> Router<Arc<Site>> {
    let contests = match has_contests {
        true => contest::api_routes(),
        false => Router::new(),
    };
    contests
        .route("/", get(index))
        .route("/openapi.json", get(openapi))
        .route("/games", get(games_known))
        .route("/tournaments", get(tournaments))
        .route("/tournaments/{tournament}", get(tournament))
        .route("/tournaments/{tournament}/standings", get(standings))
        .route("/tournaments/{tournament}/ratings", get(ratings))
        .route("/tournaments/{tournament}/figures", get(figures))
        .route("/tournaments/{tournament}/games", get(games_of))
        .route("/tournaments/{tournament}/games/{game}", get(game_of))
        .route(
            "/tournaments/{tournament}/games/{game}/record",
            get(game_page::record),
        )
        .route(
            "/tournaments/{tournament}/games/{game}/evaluation",
            get(evaluation),
        )
        .route("/tournaments/{tournament}/live", get(live_games))
        .route("/tournaments/{tournament}/live/{game}", get(live_game))
        .fallback(nothing)
}

async fn nothing() -> PageError {
    PageError::NotFound("there is no such path; /api/v1/openapi.json has all".to_owned())
}

/// For people who want to use it.
pub(crate) async fn index(caller: Caller) -> Response {
    let language = caller.language;
    let body = html! {
        h1 { "API" }
        p {
            (language.pick("JSON over HTTP, in the same types as ", "HTTP 上的 JSON，类型与 "))
            code { "--format json" } (language.pick(". ", " 相同。"))
            a href="api/v1/openapi.json" { "OpenAPI" }
        }
        div.scrolls tabindex="0" role="region" aria-label="API" { table {
            tbody { @for endpoint in endpoints(caller.has_contests) { tr {
                th scope="row" { code { "/api/v1" (endpoint.path) } }
                td { (endpoint.summary.get(language)) }
            } } }
        } }
    };
    layout::page(&caller, "API", &body)
}

/// What can be asked for here.
fn endpoints(has_contests: bool) -> impl Iterator<Item = &'static Endpoint> {
    let contests = match has_contests {
        true => contest::ENDPOINTS,
        false => &[],
    };
    ENDPOINTS.iter().chain(contests)
}

static OPENAPI: LazyLock<String> = LazyLock::new(|| description(false).to_string());
static OPENAPI_WITH_CONTESTS: LazyLock<String> = LazyLock::new(|| description(true).to_string());

async fn openapi(caller: Caller) -> Response {
    let (tag, text) = match caller.has_contests {
        false => (concat!("\"", env!("CARGO_PKG_VERSION"), "\""), &OPENAPI),
        true => (
            concat!("\"", env!("CARGO_PKG_VERSION"), "-contests\""),
            &OPENAPI_WITH_CONTESTS,
        ),
    };
    let kind = (CONTENT_TYPE, HeaderValue::from_static(JSON));
    caller.tagged(tag, || ([kind], text.as_str()))
}

/// The OpenAPI description.
fn description(has_contests: bool) -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let error = schema_of::<ApiError>(&mut generator);
    let failed =
        |what: &str| json!({ "description": what, "content": { JSON: { "schema": error } } });
    let mut paths = Map::new();
    for endpoint in endpoints(has_contests) {
        let within = endpoint.path.split('/').filter_map(|one| {
            let name = one.strip_prefix('{')?.strip_suffix('}')?;
            Some(json!({
                "name": name, "in": "path", "required": true, "schema": { "type": "string" },
            }))
        });
        let query = endpoint.query.iter().map(|(name, what)| {
            json!({ "name": name, "in": "query", "description": what, "schema": { "type": "string" } })
        });
        let schema = (endpoint.schema)(&mut generator);
        let operation = json!({ "get": {
            "summary": endpoint.summary.english,
            "operationId": operation(endpoint.path),
            "parameters": within.chain(query).collect::<Vec<_>>(),
            "responses": {
                "200": {
                    "description": endpoint.summary.english,
                    "content": { endpoint.media: { "schema": schema } },
                },
                "403": failed("The deal is still to be played"),
                "404": failed("There is no such thing"),
            },
        } });
        paths.insert(endpoint.path.to_owned(), operation);
    }
    let mut components = Map::new();
    if has_contests {
        let token = json!({ "token": { "type": "http", "scheme": "bearer" } });
        components.insert("securitySchemes".to_owned(), token);
        paths["/contests/{contest}/entries"]["post"] = contest::describe_upload(&mut generator);
    }
    let schemas = generator.take_definitions(true);
    components.insert("schemas".to_owned(), schemas.into());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Bot Arena",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        // From where the description itself lies.
        "servers": [{ "url": "../v1" }],
        "paths": paths,
        "components": components,
    })
}

/// `/tournaments/{tournament}/games` is `tournaments_tournament_games`.
fn operation(path: &str) -> String {
    let words = path.split('/').filter(|word| !word.is_empty());
    let words = words.map(|word| word.trim_matches(['{', '}']));
    words.collect::<Vec<_>>().join("_")
}

/// An answer, or why there is none, as JSON.
pub(crate) type ApiAnswer<T> = Result<Json<T>, PageError>;

async fn games_known() -> Json<Vec<GameInfo>> {
    let games = GAMES.iter().map(|kind| GameInfo {
        game: game_name(kind.info().name),
        title: kind.info().title.to_owned(),
        seats: kind.info().seats,
        notation: kind.info().notation.english.to_owned(),
        has_secrets: kind.has_secrets(),
    });
    Json(games.collect())
}

#[derive(Deserialize)]
struct PageAsked {
    #[serde(default)]
    offset: u64,
    limit: Option<u32>,
}

/// Refuses a request that makes no sense. Programs are told in English.
fn bad<T>(told: String) -> Result<T, PageError> {
    Err(PageError::Bad(Words::new(told, "请求无效")))
}

fn limit(asked: Option<u32>) -> Result<u32, PageError> {
    match asked {
        None => Ok(PAGE),
        Some(limit @ 1..=MOST) => Ok(limit),
        Some(limit) => bad(format!("limit={limit}: expected 1 to {MOST}")),
    }
}

async fn tournaments(
    State(site): OfSite,
    Query(asked): Query<PageAsked>,
) -> ApiAnswer<TournamentPage> {
    let limit = u64::from(limit(asked.limit)?);
    let all = site.standings.tournaments().await?;
    let offset = asked.offset.min(all.len() as u64);
    let end = offset.saturating_add(limit).min(all.len() as u64);
    let items = lists::listed(&site, &all[offset as usize..end as usize]).await?;
    let next = (end < all.len() as u64).then_some(end);
    Ok(Json(TournamentPage { items, next }))
}

async fn tournament(State(site): OfSite, Path(name): Path<String>) -> ApiAnswer<TournamentEvent> {
    let one = site.store.listed_tournament(&name).await?;
    let one =
        one.ok_or_else(|| PageError::NotFound(format!("there is no tournament \"{name}\"")))?;
    Ok(Json(TournamentEvent {
        game: game_name(&one.game),
        state: events::state(one.state, site.store.is_claimed(one.id).await?, one.wish),
        created_unix_ms: one.created_unix_ms,
        games: site.store.game_count(one.id).await?,
        tournament: one.name,
    }))
}

async fn standings(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let standing = site.standings.of(&name).await?;
    Ok(caller.tagged(&standing.tag, || Json(&standing.standings)))
}

async fn ratings(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let standing = site.standings.of(&name).await?;
    Ok(caller.tagged(&standing.tag, || {
        let bots = standing.standings.bots.iter();
        let points = standing.history.iter().map(|after| RatingsPoint {
            groups: after.groups,
            ratings: after.ratings.clone(),
        });
        let ratings = Ratings {
            bots: bots.map(|bot| bot.name.clone()).collect(),
            points: points.collect(),
        };
        Json(ratings)
    }))
}

async fn evaluation(
    caller: Caller,
    State(site): OfSite,
    Path((name, game)): Path<(String, String)>,
) -> ApiAnswer<Evaluation> {
    let record = records::find(&site, &name, &game).await?;
    let course = site.evaluations.course(&record, caller.client).await?;
    let plies = course
        .plies
        .iter()
        .map(|expects| expects.as_slice().to_vec());
    Ok(Json(Evaluation {
        plies: plies.collect(),
        bot: course.by.clone(),
    }))
}

async fn figures(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let standing = site.standings.of(&name).await?;
    Ok(caller.tagged(&standing.tag, || Json(&standing.figures)))
}

async fn games_of(
    State(site): OfSite,
    Path(name): Path<String>,
    Query(mut asked): Query<std::collections::BTreeMap<String, String>>,
) -> ApiAnswer<GamePage> {
    let number = |key: &str, value: Option<String>| {
        let read = value.map(|text| {
            text.parse::<u32>()
                .or_else(|_| bad(format!("{key}={text}: expected a number")))
        });
        read.transpose()
    };
    let limit = limit(number("limit", asked.remove("limit"))?)?;
    let filter = GamesQuery {
        after: asked.remove("after"),
        bot: asked.remove("bot"),
        against: asked.remove("against"),
        matchup: number("match", asked.remove("match"))?,
        fouls: number("fouls", asked.remove("fouls"))?.map(|yes| u8::from(yes == 1)),
    };
    if let Some(unknown) = asked.keys().next() {
        return bad(format!(
            "{unknown}: expected after, limit, bot, against, match or fouls"
        ));
    }
    let standing = site.standings.of(&name).await?;
    let page = lists::find(&site, &standing, &filter, limit).await?;
    Ok(Json(GamePage {
        items: page.games.iter().map(|row| item(&standing, row)).collect(),
        next: page.next,
    }))
}

async fn game_of(
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
) -> ApiAnswer<GameItem> {
    let (group, seating) = read_key(&key)?;
    let standing = site.standings.of(&name).await?;
    let after = match (group, seating) {
        (0, 0) => None,
        (group, 0) => Some(format!("{}.{}", group - 1, u32::MAX)),
        (group, seating) => Some(format!("{group}.{}", seating - 1)),
    };
    let filter = GamesQuery {
        after,
        ..GamesQuery::default()
    };
    let page = lists::find(&site, &standing, &filter, 1).await?;
    let row = page.games.first();
    let row = row.filter(|row| (row.group, row.seating) == (group, seating));
    let row = row.ok_or_else(|| PageError::NotFound(format!("there is no game {key}")))?;
    Ok(Json(item(&standing, row)))
}

fn item(standing: &TournamentStanding, row: &GameRow) -> GameItem {
    let fouls = row.fouls.iter().map(|foul| GameFoul {
        seat: foul.seat.index() as u8,
        foul: events::evidence(&foul.foul),
    });
    GameItem {
        key: format!("{}.{}", row.group, row.seating),
        match_number: row.matchup.0,
        players: lists::players(standing, row),
        places: row.places.clone(),
        scores: row.counted_scores().map(<[i32]>::to_vec),
        reason: row.reason.clone(),
        fouls: fouls.collect(),
        plies: row.plies.into(),
        thought_us: row.thought_us.clone(),
        play_hash: row.play_hash.clone(),
        finished_unix_ms: row.finished_unix_ms,
    }
}

fn live_item(site: &Site, tournament: &str, key: GameKey) -> Option<LiveGame> {
    let mirror = site.hub.mirror(tournament, key)?;
    let named = format!("{}.{}", key.group, key.seating);
    let moves = mirror.moves.iter().enumerate().map(|(at, one)| MoveEvent {
        game_id: named.clone(),
        seat: one.seat.index() as u8,
        number: at as u64 + 1,
        notation: one.notation.clone(),
        thought_us: events::us(one.thought),
    });
    Some(LiveGame {
        moves: moves.collect(),
        key: named,
        players: mirror.players.clone(),
        ended: mirror.ended.map(|ending| ending.english),
    })
}

async fn live_games(State(site): OfSite, Path(name): Path<String>) -> Json<Vec<LiveGame>> {
    let games = site.hub.live_games(Some(&name), MOST as usize).into_iter();
    let games = games.filter_map(|one| live_item(&site, &one.tournament, one.key));
    Json(games.collect())
}

async fn live_game(
    State(site): OfSite,
    Path((name, key)): Path<(String, String)>,
) -> ApiAnswer<LiveGame> {
    let (group, seating) = read_key(&key)?;
    let live = live_item(&site, &name, GameKey { group, seating });
    let told = || PageError::NotFound(format!("game {key} is not being played here"));
    live.map(Json).ok_or_else(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_refers_to_what_it_has() {
        let description = description(true);
        let text = description.to_string();
        let schemas = description["components"]["schemas"]
            .as_object()
            .expect("schemas");
        let mut found = 0;
        for part in text.split("\"$ref\":\"").skip(1) {
            let to = part.split('"').next().unwrap_or_default();
            let name = to.strip_prefix("#/components/schemas/").expect(to);
            assert!(schemas.contains_key(name), "{name}");
            found += 1;
        }
        assert!(found > 20, "{found}");
    }

    #[test]
    fn every_path_has_an_operation_of_its_own() {
        let mut names: Vec<String> = endpoints(true).map(|one| operation(one.path)).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), endpoints(true).count());
    }
}
