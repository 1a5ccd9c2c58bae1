//! The loop that has the cluster play what is to be played: watches Jobs and pods, works out what
//! to do ([`reconcile`]), does it, and says what stands in the way.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Event, Pod, ResourceQuota},
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PropagationPolicy},
    core::NamespaceResourceScope,
    runtime::{WatchStreamExt as _, reflector, watcher},
};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    Action, ObservedCluster, ReconcileMemory, SeenLimits, Settings, WantedTournaments, names,
    quota, reconcile,
    removal::{self, Removed, gone_is_fine, set},
};

/// The name of this program where objects say which program has set which of their fields.
pub(crate) const MANAGER: &str = "bot-arena";
/// After a change others follow soon: they are looked at together.
const SETTLE: Duration = Duration::from_millis(200);
/// Also where nothing is seen to change, what is to be played may have.
const GLANCE: Duration = Duration::from_secs(2);
/// Time between two looks at the limits of the namespace.
const LIMITS_EVERY: Duration = Duration::from_secs(10);
/// The most events that are read.
const MOST_EVENTS: u32 = 500;
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
        let limits = Mutex::new(SeenLimits::default());
        let watch_limits = self.watch_limits(&limits, &changed);
        let reconciling = async {
            // Not before both are known: what is not seen would be made again.
            let ready =
                async { tokio::try_join!(jobs.wait_until_ready(), pods.wait_until_ready()) };
            if ready.await.is_err() {
                return;
            }
            let mut memory = ReconcileMemory::default();
            loop {
                let observed = ObservedCluster {
                    limits: limits.lock().clone(),
                    ..observed(&jobs.state(), &pods.state())
                };
                let failed = self.step(&observed, &mut memory).await;
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
            () = watch_limits => {}
            () = reconciling => {}
        }
    }

    /// Removes everything that has been made for games, and waits until it is gone.
    ///
    /// # Errors
    ///
    /// The cluster can't be reached, or we may not do there what we must.
    pub async fn remove_all(&self, within: Duration) -> Result<Removed, ControllerError> {
        removal::remove_all(&self.client, &self.settings, None, within).await
    }

    /// Keeps the limits of the namespace up to date. An account that may not read them does without.
    async fn watch_limits(&self, limits: &Mutex<SeenLimits>, changed: &Notify) {
        let mut look = 0;
        loop {
            look += 1;
            match SeenLimits::look(&self.client, &self.settings, look).await {
                Ok(seen) => {
                    *limits.lock() = seen;
                    changed.notify_one();
                }
                Err(error) => tracing::debug!(%error, "could not read the limits of the namespace"),
            }
            tokio::time::sleep(LIMITS_EVERY).await;
        }
    }

    /// Looks once, and does what is to be done. True where something of it failed.
    async fn step(&self, observed: &ObservedCluster, memory: &mut ReconcileMemory) -> bool {
        let Some(wanted) = self.source.wanted() else {
            return false;
        };
        let reconciled = reconcile(&self.settings, &wanted, observed, memory, (self.now)());
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
                // Somebody is told what it waits for.
                if let (Action::ApplyPod(_), kube::Error::Api(status)) = (&action, &error)
                    && status.code == 403
                    && !memory.refuse(action.name(), &status.message, (self.now)())
                {
                    continue;
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
                set(&self.jobs(), name, serde_json::json!({ "suspend": true })).await
            }
            Action::Scale { job, parallelism } => {
                let number = serde_json::json!({ "parallelism": parallelism });
                set(&self.jobs(), job, number).await
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
        self.api()
    }

    fn pods(&self) -> Api<Pod> {
        self.api()
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }

    fn list_one(&self) -> ListParams {
        ListParams::default()
            .labels(&names::selector(&self.settings))
            .limit(1)
    }

    fn watching(&self) -> watcher::Config {
        watcher::Config::default().labels(&names::selector(&self.settings))
    }
}

fn observed(jobs: &[Arc<Job>], pods: &[Arc<Pod>]) -> ObservedCluster {
    ObservedCluster::of(jobs.iter().map(|job| &**job), pods.iter().map(|pod| &**pod))
}

impl SeenLimits {
    /// Looks at the limits of the namespace; `look` is the number of this look. An account that may
    /// not list events does without.
    ///
    /// # Errors
    ///
    /// Quotas can't be listed.
    pub async fn look(
        client: &Client,
        settings: &Settings,
        look: u64,
    ) -> Result<Self, kube::Error> {
        let quotas: Api<ResourceQuota> = Api::namespaced(client.clone(), &settings.namespace);
        let events: Api<Event> = Api::namespaced(client.clone(), &settings.namespace);
        let of_jobs = format!("involvedObject.kind=Job,reason={}", quota::FAILED_CREATE);
        let of_jobs = ListParams::default().fields(&of_jobs).limit(MOST_EVENTS);
        let all = ListParams::default();
        let (quotas, events) = tokio::join!(quotas.list(&all), events.list(&of_jobs));
        let events = match events {
            Ok(events) => events.items,
            Err(kube::Error::Api(status)) if status.code == 403 => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Self::of(look, settings, &quotas?.items, events))
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

impl Action {
    /// The name of the object that it is about.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Apply(job) => job.metadata.name.as_deref().unwrap_or_default(),
            Self::ApplyPod(pod) => pod.metadata.name.as_deref().unwrap_or_default(),
            Self::Suspend(name)
            | Self::Scale { job: name, .. }
            | Self::Remove(name)
            | Self::RemovePod(name) => name,
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Apply(_) => "make a Job",
            Self::ApplyPod(_) => "make a pod",
            Self::Suspend(_) => "suspend a Job",
            Self::Scale { .. } => "let a Job have more or fewer pods",
            Self::Remove(_) => "remove a Job",
            Self::RemovePod(_) => "remove a pod",
        }
    }
}
