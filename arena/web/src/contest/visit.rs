//! Who calls, and what of a contest they may see.

use std::{collections::BTreeMap, sync::Arc};

use arena_contest::{ContestRules, EntryDetails, Phase, Standing, Viewer, viewer};
use arena_store::{Contest, ContestId, DetailsOf, Entry, Person, Store, StoreError};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, StatusCode, header::AUTHORIZATION, request::Parts},
    response::Response,
};
use referee_core::Words;
use referee_net::Token;
use sha2::{Digest as _, Sha256};

use crate::{
    caller::{Caller, cookie, random_bytes},
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

    /// The same person, if what was shown is still valid.
    pub(super) async fn again(&self, site: &Site) -> Result<Visitor, PageError> {
        let now = site.contests()?.clock.unix_ms();
        let found = self.means.find(&site.store, now).await?;
        Ok(Visitor::logged_in(found, &self.means))
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
    fn logged_in(found: Option<(ContestId, Person)>, means: &LoginMeans) -> Self {
        Self(found.map(|(contest, person)| Login {
            contest,
            person,
            means: means.clone(),
        }))
    }

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
        Ok(Self::logged_in(found, &means))
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

    /// The login of one who belongs to a contest.
    fn login_to(&self, contest: &Contest) -> Option<&Login> {
        let login = self.0.as_ref();
        login.filter(|login| login.contest == contest.id)
    }

    /// True if they may see a contest.
    pub(super) fn may_see(&self, contest: &Contest) -> bool {
        contest.published_unix_ms.is_some() || self.login_to(contest).is_some()
    }

    /// A contest that they may see. One that they may not see is not there.
    pub(super) async fn enter(&self, site: &Site, name: &str) -> Result<SeenContest, PageError> {
        let contest = site.store.contest(name).await?;
        let Some(contest) = contest.filter(|contest| self.may_see(contest)) else {
            let name = referee_core::shorten(name, 60);
            return Err(PageError::NotFound(format!(
                "there is no contest \"{name}\", or you have to log in to see it"
            )));
        };
        SeenContest::of(site, contest, self)
    }

    /// The same with all that belongs to it.
    pub(super) async fn visit(&self, site: &Site, name: &str) -> Result<Visit, PageError> {
        let SeenContest { contest, login, .. } = self.enter(site, name).await?;
        let standing = site.contests()?.recent(&site.store, contest).await?;
        Ok(Visit::new(standing, login))
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
pub(super) struct SeenContest {
    pub(super) contest: Contest,
    pub(super) rules: ContestRules,
    pub(super) phase: Phase,
    /// None where they do not belong to it.
    pub(super) login: Option<Login>,
}

impl SeenContest {
    /// A contest that a visitor may see.
    pub(super) fn of(site: &Site, contest: Contest, by: &Visitor) -> Result<Self, PageError> {
        let rules = ContestRules::of(&contest)?;
        let is_published = contest.published_unix_ms.is_some();
        Ok(Self {
            phase: rules.phase(site.contests()?.clock.unix_ms(), is_published),
            login: by.login_to(&contest).cloned(),
            rules,
            contest,
        })
    }

    /// The contestant who looks.
    pub(super) fn contestant(&self) -> Result<&Person, PageError> {
        contestant(self.login.as_ref())
    }
}

/// The contestant who is logged in.
fn contestant(login: Option<&Login>) -> Result<&Person, PageError> {
    let person = login.map(|login| &login.person);
    match viewer(person) {
        Viewer::Contestant(_) => Ok(person.expect("a contestant is a person")),
        Viewer::Organiser | Viewer::Other => Err(forbidden("only contestants have entries")),
    }
}

/// A contest with all that belongs to it, and the one who looks at it.
pub(super) struct Visit {
    pub(super) standing: Arc<Standing>,
    /// None where they do not belong to it.
    login: Option<Login>,
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

    /// The contestant who looks.
    pub(super) fn contestant(&self) -> Result<&Person, PageError> {
        contestant(self.login.as_ref())
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
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + Clone {
        let entries = self.standing.entries.iter();
        entries.filter(|entry| self.viewer.sees(entry))
    }

    /// One of these.
    pub(super) fn entry(&self, number: u64) -> Result<&Entry, PageError> {
        let found = self.entries().find(|entry| entry.number == number);
        found.ok_or_else(|| {
            PageError::NotFound(format!("there is no entry {number}, or it is not yours"))
        })
    }

    /// All that was said of one of these, as far as they may see it.
    pub(super) async fn details(
        &self,
        site: &Site,
        number: u64,
    ) -> Result<EntryDetails, PageError> {
        let of = DetailsOf::Entry(number);
        let mut details = self.standing.details(&site.store, of, self.viewer).await?;
        Ok(details.remove(&number).unwrap_or_default())
    }

    /// The same of all of these, by their numbers.
    pub(super) async fn all_details(
        &self,
        site: &Site,
    ) -> Result<BTreeMap<u64, EntryDetails>, PageError> {
        let of = match self.viewer {
            Viewer::Organiser => DetailsOf::All,
            Viewer::Contestant(number) => DetailsOf::Contestant(number),
            Viewer::Other => return Ok(BTreeMap::new()),
        };
        Ok(self.standing.details(&site.store, of, self.viewer).await?)
    }
}

fn forbidden(why: &str) -> PageError {
    PageError::Forbidden(why.to_owned())
}

/// The person of a token that somebody has sent. Wrong ones let their client wait, who may still show
/// the right one: others may have the same address.
pub(super) async fn of_token(site: &Site, text: &str, caller: &Caller) -> Result<Login, PageError> {
    if let Ok(token) = text.trim().parse::<Token>() {
        let means = LoginMeans::Token(token.hash().to_string());
        if let Some((contest, person)) = means.find(&site.store, 0).await? {
            return Ok(Login {
                contest,
                person,
                means,
            });
        }
    }
    // What is wrong with it, nobody is told.
    site.contests()?.wrong_tokens.count(caller.client)?;
    Err(unknown_token())
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
    let secret = hex::encode(random_bytes::<32>()?);
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
