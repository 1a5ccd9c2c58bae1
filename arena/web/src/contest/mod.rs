//! Contests in browsers and over the API: who calls, what they may see, and what they hand in. What a
//! contest shows to whom is decided in `arena-contest`; nothing is built or judged here.

mod api;
mod attempts;
mod handlers;
mod pages;
#[cfg(test)]
mod tests;
mod visit;
mod words;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arena_contest::{ContestError, LARGEST_UPLOAD, Standing};
use arena_store::{ContestId, PersonNumber, Store};
use arena_tournament::WallClock;
use axum::http::request::Parts;
use referee_core::Words;
use tokio::sync::{Mutex, watch};

pub(crate) use self::api::{ENDPOINTS, describe_upload, routes as api_routes};
pub(crate) use self::handlers::routes;
use self::{attempts::Attempts, visit::Visitor};
use crate::{
    caller::Caller,
    error::{Full, PageError},
    places::{ClientPlace, ClientPlaces, NoPlace},
    site::Site,
};

/// The most bytes of a body in which somebody hands in: what is around the file takes some.
pub(crate) const LARGEST_BODY: usize = LARGEST_UPLOAD as usize + 16 * 1024;
/// So many entries are read at once: each is in memory as a whole.
const UPLOADS: usize = 16;
/// A contest that is followed is read again after this time.
const READ_AGAIN: Duration = Duration::from_secs(2);

/// What all requests to contests share.
pub(crate) struct Contests {
    clock: WallClock,
    wrong_tokens: Attempts,
    uploads: ClientPlaces<(ContestId, PersonNumber)>,
    /// Grows with each entry that is handed in here.
    handed_in: watch::Sender<u64>,
    /// The contests that are followed, as they were read last.
    followed: Mutex<Vec<(Instant, Arc<Standing>)>>,
}

impl Default for Contests {
    fn default() -> Self {
        Self {
            clock: WallClock::system(),
            wrong_tokens: Attempts::default(),
            uploads: ClientPlaces::new(UPLOADS, 1),
            handed_in: watch::Sender::default(),
            followed: Mutex::default(),
        }
    }
}

impl Contests {
    /// Lets somebody who is logged in send what they hand in, as long as the place is kept.
    pub(crate) async fn begin_upload(
        &self,
        site: &Site,
        parts: &Parts,
    ) -> Result<ClientPlace<(ContestId, PersonNumber)>, PageError> {
        let visitor = Visitor::of(site, &parts.headers, &Caller::of(parts)).await?;
        let login = visitor.login()?;
        let place = self.uploads.take((login.contest, login.person.number));
        place.map_err(|why| match why {
            NoPlace::Full => Full::Uploads.into(),
            NoPlace::Enough => Full::UploadsOfPerson.into(),
        })
    }

    /// A contest for those who follow it, as it was a moment ago.
    async fn recent(&self, store: &Store, name: &str) -> Result<Arc<Standing>, ContestError> {
        let mut followed = self.followed.lock().await;
        followed.retain(|(read, _)| read.elapsed() < READ_AGAIN);
        let known = followed.iter().find(|(_, one)| one.contest.name == name);
        if let Some((_, standing)) = known {
            return Ok(standing.clone());
        }
        let standing = Arc::new(Standing::read(store, name, self.clock.unix_ms()).await?);
        followed.push((Instant::now(), standing.clone()));
        Ok(standing)
    }

    fn heard(&self) -> watch::Receiver<u64> {
        self.handed_in.subscribe()
    }

    fn tell_of_entry(&self) {
        self.handed_in.send_modify(|number| *number += 1);
    }
}

impl Site {
    fn contests(&self) -> Result<&Contests, PageError> {
        self.contests.as_ref().ok_or_else(|| {
            PageError::NotFound("this arena was started without --contest".to_owned())
        })
    }
}

/// True for the paths to which somebody sends what they hand in.
pub(crate) fn is_upload(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    matches!(
        parts[..],
        ["contest", _, "mine"] | ["api", "v1", "contests", _, "entries"]
    )
}

impl From<ContestError> for PageError {
    fn from(error: ContestError) -> Self {
        match error {
            ContestError::Store(error) => error.into(),
            ContestError::Tournament(error) => error.into(),
            ContestError::Invalid(why) => Self::system("a contest can't be read", why),
            ContestError::Token(error) => Self::system("no token", error),
        }
    }
}

/// What a caller did wrong, which they can mend.
fn unprocessable(english: impl Into<String>, chinese: impl Into<String>) -> PageError {
    let words = Words::new(english.into(), chinese.into());
    PageError::Refused(axum::http::StatusCode::UNPROCESSABLE_ENTITY, words)
}
