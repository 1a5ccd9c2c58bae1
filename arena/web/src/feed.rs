//! The changes of a page while somebody looks: whoever follows is sent the parts of the newest
//! frame that differ from what they were sent last. One task makes the frames of a topic for all
//! who follow it; it waits for nobody, and whoever is slow gets the newest frame next.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_TYPE, VARY},
    },
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, stream};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{caller::Caller, error::PageError, frame::Frame, hub::Hub};

/// Shortest time for which a frame stands.
pub(crate) const PACE: Duration = Duration::from_millis(200);
/// A frame is made anew after this time even where nothing was heard: others may have written to
/// the store.
const AGAIN: Duration = Duration::from_secs(3);
/// Time between two looks whether somebody follows what bots play.
const LOOK: Duration = Duration::from_secs(10);
/// The topics of games that people play begin with this.
pub(crate) const TABLE: &str = "table ";
/// Those of contests with this.
pub(crate) const CONTEST: &str = "contest ";
/// The time for which a topic stands although nobody follows it: more than that after which whoever
/// asks again and again comes.
const LINGER: Duration = Duration::from_secs(3);
/// Time between two signs that the connection lives, for somebody who follows. Proxies end those
/// that are silent for a minute, and some sooner; the script waits for more than two signs.
const ALIVE: Duration = Duration::from_secs(15);
/// Longest time for which somebody is sent what changes before their browser has to ask again. It
/// is less than a connection may last.
pub(crate) const LONGEST: Duration = Duration::from_secs(10 * 60);

/// The newest frame of a topic; none before the first one is made.
pub(crate) type Following = watch::Receiver<Option<Arc<NumberedFrame>>>;

/// A frame of a topic, with what nearly all who follow are sent of it.
pub(crate) struct NumberedFrame {
    pub(crate) frame: Frame,
    /// Counted from 0.
    number: u64,
    /// What has changed since the frame before, as JSON.
    changes: Option<String>,
}

struct Topic {
    sender: Arc<watch::Sender<Option<Arc<NumberedFrame>>>>,
    /// When somebody came last.
    asked: Instant,
}

/// The topics that are followed.
pub(crate) struct Feeds {
    hub: Arc<Hub>,
    topics: Arc<Mutex<HashMap<String, Topic>>>,
}

impl Feeds {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            topics: Arc::default(),
        }
    }

    /// Number of topics whose frames are made.
    #[cfg(test)]
    pub(crate) fn followed(&self) -> usize {
        self.topics.lock().len()
    }

    /// Says whether somebody follows what bots play, as long as the page is served.
    pub(crate) async fn look_after(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let topics = self.topics.lock();
            let is_watched = topics.keys().any(|topic| is_of_bots(topic));
            self.hub.set_watched(is_watched);
        }
    }

    /// Follows a topic. The first who does so has its frames made by `render`, each time that
    /// something is `heard`, until nobody follows it any more. Where a frame can't be made because of
    /// our own failure, the one before stands, and the next is tried; after any other error, or
    /// without a first frame, there is nothing to follow any more.
    pub(crate) fn follow<R, F>(
        &self,
        topic: String,
        mut heard: watch::Receiver<u64>,
        mut render: R,
    ) -> Following
    where
        R: FnMut() -> F + Send + 'static,
        F: Future<Output = Result<Frame, PageError>> + Send,
    {
        if is_of_bots(&topic) {
            self.hub.set_watched(true);
        }
        let mut topics = self.topics.lock();
        if let Some(known) = topics.get_mut(&topic) {
            known.asked = Instant::now();
            return known.sender.subscribe();
        }
        let (sender, following) = watch::channel(None);
        let sender = Arc::new(sender);
        let known = Topic {
            sender: sender.clone(),
            asked: Instant::now(),
        };
        topics.insert(topic.clone(), known);
        drop(topics);
        let all = self.topics.clone();
        tokio::spawn(async move {
            loop {
                heard.mark_unchanged();
                let is_last = match render().await {
                    Ok(frame) => {
                        let is_last = frame.is_last;
                        let before = sender.borrow().clone();
                        if let Some(next) = NumberedFrame::after(before.as_deref(), frame) {
                            sender.send_replace(Some(Arc::new(next)));
                        }
                        is_last
                    }
                    Err(error) => {
                        tracing::debug!(topic, %error, "no new frame");
                        !error.status().is_server_error() || sender.borrow().is_none()
                    }
                };
                if is_last {
                    break;
                }
                tokio::time::sleep(PACE).await;
                tokio::select! {
                    _ = heard.changed() => {}
                    () = tokio::time::sleep(AGAIN) => {}
                }
                // Somebody may come at the same time; under the lock it is decided.
                let mut topics = all.lock();
                let is_asked = |known: &Topic| known.asked.elapsed() < LINGER;
                if sender.receiver_count() == 0 && !topics.get(&topic).is_some_and(is_asked) {
                    topics.remove(&topic);
                    return;
                }
            }
            let mut topics = all.lock();
            topics.remove(&topic);
        });
        following
    }
}

