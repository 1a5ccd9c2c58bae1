//! The address of a site: `https://HOST/`, or `https://HOST/PATH/` where a proxy serves it below a
//! path.

use std::{fmt, str::FromStr};

use http::Uri;

use crate::dial::Target;

/// The longest part of a wrong text that is repeated, in characters.
const LONGEST_QUOTE: usize = 200;

/// The address of a site that is sent a secret: it has TLS, or is on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteUrl {
    target: Target,
    /// What all its paths begin with, without a slash at the end: empty or `/arena`.
    path: String,
}

/// A text that is no address of such a site.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSiteUrl {
    /// It is no address of a site.
    #[error(
        "\"{0}\" is no address of a site: expected https://HOST/, as in https://arena.example/, or \
         with the path that the site is below, as in https://example.org/arena/"
    )]
    NoUrl(String),
    /// It has no TLS, and is another machine.
    #[error(
        "{0} has no TLS, and whoever is between could read the token: expected https://; http:// \
         is for this machine alone"
    )]
    Plaintext(SiteUrl),
}

impl FromStr for SiteUrl {
    type Err = BadSiteUrl;

    fn from_str(text: &str) -> Result<Self, BadSiteUrl> {
        let bad = || BadSiteUrl::NoUrl(text.chars().take(LONGEST_QUOTE).collect());
        // The reader of URIs passes over what follows `#`.
        if text.contains('#') {
            return Err(bad());
        }
        let uri: Uri = text.trim().parse().map_err(|_| bad())?;
        let target = Target::of(&uri, true).filter(|_| uri.query().is_none());
        let site = Self {
            target: target.ok_or_else(bad)?,
            path: uri.path().trim_end_matches('/').to_owned(),
        };
        match site.target.has_tls() || site.target.is_loopback() {
            true => Ok(site),
            false => Err(BadSiteUrl::Plaintext(site)),
        }
    }
}

impl fmt::Display for SiteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.target.has_tls() {
            "https"
        } else {
            "http"
        };
        write!(f, "{scheme}://{}{}/", self.authority(), self.path)
    }
}

impl SiteUrl {
    /// The server that it is on.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Path of something on the site, which begins with a slash, for its server.
    pub(crate) fn path_of(&self, path: &str) -> String {
        format!("{}{path}", self.path)
    }

    /// The host, and the port unless it is the usual one.
    pub(crate) fn authority(&self) -> String {
        self.target.authority()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_sites_are_read() {
        for (text, shown, port, path) in [
            ("https://arena.example", "https://arena.example/", 443, "/x"),
            (
                "https://arena.example:443/",
                "https://arena.example/",
                443,
                "/x",
            ),
            ("https://arena.example:8443/", "", 8443, "/x"),
            (
                "https://example.org/a/arena",
                "https://example.org/a/arena/",
                443,
                "/a/arena/x",
            ),
            (
                " https://example.org/arena// ",
                "https://example.org/arena/",
                443,
                "/arena/x",
            ),
            ("https://10.1.2.3/", "", 443, "/x"),
            ("https://[2001:db8::1]/", "", 443, "/x"),
            ("http://localhost:8080/", "", 8080, "/x"),
            ("http://127.8.0.1/", "", 80, "/x"),
            ("http://127.0.0.1:80/", "http://127.0.0.1/", 80, "/x"),
            ("http://[::1]:8080/arena/", "", 8080, "/arena/x"),
        ] {
            let site: SiteUrl = text.parse().unwrap();
            let shown = if shown.is_empty() { text } else { shown };
            assert_eq!(site.to_string(), shown);
            assert_eq!(site.target().port(), port, "{text}");
            assert_eq!(site.path_of("/x"), path, "{text}");
        }
    }

    #[test]
    fn a_token_crosses_no_network_in_plain_text() {
        for text in [
            "http://arena.example/",
            "http://10.1.2.3:8080/arena/",
            "http://[2001:db8::1]/",
            "http://127.0.0.1.example/",
            "http://localhost.example:8080",
        ] {
            let why = text.parse::<SiteUrl>().unwrap_err();
            assert!(matches!(why, BadSiteUrl::Plaintext(_)), "{text}: {why}");
            assert!(why.to_string().contains("expected https://"), "{why}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_site_is_refused() {
        for text in [
            "",
            "arena.example",
            "arena.example:8080/arena",
            "/arena",
            "ftp://arena.example/",
            "grpcs://arena.example:50051",
            "https://",
            "https://:443/",
            "https://arena.example:/",
            "https://arena.example:0/",
            "https://arena.example:70000/",
            "https://arena.example:x/",
            "https://arena.example/?contest=spring",
            "https://arena.example/contest/spring/login#token=arena_0",
            "https://me@arena.example/",
            "https://me:secret@arena.example/",
            "https://arena example/",
        ] {
            let found = text.parse::<SiteUrl>();
            assert!(matches!(found, Err(BadSiteUrl::NoUrl(_))), "{text:?}");
        }
    }
}
