//! A client of the web page, and the time that its answers take.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Asks for a page over a connection of its own, and gives all of the answer. `more` are lines of the
/// header.
pub(crate) async fn ask(
    page: &str,
    method: &str,
    path: &str,
    more: &str,
    body: &str,
) -> io::Result<String> {
    let mut stream = TcpStream::connect(page).await?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The value of a line of the header of an answer, without what follows a semicolon.
pub(crate) fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = answer.lines().take_while(|line| !line.is_empty());
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    value.split(';').next()
}

/// The time in milliseconds within which this share of answers came.
pub(crate) fn quantile(took: &[Duration], share: f64) -> f64 {
    let mut took = took.to_vec();
    took.sort_unstable();
    let at = ((took.len() as f64 * share) as usize).min(took.len().saturating_sub(1));
    took.get(at).map_or(f64::NAN, |one| one.as_secs_f64() * 1e3)
}
