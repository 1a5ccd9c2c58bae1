//! The names of objects, and the labels that tell whose they are.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::Settings;

/// The tournament that an object is of: its key.
pub const TOURNAMENT: &str = "bot-arena/tournament";
/// The number of a match in its schedule.
pub const MATCH: &str = "bot-arena/match";
/// The number of an object's Job among the Jobs of its match, from 1.
pub const GENERATION: &str = "bot-arena/generation";
/// `referee` or `bot`.
pub const ROLE: &str = "bot-arena/role";
/// The place in the lineup of the bot in a pod.
pub const PLACE: &str = "bot-arena/place";
/// What a pod is for that plays no game: [`ENTRY`].
pub const PURPOSE: &str = "bot-arena/purpose";
/// It builds and checks an entry of a contest.
pub const ENTRY: &str = "entry";
/// The entry that a pod builds and checks, as an annotation.
pub const ENTRY_NAME: &str = "bot-arena/entry";
/// The tournament's name, as an annotation: people may write anything.
pub const TOURNAMENT_NAME: &str = "bot-arena/tournament-name";
/// The names of the bots in order of the lineup, one a line, as an annotation.
pub const BOTS: &str = "bot-arena/bots";
/// The label of Kueue with the `LocalQueue` that something waits in.
pub const QUEUE: &str = "kueue.x-k8s.io/queue-name";

pub(crate) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub(crate) const INSTANCE: &str = "app.kubernetes.io/instance";
pub(crate) const VERSION: &str = "app.kubernetes.io/version";
pub(crate) const NAME: &str = "app.kubernetes.io/name";
pub(crate) const OURS: &str = "bot-arena";
pub(crate) const GAME: &str = "bot-arena-game";

/// The container that plays referee.
pub const REFEREE: &str = "referee";
/// The container that builds an entry.
pub const BUILDER: &str = "builder";
/// The role of bots' pods.
pub const BOT: &str = "bot";
/// The headless Service of bots' pods.
pub(crate) const BOTS_SERVICE: &str = "bots";

/// Number of bytes of a hash that are a tournament's key, as two hexadecimal digits each.
const KEY_BYTES: usize = 5;

/// The key of a tournament, which names and labels have: people's names may be of any length and
/// letters. Two tournaments of one arena may have the same commitment, since a seed can be typed;
/// their names differ.
#[must_use]
pub fn key(commitment: &str, name: &str) -> String {
    let hash = Sha256::digest(format!("{commitment}\n{name}"));
    (hash.iter().take(KEY_BYTES))
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The name of a Job. With an index and what Kubernetes adds for a pod it stays below 63 characters.
#[must_use]
pub fn job(key: &str, matchup: u32, generation: u32) -> String {
    format!("{}{matchup}-g{generation}", jobs_of(key))
}

/// The beginning of the names of a tournament's Jobs.
pub(crate) fn jobs_of(key: &str) -> String {
    format!("bot-arena-{key}-m")
}

/// The number of the match that a Job of this name is for.
pub(crate) fn match_of_job(name: &str) -> Option<u32> {
    let (_, rest) = name.rsplit_once("-m")?;
    rest.split_once("-g")?.0.parse().ok()
}

/// The name of the pod of the bot in this place that plays with this referee.
#[must_use]
pub fn bot_pod(referee: &str, place: usize) -> String {
    format!("{referee}-b{place}")
}

/// The name of a pod for an entry of a contest, with a number that no other one has.
#[must_use]
pub fn entry_pod(random: u64) -> String {
    format!("bot-arena-entry-{random:016x}")
}

/// The container of the bot in this place.
#[must_use]
pub fn bot_container(place: usize) -> String {
    format!("bot-{place}")
}

/// The place of the bot in a container of this name.
#[must_use]
pub fn place_of(container: &str) -> Option<usize> {
    container.strip_prefix("bot-")?.parse().ok()
}

/// The labels of everything that an arena makes.
pub(crate) fn ours(settings: &Settings) -> BTreeMap<String, String> {
    let labels = [
        (MANAGED_BY, OURS),
        (NAME, GAME),
        (INSTANCE, &settings.instance),
        (VERSION, env!("CARGO_PKG_VERSION")),
    ];
    labels
        .map(|(label, value)| (label.to_owned(), value.to_owned()))
        .into()
}

/// The labels of everything that is made for a match.
pub(crate) fn labels(
    settings: &Settings,
    key: &str,
    matchup: u32,
    generation: u32,
) -> BTreeMap<String, String> {
    let mut labels = ours(settings);
    labels.extend([
        (TOURNAMENT.to_owned(), key.to_owned()),
        (MATCH.to_owned(), matchup.to_string()),
        (GENERATION.to_owned(), generation.to_string()),
    ]);
    labels
}

/// The selector of everything that this arena has made.
#[must_use]
pub fn selector(settings: &Settings) -> String {
    format!(
        "{MANAGED_BY}={OURS},{NAME}={GAME},{INSTANCE}={}",
        settings.instance
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_names_are_short_enough() {
        let key = key(&"f".repeat(64), "cup");
        let job = job(&key, u32::MAX, 999);
        let index = 99_999;
        let pod = format!("{job}-{index}-abcde");
        assert!(bot_pod(&pod, 3).len() <= 63, "{pod}");
    }

    #[test]
    fn tournaments_of_the_same_seed_have_objects_of_their_own() {
        let commitment = "f".repeat(64);
        assert_ne!(key(&commitment, "spring"), key(&commitment, "summer"));
    }
}
