//! The handlers of browsers' requests to contests.

use std::{collections::BTreeMap, sync::Arc};

use arena_contest::{EntryExplanation, EntryGame, GameOfEntry, Viewer, hand_in};
use arena_store::{Challenge, Entry};
use axum::{
    Form, Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Multipart, Path, Query, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_DISPOSITION, SET_COOKIE},
    },
    middleware,
    response::{AppendHeaders, Html, IntoResponse as _, Response},
    routing::{get, post},
};
use maud::Markup;
use referee_core::{Record, Seat, printable, shorten};

use super::{
    LARGEST_BODY, pages, unprocessable,
    visit::{self, SeenContest, Visit, Visitor},
    words,
};
use crate::{
    caller::Caller,
    error::PageError,
    evaluation::Analysis,
    export, feed,
    frame::{Block, Frame},
    language::Language,
    layout::{self, part},
    pages::game::GameQuery,
    records,
    site::{OfSite, Site},
    viewer::ViewedGame,
};

/// The routes to contests. Nobody may keep what they answer.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/contests", get(list))
        .route("/contest/{contest}", get(show))
        .route("/contest/{contest}/board.html", get(board_file))
        .route("/contest/{contest}/login", get(login).post(log_in))
        .route("/contest/{contest}/logout", post(log_out))
        .route("/contest/{contest}/challenges", post(challenge))
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
        .route(
            "/contest/{contest}/entries/{entry}/games/{game}/explanation",
            get(explanation),
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
        Ok(seen) => {
            let title = caller.language.pick("Contests", "竞赛");
            layout::page(&caller, title, &pages::list(&seen, caller.language))
        }
        Err(error) => error.page(&caller),
    }
}

/// The contests that somebody may see, the newest first.
pub(super) async fn listed(site: &Site, visitor: &Visitor) -> Result<Vec<SeenContest>, PageError> {
    let all = site.store.contests().await?.into_iter();
    let seen = all.filter(|contest| visitor.may_see(contest));
    seen.map(|contest| SeenContest::of(site, contest, visitor))
        .collect()
}

async fn show(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let found = visitor.visit(&site, &name).await;
    let found = found.map(|visit| {
        let body = pages::contest(&visit, None, caller.language);
        (visit.standing.rules.title.clone(), body)
    });
    answered(&caller, &name, found)
}

async fn challenge(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let visited = async {
        let visit = visitor.visit(&site, &name).await?;
        visitor.logged_in()?;
        visit.contestant()?;
        Ok::<_, PageError>(visit)
    };
    let visit = match visited.await {
        Ok(visit) => visit,
        Err(error) => return refused(&caller, &name, &error),
    };
    let opponent = form.get("opponent").map_or("", String::as_str);
    match ask_for_match(&site, &visit, opponent).await {
        Ok(_) => layout::redirect(&caller, &format!("/contest/{}", part(&name))).into_response(),
        Err(error) => {
            let language = caller.language;
            let told = error.told(language);
            let body = pages::contest(&visit, Some(&told), language);
            let title = &visit.standing.rules.title;
            let mut response = layout::page(&caller, title, &body);
            error.mark(&mut response);
            response
        }
    }
}

/// Lets a contestant meet another in the next round of the ladder.
pub(super) async fn ask_for_match(
    site: &Site,
    visit: &Visit,
    opponent: &str,
) -> Result<Challenge, PageError> {
    let Viewer::Contestant(own) = visit.viewer else {
        return Err(PageError::Forbidden(
            "only contestants challenge".to_owned(),
        ));
    };
    let opponent = visit.standing.contestant_of(opponent);
    let opponent = opponent.map_err(|error| unprocessable(error.to_string(), "没有这位选手"))?;
    let contests = site.contests()?;
    let now = contests.clock.unix_ms();
    let asked = visit.standing.challenge(&site.store, own, opponent, now);
    let asked = asked
        .await?
        .map_err(|refused| words::challenge_refusal(&refused))?;
    contests.read_again(visit.standing.contest.id).await;
    Ok(asked)
}

