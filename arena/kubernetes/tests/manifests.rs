//! Tests that the types of the API can read what the kustomizations of deploy/kubernetes give:
//! nothing in it is unknown to them.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{collections::BTreeSet, fs, path::Path};

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    core::v1::{ConfigMap, LimitRange, Namespace, ResourceQuota, Service, ServiceAccount},
    networking::v1::{Ingress, NetworkPolicy},
    policy::v1::PodDisruptionBudget,
    rbac::v1::{Role, RoleBinding},
    scheduling::v1::PriorityClass,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Groups of whoever extends a cluster.
const OTHERS: [&str; 5] = [
    "cert-manager.io/",
    "gateway.networking.k8s.io/",
    "keda.sh/",
    "kueue.x-k8s.io/",
    "monitoring.coreos.com/",
];

/// Reads it and writes it again: a field that the type does not have would be gone.
fn is_read_as<T: DeserializeOwned + Serialize>(object: &Value) {
    let read: T = serde_json::from_value(object.clone()).unwrap();
    let written = serde_json::to_value(&read).unwrap();
    assert!(
        contains(&written, object),
        "of\n{object}\nis left\n{written}"
    );
}

/// True if everything of a part is in the whole, which may say more, such as the kind of an inner
/// object.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            let within = |(key, part)| whole.get(key).is_some_and(|whole| contains(whole, part));
            part.iter().all(within)
        }
        (Value::Array(whole), Value::Array(part)) => {
            let mut pairs = whole.iter().zip(part);
            whole.len() == part.len() && pairs.all(|(whole, part)| contains(whole, part))
        }
        _ => whole == part,
    }
}

#[test]
fn all_manifests_are_objects_of_the_api() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("manifests");
    let files = fs::read_dir(&folder).unwrap_or_else(|error| {
        let folder = folder.display();
        panic!("{folder}: {error}; `cargo xtask manifests` renders them")
    });
    let mut seen = BTreeSet::new();
    for file in files {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(path).unwrap().lines() {
            let object: Value = serde_json::from_str(line).unwrap();
            let [version, kind] = ["apiVersion", "kind"].map(|key| object[key].as_str().unwrap());
            if OTHERS.iter().any(|group| version.starts_with(group)) {
                continue;
            }
            match (version, kind) {
                ("apps/v1", "Deployment") => is_read_as::<Deployment>(&object),
                ("apps/v1", "StatefulSet") => is_read_as::<StatefulSet>(&object),
                ("autoscaling/v2", "HorizontalPodAutoscaler") => {
                    is_read_as::<HorizontalPodAutoscaler>(&object);
                }
                ("networking.k8s.io/v1", "Ingress") => is_read_as::<Ingress>(&object),
                ("networking.k8s.io/v1", "NetworkPolicy") => is_read_as::<NetworkPolicy>(&object),
                ("policy/v1", "PodDisruptionBudget") => is_read_as::<PodDisruptionBudget>(&object),
                ("rbac.authorization.k8s.io/v1", "Role") => is_read_as::<Role>(&object),
                ("rbac.authorization.k8s.io/v1", "RoleBinding") => {
                    is_read_as::<RoleBinding>(&object);
                }
                ("scheduling.k8s.io/v1", "PriorityClass") => is_read_as::<PriorityClass>(&object),
                ("v1", "ConfigMap") => is_read_as::<ConfigMap>(&object),
                ("v1", "LimitRange") => is_read_as::<LimitRange>(&object),
                ("v1", "Namespace") => is_read_as::<Namespace>(&object),
                ("v1", "ResourceQuota") => is_read_as::<ResourceQuota>(&object),
                ("v1", "Service") => is_read_as::<Service>(&object),
                ("v1", "ServiceAccount") => is_read_as::<ServiceAccount>(&object),
                _ => panic!("no type is known for {version} {kind}"),
            }
            seen.insert(kind.to_owned());
        }
    }
    assert!(seen.len() >= 10, "{seen:?}");
}