impl NumberedFrame {
    /// The frame after this one; none where it is the same.
    fn after(before: Option<&Self>, frame: Frame) -> Option<Self> {
        if before.is_some_and(|before| before.frame == frame) {
            return None;
        }
        Some(Self {
            number: before.map_or(0, |before| before.number + 1),
            changes: changes(&frame, before.map(|before| &before.frame)),
            frame,
        })
    }

    /// What has changed since this one, as JSON; all of it where there was none.
    fn since(&self, before: Option<&Self>) -> Option<String> {
        match before {
            Some(before) if before.number + 1 == self.number => self.changes.clone(),
            before => changes(&self.frame, before.map(|before| &before.frame)),
        }
    }
}

/// What differs between two frames, as JSON.
fn changes(frame: &Frame, before: Option<&Frame>) -> Option<String> {
    serde_json::to_string(&frame.since(before)?).ok()
}

/// True if whoever follows a topic sees what bots play.
fn is_of_bots(topic: &str) -> bool {
    ![TABLE, CONTEST]
        .iter()
        .any(|begin| topic.starts_with(begin))
}

/// The newest frame whole, for a browser that asks again and again.
pub(crate) async fn newest(
    mut following: Following,
    stop: &CancellationToken,
    caller: &Caller,
) -> Response {
    let first = async {
        let frame = following.wait_for(Option::is_some).await.ok()?;
        frame.clone()
    };
    let frame = tokio::select! {
        () = stop.cancelled() => None,
        frame = first => frame,
    };
    let Some(changes) = frame.as_ref().and_then(|frame| frame.since(None)) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let tag = format!("\"{}\"", &hex::encode(Sha256::digest(&changes))[..24]);
    let mut response = caller.tagged(&tag, || ([(CONTENT_TYPE, "application/json")], changes));
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("accept"));
    response
}

/// The events that a browser is sent. `held` is dropped when it goes.
pub(crate) fn events<H: Send + 'static>(
    following: Following,
    stop: CancellationToken,
    held: H,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<H>> {
    let until = Instant::now() + LONGEST;
    let state = (following, None::<Arc<NumberedFrame>>, true, held);
    let events = stream::unfold(state, move |(mut following, before, is_first, held)| {
        let stop = stop.clone();
        async move {
            if before.as_ref().is_some_and(|before| before.frame.is_last) {
                return None;
            }
            let mut looks = is_first;
            loop {
                if !looks {
                    tokio::select! {
                        () = stop.cancelled() => return None,
                        () = sleep_until(until) => return None,
                        changed = following.changed() => changed.ok()?,
                    }
                }
                looks = false;
                let frame = following.borrow_and_update().clone();
                let Some(frame) = frame else {
                    continue;
                };
                if let Some(changes) = frame.since(before.as_deref()) {
                    let event = Event::default().data(changes);
                    return Some((Ok(event), (following, Some(frame), false, held)));
                }
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_stands_while_its_store_fails_and_ends_when_there_is_nothing_to_see() {
        let feeds = Feeds::new(Arc::default());
        let (tell, heard) = watch::channel(0_u64);
        let mut frames = 0;
        let mut following = feeds.follow("front en".to_owned(), heard, move || {
            frames += 1;
            std::future::ready(match frames {
                2 => Err(PageError::system("the store", "it is away")),
                1 | 3 => Ok(Frame {
                    said: frames.to_string(),
                    ..Frame::default()
                }),
                _ => Err(PageError::NotFound("gone".to_owned())),
            })
        });
        let mut said = Vec::new();
        while following.changed().await.is_ok() {
            let frame = following.borrow_and_update().clone();
            said.extend(frame.map(|one| one.frame.said.clone()));
            tell.send_modify(|number| *number += 1);
        }
        assert_eq!(said, ["1", "3"]);
        assert_eq!(feeds.followed(), 0);
        // Without a first frame there is nothing to wait for.
        let (_tell, heard) = watch::channel(0_u64);
        let mut following = feeds.follow("front en".to_owned(), heard, || {
            std::future::ready(Err(PageError::system("the store", "it is away")))
        });
        assert!(following.changed().await.is_err());
    }
}
