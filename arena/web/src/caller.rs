//! The caller of a page: their language, their theme, and their browser.

use std::{convert::Infallible, fmt};

use axum::{
    extract::{FromRequestParts, OriginalUri},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, COOKIE, ETAG, IF_NONE_MATCH, SET_COOKIE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    client::Client,
    error::PageError,
    language::{self, Language},
};

const LANGUAGE: &str = "arena-language";
const THEME: &str = "arena-theme";
const BROWSER: &str = "arena-browser";
/// Cookies last a year, in seconds.
const YEAR: u32 = 365 * 24 * 3600;

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system is set.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.word() == word)
    }
}

/// A browser in which somebody plays. Whoever knows it may move in its games.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Browser(String);

impl Browser {
    /// What stands for it where it must not be known.
    pub(crate) fn hash(&self) -> String {
        hex::encode(Sha256::digest(&self.0))
    }
}

impl fmt::Debug for Browser {
    /// Not the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Browser")
    }
}

/// Where a request comes from and to, as the guard has found it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) client: Client,
    /// True if it came over TLS to a proxy of ours.
    pub(crate) is_tls: bool,
    /// True if this arena shows contests.
    pub(crate) has_contests: bool,
}

/// The caller of a page.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) language: Language,
    pub(crate) theme: Theme,
    pub(crate) browser: Option<Browser>,
    /// From where.
    pub(crate) client: Client,
    /// True if it is over TLS.
    pub(crate) is_tls: bool,
    /// True if this arena shows contests.
    pub(crate) has_contests: bool,
    /// The path that they ask for, to come back to it.
    pub(crate) path: String,
    /// True if they want data and neither a page nor a stream.
    pub(crate) accepts_json: bool,
    /// The tags of the answers that they have already.
    known: Option<String>,
}

impl Caller {
    pub(crate) fn of(parts: &Parts) -> Self {
        let headers = &parts.headers;
        let language = cookie(headers, LANGUAGE).and_then(Language::of_code);
        // Routes within others see the rest of their path only.
        let original = parts.extensions.get::<OriginalUri>();
        let uri = original.map_or(&parts.uri, |original| &original.0);
        let path = uri.path_and_query();
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let arrival = parts.extensions.get::<Arrival>();
        Self {
            client: arrival.map_or(Client::HERE, |arrival| arrival.client),
            is_tls: arrival.is_some_and(|arrival| arrival.is_tls),
            has_contests: arrival.is_some_and(|arrival| arrival.has_contests),
            language: language.unwrap_or_else(|| language::of_headers(headers)),
            theme: (cookie(headers, THEME).and_then(Theme::of_word)).unwrap_or_default(),
            browser: cookie(headers, BROWSER)
                .filter(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()))
                .map(|id| Browser(id.to_owned())),
            path: path.map_or("/", |path| path.as_str()).to_owned(),
            accepts_json: text(ACCEPT)
                .is_some_and(|accepts| accepts.starts_with("application/json")),
            known: text(IF_NONE_MATCH).map(str::to_owned),
        }
    }

    /// An answer with this tag, so that a caller who has it is not sent it again.
    pub(crate) fn tagged<A: IntoResponse>(
        &self,
        tag: &str,
        answer: impl FnOnce() -> A,
    ) -> Response {
        let head = [(ETAG, HeaderValue::from_str(tag).expect("tags are ASCII"))];
        // A proxy that compresses the answer has made its tag a weak one.
        let is = |one: &str| one.trim().trim_start_matches("W/") == tag;
        match self
            .known
            .as_deref()
            .is_some_and(|known| known.split(',').any(is))
        {
            true => (StatusCode::NOT_MODIFIED, head).into_response(),
            false => (head, answer()).into_response(),
        }
    }

    /// The browser, which is given a name where it has none; and the cookie that says it.
    pub(crate) fn named(&self) -> Result<(Browser, Option<HeaderValue>), PageError> {
        if let Some(browser) = &self.browser {
            return Ok((browser.clone(), None));
        }
        let id = random_id()?;
        let cookie = set_cookie(BROWSER, &id, "; HttpOnly");
        Ok((Browser(id), Some(cookie)))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], PageError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| PageError::system("no random numbers", error))?;
    Ok(bytes)
}

/// 128 bits that nobody can guess, in hexadecimal digits.
pub(crate) fn random_id() -> Result<String, PageError> {
    Ok(hex::encode(random_bytes::<16>()?))
}

/// The cookies that keep a language or a theme.
pub(crate) fn preferences(
    language: Option<Language>,
    theme: Option<Theme>,
) -> Vec<(axum::http::HeaderName, HeaderValue)> {
    let language = language.map(|language| set_cookie(LANGUAGE, language.code(), ""));
    let theme = theme.map(|theme| set_cookie(THEME, theme.word(), ""));
    let cookies = language.into_iter().chain(theme);
    cookies.map(|cookie| (SET_COOKIE, cookie)).collect()
}

fn set_cookie(name: &str, value: &str, more: &str) -> HeaderValue {
    let text = format!("{name}={value}; Path=/; Max-Age={YEAR}; SameSite=Strict{more}");
    HeaderValue::from_str(&text).expect("names, words and digits")
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).iter();
    all.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
