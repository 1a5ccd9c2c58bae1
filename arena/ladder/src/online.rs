//! Ratings that are updated after every group, to pair opponents of similar strength.
//! The ratings of standings are more precise, since they use all groups at once.
//!
//! Weng and Lin, "A Bayesian Approximation Method for Online Ranking", 2011, in
//! the variant "Bradley-Terry with full pairing", from the crate `skillratings`.

use serde::{Deserialize, Serialize};
use skillratings::{
    MultiTeamOutcome,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

use crate::{Entrant, HalfPoints, Lineup};

/// The current ratings. Groups must be added in order of their numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Online {
    ratings: Vec<WengLinRating>,
}

impl Online {
    /// The ratings before the first group: 25 ± 25/3 for everybody.
    #[must_use]
    pub fn new(entrants: u32) -> Self {
        Self {
            ratings: vec![WengLinRating::new(); entrants as usize],
        }
    }

    /// Ratings that were kept, each with its standard deviation.
    #[must_use]
    pub fn kept(ratings: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let ratings = ratings
            .into_iter()
            .map(|(rating, uncertainty)| WengLinRating {
                rating,
                uncertainty,
            });
        Self {
            ratings: ratings.collect(),
        }
    }

    /// The rating of somebody of whom nothing is known, and its standard deviation: 25 ± 25/3.
    #[must_use]
    pub fn unknown() -> (f64, f64) {
        let WengLinRating {
            rating,
            uncertainty,
        } = WengLinRating::new();
        (rating, uncertainty)
    }

    /// Adds a group, given the points of each place of its lineup. The group counts as
    /// one game, in which more points are a better place. Places that are no entrants
    /// are left out. A group with an entrant twice, or with another number of points than
    /// places, is ignored.
    pub fn update(&mut self, lineup: &Lineup, points: &[HalfPoints]) {
        if lineup.len() != points.len() {
            return;
        }
        let places = lineup.iter().zip(points);
        let known = places.filter_map(|(&who, &won)| {
            let who = who?.index();
            let rating = *self.ratings.get(who)?;
            Some((who, won, [rating]))
        });
        let table: Vec<(usize, HalfPoints, [WengLinRating; 1])> = known.collect();
        let mut numbers = table.iter().map(|&(who, ..)| who).enumerate();
        let twice = numbers.any(|(n, who)| table[..n].iter().any(|&(other, ..)| other == who));
        if table.len() < 2 || twice {
            return;
        }
        let ranked = table.iter().map(|(_, won, rating)| {
            let ahead = table.iter().filter(|(_, other, _)| other > won).count();
            (&rating[..], MultiTeamOutcome::new(ahead + 1))
        });
        let ranked: Vec<_> = ranked.collect();
        let moved = weng_lin_multi_team(&ranked, &WengLinConfig::default());
        for (&(who, ..), moved) in table.iter().zip(moved.into_iter().flatten()) {
            self.ratings[who] = moved;
        }
    }

    /// An entrant's rating and its standard deviation; the start values for an entrant
    /// that does not exist.
    #[must_use]
    pub fn rating(&self, entrant: Entrant) -> (f64, f64) {
        let rating = self.ratings.get(entrant.index()).copied();
        let rating = rating.unwrap_or_default();
        (rating.rating, rating.uncertainty)
    }
}
