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

use arena_contest::{ContestError, EntryRounds, LARGEST_UPLOAD, Standing, Viewer};
use arena_store::{Contest, ContestId, Entry, PersonNumber, Store};
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
    standing::{KeptReading, Slot},
};

/// The most bytes of a body in which somebody hands in: what is around the file takes some.
pub(crate) const LARGEST_BODY: usize = LARGEST_UPLOAD as usize + 16 * 1024;
/// So many entries are read at once: each is in memory as a whole.
const UPLOADS: usize = 16;
/// Of so many entries it is kept what they have played in rounds.
const ROUNDS_KEPT: usize = 1000;

/// Those who follow a contest: the persons of a contestant, or all others.
type Followers = (ContestId, Option<u64>);

/// What all requests to contests share.
pub(crate) struct Contests {
    clock: WallClock,
    wrong_tokens: Attempts,
    uploads: ClientPlaces<(ContestId, PersonNumber)>,
    /// For each contestant whose entries are followed a number that grows with each that is handed in
    /// here. That of all others stays as it is.
    handed_in: Mutex<HashMap<Followers, watch::Sender<u64>>>,
    slots: Mutex<HashMap<ContestId, Arc<Slot<Standing>>>>,
    /// What entries have played in rounds, by their numbers and whether it is for organisers: a page that
    /// is open asks for it again and again.
    rounds: Mutex<HashMap<(ContestId, u64, bool), Arc<EntryRounds>>>,
}

impl Default for Contests {
    fn default() -> Self {
        Self {
            clock: WallClock::system(),
            wrong_tokens: Attempts::default(),
            uploads: ClientPlaces::new(UPLOADS, 1),
            handed_in: Mutex::default(),
            slots: Mutex::default(),
            rounds: Mutex::default(),
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
    /// was handed in here is there at once, and the phase is that of now. While somebody reads it, all
    /// others have what was read before.
    async fn recent(&self, store: &Store, contest: Contest) -> Result<Arc<Standing>, ContestError> {
        let slot = self.slot(contest.id);
        let now = self.clock.unix_ms();
        let kept = |is_good: fn(&KeptReading<Standing>) -> bool| {
            let is_published = contest.published_unix_ms.is_some();
            slot.kept(is_good).filter(|standing| {
                standing.contest == contest
                    && standing.phase == standing.rules.phase(now, is_published)
            })
        };
        let _reading = match slot.reading.try_lock() {
            Ok(reading) => reading,
            Err(_) => match kept(KeptReading::is_fresh_enough) {
                Some(standing) => return Ok(standing),
                None => slot.reading.lock().await,
            },
        };
        if let Some(standing) = kept(KeptReading::is_fresh) {
            return Ok(standing);
        }
        let began = Instant::now();
        let read = KeptReading::since(began, Standing::of(store, contest, now).await?);
        let standing = read.value.clone();
        *slot.kept.lock() = Some(read);
        Ok(standing)
    }

    fn slot(&self, contest: ContestId) -> Arc<Slot<Standing>> {
        self.slots.lock().entry(contest).or_default().clone()
    }

    /// Hears of what a contestant hands in. Whoever sees the entries of others as well hears nothing,
    /// and has to look.
    fn heard(&self, contest: ContestId, viewer: Viewer) -> watch::Receiver<u64> {
        let contestant = match viewer {
            Viewer::Contestant(number) => Some(number),
            Viewer::Organiser | Viewer::Other => None,
        };
        let mut handed_in = self.handed_in.lock();
        let of_contestant = handed_in.entry((contest, contestant)).or_default();
        of_contestant.subscribe()
    }

    /// A contest has changed here: whoever asks next reads it anew.
    async fn read_again(&self, contest: ContestId) {
        let slot = self.slot(contest);
        // Who reads now may have begun before.
        let _reading = slot.reading.lock().await;
        *slot.kept.lock() = None;
    }

    /// Something was handed in.
    async fn tell_of_entry(&self, contest: ContestId, entry: &Entry) {
        let slot = self.slot(contest);
        // Who reads now may have begun before it was there.
        let reading = slot.reading.lock().await;
        if let Some(kept) = slot.kept.lock().as_mut() {
            Arc::make_mut(&mut kept.value).add(entry.clone());
        }
        drop(reading);
        let handed_in = self.handed_in.lock();
        if let Some(of_contestant) = handed_in.get(&(contest, Some(entry.contestant))) {
            of_contestant.send_modify(|number| *number += 1);
        }
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
