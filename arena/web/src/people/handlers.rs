//! The handlers of browsers' requests while people play.

use std::{collections::BTreeMap, sync::Arc};

use arena_play::{setup_parts, setup_with};
use axum::{
    Form, Json, Router,
    extract::{Path, Query, State},
    http::{StatusCode, header::SET_COOKIE},
    response::{AppendHeaders, IntoResponse as _, Response},
    routing::{get, post},
};
use referee_core::{Dice, GameKind, Language, Seat, Seed, Words};
use referee_games::game;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    People,
    kept::{self, KeptGame, SeatedPlayer},
    pages,
    table::{Act, ActRefusal, PeopleTable},
};
use crate::{
    caller::{Browser, Caller, random_bytes, random_id},
    client::Client,
    error::{Full, PageError},
    evaluation::PATIENCE,
    feed, layout,
    pages::game as game_page,
    records,
    site::{OfSite, Site},
    viewer::ViewedGame,
};

/// Limits that may be asked for, in milliseconds.
const LIMITS: std::ops::RangeInclusive<u64> = 100..=600_000;
/// Most characters of a name.
const NAME: usize = 24;

pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/play", get(lobby).post(begin))
        .route("/play/{id}", get(show))
        .route("/play/{id}/events", get(events))
        .route("/play/{id}/join", post(join))
        .route("/play/{id}/sit", post(sit))
        .route("/play/{id}/rematch", post(rematch))
        .route("/play/{id}/{act}", post(act))
        .route("/people/{id}", get(finished))
        .route("/people/{id}/frames", get(frames))
        .route("/people/{id}/record", get(record))
        .route("/people/{id}/picture", get(picture))
        .route("/people/{id}/on", get(play_on))
}

#[derive(Deserialize)]
struct Chosen {
    game: Option<String>,
    /// The set-up in one line.
    #[serde(default)]
    setup: String,
}

async fn lobby(caller: Caller, State(site): OfSite, Query(chosen): Query<Chosen>) -> Response {
    let people = match site.people() {
        Ok(people) => people,
        Err(error) => return error.page(&caller),
    };
    let kind = chosen.game.as_deref().and_then(game);
    let browser = caller.browser.as_ref();
    let body = pages::lobby(
        people,
        kind,
        browser,
        (&chosen.setup, None),
        caller.language,
    );
    layout::page(&caller, caller.language.pick("Play", "对局"), &body)
}

/// Begins a game as a form says.
async fn begin(
    caller: Caller,
    State(site): OfSite,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let people = match site.people() {
        Ok(people) => people,
        Err(error) => return error.page(&caller),
    };
    let kind = form.get("game").and_then(|name| game(name));
    let begun = caller.named().and_then(|(browser, cookie)| {
        people.check_room(&browser, caller.client)?;
        let kept = read_settings(people, &form, kind, (&browser, caller.client))?;
        let table = people.begin(kept)?;
        table.touch(&browser);
        Ok((table, cookie))
    });
    match begun {
        Ok((table, cookie)) => {
            let to = layout::redirect(&caller, &format!("/play/{}", table.id()));
            (AppendHeaders(cookie.map(|cookie| (SET_COOKIE, cookie))), to).into_response()
        }
        Err(error) => {
            let wrong = error.told(caller.language);
            let browser = caller.browser.as_ref();
            let setup = form.get("setup").map_or("", |line| line);
            let asked = (setup, Some(&*wrong));
            let body = pages::lobby(people, kind, browser, asked, caller.language);
            let mut response = layout::page(&caller, caller.language.pick("Play", "对局"), &body);
            error.mark(&mut response);
            response
        }
    }
}

/// Refuses a choice that is not possible.
fn bad<T>(told: String, in_chinese: &str) -> Result<T, PageError> {
    Err(PageError::Bad(Words::new(told, in_chinese)))
}

