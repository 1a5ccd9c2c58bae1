//! Requests over HTTP/1.1 to a site, for somebody with a token: a connection for each request.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response,
    header::{ACCEPT, AUTHORIZATION, CONNECTION, HOST},
};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    causes,
    dial::{DialError, Duplex, check_tls, told},
    plain::Plain,
    site::SiteUrl,
    tls::ClientTls,
    token::Token,
};

/// Longest time for connecting, with the TLS handshake.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest time of a request, from its first byte to the last one of the answer.
const EXCHANGE: Duration = Duration::from_secs(90);
/// The most bytes of an answer.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;

/// A client of a site, which sends a token with each request.
#[derive(Clone, Debug)]
pub struct HttpClient {
    site: SiteUrl,
    tls: Option<ClientTls>,
    token: HeaderValue,
}

/// Reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Nothing was sent.
    #[error("could not connect to {site}: {why}")]
    NotConnected {
        /// The site.
        site: SiteUrl,
        /// The reason, with what to do.
        why: String,
    },
    /// It is not known whether the request was heard.
    #[error("no whole answer from {site}: {why}")]
    NoAnswer {
        /// The site.
        site: SiteUrl,
        /// The reason.
        why: String,
    },
}

impl HttpClient {
    /// A client that connects when it is used, with what the files of `tls` hold then.
    ///
    /// # Errors
    ///
    /// [`DialError`]: the address and `tls` do not fit each other.
    pub fn new(site: SiteUrl, tls: Option<ClientTls>, token: &Token) -> Result<Self, DialError> {
        check_tls(site.target(), tls.as_ref())?;
        Ok(Self {
            site,
            tls,
            token: token.header(),
        })
    }

    /// The site.
    #[must_use]
    pub const fn site(&self) -> &SiteUrl {
        &self.site
    }

    /// The answer to a request for this path below the site's address, with its query. Nothing is sent
    /// again, and no redirection is followed.
    ///
    /// # Errors
    ///
    /// [`HttpError`]: there is no answer, or one of more than 8 MiB.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Bytes>, HttpError> {
        let not_connected = |why: String| HttpError::NotConnected {
            site: self.site.clone(),
            why,
        };
        let no_answer = |why: String| HttpError::NoAnswer {
            site: self.site.clone(),
            why,
        };
        let request = Request::builder()
            .method(method)
            .uri(self.site.path_of(path))
            .header(HOST, self.site.authority())
            .header(AUTHORIZATION, self.token.clone())
            .header(ACCEPT, "application/json")
            .header(CONNECTION, "close")
            .body(Full::new(body))
            .map_err(|error| not_connected(causes(&error)))?;
        let stream = match timeout(CONNECT, self.connect()).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(not_connected(error.to_string())),
            Err(_) => return Err(not_connected(format!("nothing answers within {CONNECT:?}"))),
        };
        match timeout(EXCHANGE, exchange(stream, request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(why)) => Err(no_answer(why)),
            Err(_) => Err(no_answer(format!("it took more than {EXCHANGE:?}"))),
        }
    }

    async fn connect(&self) -> io::Result<Box<dyn Duplex>> {
        let (host, port) = (self.site.target().host(), self.site.target().port());
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => Box::new(Plain::new(stream)),
            Some(tls) => {
                let connected = tls.connect_http_1(host, stream).await;
                Box::new(connected.map_err(told)?)
            }
        })
    }
}

/// Sends a request and reads the answer; the connection is closed then.
async fn exchange(
    stream: Box<dyn Duplex>,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, String> {
    let failed = |error: hyper::Error| causes(&error);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    // What breaks a connection, its request tells.
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    let response = sender.send_request(request).await.map_err(failed)?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, LARGEST_ANSWER).collect().await;
    let body = body.map_err(|error| causes(&*error))?.to_bytes();
    Ok(Response::from_parts(head, body))
}
