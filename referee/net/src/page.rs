//! A few pages of text over HTTP/1.1 within bounds, such as the metrics that Prometheus fetches. A
//! connection is for one request: none is kept open between two.

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpListener,
    task::{JoinSet, spawn_blocking},
    time::timeout,
};

use crate::{listen::incoming_http_1, tls::ServerTls};

/// Bounds of the listener of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageBounds {
    /// Most connections that are open at once, with those whose handshake is under way. Further
    /// ones are closed at once.
    pub connections: usize,
    /// The largest header of a request, in bytes. A request with more is refused.
    pub header_bytes: usize,
    /// Longest time of a connection for the TLS handshake, and then of the client for its
    /// header. One that takes longer is closed.
    pub handshake: Duration,
    /// Longest time of a request, from its connection (after the TLS handshake) to the last
    /// byte of the answer. The connection is closed then.
    pub request: Duration,
}

impl Default for PageBounds {
    fn default() -> Self {
        Self {
            connections: 64,
            header_bytes: 16 * 1024,
            handshake: Duration::from_secs(10),
            request: Duration::from_secs(30),
        }
    }
}

/// A page of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPage {
    /// With the status 200.
    Ok(String),
    /// With the status 503: what is asked for is not available now.
    Unavailable(String),
}

/// Serves the text that `render` makes of a path, at these paths and nowhere else. It does so until
/// it is dropped, and its connections with it. `render` may block.
pub async fn serve_pages<R>(
    listener: TcpListener,
    tls: Option<ServerTls>,
    bounds: PageBounds,
    paths: &'static [&'static str],
    render: R,
) where
    R: Fn(&str) -> TextPage + Send + Sync + 'static,
{
    let render = Arc::new(render);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .keep_alive(false)
        .max_header_size(bounds.header_bytes)
        .header_read_timeout(bounds.handshake);
    let incoming = incoming_http_1(listener, tls, bounds.connections, bounds.handshake);
    let mut incoming = pin!(incoming);
    let mut connections = JoinSet::new();
    while let Some(stream) = incoming.next().await {
        while connections.try_join_next().is_some() {}
        let render = render.clone();
        let service = service_fn(move |request| answer(request, paths, render.clone()));
        let serving = http.serve_connection(TokioIo::new(stream), service);
        let within = bounds.request;
        connections.spawn(async move {
            match timeout(within, serving).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, ?paths, "a request has failed"),
                Err(_) => tracing::debug!(?within, ?paths, "a request took too long"),
            }
        });
    }
}

async fn answer<R>(
    request: Request<Incoming>,
    paths: &'static [&'static str],
    render: Arc<R>,
) -> Result<Response<String>, Infallible>
where
    R: Fn(&str) -> TextPage + Send + Sync + 'static,
{
    let asked = request.uri().path();
    let Some(path) = paths.iter().find(|path| **path == asked) else {
        let words = format!("nothing is here; expected {}\n", paths.join(" or "));
        return Ok(text(StatusCode::NOT_FOUND, words));
    };
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let words = "expected GET\n".to_owned();
        let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, words);
        let allowed = HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(ALLOW, allowed);
        return Ok(refused);
    }
    Ok(match spawn_blocking(move || render(path)).await {
        Ok(TextPage::Ok(page)) => text(StatusCode::OK, page),
        Ok(TextPage::Unavailable(page)) => text(StatusCode::SERVICE_UNAVAILABLE, page),
        Err(error) => {
            tracing::warn!(%error, path, "could not make the page");
            text(StatusCode::INTERNAL_SERVER_ERROR, String::new())
        }
    })
}

fn text(status: StatusCode, words: String) -> Response<String> {
    let mut response = Response::new(words);
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
