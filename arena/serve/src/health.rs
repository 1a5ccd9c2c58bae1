//! The health of an arena: whether the loops that have to go on do, and whether it can serve. It is
//! told over plain HTTP, for probes of Kubernetes and of others.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use arena_dispatch::{Pulse, Tournaments};
use arena_store::Store;
use referee_cli::usage;
use referee_net::{PageBounds, TextPage, serve_pages};
use tokio::net::TcpListener;

/// True of an arena that is not stuck. One that waits for its store or its cluster is not: to start
/// it again would help nobody.
const ALIVE: &str = "/healthz";
/// True of an arena that can give out work now.
const READY: &str = "/readyz";

/// Longest time of a turn of the dispatcher, with the transactions that it waits for.
const LONGEST_TURN: Duration = Duration::from_secs(120);
/// Longest time between two turns of the loop that has a cluster play, with its requests.
const LONGEST_TURN_OF_CLUSTER: Duration = Duration::from_secs(300);
/// Longest time since the store has answered.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// Listens at the address of the probes, if there is one.
pub(crate) async fn listen(address: Option<SocketAddr>) -> anyhow::Result<Option<TcpListener>> {
    let Some(address) = address else {
        return Ok(None);
    };
    let listener = TcpListener::bind(address).await;
    listener
        .map(Some)
        .or_else(|error| usage(format!("--health {address}: {error}")))
}

/// The parts of an arena whose health is told.
pub(crate) struct Health {
    pub(crate) tournaments: Arc<Tournaments<Store>>,
    /// The turns of the loop that has a cluster play.
    pub(crate) cluster: Arc<Pulse>,
}

impl Health {
    /// Tells it from now on.
    pub(crate) fn serve(self, listener: TcpListener) {
        let bounds = PageBounds::default();
        let render = move |path: &str| match path {
            ALIVE => page(&self.stuck()),
            _ => page(&self.unready()),
        };
        tokio::spawn(serve_pages(listener, None, bounds, &[ALIVE, READY], render));
    }

    /// The parts that are stuck, in words.
    fn stuck(&self) -> Vec<String> {
        let parts = [
            ("the dispatcher", self.tournaments.turns(), LONGEST_TURN),
            (
                "the Kubernetes loop",
                &*self.cluster,
                LONGEST_TURN_OF_CLUSTER,
            ),
        ];
        let late = parts.into_iter().filter_map(|(part, pulse, longest)| {
            let since = pulse.since().filter(|since| *since > longest)?;
            Some(format!("{part} has done nothing for {} s", since.as_secs()))
        });
        late.collect()
    }

    /// Reasons why no work can be given out, in words.
    fn unready(&self) -> Vec<String> {
        let mut reasons = self.stuck();
        match self.tournaments.reads().since() {
            None => reasons.push("the store has not been read".to_owned()),
            Some(since) if since > LONGEST_SILENCE => {
                let seconds = since.as_secs();
                reasons.push(format!("the store has not answered for {seconds} s"));
            }
            Some(_) => {}
        }
        reasons
    }
}

fn page(reasons: &[String]) -> TextPage {
    match reasons {
        [] => TextPage::Ok("ok\n".to_owned()),
        _ => TextPage::Unavailable(reasons.join("\n") + "\n"),
    }
}
