//! `arena kubernetes doctor`: what is wrong with a cluster, and how to mend it.

use std::time::{SystemTime, UNIX_EPOCH};

use arena_kubernetes::{ObservedCluster, PodPhase, Role, SeenPod, names};
use arena_terminal::{beside::DoctorArgs, report};
use k8s_openapi::api::{
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::{Namespace, ResourceQuota, Secret, Service, ServiceAccount},
};
use kube::{
    Api, Client,
    api::{ListParams, LogParams, PostParams},
};
use referee_cli::End;
use referee_core::printable_lines;
use referee_worker::remote::{NO_CONNECTION, WAITING_FOR_BOTS};

use super::{Looked, look, settings, status::troubles};
use crate::pods;

/// The oldest minor version of Kubernetes 1 that has what Jobs need.
const OLDEST: u32 = 33;
/// The rights that the arena needs in its namespace.
const RIGHTS: &[(&str, &str, &str)] = &[
    ("batch", "jobs", "list"),
    ("batch", "jobs", "watch"),
    ("batch", "jobs", "create"),
    ("batch", "jobs", "patch"),
    ("batch", "jobs", "delete"),
    ("", "pods", "list"),
    ("", "pods", "watch"),
    ("", "pods", "create"),
    ("", "pods", "patch"),
    ("", "pods", "delete"),
];

/// Longest time that a running referee should take to join the arena, in seconds.
const SLOW_JOIN: i64 = 60;
/// So many of them are looked at, and so many bytes of a line read.
const MOST_LATE: usize = 10;
const LONGEST_LINE: i64 = 4096;

/// Findings: the things that were looked at, and their faults.
struct Findings {
    wrong: u32,
    /// Names of the things that this account may not look at.
    hidden: Vec<String>,
}

impl Findings {
    fn fine(&mut self, what: &str) -> anyhow::Result<()> {
        report::line(&format!("ok     {what}"))?;
        Ok(())
    }

    fn wrong(&mut self, what: &str, mend: &str) -> anyhow::Result<()> {
        self.wrong += 1;
        report::line(&format!("WRONG  {what}\n       {mend}"))?;
        Ok(())
    }

    fn unknown(&mut self, what: &str, error: &kube::Error) -> anyhow::Result<()> {
        let said = match error {
            kube::Error::Api(status) if status.code == 403 => {
                self.hidden.push(what.to_owned());
                return Ok(());
            }
            // Its other words are fields for programs.
            kube::Error::Api(status) => &status.message,
            other => &other.to_string(),
        };
        report::line(&format!("?      {what}: {said}"))?;
        Ok(())
    }

    fn end(self) -> anyhow::Result<End> {
        if !self.hidden.is_empty() {
            report::line(&format!(
                "?      this account may not look at {}; run `arena kubernetes doctor` where kubectl \
                 works to have them looked at too",
                self.hidden.join(", ")
            ))?;
        }
        Ok(match self.wrong {
            0 => End::Done,
            _ => End::No,
        })
    }
}

