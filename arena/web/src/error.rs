//! Reasons why a page can't be shown, in words for the person who asked for it.

use arena_store::StoreError;
use arena_tournament::TournamentError;
use axum::{
    Json,
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use referee_core::{Language, Words};
use serde_json::json;

use crate::caller::Caller;

/// Reason why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The request makes no sense; the text says what was expected.
    #[error("{}", .0.english)]
    Bad(Words),
    /// It is not done, with this status, and why.
    #[error("{}", .1.english)]
    Refused(StatusCode, Words),
    /// It may not be seen or done.
    #[error("{0}")]
    Forbidden(String),
    /// The game has gone on meanwhile.
    #[error("{0}")]
    Conflict(String),
    /// There is no room for more.
    #[error("{}", .0.words(Language::En))]
    Full(Full),
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The results can't be read.
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    /// Our own failure.
    #[error("{what}: {why}")]
    System {
        /// The thing that can't be done.
        what: &'static str,
        /// The reason why not.
        why: String,
    },
}

/// The thing that there is no room for. Whoever asks again later may find some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// Games of people, of all clients.
    Games,
    /// Games of one browser.
    GamesOfBrowser,
    /// Games of one client.
    GamesOfClient,
    /// Hints and evaluations, of all clients.
    Work,
    /// Hints and evaluations of one client.
    WorkOfClient,
    /// Pages that are followed, by all clients.
    Followers,
    /// Pages that one client follows.
    FollowersOfClient,
    /// Entries that are being handed in.
    Uploads,
    /// Entries that one person is handing in.
    UploadsOfPerson,
    /// Wrong tokens of one client.
    WrongTokens,
}

impl Full {
    /// True if the client has as much as one may, rather than all together.
    const fn is_of_client(self) -> bool {
        match self {
            Self::Games | Self::Work | Self::Followers | Self::Uploads => false,
            Self::GamesOfBrowser
            | Self::GamesOfClient
            | Self::WorkOfClient
            | Self::FollowersOfClient
            | Self::UploadsOfPerson
            | Self::WrongTokens => true,
        }
    }

    pub(crate) const fn status(self) -> StatusCode {
        match self.is_of_client() {
            true => StatusCode::TOO_MANY_REQUESTS,
            false => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The advice for a person: what to do.
    pub(crate) const fn words(self, language: Language) -> &'static str {
        match self {
            Self::Games => language.pick(
                "so many games are being played here that there is no room for another one; try \
                 again later",
                "这里正在进行的对局太多，已没有空位；请稍后再试",
            ),
            Self::GamesOfBrowser => language.pick(
                "you play as many games as one browser may; finish or resign one first",
                "你同时进行的对局已达上限；请先结束或认输一局",
            ),
            Self::GamesOfClient => language.pick(
                "as many games as there may be were begun from your address; finish or resign one \
                 first, or try again in ten minutes",
                "从你的地址开始的对局已达上限；请先结束或认输一局，或十分钟后再试",
            ),
            Self::Work => language.pick(
                "so many hints and evaluations are asked for that there was no time for this one; \
                 try again later",
                "请求提示和评估的人太多，没能轮到这一项；请稍后再试",
            ),
            Self::WorkOfClient => language.pick(
                "your last hints and evaluations are still being thought about; wait for them first",
                "你之前请求的提示和评估还在计算；请先等它们完成",
            ),
            Self::Followers => language.pick(
                "so many pages are followed here that this one is not; load it again to see more",
                "这里实时查看的人太多，本页不会自动更新；请重新加载",
            ),
            Self::FollowersOfClient => language.pick(
                "so many pages are followed from your address that this one is not; close one, or \
                 load it again to see more",
                "从你的地址实时查看的页面太多，本页不会自动更新；请关闭一个，或重新加载",
            ),
            Self::Uploads => language.pick(
                "so many entries are being handed in that there is no room for this one; try again \
                 in a moment",
                "正在提交的人太多；请稍后再试",
            ),
            Self::UploadsOfPerson => language.pick(
                "you are handing in another entry just now; wait for it first",
                "你正在提交另一个程序；请先等它完成",
            ),
            Self::WrongTokens => language.pick(
                "too many wrong tokens came from your address; try again in a minute",
                "从你的地址发来的错误令牌太多；请一分钟后再试",
            ),
        }
    }

    /// The header that says when to ask again.
    pub(crate) const fn retry_after() -> (HeaderName, HeaderValue) {
        (RETRY_AFTER, HeaderValue::from_static("15"))
    }
}

impl From<Full> for PageError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

impl PageError {
    #[expect(clippy::needless_pass_by_value, reason = "errors come by value")]
    pub(crate) fn system(what: &'static str, why: impl ToString) -> Self {
        Self::System {
            what,
            why: why.to_string(),
        }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Refused(status, _) => *status,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Full(full) => full.status(),
            Self::Store(_) | Self::Tournament(_) | Self::System { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// The message for the caller. Our own failures may have paths and addresses in them, which are
    /// for the operator.
    pub(crate) fn told(&self, language: Language) -> String {
        if let Self::Full(full) = self {
            return full.words(language).to_owned();
        }
        if self.status() == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "a page could not be made");
            return language
                .pick(
                    "the arena could not read what was asked for; its log says why",
                    "服务器无法读取所请求的内容，原因见服务器日志",
                )
                .to_owned();
        }
        match (self, language) {
            (Self::Bad(words) | Self::Refused(_, words), _) => words.get(language).to_owned(),
            (_, Language::En) => self.to_string(),
            (Self::Forbidden(_), _) => "现在不能查看这些内容，或不能这样做。".to_owned(),
            (Self::Conflict(_), _) => "座位已满。".to_owned(),
            _ => "没有所请求的页面、比赛或对局。".to_owned(),
        }
    }

    /// As JSON for a path of the API, as a page for another one.
    pub(crate) fn answer(&self, caller: &Caller) -> Response {
        match caller.path.starts_with("/api/") {
            true => self.json(),
            false => self.page(caller),
        }
    }

    fn json(&self) -> Response {
        let told = self.told(Language::En);
        let mut response = Json(json!({ "error": told })).into_response();
        self.mark(&mut response);
        response
    }

    /// Says in the head of an answer what it is.
    pub(crate) fn mark(&self, response: &mut Response) {
        *response.status_mut() = self.status();
        if let Self::Full(_) = self {
            let (name, value) = Full::retry_after();
            response.headers_mut().insert(name, value);
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
    }
}

impl IntoResponse for PageError {
    /// The error as JSON.
    fn into_response(self) -> Response {
        self.json()
    }
}
