//! The style and the script of all pages. Their addresses have a hash, so that browsers keep them.

use std::sync::LazyLock;

use axum::{
    Router,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
};
use sha2::{Digest as _, Sha256};

/// The script, which exports need too.
pub(crate) const SCRIPT: &str = include_str!("fixed/page.js");
const PAGE_CSS: &str = include_str!("fixed/page.css");

/// The style of pages and of the pictures on them.
pub(crate) static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{PAGE_CSS}\n{}", arena_draw::CSS));

/// The paths of style and script, from the site's root.
pub(crate) static STYLE_AT: LazyLock<String> = LazyLock::new(|| at("style", &STYLE, "css"));
pub(crate) static SCRIPT_AT: LazyLock<String> = LazyLock::new(|| at("script", SCRIPT, "js"));

fn at(name: &str, content: &str, ending: &str) -> String {
    let hash = hex::encode(Sha256::digest(content));
    format!("{name}-{}.{ending}", &hash[..12])
}

/// The routes to them, in a site of any state.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    const FOREVER: &str = "public, max-age=31536000, immutable";
    let fixed = |kind: &'static str, content: &'static str| {
        move || async move {
            ([(CONTENT_TYPE, kind), (CACHE_CONTROL, FOREVER)], content).into_response()
        }
    };
    Router::new()
        .route(
            &format!("/{}", *STYLE_AT),
            get(fixed("text/css; charset=utf-8", &STYLE)),
        )
        .route(
            &format!("/{}", *SCRIPT_AT),
            get(fixed("text/javascript; charset=utf-8", SCRIPT)),
        )
        .route("/favicon.ico", get(fixed("image/svg+xml", ICON)))
}

/// Three discs and an empty place.
const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#1d4ed8"/><circle cx="10" cy="10" r="5" fill="#facc15"/><circle cx="22" cy="22" r="5" fill="#facc15"/><circle cx="22" cy="10" r="5" fill="#ef4444"/><circle cx="10" cy="22" r="5" fill="#1e3a8a"/></svg>"##;
