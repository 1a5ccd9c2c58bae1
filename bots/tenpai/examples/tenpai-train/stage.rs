//! The stages of the learning: what each of them plays, and what it learns from that.

use rand::{Rng, RngExt as _};
use tenpai::{
    features::{AHEAD, PASSIVE_ROWS, PRESSED, Rows, Suits, Threat},
    network::{Layout, PassiveNetwork, RacingNetwork, WideNetwork},
};

/// A part of the learning.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) network: Kind,
    /// The stage with whose network and readers it begins.
    pub(crate) from: Option<&'static str>,
    pub(crate) rounds: u64,
    /// The seed of its rounds.
    pub(crate) seed: u64,
    /// The step of the network at the beginning and at the end; none if it stays as it is.
    pub(crate) rates: Option<[f32; 2]>,
    /// The part of the network that is learned.
    pub(crate) learns: Learns,
    /// The steps of the readers of the other seat's discards; none if they stay as they are.
    pub(crate) reading: Option<[f32; 2]>,
    /// From what the network learns.
    pub(crate) targets: Targets,
    /// The chance that a discard is drawn at random among the best three.
    pub(crate) explore: f64,
    /// The points of a faan, 3 by the rules.
    pub(crate) pay: f32,
}

/// The values that a network learns.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Targets {
    /// The final score, of which so much counts, and the later estimates.
    Rounds(f32),
    /// Of the discards in rounds: the mean over all draws of the estimates after the next draw, when the
    /// other seat has discarded. The estimates are those of the network as it was after a multiple of so
    /// many rounds; a run that was stopped continues there.
    Draws(u64),
    /// The differences of all good discards in the means over all draws, if the other seat is as
    /// near to a win then as it is now. The estimates after a draw are those of the network with
    /// which the stage begins, and what its rounds show is learned so often. A run that was stopped
    /// begins the last time again.
    Discards(u64),
}

/// The part of a network that is learned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learns {
    All,
    /// All but the rows from this one on, which count nothing yet.
    Before(usize),
    /// The rows for the turn and for how near the other seat is to a win; what hands differ by
    /// otherwise stays.
    TheRace,
}

/// A network, by the other seat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Passive,
    Racing,
    /// The wide one, against a seat that races.
    Wide,
}

impl Kind {
    pub(crate) const fn layout(self) -> Layout {
        match self {
            Self::Passive => Layout::PASSIVE,
            Self::Racing => Layout::RACING,
            Self::Wide => Layout::WIDE,
        }
    }

    /// The largest weight that a row may have.
    pub(crate) const fn largest(self) -> f32 {
        match self {
            Self::Passive => PassiveNetwork::LARGEST,
            Self::Racing => RacingNetwork::LARGEST,
            Self::Wide => WideNetwork::LARGEST,
        }
    }

    /// The rows of a hand, when so many tiles are left in the wall.
    pub(crate) fn rows(self, suits: &Suits, left: u8, threat: Option<&Threat>) -> Rows {
        match (self, threat) {
            (Self::Wide, Some(threat)) => suits.wide_rows(left, threat),
            _ => suits.rows(left, threat),
        }
    }
}

