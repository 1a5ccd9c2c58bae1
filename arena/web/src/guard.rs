//! The rules for every request and every answer: a host name that is ours (so that no other site's
//! name can be bound to this address), for a request that changes something a page of ours as its
//! origin, and a body that is small and whole soon. It also says from where a request comes.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{
            CONNECTION, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use tokio::time::timeout;

use crate::{
    caller::{Arrival, Caller},
    contest,
    site::Site,
};

/// Scripts, styles and pictures are ours; nothing is inline, and nothing comes from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
    data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'self'";

pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let host = host(request.headers());
    if !host.is_some_and(|host| is_ours(host, &site.names)) {
        let told = "this arena is not known under this name; start it with --page-name NAME to \
                    serve its page under another one than localhost and its address\n";
        return (StatusCode::MISDIRECTED_REQUEST, told).into_response();
    }
    let changes = !matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if changes && !is_same_origin(request.headers()) {
        let told = "this was sent from a page of another site; it is done from this site's own \
                    pages only\n";
        return (StatusCode::FORBIDDEN, told).into_response();
    }
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.get::<PeerAddress>();
    let peer = peer.map_or(Ipv4Addr::LOCALHOST.into(), |peer| peer.0);
    parts.extensions.insert(Arrival {
        client: site.proxies.client(peer, &parts.headers),
        is_tls: site.proxies.is_tls(peer, &parts.headers),
        has_contests: site.contests.is_some(),
    });
    if let Some(user) = site.proxies.user(peer, &parts.headers) {
        parts.extensions.insert(user);
    }
    let upload = match &site.contests {
        Some(contests) if changes && contest::is_upload(parts.uri.path()) => {
            Some(contests.begin_upload(&site, &parts).await)
        }
        _ => None,
    };
    let read = match &upload {
        None => read_whole(body, FORM).await,
        Some(Ok(_)) => read_whole(body, UPLOAD).await,
        // Nothing of it is read.
        Some(Err(error)) => {
            let mut refused = error.answer(&Caller::of(&parts));
            let close = HeaderValue::from_static("close");
            refused.headers_mut().insert(CONNECTION, close);
            Err(refused)
        }
    };
    let mut response = match read {
        Ok(body) => next.run(Request::from_parts(parts, body)).await,
        Err(refused) => refused,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The address of the other end of a connection.
#[derive(Clone, Copy)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// The bounds of a body.
#[derive(Clone, Copy)]
struct BodyBounds {
    /// Most bytes.
    bytes: usize,
    /// Longest time, from its first byte to its last one.
    time: Duration,
}

/// Those of a form.
const FORM: BodyBounds = BodyBounds {
    bytes: 16 * 1024,
    time: Duration::from_secs(10),
};
/// Those of what is handed in, by somebody who is logged in.
const UPLOAD: BodyBounds = BodyBounds {
    bytes: contest::LARGEST_BODY,
    time: Duration::from_mins(1),
};

/// The body when all of it is there, so that nothing behind this waits for whoever sends it.
async fn read_whole(body: Body, bounds: BodyBounds) -> Result<Body, Response> {
    let (status, told) = match timeout(bounds.time, to_bytes(body, bounds.bytes)).await {
        Ok(Ok(bytes)) => return Ok(bytes.into()),
        Ok(Err(_)) => (
            StatusCode::PAYLOAD_TOO_LARGE,
            format!(
                "the body of this request was cut off, or has more than {} KiB\n",
                bounds.bytes / 1024
            ),
        ),
        Err(_) => (
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the body of this request took more than {} s\n",
                bounds.time.as_secs()
            ),
        ),
    };
    // What is left of it is not waited for.
    Err((status, [(CONNECTION, "close")], told).into_response())
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

/// True if a host is this machine by its address, which no other site's name can be, or by a name
/// that the operator has given.
fn is_ours(host: &str, names: &[String]) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name.parse::<IpAddr>().is_ok() || name == "localhost" || names.contains(&name)
}

/// True if a request comes from a page of ours, or from no page. Every browser of today says it
/// (`Sec-Fetch-Site`); of older ones the origin is compared.
fn is_same_origin(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return matches!(site.as_bytes(), b"same-origin" | b"none");
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return true;
    };
    let origin = origin.to_str().unwrap_or_default();
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some() && authority == host(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_not_ours() {
        let names = ["arena.example".to_owned()];
        for host in [
            "localhost:80",
            "127.0.0.1:8080",
            "[::1]:9",
            "10.1.2.3",
            "Arena.Example:443",
        ] {
            assert!(is_ours(host, &names), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.evil.example",
            "",
        ] {
            assert!(!is_ours(host, &names), "{host}");
        }
    }

    #[test]
    fn forms_of_other_sites_are_refused() {
        let of = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("localhost:8080"));
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            is_same_origin(&headers)
        };
        assert!(of(&[]));
        assert!(of(&[("sec-fetch-site", "same-origin")]));
        assert!(of(&[("origin", "http://localhost:8080")]));
        assert!(!of(&[("sec-fetch-site", "cross-site")]));
        assert!(!of(&[("sec-fetch-site", "same-site")]));
        assert!(!of(&[("origin", "http://evil.example")]));
        assert!(!of(&[("origin", "null")]));
        assert!(!of(&[
            ("origin", "http://localhost:8080"),
            ("sec-fetch-site", "cross-site")
        ]));
    }
}
