//! The handlers of browsers' requests to contests.

use std::{collections::BTreeMap, sync::Arc};

use arena_contest::{Standing, hand_in};
use arena_store::Entry;
use axum::{
    Form, Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Multipart, Path, Query, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, SET_COOKIE},
    },
    middleware,
    response::{AppendHeaders, IntoResponse as _, Response},
    routing::{get, post},
};
use maud::Markup;
use referee_core::{Record, Seat};
use referee_games::game;

use super::{
    LARGEST_BODY, pages, unprocessable,
    visit::{self, Login, Visit, Visitor},
    words,
};
use crate::{
    caller::Caller,
    error::PageError,
    feed,
    frame::{Block, Frame},
    language::Language,
    layout::{self, part},
    pages::game::GameQuery,
    site::{OfSite, Site},
    viewer::ViewedGame,
};

/// The routes to contests. Nobody may keep what they answer.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/contests", get(list))
        .route("/contest/{contest}", get(show))
        .route("/contest/{contest}/login", get(login).post(log_in))
        .route("/contest/{contest}/logout", post(log_out))
        .route("/contest/{contest}/mine", get(mine).post(submit))
        .route("/contest/{contest}/mine/events", get(mine_events))
        .route("/contest/{contest}/entries/{entry}", get(entry))
        .route(
            "/contest/{contest}/entries/{entry}/events",
            get(entry_events),
        )
        .route("/contest/{contest}/entries/{entry}/games/{game}", get(play))
        .route(
            "/contest/{contest}/entries/{entry}/games/{game}/frames",
            get(frames),
        )
        .route("/contest/{contest}/admin", get(admin))
        .route("/contest/{contest}/admin/events", get(admin_events))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::map_response(unkept))
}

/// Says that nobody may keep an answer: it is for one person.
pub(super) async fn unkept(mut response: Response) -> Response {
    let unkept = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, unkept);
    response
}

/// A page, or the way to log in.
fn answered(
    caller: &Caller,
    contest: &str,
    found: Result<(String, Markup), PageError>,
) -> Response {
    match found {
        Ok((title, body)) => layout::page(caller, &title, &body),
        Err(error) => refused(caller, contest, &error),
    }
}

fn refused(caller: &Caller, contest: &str, error: &PageError) -> Response {
    if !matches!(
        error.status(),
        StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED
    ) {
        return error.page(caller);
    }
    let language = caller.language;
    let title = language.pick("Not seen", "无法查看");
    let body = pages::refused(contest, &error.told(language), language);
    let mut response = layout::page(caller, title, &body);
    error.mark(&mut response);
    response
}

async fn list(caller: Caller, visitor: Visitor, State(site): OfSite) -> Response {
    match listed(&site, &visitor).await {
        Ok(visits) => {
            let title = caller.language.pick("Contests", "竞赛");
            layout::page(&caller, title, &pages::list(&visits, caller.language))
        }
        Err(error) => error.page(&caller),
    }
}

/// The contests that somebody may see, the newest first.
pub(super) async fn listed(site: &Site, visitor: &Visitor) -> Result<Vec<Visit>, PageError> {
    let mut visits = Vec::new();
    for contest in site.store.contests().await? {
        let is_theirs = visitor.contest() == Some(contest.id);
        if is_theirs || contest.published_unix_ms.is_some() {
            visits.push(visitor.visit(site, &contest.name).await?);
        }
    }
    Ok(visits)
}

async fn show(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let found = visitor.visit(&site, &name).await;
    let found = found.map(|visit| {
        let body = pages::contest(&visit, caller.language);
        (visit.standing.rules.title.clone(), body)
    });
    answered(&caller, &name, found)
}

/// The same for every name: nobody learns here which contests there are.
async fn login(caller: Caller, Path(name): Path<String>) -> Response {
    let title = caller.language.pick("Log in", "登录");
    layout::page(&caller, title, &pages::login(&name, None, caller.language))
}

