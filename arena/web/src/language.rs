//! The language that people are spoken to in.

use axum::http::{HeaderMap, header::ACCEPT_LANGUAGE};
pub use referee_core::Language;

/// The language that a browser asks for.
pub(crate) fn of_headers(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    let mut found: Option<(f32, Language)> = None;
    for part in accepted.unwrap_or_default().split(',') {
        let (tag, weight) = part.split_once(";q=").unwrap_or((part, "1"));
        let weight = weight.trim().parse().unwrap_or(0.0);
        let primary = tag.trim().split('-').next().unwrap_or_default();
        let language = Language::of_code(&primary.to_ascii_lowercase());
        if let Some(language) = language
            && weight > 0.0
            && found.is_none_or(|(best, _)| weight > best)
        {
            found = Some((weight, language));
        }
    }
    found.map_or(Language::En, |(_, language)| language)
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
            assert_eq!(of_headers(&headers), expected, "{accepted}");
        }
    }
}
