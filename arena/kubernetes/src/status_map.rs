//! The ConfigMap that says what became of the tournaments that files declare, for those who look at
//! the cluster alone.

use std::collections::BTreeMap;

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};

use crate::{Settings, controller::MANAGER};

/// The ConfigMap of the status of files.
pub struct StatusMap {
    maps: Api<ConfigMap>,
}

impl StatusMap {
    /// Its name.
    pub const NAME: &'static str = "arena-tournaments";

    /// The ConfigMap of the cluster that `client` reaches.
    #[must_use]
    pub fn new(client: Client, settings: &Settings) -> Self {
        Self {
            maps: Api::namespaced(client, &settings.namespace),
        }
    }

    /// Writes these lines, by key, in place of those that it had.
    ///
    /// # Errors
    ///
    /// The cluster can't be reached, or this account may not change it.
    pub async fn write(&self, lines: &BTreeMap<String, String>) -> Result<(), kube::Error> {
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(Self::NAME.to_owned()),
                ..ObjectMeta::default()
            },
            data: Some(lines.clone()),
            ..ConfigMap::default()
        };
        let ours = PatchParams::apply(MANAGER).force();
        self.maps
            .patch(Self::NAME, &ours, &Patch::Apply(&map))
            .await?;
        Ok(())
    }
}