async fn log_in(
    caller: Caller,
    State(site): OfSite,
    Path(name): Path<String>,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let text = form.get("token").map_or("", String::as_str);
    let logged_in = async {
        let login = visit::of_token(&site, text, &caller).await?;
        let cookie = visit::log_in(&site, &login, &caller).await?;
        let contests = site.store.contests().await?;
        let contest = contests.into_iter().find(|one| one.id == login.contest);
        Ok::<_, PageError>((contest.map(|one| one.name).unwrap_or_default(), cookie))
    };
    match logged_in.await {
        Ok((contest, cookie)) => {
            let to = layout::redirect(&caller, &format!("/contest/{}", part(&contest)));
            (AppendHeaders([(SET_COOKIE, cookie)]), to).into_response()
        }
        Err(error) => {
            let language = caller.language;
            let body = pages::login(&name, Some(&error.told(language)), language);
            let mut response = layout::page(&caller, language.pick("Log in", "登录"), &body);
            error.mark(&mut response);
            response
        }
    }
}

async fn log_out(caller: Caller, headers: HeaderMap, State(site): OfSite) -> Response {
    match visit::log_out(&site, &headers, &caller).await {
        Ok(cookie) => {
            let to = layout::redirect(&caller, "/contests");
            (AppendHeaders([(SET_COOKIE, cookie)]), to).into_response()
        }
        Err(error) => error.page(&caller),
    }
}

async fn mine(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    match own(&site, &visitor, &name).await {
        Ok(visit) => mine_page(&caller, &visit, None),
        Err(error) => refused(&caller, &name, &error),
    }
}

/// A contest as one of its contestants sees it.
async fn own(site: &Site, visitor: &Visitor, name: &str) -> Result<Visit, PageError> {
    let visit = visitor.visit(site, name).await?;
    visitor.login()?;
    visit.contestant()?;
    Ok(visit)
}

fn mine_page(caller: &Caller, visit: &Visit, refused: Option<&str>) -> Response {
    let language = caller.language;
    let name = &visit.standing.contest.name;
    let title = language.pick("Your entries", "我的提交");
    let block = layout::block(&one_block(pages::entries(visit, language)), BLOCK);
    let body = pages::mine(visit, refused, &block, language);
    let events = format!("contest/{}/mine/events", part(name));
    layout::live_page(caller, title, &events, &body)
}

/// The id of the part of a page that changes.
const BLOCK: &str = "entries";

fn one_block(content: Markup) -> Frame {
    Frame {
        blocks: vec![Block::new(BLOCK, content.into_string())],
        ..Frame::default()
    }
}

async fn submit(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
    form: Multipart,
) -> Response {
    let visit = match own(&site, &visitor, &name).await {
        Ok(visit) => visit,
        Err(error) => return refused(&caller, &name, &error),
    };
    let taken = async {
        let sent = SentFile::read(form).await?;
        take(&site, &visit, &sent).await
    };
    match taken.await {
        Ok(entry) => {
            let to = format!("/contest/{}/entries/{}", part(&name), entry.number);
            layout::redirect(&caller, &to).into_response()
        }
        Err(error) => {
            let mut response = mine_page(&caller, &visit, Some(&error.told(caller.language)));
            error.mark(&mut response);
            response
        }
    }
}

/// A file that somebody has sent.
pub(super) struct SentFile {
    pub(super) group: u32,
    pub(super) file: String,
    pub(super) bytes: Bytes,
}

impl SentFile {
    /// Reads the form, with the fields `group` and `file`.
    async fn read(mut form: Multipart) -> Result<Self, PageError> {
        let broken = |error| unprocessable(format!("a broken form: {error}"), "表单有错误");
        let mut sent = Self {
            group: 0,
            file: String::new(),
            bytes: Bytes::new(),
        };
        while let Some(field) = form.next_field().await.map_err(broken)? {
            match field.name() {
                Some("group") => sent.group = read_group(&field.text().await.map_err(broken)?)?,
                Some("file") => {
                    field
                        .file_name()
                        .unwrap_or_default()
                        .clone_into(&mut sent.file);
                    sent.bytes = field.bytes().await.map_err(broken)?;
                }
                _ => {}
            }
        }
        Ok(sent)
    }
}

