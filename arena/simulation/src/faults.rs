//! Faults of a simulation, and their times: drawn from the seed before it begins.

use std::{collections::BTreeMap, fmt, time::Duration};

use rand_chacha::{ChaCha8Rng, rand_core::Rng as _};

/// The kinds of incidents, and their frequency.
#[derive(Clone, Debug)]
pub struct FaultTable {
    /// The kinds, each with a weight: of weights 1 and 3 the second is three times as
    /// frequent. Without any nothing goes wrong.
    pub kinds: Vec<(u32, TroubleKind)>,
    /// The longest time from the beginning of one incident to that of the next.
    pub pause: Duration,
    /// The longest time that an incident lasts.
    pub longest: Duration,
    /// When all incidents have ended. Afterwards nothing goes wrong, so that the simulation
    /// can show that everything recovers.
    pub until: Duration,
}

/// A kind of incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// [`Trouble::Partition`].
    Partition,
    /// [`Trouble::OneWay`].
    OneWay,
    /// [`Trouble::Hold`].
    Hold,
    /// [`Trouble::Slow`].
    Slow,
    /// [`Trouble::Loss`].
    Loss,
    /// [`Trouble::Kill`].
    Kill,
    /// [`Trouble::PowerCut`].
    PowerCut,
    /// [`Trouble::ClockJump`].
    ClockJump,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Whatever two hosts send each other is lost. A connection that has lost a message is
    /// stuck afterwards, too.
    Partition(String, String),
    /// Whatever the first sends to the second is lost.
    OneWay(String, String),
    /// Whatever two hosts send each other arrives when the incident is over.
    Hold(String, String),
    /// Messages between two hosts take up to so long.
    Slow(String, String, Duration),
    /// Each message between two hosts may be lost, with those that are under way, with
    /// this probability in thousandths.
    Loss(String, String, u32),
    /// The process ends, and its connections are closed. It starts again when the incident is
    /// over.
    Kill(String),
    /// The machine is off, and nobody is told. It starts again when the incident is over.
    PowerCut(String),
    /// The time of day jumps by so many milliseconds, for good.
    ClockJump(String, i64),
}

/// Something that goes wrong for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// When it begins.
    pub begin: Duration,
    /// When it ends.
    pub end: Duration,
    /// Its fault.
    pub trouble: Trouble,
}

impl FaultTable {
    /// Nothing goes wrong.
    #[must_use]
    pub fn none() -> Self {
        Self {
            kinds: Vec::new(),
            pause: Duration::ZERO,
            longest: Duration::ZERO,
            until: Duration::ZERO,
        }
    }

    /// All kinds of incidents, the last of which ends at `until`.
    #[must_use]
    pub fn everything(until: Duration) -> Self {
        use TroubleKind::{ClockJump, Hold, Kill, Loss, OneWay, Partition, PowerCut, Slow};
        Self {
            kinds: vec![
                (3, Partition),
                (2, OneWay),
                (3, Hold),
                (2, Slow),
                (2, Loss),
                (3, Kill),
                (2, PowerCut),
                (1, ClockJump),
            ],
            pause: Duration::from_secs(3),
            longest: Duration::from_secs(8),
            until,
        }
    }

    /// Draws the incidents of one simulation, in order of their beginning. No two of them
    /// concern the same link or the same host at the same time.
    pub(crate) fn draw(
        &self,
        chance: &mut ChaCha8Rng,
        hosts: &[String],
        links: &[(String, String)],
    ) -> Vec<Incident> {
        let weights: u32 = self.kinds.iter().map(|(weight, _)| weight).sum();
        let mut incidents = Vec::new();
        if weights == 0 || hosts.is_empty() || links.is_empty() {
            return incidents;
        }
        let mut busy: BTreeMap<String, Duration> = BTreeMap::new();
        let mut begin = Duration::ZERO;
        loop {
            begin += up_to(chance, self.pause);
            let end = begin + up_to(chance, self.longest);
            if begin >= self.until {
                return incidents;
            }
            let end = end.min(self.until);
            let trouble = self.trouble(chance, weights, hosts, links);
            let concerned = trouble.concerns(links);
            let is_busy = |what: &String| busy.get(what).is_some_and(|until| *until >= begin);
            if concerned.iter().any(is_busy) {
                continue;
            }
            busy.extend(concerned.into_iter().map(|what| (what, end)));
            incidents.push(Incident {
                begin,
                end,
                trouble,
            });
        }
    }

