//! Tournaments on Kubernetes. The engine is Kubernetes' own: a match is an Indexed Job, an index is
//! a chunk of its games, and nothing of placing, starting or retrying pods is done here. What is
//! here: the objects that are made for a match ([`job`], [`bot_pod`]), what is to be done so that
//! the cluster has what should be there ([`reconcile`], which computes and does nothing else), and
//! the loop that does it ([`Controller`]).
//!
//! Results come from the pods to the arena as from any worker; nothing is counted from Jobs.

mod controller;
pub mod names;
mod objects;
mod observed;
mod quota;
mod reconcile;
mod removal;
mod room;
mod settings;
mod status_map;
mod tournament;

pub use controller::{Controller, ControllerError, TournamentSource, UnixClock};
pub use objects::{
    ArenaPod, RefereePod, bot_pod, builder_pod, game_needs, gate_address, job, probe_pod,
};
pub use observed::{JobEnd, ObservedCluster, Of, PodPhase, Role, SeenJob, SeenLimits, SeenPod};
pub use quota::{Amounts, SeenQuota};
pub use reconcile::{Action, ReconcileMemory, Reconciled, reconcile};
pub use removal::{Removed, list_all, remove_all, tournament_of};
pub use settings::{Builder, LARGEST_SETTINGS, OneBot, Placing, PullPolicy, Settings, Share};
pub use status_map::StatusMap;
pub use tournament::{PodBot, PodImage, PodMatch, PodProgram, PodTournament, WantedTournaments};
