//! A contest of an arena elsewhere, as a person with a token reaches it: by the API of its page.

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;
use arena_contest::{ContestEntry, GameOfEntry};
use arena_terminal::Format;
use bytes::Bytes;
use clap::Args;
use http::{
    Method, Response, StatusCode,
    header::{CONTENT_TYPE, LOCATION, RETRY_AFTER},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use referee_cli::net::TlsDialArgs;
use referee_core::{printable, shorten};
use referee_net::{HttpClient, HttpError, SiteUrl, Token};
use serde::Deserialize;

use super::{
    entry::{ToldGame, headline, json, show_details},
    upload::Upload,
};
use crate::{End, report, usage};

/// The longest text of a server that is repeated, in characters.
const LONGEST_WORDS: usize = 500;

/// An arena elsewhere.
#[derive(Args)]
pub(super) struct ArenaAt {
    /// The page of an arena elsewhere, as in https://arena.example/, instead of the store of this
    /// machine. http:// is for this machine alone.
    #[arg(long, value_name = "URL")]
    arena: Option<SiteUrl>,
    /// With --arena: the file with your token.
    #[arg(long, env = "ARENA_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsDialArgs,
}

impl ArenaAt {
    /// True if it is asked for.
    pub(super) const fn is_given(&self) -> bool {
        self.arena.is_some()
    }

    /// The file of the token.
    pub(super) fn token_file(&self) -> Option<&PathBuf> {
        self.token_file.as_ref()
    }

    /// A contest there; none if the store of this machine is meant. Nothing is sent yet.
    pub(super) fn open(&self, contest: &str) -> anyhow::Result<Option<ContestElsewhere>> {
        let Some(site) = &self.arena else {
            return Ok(None);
        };
        // A variable may name a store for other verbs.
        let names_store = |word: String| word == "--store" || word.starts_with("--store=");
        if std::env::args().any(names_store) {
            return usage(
                "--arena is an arena elsewhere, and --store the store of this machine: expected one \
                 of them",
            );
        }
        let Some(file) = &self.token_file else {
            return usage("--arena: expected --token-file FILE with it, the file with your token");
        };
        let token = Token::read(file).or_else(|error| usage(error.to_string()))?;
        let tls = self.tls.load(site.target())?;
        let client = HttpClient::new(site.clone(), tls, &token);
        let client = client.or_else(|error| usage(error.to_string()))?;
        Ok(Some(ContestElsewhere {
            client,
            contest: contest.to_owned(),
        }))
    }
}

/// A contest of an arena elsewhere.
pub(super) struct ContestElsewhere {
    client: HttpClient,
    contest: String,
}

/// What the arena says to a request.
pub(super) enum Answer {
    /// The entry, and the text of its JSON.
    Entry(Box<ContestEntry>, String),
    /// No, and why.
    Refused(Refused),
    /// It wants to be asked again after this time.
    Later(Duration, String),
    /// It can't answer now, and why.
    Away(String),
}

/// Why an arena says no.
pub(super) struct Refused {
    words: String,
    /// The text of its JSON, where it is JSON.
    json: Option<String>,
}

/// What an arena says where there is no entry.
#[derive(Deserialize)]
struct ApiError {
    error: String,
}

impl ContestElsewhere {
    /// Hands in, once.
    pub(super) async fn hand_in(
        &self,
        upload: &Upload,
        group: Option<u32>,
    ) -> anyhow::Result<Answer> {
        let group = group.map_or_else(String::new, |group| format!("&group={group}"));
        let path = format!("{}?file={}{group}", self.entries(), part(&upload.file));
        let body = Bytes::from(upload.bytes.clone());
        let answer = reached(self.client.send(Method::POST, &path, body).await)?;
        Ok(self.read(&answer.with_context(|| self.not_known())?))
    }

    /// Asks for an entry, once.
    pub(super) async fn entry(&self, number: u64) -> Result<Answer, HttpError> {
        let path = format!("{}/{number}", self.entries());
        let answer = self.client.send(Method::GET, &path, Bytes::new()).await?;
        Ok(self.read(&answer))
    }

    /// Asks for a match of the ladder. What the arena refuses is printed, and how that ends is the inner
    /// error.
    pub(super) async fn challenge(&self, opponent: &str) -> anyhow::Result<Result<(), End>> {
        let path = format!(
            "/api/v1/contests/{}/challenges?opponent={}",
            part(&self.contest),
            part(opponent)
        );
        let answer = reached(self.client.send(Method::POST, &path, Bytes::new()).await)??;
        if answer.status() == StatusCode::CREATED {
            return Ok(Ok(()));
        }
        let refused = self.read(&answer).entry().err();
        let refused = refused.unwrap_or_else(|| Refused {
            words: "it answered with an entry".to_owned(),
            json: None,
        });
        refused.show(Format::Text).map(Err)
    }

    /// Prints an entry.
    pub(super) async fn show(&self, number: u64, format: Format) -> anyhow::Result<End> {
        let (entry, text) = match reached(self.entry(number).await)??.entry() {
            Ok(entry) => entry,
            Err(refused) => return refused.show(format),
        };
        match format {
            Format::Json => json(&text)?,
            Format::Text => {
                report::heading(&headline(&entry))?;
                show_details(&entry)?;
            }
        }
        Ok(End::Done)
    }

    /// Prints a game of an entry.
    pub(super) async fn show_game(
        &self,
        number: u64,
        game: GameOfEntry,
        format: Format,
    ) -> anyhow::Result<End> {
        let (entry, _) = match reached(self.entry(number).await)??.entry() {
            Ok(entry) => entry,
            Err(refused) => return refused.show(format),
        };
        let ask = async |what: &str| {
            let path = format!("{}/{number}/games/{game}/{what}", self.entries());
            self.client.send(Method::GET, &path, Bytes::new()).await
        };
        let log = reached(ask("log").await)??;
        if !log.status().is_success() {
            let refused = self.read(&log).entry().err();
            let words = format!("there is no game {game}");
            return refused
                .unwrap_or(Refused { words, json: None })
                .show(format);
        }
        let explanation = match ask("explanation").await {
            Ok(answer) if answer.status().is_success() => serde_json::from_slice(answer.body())
                .map_err(|error| format!("its explanation can't be read: {error}")),
            Ok(answer) => {
                let refused = self.read(&answer).entry().err();
                Err(refused.map_or_else(String::new, |refused| refused.words))
            }
            Err(error) => Err(error.to_string()),
        };
        let told = ToldGame {
            game: game.to_string(),
            explanation,
            log: String::from_utf8_lossy(log.body()).into_owned(),
        };
        told.show(&entry, format)?;
        Ok(End::Done)
    }

    /// Says that it is not known whether an entry was taken.
    pub(super) fn not_known(&self) -> String {
        format!(
            "it is not known whether the entry was taken: look at {}contest/{}/mine before you hand \
             it in again",
            self.client.site(),
            part(&self.contest)
        )
    }

    /// Says how an entry is looked at later.
    pub(super) fn later(&self, number: u64) -> String {
        format!(
            "`arena contest entry {} {number}` with the same --arena and --token-file shows what \
             comes of it",
            self.contest
        )
    }

    fn entries(&self) -> String {
        format!("/api/v1/contests/{}/entries", part(&self.contest))
    }

    fn read(&self, answer: &Response<Bytes>) -> Answer {
        let status = answer.status();
        let text = String::from_utf8_lossy(answer.body());
        if status.is_success()
            && let Ok(entry) = serde_json::from_str(&text)
        {
            return Answer::Entry(Box::new(entry), text.into_owned());
        }
        let error: Option<ApiError> = serde_json::from_str(&text).ok();
        let is_json = error.is_some();
        let words = error.map_or_else(|| self.said(answer, &text), |error| error.error);
        let words = shorten(&printable(&words), LONGEST_WORDS);
        let waits = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        let seconds = header(answer, RETRY_AFTER).and_then(|text| text.parse().ok());
        match seconds.filter(|_| waits) {
            Some(seconds) => Answer::Later(Duration::from_secs(seconds), words),
            None if status.is_server_error() => Answer::Away(words),
            None => Answer::Refused(Refused {
                words,
                json: is_json.then(|| text.into_owned()),
            }),
        }
    }

    /// The words of a server that does not answer as the API does.
    fn said(&self, answer: &Response<Bytes>, text: &str) -> String {
        let (site, status) = (self.client.site(), answer.status());
        if status.is_redirection()
            && let Some(to) = header(answer, LOCATION)
        {
            return format!("{site} sends to {to}: expected the address to which it does not");
        }
        let is_text =
            header(answer, CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/plain"));
        match text.trim() {
            "" => {}
            text if is_text => return format!("{site} answers {status}: {text}"),
            _ => {}
        }
        format!(
            "{site} answers {status} and nothing that an arena says: expected the address of the \
             page of an arena, as in https://arena.example/"
        )
    }
}

impl Answer {
    /// The entry and the text of its JSON, or why there is none now.
    fn entry(self) -> Result<(Box<ContestEntry>, String), Refused> {
        match self {
            Self::Entry(entry, text) => Ok((entry, text)),
            Self::Refused(refused) => Err(refused),
            Self::Later(_, words) | Self::Away(words) => Err(Refused { words, json: None }),
        }
    }
}

/// An arena that can't be reached at all is bad usage: its address is an argument.
fn reached<T>(answer: Result<T, HttpError>) -> anyhow::Result<Result<T, HttpError>> {
    match answer {
        Err(error @ HttpError::NotConnected { .. }) => usage(format!("--arena: {error}")),
        answer => Ok(answer),
    }
}

impl Refused {
    /// Prints it.
    pub(super) fn show(self, format: Format) -> anyhow::Result<End> {
        match self.json.filter(|_| format == Format::Json) {
            Some(text) => json(&text)?,
            None => report::tell(&format!("arena: {}", self.words)),
        }
        Ok(End::No)
    }
}

/// A part of a path or a query.
fn part(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn header(answer: &Response<Bytes>, name: http::HeaderName) -> Option<&str> {
    answer.headers().get(name)?.to_str().ok()
}