    fn trouble(
        &self,
        chance: &mut ChaCha8Rng,
        weights: u32,
        hosts: &[String],
        links: &[(String, String)],
    ) -> Trouble {
        let mut drawn = chance.next_u32() % weights;
        let kind = self.kinds.iter().find(|(weight, _)| {
            let is_it = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            is_it
        });
        let (_, kind) = kind.expect("what was drawn is below the sum of the weights");
        let (a, b) = links[chance.next_u32() as usize % links.len()].clone();
        let host = hosts[chance.next_u32() as usize % hosts.len()].clone();
        let number = chance.next_u32();
        match kind {
            TroubleKind::Partition => Trouble::Partition(a, b),
            TroubleKind::OneWay if number.is_multiple_of(2) => Trouble::OneWay(a, b),
            TroubleKind::OneWay => Trouble::OneWay(b, a),
            TroubleKind::Hold => Trouble::Hold(a, b),
            TroubleKind::Slow => {
                Trouble::Slow(a, b, Duration::from_millis(u64::from(100 + number % 2000)))
            }
            TroubleKind::Loss => Trouble::Loss(a, b, 5 + number % 100),
            TroubleKind::Kill => Trouble::Kill(host),
            TroubleKind::PowerCut => Trouble::PowerCut(host),
            TroubleKind::ClockJump => {
                Trouble::ClockJump(host, i64::from(number % 240_000) - 120_000)
            }
        }
    }
}

impl Trouble {
    /// The links and hosts that it changes.
    fn concerns(&self, links: &[(String, String)]) -> Vec<String> {
        let link = |a: &String, b: &String| format!("{} - {}", a.min(b), a.max(b));
        match self {
            Self::Partition(a, b)
            | Self::OneWay(a, b)
            | Self::Hold(a, b)
            | Self::Slow(a, b, _)
            | Self::Loss(a, b, _) => vec![link(a, b)],
            Self::Kill(host) => vec![host.clone()],
            Self::PowerCut(host) => {
                let of_host = links.iter().filter(|(a, b)| a == host || b == host);
                let links = of_host.map(|(a, b)| link(a, b));
                links.chain([host.clone()]).collect()
            }
            Self::ClockJump(..) => Vec::new(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Partition(a, b) => write!(f, "partition between {a} and {b}"),
            Self::OneWay(from, to) => write!(f, "partition from {from} to {to}"),
            Self::Hold(a, b) => write!(f, "messages held between {a} and {b}"),
            Self::Slow(a, b, most) => write!(f, "up to {most:?} between {a} and {b}"),
            Self::Loss(a, b, share) => write!(f, "{share} in 1000 lost between {a} and {b}"),
            Self::Kill(host) => write!(f, "process of {host} killed"),
            Self::PowerCut(host) => write!(f, "power of {host} cut"),
            Self::ClockJump(host, by) => write!(f, "clock of {host} jumps by {by} ms"),
        }
    }
}

/// Whole milliseconds from 1 to this time.
fn up_to(chance: &mut ChaCha8Rng, most: Duration) -> Duration {
    let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(1 + chance.next_u64() % most)
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    fn drawn(seed: u64) -> Vec<Incident> {
        let hosts = ["arena", "a", "b"].map(str::to_owned);
        let links = ["a", "b"].map(|worker| ("arena".to_owned(), worker.to_owned()));
        let table = FaultTable::everything(Duration::from_secs(600));
        table.draw(&mut ChaCha8Rng::seed_from_u64(seed), &hosts, &links)
    }

    #[test]
    fn a_seed_draws_the_same_incidents_again_and_every_kind_among_them() {
        let incidents = drawn(1);
        assert_eq!(incidents, drawn(1));
        assert_ne!(incidents, drawn(2));
        let kind = |incident: &Incident| std::mem::discriminant(&incident.trouble);
        let mut kinds: Vec<_> = incidents.iter().map(kind).collect();
        kinds.dedup();
        let all: std::collections::HashSet<_> = kinds.into_iter().collect();
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn incidents_end_in_time_and_none_touches_what_another_one_has() {
        let links = ["a", "b"].map(|worker| ("arena".to_owned(), worker.to_owned()));
        for seed in 0..50 {
            let incidents = drawn(seed);
            for (at, one) in incidents.iter().enumerate() {
                assert!(one.begin <= one.end && one.end <= Duration::from_secs(600));
                let later = incidents[at + 1..].iter();
                for other in later.filter(|other| other.begin <= one.end) {
                    let theirs = other.trouble.concerns(&links);
                    let ours = one.trouble.concerns(&links);
                    assert!(!ours.iter().any(|what| theirs.contains(what)));
                }
            }
        }
    }

    #[test]
    fn an_empty_table_draws_nothing() {
        let mut chance = ChaCha8Rng::seed_from_u64(0);
        let hosts = ["a".to_owned()];
        let links = [("a".to_owned(), "b".to_owned())];
        assert!(
            FaultTable::none()
                .draw(&mut chance, &hosts, &links)
                .is_empty()
        );
    }
}
