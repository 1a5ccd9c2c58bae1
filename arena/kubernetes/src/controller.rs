//! The loop that has the cluster play what is to be played: watches Jobs and pods, works out what
//! to do ([`reconcile`]), does it, and says what stands in the way.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PropagationPolicy},
    runtime::{WatchStreamExt as _, reflector, watcher},
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    Action, ObservedCluster, ReconcileMemory, Settings, WantedTournaments, names, reconcile,
};

/// The name of this program where objects say which program has set which of their fields.
const MANAGER: &str = "bot-arena";
/// After a change others follow soon: they are looked at together.
const SETTLE: Duration = Duration::from_millis(200);
/// Also where nothing is seen to change, what is to be played may have.
const GLANCE: Duration = Duration::from_secs(2);
/// The pause after something that failed.
const PAUSE: Duration = Duration::from_secs(2);
/// So many things are done at once, at most.
const AT_ONCE: usize = 8;

/// The source of what is to be played, which is told what stands in the way.
pub trait TournamentSource: Send + Sync {
    /// The tournaments that are to be played now; nothing where that is not known yet.
    fn wanted(&self) -> Option<WantedTournaments>;

    /// Takes the troubles that a tournament waits for, by key; none if there is no trouble.
    fn wait(&self, key: &str, troubles: &[String]);
}

/// Reason why a cluster can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// It can't be reached, or we may not do there what we must.
    #[error("{what}: {error}")]
    Cluster {
        /// The thing that was to be done.
        what: &'static str,
        /// The error of the client.
        error: kube::Error,
    },
}

/// Has a cluster play tournaments.
pub struct Controller<S> {
    client: Client,
    settings: Settings,
    source: Arc<S>,
    now: UnixClock,
}

/// The time, in seconds since 1970.
pub type UnixClock = Box<dyn Fn() -> i64 + Send + Sync>;

impl<S: TournamentSource> Controller<S> {
    /// A controller of the cluster that `client` reaches.
    #[must_use]
    pub const fn new(client: Client, settings: Settings, source: Arc<S>, now: UnixClock) -> Self {
        Self {
            client,
            settings,
            source,
            now,
        }
    }

    /// Checks that Jobs and pods of the namespace can be listed.
    ///
    /// # Errors
    ///
    /// They can't.
    pub async fn check(&self) -> Result<(), ControllerError> {
        let one = self.list_one();
        let jobs = self.jobs().list(&one).await;
        jobs.map_err(|error| ControllerError::Cluster {
            what: "could not list the Jobs of the namespace",
            error,
        })?;
        let pods = self.pods().list(&one).await;
        pods.map_err(|error| ControllerError::Cluster {
            what: "could not list the pods of the namespace",
            error,
        })?;
        Ok(())
    }

