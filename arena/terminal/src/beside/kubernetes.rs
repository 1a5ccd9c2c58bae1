//! The arguments of `arena kubernetes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::StoreAt;

/// `arena kubernetes`.
#[derive(Subcommand)]
pub enum KubernetesCommand {
    /// Print what a tournament would have made in a cluster; needs no cluster
    Render(RenderArgs),
    /// The Jobs and pods of a tournament, and what stands in its way
    Status(ClusterStatusArgs),
    /// What the pods of a tournament have said
    Logs(LogsArgs),
    /// Cancel a tournament, or all, and remove its Jobs and pods
    Cancel(ClusterCancelArgs),
    /// Look for what is wrong with a cluster, and say how to mend it
    Doctor(DoctorArgs),
    /// Print the settings of `arena serve --kubernetes=FILE`, with their defaults
    Settings,
}

/// Which cluster, and which part of it.
#[derive(Args)]
pub struct ClusterArgs {
    /// The settings that the arena has: the namespace is said there.
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
}

/// The objects of a tournament.
#[derive(Args)]
pub struct RenderArgs {
    /// The tournament's file.
    pub file: PathBuf,
    /// How many matches, from the first on [default: as many as there are Jobs at once].
    #[arg(long, value_name = "NUMBER")]
    pub matches: Option<usize>,
    /// YAML documents, or an object of JSON on each line; kubectl takes both.
    #[arg(long, value_enum, default_value_t = ObjectFormat::Yaml)]
    pub format: ObjectFormat,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// How objects are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would show it with each value")]
pub enum ObjectFormat {
    Yaml,
    Json,
}

/// What of a tournament is in a cluster.
#[derive(Args)]
pub struct ClusterStatusArgs {
    /// The tournament's name.
    pub name: String,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// The logs of a tournament's pods.
#[derive(Args)]
pub struct LogsArgs {
    /// The tournament's name.
    pub name: String,
    /// Of this match alone.
    #[arg(long = "match", value_name = "NUMBER")]
    pub matchup: Option<u32>,
    /// Of this bot alone.
    #[arg(long)]
    pub bot: Option<String>,
    /// How many lines of each container, from the last ones.
    #[arg(long, default_value_t = 20)]
    pub tail: u32,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// The end of a tournament, and of its pods.
#[derive(Args)]
pub struct ClusterCancelArgs {
    /// The tournament's name.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub name: Option<String>,
    /// All tournaments of the store that are played on Kubernetes, and all Jobs and pods of games of
    /// the namespace, as before it is deleted. Without a store on this machine only these: end the
    /// arena before, or it makes them again.
    #[arg(long)]
    pub all: bool,
    /// Where it is stored.
    #[command(flatten)]
    pub store: StoreAt,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// A look for what is wrong.
#[derive(Args)]
pub struct DoctorArgs {
    /// Try with two pods of the referee's image whether the network enforces the NetworkPolicies:
    /// one that may connect to the arena, and one that may not.
    #[arg(long)]
    pub probe: bool,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
