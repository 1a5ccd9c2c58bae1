//! The arena of a simulation: all of it is the real thing, except for its store's connection.

use std::{sync::Arc, time::Duration};

use arena_dispatch::{
    DispatchService, Examines, NewObserver, Replays, ServiceOptions, TournamentOptions,
    Tournaments, WorkerAccess,
};
use arena_proto::arena::v1::dispatch_server::DispatchServer;
use arena_simulation::{
    Beside, HostClock,
    network::{self, HostNetwork},
};
use arena_store::Store;
use tokio_util::sync::CancellationToken;

use crate::{
    observer::Hears,
    player::{PORT, schemes},
    service::Watched,
    storage::BesideStorage,
    trouble::Trouble,
    watch::Watch,
};

/// Time that a lease is kept without a sign of its worker.
const LEASE: Duration = Duration::from_secs(8);

/// Parts that outlive a crash of the arena's host.
#[derive(Clone)]
pub(crate) struct Arena {
    pub(crate) store: Store,
    pub(crate) beside: Beside,
    pub(crate) clock: HostClock,
    pub(crate) seed: u64,
    pub(crate) watch: Watch,
    pub(crate) trouble: Trouble,
    pub(crate) access: WorkerAccess,
    pub(crate) live: bool,
    pub(crate) replays: Replays,
}

impl Arena {
    pub(crate) async fn serve(self, network: HostNetwork) -> turmoil::Result {
        let (watch, seed) = (self.watch.clone(), self.seed);
        let storage =
            BesideStorage::new(self.store, self.beside, watch.clone(), self.trouble, seed);
        let options = TournamentOptions {
            lease: LEASE,
            live: self.live,
            clock: self.clock.wall_clock(),
            ..TournamentOptions::default()
        };
        let observer = new_observer(watch.clone());
        let tournaments = Arc::new(Tournaments::new(storage, schemes(), options, observer));
        let mut sample_seed = [0; 32];
        sample_seed[..8].copy_from_slice(&seed.to_le_bytes());
        let options = ServiceOptions {
            access: self.access,
            replays: self.replays,
            sample_seed,
            examines: Examines::Inline,
            plays_here: false,
        };
        let stop = CancellationToken::new();
        let service = DispatchService::new(tournaments.clone(), options, stop.clone());
        let watched = Watched {
            service: service.clone(),
            watch,
        };
        let incoming = network.incoming(PORT).await?;
        let serving = network::server()
            .add_service(DispatchServer::new(watched))
            .serve_with_incoming(incoming);
        let (served, (), ()) =
            tokio::join!(serving, service.look_after(), tournaments.supervise(&stop));
        Ok(served?)
    }
}

fn new_observer(watch: Watch) -> NewObserver {
    Box::new(move |queued, plan| {
        Arc::new(Hears {
            tournament: queued.name.clone(),
            has_secrets: plan.kind.has_secrets(),
            watch: watch.clone(),
            told: Default::default(),
        })
    })
}
