//! Games on a Kubernetes cluster: the tournaments that are to be played, for the controller.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_dispatch::{Pulse, Tournaments, WithPods};
use arena_kubernetes::{
    Controller, LARGEST_SETTINGS, PodTournament, Removed, Settings, TournamentSource,
    WantedTournaments,
};
use arena_store::{Store, TournamentId};
use arena_terminal::report;
use arena_tournament::{Dispatcher, Results, unix_ms};
use parking_lot::Mutex;
use referee_bots::read_input_text;
use referee_cli::usage;

/// So many matches of a tournament are looked at for those that can be played: more than there are
/// Jobs, since some may have bots that can't be started.
pub(crate) const MOST_MATCHES: usize = 2_000;

/// Longest time for the removal of what has been made, when the arena ends: a pod is killed 30 s after
/// it was told to end.
const REMOVED_WITHIN: Duration = Duration::from_secs(20);

/// The settings of a file, or the usual ones.
pub(crate) fn settings(file: Option<&Path>) -> anyhow::Result<Settings> {
    let Some(file) = file else {
        return Ok(Settings::default());
    };
    let what = file.display();
    let text = match read_input_text(file, LARGEST_SETTINGS) {
        Ok(text) => text,
        Err(error) => return usage(format!("{what}: {error}")),
    };
    Settings::parse(&text).or_else(|error| usage(format!("{what}: {error}")))
}

/// The controller that has the cluster play, if it can be reached.
pub(crate) async fn controller(
    client: kube::Client,
    settings: Settings,
    tournaments: Arc<Tournaments<Store>>,
    turns: Arc<Pulse>,
) -> anyhow::Result<Controller<Playing>> {
    let playing = Playing {
        tournaments,
        settings: settings.clone(),
        ids: Mutex::default(),
        turns,
    };
    let now = || unix_ms(SystemTime::now()) / 1000;
    let controller = Controller::new(client, settings, Arc::new(playing), Box::new(now));
    controller.check().await?;
    Ok(controller)
}

/// Removes everything that has been made for games, and says what is left.
pub(crate) async fn remove(controller: &Controller<Playing>) {
    match controller.remove_all(REMOVED_WITHIN).await {
        Ok(removed) => report_removed(&removed),
        Err(error) => report::warning(&error.to_string()),
    }
}

/// Says what of the Jobs and pods of games has been removed.
pub(crate) fn report_removed(removed: &Removed) {
    report::note(&format!(
        "{} and {} are removed",
        report::plural(removed.jobs as u64, "Job"),
        report::plural(removed.pods as u64, "pod")
    ));
    if !removed.left.is_empty() {
        report::warning(&format!("still there: {}", removed.left.join(", ")));
    }
}

/// The cluster that this machine is configured for, or is in.
pub(crate) async fn client() -> anyhow::Result<kube::Client> {
    kube::Client::try_default().await.or_else(|error| {
        usage(format!(
            "no Kubernetes cluster: expected to be in one, or a file ~/.kube/config or $KUBECONFIG \
             ({error})"
        ))
    })
}

/// Number of games in a chunk of a tournament.
fn games<R: Results>(settings: &Settings, dispatcher: &Dispatcher<R>) -> u64 {
    let on = dispatcher.plan().definition.kubernetes;
    match on.and_then(|on| on.games) {
        Some(games) => games.into(),
        None => settings.games_in_a_chunk(dispatcher.usual_game()),
    }
}

/// Number of chunks that are left of each tournament that is being played.
pub(crate) fn chunks_left(
    settings: &Settings,
    tournaments: &Tournaments<Store>,
) -> Vec<(String, u64)> {
    tournaments.chunks_left(&|dispatcher| games(settings, dispatcher), MOST_MATCHES)
}

/// The tournaments that are being played.
pub(crate) struct Playing {
    tournaments: Arc<Tournaments<Store>>,
    settings: Settings,
    /// The tournaments that the controller has been told of, by key.
    ids: Mutex<BTreeMap<String, TournamentId>>,
    /// The times at which the controller has asked.
    turns: Arc<Pulse>,
}