pub(crate) async fn doctor(args: &DoctorArgs) -> anyhow::Result<End> {
    let settings = settings(&args.cluster)?;
    let client = pods::client().await?;
    let mut findings = Findings {
        wrong: 0,
        hidden: Vec::new(),
    };
    if !version(&client, &mut findings).await? {
        return Ok(End::No);
    }
    let namespace = &settings.namespace;
    namespace_of(&client, namespace, &mut findings).await?;
    for (group, resource, verb) in RIGHTS {
        let may = may(&client, namespace, group, resource, verb).await;
        let what = format!("you may {verb} {resource} in {namespace}");
        match may {
            // One line for all that is as it should be.
            Ok(true) => {}
            Ok(false) => findings.wrong(
                &format!("you may not {verb} {resource} in {namespace}"),
                "if you run as the arena does: apply deploy/kubernetes/base, which has its rights",
            )?,
            Err(error) => findings.unknown(&what, &error)?,
        }
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    for name in ["referee-tls", "gate-tls"] {
        let there = secrets
            .get_metadata_opt(name)
            .await
            .map(|found| found.is_some());
        there_is(
            &mut findings,
            "Secret",
            name,
            there,
            "deploy/kubernetes/setup.sh makes it",
        )?;
    }
    for name in ["arena", "bots"] {
        let there = services.get_opt(name).await.map(|found| found.is_some());
        there_is(
            &mut findings,
            "Service",
            name,
            there,
            "apply deploy/kubernetes/base",
        )?;
    }
    let name = &settings.service_account;
    let there = accounts.get_opt(name).await.map(|found| found.is_some());
    there_is(
        &mut findings,
        "ServiceAccount",
        name,
        there,
        "apply deploy/kubernetes/base",
    )?;
    quotas(&client, namespace, &mut findings).await?;
    let looked = look(&args.cluster).await?;
    games(&looked, &mut findings).await?;
    findings.end()
}

async fn version(client: &Client, findings: &mut Findings) -> anyhow::Result<bool> {
    let version = match client.apiserver_version().await {
        Ok(version) => version,
        Err(error) => {
            findings.wrong(
                &format!("the cluster does not answer: {error}"),
                "`kubectl get nodes` must work first",
            )?;
            return Ok(false);
        }
    };
    let minor: String = version
        .minor
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let (major, minor) = (&version.major, minor.parse::<u32>().unwrap_or(0));
    if major == "1" && minor < OLDEST {
        findings.wrong(
            &format!("the cluster is Kubernetes {}", version.git_version),
            &format!("Jobs of games need 1.{OLDEST} or later"),
        )?;
    } else {
        findings.fine(&format!(
            "the cluster is Kubernetes {}",
            version.git_version
        ))?;
    }
    Ok(true)
}

async fn namespace_of(client: &Client, name: &str, findings: &mut Findings) -> anyhow::Result<()> {
    const ENFORCE: &str = "pod-security.kubernetes.io/enforce";
    let namespaces: Api<Namespace> = Api::all(client.clone());
    match namespaces.get_opt(name).await {
        Ok(Some(namespace)) => {
            let labels = namespace.metadata.labels.unwrap_or_default();
            match labels.get(ENFORCE).map(String::as_str) {
                Some("restricted") => {
                    findings.fine(&format!("the namespace {name} enforces `restricted`"))
                }
                _ => findings.wrong(
                    &format!("the namespace {name} does not enforce the Pod Security Standard `restricted`"),
                    &format!("kubectl label namespace {name} {ENFORCE}=restricted"),
                ),
            }
        }
        Ok(None) => findings.wrong(
            &format!("there is no namespace {name}"),
            "apply deploy/kubernetes/base, or say another one in the settings",
        ),
        Err(error) => findings.unknown(&format!("the namespace {name}"), &error),
    }
}

async fn may(
    client: &Client,
    namespace: &str,
    group: &str,
    resource: &str,
    verb: &str,
) -> Result<bool, kube::Error> {
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(namespace.to_owned()),
                group: Some(group.to_owned()),
                resource: Some(resource.to_owned()),
                verb: Some(verb.to_owned()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = reviews.create(&PostParams::default(), &review).await?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

fn there_is(
    findings: &mut Findings,
    kind: &str,
    name: &str,
    there: Result<bool, kube::Error>,
    mend: &str,
) -> anyhow::Result<()> {
    match there {
        Ok(true) => findings.fine(&format!("there is the {kind} {name}")),
        Ok(false) => findings.wrong(&format!("there is no {kind} {name}"), mend),
        Err(error) => findings.unknown(&format!("the {kind} {name}"), &error),
    }
}

/// Quotas that leave no room.
async fn quotas(client: &Client, namespace: &str, findings: &mut Findings) -> anyhow::Result<()> {
    let quotas: Api<ResourceQuota> = Api::namespaced(client.clone(), namespace);
    let found = match quotas.list(&ListParams::default()).await {
        Ok(found) => found,
        Err(error) => return findings.unknown("the quotas of the namespace", &error),
    };
    for quota in found {
        let name = quota.metadata.name.unwrap_or_default();
        let status = quota.status.unwrap_or_default();
        let used = status.used.unwrap_or_default();
        for (what, most) in status.hard.unwrap_or_default() {
            if used.get(&what).is_some_and(|used| *used == most) {
                findings.wrong(
                    &format!("the quota {name} is used up: {what} {}", most.0),
                    "wait, make it larger, or set fewer max_jobs or pods_per_job",
                )?;
            }
        }
    }
    Ok(())
}

/// Reports the obstacles to the pods of games.
async fn games(looked: &Looked, findings: &mut Findings) -> anyhow::Result<()> {
    let observed = looked.observed();
    let troubles = troubles(looked, &observed);
    let late = late_referees(looked, &observed).await;
    for (pod, said) in &late {
        findings.wrong(
            &format!(
                "the referee {pod} runs for more than {SLOW_JOIN} s and has not joined the arena; \
                 it said last: {said}"
            ),
            "see whether the cluster has DNS for its pods, and whether policies of its network let \
             referees reach the arena's port 50060 and the bots' port 50051",
        )?;
    }
    for trouble in &troubles {
        findings.wrong(
            trouble,
            "`arena kubernetes logs TOURNAMENT` and `kubectl describe pod` say more",
        )?;
    }
    if troubles.is_empty() && late.is_empty() {
        findings.fine(&format!(
            "{} and {} of games are as they should be",
            report::plural(observed.jobs.len() as u64, "Job"),
            report::plural(observed.pods.len() as u64, "pod")
        ))?;
    }
    Ok(())
}

/// Referees that run and have not joined the arena for longer than that takes, with the last line
/// that each has written.
async fn late_referees(looked: &Looked, observed: &ObservedCluster) -> Vec<(String, String)> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    });
    let is_late = |pod: &&SeenPod| {
        pod.role == Role::Referee
            && pod.phase == PodPhase::Running
            && !pod.leaving
            && now > pod.since + SLOW_JOIN
    };
    let wanted = LogParams {
        container: Some(names::REFEREE.to_owned()),
        tail_lines: Some(1),
        limit_bytes: Some(LONGEST_LINE),
        ..LogParams::default()
    };
    let mut late = Vec::new();
    for pod in observed.pods.iter().filter(is_late).take(MOST_LATE) {
        // Whoever may not read logs sees the rest all the same.
        let Ok(log) = looked.pods_api().logs(&pod.name, &wanted).await else {
            continue;
        };
        let said = printable_lines(log.trim());
        if [WAITING_FOR_BOTS, NO_CONNECTION]
            .iter()
            .any(|line| said.contains(line))
        {
            late.push((pod.name.clone(), said));
        }
    }
    late
}
