//! Looks whether the network of a cluster enforces its NetworkPolicies, with two pods that try to
//! connect to the arena: a referee's may, and a bot's may not.

use std::time::{Duration, SystemTime};

use arena_kubernetes::{Settings, names, probe_pod};
use arena_tournament::unix_ms;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use tokio::{net::lookup_host, time::Instant};

/// Longest time until a pod has looked.
const WITHIN: Duration = Duration::from_secs(90);
/// Time between two looks at a pod.
const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// The exit code of `referee reach` where it could not connect.
const UNREACHED: i32 = 1;

/// The pods that could connect to the arena.
pub(super) struct Probed {
    /// A pod like a referee's.
    pub(super) referee: bool,
    /// A pod like a bot's.
    pub(super) bot: bool,
}

/// Makes two pods, and removes them when they have looked; or says why nothing is known.
pub(super) async fn probe(client: &Client, settings: &Settings) -> Result<Probed, String> {
    let address = address(client, settings).await?;
    let now = unix_ms(SystemTime::now()) / 1000;
    let reaches = |role: &'static str| reaches(client, settings, role, now, &address);
    let (referee, bot) = tokio::join!(reaches(names::REFEREE), reaches(names::BOT));
    Ok(Probed {
        referee: referee?,
        bot: bot?,
    })
}

/// The arena's address as a number: bots may not ask for names.
async fn address(client: &Client, settings: &Settings) -> Result<String, String> {
    let (_, authority) = settings
        .arena
        .split_once("://")
        .unwrap_or(("", &settings.arena));
    let authority = authority.trim_end_matches('/');
    if let Ok(mut found) = lookup_host(authority).await
        && let Some(address) = found.next()
    {
        return Ok(address.to_string());
    }
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "50060"));
    let services: Api<Service> = Api::namespaced(client.clone(), &settings.namespace);
    let name = host.split('.').next().unwrap_or(host);
    let service = services.get(name).await;
    let service = service.map_err(|error| format!("the Service {name}: {error}"))?;
    let ip = service.spec.and_then(|spec| spec.cluster_ip);
    match ip.filter(|ip| ip != "None" && !ip.is_empty()) {
        Some(ip) if ip.contains(':') => Ok(format!("[{ip}]:{port}")),
        Some(ip) => Ok(format!("{ip}:{port}")),
        None => Err(format!("the Service {name} has no address")),
    }
}

/// True if a pod of this role can connect.
async fn reaches(
    client: &Client,
    settings: &Settings,
    role: &str,
    now: i64,
    address: &str,
) -> Result<bool, String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &settings.namespace);
    let name = format!("{}-probe-{role}-{now}", settings.instance);
    let pod = probe_pod(settings, role, &name, address);
    let made = pods.create(&PostParams::default(), &pod).await;
    made.map_err(|error| format!("could not make the pod {name}: {error}"))?;
    let reached = ended(&pods, &name).await;
    // Whatever became of it: one that has ended stays else.
    let _ = pods.delete(&name, &DeleteParams::default()).await;
    reached
}

/// The answer of a pod.
async fn ended(pods: &Api<Pod>, name: &str) -> Result<bool, String> {
    let begin = Instant::now();
    loop {
        let pod = pods.get(name).await;
        let pod = pod.map_err(|error| format!("the pod {name}: {error}"))?;
        let status = pod.status.unwrap_or_default();
        let containers = status.container_statuses.unwrap_or_default();
        let state = containers.into_iter().next().and_then(|one| one.state);
        let ended = state.as_ref().and_then(|state| state.terminated.as_ref());
        match ended.map(|ended| ended.exit_code) {
            Some(0) => return Ok(true),
            Some(UNREACHED) => return Ok(false),
            Some(code) => {
                return Err(format!(
                    "the pod {name} ended with exit code {code}; is referee_image of this version?"
                ));
            }
            None if begin.elapsed() < WITHIN => tokio::time::sleep(LOOKS_EVERY).await,
            None => {
                let waiting = state.and_then(|state| state.waiting);
                let why = waiting.and_then(|waiting| waiting.reason);
                let why = why.unwrap_or_else(|| "it has no node".to_owned());
                return Err(format!(
                    "the pod {name} has not run within {} s: {why}",
                    WITHIN.as_secs()
                ));
            }
        }
    }
}