fn read_settings(
    people: &People,
    form: &BTreeMap<String, String>,
    kind: Option<&'static dyn GameKind>,
    (browser, client): (&Browser, Client),
) -> Result<KeptGame, PageError> {
    let asked = |key: &str| form.get(key).map_or("", |value| value.trim());
    let Some(kind) = kind else {
        return bad("expected a game".to_owned(), "请选择游戏");
    };
    let info = kind.info();
    let seed = Seed::new(random_bytes()?);
    let seat = match asked("seat") {
        "" => 0,
        "random" => {
            let draws = Seed::new(random_bytes()?);
            Dice::new(&draws).below(info.seats.into()) as u8
        }
        seat => match seat.parse() {
            Ok(seat) if seat < info.seats => seat,
            _ => {
                return bad(
                    format!("seat {seat}: expected 0 to {}", info.seats - 1),
                    "没有这个座位",
                );
            }
        },
    };
    let limit_ms = match asked("limit_ms") {
        "" => 3_000,
        ms => match ms.parse() {
            Ok(ms) if LIMITS.contains(&ms) => ms,
            _ => {
                return bad(
                    format!("limit_ms {ms}: expected 100 to 600000"),
                    "时限应为 0.1 到 600 秒",
                );
            }
        },
    };
    let mut setup = match asked("setup") {
        "" => json!({}),
        line => kind
            .opening(line)
            .or_else(|error| bad(error.to_string(), "开局设置无效"))?,
    };
    let standard: BTreeMap<String, Value> = setup_parts(kind).into_iter().collect();
    for (key, value) in form {
        if let Some(key) = key.strip_prefix("setup.")
            && !value.trim().is_empty()
            // What nobody has changed leaves a line as it is.
            && standard.get(key).map(pages::shown).as_deref() != Some(value.trim())
        {
            setup = setup_with(kind, &setup, key, value.trim()).or_else(|error| {
                let label = info.setup_label(key, Language::Zh);
                bad(format!("{key}: {error}"), &format!("“{label}”的值无效"))
            })?;
        }
    }
    let mut name: String = asked("name")
        .chars()
        .filter(|c| referee_bots::is_of_a_name(*c))
        .take(NAME)
        .collect();
    if name.is_empty() {
        "you".clone_into(&mut name);
    }
    let against = asked("against");
    let mut names = Vec::new();
    let mut chairs = Vec::new();
    let mut bots = 0;
    for at in 0..info.seats {
        let (other, chair) = match against {
            _ if at == seat => (
                name.clone(),
                SeatedPlayer::Person {
                    browser: Some(browser.clone()),
                },
            ),
            "people" => (
                format!("player-{at}"),
                SeatedPlayer::Person {
                    browser: Some(browser.clone()),
                },
            ),
            "invite" => (
                format!("guest-{at}"),
                SeatedPlayer::Person { browser: None },
            ),
            spec => {
                let mut known = people
                    .context
                    .opponents(info)
                    .filter(|one| spec.is_empty() || one.entry.spec == spec);
                let Some(bot) = known.next() else {
                    return bad(
                        "expected one of the bots that are offered".to_owned(),
                        "没有这个机器人",
                    );
                };
                bots += 1;
                let called = match info.seats {
                    2 => bot.entry.name.clone(),
                    _ => format!("{}-{bots}", bot.entry.name),
                };
                let spec = bot.entry.spec.clone();
                (called, SeatedPlayer::Bot { spec })
            }
        };
        // Two of the same name can't be told apart.
        let is_taken = names.contains(&other);
        names.push(if is_taken {
            format!("{other}-{at}")
        } else {
            other
        });
        chairs.push(chair);
    }
    Ok(KeptGame {
        id: random_id()?,
        game: info.name.to_owned(),
        setup: kind
            .setup(&setup)
            .or_else(|error| bad(error.to_string(), "开局设置无效"))?,
        seed,
        names,
        chairs,
        limit_ms,
        is_timed: asked("timed") == "1",
        is_watched: asked("watched") == "1",
        client: Some(client),
        began_unix_ms: kept::now(),
        answers: Vec::new(),
    })
}

fn find(site: &Arc<Site>, id: &str) -> Result<Option<Arc<PeopleTable>>, PageError> {
    Ok(site.people()?.table(id))
}

/// A game in which something can be done.
fn find_played(site: &Arc<Site>, id: &str) -> Result<Arc<PeopleTable>, PageError> {
    find(site, id)?.ok_or_else(|| PageError::NotFound("the game is over".to_owned()))
}

async fn show(caller: Caller, State(site): OfSite, Path(id): Path<String>) -> Response {
    match find(&site, &id) {
        Err(error) => error.page(&caller),
        Ok(Some(table)) => page(&caller, &table, None),
        Ok(None) => match kept_record(&site, &id) {
            Ok(_) => layout::redirect(&caller, &format!("/people/{id}")).into_response(),
            Err(error) => error.page(&caller),
        },
    }
}

