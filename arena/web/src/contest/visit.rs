//! Who calls, and what of a contest they may see.

use std::sync::Arc;

use arena_contest::{BoardRow, Standing, Viewer, viewer};
use arena_store::{ContestId, Entry, Person, Store, StoreError};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, StatusCode, header::AUTHORIZATION, request::Parts},
    response::Response,
};
use referee_core::Words;
use referee_net::{Token, TokenHash};
use sha2::{Digest as _, Sha256};

use crate::{
    caller::{Caller, cookie},
    error::PageError,
    site::Site,
};

/// The time for which a browser stays logged in, in seconds.
const LASTS: i64 = 14 * 24 * 3600;
const SCHEME: &str = "Bearer ";

/// Somebody who is logged in: a person of one contest.
#[derive(Clone, Debug)]
pub(super) struct Login {
    pub(super) contest: ContestId,
    pub(super) person: Person,
    means: LoginMeans,
}

/// The SHA-256 of what somebody has shown.
#[derive(Clone, Debug)]
enum LoginMeans {
    Token(String),
    Cookie(String),
}

impl Login {
    /// The hash of what was shown. Others, and other ways to log in, have another one.
    pub(super) fn shown(&self) -> &str {
        let (LoginMeans::Token(hash) | LoginMeans::Cookie(hash)) = &self.means;
        hash
    }

    /// True if the same is still valid.
    pub(super) async fn is_valid(&self, store: &Store, now_unix_ms: i64) -> bool {
        let found = self.means.find(store, now_unix_ms).await;
        found.is_ok_and(|found| found.is_some())
    }
}

impl LoginMeans {
    async fn find(
        &self,
        store: &Store,
        now_unix_ms: i64,
    ) -> Result<Option<(ContestId, Person)>, StoreError> {
        match self {
            Self::Token(hash) => store.person_of_token(hash).await,
            Self::Cookie(hash) => store.person_of_login(hash, now_unix_ms).await,
        }
    }
}

/// The caller of a contest's page, logged in or not.
#[derive(Clone, Debug)]
pub(super) struct Visitor(Option<Login>);

impl Visitor {
    /// Whoever shows a token is the person of this token, or nobody is let in. Whoever shows a cookie
    /// that is not valid any more is somebody who is not logged in.
    pub(super) async fn of(
        site: &Site,
        headers: &HeaderMap,
        caller: &Caller,
    ) -> Result<Self, PageError> {
        if let Some(token) = bearer(headers) {
            return Ok(Self(Some(of_token(site, token, caller).await?)));
        }
        let secret = cookie(headers, cookie_name(caller.is_tls));
        let Some(secret) = secret.filter(|secret| secret.len() == 64) else {
            return Ok(Self(None));
        };
        let means = LoginMeans::Cookie(hash_of(secret));
        let now = site.contests()?.clock.unix_ms();
        let found = means.find(&site.store, now).await?;
        Ok(Self(found.map(|(contest, person)| Login {
            contest,
            person,
            means,
        })))
    }

    /// Somebody who has to be logged in.
    pub(super) fn login(&self) -> Result<&Login, PageError> {
        self.0.as_ref().ok_or_else(|| {
            let words = Words::new(
                "log in first: on the page, or with the header \"Authorization: Bearer TOKEN\"",
                "请先登录",
            );
            PageError::Refused(StatusCode::UNAUTHORIZED, words)
        })
    }

    /// The contest that they belong to.
    pub(super) fn contest(&self) -> Option<ContestId> {
        self.0.as_ref().map(|login| login.contest)
    }

    /// A contest as they may see it. One that they may not see is not there.
    pub(super) async fn visit(&self, site: &Site, name: &str) -> Result<Visit, PageError> {
        let contest = site.store.contest(name).await?;
        let login = |id: ContestId| self.0.clone().filter(|login| login.contest == id);
        let seen = contest.map(|one| (login(one.id), one.published_unix_ms.is_some()));
        let Some((login, _)) = seen.filter(|(login, is_public)| login.is_some() || *is_public)
        else {
            let name = referee_core::shorten(name, 60);
            return Err(PageError::NotFound(format!(
                "there is no contest \"{name}\", or you have to log in to see it"
            )));
        };
        let now = site.contests()?.clock.unix_ms();
        let standing = Standing::read(&site.store, name, now).await?;
        Ok(Visit::new(Arc::new(standing), login))
    }
}

impl FromRequestParts<Arc<Site>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let caller = Caller::of(parts);
        let visitor = Self::of(site, &parts.headers, &caller).await;
        visitor.map_err(|error| error.answer(&caller))
    }
}

/// A contest, and the one who looks at it.
pub(super) struct Visit {
    pub(super) standing: Arc<Standing>,
    /// None where they do not belong to it.
    pub(super) login: Option<Login>,
    pub(super) viewer: Viewer,
}

impl Visit {
    pub(super) fn new(standing: Arc<Standing>, login: Option<Login>) -> Self {
        let viewer = viewer(login.as_ref().map(|login| &login.person));
        Self {
            standing,
            login,
            viewer,
        }
    }

    pub(super) fn person(&self) -> Option<&Person> {
        self.login.as_ref().map(|login| &login.person)
    }

