//! Wrong tokens, by clients: whoever sends many has to wait.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{
    client::Client,
    error::{Full, PageError},
};

/// A client may be wrong so often in a window. A class may have one address, and no number of attempts
/// finds a token of 256 bits: this is for those whose program asks again and again.
pub(super) const MOST: u32 = 30;
const WINDOW: Duration = Duration::from_mins(1);

/// How often each client was wrong in this window.
#[derive(Default)]
pub(super) struct Attempts(Mutex<Wrong>);

#[derive(Default)]
struct Wrong {
    began: Option<Instant>,
    by_client: HashMap<Client, u32>,
}

impl Attempts {
    /// A client was wrong.
    ///
    /// # Errors
    ///
    /// It was so too often.
    pub(super) fn count(&self, client: Client) -> Result<(), PageError> {
        let mut wrong = self.0.lock();
        if wrong.began.is_none_or(|began| began.elapsed() >= WINDOW) {
            *wrong = Wrong {
                began: Some(Instant::now()),
                by_client: HashMap::new(),
            };
        }
        let times = wrong.by_client.entry(client).or_default();
        *times += 1;
        match *times > MOST {
            true => Err(Full::WrongTokens.into()),
            false => Ok(()),
        }
    }
}
