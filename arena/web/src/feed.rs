//! What changes while somebody looks. A frame is what of a page can change; whoever follows is sent
//! the parts that differ from what they were sent last. One task makes the frames of a topic for
//! all who follow it; it waits for nobody, and whoever is slow gets the newest frame next.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use arena_draw::Picture;
use axum::response::{
    IntoResponse as _, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::{Stream, stream};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{
    client::Client,
    error::{Full, PageError},
    hub::Hub,
    places::NoPlace,
    site::Site,
};

/// How long a frame stands at least.
pub(crate) const PACE: Duration = Duration::from_millis(200);
/// A frame is made anew after this time even where nothing was heard: others may have written to
/// the store.
const AGAIN: Duration = Duration::from_secs(3);
/// How often it is looked whether somebody follows what bots play.
const LOOK: Duration = Duration::from_secs(10);
/// The topics of games that people play begin with this.
pub(crate) const TABLE: &str = "table ";
/// How often somebody who follows hears that the connection lives.
const ALIVE: Duration = Duration::from_secs(15);
/// How long somebody is sent what changes before their browser has to ask again. It is less than a
/// connection may last.
pub(crate) const LONGEST: Duration = Duration::from_secs(10 * 60);
/// How soon a browser asks again.
const AFTER: Duration = Duration::from_secs(1);

/// What of a page can change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) blocks: Vec<Block>,
    /// What a screen reader says of it.
    pub(crate) said: String,
    /// Whether nothing comes after it.
    pub(crate) is_last: bool,
}

/// An element of a page by its id, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) id: String,
    pub(crate) html: Arc<str>,
    /// Elements in it that can be replaced one by one, by their ids.
    pub(crate) parts: Vec<(String, Arc<str>)>,
}

impl Block {
    pub(crate) fn new(id: impl Into<String>, html: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            html: html.into().into(),
            parts: Vec::new(),
        }
    }

    /// A picture, whose parts are replaced one by one.
    pub(crate) fn of_picture(
        id: impl Into<String>,
        picture: &Picture,
        prefix: &str,
        title: &str,
    ) -> Self {
        let parts = picture.parts.iter();
        Self {
            id: id.into(),
            html: picture.svg(title).into(),
            parts: parts
                .map(|part| (format!("{prefix}{}", part.key), part.svg.as_str().into()))
                .collect(),
        }
    }
}

/// What differs between two frames.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Changes<'a> {
    /// What is now in an element.
    inner: BTreeMap<&'a str, &'a str>,
    /// What an element is now.
    outer: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<&'a str>,
    last: bool,
}

impl Frame {
    /// What differs from the frame before; all of it where there was none. None where nothing does.
    pub(crate) fn since<'a>(&'a self, before: Option<&Frame>) -> Option<Changes<'a>> {
        let mut changes = Changes {
            last: self.is_last,
            ..Changes::default()
        };
        for block in &self.blocks {
            let old = before.and_then(|before| before.blocks.iter().find(|old| old.id == block.id));
            match old {
                Some(old) if old == block => {}
                Some(old) if has_same_parts(old, block) => {
                    let pairs = old.parts.iter().zip(&block.parts);
                    let changed = pairs.filter(|(old, new)| old.1 != new.1);
                    changes
                        .outer
                        .extend(changed.map(|(_, (id, html))| (&**id, &**html)));
                }
                _ => drop(changes.inner.insert(&block.id, &block.html)),
            }
        }
        if before.is_none_or(|before| before.said != self.said) && !self.said.is_empty() {
            changes.said = Some(&self.said);
        }
        let is_news = !changes.inner.is_empty()
            || !changes.outer.is_empty()
            || changes.said.is_some()
            || before.is_none_or(|before| before.is_last != self.is_last);
        is_news.then_some(changes)
    }
}

fn has_same_parts(old: &Block, new: &Block) -> bool {
    // The element around the parts has a size and a role.
    let around = |block: &Block| block.html.split('>').next().map(str::to_owned);
    !new.parts.is_empty()
        && around(old) == around(new)
        && old.parts.len() == new.parts.len()
        && (old.parts.iter().zip(&new.parts)).all(|(old, new)| old.0 == new.0)
}