    /// The person who looks, who belongs to the contest.
    pub(super) fn must_belong(&self) -> Result<&Person, PageError> {
        self.person()
            .ok_or_else(|| forbidden("only those who belong to this contest do this"))
    }

    /// The number of the contestant who looks.
    pub(super) fn contestant(&self) -> Result<u64, PageError> {
        match self.viewer {
            Viewer::Contestant(number) => Ok(number),
            Viewer::Organiser | Viewer::Other => Err(forbidden("only contestants have entries")),
        }
    }

    pub(super) fn must_organise(&self) -> Result<(), PageError> {
        match self.viewer {
            Viewer::Organiser => Ok(()),
            Viewer::Contestant(_) | Viewer::Other => {
                Err(forbidden("only organisers of this contest see this"))
            }
        }
    }

    /// The entries that they may see: their own, or for organisers all.
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.standing
            .entries
            .iter()
            .filter(|entry| match self.viewer {
                Viewer::Organiser => true,
                Viewer::Contestant(number) => entry.contestant == number,
                Viewer::Other => false,
            })
    }

    /// One of these.
    pub(super) fn entry(&self, number: u64) -> Result<&Entry, PageError> {
        let found = self.entries().find(|entry| entry.number == number);
        found.ok_or_else(|| {
            PageError::NotFound(format!("there is no entry {number}, or it is not yours"))
        })
    }

    /// True if they may see what came of one of these.
    pub(super) fn is_told(&self, entry: &Entry) -> bool {
        let standing = &self.standing;
        standing.rules.is_told(entry, self.viewer, standing.phase)
    }

    /// The name of a contestant, as this one may know it.
    pub(super) fn name_of(&self, rows: &[BoardRow], contestant: u64) -> String {
        let row = rows.iter().find(|row| row.contestant == contestant);
        row.map_or_else(String::new, |row| row.name.clone())
    }
}

fn forbidden(why: &str) -> PageError {
    PageError::Forbidden(why.to_owned())
}

/// The person of a token that somebody has sent.
pub(super) async fn of_token(site: &Site, text: &str, caller: &Caller) -> Result<Login, PageError> {
    let wrong = &site.contests()?.wrong_tokens;
    wrong.check(caller.client)?;
    let found = match text.trim().parse::<Token>() {
        Ok(token) => {
            let means = LoginMeans::Token(token.hash().to_string());
            let found = means.find(&site.store, 0).await?;
            let is_of = |person: &Person| {
                let hash = person.token_hash.as_deref();
                let hash = hash.and_then(|hash| hash.parse::<TokenHash>().ok());
                hash.is_some_and(|hash| hash.is_of(&token))
            };
            let found = found.filter(|(_, person)| is_of(person));
            found.map(|(contest, person)| Login {
                contest,
                person,
                means,
            })
        }
        Err(_) => None,
    };
    // What is wrong with it, nobody is told.
    found.ok_or_else(|| {
        wrong.count(caller.client);
        unknown_token()
    })
}

fn unknown_token() -> PageError {
    let words = Words::new("this token is not known here", "这里没有这个令牌");
    PageError::Refused(StatusCode::UNAUTHORIZED, words)
}

/// Logs a person in, who has shown their token: the cookie.
pub(super) async fn log_in(
    site: &Site,
    login: &Login,
    caller: &Caller,
) -> Result<HeaderValue, PageError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| PageError::system("no random numbers", error))?;
    let secret = hex::encode(bytes);
    let now = site.contests()?.clock.unix_ms();
    let (contest, person) = (login.contest, login.person.number);
    let until = now + LASTS * 1000;
    let (token, hash) = (login.shown(), hash_of(&secret));
    let logged_in = site.store.log_in(contest, person, token, &hash, now, until);
    match logged_in.await? {
        true => Ok(set_cookie(&secret, LASTS, caller.is_tls)),
        false => Err(unknown_token()),
    }
}

/// Logs a browser out: the cookie that takes the other one away.
pub(super) async fn log_out(
    site: &Site,
    headers: &HeaderMap,
    caller: &Caller,
) -> Result<HeaderValue, PageError> {
    if let Some(secret) = cookie(headers, cookie_name(caller.is_tls)) {
        site.store.log_out(&hash_of(secret)).await?;
    }
    Ok(set_cookie("", 0, caller.is_tls))
}

/// A cookie whose name begins so is one that this host alone has set, over TLS.
const fn cookie_name(is_tls: bool) -> &'static str {
    match is_tls {
        true => "__Host-arena-login",
        false => "arena-login",
    }
}

fn set_cookie(secret: &str, lasts: i64, is_tls: bool) -> HeaderValue {
    let name = cookie_name(is_tls);
    let secure = if is_tls { "; Secure" } else { "" };
    let text =
        format!("{name}={secret}; Path=/; Max-Age={lasts}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).expect("names, words and digits")
}

fn hash_of(secret: &str) -> String {
    hex::encode(Sha256::digest(secret))
}

/// The token in the header of a request. What a proxy before us asks for is of another scheme.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let scheme = value.get(..SCHEME.len())?;
    scheme
        .eq_ignore_ascii_case(SCHEME)
        .then(|| &value[SCHEME.len()..])
}
