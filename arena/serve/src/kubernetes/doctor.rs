//! `arena kubernetes doctor`: what is wrong with a cluster, and how to mend it.

use std::time::{SystemTime, UNIX_EPOCH};

use arena_kubernetes::{
    Amounts, ObservedCluster, PodBot, PodMatch, PodPhase, PodProgram, PodTournament, Role,
    SeenLimits, SeenPod, Settings, game_needs, names,
};
use arena_terminal::{beside::DoctorArgs, report};
use arena_tournament::Isolation;
use k8s_openapi::api::{
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::{Namespace, Pod, Secret, Service, ServiceAccount},
    networking::v1::NetworkPolicy,
};
use kube::{
    Api, Client,
    api::{LogParams, PostParams},
};
use referee_cli::End;
use referee_core::printable_lines;
use referee_worker::remote::{NO_CONNECTION, WAITING_FOR_BOTS};

use super::{
    Looked, look,
    probe::{Probed, probe},
    settings,
    status::{Trouble, troubles},
};
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
    ("", "resourcequotas", "list"),
    ("", "events", "list"),
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

    /// A thing that is as it should be, and that others have to make room for or to finish first.
    fn waits(&mut self, what: &str, until: &str) -> anyhow::Result<()> {
        report::line(&format!("waits  {what}\n       {until}"))?;
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
                "if you run as the arena does: apply deploy/kubernetes/base (or `helm upgrade`), which has \
                 its rights",
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
            "deploy/kubernetes/setup.sh makes it, or cert-manager (`kubectl get certificates`)",
        )?;
    }
    for name in ["arena", "bots"] {
        let there = services.get_opt(name).await.map(|found| found.is_some());
        there_is(
            &mut findings,
            "Service",
            name,
            there,
            "apply deploy/kubernetes/base, or `helm upgrade`",
        )?;
    }
    let name = &settings.service_account;
    let there = accounts.get_opt(name).await.map(|found| found.is_some());
    there_is(
        &mut findings,
        "ServiceAccount",
        name,
        there,
        "apply deploy/kubernetes/base, or `helm upgrade`",
    )?;
    policies(&client, namespace, &mut findings).await?;
    if args.probe {
        enforcement(&client, &settings, &mut findings).await?;
    } else {
        report::line(
            "?      whether the network enforces NetworkPolicies: --probe tries it with two pods",
        )?;
    }
    quotas(&client, &settings, &mut findings).await?;
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

/// The NetworkPolicies that keep the pods of games apart.
async fn policies(client: &Client, namespace: &str, findings: &mut Findings) -> anyhow::Result<()> {
    let policies: Api<NetworkPolicy> = Api::namespaced(client.clone(), namespace);
    for name in ["default-deny", "arena", "referees", "bots"] {
        let there = policies.get_metadata_opt(name).await;
        let there = there.map(|found| found.is_some());
        let mend = "apply deploy/kubernetes/base (or `helm upgrade`); without it a bot may reach what it \
                    likes";
        there_is(findings, "NetworkPolicy", name, there, mend)?;
    }
    Ok(())
}

/// Tries whether the network enforces them.
async fn enforcement(
    client: &Client,
    settings: &Settings,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    match probe(client, settings).await {
        Ok(Probed {
            referee: true,
            bot: false,
        }) => findings.fine(
            "the network enforces NetworkPolicies: a referee's pod can connect to the arena, a \
             bot's can't",
        ),
        Ok(Probed { bot: true, .. }) => findings.wrong(
            "the network does not enforce NetworkPolicies: a bot's pod can connect to the arena",
            "use a network that enforces them, such as Calico or Cilium; until then a bot reaches the \
             whole cluster and whatever the cluster reaches",
        ),
        Ok(Probed { .. }) => findings.wrong(
            "a referee's pod can't connect to the arena",
            "see whether the arena runs, and whether the policies `arena` and `referees` are those \
             of deploy/kubernetes/base",
        ),
        Err(why) => {
            report::line(&format!(
                "?      whether the network enforces NetworkPolicies: {why}"
            ))?;
            Ok(())
        }
    }
}

/// Quotas that leave no room.
async fn quotas(
    client: &Client,
    settings: &Settings,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let limits = match SeenLimits::look(client, settings, 1).await {
        Ok(limits) => limits,
        Err(error) => return findings.unknown("the quotas of the namespace", &error),
    };
    let needs = needs_of_two(settings);
    for quota in &limits.quotas {
        let name = &quota.name;
        if let Some(impossible) = quota.impossible(&needs) {
            findings.wrong(
                &format!(
                    "the ResourceQuota {name} is too small for a game of two bots in pods of their \
                     own: {impossible}"
                ),
                "make it larger, or [referee] and [bot] smaller in the settings",
            )?;
        } else if let Some(shortage) = quota.shortage(&needs) {
            findings.waits(
                &format!("the ResourceQuota {name} has no room for another game: {shortage}"),
                "games go on as others end; a larger quota lets more be played at once",
            )?;
        } else {
            findings.fine(&format!(
                "the ResourceQuota {name} has room for another game"
            ))?;
        }
    }
    Ok(())
}

