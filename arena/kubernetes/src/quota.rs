//! ResourceQuotas: what they leave for the pods of games, and what the API server says where they
//! leave nothing.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{PodSpec, ResourceQuota},
    apimachinery::pkg::api::resource::Quantity,
};

use crate::Settings;

/// The reason of the event that says that a pod of a Job could not be made.
pub(crate) const FAILED_CREATE: &str = "FailedCreate";

/// Amounts of resources in thousandths, by the names that quotas give them, as in `limits.cpu`.
pub type Amounts = BTreeMap<String, i128>;

/// A ResourceQuota that counts the pods of games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenQuota {
    /// Its name.
    pub name: String,
    /// The most that may be in use.
    pub hard: Amounts,
    /// The amounts that are in use.
    pub used: Amounts,
}

impl SeenQuota {
    /// Reads a quota; none if it does not count the pods that are made with these settings.
    #[must_use]
    pub fn of(quota: &ResourceQuota, settings: &Settings) -> Option<Self> {
        let spec = quota.spec.as_ref()?;
        let class = settings.pods.priority_class.as_deref();
        let scopes = spec.scopes.iter().flatten();
        let selected = spec.scope_selector.iter();
        let selected = selected.flat_map(|all| all.match_expressions.iter().flatten());
        let nothing = Vec::new();
        let counts = scopes
            .clone()
            .all(|scope| counts(scope, "Exists", &[], class))
            && selected.clone().all(|one| {
                let values = one.values.as_ref().unwrap_or(&nothing);
                counts(&one.scope_name, &one.operator, values, class)
            });
        let status = quota.status.as_ref();
        let hard = status.and_then(|status| status.hard.as_ref());
        let used = status.and_then(|status| status.used.as_ref());
        counts.then(|| Self {
            name: quota.metadata.name.clone().unwrap_or_default(),
            hard: amounts(hard.or(spec.hard.as_ref())),
            used: amounts(used),
        })
    }

    /// The resources of which this quota has less left than `need`, with how much of each is in
    /// use, as in `pods 8 of 8`; none if there is enough of all.
    #[must_use]
    pub fn shortage(&self, need: &Amounts) -> Option<String> {
        self.short(need, |used, need| used + need)
            .map(|(name, used, hard)| format!("{name} {} of {}", shown(used), shown(hard)))
            .reduce(|all, one| format!("{all}, {one}"))
    }

    /// The resources of which this quota allows less than `need` even where nothing is in use, as
    /// in `pods 3, and 2 are allowed`.
    #[must_use]
    pub fn impossible(&self, need: &Amounts) -> Option<String> {
        self.short(need, |_, need| need)
            .map(|(name, _, hard)| {
                let need = need.get(name).copied().unwrap_or_default();
                format!("{name} {}, and {} are allowed", shown(need), shown(hard))
            })
            .reduce(|all, one| format!("{all}; {one}"))
    }

    /// Takes so much of it into use.
    pub fn take(&mut self, need: &Amounts) {
        for name in self.hard.keys() {
            if let Some(amount) = need.get(name) {
                *self.used.entry(name.clone()).or_default() += amount;
            }
        }
    }

    /// The resources for which `wanted`, of what is used and what is needed, is more than may be
    /// in use: the name, what is in use, and what may be.
    fn short<'a>(
        &'a self,
        need: &'a Amounts,
        wanted: impl Fn(i128, i128) -> i128 + 'a,
    ) -> impl Iterator<Item = (&'a str, i128, i128)> {
        self.hard.iter().filter_map(move |(name, hard)| {
            let used = self.used.get(name).copied().unwrap_or_default();
            let need = need.get(name).copied().filter(|need| *need > 0)?;
            (wanted(used, need) > *hard).then_some((&**name, used.min(*hard), *hard))
        })
    }
}

