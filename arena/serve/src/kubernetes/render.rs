//! `arena kubernetes render`: the objects of a tournament, without a cluster.

use std::{collections::BTreeSet, sync::Arc};

use arena_kubernetes::{PodTournament, RefereePod, Settings, bot_pod, job, names};
use arena_terminal::{
    beside::{ObjectFormat, RenderArgs},
    report,
};
use arena_tournament::{
    Context, DispatchOptions, Dispatcher, Isolation, MemoryResults, On, Planned, RunCounters,
    Silent,
};
use referee_cli::{End, bots::schemes, usage};
use referee_core::Root;
use serde::Serialize;

use super::settings;
use crate::pods::MOST_MATCHES;

pub(crate) async fn render(args: &RenderArgs) -> anyhow::Result<End> {
    let settings = settings(&args.cluster)?;
    let schemes = schemes()?;
    let directory = std::env::current_dir()?;
    let context = Context {
        schemes: &schemes,
        directory: &directory,
        store: None,
        on: Some(On::Kubernetes),
    };
    let planned = Planned::read(&args.file, context).await?;
    let name = planned.name.clone();
    // Its real root is drawn when it is queued.
    let root = Root::new([0; 32]);
    let commitment = root.commitment();
    let plan = Arc::new(planned.plan(root, &schemes)?);
    let Some(on) = plan.definition.kubernetes else {
        return usage("the tournament is not on Kubernetes");
    };
    if on.isolation == Isolation::Services {
        report::note(
            "with isolation = \"services\" the arena makes nothing: bots and workers are \
             Deployments that somebody runs (deploy/kubernetes has an example)",
        );
        return Ok(End::Done);
    }
    let games = match on.games {
        Some(games) => games.into(),
        None => settings.games_in_a_chunk(None),
    };
    let memory_mib = plan.definition.memory_mib;
    let dispatcher = Dispatcher::open(
        plan,
        MemoryResults::new(),
        DispatchOptions::default(),
        Arc::new(Silent),
        Arc::new(RunCounters::default()),
    )
    .await?;
    let most = args.matches.unwrap_or(settings.max_jobs).min(MOST_MATCHES);
    let open = dispatcher.open_matches(games, most);
    let tournament = PodTournament::new(&commitment, name, on.isolation, memory_mib, games, &open);
    check_bots(&settings, &tournament)?;
    for of in &tournament.matches {
        print(args.format, &job(&settings, &tournament, of, 1))?;
        if on.isolation != Isolation::Pod {
            continue;
        }
        let job = names::job(&tournament.key, of.number, 1);
        // Of the first index; what the cluster gives a pod is not known yet.
        let referee = RefereePod {
            name: format!("{job}-0-00000"),
            uid: "00000000-0000-0000-0000-000000000000".to_owned(),
            ip: "192.0.2.1".to_owned(),
            job,
            index: "0".to_owned(),
            generation: 1,
        };
        for place in 0..of.bots.len() {
            if let Some(pod) = bot_pod(&settings, &tournament, of, place, &referee) {
                print(args.format, &pod)?;
            }
        }
    }
    Ok(End::Done)
}

/// Refuses bots that the arena would not have started either.
fn check_bots(settings: &Settings, tournament: &PodTournament) -> anyhow::Result<()> {
    let bots = tournament.matches.iter().flat_map(|of| &of.bots);
    let obstacles: BTreeSet<String> = bots.filter_map(|bot| bot.obstacle(settings)).collect();
    if obstacles.is_empty() {
        return Ok(());
    }
    let obstacles: Vec<String> = obstacles.into_iter().collect();
    usage(format!("bots: {}", obstacles.join("; ")))
}

fn print(format: ObjectFormat, object: &impl Serialize) -> anyhow::Result<()> {
    let text = match format {
        ObjectFormat::Yaml => format!("---\n{}", serde_saphyr::to_string(object)?),
        ObjectFormat::Json => format!("{}\n", serde_json::to_string(object)?),
    };
    report::text(&text)?;
    Ok(())
}
