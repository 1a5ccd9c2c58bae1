//! Why a page can't be shown, in words for the person who asked for it.

use arena_store::StoreError;
use arena_tournament::TournamentError;
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use maud::html;
use serde_json::json;

use crate::{caller::Caller, layout};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// What was asked for makes no sense; it says what was expected.
    #[error("{0}")]
    Bad(String),
    /// It may not be seen or done.
    #[error("{0}")]
    Forbidden(String),
    /// The game has gone on meanwhile.
    #[error("{0}")]
    Conflict(String),
    /// There is no room for more.
    #[error("{0}")]
    Busy(String),
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The results can't be read.
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    /// Our own failure.
    #[error("{what}: {why}")]
    System {
        /// What can't be done.
        what: &'static str,
        /// Why not.
        why: String,
    },
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
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(_) | Self::Tournament(_) | Self::System { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// What the caller is told. Our own failures may have paths and addresses in them, which are
    /// for the operator.
    fn told(&self) -> String {
        if self.status() == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "a page could not be made");
            return "the arena could not read what was asked for; its log says why".to_owned();
        }
        self.to_string()
    }

    /// As a page.
    pub(crate) fn page(&self, caller: &Caller) -> Response {
        let language = caller.language;
        let title = match self.status() {
            StatusCode::NOT_FOUND => language.pick("Not found", "未找到"),
            StatusCode::FORBIDDEN => language.pick("Not allowed", "不允许"),
            StatusCode::INTERNAL_SERVER_ERROR => language.pick("Our failure", "服务器出错"),
            _ => language.pick("Not possible", "无法完成"),
        };
        let body = html! {
            h1 { (title) }
            p { (self.told()) }
            p { a href="/" { (language.pick("To the front page", "回到首页")) } }
        };
        let mut response = layout::page(caller, title, &body);
        *response.status_mut() = self.status();
        response
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Response {
        (self.status(), Json(json!({ "error": self.told() }))).into_response()
    }
}
