//! The sequential probability ratio test: stops a match as soon as it may.

use serde::{Deserialize, Serialize};

/// A test of H0 (the first is `elo0` stronger) against H1 (it is `elo1`
/// stronger).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// The difference under H0.
    pub elo0: f64,
    /// The difference under H1.
    pub elo1: f64,
    /// How often H1 may be taken where H0 is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// How often H0 may be taken where H1 is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// In what the differences are.
    #[serde(default)]
    pub model: Model,
}

/// In what a difference of strength is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Normalised Elo, which does not depend on how many games are drawn.
    #[default]
    Normalized,
    /// Elo as the logistic curve has it.
    Logistic,
}

const fn five_percent() -> f64 {
    0.05
}