/// The board as a file that needs no server.
async fn board_file(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let visit = match visitor.visit(&site, &name).await {
        Ok(visit) => visit,
        Err(error) => return refused(&caller, &name, &error),
    };
    let now = site
        .contests()
        .map_or(0, |contests| contests.clock.unix_ms());
    let body = pages::board_file(&visit, now, caller.language);
    let title = &visit.standing.rules.title;
    let html = export::file(caller.language, title, &body, false);
    let file = HeaderValue::from_static("attachment; filename=\"board.html\"");
    ([(CONTENT_DISPOSITION, file)], Html(html)).into_response()
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

/// The part of a page that changes.
#[derive(Clone, Copy)]
enum LivePart {
    /// The entries of the contestant who looks.
    Mine,
    /// This entry.
    Entry(u64),
    /// What organisers see.
    Admin,
}

impl LivePart {
    /// The id of its element.
    const BLOCK: &str = "entries";

    /// Its path within a contest.
    fn path(self) -> String {
        match self {
            Self::Mine => "mine".to_owned(),
            Self::Entry(number) => format!("entries/{number}"),
            Self::Admin => "admin".to_owned(),
        }
    }

    /// As it is now for those who may see it.
    async fn frame(
        self,
        site: &Site,
        visit: &Visit,
        language: Language,
    ) -> Result<Frame, PageError> {
        let content = match self {
            Self::Mine => {
                visit.contestant()?;
                pages::entries(visit, language)
            }
            Self::Entry(number) => {
                let entry = visit.entry(number)?;
                let details = visit.details(site, number).await?;
                let rounds = visit.rounds(site, entry).await?;
                pages::entry(visit, entry, &details, &rounds, language)
            }
            Self::Admin => {
                visit.must_organise()?;
                pages::queue(visit, language)
            }
        };
        Ok(Frame {
            blocks: vec![Block::new(Self::BLOCK, content.into_string())],
            ..Frame::default()
        })
    }

    /// A contest that somebody who is logged in may see this part of, and the part.
    async fn visited(
        self,
        site: &Site,
        visitor: &Visitor,
        contest: &str,
        language: Language,
    ) -> Result<(Visit, Frame), PageError> {
        let visit = visitor.visit(site, contest).await?;
        visitor.logged_in()?;
        let frame = self.frame(site, &visit, language).await?;
        Ok((visit, frame))
    }

    /// The page around it. `refused` says why something was not taken.
    async fn page(
        self,
        site: &Site,
        caller: &Caller,
        visitor: &Visitor,
        contest: &str,
        refused: Option<&str>,
    ) -> Response {
        let language = caller.language;
        let visited = self.visited(site, visitor, contest, language).await;
        let (visit, frame) = match visited {
            Ok(visited) => visited,
            Err(error) => return self::refused(caller, contest, &error),
        };
        let block = layout::block(&frame, Self::BLOCK);
        let (title, body) = match self {
            Self::Mine => (
                language.pick("Your entries", "我的提交").to_owned(),
                pages::mine(&visit, refused, &block, language),
            ),
            Self::Entry(number) => (
                format!("{} {number}", language.pick("Entry", "提交")),
                pages::entry_around(&visit, number, &block, language),
            ),
            Self::Admin => (
                language.pick("Organisers", "组织").to_owned(),
                pages::admin(&visit, &block, language),
            ),
        };
        let events = format!("contest/{}/{}/events", part(contest), self.path());
        layout::live_page(caller, &title, &events, &body)
    }

    /// Follows it, as long as the one who does so is logged in.
    async fn follow(
        self,
        site: &Arc<Site>,
        caller: &Caller,
        visitor: &Visitor,
        contest: String,
    ) -> Response {
        let language = caller.language;
        let first = async {
            let (visit, _) = self.visited(site, visitor, &contest, language).await?;
            let id = visit.standing.contest.id;
            Ok::<_, PageError>(site.contests()?.heard(id, visit.viewer))
        };
        let heard = match first.await {
            Ok(heard) => heard,
            Err(error) => return error.into_response(),
        };
        let (code, who, what) = (language.code(), visitor.shown(), self.path());
        let topic = format!("{}{code} {who} {contest} {what}", feed::CONTEST);
        let (of, visitor) = (site.clone(), visitor.clone());
        site.follow(caller, topic, heard, (), move || {
            let (site, visitor, contest) = (of.clone(), visitor.clone(), contest.clone());
            async move {
                let again = async {
                    let visitor = visitor.again(&site).await?;
                    self.visited(&site, &visitor, &contest, language).await
                };
                match again.await {
                    Ok((_, frame)) => Ok(frame),
                    Err(error) if error.status().is_server_error() => Err(error),
                    // They may not see it any more.
                    Err(_) => Ok(Frame::last()),
                }
            }
        })
        .await
    }
}

async fn mine(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let part = LivePart::Mine;
    part.page(&site, &caller, &visitor, &name, None).await
}

async fn mine_events(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    LivePart::Mine.follow(&site, &caller, &visitor, name).await
}

async fn entry(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number)): Path<(String, u64)>,
) -> Response {
    let part = LivePart::Entry(number);
    part.page(&site, &caller, &visitor, &name, None).await
}

async fn entry_events(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number)): Path<(String, u64)>,
) -> Response {
    let part = LivePart::Entry(number);
    part.follow(&site, &caller, &visitor, name).await
}

async fn admin(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    let part = LivePart::Admin;
    part.page(&site, &caller, &visitor, &name, None).await
}

async fn admin_events(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
) -> Response {
    LivePart::Admin.follow(&site, &caller, &visitor, name).await
}