/// True if a scope selects the pods of games. They have a deadline and requests, and their affinity
/// is for their own namespace.
fn counts(scope: &str, operator: &str, values: &[String], class: Option<&str>) -> bool {
    let is_named = || class.is_some_and(|class| values.iter().any(|value| value == class));
    match (scope, operator) {
        ("Terminating" | "NotBestEffort", _) => true,
        ("PriorityClass", "Exists") => class.is_some(),
        ("PriorityClass", "DoesNotExist") => class.is_none(),
        ("PriorityClass", "In") => is_named(),
        ("PriorityClass", "NotIn") => !is_named(),
        _ => false,
    }
}

/// The amounts that quotas count for a pod.
#[must_use]
pub(crate) fn needs(pod: &PodSpec) -> Amounts {
    let mut needs = Amounts::from(["pods", "count/pods"].map(|name| (name.to_owned(), 1000)));
    // All containers of our pods that start before the others go on beside them.
    let containers = pod.init_containers.iter().flatten().chain(&pod.containers);
    for resources in containers.filter_map(|container| container.resources.as_ref()) {
        for (name, amount) in amounts(resources.requests.as_ref()) {
            *needs.entry(format!("requests.{name}")).or_default() += amount;
            *needs.entry(name).or_default() += amount;
        }
        for (name, amount) in amounts(resources.limits.as_ref()) {
            *needs.entry(format!("limits.{name}")).or_default() += amount;
        }
    }
    needs
}

/// Adds amounts to others.
pub(crate) fn add(to: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        *to.entry(name.clone()).or_default() += amount;
    }
}

fn amounts(quantities: Option<&BTreeMap<String, Quantity>>) -> Amounts {
    let quantities = quantities.into_iter().flatten();
    quantities
        .filter_map(|(name, quantity)| Some((name.clone(), thousandths(&quantity.0)?)))
        .collect()
}

/// The factors of the suffixes of amounts, in thousandths.
const SUFFIXES: [(&str, f64); 15] = [
    ("", 1e3),
    ("n", 1e-6),
    ("u", 1e-3),
    ("m", 1.0),
    ("k", 1e6),
    ("M", 1e9),
    ("G", 1e12),
    ("T", 1e15),
    ("P", 1e18),
    ("E", 1e21),
    ("Ki", 1024e3),
    ("Mi", 1_048_576e3),
    ("Gi", 1_073_741_824e3),
    ("Ti", 1_099_511_627_776e3),
    ("Pi", 1_125_899_906_842_624e3),
];

/// An amount as Kubernetes writes it, in thousandths.
pub(crate) fn thousandths(text: &str) -> Option<i128> {
    // An exponent is a part of the number, and an E alone is a suffix.
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &text[number.len()..];
    let (_, factor) = SUFFIXES.iter().find(|(name, _)| *name == suffix)?;
    let number: f64 = number.parse().ok()?;
    (number >= 0.0 && number.is_finite()).then(|| (number * factor - 1e-6).ceil() as i128)
}

