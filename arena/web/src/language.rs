//! The language that people are spoken to in.

use axum::http::{HeaderMap, header::ACCEPT_LANGUAGE};
use referee_core::GameInfo;

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Its code, as in `lang` of HTML.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    pub(crate) fn of_code(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::En),
            "zh" => Some(Self::Zh),
            _ => None,
        }
    }

    /// The one that a browser asks for.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Self {
        let accepted = headers.get(ACCEPT_LANGUAGE);
        let accepted = accepted.and_then(|value| value.to_str().ok());
        let mut found: Option<(f32, Self)> = None;
        for part in accepted.unwrap_or_default().split(',') {
            let (tag, weight) = part.split_once(";q=").unwrap_or((part, "1"));
            let weight = weight.trim().parse().unwrap_or(0.0);
            let primary = tag.trim().split('-').next().unwrap_or_default();
            let language = Self::of_code(&primary.to_ascii_lowercase());
            if let Some(language) = language
                && weight > 0.0
                && found.is_none_or(|(best, _)| weight > best)
            {
                found = Some((weight, language));
            }
        }
        found.map_or(Self::En, |(_, language)| language)
    }

    /// The text in this language.
    pub(crate) const fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::En => english,
            Self::Zh => chinese,
        }
    }

    /// Why a game ended.
    pub(crate) fn reason(self, reason: &str) -> String {
        let reason = referee_core::printable(reason);
        match self {
            Self::En => reason,
            Self::Zh => referee_games::chinese_reason(&reason),
        }
    }

    /// What a game is called.
    pub(crate) fn title(self, info: &GameInfo) -> &'static str {
        match self {
            Self::En => info.title,
            Self::Zh => info.chinese_title(),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_says_which_language_it_wants() {
        for (accepted, expected) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Zh),
            ("en-GB,en;q=0.9,zh;q=0.8", Language::En),
            ("de,zh;q=0.5,en;q=0.7", Language::En),
            ("de", Language::En),
            ("zh;q=x", Language::En),
            ("", Language::En),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(accepted));
            assert_eq!(Language::of_headers(&headers), expected, "{accepted}");
        }
    }
}
