//! The result of a tournament where nothing goes wrong: one worker in the dispatcher's own process,
//! results in memory; without a network, a service and a store.

use std::sync::Arc;

use arena_tournament::{
    Definition, DispatchOptions, Dispatcher, MemoryResults, Plan, Results as _, Silent,
};
use referee_bots::Entry;
use referee_core::Root;
use referee_worker::{Abilities, ChunkBounds, Stop, Worker};

use crate::{games::Functions, player::schemes, table::Table};

/// Plays a tournament of these bots.
pub(crate) fn table(definition: Definition, bots: &[String], root: Root) -> Table {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime
        .expect("a runtime")
        .block_on(play(definition, bots, root))
}

async fn play(definition: Definition, bots: &[String], root: Root) -> Table {
    let schemes = schemes();
    let entries = bots.iter().map(|bot| Entry::read(bot, &schemes));
    let entries = entries.collect::<Result<_, _>>().expect("bots");
    let plan = Plan::new(definition, entries, root, &schemes).expect("a plan");
    let results = MemoryResults::new();
    let dispatcher = Dispatcher::open(
        Arc::new(plan),
        results.clone(),
        DispatchOptions::default(),
        Arc::new(Silent),
        Arc::default(),
    );
    let worker = Worker {
        name: "reference".to_owned(),
        session: None,
        can: Arc::new(Abilities::Local),
        scope: None,
        games_at_once: 1,
        bounds: ChunkBounds::default(),
        dispatch: Arc::new(dispatcher.await.expect("a dispatcher")),
        games: Arc::new(Functions::at_once()),
        stop: Stop::default(),
    };
    worker.run().await.expect("it plays to the end");
    let scores = results.scores().await.expect("scores");
    Table::new(&results.games(), scores).expect("each game counts once")
}
