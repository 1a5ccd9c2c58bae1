//! Who calls, and what of a contest they may see.

use std::{collections::BTreeMap, sync::Arc};

use arena_contest::{ContestRules, EntryDetails, Phase, RoundGame, Standing, Viewer, viewer};
use arena_store::{Contest, ContestId, DetailsOf, Entry, Person, Store, StoreError};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, StatusCode, header::AUTHORIZATION, request::Parts},
    response::Response,
};
use referee_core::{Words, printable, shorten};
use referee_net::Token;
use sha2::{Digest as _, Sha256};

use super::ROUNDS_KEPT;
use crate::{
    caller::{Caller, cookie, random_bytes},
    client::ProxiedUser,
    error::PageError,
    site::Site,
};

/// The time for which a browser stays logged in, in seconds.
const LASTS: i64 = 14 * 24 * 3600;
const SCHEME: &str = "Bearer ";

/// How somebody has said who they are.
#[derive(Clone, Debug)]
enum LoginMeans {
    /// By a token, of which this is the SHA-256.
    Token(String),
    /// By a cookie that a token was exchanged for; of it too.
    Cookie(String),
    /// A proxy of ours has asked them: the external id.
    Proxy(String),
}

impl LoginMeans {
    /// Whom it stands for: a person of one contest, or, where a proxy says so, of several.
    async fn find(
        &self,
        store: &Store,
        now_unix_ms: i64,
    ) -> Result<Vec<(ContestId, Person)>, StoreError> {
        let one = match self {
            Self::Token(hash) => store.person_of_token(hash).await?,
            Self::Cookie(hash) => store.person_of_login(hash, now_unix_ms).await?,
            Self::Proxy(id) => return store.people_of_external_id(id).await,
        };
        Ok(one.into_iter().collect())
    }
}

/// The caller of a contest's page, logged in or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Visitor {
    means: Option<LoginMeans>,
    people: Vec<(ContestId, Person)>,
}

impl Visitor {
    /// Whoever shows a token is the person of this token, or nobody is let in. Otherwise it is the one
    /// whom the proxy has asked, where it is one of a contest; and then whoever has a cookie, where that
    /// is still valid.
    pub(super) async fn of(site: &Site, parts: &Parts, caller: &Caller) -> Result<Self, PageError> {
        let headers = &parts.headers;
        if let Some(token) = bearer(headers) {
            let Login {
                contest,
                person,
                hash,
            } = of_token(site, token, caller).await?;
            return Ok(Self {
                means: Some(LoginMeans::Token(hash)),
                people: vec![(contest, person)],
            });
        }
        let proxied = parts.extensions.get::<ProxiedUser>();
        let by_proxy = proxied.map(|ProxiedUser(id)| LoginMeans::Proxy(id.clone()));
        let secret = cookie(headers, cookie_name(caller.is_tls));
        let secret = secret.filter(|secret| secret.len() == 64);
        let by_cookie = secret.map(|secret| LoginMeans::Cookie(hash_of(secret)));
        for means in [by_proxy.clone(), by_cookie].into_iter().flatten() {
            let visitor = Self::by(means, site).await?;
            if !visitor.people.is_empty() {
                return Ok(visitor);
            }
        }
        Ok(Self {
            means: by_proxy,
            people: Vec::new(),
        })
    }

    async fn by(means: LoginMeans, site: &Site) -> Result<Self, PageError> {
        let now = site.contests()?.clock.unix_ms();
        Ok(Self {
            people: means.find(&site.store, now).await?,
            means: Some(means),
        })
    }

    /// The same visitor, as far as what they have shown is still valid.
    pub(super) async fn again(&self, site: &Site) -> Result<Self, PageError> {
        match self.means.clone() {
            Some(means) => Self::by(means, site).await,
            None => Ok(Self::default()),
        }
    }

    /// A hash of what was shown. Others, and other ways to log in, have another one.
    pub(super) fn shown(&self) -> String {
        match &self.means {
            Some(LoginMeans::Token(hash) | LoginMeans::Cookie(hash)) => hash.clone(),
            Some(LoginMeans::Proxy(id)) => hash_of(id),
            None => String::new(),
        }
    }

    /// True if they can log out here.
    fn can_log_out(&self) -> bool {
        matches!(self.means, Some(LoginMeans::Cookie(_)))
    }

    /// Somebody who has to be logged in: a person of some contest.
    pub(super) fn logged_in(&self) -> Result<&(ContestId, Person), PageError> {
        let words = || match &self.means {
            Some(LoginMeans::Proxy(id)) => {
                let id = printable(id);
                Words::new(
                    format!("you are logged in as {id}, who is in no contest here"),
                    format!("你以 {id} 的身份登录，但没有参加这里的竞赛"),
                )
            }
            _ => Words::new(
                "log in first: on the page, or with the header \"Authorization: Bearer TOKEN\"",
                "请先登录",
            ),
        };
        let first = self.people.first();
        first.ok_or_else(|| PageError::Refused(StatusCode::UNAUTHORIZED, words()))
    }

