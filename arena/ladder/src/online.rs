//! Ratings that move with every group, for finding near opponents. Standings have
//! the better ones, from all groups at once.
//!
//! Weng and Lin, "A Bayesian Approximation Method for Online Ranking", 2011, in
//! its form for Bradley-Terry with every two of a table compared, by the crate
//! `skillratings`.

use skillratings::{
    MultiTeamOutcome,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

use crate::{Entrant, HalfPoints, Lineup};

/// Everybody's rating so far: a fold over groups, which has to be told them in
/// order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Online {
    ratings: Vec<WengLinRating>,
}

impl Online {
    /// Before the first group: everybody has 25 ± 25/3.
    #[must_use]
    pub fn new(entrants: u32) -> Self {
        Self {
            ratings: vec![WengLinRating::new(); entrants as usize],
        }
    }

    /// Takes what each place of a lineup has won in a group: the group counts as
    /// one game, in which more points are a better place. Who is not among the
    /// entrants counts for nobody; a group with an entrant twice, or with another
    /// number of points than places, changes nothing.
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

    /// An entrant's rating and its uncertainty, the standard deviation. One that
    /// there is not has those of a new one.
    #[must_use]
    pub fn rating(&self, entrant: Entrant) -> (f64, f64) {
        let rating = self.ratings.get(entrant.index()).copied();
        let rating = rating.unwrap_or_default();
        (rating.rating, rating.uncertainty)
    }
}