/// The amounts that a game of two bots in pods of their own needs.
fn needs_of_two(settings: &Settings) -> Amounts {
    let bots = ["one", "other"].map(|name| PodBot {
        name: name.to_owned(),
        program: PodProgram::Packed { needs: Vec::new() },
    });
    let of = PodMatch {
        number: 0,
        bots: bots.into(),
        chunks: 1,
    };
    let tournament = PodTournament::new("", String::new(), Isolation::Pod, None, 1, &[]);
    game_needs(settings, &tournament, &of)
}

/// Reports the obstacles to the pods of games.
async fn games(looked: &Looked, findings: &mut Findings) -> anyhow::Result<()> {
    let observed = looked.observed();
    let troubles = troubles(looked, &observed);
    let (waiting, late) = late_referees(looked, &observed).await;
    for (pod, bots) in &waiting {
        findings.waits(
            &format!("the referee {pod} waits for its bots: {bots}"),
            "what holds their pods up is said below, or by `arena tournament status`",
        )?;
    }
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
    for Trouble { words, is_full } in &troubles {
        match is_full {
            true => findings.waits(
                words,
                "the cluster is full, and it is played when others have ended; if it waits though \
                 nothing else runs, [referee] or [bot] in the settings ask for more than a node has",
            )?,
            false => findings.wrong(
                words,
                "`arena kubernetes logs TOURNAMENT` and `kubectl describe pod` say more",
            )?,
        }
    }
    if troubles.is_empty() && late.is_empty() && waiting.is_empty() {
        findings.fine(&format!(
            "{} and {} of games are as they should be",
            report::plural(observed.jobs.len() as u64, "Job"),
            report::plural(observed.pods.len() as u64, "pod")
        ))?;
    }
    Ok(())
}

/// What a line of a log says: containers log JSON.
fn message(line: &str) -> String {
    let read: Option<serde_json::Value> = serde_json::from_str(line).ok();
    let fields = read.as_ref().and_then(|read| read["fields"].as_object());
    let Some(message) = fields.and_then(|fields| fields.get("message")?.as_str()) else {
        return line.to_owned();
    };
    let others = fields.into_iter().flatten();
    let others = others.filter_map(|(name, value)| {
        let value = value.as_str().filter(|_| name != "message")?;
        Some(format!("; {name}: {value}"))
    });
    message.to_owned() + &others.collect::<String>()
}

/// Referees that run and have not joined the arena for longer than that takes: those whose bots' pods
/// do not run yet, with how many do, and the others, with the last line that each has written.
async fn late_referees(
    looked: &Looked,
    observed: &ObservedCluster,
) -> (Vec<(String, String)>, Vec<(String, String)>) {
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
    let (mut waiting, mut late) = (Vec::new(), Vec::new());
    for pod in observed.pods.iter().filter(is_late).take(MOST_LATE) {
        // Whoever may not read logs sees the rest all the same.
        let Ok(log) = looked.pods_api().logs(&pod.name, &wanted).await else {
            continue;
        };
        let said = printable_lines(&message(log.trim()));
        let (wanted, running) = bots_of(pod, looked, observed);
        if said.contains(WAITING_FOR_BOTS) && running < wanted {
            let bots = format!("{running} of {wanted} run");
            waiting.push((pod.name.clone(), bots));
        } else if said.contains(WAITING_FOR_BOTS) || said.contains(NO_CONNECTION) {
            late.push((pod.name.clone(), said));
        }
    }
    (waiting, late)
}

/// The number of bots in pods of their own that a referee plays with, and of those whose pods run.
fn bots_of(referee: &SeenPod, looked: &Looked, observed: &ObservedCluster) -> (usize, usize) {
    let is_it = |pod: &&Pod| pod.metadata.name.as_deref() == Some(&*referee.name);
    let spec = looked.pods.iter().find(is_it);
    let spec = spec.and_then(|pod| pod.spec.as_ref());
    let arguments = spec
        .into_iter()
        .flat_map(|spec| &spec.containers)
        .flat_map(|container| container.args.iter().flatten());
    let is_apart =
        |argument: &&String| argument.starts_with("--bot-at=") && argument.contains("=grpcs://");
    let running = observed.pods.iter().filter(|pod| {
        let is_its = matches!(&pod.role, Role::Bot { referee: of, .. } if *of == referee.name);
        is_its && pod.phase == PodPhase::Running
    });
    (arguments.filter(is_apart).count(), running.count())
}