/// The group that an entry is for; none where there is nothing to choose.
pub(super) fn read_group(text: &str) -> Result<u32, PageError> {
    match text {
        "" => Ok(0),
        text => text.parse().map_err(|_| {
            let told = format!("group: expected a number, found \"{text}\"");
            unprocessable(told, "组号应为数字")
        }),
    }
}

/// Takes in what somebody hands in.
pub(super) async fn take(site: &Site, visit: &Visit, sent: &SentFile) -> Result<Entry, PageError> {
    visit.contestant()?;
    let SentFile { group, file, bytes } = sent;
    if file.is_empty() || bytes.is_empty() {
        return Err(unprocessable(
            "expected a file with its name, as in bot.zip",
            "请选择一个文件",
        ));
    }
    let (contests, standing) = (site.contests()?, &visit.standing);
    let person = standing.person(visit.must_belong()?.number)?;
    let (store, contest) = (&site.store, &standing.contest);
    let now = contests.clock.unix_ms();
    let taken = hand_in(store, contest, person, *group, file, bytes, now).await;
    match taken {
        Ok(Ok(entry)) => {
            contests.tell_of_entry();
            Ok(entry)
        }
        Ok(Err(refused)) => Err(words::refusal(&refused)),
        Err(error) if error.is_usage() => Err(unprocessable(
            error.to_string(),
            "不能提交：文件名无效，或竞赛已结束",
        )),
        Err(error) => Err(error.into()),
    }
}

async fn entry(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number)): Path<(String, u64)>,
) -> Response {
    let language = caller.language;
    let found = async {
        let visit = visitor.visit(&site, &name).await?;
        visitor.login()?;
        let frame = one_block(pages::entry(&visit, visit.entry(number)?, language));
        Ok::<_, PageError>(pages::entry_around(
            &visit,
            number,
            &layout::block(&frame, BLOCK),
            language,
        ))
    };
    match found.await {
        Ok(body) => {
            let title = format!("{} {number}", language.pick("Entry", "提交"));
            let events = format!("contest/{}/entries/{number}/events", part(&name));
            layout::live_page(&caller, &title, &events, &body)
        }
        Err(error) => refused(&caller, &name, &error),
    }
}

/// A game of an entry, as its own seat knew it where hands are hidden: all that is shown of it, and
/// the entry.
async fn game_of(
    site: &Site,
    visit: &Visit,
    number: u64,
    game_number: usize,
) -> Result<ViewedGame, PageError> {
    let none = || PageError::NotFound(format!("entry {number} has no game {game_number}"));
    let entry = visit.entry(number)?;
    let outcome = visit.standing.outcome(entry, visit.viewer);
    let games = outcome.map(|outcome| outcome.games).unwrap_or_default();
    let at = game_number.checked_sub(1).and_then(|at| games.get(at));
    let played = at.ok_or_else(none)?;
    let tournament = site.store.tournament(&played.tournament).await?;
    let tournament = tournament.ok_or_else(none)?;
    let (group, seating) = (played.group, played.seating);
    let text = site.store.record(tournament.id, group, seating).await?;
    let record = Record::parse(&text.ok_or_else(none)?)
        .map_err(|error| PageError::system("a record can't be read", error))?;
    ViewedGame::of_seat(record.printable(), Seat::new(played.seat))
}

async fn play(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, game_number)): Path<(String, u64, usize)>,
    Query(asked): Query<GameQuery>,
) -> Response {
    let found = async {
        let visit = visitor.visit(&site, &name).await?;
        visitor.login()?;
        let game = game_of(&site, &visit, number, game_number).await?;
        let of = format!("contest/{}/entries/{number}", part(&name));
        let body = pages::game(&game, asked.ply(), &of, game_number, caller.language);
        Ok::<_, PageError>((game.names().join(" – "), body))
    };
    answered(&caller, &name, found.await)
}