fn page(caller: &Caller, table: &Arc<PeopleTable>, message: Option<&str>) -> Response {
    let own = table.seats_of(caller.browser.as_ref());
    if let Some(browser) = &caller.browser
        && !own.is_empty()
    {
        table.touch(browser);
    }
    let body = pages::table(table, &own, message, caller.language);
    let title = table.names.join(" – ");
    layout::live_page(
        caller,
        &title,
        &format!("play/{}/events", table.id()),
        &body,
    )
}

async fn events(caller: Caller, State(site): OfSite, Path(id): Path<String>) -> Response {
    let table = match find(&site, &id) {
        Ok(Some(table)) => table,
        Ok(None) => return StatusCode::NO_CONTENT.into_response(),
        Err(error) => return error.into_response(),
    };
    let own = table.seats_of(caller.browser.as_ref());
    let presence = match (&caller.browser, &own[..]) {
        (Some(browser), [_, ..]) => Some(table.present(browser)),
        _ => None,
    };
    let language = caller.language;
    let topic = format!("{}{} {id} {own:?}", feed::TABLE, language.code());
    let heard = table.subscribe();
    site.follow(&caller, topic, heard, presence, move || {
        std::future::ready(Ok(pages::frame(&table, &own, language)))
    })
    .await
}

async fn join(caller: Caller, State(site): OfSite, Path(id): Path<String>) -> Response {
    let joined = find_played(&site, &id).and_then(|table| {
        let (browser, cookie) = caller.named()?;
        let is_in = !table.seats_of(Some(&browser)).is_empty();
        if !is_in && !table.join(&browser) {
            return Err(PageError::Conflict("every seat is taken".to_owned()));
        }
        Ok(cookie)
    });
    match joined {
        Ok(cookie) => {
            let cookie = AppendHeaders(cookie.map(|cookie| (SET_COOKIE, cookie)));
            (cookie, layout::redirect(&caller, &format!("/play/{id}"))).into_response()
        }
        Err(error) => error.page(&caller),
    }
}

/// Begins the game after one that is over, in which everybody has the next seat.
async fn rematch(caller: Caller, State(site): OfSite, Path(id): Path<String>) -> Response {
    let begun = find_played(&site, &id).and_then(|table| {
        let own = table.seats_of(caller.browser.as_ref());
        let Some(browser) = caller.browser.as_ref().filter(|_| !own.is_empty()) else {
            return Err(PageError::Forbidden("you did not sit there".to_owned()));
        };
        if table.view().ended.is_none() {
            return Err(PageError::Conflict("the game is not over".to_owned()));
        }
        let people = site.people()?;
        let new = (random_id()?, Seed::new(random_bytes()?));
        table.rematch(new, caller.client, |kept| {
            people.check_room(browser, caller.client)?;
            people.begin(kept).map(|table| table.touch(browser))
        })
    });
    match begun {
        Ok(next) => layout::redirect(&caller, &format!("/play/{next}")).into_response(),
        Err(error) => error.page(&caller),
    }
}

#[derive(Deserialize)]
struct Acted {
    #[serde(rename = "move", default)]
    written: String,
    seat: Option<u8>,
    version: Option<u64>,
}

/// The seat that somebody acts for: the one that the form says, or the one that is asked.
fn acting_seat(table: &PeopleTable, own: &[Seat], said: Option<u8>) -> Option<Seat> {
    match said {
        Some(seat) => own
            .iter()
            .copied()
            .find(|one| one.index() == usize::from(seat)),
        None => {
            let shown = table.shown_as(own, &table.view());
            let shown = shown.filter(|seat| own.contains(seat));
            shown.or(own.first().copied())
        }
    }
}

async fn sit(
    caller: Caller,
    State(site): OfSite,
    Path(id): Path<String>,
    Form(acted): Form<Acted>,
) -> Response {
    let table = match find_played(&site, &id) {
        Ok(table) => table,
        Err(error) => return error.page(&caller),
    };
    let own = table.seats_of(caller.browser.as_ref());
    if let Some(seat) = acting_seat(&table, &own, acted.seat) {
        table.sit_down(seat);
    }
    done(&caller, &table, "", StatusCode::OK)
}