/// An amount as Kubernetes would write it.
fn shown(thousandths: i128) -> String {
    const WHOLE: i128 = 1000;
    if thousandths % WHOLE != 0 {
        return format!("{thousandths}m");
    }
    let whole = thousandths / WHOLE;
    let units = [("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
    let unit = units
        .iter()
        .find(|(_, unit)| whole >= *unit && whole % unit == 0);
    match unit {
        Some((name, unit)) => format!("{}{name}", whole / unit),
        None => whole.to_string(),
    }
}

/// The reason for which the API server refuses to make a pod, as words that follow the pod's name.
#[must_use]
pub(crate) fn refusal(message: &str) -> String {
    const QUOTA: &str = "exceeded quota: ";
    if let Some((_, quota)) = message.split_once(QUOTA)
        && let Some(words) = exceeded(quota)
    {
        return words;
    }
    let (_, why) = message
        .split_once("is forbidden: ")
        .unwrap_or(("", message));
    format!("is refused: {why}")
}

/// Puts what follows `exceeded quota: ` into words: the name of the quota, then what is requested,
/// used and the limit.
fn exceeded(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(", requested: ")?;
    let (_, rest) = rest.split_once(", used: ")?;
    let (used, limited) = rest.split_once(", limited: ")?;
    let limited: BTreeMap<&str, &str> = (limited.split(','))
        .filter_map(|one| one.split_once('='))
        .collect();
    let shortages = used.split(',').filter_map(|one| {
        let (resource, used) = one.split_once('=')?;
        Some(format!("{resource} {used} of {}", limited.get(resource)?))
    });
    let shortages = shortages.reduce(|all, one| format!("{all}, {one}"))?;
    Some(format!("waits for {}", named(name, &shortages)))
}

/// A quota that leaves too little.
pub(crate) fn named(quota: &str, shortages: &str) -> String {
    format!("the ResourceQuota {quota}: {shortages}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Placing, Settings};

    #[test]
    fn amounts_are_read_and_written() {
        for (text, amount, written) in [
            ("1", 1000, "1"),
            ("1500m", 1500, "1500m"),
            ("0.5", 500, "500m"),
            ("2k", 2_000_000, "2000"),
            ("256Mi", 268_435_456_000, "256Mi"),
            ("1e3", 1_000_000, "1000"),
            ("64Gi", 68_719_476_736_000, "64Gi"),
        ] {
            assert_eq!(thousandths(text), Some(amount), "{text}");
            assert_eq!(shown(amount), written);
        }
        for text in ["", "one", "-1", "1X", "NaN"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
    }

    fn quota(spec: &serde_json::Value) -> ResourceQuota {
        let quota = serde_json::json!({
            "metadata": { "name": "games" },
            "spec": spec,
            "status": { "hard": { "pods": "8", "services": "1" }, "used": { "pods": "6" } },
        });
        serde_json::from_value(quota).expect("a quota")
    }

    #[test]
    fn a_quota_counts_what_its_scopes_select() {
        let of_class = |class: Option<&str>| Settings {
            pods: Placing {
                priority_class: class.map(str::to_owned),
                ..Placing::default()
            },
            ..Settings::default()
        };
        let games = of_class(Some("games"));
        let of = |operator: &str| {
            let one = serde_json::json!({
                "scopeName": "PriorityClass", "operator": operator, "values": ["games"],
            });
            quota(&serde_json::json!({ "scopeSelector": { "matchExpressions": [one] } }))
        };
        for (quota, with_class, without) in [
            (of("In"), true, false),
            (of("NotIn"), false, true),
            (quota(&serde_json::json!({})), true, true),
            (
                quota(&serde_json::json!({ "scopes": ["BestEffort"] })),
                false,
                false,
            ),
            (
                quota(&serde_json::json!({ "scopes": ["Terminating"] })),
                true,
                true,
            ),
        ] {
            assert_eq!(SeenQuota::of(&quota, &games).is_some(), with_class);
            assert_eq!(SeenQuota::of(&quota, &of_class(None)).is_some(), without);
        }
    }

    #[test]
    fn what_is_short_is_said_with_its_numbers() {
        let quota = quota(&serde_json::json!({}));
        let quota = SeenQuota::of(&quota, &Settings::default()).expect("it counts");
        let pods = |pods: i128| Amounts::from([("pods".to_owned(), 1000 * pods)]);
        assert_eq!(quota.shortage(&pods(2)), None);
        assert_eq!(quota.shortage(&pods(3)).as_deref(), Some("pods 6 of 8"));
        assert_eq!(quota.impossible(&pods(8)), None);
        let says = quota.impossible(&pods(9));
        assert_eq!(says.as_deref(), Some("pods 9, and 8 are allowed"));
    }

    #[test]
    fn a_refusal_is_put_into_words() {
        let message = "pods \"a-b0\" is forbidden: exceeded quota: games, requested: \
                       limits.cpu=1250m,pods=1, used: limits.cpu=7,pods=8, limited: \
                       limits.cpu=8,pods=8";
        assert_eq!(
            refusal(message),
            "waits for the ResourceQuota games: limits.cpu 7 of 8, pods 8 of 8"
        );
        let message = "pods \"a\" is forbidden: maximum cpu usage per Container is 8, but limit \
                       is 16";
        assert_eq!(
            refusal(message),
            "is refused: maximum cpu usage per Container is 8, but limit is 16"
        );
        // Something else between the words.
        assert!(refusal("exceeded quota: x").contains("exceeded quota: x"));
    }
}