impl TournamentSource for Playing {
    fn wanted(&self) -> Option<WantedTournaments> {
        self.turns.beat();
        let games = |dispatcher: &Dispatcher<_>| games(&self.settings, dispatcher);
        let told = self.tournaments.with_pods(&games, MOST_MATCHES)?;
        let tournaments: Vec<(TournamentId, PodTournament)> = told
            .iter()
            .filter_map(|told| Some((told.id, tournament(told)?)))
            .collect();
        let ids = tournaments.iter().map(|(id, one)| (one.key.clone(), *id));
        *self.ids.lock() = ids.collect();
        Some(WantedTournaments {
            tournaments: tournaments.into_iter().map(|(_, one)| one).collect(),
            others: self.tournaments.not_here(),
        })
    }

    fn wait(&self, key: &str, troubles: &[String]) {
        let ids = self.ids.lock();
        if let Some(id) = ids.get(key) {
            let waits =
                (!troubles.is_empty()).then(|| format!("its pods: {}", troubles.join("; ")));
            self.tournaments.set_pods_wait(*id, waits);
        }
    }
}

fn tournament(told: &WithPods) -> Option<PodTournament> {
    let definition = &told.plan.definition;
    Some(PodTournament::new(
        &told.plan.root.commitment(),
        told.name.clone(),
        definition.kubernetes?.isolation,
        definition.memory_mib,
        told.games,
        &told.matches,
    ))
}

#[cfg(test)]
mod tests {
    use arena_dispatch::TournamentOptions;

    use arena_store::{NewEntrant, NewTournament, QueuedTournament, Wish};
    use arena_tournament::{Definition, Observer, Plan, Silent};
    use referee_bots::Schemes;
    use referee_core::Root;
    use referee_worker::{
        Abilities, Dispatch as _, Summary,
        lease::{GameReport, LeaseReply, LeaseRequest, ReportReply},
    };
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// Ten games between two bots.
    fn cup() -> NewTournament {
        let definition = Definition {
            deals: 5,
            filler: "exec:true".to_owned(),
            ..Definition::round_robin("othello", vec![serde_json::Value::Null])
        };
        let entrants = ["a", "b"].map(|name| NewEntrant::new(name, "exec:true"));
        let root = Root::new([7; 32]);
        definition
            .tournament("cup", entrants.into(), root, 0)
            .unwrap()
    }

    /// Plays one game, in which each bot thinks for 15 seconds.
    async fn play_one(tournaments: &Tournaments<Store>) {
        let request = LeaseRequest {
            worker: "one".to_owned(),
            session: None,
            can: Arc::new(Abilities::Local),
            games: 1,
            scope: None,
        };
        let LeaseReply::Work(lease) = tournaments.lease(request).await.unwrap() else {
            panic!("nothing has been played");
        };
        let summary = Summary {
            places: vec![1, 1],
            scores: vec![32, 32],
            reason: "full".to_owned(),
            fouls: Vec::new(),
            plies: 60,
            thought_us: vec![15_000_000; 2],
            thinking: vec![BTreeMap::new(); 2],
            excused: vec![0; 2],
            course: 0,
            play_hash: String::new(),
        };
        let report = GameReport {
            lease: lease.id,
            key: lease.games[0].key,
            summary,
            record: Some(Vec::new()),
            logs: Vec::new(),
        };
        let reply = tournaments.report(report).await.unwrap();
        assert_eq!(reply, ReportReply::Accepted);
    }

    #[tokio::test]
    async fn the_chunks_that_are_left_are_as_long_as_the_operator_says() {
        let store = Store::open_in_memory().await.unwrap();
        let id = store.create(&cup()).await.unwrap().id;
        store.set_wish(id, Some(Wish::Play)).await.unwrap();
        let observer =
            Box::new(|_: &QueuedTournament, _: &Arc<Plan>| Arc::new(Silent) as Arc<dyn Observer>);
        let options = TournamentOptions::default();
        let tournaments = Tournaments::new(store, Schemes::with(vec![]), options, observer);
        let stop = CancellationToken::new();
        let told = async {
            play_one(&tournaments).await;
            let told = [1, 60, 3600].map(|chunk_seconds| {
                let settings = Settings {
                    chunk_seconds,
                    ..Settings::default()
                };
                chunks_left(&settings, &tournaments)
            });
            stop.cancel();
            told
        };
        let both = async { tokio::join!(told, tournaments.supervise(&stop)) };
        let both = tokio::time::timeout(Duration::from_secs(60), both).await;
        let (told, _) = both.expect("it ends");
        assert_eq!(told.map(|told| told[0].1), [10, 5, 1]);
    }
}