async fn frames(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, game_number)): Path<(String, u64, usize)>,
) -> Result<Response, PageError> {
    let visit = visitor.visit(&site, &name).await?;
    visitor.login()?;
    let game = game_of(&site, &visit, number, game_number).await?;
    Ok(Json(game.frames(None, caller.language)).into_response())
}

async fn admin(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let language = caller.language;
    let found = async {
        let visit = visitor.visit(&site, &name).await?;
        visitor.login()?;
        visit.must_organise()?;
        let frame = one_block(pages::queue(&visit, language));
        Ok::<_, PageError>(pages::admin(
            &visit,
            &layout::block(&frame, BLOCK),
            language,
        ))
    };
    match found.await {
        Ok(body) => {
            let title = language.pick("Organisers", "组织");
            let events = format!("contest/{}/admin/events", part(&name));
            layout::live_page(&caller, title, &events, &body)
        }
        Err(error) => refused(&caller, &name, &error),
    }
}

async fn mine_events(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    follow(&caller, &visitor, &site, name, "mine", |visit, language| {
        visit.contestant()?;
        Ok(pages::entries(visit, language))
    })
    .await
}

async fn entry_events(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number)): Path<(String, u64)>,
) -> Response {
    let what = format!("entry {number}");
    follow(
        &caller,
        &visitor,
        &site,
        name,
        &what,
        move |visit, language| Ok(pages::entry(visit, visit.entry(number)?, language)),
    )
    .await
}

async fn admin_events(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    follow(
        &caller,
        &visitor,
        &site,
        name,
        "admin",
        |visit, language| {
            visit.must_organise()?;
            Ok(pages::queue(visit, language))
        },
    )
    .await
}

/// Follows a part of a contest, as long as the one who does so is logged in.
async fn follow<R>(
    caller: &Caller,
    visitor: &Visitor,
    site: &Arc<Site>,
    name: String,
    what: &str,
    render: R,
) -> Response
where
    R: Fn(&Visit, Language) -> Result<Markup, PageError> + Send + Sync + Clone + 'static,
{
    let language = caller.language;
    let first = async {
        let visit = visitor.visit(site, &name).await?;
        let login = visitor.login()?.clone();
        render(&visit, language)?;
        Ok::<_, PageError>((login, site.contests()?.heard()))
    };
    let (login, heard) = match first.await {
        Ok(first) => first,
        Err(error) => return error.into_response(),
    };
    let (code, who) = (language.code(), login.shown());
    let topic = format!("{}{code} {who} {name} {what}", feed::CONTEST);
    let of = site.clone();
    site.follow(caller, topic, heard, (), move || {
        let (of, login, name, render) = (of.clone(), login.clone(), name.clone(), render.clone());
        async move {
            let last = Frame {
                is_last: true,
                ..Frame::default()
            };
            let now = seen_again(&of, &login, &name).await;
            let content = now.and_then(|visit| render(&visit, language).ok());
            Some(content.map_or(last, one_block))
        }
    })
    .await
}

/// A contest as it was a moment ago, if the login is still valid.
async fn seen_again(site: &Site, login: &Login, name: &str) -> Option<Visit> {
    let contests = site.contests().ok()?;
    let now = contests.clock.unix_ms();
    if !login.is_valid(&site.store, now).await {
        return None;
    }
    let standing = contests.recent(&site.store, name).await.ok()?;
    let login = (standing.contest.id == login.contest).then(|| login.clone());
    Some(Visit::new(standing, login))
}

/// The title of a contest's game.
pub(super) fn game_title(standing: &Standing, language: Language) -> &str {
    let name = &standing.rules.game;
    game(name).map_or(name, |kind| kind.info().title_in(language))
}