    /// Has the cluster play what is to be played until it is stopped. What fails is logged and
    /// tried again. What was made stays, and the next controller takes it up.
    pub async fn run(&self, stop: &CancellationToken) {
        let changed = Arc::new(Notify::new());
        let (jobs, watch_jobs) = watched(self.jobs(), self.watching(), changed.clone());
        let (pods, watch_pods) = watched(self.pods(), self.watching(), changed.clone());
        let reconciling = async {
            // Not before both are known: what is not seen would be made again.
            let ready =
                async { tokio::try_join!(jobs.wait_until_ready(), pods.wait_until_ready()) };
            if ready.await.is_err() {
                return;
            }
            let mut memory = ReconcileMemory::default();
            loop {
                let failed = self.step(&jobs.state(), &pods.state(), &mut memory).await;
                if failed {
                    tokio::time::sleep(PAUSE).await;
                }
                tokio::select! {
                    () = changed.notified() => tokio::time::sleep(SETTLE).await,
                    () = tokio::time::sleep(GLANCE) => {}
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = watch_jobs => {}
            () = watch_pods => {}
            () = reconciling => {}
        }
    }

    /// Looks once, and does what is to be done. True where something of it failed.
    async fn step(
        &self,
        jobs: &[Arc<Job>],
        pods: &[Arc<Pod>],
        memory: &mut ReconcileMemory,
    ) -> bool {
        let observed =
            ObservedCluster::of(jobs.iter().map(|job| &**job), pods.iter().map(|pod| &**pod));
        let Some(wanted) = self.source.wanted() else {
            return false;
        };
        let reconciled = reconcile(&self.settings, &wanted, &observed, memory, (self.now)());
        for (key, troubles) in &reconciled.troubles {
            self.source.wait(key, troubles);
        }
        let doing = reconciled.actions.into_iter().map(|action| async move {
            let done = self.act(&action).await;
            (action, done)
        });
        let mut failed = false;
        let mut doing = futures_util::stream::iter(doing).buffered(AT_ONCE);
        while let Some((action, done)) = doing.next().await {
            if let Err(error) = done {
                failed = true;
                // An answer may be lost and the object there all the same: then it is seen soon.
                if matches!(&error, kube::Error::Api(status) if status.code < 500) {
                    memory.forget(action.name());
                }
                tracing::warn!(action = action.word(), object = action.name(), %error, "it is tried again");
            }
        }
        failed
    }

    async fn act(&self, action: &Action) -> Result<(), kube::Error> {
        let remove = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            ..DeleteParams::default()
        };
        match action {
            Action::Apply(job) => self.apply(&self.jobs(), &**job).await,
            Action::ApplyPod(pod) => self.apply(&self.pods(), &**pod).await,
            Action::Suspend(name) => {
                let suspend = serde_json::json!({ "spec": { "suspend": true } });
                let patched = self
                    .jobs()
                    .patch(name, &PatchParams::default(), &Patch::Merge(suspend))
                    .await;
                gone_is_fine(patched.map(drop))
            }
            Action::Admit(name) => {
                let gate = serde_json::json!({ "name": names::GATE, "$patch": "delete" });
                let admit = serde_json::json!({ "spec": { "schedulingGates": [gate] } });
                let patched = self
                    .pods()
                    .patch(name, &PatchParams::default(), &Patch::Strategic(admit))
                    .await;
                gone_is_fine(patched.map(drop))
            }
            Action::Remove(name) => {
                let removed = self.jobs().delete(name, &remove).await;
                gone_is_fine(removed.map(drop))
            }
            Action::RemovePod(name) => {
                let removed = self.pods().delete(name, &remove).await;
                gone_is_fine(removed.map(drop))
            }
        }
    }

    async fn apply<K>(&self, api: &Api<K>, object: &K) -> Result<(), kube::Error>
    where
        K: kube::Resource + Clone + std::fmt::Debug + DeserializeOwned + Serialize,
    {
        let patch = PatchParams::apply(MANAGER);
        let (name, object) = (object.name_any(), Patch::Apply(object));
        api.patch(&name, &patch, &object).await.map(drop)
    }

    fn jobs(&self) -> Api<Job> {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }

    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }

    fn list_one(&self) -> kube::api::ListParams {
        kube::api::ListParams::default()
            .labels(&names::selector(&self.settings))
            .limit(1)
    }

    fn watching(&self) -> watcher::Config {
        watcher::Config::default().labels(&names::selector(&self.settings))
    }
}

/// The known objects of a kind, and the future that keeps them up to date.
fn watched<K>(
    api: Api<K>,
    config: watcher::Config,
    changed: Arc<Notify>,
) -> (reflector::Store<K>, impl Future<Output = ()>)
where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static,
{
    let (store, mut writer) = reflector::store();
    let watching = async move {
        loop {
            let mut events = std::pin::pin!(watcher(api.clone(), config.clone()).default_backoff());
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        writer.apply_watcher_event(&event);
                        changed.notify_one();
                    }
                    Err(error) => {
                        tracing::debug!(%error, "a watch has ended");
                        // It would be asked for with the same revision again and again.
                        if is_expired(&error) {
                            break;
                        }
                    }
                }
            }
            // Everything is listed anew.
            tokio::time::sleep(PAUSE).await;
        }
    };
    (store, watching)
}

/// True if the server does not know any more what has changed since.
fn is_expired(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchStartFailed(kube::Error::Api(status)) if status.code == 410)
}

/// Takes "not found" for success: an object that is not there need not be removed.
fn gone_is_fine(done: Result<(), kube::Error>) -> Result<(), kube::Error> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        done => done,
    }
}

impl Action {
    /// The name of the object that it is about.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Apply(job) => job.metadata.name.as_deref().unwrap_or_default(),
            Self::ApplyPod(pod) => pod.metadata.name.as_deref().unwrap_or_default(),
            Self::Suspend(name)
            | Self::Admit(name)
            | Self::Remove(name)
            | Self::RemovePod(name) => name,
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Apply(_) => "make a Job",
            Self::ApplyPod(_) => "make a pod",
            Self::Suspend(_) => "suspend a Job",
            Self::Admit(_) => "admit a referee",
            Self::Remove(_) => "remove a Job",
            Self::RemovePod(_) => "remove a pod",
        }
    }
}