/// With the true score the engine learns fast, small hands and stays with them; it finds the large
/// ones if it begins with many points for a faan.
pub(crate) const STAGES: [Stage; 12] = [
    Stage {
        name: "large",
        network: Kind::Passive,
        from: None,
        rounds: 200_000,
        seed: 71,
        rates: Some([0.0003, 0.0001]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Rounds(0.85),
        explore: 0.03,
        pay: 30.0,
    },
    Stage {
        name: "passive",
        network: Kind::Passive,
        from: Some("large"),
        rounds: 1_500_000,
        seed: 72,
        rates: Some([0.0001, 0.000_002]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Rounds(0.75),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "race",
        network: Kind::Racing,
        from: None,
        rounds: 400_000,
        seed: 81,
        rates: Some([0.0003, 0.0001]),
        learns: Learns::All,
        reading: Some([0.03, 0.03]),
        targets: Targets::Rounds(0.8),
        explore: 0.01,
        pay: 3.0,
    },
    Stage {
        name: "reading",
        network: Kind::Racing,
        from: Some("race"),
        rounds: 400_000,
        seed: 82,
        rates: None,
        learns: Learns::All,
        reading: Some([0.03, 0.003]),
        targets: Targets::Rounds(0.6),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "racing",
        network: Kind::Racing,
        from: Some("reading"),
        rounds: 3_000_000,
        seed: 83,
        rates: Some([0.0001, 0.000_001]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Rounds(0.6),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "rereading",
        network: Kind::Racing,
        from: Some("racing"),
        rounds: 400_000,
        seed: 84,
        rates: None,
        learns: Learns::All,
        reading: Some([0.03, 0.003]),
        targets: Targets::Rounds(0.6),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "draws",
        network: Kind::Racing,
        from: Some("rereading"),
        rounds: 600_000,
        seed: 85,
        rates: Some([0.000_02, 0.000_001]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Draws(1000),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "ahead",
        network: Kind::Racing,
        from: Some("draws"),
        rounds: 90_000,
        seed: 86,
        rates: Some([0.000_6, 0.000_005]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Discards(12),
        explore: 0.02,
        pay: 3.0,
    },
    WIDE,
    SCORES,
    Stage {
        name: "further",
        from: Some(SCORES.name),
        rounds: 200_000,
        seed: 92,
        learns: Learns::All,
        targets: Targets::Discards(8),
        ..WIDE
    },
    Stage {
        name: "rescores",
        from: Some("further"),
        seed: 94,
        ..SCORES
    },
];

/// The first stage of the wide network.
const WIDE: Stage = Stage {
    name: "wide",
    network: Kind::Wide,
    from: Some("ahead"),
    rounds: 120_000,
    seed: 88,
    rates: Some([0.000_6, 0.000_005]),
    learns: Learns::Before(AHEAD),
    reading: None,
    targets: Targets::Discards(10),
    explore: 0.02,
    pay: 3.0,
};

/// Makes its values expected points again.
const SCORES: Stage = Stage {
    name: "scores",
    network: Kind::Wide,
    from: Some("wide"),
    rounds: 300_000,
    seed: 90,
    rates: Some([0.000_1, 0.000_003]),
    learns: Learns::TheRace,
    reading: None,
    targets: Targets::Rounds(0.9),
    explore: 0.007,
    pay: 3.0,
};

impl Stage {
    /// The weight of the final score, if the network learns from rounds.
    pub(crate) const fn lambda(&self) -> Option<f32> {
        match (self.targets, self.rates) {
            (Targets::Rounds(lambda), Some(_)) => Some(lambda),
            _ => None,
        }
    }

    /// Small weights by chance; none for the rows that only a network against a racing opponent has.
    pub(crate) fn random<const FIRST: usize>(&self, rng: &mut impl Rng) -> Vec<f32> {
        let layout = self.network.layout();
        let rows = match self.network {
            Kind::Passive => PASSIVE_ROWS,
            Kind::Racing | Kind::Wide => PRESSED,
        };
        let mut weights = vec![0.0; layout.weights];
        for (at, weight) in weights.iter_mut().enumerate() {
            let width = match at {
                _ if at < rows * FIRST => 0.05,
                _ if at < layout.second => continue,
                _ if at < layout.offsets => 0.25,
                _ if at < layout.last => 0.0,
                _ => 0.25,
            };
            *weight = width * (2.0 * rng.random::<f32>() - 1.0);
        }
        weights
    }
}

pub(crate) fn named(name: &str) -> &'static Stage {
    let stage = STAGES.iter().find(|stage| stage.name == name);
    stage.expect("one of the stages")
}
