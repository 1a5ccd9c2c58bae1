//! A client of a site over HTTP/1.1: what it sends and to whom, and what it says where there is no
//! answer.

use std::{net::SocketAddr, pin::pin, sync::Arc};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{Method, StatusCode};
use parking_lot::Mutex;
use referee_net::{HttpClient, HttpError, ServerTls, Token, incoming_http_1};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::common::{AMPLE, Authority, client};

/// A server that reads a request whose body is this, and answers so. Ends with the runtime of its test.
struct Answering {
    address: SocketAddr,
    heard: Arc<Mutex<String>>,
}

impl Answering {
    async fn start(tls: Option<ServerTls>, body: &'static str, answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard: Arc<Mutex<String>> = Arc::default();
        let hears = heard.clone();
        tokio::spawn(async move {
            let mut incoming = pin!(incoming_http_1(listener, tls, 10, AMPLE));
            while let Some(mut stream) = incoming.next().await {
                let mut said = Vec::new();
                while !said.ends_with(format!("\r\n\r\n{body}").as_bytes()) {
                    let read = stream.read_buf(&mut said).await.unwrap();
                    assert!(read > 0, "{}", String::from_utf8_lossy(&said));
                }
                *hears.lock() = String::from_utf8(said).unwrap();
                // A client that has read enough closes the connection.
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { address, heard }
    }
}

#[tokio::test]
async fn a_site_below_a_path_gets_requests_with_the_token_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(None);
    let answer =
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nlater";
    let server = Answering::start(Some(tls), "the bot", answer.into()).await;
    let at = server.address;
    let token = Token::generate().unwrap();
    let url = format!("https://localhost:{}/arena/", at.port());
    let trusting = client(&ca, None);
    let site = HttpClient::new(url.parse().unwrap(), Some(trusting), &token).unwrap();
    let body = Bytes::from("the bot");
    let answer = site.send(Method::POST, "/api/x?file=bot.py", body).await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.headers()["retry-after"], "7");
    assert_eq!(answer.body(), "later");
    let heard = server.heard.lock().to_lowercase();
    for expected in [
        "post /arena/api/x?file=bot.py http/1.1\r\n",
        &format!("\r\nhost: localhost:{}\r\n", at.port()),
        &format!("\r\nauthorization: bearer {}\r\n", token.reveal()),
        "\r\ncontent-length: 7\r\n",
    ] {
        assert!(heard.contains(expected), "{heard}");
    }
    let secret = &token.reveal()[10..20];
    assert!(!format!("{site:?}").contains(secret));

    let others = Authority::new().file(folder.path(), "others.pem");
    let site = HttpClient::new(url.parse().unwrap(), Some(client(&others, None)), &token);
    let error = site
        .unwrap()
        .send(Method::GET, "/", Bytes::new())
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::NotConnected { .. }), "{error:?}");
    assert!(error.to_string().contains("--ca FILE"), "{error}");
    // The address alone says whether there is TLS.
    HttpClient::new(url.parse().unwrap(), None, &token).unwrap_err();
}

#[tokio::test]
async fn a_request_without_an_answer_is_told_from_one_that_was_not_sent() {
    let token = Token::generate().unwrap();
    let ask = async |at: SocketAddr| {
        let url = format!("http://{at}");
        let site = HttpClient::new(url.parse().unwrap(), None, &token).unwrap();
        let answer = site.send(Method::GET, "/x", Bytes::new()).await;
        answer.unwrap_err()
    };
    let not_sent = |error: &HttpError| matches!(error, HttpError::NotConnected { .. });

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = listener.local_addr().unwrap();
    drop(listener);
    let error = ask(nobody).await;
    assert!(not_sent(&error), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");

    let cut_off = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    let mut endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    endless.resize(9 << 20, b' ');
    for (answer, says) in [
        (Vec::new(), "connection closed"),
        (cut_off.into(), "end of file"),
        (endless, "length limit"),
        (b"\x15\x03\x03\x00\x02\x02\x0a".to_vec(), "write https://"),
    ] {
        let server = Answering::start(None, "", answer).await;
        let error = ask(server.address).await;
        assert!(!not_sent(&error), "{error:?}");
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
}