    /// The person of a contest that they are.
    fn person_of(&self, contest: &Contest) -> Option<&Person> {
        let mut people = self.people.iter();
        let found = people.find(|(of, _)| *of == contest.id);
        found.map(|(_, person)| person)
    }

    /// True if they may see a contest.
    pub(super) fn may_see(&self, contest: &Contest) -> bool {
        contest.published_unix_ms.is_some() || self.person_of(contest).is_some()
    }

    /// A contest that they may see. One that they may not see is not there.
    pub(super) async fn enter(&self, site: &Site, name: &str) -> Result<SeenContest, PageError> {
        let contest = site.store.contest(name).await?;
        let Some(contest) = contest.filter(|contest| self.may_see(contest)) else {
            let name = shorten(name, 60);
            return Err(PageError::NotFound(format!(
                "there is no contest \"{name}\", or you have to log in to see it"
            )));
        };
        SeenContest::of(site, contest, self)
    }

    /// The same with all that belongs to it.
    pub(super) async fn visit(&self, site: &Site, name: &str) -> Result<Visit, PageError> {
        let SeenContest {
            contest, person, ..
        } = self.enter(site, name).await?;
        let standing = site.contests()?.recent(&site.store, contest).await?;
        Ok(Visit {
            standing,
            viewer: viewer(person.as_ref()),
            person,
            can_log_out: self.can_log_out(),
        })
    }
}

impl FromRequestParts<Arc<Site>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let caller = Caller::of(parts);
        let visitor = Self::of(site, parts, &caller).await;
        visitor.map_err(|error| error.answer(&caller))
    }
}

/// A contest, and the one who looks at it.
pub(super) struct SeenContest {
    pub(super) contest: Contest,
    pub(super) rules: ContestRules,
    pub(super) phase: Phase,
    /// None where they do not belong to it.
    pub(super) person: Option<Person>,
}

impl SeenContest {
    /// A contest that a visitor may see.
    pub(super) fn of(site: &Site, contest: Contest, by: &Visitor) -> Result<Self, PageError> {
        let rules = ContestRules::of(&contest)?;
        let is_published = contest.published_unix_ms.is_some();
        Ok(Self {
            phase: rules.phase(site.contests()?.clock.unix_ms(), is_published),
            person: by.person_of(&contest).cloned(),
            rules,
            contest,
        })
    }

    /// The contestant who looks.
    pub(super) fn contestant(&self) -> Result<&Person, PageError> {
        contestant(self.person.as_ref())
    }
}

/// A person who is a contestant.
fn contestant(person: Option<&Person>) -> Result<&Person, PageError> {
    match viewer(person) {
        Viewer::Contestant(_) => Ok(person.expect("a contestant is a person")),
        Viewer::Organiser | Viewer::Other => Err(forbidden("only contestants have entries")),
    }
}

/// A contest with all that belongs to it, and the one who looks at it.
pub(super) struct Visit {
    pub(super) standing: Arc<Standing>,
    /// None where they do not belong to it.
    pub(super) person: Option<Person>,
    pub(super) viewer: Viewer,
    /// True if they have logged in here, and not before.
    pub(super) can_log_out: bool,
}

impl Visit {
    /// The contestant who looks.
    pub(super) fn contestant(&self) -> Result<&Person, PageError> {
        contestant(self.person.as_ref())
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

    /// The games of one of these in rounds of the league and in the final, as far as they may see them.
    pub(super) async fn rounds(
        &self,
        site: &Site,
        entry: &Entry,
    ) -> Result<Vec<RoundGame>, PageError> {
        let (standing, viewer) = (&self.standing, self.viewer);
        let kept = &site.contests()?.rounds;
        let is_organiser = viewer == Viewer::Organiser;
        let key = (standing.contest.id, entry.number, is_organiser);
        let found = kept.lock().get(&key).cloned();
        let found = found.filter(|found| found.is_newest(standing, viewer));
        let rounds = match found {
            Some(found) => found,
            None => {
                let read = Arc::new(standing.rounds(&site.store, entry, viewer).await?);
                let mut kept = kept.lock();
                if kept.len() >= ROUNDS_KEPT {
                    kept.clear();
                }
                kept.insert(key, read.clone());
                read
            }
        };
        Ok(standing.told_rounds(&rounds, viewer))
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

/// Somebody who has shown a token.
pub(super) struct Login {
    pub(super) contest: ContestId,
    person: Person,
    /// The SHA-256 of the token.
    hash: String,
}

/// The person of a token that somebody has sent. Wrong ones let their client wait, who may still show
/// the right one: others may have the same address.
pub(super) async fn of_token(site: &Site, text: &str, caller: &Caller) -> Result<Login, PageError> {
    if let Ok(token) = text.trim().parse::<Token>() {
        let hash = token.hash().to_string();
        if let Some((contest, person)) = site.store.person_of_token(&hash).await? {
            return Ok(Login {
                contest,
                person,
                hash,
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
    let hash = hash_of(&secret);
    let logged_in = site
        .store
        .log_in(contest, person, &login.hash, &hash, now, until);
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
