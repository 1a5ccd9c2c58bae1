//! The parts that all pages have around them.

use axum::{
    http::StatusCode,
    response::{Html, IntoResponse as _, Redirect, Response},
};
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    assets::{SCRIPT_AT, STYLE_AT},
    caller::{Caller, Theme},
    error::PageError,
    frame::Frame,
    language::Language,
};

/// A part of a path: all but these are encoded.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A text as a part of an address.
pub(crate) fn part(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// A page.
pub(crate) fn page(caller: &Caller, title: &str, body: &Markup) -> Response {
    Html(whole(caller, title, None, body).into_string()).into_response()
}

/// A page of which something changes: what, is heard at this address.
pub(crate) fn live_page(caller: &Caller, title: &str, events: &str, body: &Markup) -> Response {
    Html(whole(caller, title, Some(events), body).into_string()).into_response()
}

/// The site's root as seen from a path of it. No page knows the whole of its own address: a proxy may
/// serve the site below another path.
fn root(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    match path.matches('/').count() {
        0 | 1 => "./".to_owned(),
        slashes => "../".repeat(slashes - 1),
    }
}

/// Sends the browser to a path of this site, or to the front page where the path may lead to
/// another one. No page redirects in another way.
pub(crate) fn redirect(caller: &Caller, path: &str) -> Redirect {
    let path = if is_own_path(path) { &path[1..] } else { "" };
    Redirect::to(&format!("{}{path}", root(&caller.path)))
}

/// True if this begins with one slash, so that it can't name a host, and has only what stands in an
/// address as it is: browsers read a backslash as a slash, and leave tabs and line ends out.
fn is_own_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && (path.bytes()).all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

impl PageError {
    /// As a page.
    pub(crate) fn page(&self, caller: &Caller) -> Response {
        let language = caller.language;
        let title = match self.status() {
            StatusCode::NOT_FOUND => language.pick("Not found", "未找到"),
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
                language.pick("Not allowed", "不允许")
            }
            StatusCode::INTERNAL_SERVER_ERROR => language.pick("Our failure", "服务器出错"),
            _ => language.pick("Not possible", "无法完成"),
        };
        let body = html! {
            h1 { (title) }
            p { (self.told(language)) }
            p { a href="./" { (language.pick("To the front page", "回到首页")) } }
        };
        let mut response = page(caller, title, &body);
        self.mark(&mut response);
        response
    }
}

/// The element of a block as a page begins with it.
pub(crate) fn block(frame: &Frame, id: &str) -> Markup {
    let block = frame.blocks.iter().find(|block| block.id == id);
    html! {
        div id=(id) {
            @if let Some(block) = block { (maud::PreEscaped(&*block.html)) }
        }
    }
}

fn whole(caller: &Caller, title: &str, events: Option<&str>, body: &Markup) -> Markup {
    let language = caller.language;
    html! {
        (DOCTYPE)
        html lang=(language.code()) data-theme=(caller.theme.word()) {
            head {
                meta charset="utf-8";
                // All addresses on a page start here.
                base href=(root(&caller.path));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Bot Arena" }
                link rel="stylesheet" href=(*STYLE_AT);
                link rel="icon" href="favicon.ico" type="image/svg+xml";
                script src=(*SCRIPT_AT) defer {}
            }
            body data-events=[events] {
                a.skip href=(format!(".{}#main", caller.path)) { (language.pick("Skip to the content", "跳到正文")) }
                header.top {
                    a.brand href="./" { "Bot Arena" }
                    nav aria-label=(language.pick("Main", "主导航")) {
                        a href="./" { (language.pick("Now", "现在")) }
                        a href="tournaments" { (language.pick("Tournaments", "比赛")) }
                        @if caller.has_contests {
                            a href="contests" { (language.pick("Contests", "竞赛")) }
                        }
                        a href="play" { (language.pick("Play", "对局")) }
                        a href="api/v1/" { "API" }
                    }
                    (preferences(caller))
                }
                main #main tabindex="-1" { (body) }
                p #lost.lost role="status" hidden {
                    (language.pick(
                        "The connection is lost; it is tried again.",
                        "连接已断开，正在重试。",
                    ))
                }
                div #said.spoken aria-live="polite" {}
            }
        }
    }
}

/// Language and theme.
fn preferences(caller: &Caller) -> Markup {
    let language = caller.language;
    let theme_word = |theme: Theme| match theme {
        Theme::System => language.pick("As the system", "跟随系统"),
        Theme::Light => language.pick("Light", "浅色"),
        Theme::Dark => language.pick("Dark", "深色"),
    };
    html! {
        form.preferences method="post" action="settings" {
            input type="hidden" name="back" value=(caller.path);
            label {
                span.spoken { (language.pick("Theme", "主题")) }
                select name="theme" data-submits {
                    @for theme in Theme::ALL {
                        option value=(theme.word()) selected[theme == caller.theme] {
                            (theme_word(theme))
                        }
                    }
                }
            }
            label {
                span.spoken { (language.pick("Language", "语言")) }
                select name="language" data-submits {
                    @for (one, name) in [(Language::En, "English"), (Language::Zh, "中文")] {
                        option value=(one.code()) lang=(one.code()) selected[one == language] { (name) }
                    }
                }
            }
            button.apply type="submit" { (language.pick("Apply", "应用")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_the_root() {
        for (path, to) in [
            ("/", "./"),
            ("/play?game=a/b", "./"),
            ("/t/spring", "../"),
            ("/api/v1/", "../../"),
            ("/t/spring/games/0.0?ply=1", "../../../"),
            ("//x", "../"),
            ("*", "./"),
        ] {
            assert_eq!(root(path), to, "{path}");
        }
    }

    #[test]
    fn nobody_is_sent_to_another_site() {
        for own in ["/", "/t/spring?x=1", "/t/%E6%98%A5/games/1.0#moves"] {
            assert!(is_own_path(own), "{own}");
        }
        for other in [
            "",
            "t/spring",
            "https://evil.example",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "/t\\..\\evil",
            // Browsers leave these out and see two slashes.
            "/\t/evil.example",
            "/\n/evil.example",
            "/\r\n/evil.example",
            "\t//evil.example",
            "/a\u{0}b",
            "/a\u{7f}b",
            "/a b",
            "/春",
        ] {
            assert!(!is_own_path(other), "{other:?}");
        }
    }
}