async fn submit(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path(name): Path<String>,
    form: Multipart,
) -> Response {
    let entered = async {
        let seen = visitor.enter(&site, &name).await?;
        visitor.logged_in()?;
        seen.contestant()?;
        Ok::<_, PageError>(seen)
    };
    let seen = match entered.await {
        Ok(seen) => seen,
        Err(error) => return refused(&caller, &name, &error),
    };
    let taken = async {
        let sent = SentFile::read(form).await?;
        take(&site, &seen, &sent).await
    };
    match taken.await {
        Ok(entry) => {
            let to = format!("/contest/{}/entries/{}", part(&name), entry.number);
            layout::redirect(&caller, &to).into_response()
        }
        Err(error) => {
            let told = error.told(caller.language);
            let part = LivePart::Mine;
            let page = part.page(&site, &caller, &visitor, &name, Some(&told));
            let mut response = page.await;
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
pub(super) async fn take(
    site: &Site,
    seen: &SeenContest,
    sent: &SentFile,
) -> Result<Entry, PageError> {
    let person = seen.contestant()?;
    let SentFile { group, file, bytes } = sent;
    if file.is_empty() || bytes.is_empty() {
        return Err(unprocessable(
            "expected a file with its name, as in bot.zip",
            "请选择一个文件",
        ));
    }
    let (contests, store, contest) = (site.contests()?, &site.store, &seen.contest);
    let now = contests.clock.unix_ms();
    let taken = hand_in(store, contest, person, *group, file, bytes, now).await;
    match taken {
        Ok(Ok(entry)) => {
            contests.tell_of_entry(contest.id, &entry).await;
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

/// A game of an entry of a contest that somebody who is logged in may see, with its record: the names in
/// it are those that they may know.
pub(super) async fn visited_game(
    site: &Site,
    visitor: &Visitor,
    contest: &str,
    (number, which): (u64, &str),
) -> Result<(Visit, EntryGame, Record), PageError> {
    let visit = visitor.visit(site, contest).await?;
    visitor.logged_in()?;
    let none = || {
        let which = printable(&shorten(which, 60));
        PageError::NotFound(format!("entry {number} has no game {which}"))
    };
    let entry = visit.entry(number)?;
    let which: GameOfEntry = which.parse().map_err(|_| none())?;
    let game = visit.standing.game(&site.store, entry, which, visit.viewer);
    let game = game.await?.ok_or_else(none)?;
    let played = &game.played;
    let tournament = site.store.tournament(&played.tournament).await?;
    let tournament = tournament.ok_or_else(none)?;
    let (group, seating) = (played.group, played.seating);
    let text = site.store.record(tournament.id, group, seating).await?;
    let mut record = records::read(&text.ok_or_else(none)?)?;
    game.name_players(&mut record);
    Ok((visit, game, record))
}

/// The same as its own seat knew it where hands are hidden: all that is shown of it.
fn viewed(game: &EntryGame, record: Record) -> Result<ViewedGame, PageError> {
    ViewedGame::of_seat(record, Seat::new(game.played.seat))
}

async fn play(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, which)): Path<(String, u64, String)>,
    Query(asked): Query<GameQuery>,
) -> Response {
    let found = async {
        let asked_for = visited_game(&site, &visitor, &name, (number, &which));
        let (visit, game, record) = asked_for.await?;
        let log = visit.standing.log(&site.store, &game).await?;
        let game = viewed(&game, record)?;
        let analysis = match game.kind.has_secrets() {
            // With all hands open it would tell of hands that are hidden.
            true => Analysis::default(),
            false => asked.analysis(&site, &game.record, &caller).await?,
        };
        let of = format!("contest/{}/entries/{number}", part(&name));
        let shown = pages::EntryGamePage {
            game: &game,
            of: &of,
            which: &which,
        };
        let body = shown.page(asked.ply(), &analysis, log.as_deref(), caller.language);
        Ok::<_, PageError>((game.names().join(" – "), body))
    };
    answered(&caller, &name, found.await)
}

async fn frames(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, which)): Path<(String, u64, String)>,
) -> Result<Response, PageError> {
    let asked_for = visited_game(&site, &visitor, &name, (number, &which));
    let (_, game, record) = asked_for.await?;
    let frames = viewed(&game, record)?.frames(None, caller.language);
    Ok(Json(frames).into_response())
}

async fn explanation(
    caller: Caller,
    visitor: Visitor,
    State(site): OfSite,
    Path((name, number, which)): Path<(String, u64, String)>,
) -> Response {
    let found = async {
        let asked_for = visited_game(&site, &visitor, &name, (number, &which));
        let (_, game, record) = asked_for.await?;
        let explained = explained(&site, &game, &record, &caller).await?;
        let game = viewed(&game, record)?;
        let of = format!("contest/{}/entries/{number}", part(&name));
        let shown = pages::EntryGamePage {
            game: &game,
            of: &of,
            which: &which,
        };
        let body = shown.explanation(&explained, caller.language);
        Ok::<_, PageError>((game.names().join(" – "), body))
    };
    answered(&caller, &name, found.await)
}

/// What the moves of an entry in a game were worth, by what its seat knew.
pub(super) async fn explained(
    site: &Site,
    game: &EntryGame,
    record: &Record,
    caller: &Caller,
) -> Result<Arc<EntryExplanation>, PageError> {
    let seat = Seat::new(game.played.seat);
    let explained = site.evaluations.explanation(record, seat, caller.client);
    explained.await
}
