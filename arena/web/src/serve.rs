//! Serves the page until it is stopped.

use std::{net::IpAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{
        HeaderName, HeaderValue, Uri,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    middleware,
    response::Response,
    routing::{get, post},
};
use futures_util::StreamExt as _;
use hyper::{
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use referee_net::incoming_http_1;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tower_http::compression::{
    CompressionLayer, Predicate as _,
    predicate::{DefaultPredicate, NotForContentType},
};

use crate::{
    api, assets,
    caller::Caller,
    client::Client,
    contest,
    error::PageError,
    feed,
    guard::{self, PeerAddress},
    pages, people,
    site::{Site, SiteOptions},
};

/// Longest time that a connection may take to begin, and to send the header of its next request.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Longest time of a connection. What has begun then is still answered, if that takes no longer
/// than a while: whoever reads slowly keeps no place.
const LONGEST: Duration = feed::LONGEST.saturating_mul(2);
const LAST_ANSWER: Duration = Duration::from_secs(2 * 60);
/// The content type of what goes on.
const STREAM: &str = "text/event-stream";
/// The largest header of a request, in bytes.
const HEADER: usize = 32 * 1024;

/// The routes to everything that is served, with the state behind them.
pub(crate) fn routes(site: &Arc<Site>) -> Router {
    let contests = match site.contests {
        Some(_) => contest::routes(),
        None => Router::new(),
    };
    let pages = Router::new()
        .route("/", get(pages::front::show))
        .route("/events", get(pages::front::events))
        .route("/settings", post(pages::settings))
        .route("/rules/{game}", get(pages::rules))
        .route("/tournaments", get(pages::tournaments::show))
        .route("/t/{tournament}", get(pages::tournament::show))
        .route("/t/{tournament}/events", get(pages::tournament::events))
        .route("/t/{tournament}/cross", get(pages::cross::show))
        .route("/t/{tournament}/bots/{bot}", get(pages::bot::show))
        .route("/t/{tournament}/games", get(pages::games::show))
        .route("/t/{tournament}/games/{game}", get(pages::game::show))
        .route(
            "/t/{tournament}/games/{game}/frames",
            get(pages::game::frames),
        )
        .route(
            "/t/{tournament}/games/{game}/record",
            get(pages::game::record),
        )
        .route(
            "/t/{tournament}/games/{game}/picture",
            get(pages::game::picture),
        )
        .route("/t/{tournament}/games/{game}/on", get(pages::game::play_on))
        .route("/t/{tournament}/live/{game}", get(pages::live::show))
        .route(
            "/t/{tournament}/live/{game}/events",
            get(pages::live::events),
        )
        .merge(people::handlers::routes())
        .merge(contests)
        .merge(assets::routes())
        .fallback(nothing);
    let compressed = CompressionLayer::new().compress_when(DefaultPredicate::new().and(
        // What follows must come at once.
        NotForContentType::const_new(STREAM),
    ));
    pages
        .nest("/api/v1", api::routes(site.contests.is_some()))
        .route("/api/v1/", get(api::index))
        .layer(middleware::map_response(on_the_way))
        .layer(middleware::from_fn_with_state(site.clone(), guard::guard))
        .layer(compressed)
        .with_state(site.clone())
}

/// Says to all that stand between a browser and us what they may do with an answer. A stream must
/// come as it is written: nobody may keep it, compress it, or hold it back until a buffer is full,
/// which nginx and others do if nothing forbids it. Browsers ask again each time for an answer that
/// says nothing else about caches.
async fn on_the_way(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind.is_some_and(|kind| kind.starts_with(STREAM.as_bytes())) {
        let whole = HeaderValue::from_static("no-store, no-transform");
        headers.insert(CACHE_CONTROL, whole);
        let unbuffered = HeaderName::from_static("x-accel-buffering");
        headers.insert(unbuffered, HeaderValue::from_static("no"));
    } else if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    response
}

async fn nothing(caller: Caller, uri: Uri) -> Response {
    let told = format!("There is no page {}.", uri.path());
    PageError::NotFound(told).page(&caller)
}

/// Serves the page on a runtime of its own in a thread of its own, so that no game and no report
/// waits for somebody who looks. Returns when it is stopped and everything is put away.
///
/// # Errors
///
/// The thread or its runtime can't be started.
pub fn serve(
    options: SiteOptions,
    listener: std::net::TcpListener,
    stop: CancellationToken,
) -> std::io::Result<std::thread::JoinHandle<std::io::Result<()>>> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::Builder::new()
        .name("page".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener)?;
                serve_until(options, listener, stop).await;
                Ok(())
            })
        })
}

/// Serves the page until it is stopped.
pub async fn serve_until(options: SiteOptions, listener: TcpListener, stop: CancellationToken) {
    let site = Arc::new(Site::new(options, stop.clone()));
    let routes = routes(&site);
    let bound = site.connections.all();
    let mut incoming = pin!(incoming_http_1(listener, None, bound, HANDSHAKE));
    let mut connections = JoinSet::new();
    let looking_after = async {
        match &site.people {
            Some(people) => people.look_after().await,
            None => std::future::pending().await,
        }
    };
    let accepting = async {
        while let Some(stream) = incoming.next().await {
            while connections.try_join_next().is_some() {}
            // One that broke already has no address any more.
            let Some(peer) = stream.peer().address.map(|address| address.ip()) else {
                continue;
            };
            let place = match site.proxies.trust(peer) {
                true => None,
                false => match site.connections.take(Client::at(peer)) {
                    Ok(place) => Some(place),
                    Err(_) => continue,
                },
            };
            let routes = routes.clone();
            connections.spawn(async move {
                serve_connection(stream, routes, peer).await;
                drop(place);
            });
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = async { tokio::join!(accepting, looking_after, site.feeds.look_after()); } => {}
    }
    connections.shutdown().await;
    if let Some(people) = &site.people {
        people.put_away().await;
    }
}

/// Serves one connection, for so long as one may last.
pub(crate) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    routes: Router,
    peer: IpAddr,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .max_header_size(HEADER)
        .header_read_timeout(HANDSHAKE);
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(PeerAddress(peer));
        routes.call(request)
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let mut served = timeout(LONGEST, connection.as_mut()).await;
    if served.is_err() {
        connection.as_mut().graceful_shutdown();
        served = timeout(LAST_ANSWER, connection).await;
    }
    if let Ok(Err(error)) = served {
        tracing::debug!(%error, "a connection of a browser has failed");
    }
}
