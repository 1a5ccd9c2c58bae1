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

use std::{collections::HashMap, sync::Arc, time::Instant};

use arena_contest::{ContestError, LARGEST_UPLOAD, Standing};
use arena_store::{Contest, ContestId, PersonNumber, Store};
use arena_tournament::WallClock;
use axum::http::request::Parts;
use parking_lot::Mutex;
use referee_core::Words;
use tokio::sync::watch;

pub(crate) use self::api::{ENDPOINTS, describe_upload, routes as api_routes};
pub(crate) use self::handlers::routes;
use self::{attempts::Attempts, visit::Visitor};
use crate::{
    caller::Caller,
    error::{Full, PageError},
    places::{ClientPlace, ClientPlaces, NoPlace},
    site::Site,
    standing::KeptReading,
};

/// The most bytes of a body in which somebody hands in: what is around the file takes some.
pub(crate) const LARGEST_BODY: usize = LARGEST_UPLOAD as usize + 16 * 1024;
/// So many entries are read at once: each is in memory as a whole.
const UPLOADS: usize = 16;

/// A contest as it was read last.
type ContestSlot = Arc<tokio::sync::Mutex<Option<KeptReading<Standing>>>>;

/// What all requests to contests share.
pub(crate) struct Contests {
    clock: WallClock,
    wrong_tokens: Attempts,
    uploads: ClientPlaces<(ContestId, PersonNumber)>,
    /// Grows with each entry that is handed in here.
    handed_in: watch::Sender<u64>,
    slots: Mutex<HashMap<ContestId, ContestSlot>>,
}

impl Default for Contests {
    fn default() -> Self {
        Self {
            clock: WallClock::system(),
            wrong_tokens: Attempts::default(),
            uploads: ClientPlaces::new(UPLOADS, 1),
            handed_in: watch::Sender::default(),
            slots: Mutex::default(),
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
        let visitor = Visitor::of(site, parts, &Caller::of(parts)).await?;
        let (contest, person) = visitor.logged_in()?;
        let place = self.uploads.take((*contest, person.number));
        place.map_err(|why| match why {
            NoPlace::Full => Full::Uploads.into(),
            NoPlace::Enough => Full::UploadsOfPerson.into(),
        })
    }

    /// A contest, which was just looked up, with all that belongs to it as that was a moment ago. What
    /// was handed in here is there at once, and the phase is that of now.
    async fn recent(&self, store: &Store, contest: Contest) -> Result<Arc<Standing>, ContestError> {
        let slot = self.slot(contest.id);
        let mut slot = slot.lock().await;
        let now = self.clock.unix_ms();
        if let Some(kept) = slot.as_ref().filter(|kept| kept.is_fresh())
            && kept.value.contest == contest
            && kept.value.phase
                == kept
                    .value
                    .rules
                    .phase(now, contest.published_unix_ms.is_some())
        {
            return Ok(kept.value.clone());
        }
        let began = Instant::now();
        let kept = KeptReading::since(began, Standing::of(store, contest, now).await?);
        Ok(slot.insert(kept).value.clone())
    }

    fn slot(&self, contest: ContestId) -> ContestSlot {
        self.slots.lock().entry(contest).or_default().clone()
    }

    fn heard(&self) -> watch::Receiver<u64> {
        self.handed_in.subscribe()
    }

    /// Something was handed in.
    async fn tell_of_entry(&self, contest: ContestId) {
        *self.slot(contest).lock().await = None;
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
