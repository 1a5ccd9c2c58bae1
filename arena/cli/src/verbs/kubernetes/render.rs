//! `arena kubernetes render`: the objects of a tournament, without a cluster.

use std::{path::PathBuf, sync::Arc};

use arena_kubernetes::{RefereePod, Tournament, bot_pod, job, names};
use arena_tournament::{
    Context, DispatchOptions, Dispatcher, Isolation, MemoryResults, On, Planned, RunCounters,
    Silent,
};
use clap::{Args, ValueEnum};
use referee_core::Root;
use serde::Serialize;

use super::Cluster;
use crate::{End, bots::schemes, pods::MOST_MATCHES, report, usage};

#[derive(Args)]
pub(crate) struct Render {
    /// The tournament's file.
    file: PathBuf,
    /// How many matches, from the first on [default: as many as there are Jobs at once].
    #[arg(long, value_name = "NUMBER")]
    matches: Option<usize>,
    /// YAML documents, or an object of JSON on each line; kubectl takes both.
    #[arg(long, value_enum, default_value_t = Form::Yaml)]
    format: Form,
    #[command(flatten)]
    cluster: Cluster,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Yaml,
    Json,
}

impl Render {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let settings = self.cluster.settings()?;
        let schemes = schemes()?;
        let directory = std::env::current_dir()?;
        let context = Context {
            schemes: &schemes,
            directory: &directory,
            store: None,
            on: Some(On::Kubernetes),
        };
        let planned = Planned::read(&self.file, context).await?;
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
        let most = self.matches.unwrap_or(settings.max_jobs).min(MOST_MATCHES);
        let open = dispatcher.open_matches(games, most);
        let tournament = Tournament::new(&commitment, name, on.isolation, memory_mib, games, &open);
        for of in &tournament.matches {
            self.format.print(&job(&settings, &tournament, of, 1))?;
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
                    self.format.print(&pod)?;
                }
            }
        }
        Ok(End::Done)
    }
}

impl Form {
    fn print(self, object: &impl Serialize) -> anyhow::Result<()> {
        let text = match self {
            Self::Yaml => format!("---\n{}", serde_saphyr::to_string(object)?),
            Self::Json => format!("{}\n", serde_json::to_string(object)?),
        };
        report::text(&text)?;
        Ok(())
    }
}