/// The newest frame of a topic; none before the first one is made.
pub(crate) type Following = watch::Receiver<Option<Arc<Frame>>>;
type Topic = Arc<watch::Sender<Option<Arc<Frame>>>>;

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

    /// Says whether somebody follows what bots play, as long as the page is served.
    pub(crate) async fn look_after(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let topics = self.topics.lock();
            let is_watched = topics.keys().any(|topic| !topic.starts_with(TABLE));
            self.hub.set_watched(is_watched);
        }
    }

    /// Follows a topic. The first who does so has its frames made by `render`, each time that
    /// something is `heard`, until nobody follows it any more; where it gives none, there is nothing
    /// to follow any more.
    fn follow<R, F>(
        &self,
        topic: String,
        mut heard: watch::Receiver<u64>,
        mut render: R,
    ) -> Following
    where
        R: FnMut() -> F + Send + 'static,
        F: Future<Output = Option<Frame>> + Send,
    {
        if !topic.starts_with(TABLE) {
            self.hub.set_watched(true);
        }
        let mut topics = self.topics.lock();
        if let Some(sender) = topics.get(&topic) {
            return sender.subscribe();
        }
        let (sender, following) = watch::channel(None);
        let sender = Arc::new(sender);
        topics.insert(topic.clone(), sender.clone());
        drop(topics);
        let all = self.topics.clone();
        tokio::spawn(async move {
            loop {
                heard.mark_unchanged();
                let frame = render().await;
                let is_last = frame.as_ref().is_none_or(|frame| frame.is_last);
                if let Some(frame) = frame {
                    sender.send_if_modified(|now| {
                        let is_new = now.as_deref() != Some(&frame);
                        if is_new {
                            *now = Some(Arc::new(frame));
                        }
                        is_new
                    });
                }
                if is_last {
                    break;
                }
                tokio::time::sleep(PACE).await;
                tokio::select! {
                    _ = heard.changed() => {}
                    () = tokio::time::sleep(AGAIN) => {}
                    () = sender.closed() => {}
                }
                // Somebody may come at the same time; under the lock it is decided.
                let mut topics = all.lock();
                if sender.receiver_count() == 0 {
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

impl Site {
    /// Lets a client follow a topic, as [`Feeds::follow`] has it: it is sent all, and then what
    /// changes. After a while that ends, and the browser comes again where it is still there. `held`
    /// is dropped when it goes.
    pub(crate) fn follow<R, F, H>(
        &self,
        client: Client,
        topic: String,
        heard: watch::Receiver<u64>,
        held: H,
        render: R,
    ) -> Response
    where
        R: FnMut() -> F + Send + 'static,
        F: Future<Output = Option<Frame>> + Send,
        H: Send + 'static,
    {
        let place = match self.followers.take(client) {
            Ok(place) => place,
            Err(NoPlace::Full) => return PageError::from(Full::Followers).into_response(),
            Err(NoPlace::Enough) => {
                return PageError::from(Full::FollowersOfClient).into_response();
            }
        };
        let following = self.feeds.follow(topic, heard, render);
        events(following, self.stop.clone(), (place, held)).into_response()
    }
}

/// What a browser is sent. `held` is dropped when it goes.
fn events<H: Send + 'static>(
    following: Following,
    stop: CancellationToken,
    held: H,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<H>> {
    let until = Instant::now() + LONGEST;
    let state = (following, None::<Arc<Frame>>, true, held);
    let events = stream::unfold(state, move |(mut following, before, is_first, held)| {
        let stop = stop.clone();
        async move {
            if before.as_ref().is_some_and(|before| before.is_last) {
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
                let event = frame
                    .since(before.as_deref())
                    .and_then(|changes| Event::default().retry(AFTER).json_data(changes).ok());
                if let Some(event) = event {
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

    fn frame(cells: &[&str]) -> Frame {
        let parts = cells.iter().enumerate();
        Frame {
            blocks: vec![
                Block {
                    id: "board".to_owned(),
                    html: format!("<svg>{}</svg>", cells.concat()).into(),
                    parts: parts
                        .map(|(at, html)| (format!("c{at}"), (*html).into()))
                        .collect(),
                },
                Block::new("moves", cells.join(",")),
            ],
            ..Frame::default()
        }
    }

    #[test]
    fn only_what_differs_is_sent() {
        let (before, after) = (frame(&["a", "b", "c"]), frame(&["a", "X", "c"]));
        let changes = after.since(Some(&before)).expect("something differs");
        assert_eq!(changes.outer, BTreeMap::from([("c1", "X")]));
        assert_eq!(changes.inner, BTreeMap::from([("moves", "a,X,c")]));
        assert_eq!(after.since(Some(&after)), None);
    }

    #[test]
    fn whoever_comes_gets_all_and_another_set_of_parts_too() {
        let all = frame(&["a", "b"]);
        let changes = all.since(None).expect("everything is new");
        assert_eq!(changes.inner.len(), 2);
        let fewer = frame(&["a"]);
        let changes = fewer.since(Some(&all)).expect("a part is gone");
        assert_eq!(changes.inner.get("board"), Some(&"<svg>a</svg>"));
        assert!(changes.outer.is_empty());
    }

    #[test]
    fn a_picture_of_another_size_or_role_is_sent_whole() {
        let (before, mut after) = (frame(&["a", "b"]), frame(&["a", "X"]));
        after.blocks[0].html = "<svg role=\"group\">aX</svg>".into();
        let changes = after.since(Some(&before)).expect("something differs");
        assert!(changes.outer.is_empty());
        assert!(changes.inner.contains_key("board"));
    }
}
