//! What all pages are made from.

use std::sync::Arc;

use arena_store::Store;
use tokio_util::sync::CancellationToken;

use crate::{
    evaluation::{ChooseBot, Evaluations},
    feed::Feeds,
    hub::Hub,
    people::{People, PeopleOptions},
    standing::Standings,
};

/// What a page is made from.
pub struct SiteOptions {
    /// Where tournaments are. It is read only.
    pub store: Store,
    /// What is heard of the tournaments that are played in this process.
    pub hub: Arc<Hub>,
    /// Games of people; none where nobody may play.
    pub people: Option<PeopleOptions>,
    /// Whose estimates evaluate games; where it has no bot for a game, random playouts do.
    pub analyst: ChooseBot,
    /// The host names of the page besides localhost and addresses.
    pub names: Vec<String>,
}

pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) hub: Arc<Hub>,
    pub(crate) feeds: Feeds,
    pub(crate) standings: Standings,
    pub(crate) evaluations: Evaluations,
    pub(crate) people: Option<Arc<People>>,
    pub(crate) names: Vec<String>,
    pub(crate) stop: CancellationToken,
}

impl Site {
    pub(crate) fn new(options: SiteOptions, stop: CancellationToken) -> Self {
        let SiteOptions {
            store,
            hub,
            people,
            analyst,
            names,
        } = options;
        Self {
            standings: Standings::new(store.clone()),
            evaluations: Evaluations::new(analyst.clone()),
            feeds: Feeds::new(hub.clone()),
            people: people.map(|options| Arc::new(People::new(options, analyst))),
            names: names
                .into_iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
            store,
            hub,
            stop,
        }
    }
}