async fn act(
    caller: Caller,
    State(site): OfSite,
    Path((id, act)): Path<(String, String)>,
    Form(acted): Form<Acted>,
) -> Response {
    let table = match find_played(&site, &id) {
        Ok(table) => table,
        Err(error) => return error.page(&caller),
    };
    let own = table.seats_of(caller.browser.as_ref());
    let Some(seat) = acting_seat(&table, &own, acted.seat) else {
        return PageError::Forbidden("you do not sit there".to_owned()).page(&caller);
    };
    let (act, version) = match &*act {
        "move" => (Act::Move(acted.written), acted.version),
        "back" => (Act::Back, None),
        "agree" => (Act::Agree(true), acted.version),
        "refuse" => (Act::Agree(false), acted.version),
        "resign" => (Act::Resign, None),
        "hint" => (Act::Hint(caller.client), None),
        "evaluate" => (Act::Evaluate(caller.client), None),
        other => {
            let told = format!("there is nothing like \"{other}\" to do");
            return PageError::NotFound(told).page(&caller);
        }
    };
    if let Some(browser) = &caller.browser {
        table.touch(browser);
    }
    // A bot that thinks has its time; whoever asked waits no longer than that.
    let acting = tokio::time::timeout(PATIENCE, table.act(seat, version, act));
    let answered = acting.await.unwrap_or(Err(ActRefusal::Full(Full::Work)));
    let told = pages::answer(&answered, &table, caller.language);
    let status = match &answered {
        Ok(_) => StatusCode::OK,
        Err(ActRefusal::GoneOn) => StatusCode::CONFLICT,
        Err(ActRefusal::Full(full)) => full.status(),
        Err(_) => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let mut response = done(&caller, &table, &told, status);
    if let Err(ActRefusal::Full(full)) = answered {
        PageError::from(full).mark(&mut response);
    }
    response
}

/// The script is answered in JSON and hears of changes; without it the page is shown again.
fn done(caller: &Caller, table: &Arc<PeopleTable>, told: &str, status: StatusCode) -> Response {
    if caller.accepts_json {
        let told: Value = json!({ "message": told });
        return (status, Json(told)).into_response();
    }
    if told.is_empty() {
        return layout::redirect(caller, &format!("/play/{}", table.id())).into_response();
    }
    let mut response = page(caller, table, Some(told));
    *response.status_mut() = status;
    response
}

fn kept_record(site: &Arc<Site>, id: &str) -> Result<String, PageError> {
    let people = site.people()?;
    let read = kept::read_record(&people.context.options.folder, id);
    let read = read.map_err(|error| PageError::system("a record can't be read", error))?;
    read.ok_or_else(|| PageError::NotFound("there is no such game".to_owned()))
}

fn finished_game(site: &Arc<Site>, id: &str) -> Result<ViewedGame, PageError> {
    ViewedGame::of(records::read(&kept_record(site, id)?)?)
}

async fn finished(
    caller: Caller,
    State(site): OfSite,
    Path(id): Path<String>,
    Query(asked): Query<game_page::GameQuery>,
) -> Response {
    let found = async {
        let game = finished_game(&site, &id)?;
        let analysis = asked.analysis(&site, &game.record, &caller).await?;
        Ok::<_, PageError>((asked.position(&game.record)?, analysis, game))
    };
    match found.await {
        Ok((position, analysis, game)) => {
            let at = format!("people/{id}");
            let own = match find(&site, &id) {
                Ok(Some(table)) => table.seats_of(caller.browser.as_ref()),
                _ => Vec::new(),
            };
            let next = pages::next(&id, game.kind, !own.is_empty(), caller.language);
            game_page::page(&caller, &game, position, &analysis, &at, None, &next)
        }
        Err(error) => error.page(&caller),
    }
}

async fn frames(
    Caller { language, .. }: Caller,
    State(site): OfSite,
    Path(id): Path<String>,
    Query(asked): Query<game_page::GameQuery>,
) -> Result<Response, PageError> {
    let game = finished_game(&site, &id)?;
    let position = asked.position(&game.record)?;
    Ok(Json(game.frames(position.seat, language)).into_response())
}

async fn record(State(site): OfSite, Path(id): Path<String>) -> Result<Response, PageError> {
    let text = kept_record(&site, &id)?;
    Ok(game_page::record_file(&format!("people-{id}"), text))
}

async fn play_on(
    caller: Caller,
    State(site): OfSite,
    Path(id): Path<String>,
    Query(asked): Query<game_page::GameQuery>,
) -> Response {
    game_page::play_on_from(&caller, finished_game(&site, &id), asked)
}

async fn picture(
    Caller { language, .. }: Caller,
    State(site): OfSite,
    Path(id): Path<String>,
    Query(asked): Query<game_page::GameQuery>,
) -> Result<Response, PageError> {
    let game = finished_game(&site, &id)?;
    let position = asked.position(&game.record)?;
    Ok(game_page::picture_file(&game, position, language))
}
