//! The state that all pages are made from.

use std::sync::Arc;

use arena_store::Store;
use axum::{
    extract::State,
    http::HeaderName,
    response::{IntoResponse as _, Response},
};
use ipnet::IpNet;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    advice::Adviser,
    caller::Caller,
    client::Proxies,
    contest::Contests,
    error::{Full, PageError},
    evaluation::Evaluations,
    feed::{self, Feeds},
    frame::Frame,
    hub::Hub,
    people::{People, PeopleOptions},
    places::{ClientPlaces, NoPlace},
    queue::WorkQueue,
    standing::StandingsCache,
};

/// One client has at most this share of all connections, and half as many pages that it follows.
const OF_ONE_CLIENT: usize = 4;
/// Of four connections at most three are those of pages that are followed: others can still look.
const FOLLOWERS: (usize, usize) = (3, 4);

/// The options of a site, from which its pages are made.
pub struct SiteOptions {
    /// The store of tournaments. It is read only.
    pub store: Store,
    /// The hub that hears of the tournaments that are played in this process.
    pub hub: Arc<Hub>,
    /// Games of people; none where nobody may play.
    pub people: Option<PeopleOptions>,
    /// Gives hints and evaluates games.
    pub adviser: Adviser,
    /// True if the contests of the store are shown, and entries are taken.
    pub contests: bool,
    /// The host names of the page besides localhost and addresses.
    pub names: Vec<String>,
    /// The proxies before the page: what they write into `X-Forwarded-For` is believed.
    pub proxies: Vec<IpNet>,
    /// The header in which these say who a person is whom they have asked, for contests.
    pub user_header: Option<HeaderName>,
    /// Most connections that are open at once. A browser that follows a page has one of its own.
    pub connections: usize,
}

pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) hub: Arc<Hub>,
    pub(crate) feeds: Feeds,
    pub(crate) standings: StandingsCache,
    pub(crate) evaluations: Evaluations,
    pub(crate) people: Option<Arc<People>>,
    /// None where contests are not shown.
    pub(crate) contests: Option<Contests>,
    pub(crate) names: Vec<String>,
    pub(crate) proxies: Proxies,
    /// Connections, by those who connect.
    pub(crate) connections: ClientPlaces,
    /// Pages that are followed, by clients.
    pub(crate) followers: ClientPlaces,
    pub(crate) stop: CancellationToken,
}

/// The site, as handlers get it.
pub(crate) type OfSite = State<Arc<Site>>;

impl Site {
    pub(crate) fn new(options: SiteOptions, stop: CancellationToken) -> Self {
        let SiteOptions {
            store,
            hub,
            people,
            adviser,
            contests,
            names,
            proxies,
            user_header,
            connections,
        } = options;
        let queue = Arc::new(WorkQueue::new());
        if let Err(error) = queue.start() {
            tracing::error!(%error, "nobody is given a hint or an evaluation");
        }
        let of_one = connections.div_ceil(OF_ONE_CLIENT);
        let followers = connections * FOLLOWERS.0 / FOLLOWERS.1;
        Self {
            standings: StandingsCache::new(store.clone()),
            evaluations: Evaluations::new(adviser.clone(), queue.clone()),
            feeds: Feeds::new(hub.clone()),
            people: people.map(|options| Arc::new(People::new(options, adviser, queue))),
            contests: contests.then(Contests::default),
            names: names
                .into_iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
            proxies: Proxies {
                networks: proxies,
                user_header,
            },
            connections: ClientPlaces::new(connections, of_one),
            followers: ClientPlaces::new(followers, of_one.div_ceil(2)),
            store,
            hub,
            stop,
        }
    }

    /// The games of people; an error where nobody may play.
    pub(crate) fn people(&self) -> Result<&Arc<People>, PageError> {
        self.people.as_ref().ok_or_else(|| {
            PageError::NotFound(
                "nobody can play here: the arena was started with --no-play".to_owned(),
            )
        })
    }

    /// Lets a caller follow a topic, as [`Feeds::follow`] has it: they are sent all, and then what
    /// changes. After a while that ends, and the browser comes again where it is still there. `held`
    /// is dropped when it goes. Whoever accepts JSON is sent all as it is now, and asks again.
    pub(crate) async fn follow<R, F, H>(
        &self,
        caller: &Caller,
        topic: String,
        heard: watch::Receiver<u64>,
        held: H,
        render: R,
    ) -> Response
    where
        R: FnMut() -> F + Send + 'static,
        F: Future<Output = Result<Frame, PageError>> + Send,
        H: Send + 'static,
    {
        if caller.accepts_json {
            let following = self.feeds.follow(topic, heard, render);
            return feed::newest(following, &self.stop, caller).await;
        }
        let place = match self.followers.take(caller.client) {
            Ok(place) => place,
            Err(NoPlace::Full) => return PageError::from(Full::Followers).into_response(),
            Err(NoPlace::Enough) => {
                return PageError::from(Full::FollowersOfClient).into_response();
            }
        };
        let following = self.feeds.follow(topic, heard, render);
        feed::events(following, self.stop.clone(), (place, held)).into_response()
    }
}
